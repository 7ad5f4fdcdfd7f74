"""What is said of each object of a patch: place, size and uniqueness by VRSBench's rules, the rest by our tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swath.agent.objects import ObjectTable, counted_objects
from swath.eval.annotate.patches import Patch, PatchObject
from swath.tools.forms import shape_of
from swath.tools.referring import ground
from swath.tools.site import Site

SizeWord = Literal["", "small", "large"]

LOW_CUT, HIGH_CUT = 0.33, 0.66
"""Where the nine cells of an image meet, as shares of its width and height."""

NEAR_RIGHT, NEAR_LEFT = 0.7, 0.3
CLEARLY_PX = 30.0
"""By how many pixels of a patch of 512 an object must lie beyond all others of its class to be the top-most."""

CLEARLY_LARGER = 1.25
"""How many times the area of the next one the largest of a class must have, and the smallest be below it."""

SMALL_PERCENTILE, LARGE_PERCENTILE = 25.0, 75.0
"""Of the areas of a class in the whole data set; VRSBench's own percentiles are not published."""

SIZELESS = frozenset({"vehicle", "small vehicle", "large vehicle"})
"""Classes to which VRSBench gives no size."""

MANY = 10
TOO_CLOSE, TOO_CLOSE_SMALL = 0.15, 0.2
"""Share of the image's side within which a neighbour of the same class excludes an object from being referred to."""

SIDES = {"top-most": (1, -1), "bottom-most": (3, 1), "left-most": (0, -1), "right-most": (2, 1)}
"""Number of the box's edge that faces the side, and the direction in which it grows."""


@dataclass(frozen=True)
class Attributes:
    """What is said of an object; the first group as VRSBench derives it, the second measured by tools.

    Attributes:
        is_unique: whether it is the only one of its class in the patch.
        position: one of nine cells or an edge, "" where it spans several.
        rel_position: "top-most", "bottom-most", "left-most", "right-most" in its class, "" unless clearly so.
        size: by percentiles of its class in the data set.
        rel_size: "largest" or "smallest" of its class in the patch, "" unless clearly so.
        excluded: why no sentence may refer to it, "" where one may.
        colour: of most of its pixels, None without true colour.
        shape: in a word.
        orientation_deg: long axis clockwise from up, None without one.
        length_m: long side of the oriented box, None without a ground size.
        width_m: short side.
        area_m2: area on the ground.
    """

    is_unique: bool
    position: str
    rel_position: str
    size: SizeWord
    rel_size: str
    excluded: str
    colour: str | None
    shape: str
    orientation_deg: float | None
    length_m: float | None
    width_m: float | None
    area_m2: float | None


def size_limits(patches: Iterable[Patch]) -> dict[str, tuple[float, float]]:
    """Areas in pixels up to which an object of a class is small, and from which on it is large."""
    areas: dict[str, list[float]] = {}
    for patch in patches:
        for own in patch.objects:
            areas.setdefault(own.class_name, []).append(own.outline.area)
    return {
        name: (float(np.percentile(own, SMALL_PERCENTILE)), float(np.percentile(own, LARGE_PERCENTILE)))
        for name, own in areas.items()
    }


def attributes(patch: Patch, site: Site, limits: Mapping[str, tuple[float, float]]) -> list[Attributes]:
    """The attributes of every object of a patch, in order.

    Args:
        patch: the patch.
        site: the patch's image with its objects as classes.
        limits: from `size_limits`.
    """
    tables = {name: _measured(site, name) for name in dict.fromkeys(own.class_name for own in patch.objects)}
    return [_attributes(own, patch, tables[own.class_name], limits[own.class_name]) for own in patch.objects]


@dataclass(frozen=True)
class _Measured:
    table: ObjectTable
    shapes: list[str]
    row: Mapping[str, int]


