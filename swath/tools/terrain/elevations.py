"""How high the land lies: elevations, relief, profiles, and what lies below a water level."""

from __future__ import annotations

import numpy as np

from swath.errors import Refused, ToolError
from swath.raster.fields import pixels_where
from swath.raster.points import inside, pixel_at_lonlat, pixel_at_xy
from swath.tools.bounds import MORE_LESS, between, bound_words
from swath.tools.cells import (
    CellStatistic,
    doubted_statistic,
    height_shift_m,
    known_cells,
    named,
    statistic_by_owner,
)
from swath.tools.handles import Mask, Regions
from swath.tools.registry import tool
from swath.tools.site import Site
from swath.tools.terrain.surfaces import Ground, masked, surface_of


@tool(measures=True, signed=("x", "y", "lon_deg", "lat_deg"))
def elevation_m(
    site: Site,
    *,
    row_px: int | None = None,
    column_px: int | None = None,
    lon_deg: float | None = None,
    lat_deg: float | None = None,
    x: float | None = None,
    y: float | None = None,
    surface: Ground = "auto",
) -> float:
    """Elevation in metres of the pixel at a row and column, at a longitude and latitude, or at a map coordinate.

    Args:
        site: the image.
        row_px: row of a pixel of the image, 0 at the top, with `column_px`.
        column_px: its column, 0 at the left.
        lon_deg: longitude in degrees (WGS 84), with `lat_deg`.
        lat_deg: latitude in degrees.
        x: map coordinate in the image's CRS, with `y`.
        y: the other one.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        ToolError: not exactly one place.
        Refused: no elevations are given, the place lies outside the image, or its elevation is not known.
    """
    where = place(site, (row_px, column_px), (lon_deg, lat_deg), (x, y))
    found = surface_of(site, surface, absolute=True)
    height = float(found.heights[where])
    if not np.isfinite(height):
        raise Refused(f"{found.name} has no height at row {where[0]}, column {where[1]}: there it is nodata.")
    return height + height_shift_m(site)


def place(
    site: Site,
    pixel: tuple[int | None, int | None],
    lonlat: tuple[float | None, float | None],
    xy: tuple[float | None, float | None],
) -> tuple[int, int]:
    """Row and column of the one place that is given.

    Raises:
        ToolError: not exactly one is given.
        Refused: it lies outside the image.
    """
    grid = site.raster.grid
    given = [pair for pair in (pixel, lonlat, xy) if pair != (None, None)]
    first, second = given[0] if len(given) == 1 else (None, None)
    if first is None or second is None:
        raise ToolError("Give one place: row_px and column_px, or lon_deg and lat_deg, or x and y.")
    if given[0] is pixel:
        return inside(grid, first, second, f"row {first}, column {second}")
    if given[0] is lonlat:
        return pixel_at_lonlat(grid, first, second)
    return pixel_at_xy(grid, first, second)


@tool(measures=True)
def elevation_statistic_m(
    site: Site,
    of: Mask | Regions | None = None,
    *,
    statistic: CellStatistic = "mean",
    percent: float = 95.0,
    surface: Ground = "auto",
) -> float:
    """Elevation in metres of the cells of a mask, of regions or of the whole image.

    Args:
        site: the image.
        of: which cells; the whole image if left out.
        statistic: which number for the cells; "percentile" interpolates linearly, "std" divides by n.
        percent: share of the cells below a percentile, 0 to 100.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, or none is known there.
    """
    site.warn(f"The elevation is the {named(statistic, percent)} of the cells.")
    return doubted_statistic(site, surface_of(site, surface, absolute=True).heights, of, statistic, percent)


@tool(measures=True)
def relief_m(site: Site, of: Mask | Regions | None = None, *, surface: Ground = "auto") -> float:
    """Elevation range in metres: highest minus lowest cell of a mask, of regions or of the whole image.

    Args:
        site: the image.
        of: which cells; the whole image if left out.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, or none is known there.
    """
    cells = known_cells(site, surface_of(site, surface).heights, of)
    return max(float(cells.max()) - float(cells.min()) + 2 * height_shift_m(site), 0.0)


