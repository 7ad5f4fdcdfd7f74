"""Acceptable ranges, and categories, yes and no in their honest spellings and as SQuID's card compares them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.scores import Prediction, open_metric, score

AREA = Case(
    "7", Path("a.tif"), "How much?", 105.55, "proximity_area", ("range:shipped",), unit="ha",
    ranges={"shipped": (103.18, 107.92), "squid-fit": (104.0, 107.0)},
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "unit", "verdict"),
    [
        (103.18, "ha", "right"),
        (107.92, "ha", "right"),
        (107.92 * (1 + 5e-10), "ha", "right"),
        (107.93, "ha", "wrong"),
        (103.17, "ha", "wrong"),
        (1.05e6, "m2", "right"),
        (105.0, "m", "wrong"),
        ("about 105 hectares", None, "right"),
        ("105", None, "right"),
        ("100 to 110 ha", None, "unparsable"),
        (float("nan"), "ha", "unparsable"),
    ],
)
def test_a_range_is_inclusive(given: object, unit: str | None, verdict: str) -> None:
    found = score(AREA, Prediction("answered", given, unit))
    assert (found.verdict, found.metric) == (verdict, "range:shipped")
    assert found.value == {"right": 1.0, "wrong": 0.0}.get(verdict)


def test_the_rule_chooses_the_range() -> None:
    near = Prediction("answered", 103.5, "ha")
    assert score(AREA, near, "range").verdict == "right"
    assert score(AREA, near, "range:squid-fit").verdict == "wrong"
    with pytest.raises(
        InputError, match=r'Case 7 has no range of the rule "card"\. Next: name one of its own \(shipped, squid-fit\)\.'
    ):
        score(AREA, near, "range:card")


BINARY = Case("8", Path("a.tif"), "Is there?", "yes", "binary_presence", ("exact", "exact:official"))


@pytest.mark.parametrize("given", [1, 1.0, True, "1", "1.0", "yes", "Yes.", "TRUE", "y", "**Yes**, there is.", " 1. "])
def test_honest_spellings_of_yes(given: object) -> None:
    assert score(BINARY, Prediction("answered", given)).verdict == "right"
    assert score(replace(BINARY, truth="no"), Prediction("answered", given)).verdict == "wrong"
    for truth in (1, "1", True):
        assert score(replace(BINARY, truth=truth), Prediction("answered", given)).verdict == "right"


@pytest.mark.parametrize("given", [0, 0.0, False, "0", "no", "No!", "False", "n", "There are no boats."])
def test_honest_spellings_of_no(given: object) -> None:
    assert score(replace(BINARY, truth="no"), Prediction("answered", given)).verdict == "right"


@pytest.mark.parametrize("given", ["maybe", "yes and no", "It is not true", "", 2, 0.5, "There is 1 boat", None])
def test_neither_yes_nor_no(given: object) -> None:
    assert score(BINARY, Prediction("answered", given)).verdict == "unparsable"


@pytest.mark.parametrize(
    ("given", "verdict"),
    [("1", "right"), (1, "right"), ("1.0", "wrong"), (1.0, "wrong"), ("yes", "wrong"), (True, "wrong"), ("0", "wrong")],
)
def test_the_card_compares_strings(given: object, verdict: str) -> None:
    assert score(BINARY, Prediction("answered", given), "exact:official").verdict == verdict


@pytest.mark.parametrize(("given", "verdict"), [("105.55", "right"), (105.55, "right"), ("105.550", "wrong")])
def test_the_card_compares_with_the_string_as_shipped(given: object, verdict: str) -> None:
    case = replace(AREA, truth=105.5500001, extras={"answer": "105.55"})
    assert score(case, Prediction("answered", given), "exact:official").verdict == verdict


CONNECTION = Case(
    "9", Path("a.tif"), "Connected?", "fragmented", "fragmentation", ("exact",),
    aliases={"fragmented": ("scattered", "not connected"), "connected": ("one piece",)},
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ("Fragmented.", "right"),
        ("not  connected", "right"),
        ("The forest is scattered over the image.", "right"),
        ("connected", "wrong"),
        ("one piece", "wrong"),
        ("round", "wrong"),
        ("connected or fragmented", "unparsable"),
        ("it isn't fragmented", "unparsable"),
    ],
)
def test_categories(given: str, verdict: str) -> None:
    assert score(CONNECTION, Prediction.of_text(given)).verdict == verdict


@pytest.mark.parametrize(("given", "verdict"), [(3, "right"), ("three", "right"), (2, "wrong"), ("yes", "unparsable")])
def test_whole_numbers(given: object, verdict: str) -> None:
    case = replace(BINARY, truth=3, unit="count")
    assert score(case, Prediction("answered", given)).verdict == verdict


def test_a_count_of_one_is_a_number_too() -> None:
    case = replace(BINARY, truth=1, unit="count")
    assert score(case, Prediction("answered", 1, "count")).verdict == "right"
    assert score(case, Prediction("answered", 4, "count")).verdict == "wrong"


def test_an_unknown_rule() -> None:
    with pytest.raises(
        InputError, match=r'The metric exact has no rule "kind"\. Next: choose one of honest, official\.'
    ):
        open_metric("exact:kind")
