"""JSON that any parser takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swath.trace.strict_json import json_text


def strictly_read(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text.encode("utf-8").decode("utf-8"), parse_constant=refuse)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-np.inf, "-inf"),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([1.5, np.nan]), [1.5, "nan"]),
        ((1, (2.0, None)), [1, [2.0, None]]),
        ({1: Path("a/b"), "s": {"y", "x"}}, {"1": "a/b", "s": ["x", "y"]}),
        (True, True),
        (np.str_("water"), "water"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_values_of_python_and_numpy(value: Any, read: Any) -> None:
    assert strictly_read(json_text(value)) == read


def test_a_file_name_of_unknown_encoding_survives() -> None:
    name = b"caf\xe9.tif".decode("utf-8", "surrogateescape")
    assert strictly_read(json_text(name)) == name


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda v: st.lists(v)))
def test_whatever_comes_is_read_back_by_a_strict_parser(value: Any) -> None:
    again = strictly_read(json_text(value))
    assert json_text(again) == json_text(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_to_the_last_bit(value: float) -> None:
    again = strictly_read(json_text(value))
    assert again == value
    assert np.signbit(again) == np.signbit(value)
