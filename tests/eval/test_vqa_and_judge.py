"""VRSBench's substring rule beside strict equality, and judged answers: prompts, replies, and nobody to ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics.judge import set_judge
from swath.eval.scores import Prediction, open_metric, score
from swath.testing.judge import ScriptedJudge

CASE = Case("1", Path("a.png"), "What is it?", "Soccer field", "object category", ("vqa:official", "vqa:strict"))


@pytest.fixture(autouse=True)
def _no_judge_is_left_behind() -> Iterator[None]:
    yield
    set_judge(None)


@pytest.mark.parametrize(
    ("truth", "answer", "official", "strict"),
    [
        ("no", "No", "right", "right"),
        ("no", "in the north", "right", "wrong"),  # the substring rule flatters
        ("1", "There are 12 ships", "right", "wrong"),
        ("yes", "There are.", "wrong", "wrong"),
        ("4", 4.0, "right", "right"),
        ("4", "four", "wrong", "right"),
        ("Two", "2", "wrong", "right"),
        ("Soccer field", "a soccer field.", "right", "right"),
        ("Soccer field", "soccer field in the north", "right", "wrong"),
        ("top-left", "Top-left", "right", "right"),
        ("yes", True, "right", "right"),
        ("99", "98", "wrong", "wrong"),
    ],
)
def test_rules_without_a_judge(truth: str, answer: object, official: str, strict: str) -> None:
    case = replace(CASE, truth=truth)
    assert score(case, Prediction("answered", answer), "vqa:official").verdict == official
    assert score(case, Prediction("answered", answer), "vqa:strict").verdict == strict


def test_the_judge_is_asked_only_where_the_official_rule_asks() -> None:
    judge = ScriptedJudge("1", "0", "Match")
    assert set_judge(judge) is None
    for answer, truth, verdict in (
        ("Soccer field", "Soccer field", "right"),
        ("maybe", "yes", "wrong"),
        ("100 of them", "7", "wrong"),
        ("Football pitch", "Soccer field", "right"),
        ("Pond", "Soccer field", "wrong"),
        ("Pool", "Soccer field", "unparsable"),
    ):
        assert score(replace(CASE, truth=truth), Prediction.of_text(answer)).verdict == verdict
    assert len(judge.asked) == 3
    assert all(part in judge.asked[0] for part in ("What is it?", "Soccer field", "football pitch"))


def test_without_a_judge_the_official_figure_is_a_lower_bound() -> None:
    found = score(CASE, Prediction.of_text("Football pitch"))
    assert (found.verdict, found.why) == (
        "wrong",
        "'soccer field' is no part of 'football pitch', and there is no judge to ask",
    )


@pytest.mark.parametrize(
    ("reply", "verdict", "value"),
    [("1", "right", 1.0), (" 0.\n", "wrong", 0.0), ('"1"', "right", 1.0), ("10", "unparsable", None),
     ("1 match", "unparsable", None), ("", "unparsable", None)],
)  # fmt: skip
def test_replies_of_one_digit(reply: str, verdict: str, value: float | None) -> None:
    set_judge(ScriptedJudge(reply))
    found = score(CASE, Prediction.of_text("Football pitch"), "judge")
    assert (found.metric, found.verdict, found.value) == ("judge:vqa", verdict, value)


@pytest.mark.parametrize(
    ("reply", "verdict", "value"),
    [
        ('{"score": 83, "reason": "same field"}', "right", 0.83),
        ('```json\n{"score": 50}\n```', "right", 0.5),
        ('{"score": 49.5, "reason": "other"}', "wrong", 0.495),
        ('{"score": 0}', "wrong", 0.0),
        ('{"score": 101}', "unparsable", None),
        ('{"score": true}', "unparsable", None),
        ('{"score": NaN}', "unparsable", None),
        ('{"value": 50}', "unparsable", None),
        ("[50]", "unparsable", None),
        ("83", "unparsable", None),
        ("The score is 83.", "unparsable", None),
    ],
)
def test_clair(reply: str, verdict: str, value: float | None) -> None:
    judge = ScriptedJudge(reply)
    set_judge(judge)
    case = replace(CASE, truth=["A green field.", "A pitch beside a road."])
    found = score(case, Prediction.of_text("A lawn."), "judge:clair")
    assert (found.verdict, found.value) == (verdict, value)
    assert all(part in judge.asked[0] for part in ("- A green field.\n- A pitch beside a road.\n", "- A lawn."))


def test_the_reason_is_kept() -> None:
    set_judge(ScriptedJudge('{"score": 83, "reason": "same field"}'))
    assert score(CASE, Prediction.of_text("x"), "judge:clair").why == "0.83, right from 0.5: same field"


def test_nobody_to_ask() -> None:
    with pytest.raises(
        InputError, match=r"There is no judge, .* Next: name one with swath\.eval\.metrics\.judge\.set_judge"
    ):
        score(CASE, Prediction.of_text("x"), "judge")


@pytest.mark.parametrize("name", ["judge:kind", "vqa:kind", "caption:kind"])
def test_unknown_rules(name: str) -> None:
    with pytest.raises(
        InputError, match=rf'The metric {name.partition(":")[0]} has no rule "kind"\. Next: choose one of'
    ):
        open_metric(name)
