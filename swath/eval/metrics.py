"""Scores one answer against one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from swath.eval.cases import Case
from swath.types import Answer

Verdict = Literal["right", "wrong", "refused", "failed", "unparsable"]
_TRUTHS = {"yes": "yes", "1": "yes", "true": "yes", "no": "no", "0": "no", "false": "no"}


@dataclass(frozen=True)
class Score:
    """A verdict and why.

    Attributes:
        verdict: right, wrong, refused, failed or unparsable; all five stay in the denominator of an accuracy.
        why: what was compared with what.
    """

    verdict: Verdict
    why: str


def score(case: Case, answer: Answer) -> Score:
    """Hold an answer against a case's truth.

    Numbers are right within the larger of the case's two tolerances, inclusive, when units agree; yes/no and names are
    compared exactly, in all their honest spellings.

    Args:
        case: the question and its truth.
        answer: a live answer or one read from a saved run.
    """
    if answer.status != "answered":
        return Score(answer.status, answer.reason or "")
    if isinstance(case.truth, str):
        return _score_name(case, answer.answer)
    return _score_number(case, answer)


def _score_name(case: Case, given: Any) -> Score:
    said, truth = str(given).strip().lower(), str(case.truth).lower()
    if truth in ("yes", "no"):
        said = _TRUTHS.get(said, said)
        if said not in ("yes", "no"):
            return Score("unparsable", f"{given!r} is neither yes nor no")
    for name, spellings in case.aliases.items():
        if said in spellings:
            said = name
    return Score("right" if said == truth else "wrong", f"{said} for {truth}")


def _score_number(case: Case, answer: Answer) -> Score:
    given = answer.answer
    if isinstance(given, bool) or not isinstance(given, int | float):
        return Score("unparsable", f"{given!r} is not a number")
    if case.unit is not None and answer.unit != case.unit:
        return Score("wrong", f"the unit is {answer.unit} for {case.unit}")
    truth = float(case.truth)
    allowed = max(case.tolerance_abs, case.tolerance_rel * abs(truth)) * (1 + 1e-9) + 1e-12
    return Score("right" if abs(given - truth) <= allowed else "wrong", f"{given:g} for {truth:g} +- {allowed:g}")
