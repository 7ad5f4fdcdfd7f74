"""Scores: tolerances inclusive, honest spellings, refusals kept apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from swath.eval.cases import Case
from swath.eval.scores import Prediction, score
from swath.types import Answer

CASE = Case("1", Path("a.tif"), "How much?", 200.0, "area", unit="ha", tolerance_abs=1.0, tolerance_rel=0.01)
ANSWER = Answer("answered", "How much?", "a.tif", answer=200.0, unit="ha")


@pytest.mark.parametrize(
    ("given", "unit", "verdict"),
    [
        (200.0, "ha", "right"),
        (202.0, "ha", "right"),  # 1 % of 200 is the larger tolerance, inclusive
        (202.1, "ha", "wrong"),
        (198, "ha", "right"),
        (200.0, "m2", "wrong"),
        ("two hundred", "ha", "right"),
        ("2 km2", None, "right"),
        (2_000_000.0, "m2", "right"),  # another unit of the same kind is converted
        (200.0, "m", "wrong"),
        ("199 to 201 ha", None, "unparsable"),
        ("a lot", None, "unparsable"),
        (True, "ha", "unparsable"),
    ],
)
def test_numbers(given: object, unit: str | None, verdict: str) -> None:
    assert score(CASE, Prediction.of_answer(replace(ANSWER, answer=given, unit=unit))).verdict == verdict


@pytest.mark.parametrize(
    ("given", "verdict"),
    [("yes", "right"), ("Yes", "right"), (1, "right"), (True, "right"), ("no", "wrong"), ("maybe", "unparsable")],
)
def test_yes_and_no(given: object, verdict: str) -> None:
    case = replace(CASE, truth="yes", unit=None)
    assert score(case, Prediction.of_answer(replace(ANSWER, answer=given))).verdict == verdict


def test_aliases_of_a_name() -> None:
    case = replace(CASE, truth="vegetation", unit=None, aliases={"vegetation": ("green", "greenery")})
    assert score(case, Prediction.of_answer(replace(ANSWER, answer="Greenery"))).verdict == "right"
    assert score(case, Prediction.of_answer(replace(ANSWER, answer="road"))).verdict == "wrong"


@pytest.mark.parametrize("status", ["refused", "failed"])
def test_what_was_not_answered_keeps_its_own_verdict(status: str) -> None:
    found = score(CASE, Prediction.of_answer(Answer(status, "How much?", "a.tif", reason="no GSD")))  # type: ignore[arg-type]
    assert (found.verdict, found.why) == (status, "no GSD")
