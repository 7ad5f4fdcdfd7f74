"""Numbers in free text: which digits are one number, which unit goes with it, and what is no number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swath.eval.numbers import number_in, unit_key, value_in_unit


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("About 1,234.5 m2.", "m2", 1234.5),
        ("1 234 m²", "m2", 1234.0),
        ("1 234,5", "m2", 1234.5),
        ("1.234,5", "m2", 1234.5),
        ("1.234.567", "count", 1234567.0),
        ("1'234'567 sq ft", "sqft", 1234567.0),
        ("12,5 ha", "m2", 125_000.0),
        ("0,123", None, 0.123),
        ("1,234", "count", 1234.0),
        ("1.234", None, 1.234),
        ("3.2 x 10^4 m2", "m2", 32_000.0),
        ("3.2 × 10³ m²", "ha", 0.32),
        ("1e3", "count", 1000.0),
        ("10^3 m", "km", 1.0),
        ("2.5k", "count", 2500.0),
        ("1 million m2", "km2", 1.0),
        ("[1,2,3]", "count", 3.0),
        ("-5", "m", -5.0),
        ("answer: −5 m", "m", -5.0),
        ("- 5 m", "m", 5.0),  # a bullet
        ("UTM-32", None, 32.0),
        ("minus 3 m", "m", -3.0),
        ("**12.5** ha", "ha", 12.5),
        ("\\boxed{42}", None, 42.0),
    ],
)
def test_digits(text: str, unit: str | None, value: float) -> None:
    found = number_in(text, unit)
    assert found is not None
    assert found.value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("4 buildings (GSD: 0.5 m)", "count", 4.0),
        ("12 ha, measured at 0.5 m", "ha", 12.0),
        ("The share is 34 %", "ratio", 0.34),
        ("0.34", "ratio", 0.34),
        ("a ratio of 0.34", "percent", 0.34),  # without a unit it counts as in the asked one
        ("a quarter of the image", "percent", 25.0),
        ("1/4", "percent", 25.0),
        ("1/4", "ratio", 0.25),
        ("three quarters of an acre", "acre", 0.75),
        ("two and a half hectares", "ha", 2.5),
        ("3 1/2 ha", "ha", 3.5),
        ("twenty-five buildings", "count", 25.0),
        ("There are five buildings larger than 100 m2", "count", 5.0),
        ("There are 5 buildings. This one is large.", "count", 5.0),  # digits before words
        ("5 ± 0.2 ha", "m2", 50_000.0),
        ("5 +/- 0.2 ha", "ha", 5.0),
        ("12 buildings per km2", "per ha", 0.12),
        ("3/km2", "per km2", 3.0),
        ("45°", "deg", 45.0),
        ("5 公顷", "ha", 5.0),
        ("5 sq. m", "m2", 5.0),
        ("3 hectares", "hectares", 3.0),
        ("4 in 0.5 m", None, 4.0),  # asked for none, one without a unit goes first
        ("0.5 m", None, 0.5),
    ],
)
def test_units_and_words(text: str, unit: str | None, value: float) -> None:
    found = number_in(text, unit)
    assert found is not None
    assert found.value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("", None),
        ("none", "count"),
        ("the area in m2", "m2"),
        ("CO2 and H2O", None),
        ("the 2nd of them", "count"),
        ("50 m2", "m"),
        ("34 %", "count"),
        ("1e999", None),
        ("nan", None),
    ],
)
def test_what_is_no_number(text: str, unit: str | None) -> None:
    assert number_in(text, unit) is None


@pytest.mark.parametrize(
    "text",
    ["3 to 5", "3-5 ha", "3 – 5", "3 -5", "between 3 and 5 ha", "from 3 up to 5", "3 or 4", "12 ha (10 ha to 14 ha)"],
)
def test_a_range_is_no_number(text: str) -> None:
    assert number_in(text, "ha") is None


def test_what_was_said_is_kept() -> None:
    found = number_in("It is 12.5 ha, I think.", "ha")
    assert found is not None
    assert found.said == "12.5 ha"


def test_units_by_name() -> None:
    assert unit_key("square metres") == "m2"
    assert unit_key("%") == "percent"
    assert unit_key("storeys") == "storeys"
    assert value_in_unit(1.0, "ha", "m") is None
    assert value_in_unit(1.0, "per ha", "per km2") == pytest.approx(100.0)
    assert value_in_unit(5.0, "percent", "count") is None


@given(st.integers(0, 10**12))
def test_grouped_digits_are_the_number(value: int) -> None:
    for grouped in (f"{value:,}", f"{value:,}".replace(",", " "), f"{value:,}".replace(",", "'"), str(value)):
        found = number_in(f"There are {grouped} of them.", "count")
        assert found is not None
        assert found.value == value


@given(st.floats(-1e9, 1e9, allow_nan=False))
def test_what_python_prints_is_read_back(value: float) -> None:
    for text in (repr(value), f"{value:e}", f"value={value:,.6f}"):
        found = number_in(text)
        assert found is not None
        assert found.value == pytest.approx(value, rel=1e-6, abs=1e-6)


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = number_in(text, "ha")
    assert found is None or isinstance(found.value, float)
