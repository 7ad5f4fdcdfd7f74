"""Rasters of heights written for a test: any dtype, nodata, unit, vertical datum, grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import rasterio
from affine import Affine
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.reader import Raster, open_raster
from swath.raster.write import write_array

UTM = pyproj.CRS.from_epsg(32633)
AFFINE = Affine(2, 0, 500_000, 0, -2, 5_000_000)


def write_heights(
    path: Path,
    heights: NDArray[Any],
    *,
    affine: Affine = AFFINE,
    crs: pyproj.CRS | None = UTM,
    nodata: float | None = None,
    unit: str | None = None,
    tags: dict[str, str] | None = None,
) -> Path:
    write_array(path, heights, Grid(affine, (heights.shape[-2], heights.shape[-1]), crs), nodata=nodata)
    with rasterio.open(path, "r+") as dataset:
        if unit is not None:
            dataset.units = [unit]
        dataset.update_tags(**(tags or {}))
    return path


def image(folder: Path, shape: tuple[int, int] = (20, 30), **where: Any) -> Raster:
    return open_raster(write_heights(folder / "image.tif", np.ones(shape, dtype=np.uint8), **where))


def plane(
    affine: Affine, shape: tuple[int, int], east: float, north: float, base: float = 100.0
) -> NDArray[np.float64]:
    """A tilted plane over a grid: rise per unit of its CRS towards east and north."""
    rows, cols = np.indices(shape) + 0.5
    x, y = affine @ (cols, rows)
    return np.asarray(base + east * (x - affine.c) + north * (y - affine.f))
