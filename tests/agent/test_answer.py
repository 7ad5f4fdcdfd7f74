"""How values read."""

from __future__ import annotations

import pytest

from swath.agent.answer import number, with_unit


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (13, "13"),
        (1234567, "1,234,567"),
        (1212613.70995, "1,212,614"),
        (3.343725, "3.344"),
        (46.8225, "46.82"),
        (0.09975, "0.09975"),
        (0.000123456, "0.0001235"),
        (-2.5, "-2.500"),
        (100.0, "100"),
    ],
)
def test_numbers_keep_four_digits(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (7.0, "percent", "7 %"),
        (3.343725, "ha", "3.344 ha"),
        (12, "count", "12"),
        (250.986, "ft", "251.0 ft"),
        (5.5, "m2", "5.500 m²"),
        (2.66, "ratio", "2.660"),
        ("connected", None, "connected"),
        (["a", "b"], None, "a, b"),
        ([[47.0, 20.0, 1266.0, 30.25]], "px", "(47, 20, 1266, 30.25)"),
        ([[i, 0.5] for i in range(7)], "px", "(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5) and 2 more"),
        ([], "px", ""),
    ],
)
def test_values_come_with_their_unit(value: object, unit: str | None, shown: str) -> None:
    assert with_unit(value, unit) == shown
