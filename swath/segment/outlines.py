"""From a vector file's geometries to outlines in pixel coordinates: repaired, reprojected, clipped to the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyproj
import shapely
from affine import TransformNotInvertibleError
from numpy.typing import NDArray
from pyproj.exceptions import ProjError

from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.placing import applied, image_points
from swath.segment.burn import runs
from swath.segment.vector_file import Bounds

STRAIGHT_PX = 16
"""Edges are cut to this length before they are reprojected: a straight line of a geographic CRS bends in a projected
one, by less than 0.1 pixel over 16 pixels even where a pixel measures 10 km."""
NOISE_PX = 1e-6
"""Coordinates that went through a CRS and back are off by less; an object that far over the border is not cut by it."""

Geometries = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Outlines:
    """What of a file's geometries lies in the image.

    Attributes:
        outlines: (n,) in pixel coordinates, x = column, y = row.
        index: (n,) which geometry of the file each one is.
        repaired: how many geometries of the file were invalid.
        empty: how many were null, empty, unreadable or beyond the CRS.
    """

    outlines: Geometries
    index: NDArray[np.int64]
    repaired: int
    empty: int


def near_image(grid: Grid, crs: pyproj.CRS) -> Bounds | None:
    """Bounds of an image in another CRS, a little wider; None where a part of it has no place there.

    Raises:
        InputError: no transformation between the two is known.
    """
    x, y = _transformer(grid.crs, crs).transform(*image_points(grid))
    where = np.array([x, y])
    if not np.isfinite(where).all():
        return None
    low, high = where.min(axis=(1, 2)), where.max(axis=(1, 2))
    pad = 0.01 * (high - low) + 4 * (high - low) / min(grid.shape)
    return (*(low - pad).tolist(), *(high + pad).tolist())


def _transformer(source: pyproj.CRS | None, target: pyproj.CRS | None) -> pyproj.Transformer:
    try:
        return pyproj.Transformer.from_crs(source, target, always_xy=True)
    except ProjError:
        raise InputError(
            f"No transformation from {source.name if source else None} to {target.name if target else None} is known. "
            "Next: reproject the labels to the image's CRS."
        ) from None


def in_pixels(geometries: Geometries, crs: pyproj.CRS | None, grid: Grid) -> Outlines:
    """Outlines of an image's pixel coordinates.

    Args:
        geometries: (n,) as read; None where a feature has none.
        crs: their CRS; None where they are pixel coordinates already.
        grid: the image's grid.

    Raises:
        InputError: the image's geotransform cannot be inverted, or no transformation is known.
    """
    usable = ~(shapely.is_missing(geometries) | shapely.is_empty(geometries))
    index = np.flatnonzero(usable)
    shapes = geometries[index]
    invalid = ~shapely.is_valid(shapes)
    shapes[invalid] = _same_kind(shapely.make_valid(shapes[invalid]), shapes[invalid])
    if crs is not None:
        shapes, index, lost = _reprojected(shapes, index, crs, grid)
    else:
        lost = 0
    shapes, index = _clipped(shapes, index, grid.shape)
    return Outlines(shapes, index, int(invalid.sum()), int(len(geometries) - usable.sum()) + lost)


def _reprojected(shapes: Geometries, index: NDArray[Any], crs: pyproj.CRS, grid: Grid) -> tuple[Geometries, Any, int]:
    """Shapes near the image in pixel coordinates, where they came from, and how many have no place in its CRS."""
    if not crs.equals(grid.crs, ignore_axis_order=True):
        bounds = near_image(grid, crs)
        if bounds is not None:
            shapes, index = _cut(shapes, index, bounds)
            longest = STRAIGHT_PX * max(
                (bounds[2] - bounds[0]) / grid.shape[1], (bounds[3] - bounds[1]) / grid.shape[0]
            )
            shapes = shapely.segmentize(shapes, longest)
        to_image = _transformer(crs, grid.crs)
        shapes = shapely.transform(shapes, lambda xy: np.column_stack(to_image.transform(xy[:, 0], xy[:, 1])))
    try:
        inverse = ~grid.affine
    except TransformNotInvertibleError:
        raise InputError(
            "The image's geotransform cannot be inverted, so labels cannot be placed. Next: repair it."
        ) from None
    shapes = shapely.transform(shapes, lambda xy: np.column_stack(applied(inverse, xy[:, 0], xy[:, 1])))
    finite = np.isfinite(shapely.bounds(shapes)).all(axis=1)
    shapes, index = shapes[finite], index[finite]
    bent = ~shapely.is_valid(shapes)
    shapes[bent] = _same_kind(shapely.make_valid(shapes[bent]), shapes[bent])
    return shapes, index, int(np.count_nonzero(~finite))


def _clipped(shapes: Geometries, index: NDArray[Any], shape: tuple[int, int]) -> tuple[Geometries, Any]:
    """What lies in the image; what the border cuts off to less than one pixel centre lies outside."""
    rows, cols = shape
    within = _inside(shapes, (-NOISE_PX, -NOISE_PX, cols + NOISE_PX, rows + NOISE_PX))
    beyond = index[~within]
    shapes, index = _cut(shapes, index, (0, 0, cols, rows))
    dimensions, bounds = shapely.get_dimensions(shapes), shapely.bounds(shapes)
    kept = (dimensions > 0) | ((bounds[:, 2] < cols) & (bounds[:, 3] < rows))
    severed = np.flatnonzero((dimensions == 2) & np.isin(index, beyond))
    kept[severed] = runs(shapes[severed], shape).sizes_px(len(severed)) > 0
    return shapes[kept], index[kept]


def _inside(shapes: Geometries, bounds: Bounds) -> NDArray[np.bool_]:
    x0, y0, x1, y1 = shapely.bounds(shapes).T
    return np.asarray((x0 >= bounds[0]) & (y0 >= bounds[1]) & (x1 <= bounds[2]) & (y1 <= bounds[3]), dtype=bool)


def _cut(shapes: Geometries, index: NDArray[Any], bounds: Bounds) -> tuple[Geometries, Any]:
    """Shapes clipped to a box; those outside are left out."""
    frame = shapely.box(*bounds)
    crossing = ~_inside(shapes, bounds)
    before = shapes[crossing]
    shapes = shapes.copy()
    shapes[crossing] = _same_kind(shapely.intersection(before, frame), before)
    kept = ~shapely.is_empty(shapes)
    return shapes[kept], index[kept]


def _same_kind(shapes: Geometries, before: Geometries) -> Geometries:
    """Shapes without the parts of lower dimension that repairing and clipping leave behind."""
    mixed = (shapely.get_type_id(shapes) == 7) | (shapely.get_dimensions(shapes) < shapely.get_dimensions(before))
    result = shapes.copy()
    for i in np.flatnonzero(mixed):
        parts = shapely.get_parts(shapes[i])
        parts = parts[shapely.get_dimensions(parts) == shapely.get_dimensions(before[i])]
        result[i] = shapely.union_all(parts)
    return result
