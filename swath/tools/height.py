"""How high things stand above the ground, from an nDSM, or from a DSM and a DTM."""

from __future__ import annotations

import numpy as np

from swath.errors import Refused
from swath.raster.fields import pixels_where
from swath.tools.above_ground import above_ground, known_heights
from swath.tools.blocks import row_blocks
from swath.tools.bounds import MORE_LESS, between, bound_words
from swath.tools.cells import CellStatistic, check_known, doubted_statistic, height_shift_m, named
from swath.tools.handles import Mask, Regions
from swath.tools.regions import Statistic, positive, statistic_of
from swath.tools.registry import tool
from swath.tools.site import Site
from swath.tools.terrain.elevations import place
from swath.tools.terrain.surfaces import masked


@tool(measures=True)
def height_at_m(
    site: Site,
    *,
    row_px: int | None = None,
    column_px: int | None = None,
    lon_deg: float | None = None,
    lat_deg: float | None = None,
    x: float | None = None,
    y: float | None = None,
) -> float:
    """Height above ground in metres of the pixel at a row and column, at a longitude and latitude, or at a coordinate.

    Args:
        site: the image.
        row_px: row of a pixel of the image, 0 at the top, with `column_px`.
        column_px: its column, 0 at the left.
        lon_deg: longitude in degrees (WGS 84), with `lat_deg`.
        lat_deg: latitude in degrees.
        x: map coordinate in the image's CRS, with `y`.
        y: the other one.

    Raises:
        ToolError: not exactly one place.
        Refused: no heights above ground are given, the place lies outside the image, or its height is not known.
    """
    where = place(site, (row_px, column_px), (lon_deg, lat_deg), (x, y))
    found = above_ground(site)
    height = float(found.heights[where])
    if not np.isfinite(height):
        raise Refused(f"No height above ground is known at row {where[0]}, column {where[1]}: there it is nodata.")
    return height + height_shift_m(site)


@tool(measures=True)
def height_statistic_m(
    site: Site, of: Mask | Regions, *, statistic: CellStatistic = "percentile", percent: float = 95.0
) -> float:
    """Height above ground in metres of all cells of a mask or of regions together.

    Args:
        site: the image.
        of: which cells; those that several regions share count once.
        statistic: which number for the cells; "percentile" interpolates linearly, "std" divides by n.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known there.
    """
    site.warn(f"The height is the {named(statistic, percent)} of the cells.")
    return doubted_statistic(site, above_ground(site).heights, of, statistic, percent)


@tool(measures=True)
def region_heights_m(
    site: Site, regions: Regions, *, statistic: CellStatistic = "percentile", percent: float = 95.0
) -> list[float]:
    """Height above ground of every region in metres, in order; regions without a known height are left out.

    Args:
        site: the image.
        regions: whose heights.
        statistic: which number for the cells of a region.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known there.
    """
    return [float(height) for height in known_heights(site, regions, statistic, percent)[1]]


@tool(measures=True)
def region_height_statistic_m(
    site: Site,
    regions: Regions,
    *,
    among: Statistic,
    statistic: CellStatistic = "percentile",
    percent: float = 95.0,
) -> float:
    """Mean, median, smallest, largest ... of the heights of regions in metres, each region counting once.

    Args:
        site: the image.
        regions: whose heights.
        among: which number for the many heights; "std" divides by n.
        statistic: which number for the cells of a region is its height.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, none is known there, or there are no regions.
    """
    return statistic_of(known_heights(site, regions, statistic, percent)[1], among, regions.name)


@tool(measures=True)
def with_height(
    site: Site,
    regions: Regions,
    *,
    larger_than_m: float | None = None,
    min_m: float | None = None,
    smaller_than_m: float | None = None,
    max_m: float | None = None,
    statistic: CellStatistic = "percentile",
    percent: float = 95.0,
) -> Regions:
    """The regions of some height above ground; regions without a known height are left out.

    Args:
        site: the image.
        regions: where to choose.
        larger_than_m: keep regions taller than this, exclusive.
        min_m: keep regions from this height on, inclusive.
        smaller_than_m: keep regions lower than this, exclusive.
        max_m: keep regions up to this height, inclusive.
        statistic: which number for the cells of a region is its height.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known there.
    """
    known, heights = known_heights(site, regions, statistic, percent)
    bounds = (larger_than_m, min_m, smaller_than_m, max_m)
    words = bound_words(*bounds, unit="m", beyond=("taller", "lower"))
    return known.take(between(heights, *bounds), " ".join(filter(None, (regions.name, words))))


@tool(measures=True)
def tallest(
    site: Site, regions: Regions, *, n: int = 1, statistic: CellStatistic = "percentile", percent: float = 95.0
) -> Regions:
    """The n tallest regions, tallest first; all with a known height where there are fewer.

    Args:
        site: the image.
        regions: where to choose.
        n: how many, at least 1.
        statistic: which number for the cells of a region is its height.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known there.
    """
    ordered = sort_by_height(site, regions, statistic=statistic, percent=percent)
    return ordered.take(np.arange(len(ordered))[: positive(n)], _ranked_name("tallest", n, regions))


