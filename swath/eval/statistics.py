"""How sure an accuracy is, and whether two runs differ."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

RESAMPLES = 2000


@dataclass(frozen=True)
class PairedTest:
    """Two runs on the same questions.

    Attributes:
        both: questions that both got right.
        only_a: questions that only the first got right.
        only_b: questions that only the second got right.
        neither: questions that neither got right.
        difference: accuracy of the second minus that of the first.
        low: lower end of its interval.
        high: upper end of its interval.
        p_value: exact two-sided McNemar test: how likely so unequal a split of the discordant questions is by chance.
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float
    low: float
    high: float
    p_value: float


def wilson(right: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927), without continuity correction.

    Args:
        right: how many of them.
        n: of how many; of none, the interval is everything.
        level: how often such intervals hold the true share.

    Raises:
        ValueError: `right` does not lie between 0 and `n`.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} of {n} is no share.")
    if n == 0:
        return 0.0, 1.0
    z2 = _z(level) ** 2
    centre = (right + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (right * (n - right) / n + z2 / 4)) / (n + z2)
    low, high = max(centre - half, 0.0), min(centre + half, 1.0)
    return (0.0 if right == 0 else low), (1.0 if right == n else high)


def bootstrap_mean(
    values: Sequence[float], groups: Sequence[Hashable] | None = None, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of a mean.

    Args:
        values: one per question.
        groups: what each question belongs to, such as its image; whole groups are drawn then, since questions about one
            image are not independent.
        level: how often such intervals hold the true mean.
        seed: of the draws.

    Raises:
        ValueError: there are no values, or not one group per value.
    """
    if not len(values) or (groups is not None and len(groups) != len(values)):
        raise ValueError(f"{len(values)} values in {'no' if groups is None else len(groups)} groups have no interval.")
    keys = range(len(values)) if groups is None else groups
    index = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    of_group = np.array([index[key] for key in keys])
    sums = np.bincount(of_group, weights=np.asarray(values, dtype=float))
    sizes = np.bincount(of_group)
    rng = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for i in range(RESAMPLES):  # one draw at a time: all at once would be gigabytes for 30,000 questions
        drawn = rng.integers(0, len(sums), len(sums))
        means[i] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired(a: Sequence[bool], b: Sequence[bool], level: float = 0.95) -> PairedTest:
    """Compare two runs question by question.

    The interval of the difference is Agresti and Min's (2005): Wald's with half a question added to each of four cells.

    Args:
        a: whether the first run got each question right.
        b: the same of the second run, in the same order.
        level: how often such intervals hold the true difference.

    Raises:
        ValueError: the two are not equally long.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} questions cannot be paired.")
    cells = [0, 0, 0, 0]
    for first, second in zip(a, b, strict=True):
        cells[2 * (not first) + (not second)] += 1
    both, only_a, only_b, neither = cells
    difference = (only_b - only_a) / len(a) if len(a) else 0.0
    low, high = _difference_interval(only_a, only_b, len(a), level)
    return PairedTest(both, only_a, only_b, neither, difference, low, high, _mcnemar(only_a, only_b))


def _difference_interval(only_a: int, only_b: int, n: int, level: float) -> tuple[float, float]:
    first, second, total = only_a + 0.5, only_b + 0.5, n + 2
    centre = (second - first) / total
    half = _z(level) * math.sqrt(max((first + second) - (second - first) ** 2 / total, 0.0)) / total
    return max(centre - half, -1.0), min(centre + half, 1.0)


def _mcnemar(only_a: int, only_b: int) -> float:
    """Twice the lower tail of Binomial(discordant, 1/2), at most 1; in logarithms, which do not overflow."""
    n = only_a + only_b
    logs = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(min(only_a, only_b) + 1)]
    return min(1.0, 2 * sum(math.exp(log - n * math.log(2)) for log in logs))


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
