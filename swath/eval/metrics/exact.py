"""Categories, yes and no, and whole numbers that are either right or not."""

from __future__ import annotations

from swath.eval.cases import Case
from swath.eval.metrics.names import judged_name, yes_or_no
from swath.eval.metrics.numeric import judged_number, within
from swath.eval.metrics.rules import one_of
from swath.eval.scores import Prediction, Score, Verdict

RULES = ("honest", "official")


class Exact:
    """The metric `exact`: the truth in any honest spelling (`honest`), or as SQuID's card compares (`official`).

    The card compares strings: "1.0", "True" and "yes" are wrong where it says "1".
    """

    def __init__(self, rule: str = "honest") -> None:
        self.rule = one_of("exact", rule, RULES)

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a case's truth."""
        verdict, why = _official(case, prediction) if self.rule == "official" else _honest(case, prediction)
        value = None if verdict == "unparsable" else float(verdict == "right")
        return Score("exact" if self.rule == "honest" else "exact:official", value, verdict, why)


def _honest(case: Case, prediction: Prediction) -> tuple[Verdict, str]:
    if isinstance(case.truth, int | float) and not isinstance(case.truth, bool):
        truth = float(case.truth)
        if truth not in (0, 1) or yes_or_no(prediction.answer) is None:
            return judged_number(case, prediction, lambda value: within(value, truth, truth), f"{truth:g}")
    return judged_name(case, prediction.answer)


def _official(case: Case, prediction: Prediction) -> tuple[Verdict, str]:
    """Strings as they are: the shipped one, which adapters keep as the extra `answer`, else 1 and 0 for yes and no."""
    written = {"yes": "1", "no": "0"}.get(str(case.truth), str(case.truth))
    truth, said = str(case.extras.get("answer", written)), str(prediction.answer).strip()
    return ("right" if said == truth else "wrong"), f"{said!r} for {truth!r}"