@tool(measures=True, signed=("larger_than_m", "min_m", "smaller_than_m", "max_m"))
def elevation_mask(
    site: Site,
    *,
    larger_than_m: float | None = None,
    min_m: float | None = None,
    smaller_than_m: float | None = None,
    max_m: float | None = None,
    surface: Ground = "auto",
) -> Mask:
    """The pixels at some elevation; pixels without a known one are never among them.

    Args:
        site: the image.
        larger_than_m: higher than this, exclusive; may be negative.
        min_m: from this elevation on, inclusive.
        smaller_than_m: lower than this, exclusive.
        max_m: up to this elevation, inclusive.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given.
    """
    bounds = (larger_than_m, min_m, smaller_than_m, max_m)
    found, shift = surface_of(site, surface, absolute=True), height_shift_m(site)
    words = bound_words(*bounds, unit="m", beyond=MORE_LESS)
    name = f"pixels whose elevation is {words or 'known'}"
    return site.derived(
        f"elevation_mask {bounds} {found.surface} {shift}",
        (),
        lambda: masked(
            site,
            pixels_where(found.heights, lambda values: between(values + shift, *bounds)),
            pixels_where(found.heights, np.isfinite),
            "elevation",
            name,
        ),
    )


@tool(measures=True)
def profile_m(
    site: Site, *, from_row_px: int, from_column_px: int, to_row_px: int, to_column_px: int, surface: Ground = "auto"
) -> list[float]:
    """Elevations in metres along a straight line, one for each pixel step, both ends included.

    Args:
        site: the image.
        from_row_px: row of the first pixel, 0 at the top.
        from_column_px: its column, 0 at the left.
        to_row_px: row of the last pixel.
        to_column_px: its column.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, the line leaves the image, or crosses pixels without a known elevation.
    """
    grid = site.raster.grid
    for row, column in ((from_row_px, from_column_px), (to_row_px, to_column_px)):
        inside(grid, row, column, f"row {row}, column {column}")
    steps = max(abs(to_row_px - from_row_px), abs(to_column_px - from_column_px)) + 1
    rows = np.rint(np.linspace(from_row_px, to_row_px, steps)).astype(int)
    cols = np.rint(np.linspace(from_column_px, to_column_px, steps)).astype(int)
    found = surface_of(site, surface, absolute=True)
    heights = found.heights[rows, cols]
    missing = int(np.count_nonzero(~np.isfinite(heights)))
    if missing:
        raise Refused(f"The line crosses {missing} of {steps} pixels where {found.name} has no height.")
    return [float(height) for height in heights]


PLANAR = "Flooding is planar: every cell below the water level counts, whether water can reach it or not."


@tool(measures=True, signed=("water_level_m",))
def flood_mask(site: Site, *, water_level_m: float, surface: Ground = "auto") -> Mask:
    """The pixels that lie below a level water surface, whether water can reach them or not.

    Args:
        site: the image.
        water_level_m: elevation of the water, from the surface's own zero; may be negative.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given.
    """
    site.warn(PLANAR)
    mask = elevation_mask(site, smaller_than_m=water_level_m, surface=surface)
    return mask.derived(mask.pixels, f"pixels below a water level of {water_level_m:g} m")


@tool(measures=True, signed=("water_level_m",))
def flood_depth_m(
    site: Site,
    of: Mask | Regions | None = None,
    *,
    water_level_m: float,
    statistic: CellStatistic = "mean",
    percent: float = 95.0,
    surface: Ground = "auto",
) -> float:
    """Depth in metres below a level water surface, of the cells that lie below it; 0 where none does.

    Args:
        site: the image.
        of: where; the whole image if left out.
        water_level_m: elevation of the water, from the surface's own zero; may be negative.
        statistic: which number for the flooded cells.
        percent: share of the cells below a percentile, 0 to 100.
        surface: "auto" takes the DEM, else the DTM, else the DSM.

    Raises:
        Refused: no elevations are given, or none is known there.
    """
    site.warn(PLANAR)
    site.warn(f"The depth is the {named(statistic, percent)} of the flooded cells.")
    cells = known_cells(site, surface_of(site, surface, absolute=True).heights, of, "elevation")
    depths = water_level_m - cells.astype(np.float64) + height_shift_m(site)
    depths = depths[depths > 0]
    if not len(depths):
        return 0.0
    return float(statistic_by_owner(depths, np.zeros(len(depths), dtype=np.int64), 1, statistic, percent)[0])
