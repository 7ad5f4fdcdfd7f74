"""Features of a GeoJSON file that have no geometry but say where they are by a `bbox` (RFC 7946, section 5)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry


def with_boxes(path: Path, shapes: NDArray[np.object_]) -> tuple[NDArray[np.object_], int]:
    """Shapes with the boxes of the features that have nothing else.

    Args:
        path: a GeoJSON file.
        shapes: (n,) geometries of all its features in order, None where one has none.

    Returns:
        The shapes, and how many of them are such boxes.
    """
    bare = np.flatnonzero(shapely.is_missing(shapes))
    features = _features(path) if len(bare) else []
    if len(features) != len(shapes):
        return shapes, 0
    boxes = {i: box for i in bare.tolist() if (box := _box(features[i])) is not None}
    filled = shapes.copy()
    for i, box in boxes.items():
        filled[i] = box
    return filled, len(boxes)


def _features(path: Path) -> list[Any]:
    """The features as they are written; none where the file is no collection of them."""
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    if found.get("type") == "Feature":
        return [found]
    features = found.get("features")
    return features if isinstance(features, list) else []


def _box(feature: Any) -> BaseGeometry | None:
    """The box of a feature without a geometry, of heights only the plan; None where it is not one."""
    if not isinstance(feature, dict) or feature.get("geometry") is not None:
        return None
    numbers = feature.get("bbox")
    if not isinstance(numbers, list) or len(numbers) not in (4, 6) or not all(map(_finite, numbers)):
        return None
    half = len(numbers) // 2
    x0, y0, x1, y1 = (float(numbers[i]) for i in (0, 1, half, half + 1))
    return shapely.box(x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
