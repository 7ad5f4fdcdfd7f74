"""What is scored, what a score is, and the registry of metrics: answers, saved runs, other people's predictions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol

from swath.errors import InputError
from swath.eval.cases import Case
from swath.trace.reading import Run
from swath.types import Answer

GROUP = "swath.metrics"

Verdict = Literal["right", "wrong", "refused", "failed", "unparsable"]
"""All five stay in the denominator of an accuracy."""


@dataclass(frozen=True)
class Prediction:
    """What was answered, by whomever.

    Attributes:
        status: answered, refused or failed.
        answer: a number, "yes" or "no", a name, free text, boxes or the path of a mask; None unless answered.
        unit: unit of a number, None where it has none or none was said.
        interval: (low, high) in that unit, None where there is none.
        reason: why it was refused or failed.
    """

    status: Literal["answered", "refused", "failed"]
    answer: Any = None
    unit: str | None = None
    interval: tuple[float, float] | None = None
    reason: str | None = None

    @classmethod
    def of_answer(cls, answer: Answer) -> Prediction:
        """A live answer; of one that is a mask, the file that holds it."""
        value = answer.answer if answer.mask is None else answer.mask.path
        low_high = None if answer.interval is None else (answer.interval.low, answer.interval.high)
        return cls(answer.status, value, answer.unit, low_high, answer.reason)

    @classmethod
    def of_run(cls, run: Run) -> Prediction:
        """The answer of a saved run; of one that is a mask, the file that holds it."""
        said, mask = run.answer, run.answer.get("mask")
        value = said.get("answer") if mask is None else str(run.folder / mask["path"])
        interval = said.get("interval")
        low_high = None if interval is None else (interval["low"], interval["high"])
        return cls(said["status"], value, said.get("unit"), low_high, said.get("reason"))

    @classmethod
    def of_text(cls, text: str) -> Prediction:
        """Free text of a model or of a person."""
        return cls("answered", text)

    def to_json(self) -> dict[str, Any]:
        """The prediction as one JSON-ready object."""
        return asdict(self)


@dataclass(frozen=True)
class Score:
    """One metric's judgement.

    Attributes:
        metric: its name with its rule, such as "range:shipped".
        value: the measured value (1 or 0 for exact matches, an IoU, a CIDEr ...); None where nothing could be compared.
        verdict: right, wrong, refused, failed or unparsable.
        why: what was compared with what.
    """

    metric: str
    value: float | None
    verdict: Verdict
    why: str

    def to_json(self) -> dict[str, Any]:
        """The score as one JSON-ready object."""
        return asdict(self)


class Metric(Protocol):
    """Scores answered predictions; registered under the entry-point group `swath.metrics` as a class taking a rule."""

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a case's truth.

        Args:
            case: the question and its truth.
            prediction: its status is "answered"; everything else has been dealt with before.
        """


def metric_names() -> tuple[str, ...]:
    """Names of all registered metrics."""
    return tuple(sorted(entry.name for entry in entry_points(group=GROUP)))


@lru_cache(maxsize=256)
def open_metric(name: str) -> Metric:
    """A metric by "name" or "name:rule".

    Raises:
        InputError: no metric has this name, or it has no such rule.
    """
    word, _, rule = name.partition(":")
    for entry in entry_points(group=GROUP):
        if entry.name == word:
            metric: Metric = entry.load()(rule) if rule else entry.load()()
            return metric
    raise InputError(f'There is no metric "{word}". Next: choose one of {", ".join(metric_names())}.')


def score(case: Case, prediction: Prediction, metric: str | None = None) -> Score:
    """Hold a prediction against a case by one metric.

    Args:
        case: the question and its truth.
        prediction: what was answered.
        metric: name of the metric; the case's first one by default.
    """
    name = metric or case.metrics[0]
    if prediction.status != "answered":
        return Score(name, None, prediction.status, prediction.reason or "")
    return open_metric(name).score(case, prediction)


def scores(case: Case, prediction: Prediction) -> tuple[Score, ...]:
    """The scores by all metrics of a case, the headline first."""
    return tuple(score(case, prediction, name) for name in case.metrics)
