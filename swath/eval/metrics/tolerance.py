"""A number within a tolerance, or a name in any of its spellings."""

from __future__ import annotations

from swath.eval.cases import Case
from swath.eval.metrics.names import judged_name
from swath.eval.metrics.numeric import judged_number, within
from swath.eval.scores import Prediction, Score


class Tolerance:
    """The metric `tolerance`: numbers within the larger of the case's two tolerances, inclusive, in the case's unit.

    Yes/no and names are compared exactly, in all their honest spellings.
    """

    name = "tolerance"

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a case's truth."""
        if isinstance(case.truth, str):
            verdict, why = judged_name(case, prediction.answer)
        else:
            truth = float(case.truth)
            allowed = max(case.tolerance_abs, case.tolerance_rel * abs(truth))
            verdict, why = judged_number(
                case,
                prediction,
                lambda value: within(value, truth - allowed, truth + allowed),
                f"{truth:g} +- {allowed:g}",
            )
        value = None if verdict == "unparsable" else float(verdict == "right")
        return Score(self.name, value, verdict, why)
