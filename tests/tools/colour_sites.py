"""Sites with a picture on disk, whose colours are what was painted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.write import write_array
from swath.testing.segment import PaintedBackend
from swath.tools.site import Site

RGB = {"red": 1, "green": 2, "blue": 3}


def picture_site(
    folder: Path,
    rgb: NDArray[Any],
    grid: Grid,
    paintings: Mapping[str, Any],
    *,
    bands: Mapping[str, int] | None = RGB,
    order: Sequence[int] = (0, 1, 2),
) -> Site:
    """A site on a GeoTIFF of (rows, columns, 3) colours; `order` is the order of the colours in the file."""
    path = folder / "picture.tif"
    write_array(path, np.ascontiguousarray(rgb[..., list(order)].transpose(2, 0, 1)), grid)
    raster = open_raster(path, bands=bands)
    return Site(raster, PaintedBackend(grid.shape, paintings), raster.valid())
