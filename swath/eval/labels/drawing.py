"""Which classes and thresholds are asked about: drawn so that an answer tells something."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from swath.eval.labels.kinds import Kind, askable, fitting
from swath.eval.labels.landscape import Landscape
from swath.eval.labels.query import EFFICIENCY, Query
from swath.eval.labels.ranges import POINTS
from swath.eval.labels.truth import Answer, kept_patches, truth
from swath.eval.labels.wordings import Wording

SIZES_M2 = tuple(digit * 10.0**power for power in range(1, 8) for digit in (1, 1.25, 2, 2.5, 5))
DISTANCES_M = (5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 1000, 2000, 5000)
PERCENTS = (1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90)
EFFICIENCIES = (0.15, 0.18, 0.2, 0.22)

SMALLEST_PX = 40
"""A patch this small is seen; thresholds below it would be noise of the labels."""

NEAREST_PX = 3
"""Under three pixels a distance says more about the grid than about the ground (conventions)."""

LARGEST_COVERAGE = 0.95
"""A buffer over more of the tile than this asks only whether there is something."""

TRIES = 60
WIDE = 4.0
"""How many times a yes/no threshold may be larger or smaller than what decides it."""

ABSENT_MEASURES = ("share", "count", "largest_share", "area", "power", "any")
"""Measures that have a value, 0 or no, where a class is not in the image."""


@dataclass(frozen=True)
class Wish:
    """What the next question of a type should be like.

    Attributes:
        answer: "yes", "no", "connected" or "fragmented" where that is to be balanced, else None.
        absent: whether it is to be about a class that is not in the image.
    """

    answer: str | None = None
    absent: bool = False


def draw(land: Landscape, kind: Kind, wording: Wording, wish: Wish, rng: random.Random) -> Query | None:
    """A query of a kind that fits its wording and whose answer tells something; None where the map has none.

    Args:
        land: the label map.
        kind: the type of question.
        wording: how it will be asked, which decides the thresholds that it has.
        wish: what its answer should be.
        rng: chooses.
    """
    plain_no = kind.measure == "any" and not kind.near and not wording.sized and wish.answer == "no"
    absent = wish.absent or plain_no
    if absent and kind.measure not in ABSENT_MEASURES:
        return None
    tells = _absence_tells if absent else _tells
    queries = _queries(land, kind, wording, absent, rng)
    return next((query for query in islice(queries, TRIES) if tells(land, query, wish)), None)


def _queries(land: Landscape, kind: Kind, wording: Wording, absent: bool, rng: random.Random) -> Iterator[Query]:
    """Queries at random, without end where there is one."""
    pairs = _classes(land, kind, absent)
    sizes = {name: _sizes(land, wording, name) for name, _ in pairs}
    distances = _distances(land) if kind.near else [None]
    percents = PERCENTS if kind.measure == "covers" else (None,)
    while pairs and distances:
        name, other = rng.choice(pairs)
        if not sizes[name]:
            pairs.remove((name, other))
            continue
        low, high = rng.choice(sizes[name])
        yield Query(
            kind.measure,
            name,
            other,
            min_m2=low,
            max_m2=high,
            above="floor" not in wording.slots,
            distance_m=rng.choice(distances),
            whole=kind.whole,
            percent=rng.choice(percents),
            efficiency=rng.choice(EFFICIENCIES) if "efficiency" in wording.slots else EFFICIENCY,
            unit=wording.unit,
        )


def _classes(land: Landscape, kind: Kind, absent: bool) -> list[tuple[str, str | None]]:
    names = askable(land.names)
    others = (None,) if kind.others is None else fitting(kind.others, names)
    pairs = [(name, other) for name in fitting(kind.names, names) for other in others if name != other]
    return [pair for pair in pairs if absent != all(land.has(name) for name in pair if name is not None)]


def _sizes(land: Landscape, wording: Wording, name: str) -> list[tuple[float | None, float | None]]:
    """(smallest, largest) sizes in m2 that the wording may name."""
    if not wording.sized:
        return [(None, None)]
    areas_m2 = land.patches(name).areas_px * land.pixel_m2
    roof = float(areas_m2.max(initial=0)) * WIDE or 1000 * land.pixel_m2
    lows = [size for size in SIZES_M2 if SMALLEST_PX * land.pixel_m2 <= size <= roof]
    if "high" not in wording.slots:
        return [(low, None) for low in lows]
    if not wording.slots & {"low", "floor"}:
        return [(None, high) for high in lows]
    return [(low, high) for low in lows for high in lows if low * WIDE <= high]


def _distances(land: Landscape) -> list[float | None]:
    nearest = NEAREST_PX * max(land.step_xy_m)
    return [float(distance) for distance in DISTANCES_M if nearest <= distance <= land.side_m / 2]


def _absence_tells(land: Landscape, query: Query, wish: Wish) -> bool:
    return wish.answer in (None, "no")


def _tells(land: Landscape, query: Query, wish: Wish) -> bool:
    """Whether the answer is the wished one and would be another without the thresholds."""
    swallowed = query.distance_m is not None and land.coverage(str(query.other), query.distance_m) > LARGEST_COVERAGE
    if swallowed:
        return False
    answer = truth(land, query)
    if isinstance(answer, str):
        return answer == wish.answer and _close(land, query, answer)
    return _in_bounds(query, answer) and _thresholds_matter(land, query, answer)


def _in_bounds(query: Query, answer: float) -> bool:
    if query.measure in ("share", "largest_share"):
        points = POINTS["percent" if query.distance_m is None else "proximity_percent"]
        return 2 * points < answer < 100 - points
    if query.measure == "count":
        return 2 <= answer <= 80
    return answer > 0


def _thresholds_matter(land: Landscape, query: Query, answer: float) -> bool:
    """Whether the size leaves out a patch, and the distance a twentieth of what there is."""
    anything = replace(query, min_m2=None, max_m2=None, other=None, distance_m=None)
    kept = kept_patches(land, replace(anything, min_m2=query.min_m2, max_m2=query.max_m2))
    if query.measure == "largest_share":
        return True
    if query.sized and kept.all():
        return False
    if query.measure == "mean_area":
        chosen = kept_patches(land, query)
        return bool(chosen.sum() >= 2 and (query.distance_m is None or chosen.sum() < kept.sum()))
    everywhere = truth(land, replace(query, other=None, distance_m=None))
    return query.distance_m is None or bool(answer <= 0.95 * float(everywhere) and answer >= 0.02 * float(everywhere))


def _close(land: Landscape, query: Query, answer: Answer) -> bool:
    """Whether a yes/no question or a name is neither obvious nor a tie."""
    areas_px = land.patches(query.name).areas_px
    total_px = float(areas_px.sum())
    if query.measure == "more_area":
        other_px = float(land.patches(str(query.other)).areas_px.sum())
        return total_px != other_px and max(total_px, other_px) <= WIDE * min(total_px, other_px)
    if query.measure == "covers":
        share = 100 * total_px / land.valid_px
        return share / WIDE <= (query.percent or 0) <= share * 2
    kept = kept_patches(land, query)
    if query.measure in ("several", "pieces"):
        return kept.sum() <= 8 and not (query.sized and kept.all())
    if query.distance_m is not None:
        nearest = land.patch_distances_m(query.name, str(query.other))
        sized = kept_patches(land, replace(query, other=None, distance_m=None))
        return bool(sized.any()) and query.distance_m / WIDE <= nearest[sized].min() <= query.distance_m * WIDE
    if query.min_m2 is None:
        return total_px < 0.3 * land.valid_px
    return bool(query.min_m2 <= WIDE * areas_px.max() * land.pixel_m2)
