"""Predictors that look at no image: the baselines, and predictions that somebody else made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from swath.eval.cases import Case
from swath.eval.scores import Prediction

BASELINES = ("majority", "always-yes")


class Predictor(Protocol):
    """Answers cases without any image; it is pickled where several processes score."""

    @property
    def name(self) -> str:
        """What stands in the results in place of a planner's name."""

    def predict(self, case: Case) -> Prediction:
        """An answer to a case."""


@dataclass(frozen=True)
class AlwaysYes:
    """Says yes, whatever is asked."""

    name: str = "always-yes"

    def predict(self, case: Case) -> Prediction:
        """Yes."""
        return Prediction("answered", "yes")


@dataclass(frozen=True)
class Majority:
    """Gives the most frequent truth of each type and unit; it has seen the truths, so that it is a bar, not a method.

    Attributes:
        most: (type, unit) to the truth.
    """

    most: Mapping[tuple[str, str | None], Any] = field(repr=False)
    name: str = "majority"

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Majority:
        """Count truths; of equally frequent ones the first in the order of the cases."""
        counts: dict[tuple[str, str | None], Counter[Any]] = {}
        for case in cases:
            if isinstance(case.truth, str | int | float):
                counts.setdefault((case.type, case.unit), Counter())[case.truth] += 1
        return cls({kind: counter.most_common(1)[0][0] for kind, counter in counts.items()})

    def predict(self, case: Case) -> Prediction:
        """The most frequent truth; refused where truths are no numbers, words or names."""
        said = self.most.get((case.type, case.unit))
        if said is None:
            return Prediction("refused", reason=f"Truths of the type {case.type} have no majority.")
        return Prediction("answered", said, case.unit)


@dataclass(frozen=True)
class Told:
    """Hands on predictions by the id of their case."""

    predictions: Mapping[str, Prediction] = field(repr=False)
    name: str = "predictions"

    def predict(self, case: Case) -> Prediction:
        """What was predicted; a bare number is in the unit of the truth, and what is missing has failed."""
        said = self.predictions.get(case.id)
        if said is None:
            return Prediction("failed", reason="There is no prediction for this case.")
        bare = isinstance(said.answer, int | float) and not isinstance(said.answer, bool) and said.unit is None
        return Prediction(said.status, said.answer, case.unit, said.interval, said.reason) if bare else said


def baseline(name: str, cases: Sequence[Case]) -> Predictor:
    """A baseline by one of `BASELINES`, fitted to the cases that it will be scored on."""
    return Majority.of(cases) if name == "majority" else AlwaysYes()
