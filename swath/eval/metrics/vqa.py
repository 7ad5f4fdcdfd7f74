"""Answers of a word or a short phrase, as VRSBench scores them."""

from __future__ import annotations

import re

from swath.eval.cases import Case
from swath.eval.metrics.judge import has_judge, judged_same, text_of
from swath.eval.metrics.rules import one_of
from swath.eval.numbers import number_in
from swath.eval.scores import Prediction, Score, Verdict

RULES = ("official", "strict")
CLOSED = ("yes", "no", *map(str, range(100)))
"""Truths for which the official rule asks no judge."""


class Vqa:
    """The metric `vqa`: VRSBench's rule (`official`), or equality of the words (`strict`).

    Official: right if the truth is a part of the answer, letter by letter ("no" is a part of "north"); otherwise wrong
    where the truth is yes, no or a number below 100; otherwise as the judge says. Without a judge those are wrong, so
    that the figure is a lower bound of the official one.
    """

    def __init__(self, rule: str = "official") -> None:
        self.rule = one_of("vqa", rule, RULES)

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a word or a phrase."""
        truth, said = text_of(case.truth), text_of(prediction.answer)
        if self.rule == "strict":
            verdict: Verdict = "right" if _plain(said) == _plain(truth) else "wrong"
            why = f"{_plain(said)[:60]!r} for {_plain(truth)!r}"
        else:
            verdict, why = _official(case, truth.lower(), said.lower())
        return Score(f"vqa:{self.rule}", None if verdict == "unparsable" else float(verdict == "right"), verdict, why)


def _official(case: Case, truth: str, said: str) -> tuple[Verdict, str]:
    if truth in said:
        return "right", f"{truth!r} is a part of {said[:60]!r}"
    if truth in CLOSED:
        return "wrong", f"{truth!r} is no part of {said[:60]!r}"
    if not has_judge():
        return "wrong", f"{truth!r} is no part of {said[:60]!r}, and there is no judge to ask"
    same = judged_same(case, said)
    if isinstance(same, str):
        return "unparsable", same
    return ("right" if same else "wrong"), f"the judge says {int(same)}"


def _plain(text: str) -> str:
    """Lower case without articles and punctuation; a number in words becomes digits."""
    words = re.findall(r"[^\W_]+(?:[.'][^\W_]+)*", text.lower())
    plain = " ".join(word for word in words if word not in ("a", "an", "the"))
    number = number_in(plain)
    return f"{number.value:g}" if number is not None and number.said == plain else plain
