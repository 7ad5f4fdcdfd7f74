"""Regions: connected components or the source's own objects; counting, filtering, ordering, statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused, ToolError
from swath.tools.bounds import between, bound_words
from swath.tools.clip import warn_of_the_cut
from swath.tools.handles import BoolArray, Mask, Regions
from swath.tools.registry import tool
from swath.tools.site import Site, doubted_areas_m2

Statistic = Literal["mean", "median", "sum", "min", "max", "std"]
STATISTICS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.median(values)),
    "sum": lambda values: float(np.sum(values)),
    "min": lambda values: float(np.min(values)),
    "max": lambda values: float(np.max(values)),
    "std": lambda values: float(np.std(values)),
}


@tool(measures=True)
def components(
    site: Site,
    mask: Mask,
    *,
    larger_than_m2: float | None = None,
    min_m2: float | None = None,
    smaller_than_m2: float | None = None,
    max_m2: float | None = None,
    larger_than_px: int | None = None,
    min_px: int | None = None,
    smaller_than_px: int | None = None,
    max_px: int | None = None,
    connectivity: Literal[4, 8] = 8,
) -> Regions:
    """The separate objects of a mask, filtered by size.

    A class whose source holds objects with identities (vector features, instances) gives those, so that touching
    footprints stay two; any other mask gives its connected components.

    Args:
        site: the image.
        mask: the pixels.
        larger_than_m2: keep objects above this area in m2, exclusive.
        min_m2: keep objects from this area in m2 on, inclusive.
        smaller_than_m2: keep objects below this area in m2, exclusive.
        max_m2: keep objects up to this area in m2, inclusive.
        larger_than_px: the same in pixels, exclusive.
        min_px: the same in pixels, inclusive.
        smaller_than_px: the same in pixels, exclusive.
        max_px: the same in pixels, inclusive.
        connectivity: whether diagonal neighbours belong together (8) or not (4).
    """
    found = all_components(mask, connectivity)
    warn_of_the_cut(site, mask, found)
    return filter_regions(
        site,
        found,
        larger_than_m2=larger_than_m2,
        min_m2=min_m2,
        smaller_than_m2=smaller_than_m2,
        max_m2=max_m2,
        larger_than_px=larger_than_px,
        min_px=min_px,
        smaller_than_px=smaller_than_px,
        max_px=max_px,
    )


def all_components(mask: Mask, connectivity: int) -> Regions:
    """The separate objects of a mask, of any size.

    Args:
        mask: the pixels.
        connectivity: 4 or 8, where the source tells no objects apart.
    """
    source = mask.objects(connectivity)
    seen = np.flatnonzero(source.sizes_px)  # a feature without a valid pixel lies outside the area of interest
    return Regions(
        (source,),
        np.zeros(len(seen), dtype=np.int64),
        seen,
        mask.name,
        mask.grid,
        mask.valid,
        mask.classes,
        mask.areal,
    )


@tool(measures=True)
def filter_regions(
    site: Site,
    regions: Regions,
    *,
    larger_than_m2: float | None = None,
    min_m2: float | None = None,
    smaller_than_m2: float | None = None,
    max_m2: float | None = None,
    larger_than_px: int | None = None,
    min_px: int | None = None,
    smaller_than_px: int | None = None,
    max_px: int | None = None,
) -> Regions:
    """The regions of some size; arguments as in `components`."""
    bounds_m2 = (larger_than_m2, min_m2, smaller_than_m2, max_m2)
    bounds_px = (larger_than_px, min_px, smaller_than_px, max_px)
    keep = np.ones(len(regions), dtype=bool)
    words: list[str] = []
    if any(bound is not None for bound in bounds_m2):
        keep &= between(doubted_areas_m2(site, regions), *bounds_m2)
        words.append(bound_words(*bounds_m2, unit="m2"))
    if any(bound is not None for bound in bounds_px):
        keep &= between(regions.column("sizes_px"), *bounds_px)
        words.append(bound_words(*bounds_px, unit="px"))
    return regions.take(keep, " ".join([regions.name, *words])) if words else regions


@tool(measures=True)
def count(site: Site, regions: Regions) -> int:
    """How many regions there are; 0 if none."""
    return len(regions)


@tool(measures=True)
def largest(site: Site, regions: Regions, *, n: int = 1) -> Regions:
    """The n largest regions, largest first; all of them where there are fewer.

    Args:
        site: the image.
        regions: where to choose.
        n: how many, at least 1.
    """
    name = f"largest {regions.name}" if n == 1 else f"{n} largest {regions.name}"
    return regions.take(_by_size(regions)[: positive(n)], name)


@tool(measures=True)
def smallest(site: Site, regions: Regions, *, n: int = 1) -> Regions:
    """The n smallest regions, smallest first; all of them where there are fewer.

    Args:
        site: the image.
        regions: where to choose.
        n: how many, at least 1.
    """
    name = f"smallest {regions.name}" if n == 1 else f"{n} smallest {regions.name}"
    return regions.take(_by_size(regions, descending=False)[: positive(n)], name)


@tool(measures=True)
def nth_largest(site: Site, regions: Regions, *, n: int) -> Regions:
    """The nth largest region alone: n=2 is the second largest; none where there are fewer.

    Args:
        site: the image.
        regions: where to choose.
        n: rank, 1 = the largest.
    """
    return regions.take(_by_size(regions)[positive(n) - 1 : n], f"{regions.name}, number {n} by size")


@tool(measures=True)
def sort_by_area(site: Site, regions: Regions, *, descending: bool = True) -> Regions:
    """The regions ordered by size.

    Args:
        site: the image.
        regions: what to order.
        descending: largest first.
    """
    return regions.take(_by_size(regions, descending=descending), f"{regions.name} by size")


def positive(n: int) -> int:
    """How many objects to choose.

    Raises:
        ToolError: none.
    """
    if n < 1:
        raise ToolError(f"n must be at least 1, not {n}.")
    return n


def _by_size(regions: Regions, *, descending: bool = True) -> NDArray[np.int64]:
    """Positions in the order of size; of equal regions the one that came first stays first."""
    sizes = sizes_of(regions)
    return np.argsort(-sizes if descending else sizes, kind="stable")


def sizes_of(regions: Regions) -> NDArray[np.float64]:
    """(n,) what regions are ranked by: their areas, in pixels where no ground size is known; of lines their pixels."""
    column = "areas_px" if regions.grid.ground is None else "areas_m2"
    return regions.column(column if regions.areal else "sizes_px").astype(float)


@tool(measures=True)
def located_in(site: Site, regions: Regions, mask: Mask) -> Regions:
    """The regions whose centroid lies in a mask, a half of the image, some slopes; not where these are unknown."""
    where = mask.pixels if mask.frame is None else mask.frame
    rows, cols = np.floor(regions.column("centroids_yx") + 0.5).astype(int).T.reshape(2, -1)
    rows, cols = rows.clip(0, where.shape[0] - 1), cols.clip(0, where.shape[1] - 1)
    if mask.known is not None:
        say_unknown(site, regions, ~np.asarray(mask.known.pixels[rows, cols], dtype=bool), mask.known.field)
    return regions.take(where[rows, cols], f"{regions.name} in {mask.name}")


def say_unknown(site: Site, regions: Regions, unknown: BoolArray, field: str) -> None:
    """Say how many regions lie where something is not known."""
    count = int(np.count_nonzero(unknown))
    if count:
        site.warn(f"{count} of {len(regions)} {regions.name} have no known {field} and were left out.")


@tool()
def merge(site: Site, a: Regions, b: Regions) -> Regions:
    """The regions of both sets; a region that is in both counts once."""
    sources = a.sources + tuple(source for source in b.sources if not any(source is own for own in a.sources))
    place = {id(source): k for k, source in enumerate(sources)}
    which = np.concatenate([_placed(a, place), _placed(b, place)])
    indices = np.concatenate([a.indices, b.indices])
    _, first = np.unique(np.column_stack([which, indices]), axis=0, return_index=True)
    kept = np.sort(first)
    return Regions(
        sources, which[kept], indices[kept], f"{a.name} and {b.name}", a.grid, a.valid,
        a.classes | b.classes, a.areal and b.areal,
    )  # fmt: skip


@tool()
def exclude(site: Site, a: Regions, b: Regions) -> Regions:
    """The regions of the first set that are not in the second."""
    return a.take(~_shared(a, b), f"{a.name} except {b.name}")


@tool()
def common(site: Site, a: Regions, b: Regions) -> Regions:
    """The regions of the first set that are also in the second."""
    return a.take(_shared(a, b), f"{a.name} that are {b.name}")


def _placed(regions: Regions, place: dict[int, int]) -> NDArray[np.int64]:
    return np.array([place[id(source)] for source in regions.sources], dtype=np.int64)[regions.which]


def _shared(a: Regions, b: Regions) -> NDArray[np.bool_]:
    members = {(id(b.sources[k]), int(i)) for k, i in zip(b.which, b.indices, strict=True)}
    pairs = zip(a.which, a.indices, strict=True)
    return np.array([(id(a.sources[k]), int(i)) in members for k, i in pairs], dtype=bool)


@tool()
def mask_of(site: Site, regions: Regions) -> Mask:
    """All pixels of the regions as one mask."""
    return site.mask_of(regions)


@tool()
def each(site: Site, regions: Regions) -> list[Regions]:
    """The regions one by one, for loops and comprehensions."""
    return [regions.take([k], f"{regions.name} number {k + 1}") for k in range(len(regions))]


@tool(measures=True)
def region_areas_m2(site: Site, regions: Regions) -> list[float]:
    """Area of every region in m2, in order."""
    return [float(area) for area in doubted_areas_m2(site, regions)]


@tool(measures=True)
def area_statistic_m2(site: Site, regions: Regions, *, statistic: Statistic) -> float:
    """Mean, median, sum, smallest, largest or standard deviation of the regions' areas in m2.

    Args:
        site: the image.
        regions: what to average.
        statistic: which one; "std" divides by n.

    Raises:
        Refused: there are no regions, so that all but the sum have no value.
    """
    return statistic_of(doubted_areas_m2(site, regions), statistic, regions.name)


@tool(measures=True)
def area_statistic_px(site: Site, regions: Regions, *, statistic: Statistic) -> float:
    """The same as `area_statistic_m2` in pixels, which needs no ground size."""
    return statistic_of(regions.column("sizes_px").astype(float), statistic, regions.name)


def statistic_of(values: NDArray[np.float64], statistic: str, name: str) -> float:
    """One number for many.

    Raises:
        Refused: there are no values and the statistic is not a sum.
    """
    if len(values) == 0 and statistic != "sum":
        raise Refused(f"There are no {name} in the image, so that their {statistic} has no value.")
    return STATISTICS[statistic](values)
