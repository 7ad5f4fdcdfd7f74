"""How much of some polygons an image covers, by ground area."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyproj
import shapely
from pyproj.exceptions import ProjError
from shapely.geometry.base import BaseGeometry

from swath.raster.grid import Grid
from swath.raster.placing import applied
from swath.segment.outlines import Geometries

BORDER_POINTS = 129
"""Points per side of the image's border that are carried to another CRS; a side bends by far less between them."""


def image_frame(grid: Grid, crs: pyproj.CRS | None) -> BaseGeometry | None:
    """The outer border of an image as a polygon in a CRS, or in pixel coordinates where that is None.

    Returns:
        None where a part of the border has no place in the CRS.
    """
    rows, cols = grid.shape
    if crs is None:
        return shapely.box(0, 0, cols, rows)
    along = np.linspace(0, 1, BORDER_POINTS)
    x = np.concatenate([along, np.ones_like(along), along[::-1], np.zeros_like(along)]) * cols
    y = np.concatenate([np.zeros_like(along), along, np.ones_like(along), along[::-1]]) * rows
    try:
        place = pyproj.Transformer.from_crs(grid.crs, crs, always_xy=True).transform
        points = np.column_stack(place(*applied(grid.affine, x, y)))
    except ProjError:
        return None
    return shapely.make_valid(shapely.Polygon(points)) if np.isfinite(points).all() else None


def share_inside(polygons: Geometries | Sequence[Any], frame: BaseGeometry | None, crs: pyproj.CRS | None) -> float:
    """Share of the ground area of some polygons that lies in a frame; what they cover twice counts once.

    Args:
        polygons: in a CRS, or in pixel coordinates.
        frame: polygon in the same coordinates.
        crs: that CRS, None for pixel coordinates.

    Returns:
        0 to 1; NaN where there is no frame or no area.
    """
    if frame is None:
        return float("nan")
    sound = shapely.make_valid(np.asarray(polygons, dtype=object))
    if shapely.covers(frame, sound).all():
        return 1.0
    union = shapely.union_all(sound)
    whole = _surface(union, crs)
    return min(_surface(shapely.intersection(union, frame), crs) / whole, 1.0) if whole else float("nan")


def _surface(shape: BaseGeometry, crs: pyproj.CRS | None) -> float:
    """Area on the ellipsoid where the CRS is geographic, planar elsewhere; only ratios are taken of it."""
    geod = crs.get_geod() if crs is not None and crs.is_geographic else None
    if geod is None or crs is None:
        return float(shapely.area(shape))
    unit = np.degrees(crs.axis_info[0].unit_conversion_factor)
    parts = shapely.get_parts(shapely.orient_polygons(shapely.transform(shape, lambda xy: xy * unit)))
    return float(sum(abs(geod.geometry_area_perimeter(part)[0]) for part in parts if part.area))
