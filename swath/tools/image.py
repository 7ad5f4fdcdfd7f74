"""Facts of the image itself."""

from __future__ import annotations

from typing import Literal

import numpy as np

from swath.raster.pixel_sets import number_of
from swath.tools import kernels
from swath.tools.registry import tool
from swath.tools.site import Site


@tool(measures=True)
def image_area_m2(site: Site) -> float:
    """True ground area in m2 of the valid pixels (inside the area of interest)."""
    return kernels.mask_area_m2(site.valid, site.raster.grid.require_ground())


@tool(measures=True)
def image_size_px(site: Site, *, axis: Literal["width", "height"]) -> int:
    """Width or height of the image in pixels.

    Args:
        site: the image.
        axis: which one.
    """
    return site.raster.grid.shape[1 if axis == "width" else 0]


@tool(measures=True)
def pixel_size_m(site: Site) -> float:
    """Mean of the ground lengths in metres of a pixel's two sides, at the image centre."""
    return float(np.mean(site.raster.grid.require_ground().size_xy_m))


@tool(measures=True)
def band_count(site: Site) -> int:
    """Number of bands."""
    return len(site.raster.bands)


@tool(measures=True)
def valid_percent(site: Site) -> float:
    """Share of the image's pixels that are valid, in percent."""
    return float(100.0 * number_of(site.valid) / site.valid.size)
