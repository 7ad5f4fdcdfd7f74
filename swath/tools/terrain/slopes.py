"""How steep and uneven the land is and where it faces, from neighbouring cells of the surface's own grid."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from swath.errors import Refused
from swath.raster import terrain
from swath.raster.fields import Numbers
from swath.tools import kernels
from swath.tools.bounds import MORE_LESS, between, bound_words
from swath.tools.cells import CellStatistic, known_cells, named, statistic_by_owner
from swath.tools.handles import Mask, Regions
from swath.tools.registry import tool
from swath.tools.site import Site
from swath.tools.terrain.surfaces import Ground, masked, surface_of

Facing = Literal["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"]
FACINGS: tuple[Facing, ...] = get_args(Facing)
UP_IS_NORTH = "The image names no CRS: north was taken to be up."
STILL = 1e-6
"""Directions whose mean is shorter than this cancel out."""

SLACK_DEG = 1e-6
"""Aspects on the very limit count, however their arc tangent is rounded."""


def _slope(site: Site, surface: Ground) -> Numbers:
    """(rows, columns) slope in degrees.

    Raises:
        Refused: no such surface, no ground size, or no pixel with all its neighbours.
    """
    found = surface_of(site, surface)
    slope = terrain.slope_deg(*found.gradient)
    if not np.isfinite(slope).any():
        raise Refused(
            f"No cell of {found.name} has a height on all its eight sides, so that no slope can be measured. "
            "Next: give a larger raster, or one with fewer gaps."
        )
    return slope


def _statistic(
    site: Site, field: Numbers, of: Mask | Regions | None, statistic: CellStatistic, percent: float, what: str
) -> float:
    """One number for the known cells of a thing.

    Raises:
        Refused: none is known.
    """
    site.warn(f"The {what} is the {named(statistic, percent)} of the cells.")
    cells = known_cells(site, field, of, what)
    return float(statistic_by_owner(cells, np.zeros(len(cells), dtype=np.int64), 1, statistic, percent)[0])


@tool(measures=True)
def slope_statistic_deg(
    site: Site,
    of: Mask | Regions | None = None,
    *,
    statistic: CellStatistic = "mean",
    percent: float = 95.0,
    surface: Ground = "auto",
) -> float:
    """Slope in degrees of the cells of a mask, of regions or of the whole image, by Horn's 3 x 3 window.

    Args:
        site: the image.
        of: which cells; the whole image if left out.
        statistic: which number for the cells.
        percent: share of the cells below a percentile, 0 to 100.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, none is known there, or no ground size is known.
    """
    return _statistic(site, _slope(site, surface), of, statistic, percent, "slope")


@tool(measures=True)
def slope_mask(
    site: Site,
    *,
    larger_than_deg: float | None = None,
    min_deg: float | None = None,
    smaller_than_deg: float | None = None,
    max_deg: float | None = None,
    surface: Ground = "auto",
) -> Mask:
    """The pixels of some slope by Horn's 3 x 3 window; pixels without a known slope are never among them.

    Args:
        site: the image.
        larger_than_deg: steeper than this, exclusive.
        min_deg: from this slope on, inclusive.
        smaller_than_deg: less steep than this, exclusive.
        max_deg: up to this slope, inclusive.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, or no ground size is known.
    """
    bounds = (larger_than_deg, min_deg, smaller_than_deg, max_deg)
    words = bound_words(*bounds, unit="degrees", beyond=MORE_LESS)
    slope = _slope(site, surface)
    keep, name = between(slope, *bounds), f"pixels whose slope is {words or 'known'}"
    return site.derived(
        f"slope_mask {bounds} {surface}", (), lambda: masked(site, keep, np.isfinite(slope), "slope", name)
    )


@tool(measures=True)
def flat_share_percent(
    site: Site, of: Mask | Regions | None = None, *, max_slope_deg: float = 5.0, surface: Ground = "auto"
) -> float:
    """What share of the ground is flat, in percent of the pixels whose slope is known.

    Args:
        site: the image.
        of: where; the whole image if left out.
        max_slope_deg: what counts as flat, inclusive.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, no slope is known there, or no ground size is known.
    """
    site.warn(f"Flat is a slope of at most {max_slope_deg:g} degrees.")
    slope, ground = _slope(site, surface), site.raster.grid.require_ground()
    known_cells(site, slope, of, "slope")
    known = np.isfinite(slope) & (site.valid if of is None else site.mask_of(of).pixels)
    flat = known & between(slope, None, None, None, max_slope_deg)
    return 100.0 * kernels.mask_area_m2(flat, ground) / kernels.mask_area_m2(known, ground)


@tool(measures=True)
def aspect_deg(site: Site, of: Mask | Regions | None = None, *, surface: Ground = "auto") -> float:
    """Direction in which the ground faces, downhill, in degrees clockwise from north: 180 faces south.

    The circular mean of the aspects of the cells that are not level.

    Args:
        site: the image.
        of: which cells; the whole image if left out.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, none is known there, no ground size is known, or no direction prevails.
    """
    _slope(site, surface)
    found = surface_of(site, surface)
    aspect = np.radians(known_cells(site, terrain.aspect_deg(*found.gradient), of, "aspect"))
    east, north = float(np.sin(aspect).mean()), float(np.cos(aspect).mean())
    if np.hypot(east, north) < STILL:
        raise Refused("The ground faces all directions alike, so that none prevails.")
    if site.raster.grid.crs is None:
        site.warn(UP_IS_NORTH)
    return float(np.degrees(np.arctan2(east, north)) % 360.0 % 360.0)


@tool(measures=True)
def facing_mask(
    site: Site, *, direction: Facing, within_deg: float = 45.0, min_slope_deg: float = 0.0, surface: Ground = "auto"
) -> Mask:
    """The pixels of slopes that face a direction, downhill, by Horn's 3 x 3 window; level ground faces none.

    Args:
        site: the image.
        direction: where they face.
        within_deg: largest angle between the aspect and that direction, inclusive.
        min_slope_deg: least slope that counts, inclusive.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, or no ground size is known.
    """
    slope, found = _slope(site, surface), surface_of(site, surface)
    off = np.abs((terrain.aspect_deg(*found.gradient) - 45.0 * FACINGS.index(direction) + 180.0) % 360.0 - 180.0)
    site.warn(f"Slopes face {direction} where their aspect is within {within_deg:g} degrees of it.")
    if site.raster.grid.crs is None:
        site.warn(UP_IS_NORTH)
    steep = f" of {min_slope_deg:g} degrees or more" if min_slope_deg else ""
    keep = (off <= within_deg + SLACK_DEG) & between(slope, None, min_slope_deg, None, None)
    return site.derived(
        f"facing_mask {direction} {within_deg} {min_slope_deg} {found.surface}",
        (),
        lambda: masked(site, keep, np.isfinite(slope), "slope", f"slopes{steep} that face {direction}"),
    )


@tool(measures=True)
def ruggedness_m(
    site: Site,
    of: Mask | Regions | None = None,
    *,
    index: terrain.Index = "tri",
    statistic: CellStatistic = "mean",
    percent: float = 95.0,
    surface: Ground = "auto",
) -> float:
    """How uneven the ground is, in metres, by a 3 x 3 window of the surface's own cells.

    Args:
        site: the image.
        of: which cells; the whole image if left out.
        index: "tri" is the terrain ruggedness index of Riley et al. (1999), "tpi" the topographic position:
            height above the mean of the eight neighbours, "roughness" the highest minus the lowest of the nine.
        statistic: which number for the cells.
        percent: share of the cells below a percentile, 0 to 100.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, or none is known there.
    """
    found = surface_of(site, surface)
    ground = found.cells.grid.ground
    size = "unknown size" if ground is None else "{:.3g} x {:.3g} m".format(*ground.size_xy_m)
    site.warn(f"The {index} depends on the cell size; it is of cells of {size}.")
    return _statistic(site, found.index(index), of, statistic, percent, index)
