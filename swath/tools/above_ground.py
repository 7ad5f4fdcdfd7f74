"""Heights above ground on the image's grid, and those of regions, with what has to be said of them."""

from __future__ import annotations

import numpy as np

from swath.errors import Refused
from swath.raster.heights import STATE_HEIGHTS, AboveGround
from swath.tools.cells import CellStatistic, FloatArray, doubted_statistics, named
from swath.tools.handles import Regions
from swath.tools.site import Site


def above_ground(site: Site) -> AboveGround:
    """Heights above ground on the image's grid; says where they come from.

    Raises:
        Refused: no rasters of heights were given, or none from which heights above ground follow.
    """
    if site.heights is None:
        raise Refused(f"Heights cannot be measured: no raster of heights is given. Next: {STATE_HEIGHTS}.")
    found = site.heights.above_ground
    site.warn(f"Heights are above ground, from {found.source}.")
    for note in found.notes:
        site.warn(note)
    return found


def _region_heights(site: Site, regions: Regions, statistic: CellStatistic, percent: float) -> FloatArray:
    """(n,) height of each region in metres, NaN where none of its cells is known; says which statistic it is.

    Raises:
        Refused: no heights above ground are known.
    """
    site.warn(f"The height of an object is the {named(statistic, percent)} of its cells.")
    return doubted_statistics(site, above_ground(site).heights, regions, statistic, percent)


def known_heights(site: Site, regions: Regions, statistic: CellStatistic, percent: float) -> tuple[Regions, FloatArray]:
    """The regions whose height is known, and these heights; says how many others there are.

    Raises:
        Refused: no heights above ground are known, or that of no region.
    """
    heights = _region_heights(site, regions, statistic, percent)
    known = np.isfinite(heights)
    missing = int(np.count_nonzero(~known))
    if len(known) and not known.any():
        raise Refused(f"No pixel of {regions.name} has a known height. Next: give heights that cover them.")
    if missing:
        site.warn(f"{missing} of {len(regions)} {regions.name} have no known height and were left out.")
    return (regions.take(known, regions.name) if missing else regions), heights[known]
