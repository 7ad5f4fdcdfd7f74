"""The objects of a run as columns for the table of a page, with their outlines for its picture."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import numpy as np

from swath.serve.pages.drawing import outline_paths
from swath.serve.pages.evidence import Evidence, Objects

MOST_ROWS = 20_000
"""Objects on a page: those counted first, then those dropped."""

SHOWN = {"area_m2": 6, "height_m": 4, "score": 3, "area_px": 9}
"""Measures in the table and their significant digits."""


def objects_table(counted: Objects, considered: Objects, scale: float, evidence: Evidence) -> dict[str, Any]:
    """The columns of the table.

    Args:
        counted: the answer's objects.
        considered: those that were dropped.
        scale: picture pixels per image pixel.
        evidence: told where there are more than a page holds.

    Returns:
        `id`, `class`, measures, `why` and `box` (picture pixels) with a value for each object; `counted` true of those
        that the answer counts; `step` that dropped it; `path` its outline.
    """
    n_counted = min(len(counted), MOST_ROWS)
    n_dropped = min(len(considered), MOST_ROWS - n_counted)
    if n_counted + n_dropped < len(counted) + len(considered):
        evidence.remark(
            f"The table holds {n_counted + n_dropped:,} of {len(counted) + len(considered):,} objects; "
            "all are in objects.gpkg, or come with swath trace export."
        )
    parts = ((counted, n_counted), (considered, n_dropped))
    shapes = np.concatenate([part.shapes[:n] for part, n in parts])
    table: dict[str, Any] = {
        "id": [str(value) for value in _column(parts, "id", "")],
        "class": [str(value) for value in _column(parts, "class", "")],
        "colour": [None if value is None else str(value) for value in _column(parts, "colour", None)],
        "counted": [True] * n_counted + [False] * n_dropped,
        "why": ["counted"] * n_counted + [str(why or "dropped") for why in _values(considered, "reason", n_dropped)],
        "step": [None] * n_counted + _values(considered, "dropped_at_step", n_dropped),
        "box": [_box(value, scale) for value in _column(parts, "box", None)],
        "path": outline_paths(shapes, scale) if len(shapes) else [],
    }
    for name, digits in SHOWN.items():
        table[name] = [_rounded(value, digits) for value in _column(parts, name, None)]
    return table


def _column(parts: tuple[tuple[Objects, int], ...], name: str, missing: Any) -> list[Any]:
    return [missing if value is None else value for value in chain(*(_values(part, name, n) for part, n in parts))]


def _values(objects: Objects, name: str, n: int) -> list[Any]:
    return objects.columns.get(name, [None] * n)[:n]


def _box(text: Any, scale: float) -> list[float] | None:
    """[x_min, y_min, x_max, y_max] in picture pixels."""
    try:
        box = json.loads(str(text))
        return [round(float(side) * scale, 2) for side in box] if len(box) == 4 else None
    except (ValueError, TypeError):
        return None


def _rounded(value: Any, digits: int) -> float | None:
    return float(f"{value:.{digits}g}") if isinstance(value, int | float) else None
