"""The true answer to a query, from polygons and k-d trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from swath.eval.labels.landscape import Landscape
from swath.eval.labels.query import IRRADIANCE_W_PER_M2, M2_BY_UNIT, Query

Answer = float | int | str
Bools = NDArray[np.bool_]

SLACK = 1e-9
"""Relative, as in the conventions: 3 pixels of 0.1 m are within 0.3 m."""


def truth(land: Landscape, query: Query, step: int = 0) -> Answer:
    """The answer to a query.

    Args:
        land: the label map.
        query: what is asked.
        step: by how many pixels every threshold of size, distance and area is moved, to see whether it matters.

    Returns:
        A number in `query.reply_unit`, "yes" or "no", "connected", "fragmented" or "absent".
    """
    return _MEASURES[query.measure](land, query, step)


def kept_patches(land: Landscape, query: Query, step: int = 0) -> Bools:
    """(n,) which patches of the query's class are of its size, and near where patches have to be."""
    areas_m2 = land.patches(query.name).areas_px * land.pixel_m2
    kept: Bools = np.ones(len(areas_m2), dtype=bool)
    margin = step * land.pixel_m2
    if query.min_m2 is not None:
        low = query.min_m2 + margin
        kept &= areas_m2 > low * (1 + SLACK) if query.above else areas_m2 >= low * (1 - SLACK)
    if query.max_m2 is not None:
        kept &= areas_m2 <= (query.max_m2 + margin) * (1 + SLACK)
    if query.whole and query.other is not None:
        kept &= land.patch_distances_m(query.name, query.other) <= _reach_m(land, query, step)
    return kept


def _reach_m(land: Landscape, query: Query, step: int) -> float:
    distance_m = query.distance_m if query.distance_m is not None else np.inf
    return float((distance_m + step * max(land.step_xy_m)) * (1 + SLACK))


def _pixels(land: Landscape, query: Query, step: int) -> int:
    """How many pixels of the class are in patches that are kept and, where only they count, near enough."""
    patches = land.patches(query.name)
    kept = kept_patches(land, query, step)
    if query.whole or query.distance_m is None:
        return round(float(patches.areas_px[kept].sum()))
    near = land.distances_m(query.name, str(query.other)) <= _reach_m(land, query, step)
    return int(np.count_nonzero(near & kept[patches.numbers[land.pixels(query.name)]]))


def _share(land: Landscape, query: Query, step: int) -> Answer:
    return 100 * _pixels(land, query, step) / land.valid_px


def _number(land: Landscape, query: Query, step: int) -> int:
    return int(np.count_nonzero(kept_patches(land, query, step)))


def _largest_share(land: Landscape, query: Query, step: int) -> Answer:
    areas_px = land.patches(query.name).areas_px[kept_patches(land, query, step)]
    return 100 * float(areas_px.max(initial=0)) / land.valid_px


def _area(land: Landscape, query: Query, step: int) -> Answer:
    return _pixels(land, query, step) * land.pixel_m2 / M2_BY_UNIT[query.unit]


def _mean_area(land: Landscape, query: Query, step: int) -> Answer:
    count = _number(land, query, step)
    return float(_area(land, query, step)) / count if count else 0.0


def _power(land: Landscape, query: Query, step: int) -> Answer:
    return _pixels(land, query, step) * land.pixel_m2 * IRRADIANCE_W_PER_M2 * query.efficiency / 1000


def _any(land: Landscape, query: Query, step: int) -> Answer:
    return _yes(bool(kept_patches(land, query, step).any()))


def _several(land: Landscape, query: Query, step: int) -> Answer:
    return _yes(_number(land, query, step) > 1)


def _more_area(land: Landscape, query: Query, step: int) -> Answer:
    other_px = float(land.patches(str(query.other)).areas_px.sum())
    return _yes(_pixels(land, query, step) > other_px + step)


def _covers(land: Landscape, query: Query, step: int) -> Answer:
    return _yes(100 * (_pixels(land, query, step) - step) / land.valid_px > (query.percent or 0))


def _pieces(land: Landscape, query: Query, step: int) -> Answer:
    count = _number(land, query, step)
    return "absent" if count == 0 else "connected" if count == 1 else "fragmented"


def _yes(true: bool) -> str:
    return "yes" if true else "no"


_MEASURES: Mapping[str, Callable[[Landscape, Query, int], Answer]] = {
    "share": _share,
    "count": _number,
    "largest_share": _largest_share,
    "area": _area,
    "mean_area": _mean_area,
    "power": _power,
    "any": _any,
    "several": _several,
    "more_area": _more_area,
    "covers": _covers,
    "pieces": _pieces,
}
