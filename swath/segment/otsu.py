"""A threshold from the values themselves, and whether they fall into two groups at all.

Otsu's threshold (IEEE Trans. SMC 9, 1979) always exists, also where there is nothing to split. So a split also says how
deep the valley between its two groups is and how much of the variance it explains; who uses it decides what is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

BINS = 512
PLATEAU = 0.99
"""Thresholds whose between-class variance reaches this part of the maximum are as good as the best one: in a wide
empty valley the plateau is wide and holds few pixels, on a slope it is narrow and holds many."""
SMOOTHING_BINS = BINS / 64
"""A mode narrower than 1/64 of the range is noise of the quantised ratio of two 8-bit numbers, not a group."""


@dataclass(frozen=True)
class Split:
    """Two groups of values.

    Attributes:
        threshold: values from here on are the upper group: where the between-class variance is largest.
        strict: the highest threshold that is as good within 1 % of that variance.
        lax: the lowest one.
        upper_count: values in the upper group.
        lower_count: values in the lower group.
        explained: between-class variance over total variance: 0.64 where one normal group is cut in two, 0.75 for a
            flat spread, more only where values gather at two ends.
        valley: lowest density between the modes of the two groups over the density of the lower mode: 0 = clearly
            apart, 1 = no valley.
    """

    threshold: float
    strict: float
    lax: float
    upper_count: int
    lower_count: int
    explained: float
    valley: float


def split(values: NDArray[np.floating[Any]]) -> Split | None:
    """Split values into two groups; None where they hold fewer than two different ones.

    Args:
        values: (n,) finite numbers.
    """
    if values.size < 2 or not values.min() < values.max():
        return None
    counts, edges = np.histogram(values, BINS)
    if np.count_nonzero(counts) < 2:
        return None
    centres = (edges[1:] + edges[:-1]) / 2
    between = _between_class_variance(counts, centres)
    best = between.max()
    last_lower = int(np.mean(np.flatnonzero(between >= best * (1 - 1e-9))))
    good = np.flatnonzero(between >= PLATEAU * best)
    mean = np.average(centres, weights=counts)
    return Split(
        threshold=_single(edges[last_lower + 1]),
        strict=_single(edges[good[-1] + 1]),
        lax=_single(edges[good[0] + 1]),
        upper_count=int(counts[last_lower + 1 :].sum()),
        lower_count=int(counts[: last_lower + 1].sum()),
        explained=float(best / np.average((centres - mean) ** 2, weights=counts)),
        valley=_valley(counts, last_lower),
    )


def _single(edge: Any) -> float:
    """Scores are float32, and so is what they are compared with: what is recorded is what was used."""
    return float(np.float32(edge))


def _between_class_variance(counts: NDArray[Any], centres: NDArray[Any]) -> NDArray[np.float64]:
    """(bins - 1,) variance between the groups for a cut after each bin but the last."""
    lower = np.cumsum(counts)[:-1].astype(float)
    upper = counts.sum() - lower
    sums = np.cumsum(counts * centres)
    difference = sums[:-1] / np.maximum(lower, 1) - (sums[-1] - sums[:-1]) / np.maximum(upper, 1)
    variance: NDArray[np.float64] = lower * upper * (difference / counts.sum()) ** 2
    return variance


def _valley(counts: NDArray[Any], last_lower: int) -> float:
    density = gaussian_filter1d(counts.astype(float), SMOOTHING_BINS)
    cut = last_lower + 1
    low_mode = int(density[:cut].argmax())
    high_mode = cut + int(density[cut:].argmax())
    lower_peak = min(density[low_mode], density[high_mode])
    return float(density[low_mode : high_mode + 1].min() / lower_peak) if lower_peak > 0 else 1.0
