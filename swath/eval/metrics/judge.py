"""A language model as judge of open answers; which one is up to whoever calls `set_judge`."""

from __future__ import annotations

import json
import re
from typing import Protocol

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics.rules import one_of
from swath.eval.scores import Prediction, Score, Verdict
from swath.prompts import render

RULES = ("vqa", "clair")
RIGHT_FROM = 0.5


class Judge(Protocol):
    """Whoever replies to a prompt."""

    def ask(self, prompt: str) -> str:
        """The reply to one prompt, as text."""


_judge: Judge | None = None


def set_judge(judge: Judge | None) -> Judge | None:
    """Name the judge of this process.

    Returns:
        The one before, None where there was none.
    """
    global _judge
    before, _judge = _judge, judge
    return before


def has_judge() -> bool:
    """Whether a judge has been named."""
    return _judge is not None


class Judged:
    """The metric `judge`: whether an answer means the same as the truth (`vqa`), or CLAIR (`clair`; Chan et al. 2023).

    CLAIR is how likely a caption is about the same image as the references, 0 to 1.
    Replies are read strictly: 1 or 0, or one JSON object. What the judge says otherwise is no verdict.
    """

    def __init__(self, rule: str = "vqa") -> None:
        self.rule = one_of("judge", rule, RULES)

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Have an answered prediction judged.

        Raises:
            InputError: nobody has named a judge.
        """
        name = f"judge:{self.rule}"
        if self.rule == "vqa":
            same = judged_same(case, text_of(prediction.answer))
            if isinstance(same, str):
                return Score(name, None, "unparsable", same)
            return Score(name, float(same), "right" if same else "wrong", f"the judge says {int(same)}")
        found = _clair(case, text_of(prediction.answer))
        if isinstance(found, str):
            return Score(name, None, "unparsable", found)
        value, reason = found
        verdict: Verdict = "right" if value >= RIGHT_FROM else "wrong"
        return Score(name, value, verdict, f"{value:g}, right from {RIGHT_FROM:g}: {reason}")


def judged_same(case: Case, answer: str) -> bool | str:
    """Whether the judge takes an answer for the truth, or why its reply cannot be read.

    Raises:
        InputError: nobody has named a judge.
    """
    reply = _asked("judge_vqa", question=case.question, truth=text_of(case.truth), answer=answer)
    found = re.fullmatch(r"['\"]?([01])['\"]?\.?", reply.strip())
    return found[1] == "1" if found else f"the judge replied {reply[:60]!r}, neither 1 nor 0"


def number_said(case: Case, answer: str) -> float | None:
    """The number that the judge reads in an answer in words, in the case's unit; None where it reads none.

    Raises:
        InputError: nobody has named a judge.
    """
    reply = _asked("judge_number", question=case.question, answer=answer, unit=case.unit).strip().rstrip(".")
    return float(reply) if re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,15})?", reply) else None


def text_of(answer: object) -> str:
    """An answer as text: whole numbers without a point, truth values as yes and no, lists one by one."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, float) and answer.is_integer():
        return str(int(answer))
    if isinstance(answer, list | tuple):
        return "\n".join(text_of(item) for item in answer)
    return str(answer)


def _clair(case: Case, answer: str) -> tuple[float, str] | str:
    """The judge's score from 0 to 1 with its reason, or why its reply cannot be read."""
    truths = [case.truth] if isinstance(case.truth, str) else list(case.truth)
    reply = _asked("judge_clair", references=truths, caption=answer)
    fault = f"the judge replied {reply[:60]!r}, not one JSON object with a score from 0 to 100"
    try:
        said = json.loads(re.sub(r"\A\s*```(?:json)?\s*|\s*```\s*\Z", "", reply))
        score = said["score"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return fault
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 100:
        return fault
    return score / 100, str(said.get("reason", ""))


def _asked(template: str, **values: object) -> str:
    if _judge is None:
        raise InputError(
            "There is no judge, and this metric needs one. "
            "Next: name one with swath.eval.metrics.judge.set_judge(judge), or choose another metric."
        )
    return _judge.ask(render(template, **values).text)
