"""The page of two runs side by side: answers, what differs, pictures, objects that only one of them counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.serve.pages.document import document
from swath.serve.pages.evidence import Evidence, Objects
from swath.serve.pages.facts import answer_parts, interval_plot
from swath.serve.pages.layers import Viewed, viewed
from swath.serve.pages.program import changes
from swath.serve.pages.table import objects_table
from swath.trace.diff import Difference, diff
from swath.trace.reading import Run, load_run
from swath.trace.wording import value_words

SAME_FROM = 0.5
"""Two objects are the same one where they share at least so much of what they cover together."""

STYLES = ("theme.css", "viewer.css", "run.css", "compare.css")
SCRIPTS = ("viewer.js", "table.js", "compare.js")


@dataclass(frozen=True)
class Side:
    """One of two runs.

    Attributes:
        run: the run.
        seen: its picture and masks.
        table: its objects.
        shapes: (n,) outlines of those that it counts, in pixels.
    """

    run: Run
    seen: Viewed = field(repr=False)
    table: Mapping[str, Any] = field(repr=False)
    shapes: NDArray[np.object_] = field(repr=False)


def compare_page(a: Path, b: Path, *, live: bool = False) -> str:
    """One document that shows two runs side by side and needs nothing but itself.

    Args:
        a: folder of the one run.
        b: folder of the other.
        live: whether it is served: it then links to the server's other pages.

    Raises:
        InputError: one of them is no run, or a broken one.
    """
    first, second = load_run(a), load_run(b)
    evidence = (Evidence(first), Evidence(second))
    sides = [_side(own) for own in evidence]
    found = diff(first, second)
    partners = None if found.image else matched(sides[0].shapes, sides[1].shapes)
    tables = [
        _counted(side.table, len(side.shapes), of) for side, of in zip(sides, partners or (None, None), strict=True)
    ]
    return document(
        "compare",
        title=f"{first.id} and {second.id}",
        styles=STYLES,
        scripts=SCRIPTS,
        data=[{"viewer": side.seen.data, "objects": table} for side, table in zip(sides, tables, strict=True)],
        sides=[
            {"run": side.run, "seen": side.seen, "answer": answer_parts(side.run),
             "plot": interval_plot(side.run.answer), "remarks": list(own.remarks),
             "only": None if partners is None else sum(table["only"]), "count": len(side.shapes)}
            for side, own, table in zip(sides, evidence, tables, strict=True)
        ],
        changes=tuple(changes(first.program or "", second.program or "")),
        differences=_differences(found),
        steps=found.steps,
        compared=partners is not None,
        live=live,
        same_from=f"{SAME_FROM:.0%}",
    )  # fmt: skip


def _side(evidence: Evidence) -> Side:
    seen = viewed(evidence)
    counted, _ = evidence.objects()
    table = objects_table(counted, Objects(), seen.scale, evidence)
    return Side(evidence.run, seen, table, counted.shapes[: len(table["id"])])


def matched(a: NDArray[np.object_], b: NDArray[np.object_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which objects of each list are in the other too: they share `SAME_FROM` of what they cover together.

    Args:
        a: (n,) outlines.
        b: (m,) outlines on the same grid.
    """
    in_b, in_a = np.zeros(len(a), dtype=bool), np.zeros(len(b), dtype=bool)
    if len(a) and len(b):
        mine, other = shapely.STRtree(b).query(a, predicate="intersects")
        shared = shapely.area(shapely.intersection(a[mine], b[other]))
        together = shapely.area(a[mine]) + shapely.area(b[other]) - shared
        # Lines and points cover nothing: the same ones are equal.
        alike = np.where(together > 0, shared >= SAME_FROM * together, shapely.equals(a[mine], b[other]))
        in_b[mine[alike]] = True
        in_a[other[alike]] = True
    return in_b, in_a


def _counted(table: Mapping[str, Any], n: int, in_other: NDArray[np.bool_] | None) -> dict[str, Any]:
    """The table with a column `only`: whether an object is not in the other run."""
    if in_other is None:
        return {**table, "only": [False] * n}
    only = (~in_other).tolist()
    return {**table, "only": only, "why": ["only in this run" if own else "in both runs" for own in only]}


def _differences(found: Difference) -> list[tuple[str, str, str]]:
    """(what, first, second) of all that differs beside program and calls."""
    pairs = {"question": found.question, "image": found.image}
    pairs |= {name: pair for name, pair in found.answer.items() if name != "text"}
    pairs |= {f"option: {name}": pair for name, pair in found.inputs.items()}
    return [(name, _words(pair[0]), _words(pair[1])) for name, pair in pairs.items() if pair is not None]


def _words(value: Any) -> str:
    return value if isinstance(value, str) else value_words(_rounded(value))


def _rounded(value: Any) -> Any:
    """The same with six significant digits, which is more than any picture shows."""
    if isinstance(value, Mapping):
        return {name: _rounded(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(own) for own in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
