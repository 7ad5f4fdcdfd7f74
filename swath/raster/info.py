"""What swath sees in a raster, for `swath info`."""

from __future__ import annotations

from typing import Any

from swath.raster.reader import Raster


def info(raster: Raster) -> dict[str, Any]:
    """A JSON-ready description of a raster.

    Raises:
        InputError: the pixels cannot be read.
    """
    ground = raster.grid.ground
    return {
        "path": str(raster.path),
        "driver": raster.driver,
        "shape": list(raster.shape),
        "bands": len(raster.bands),
        "dtypes": [band.dtype for band in raster.bands],
        "crs": raster.grid.crs_name,
        "pixel_size_m": None if ground is None else dict(zip("xy", ground.size_xy_m, strict=True)),
        "pixel_size_reason": raster.grid.why_no_ground,
        "pixel_area_m2": None if ground is None else ground.pixel_area_m2,
        "nodata": [band.nodata for band in raster.bands],
        "valid_fraction": float(raster.valid().mean()),
        "band_roles": {band.role: band.index for band in raster.bands if band.role},
        "complex": raster.complex,
        "north": raster.grid.north,
        "warnings": list(raster.warnings),
    }