def _measured(site: Site, name: str) -> _Measured:
    regions = ground(site, name)
    table = counted_objects(regions, site)
    shapes = [shape_of(site, regions.take([i], name)) for i in range(len(regions))]
    return _Measured(table, shapes, {str(own): i for i, own in enumerate(table.ids)})


def _attributes(own: PatchObject, patch: Patch, measured: _Measured, limits: tuple[float, float]) -> Attributes:
    alike = [other for other in patch.objects if other.class_name == own.class_name and other is not own]
    table, i = measured.table, measured.row[str(own.id)]
    return Attributes(
        is_unique=not alike,
        position=position(own.box, patch.size),
        rel_position=_rel_position(own, alike, patch.size),
        size=_size(own, limits),
        rel_size=_rel_size(own, alike),
        excluded=_excluded(own, alike, patch.size),
        colour=table.colours[i],
        shape=measured.shapes[i],
        orientation_deg=_known(table.orientations_deg, i),
        length_m=_known(table.sides_m[:, 0], i),
        width_m=_known(table.sides_m[:, 1], i),
        area_m2=_known(table.areas_m2, i),
    )


def _known(column: NDArray[np.float64], i: int) -> float | None:
    return None if np.isnan(column[i]) else round(float(column[i]), 3)


def position(box: tuple[float, float, float, float], size: tuple[int, int]) -> str:
    """The cell of nine that holds a box whole, else the edge that it lies at, else "".

    Args:
        box: x_min, y_min, x_max, y_max in pixels.
        size: width and height of the patch.
    """
    x0, x1 = box[0] / size[0], box[2] / size[0]
    y0, y1 = box[1] / size[1], box[3] / size[1]
    across, down = _third(x0, x1, ("left", "middle", "right")), _third(y0, y1, ("top", "middle", "bottom"))
    if across and down:
        return "center" if (across, down) == ("middle", "middle") else f"{down}-{across}"
    edges = (("right", x0 > NEAR_RIGHT), ("left", x1 < NEAR_LEFT), ("bottom", y0 > NEAR_RIGHT), ("top", y1 < NEAR_LEFT))
    return next((name for name, lies_there in edges if lies_there), "")


def _third(low: float, high: float, names: tuple[str, str, str]) -> str:
    if high <= LOW_CUT:
        return names[0]
    if low >= HIGH_CUT:
        return names[2]
    return names[1] if low >= LOW_CUT and high <= HIGH_CUT else ""


def _rel_position(own: PatchObject, alike: list[PatchObject], size: tuple[int, int]) -> str:
    margin = CLEARLY_PX / 512 * max(size)
    for name, (edge, sign) in SIDES.items():
        if alike and all(sign * (own.box[edge] - other.box[edge]) >= margin for other in alike):
            return name
    return ""


def _size(own: PatchObject, limits: tuple[float, float]) -> SizeWord:
    if own.class_name in SIZELESS or limits[0] == limits[1]:
        return ""
    area = own.outline.area
    return "small" if area <= limits[0] else "large" if area >= limits[1] else ""


def _rel_size(own: PatchObject, alike: list[PatchObject]) -> str:
    area, others = own.outline.area, [other.outline.area for other in alike]
    if others and area >= CLEARLY_LARGER * max(others):
        return "largest"
    return "smallest" if others and CLEARLY_LARGER * area <= min(others) else ""


def _excluded(own: PatchObject, alike: list[PatchObject], size: tuple[int, int]) -> str:
    if len(alike) + 1 >= MANY:
        return f"{MANY} or more of its class"
    least = (TOO_CLOSE_SMALL if own.class_name in SIZELESS else TOO_CLOSE) * max(size)
    x, y = _centre(own)
    near = any(np.hypot(x - a, y - b) < least for a, b in map(_centre, alike))
    return "too close to another of its class" if near else ""


def _centre(own: PatchObject) -> tuple[float, float]:
    x0, y0, x1, y1 = own.box
    return (x0 + x1) / 2, (y0 + y1) / 2
