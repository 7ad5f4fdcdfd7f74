"""The four cells of the attribution: which parts of a run are replaced by the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from swath.eval.cases import Case
from swath.segment.registry import AUTO

Cell = Literal["plain", "segmenter", "planner", "both"]
Oracle = Literal["segmenter", "planner", "both"]
Key = tuple[str, Cell]
"""Id of a case and its cell."""

CELLS_OF: Mapping[Oracle | None, tuple[Cell, ...]] = {
    None: ("plain",),
    "segmenter": ("plain", "segmenter"),
    "planner": ("plain", "planner"),
    "both": ("plain", "segmenter", "planner", "both"),
}
"""Cells that are run for an oracle that was asked for."""

TRUE_CLASSES = frozenset({"segmenter", "both"})
TRUE_PROGRAM = frozenset({"planner", "both"})
LABELS = "labels"


def available(case: Case, cell: Cell) -> bool:
    """Whether a case brings what its cell takes from the truth."""
    return (cell not in TRUE_CLASSES or bool(case.exact)) and (cell not in TRUE_PROGRAM or case.program is not None)


def arguments(case: Case, cell: Cell, segmenter: str) -> dict[str, Any]:
    """Options of `swath.ask` for a case in a cell.

    Args:
        case: the question; its `exact` classes are used where the cell or the segmenter "labels" asks for them.
        cell: which parts are the truth.
        segmenter: the segmenter under test.
    """
    if cell in TRUE_CLASSES:
        return {**case.options, **case.exact, "segmenter": AUTO}
    exact = case.exact if segmenter == LABELS else {}
    return {**case.options, **exact, "segmenter": segmenter}
