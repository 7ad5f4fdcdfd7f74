"""Intervals and paired tests: hand-computed cases, scipy's own, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from swath.eval.statistics import bootstrap_mean, paired, wilson


def test_wilson_by_hand() -> None:
    # z = 1.96: (8 + 1.9207) / (10 + 3.8415) -+ 1.96 * sqrt(8 * 2 / 10 + 0.9604) / 13.8415
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-5)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=5e-5)
    assert wilson(10, 10)[1] == 1.0
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"11 of 10 is no share\."):
        wilson(11, 10)


@given(st.integers(1, 5000), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_is_scipy_s(n: int, share: float, level: float) -> None:
    right = round(share * n)
    theirs = stats.binomtest(right, n).proportion_ci(level, method="wilson")
    assert wilson(right, n, level) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_bootstrap_of_a_mean() -> None:
    values = [0.0, 1.0] * 200
    low, high = bootstrap_mean(values)
    assert (low, high) == pytest.approx((0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025), abs=0.006)
    assert bootstrap_mean(values) == (low, high)  # a seed
    assert bootstrap_mean([3.0, 3.0]) == (3.0, 3.0)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1)).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.006)


def test_groups_are_drawn_whole() -> None:
    values = [1.0] * 50 + [0.0] * 50
    alone = bootstrap_mean(values)
    together = bootstrap_mean(values, groups=["a"] * 50 + ["b"] * 50)
    assert together == (0.0, 1.0)  # a quarter of the draws take the same group twice
    assert alone[1] - alone[0] < 0.25
    assert bootstrap_mean(values, groups=list(range(100))) == alone


@pytest.mark.parametrize(("values", "groups"), [([], None), ([1.0, 2.0], ["a"])])
def test_nothing_to_draw_from(values: list[float], groups: list[str] | None) -> None:
    with pytest.raises(ValueError, match="have no interval"):
        bootstrap_mean(values, groups)


def _runs(both: int, only_a: int, only_b: int, neither: int) -> tuple[list[bool], list[bool]]:
    pairs = [(True, True)] * both + [(True, False)] * only_a + [(False, True)] * only_b + [(False, False)] * neither
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_paired_by_hand() -> None:
    found = paired(*_runs(40, 2, 8, 50))
    assert (found.both, found.only_a, found.only_b, found.neither) == (40, 2, 8, 50)
    assert found.difference == pytest.approx(0.06)
    assert found.p_value == pytest.approx(2 * (1 + 10 + 45) / 1024)
    # (8.5 - 2.5) / 102 -+ 1.96 * sqrt(11 - 36 / 102) / 102
    assert (found.low, found.high) == pytest.approx((0.05882 - 0.06270, 0.05882 + 0.06270), abs=5e-5)


def test_paired_without_any_difference() -> None:
    found = paired(*_runs(5, 0, 0, 5))
    assert (found.difference, found.p_value) == (0.0, 1.0)
    assert found.low < 0 < found.high
    assert paired([], []).p_value == 1.0
    with pytest.raises(ValueError, match=r"1 and 2 questions cannot be paired\."):
        paired([True], [True, False])


@given(st.integers(0, 3000), st.integers(0, 3000))
@settings(max_examples=50)
def test_mcnemar_is_the_binomial_test(only_a: int, only_b: int) -> None:
    if only_a + only_b:
        theirs = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
        least = 1e-290  # below, SciPy rounds to 0
        assert paired(*_runs(0, only_a, only_b, 1)).p_value == pytest.approx(theirs, rel=1e-7, abs=least)


def test_the_interval_of_the_difference_holds_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(2000):
        cells = rng.multinomial(80, [0.4, 0.1, 0.2, 0.3])
        found = paired(*_runs(*map(int, cells)))
        held += found.low <= 0.1 <= found.high
    assert 0.93 <= held / 2000 <= 0.975
