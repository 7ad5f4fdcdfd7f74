"""The lie of the land, from a DEM or a DTM (or, said so, from a DSM): elevation, relief, slope, ruggedness, flooding.

What is derived from neighbouring cells is computed on the surface's own cells and then brought onto the image's grid.
"""

from swath.tools.terrain.elevations import (
    elevation_m,
    elevation_mask,
    elevation_statistic_m,
    flood_depth_m,
    flood_mask,
    profile_m,
    relief_m,
)
from swath.tools.terrain.slopes import (
    aspect_deg,
    facing_mask,
    flat_share_percent,
    ruggedness_m,
    slope_mask,
    slope_statistic_deg,
)

__all__ = [
    "aspect_deg",
    "elevation_m",
    "elevation_mask",
    "elevation_statistic_m",
    "facing_mask",
    "flat_share_percent",
    "flood_depth_m",
    "flood_mask",
    "profile_m",
    "relief_m",
    "ruggedness_m",
    "slope_mask",
    "slope_statistic_deg",
]
