"""Cells of tables: what a spreadsheet would run stays text, numbers stay numbers."""

from __future__ import annotations

from typing import Any

import pytest

from swath.trace.wording import cell_words


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "-1+2"])
def test_a_formula_becomes_text(text: str) -> None:
    assert cell_words(text) == f"'{text}"


@pytest.mark.parametrize("value", ["roof", "-3.25", "+7", "-1e-05", "", "a=b", -3.25, None, True])
def test_anything_else_stays_what_it_is(value: Any) -> None:
    assert cell_words(value) is value
