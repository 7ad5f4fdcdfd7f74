"""Codes of label values, and how often values occur, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from swath.segment.codes import FIRST_CLASS, LAST_CODE, VOID, Coding, tallied

FEW, MANY = st.integers(0, 5), st.integers(0, 255)
BYTES = st.sampled_from([FEW, MANY]).flatmap(
    lambda values: arrays.arrays(np.uint8, st.tuples(st.integers(1, 90), st.integers(1, 90)), elements=values)
)
CODING = Coding(
    ("a", "b", "c"), {1: FIRST_CLASS, 2: FIRST_CLASS + 1, 3: FIRST_CLASS + 2, 9: FIRST_CLASS}, lambda bands: bands[0]
)


def masked(data: np.ndarray[Any, Any], seed: int) -> np.ma.MaskedArray[Any, Any]:
    return np.ma.MaskedArray(data, mask=np.random.default_rng(seed).random(data.shape) < 0.3 if seed else np.ma.nomask)


@settings(max_examples=200)
@given(data=BYTES, seed=st.integers(0, 2))
def test_bytes_are_counted_as_numpy_counts_them(data: np.ndarray[Any, Any], seed: int) -> None:
    values = masked(data, seed)
    expected = np.unique(values.compressed(), return_counts=True)
    found = tallied(values)
    assert found[0].tolist() == expected[0].tolist()
    assert found[1].tolist() == expected[1].tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
@settings(max_examples=100)
@given(data=BYTES, seed=st.integers(0, 2), first=st.integers(VOID, FIRST_CLASS + 2), more=st.integers(0, 3))
def test_codes_between_two(dtype: str, data: np.ndarray[Any, Any], seed: int, first: int, more: int) -> None:
    values = masked(data.astype(dtype), seed)
    codes = CODING.codes(values)
    last = LAST_CODE if more == 3 else first + more
    assert np.array_equal(CODING.between(values, first, last), (codes >= first) & (codes <= last))