@tool(measures=True)
def lowest(
    site: Site, regions: Regions, *, n: int = 1, statistic: CellStatistic = "percentile", percent: float = 95.0
) -> Regions:
    """The n lowest regions, lowest first; arguments as for `tallest`."""
    ordered = sort_by_height(site, regions, descending=False, statistic=statistic, percent=percent)
    return ordered.take(np.arange(len(ordered))[: positive(n)], _ranked_name("lowest", n, regions))


@tool(measures=True)
def nth_tallest(
    site: Site, regions: Regions, *, n: int, statistic: CellStatistic = "percentile", percent: float = 95.0
) -> Regions:
    """The nth tallest region alone: n=2 is the second tallest; none where there are fewer.

    Args:
        site: the image.
        regions: where to choose.
        n: rank, 1 = the tallest.
        statistic: which number for the cells of a region is its height.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known there.
    """
    ordered = sort_by_height(site, regions, statistic=statistic, percent=percent)
    return ordered.take(np.arange(len(ordered))[positive(n) - 1 : n], f"{regions.name}, number {n} by height")


@tool(measures=True)
def sort_by_height(
    site: Site,
    regions: Regions,
    *,
    descending: bool = True,
    statistic: CellStatistic = "percentile",
    percent: float = 95.0,
) -> Regions:
    """The regions with a known height, ordered by it; of equal ones the one that came first stays first.

    Args:
        site: the image.
        regions: what to order.
        descending: tallest first.
        statistic: which number for the cells of a region is its height.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known there.
    """
    known, heights = known_heights(site, regions, statistic, percent)
    order = np.argsort(-heights if descending else heights, kind="stable")
    return known.take(order, f"{regions.name} by height")


def _ranked_name(word: str, n: int, regions: Regions) -> str:
    return f"{word} {regions.name}" if n == 1 else f"{n} {word} {regions.name}"


@tool(measures=True)
def height_difference_m(
    site: Site,
    a: Mask | Regions,
    b: Mask | Regions,
    *,
    statistic: CellStatistic = "percentile",
    percent: float = 95.0,
) -> float:
    """By how many metres one thing stands higher above the ground than another; negative where it is lower.

    Args:
        site: the image.
        a: the one.
        b: the other.
        statistic: which number for the cells of each is its height.
        percent: share of the cells below a percentile, 0 to 100.

    Raises:
        Refused: no heights above ground are given, or none is known of one of them.
    """
    site.warn(f"The height is the {named(statistic, percent)} of the cells.")
    heights = above_ground(site).heights
    first = doubted_statistic(site, heights, a, statistic, percent)
    return first - doubted_statistic(site, heights, b, statistic, percent, end=-1)


@tool(measures=True)
def height_mask(
    site: Site,
    *,
    larger_than_m: float | None = None,
    min_m: float | None = None,
    smaller_than_m: float | None = None,
    max_m: float | None = None,
) -> Mask:
    """The pixels of some height above ground; pixels without a known height are never among them.

    Args:
        site: the image.
        larger_than_m: higher than this, exclusive.
        min_m: from this height on, inclusive.
        smaller_than_m: lower than this, exclusive.
        max_m: up to this height, inclusive.

    Raises:
        Refused: no heights above ground are given.
    """
    bounds = (larger_than_m, min_m, smaller_than_m, max_m)
    heights, shift = above_ground(site).heights, height_shift_m(site)
    name = f"pixels whose height is {bound_words(*bounds, unit='m', beyond=MORE_LESS) or 'known'}"

    def build() -> Mask:
        keep = pixels_where(heights, lambda values: between(values + shift, *bounds))
        return masked(site, keep, pixels_where(heights, np.isfinite), "height", name)

    return site.derived(f"height_mask {bounds} {shift}", (), build)


@tool(measures=True)
def volume_m3(site: Site, of: Mask | Regions) -> float:
    """Volume in m3 between the ground and the surface over a mask or regions: heights times true ground areas, summed.

    Heights below the ground count as negative, so that noise on open ground cancels out.

    Args:
        site: the image.
        of: over what; ground that several regions share counts once.

    Raises:
        Refused: no heights above ground are given, none is known there, or no ground size is known.
    """
    heights, shift, ground = above_ground(site).heights, height_shift_m(site), site.raster.grid.require_ground()
    check_known(site, heights, of)
    pixels, total = site.mask_of(of).pixels, 0.0
    for rows in row_blocks(pixels.shape[0]):
        volumes = (heights[rows] + shift) * ground.area_m2(rows)
        total += float(np.sum(volumes, where=pixels[rows] & np.isfinite(volumes), dtype=np.float64))
    return total
