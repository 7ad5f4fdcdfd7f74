"""Sites with heights, without files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from measured_sites import site_on

from swath.raster.grid import Grid
from swath.raster.height_raster import Cells, HeightRaster
from swath.raster.heights import Heights
from swath.raster.placing import Placement
from swath.raster.vertical import Vertical
from swath.tools.site import Site


def heighted(
    grid: Grid, paintings: Mapping[str, Any], *, accuracy_m: float | None = None, valid: Any = None, **fields: Any
) -> Site:
    """A site with surfaces (dsm=..., dem=...) of (rows, columns) metres on the image's own grid, NaN in gaps."""
    site = site_on(grid, paintings, valid)
    whole = Placement(slice(0, grid.shape[0]), slice(0, grid.shape[1]), same_grid=True)
    rasters = {}
    for surface, values in fields.items():
        raster = replace(site.raster, path=site.raster.path.with_name(f"{surface}.tif"))
        made = HeightRaster(surface, raster, Vertical("m", 1.0, "NAVD88"), grid, whole)  # type: ignore[arg-type]
        made.__dict__["cells"] = Cells(np.asarray(values, dtype=np.float64), grid)
        rasters[surface] = made
    return replace(site, heights=Heights(rasters, accuracy_m))  # type: ignore[arg-type]
