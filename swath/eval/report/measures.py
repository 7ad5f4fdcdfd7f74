"""Every metric of a run's cases: accuracy and mean value of each, and the measures of the whole set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swath.errors import SwathError
from swath.eval.cases import Case
from swath.eval.report.accuracy import Accuracy
from swath.eval.report.result import Result
from swath.eval.runner.results import BenchRun
from swath.eval.scores import Prediction, open_metric

ORIGINS = (
    ("official", "the benchmark's own rule, as it stands"),
    ("shipped", "the ranges that the benchmark ships"),
    ("card", "the rule of the benchmark's card, as it stands"),
    ("strict", "strict: our rule where the official one flatters"),
    ("sane", "our repair of the card's rule"),
    ("squid-fit", "our rule where the card has none: 2.25 % of the truth"),
)
"""What part of a metric's name says whose rule it is."""
OURS = "our rule"


@dataclass(frozen=True)
class Measure:
    """One metric over the cases that it scores.

    Attributes:
        metric: its name with its rule.
        origin: whose rule it is.
        headline: number of cases whose headline verdict it gives.
        accuracy: verdicts by this metric.
        mean: mean of its values, cases without one counting as 0; None where no case has a value.
        with_value: number of cases that have a value.
        total: measures of the whole set.
        no_total: why there are none, None where there are or the metric has no such measures.
    """

    metric: str
    origin: str
    headline: int
    accuracy: Accuracy
    mean: float | None
    with_value: int
    total: dict[str, float] = field(default_factory=dict)
    no_total: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The measure as one JSON-ready object."""
        return {
            "metric": self.metric,
            "origin": self.origin,
            "headline_of": self.headline,
            **self.accuracy.to_json(),
            "mean": self.mean,
            "with_value": self.with_value,
            "total": self.total,
            "no_total": self.no_total,
        }


def origin_of(metric: str) -> str:
    """Whose rule a metric's name stands for."""
    rule = metric.partition(":")[2]
    return next((words for part, words in ORIGINS if rule.startswith(part)), OURS)


def measures(run: BenchRun, results: Sequence[Result]) -> tuple[Measure, ...]:
    """All metrics, those that give headline verdicts first.

    Args:
        run: tells where images and masks lie.
        results: lines of one cell.
    """
    names = dict.fromkeys(score.metric for result in results for score in result.scores)
    found = [_measure(run, results, name) for name in names]
    return tuple(sorted(found, key=lambda measure: -measure.headline))


def _measure(run: BenchRun, results: Sequence[Result], metric: str) -> Measure:
    scored = [(result, score) for result in results for score in result.scores if score.metric == metric]
    values = [score.value for _, score in scored if score.value is not None]
    total, no_total = _total(run, metric, [result for result, _ in scored])
    return Measure(
        metric=metric,
        origin=origin_of(metric),
        headline=sum(result.scores[0].metric == metric for result, _ in scored),
        accuracy=Accuracy.of_verdicts(score.verdict for _, score in scored),
        mean=sum(values) / len(scored) if values else None,
        with_value=len(values),
        total=total,
        no_total=no_total,
    )


def _total(run: BenchRun, metric: str, results: Sequence[Result]) -> tuple[dict[str, float], str | None]:
    """Measures of the whole set, or why there are none."""
    try:
        total = getattr(open_metric(metric), "total", None)
        if total is None:
            return {}, None
        return {name: float(value) for name, value in total([_pair(run, result) for result in results]).items()}, None
    except SwathError as error:
        return {}, str(error)


def _pair(run: BenchRun, result: Result) -> tuple[Case, Prediction]:
    """A case and its prediction, as measures of a whole set need them."""
    case = Case(
        result.case, _image(run, result), result.question, result.truth, result.type, unit=result.unit,
        extras=result.extras,
    )  # fmt: skip
    said = result.prediction
    kept = run.folder / said.answer if isinstance(said.answer, str) and said.answer.startswith("masks/") else None
    answer = str(kept) if kept is not None and kept.is_file() else said.answer
    return case, Prediction(said.status, answer, said.unit, said.interval, said.reason)


def _image(run: BenchRun, result: Result) -> Path:
    """The image, in the folder of the run, or else of the benchmark."""
    here = run.folder / result.image
    return here if here.is_file() else Path(str(run.meta["data"])) / result.image
