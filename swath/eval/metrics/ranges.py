"""A number within an acceptable range."""

from __future__ import annotations

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics.numeric import judged_number, within
from swath.eval.scores import Prediction, Score


class AcceptableRange:
    """The metric `range`: a number in the case's range of one rule, both ends inclusive.

    Attributes:
        rule: which of the case's ranges counts; the first one where it is empty.
    """

    def __init__(self, rule: str = "") -> None:
        self.rule = rule

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a case's range.

        Raises:
            InputError: the case has no range of this rule.
        """
        rule = self.rule or next(iter(case.ranges), "")
        if rule not in case.ranges:
            known = ", ".join(case.ranges) or "none"
            raise InputError(f'Case {case.id} has no range of the rule "{rule}". Next: name one of its own ({known}).')
        low, high = case.ranges[rule]
        verdict, why = judged_number(
            case, prediction, lambda value: within(value, low, high), f"{low:g} to {high:g} ({rule})"
        )
        value = None if verdict == "unparsable" else float(verdict == "right")
        return Score(f"range:{rule}", value, verdict, why)
