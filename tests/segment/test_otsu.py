"""The split of values in two: against every cut tried by hand, and against distributions with known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swath.segment.otsu import BINS, split


def between(values: np.ndarray[Any, Any], cut: float) -> float:
    """Between-class variance of a cut, from its definition."""
    upper, lower = values[values >= cut], values[values < cut]
    if not upper.size or not lower.size:
        return 0.0
    share = upper.size / values.size
    return float(share * (1 - share) * (upper.mean() - lower.mean()) ** 2)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    apart=st.floats(0, 8),
    share=st.floats(0.05, 0.95),
    size=st.integers(50, 400),
)
def test_no_cut_is_better(seed: int, apart: float, share: float, size: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, size) + apart * (rng.random(size) < share)
    found = split(values)
    assert found is not None
    best = max(between(values, cut) for cut in values)
    # the histogram knows values to half a bin
    assert between(values, found.threshold) >= best * (1 - 8 / BINS)
    assert found.lax <= found.threshold <= found.strict
    assert found.upper_count + found.lower_count == size
    for cut in (found.lax, found.strict):
        assert between(values, cut) >= best * (0.99 - 8 / BINS)


@pytest.mark.parametrize(
    ("name", "explained", "valley"),
    [("normal", 2 / np.pi, (0.95, 1)), ("uniform", 0.75, (0.8, 1)), ("two", 36 / 40, (0, 0.05))],
)
def test_known_distributions(name: str, explained: float, valley: tuple[float, float]) -> None:
    rng = np.random.default_rng(3)
    values = {
        "normal": rng.normal(size=200_000),
        "uniform": rng.uniform(size=200_000),
        "two": rng.normal(size=200_000) * 1 + np.where(np.arange(200_000) % 2, 3, -3),
    }[name]
    found = split(values)
    assert found is not None
    assert found.explained == pytest.approx(explained, abs=0.01)
    assert valley[0] <= found.valley <= valley[1]


def test_an_empty_valley_gives_its_middle_and_a_wide_plateau() -> None:
    found = split(np.repeat([0.0, 1.0], [300, 200]))
    assert found is not None
    assert found.threshold == pytest.approx(0.5, abs=2 / BINS)
    assert (found.lax, found.strict) == pytest.approx((0, 1), abs=2 / BINS)
    assert (found.lower_count, found.upper_count) == (300, 200)
    assert found.valley == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("values", [[], [1.0], [2.0] * 9])
def test_nothing_to_split(values: list[float]) -> None:
    assert split(np.array(values)) is None
