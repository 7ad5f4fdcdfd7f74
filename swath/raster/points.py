"""Which pixel holds a place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyproj
from pyproj.exceptions import ProjError

from swath.errors import Refused
from swath.raster.grid import Grid
from swath.raster.placing import TIE_PX
from swath.raster.vertical import flat

LONLAT = "OGC:CRS84"


def pixel_at_xy(grid: Grid, x: float, y: float) -> tuple[int, int]:
    """Row and column of the pixel that holds a map coordinate of the grid's CRS.

    Raises:
        Refused: it lies outside the image.
    """
    col, row = ~grid.affine @ (x, y)
    return inside(grid, row + TIE_PX, col + TIE_PX, f"x={x:.10g}, y={y:.10g}")


def pixel_at_lonlat(grid: Grid, lon: float, lat: float) -> tuple[int, int]:
    """Row and column of the pixel that holds a longitude and latitude in degrees (WGS 84).

    Raises:
        Refused: the grid has no CRS that longitudes lead to, or the place lies outside the image.
    """
    crs = flat(grid.crs)
    if crs is None:
        raise Refused("Longitudes and latitudes cannot be placed: the image names no CRS. Next: name a pixel instead.")
    try:
        x, y = pyproj.Transformer.from_crs(LONLAT, crs, always_xy=True).transform(lon, lat)
    except ProjError:
        raise Refused(
            "Longitudes and latitudes cannot be placed in the image's CRS. Next: name a pixel instead."
        ) from None
    col, row = ~grid.affine @ (x, y) if np.isfinite([x, y]).all() else (np.nan, np.nan)
    return inside(grid, row + TIE_PX, col + TIE_PX, f"longitude {lon:.10g}, latitude {lat:.10g}")


def inside(grid: Grid, row: Any, col: Any, place: str) -> tuple[int, int]:
    """A row and a column as whole numbers.

    Raises:
        Refused: they lie outside the grid.
    """
    rows, cols = grid.shape
    if not (0 <= row < rows and 0 <= col < cols):
        raise Refused(f"The place {place} lies outside the image, which has {rows} x {cols} pixels (rows x columns).")
    return int(row), int(col)
