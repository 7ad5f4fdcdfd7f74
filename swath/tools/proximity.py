"""Proximity: ground distances, pixel centre to pixel centre; "within D" includes D."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused, ToolError
from swath.raster.tiled import PixelSet
from swath.tools.discs import SLACK
from swath.tools.handles import Mask, Regions
from swath.tools.kernels import grown
from swath.tools.labelling import mask_runs
from swath.tools.regions import Statistic, positive, say_unknown, statistic_of
from swath.tools.registry import tool
from swath.tools.site import Site

FEW_PIXELS = 3
"""Below this many pixels a distance is mostly raster; the conventions ask for a warning."""


@tool(measures=True)
def within(
    site: Site,
    mask: Mask | Regions,
    target: Mask | Regions,
    *,
    max_distance_m: float | None = None,
    smaller_than_m: float | None = None,
) -> Mask:
    """The pixels of a mask that lie within a ground distance of a target; its own pixels are at distance 0.

    Args:
        site: the image.
        mask: pixels to choose from.
        target: what they have to be near; nothing is near an absent target.
        max_distance_m: distance in metres, inclusive.
        smaller_than_m: distance in metres, exclusive.
    """
    inside, limit = site.mask_of(mask), _limit(max_distance_m, smaller_than_m)
    name = f"{inside.name} within {limit:g} m of {target.name}"
    return inside.derived(_near_pixels(site, inside, target, limit, exclusive=max_distance_m is None), name)


@tool(measures=True)
def beyond(
    site: Site,
    mask: Mask | Regions,
    target: Mask | Regions,
    *,
    larger_than_m: float | None = None,
    min_distance_m: float | None = None,
) -> Mask:
    """The pixels of a mask that lie further than a ground distance from a target: the complement of `within`.

    Args:
        site: the image.
        mask: pixels to choose from.
        target: what they have to be far from; everything is far from an absent target.
        larger_than_m: distance in metres, exclusive.
        min_distance_m: distance in metres, inclusive.
    """
    inside, limit = site.mask_of(mask), _limit(larger_than_m, min_distance_m)
    name = f"{inside.name} further than {limit:g} m from {target.name}"
    close = _near_pixels(site, inside, target, limit, exclusive=larger_than_m is None)
    return inside.derived(inside.pixels & ~close, name)


@tool(measures=True)
def near(
    site: Site,
    regions: Regions,
    target: Mask | Regions,
    *,
    max_distance_m: float | None = None,
    smaller_than_m: float | None = None,
) -> Regions:
    """The regions whose nearest pixel lies within a ground distance of a target.

    Args:
        site: the image.
        regions: objects to choose from.
        target: what they have to be near; nothing is near an absent target.
        max_distance_m: distance in metres, inclusive.
        smaller_than_m: distance in metres, exclusive.
    """
    limit = _limit(max_distance_m, smaller_than_m)
    close = _near_regions(site, regions, target, limit, exclusive=max_distance_m is None)
    return regions.take(close, f"{regions.name} within {limit:g} m of {target.name}")


@tool(measures=True)
def farther(
    site: Site,
    regions: Regions,
    target: Mask | Regions,
    *,
    larger_than_m: float | None = None,
    min_distance_m: float | None = None,
) -> Regions:
    """The regions whose nearest pixel lies further than a ground distance from a target: the complement of `near`.

    Args:
        site: the image.
        regions: objects to choose from.
        target: what they have to be far from; everything is far from an absent target.
        larger_than_m: distance in metres, exclusive.
        min_distance_m: distance in metres, inclusive.
    """
    limit = _limit(larger_than_m, min_distance_m)
    close = _near_regions(site, regions, target, limit, exclusive=larger_than_m is None)
    return regions.take(~close, f"{regions.name} further than {limit:g} m from {target.name}")


@tool(measures=True)
def touching(site: Site, regions: Regions, target: Mask | Regions) -> Regions:
    """The regions with a pixel in, or next to (sides and corners), the target; needs no ground size."""
    return regions.take(regions.touches(grown(site.mask_of(target).pixels)), f"{regions.name} touching {target.name}")


@tool(measures=True)
def overlapping(site: Site, regions: Regions, target: Mask | Regions) -> Regions:
    """The regions with at least one pixel in the target; the others of two dates are those that are new, or gone."""
    mask = site.mask_of(target)
    if mask.known is not None:
        say_unknown(site, regions, ~regions.touches(mask.known.pixels), mask.known.field)
    return regions.take(regions.touches(mask.pixels), f"{regions.name} overlapping {target.name}")


@tool(measures=True)
def distance_m(site: Site, a: Mask | Regions, b: Mask | Regions) -> float:
    """The shortest ground distance in metres between two things; 0 where they share a pixel.

    Raises:
        Refused: one of them is not in the image.
    """
    for thing in (a, b):
        if not (len(thing) if isinstance(thing, Regions) else thing.size_px):
            raise Refused(f"There is no {thing.name} in the image, so that a distance to it has no value.")
    site.raster.grid.require_ground()
    distances = site.distances(site.mask_of(b))
    if isinstance(a, Regions):
        shortest = float(a.measured(distances.lowest).min())
    else:
        shortest = float(distances.lowest(mask_runs(a.pixels))[0])
    return max(site.doubted_distance_m(shortest), 0.0) if shortest else 0.0


@tool(measures=True)
def distances_m(site: Site, regions: Regions, target: Mask | Regions) -> list[float]:
    """Ground distance in metres from each region's nearest pixel to a target, in order.

    Raises:
        Refused: the target is not in the image.
    """
    return [float(distance) for distance in _distances(site, regions, target)]


@tool(measures=True)
def distance_statistic_m(site: Site, regions: Regions, target: Mask | Regions, *, statistic: Statistic) -> float:
    """Mean, median, smallest, largest ... of the regions' ground distances in metres to a target.

    Args:
        site: the image.
        regions: whose distances.
        target: to what.
        statistic: which one.

    Raises:
        Refused: there are no regions, or the target is not in the image.
    """
    return statistic_of(_distances(site, regions, target), statistic, regions.name)


@tool(measures=True)
def neighbour_distance_statistic_m(site: Site, regions: Regions, *, statistic: Statistic) -> float:
    """Mean, median, smallest, largest ... of the regions' ground distances in metres to the nearest other of them.

    Args:
        site: the image.
        regions: whose distances to one another.
        statistic: which one; "min" is the shortest distance between any two.

    Raises:
        Refused: there are fewer than two regions.
    """
    if len(regions) < 2:
        raise Refused(f"There are not two {regions.name} in the image, so that there is no distance between them.")
    site.raster.grid.require_ground()
    return statistic_of(_to_the_next(site, regions), statistic, regions.name)


def _to_the_next(site: Site, regions: Regions) -> NDArray[np.float64]:
    """(n,) ground distance of each region to the nearest other one.

    Two different places in a list differ in at least one binary digit: the distances between those with and those
    without a digit, digit by digit, hold that of each to every other.
    """
    places = np.arange(len(regions))
    apart = np.full(len(regions), np.inf)
    for digit in range((len(regions) - 1).bit_length()):
        ones = (places >> digit) & 1 == 1
        for own, others in ((ones, ~ones), (~ones, ones)):
            few, target = (regions.take(side, regions.name) for side in (own, others))
            apart[own] = np.minimum(apart[own], _distances(site, few, target))
    return apart


@tool(measures=True)
def nearest(site: Site, regions: Regions, target: Mask | Regions, *, n: int = 1) -> Regions:
    """The n regions nearest to a target, nearest first; needs no ground size.

    Args:
        site: the image.
        regions: objects to choose from.
        target: near what.
        n: how many.

    Raises:
        Refused: the target is not in the image.
    """
    order = np.argsort(_apart(site, regions, target), kind="stable")
    return regions.take(order[: positive(n)], f"{regions.name} nearest to {target.name}")


@tool(measures=True)
def farthest(site: Site, regions: Regions, target: Mask | Regions, *, n: int = 1) -> Regions:
    """The n regions farthest from a target, farthest first; needs no ground size.

    Args:
        site: the image.
        regions: objects to choose from.
        target: far from what.
        n: how many.

    Raises:
        Refused: the target is not in the image.
    """
    order = np.argsort(-_apart(site, regions, target), kind="stable")
    return regions.take(order[: positive(n)], f"{regions.name} farthest from {target.name}")


def _limit(inclusive: float | None, exclusive: float | None) -> float:
    given = [bound for bound in (inclusive, exclusive) if bound is not None]
    if len(given) != 1:
        raise ToolError("Give one distance in metres: the inclusive argument or the exclusive one, not both.")
    return given[0]


def _near_pixels(site: Site, inside: Mask, target: Mask | Regions, limit_m: float, *, exclusive: bool) -> PixelSet:
    limit_m = _doubted_limit(site, limit_m, exclusive=exclusive)
    return site.distances(site.mask_of(target)).near(inside.pixels, limit_m)


def _near_regions(
    site: Site, regions: Regions, target: Mask | Regions, limit_m: float, *, exclusive: bool
) -> NDArray[np.bool_]:
    doubted_m = _doubted_limit(site, limit_m, exclusive=exclusive)
    distances = site.distances(site.mask_of(target))
    found = regions.measured(lambda runs: distances.reached(runs, doubted_m))
    _warn_of_the_unseen(site, regions, found, limit_m)
    return found


def _doubted_limit(site: Site, limit_m: float, *, exclusive: bool) -> float:
    """The largest distance that still counts, under the present doubt; below 0 where none does."""
    if limit_m < FEW_PIXELS * max(site.raster.grid.require_ground().size_xy_m):
        site.warn(f"{limit_m:g} m is less than {FEW_PIXELS} pixels: at this resolution the answer is mostly raster.")
    doubted = site.doubted_distance_m(limit_m)
    return float(np.nextafter(doubted * (1 - 2 * SLACK), -1.0)) if exclusive else doubted


def _warn_of_the_unseen(site: Site, regions: Regions, found: NDArray[np.bool_], limit_m: float) -> None:
    """Objects that were found far may have something near beyond the image's edge."""
    ground = site.raster.grid.require_ground()
    x_m, y_m = (ground.pixel_area_m2 / size for size in reversed(ground.size_xy_m))  # at right angles to the edges
    rows, cols = site.valid.shape
    x0, y0, x1, y1 = regions.column("boxes").T
    edge_m = np.minimum.reduce([(x0 + 1) * x_m, (cols - x1 + 1) * x_m, (y0 + 1) * y_m, (rows - y1 + 1) * y_m])
    unseen = ~found & (edge_m <= limit_m)
    if not site.valid.all():
        void = site.derived("void", (site.raster,), lambda: Mask(~site.valid, site.valid, site.raster.grid, "void"))
        distances = site.distances(void)
        unseen |= ~found & regions.measured(lambda runs: distances.reached(runs, limit_m))
    count = int(np.count_nonzero(unseen))
    if count:
        site.warn(
            f"Of {len(regions)} objects ({regions.name}), {count} {'is' if count == 1 else 'are'} nearer than "
            f"{limit_m:g} m to the image's edge or to void: what lies beyond is not seen."
        )


def _distances(site: Site, regions: Regions, target: Mask | Regions) -> NDArray[np.float64]:
    """(n,) ground distances in metres."""
    site.raster.grid.require_ground()
    return _apart(site, regions, target)


def _apart(site: Site, regions: Regions, target: Mask | Regions) -> NDArray[np.float64]:
    """(n,) distances to a target, in pixels where no ground size is known."""
    mask = site.mask_of(target)
    if not mask.size_px:
        raise Refused(f"There is no {target.name} in the image, so that a distance to it has no value.")
    site.doubts.add("proximity")
    distances_to_mask = site.distances(mask)
    distances = regions.measured(distances_to_mask.lowest)
    if site.nudge.proximity_px:
        shift = site.doubted_distance_m(0.0)
        distances = np.where(distances > 0, np.maximum(distances + shift, 0.0), 0.0)
    return distances
