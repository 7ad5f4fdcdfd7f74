"""A number within a tolerance, or a name in any of its spellings."""

from __future__ import annotations

from typing import Any

from swath.eval.cases import Case
from swath.eval.scores import Prediction, Score, Verdict

_TRUTHS = {"yes": "yes", "1": "yes", "true": "yes", "no": "no", "0": "no", "false": "no"}


class Tolerance:
    """The metric `tolerance`: numbers within the larger of the case's two tolerances, inclusive, when units agree.

    Yes/no and names are compared exactly, in all their honest spellings.
    """

    name = "tolerance"

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a case's truth."""
        verdict, why = _name(case, prediction.answer) if isinstance(case.truth, str) else _number(case, prediction)
        value = None if verdict == "unparsable" else float(verdict == "right")
        return Score(self.name, value, verdict, why)


def _name(case: Case, given: Any) -> tuple[Verdict, str]:
    said, truth = str(given).strip().lower(), str(case.truth).lower()
    if truth in ("yes", "no"):
        said = _TRUTHS.get(said, said)
        if said not in ("yes", "no"):
            return "unparsable", f"{given!r} is neither yes nor no"
    for name, spellings in case.aliases.items():
        if said in spellings:
            said = name
    return "right" if said == truth else "wrong", f"{said} for {truth}"


def _number(case: Case, prediction: Prediction) -> tuple[Verdict, str]:
    given = prediction.answer
    if isinstance(given, bool) or not isinstance(given, int | float):
        return "unparsable", f"{given!r} is not a number"
    if case.unit is not None and prediction.unit != case.unit:
        return "wrong", f"the unit is {prediction.unit} for {case.unit}"
    truth = float(case.truth)
    allowed = max(case.tolerance_abs, case.tolerance_rel * abs(truth)) * (1 + 1e-9) + 1e-12
    return "right" if abs(given - truth) <= allowed else "wrong", f"{given:g} for {truth:g} +- {allowed:g}"
