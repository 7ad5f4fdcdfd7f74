"""Shares of right answers, with their intervals: of all cases, and of groups of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from swath.eval.report.result import Result
from swath.eval.scores import Verdict
from swath.eval.statistics import bootstrap_mean, wilson

VERDICTS: tuple[str, ...] = get_args(Verdict)
SILENT = ("refused", "failed")
"""Verdicts of cases that got no answer."""

GROUND_SIZES: Mapping[str, float] = {
    "under 0.2 m": 0.2,
    "0.2 m to under 0.4 m": 0.4,
    "0.4 m to under 0.8 m": 0.8,
    "0.8 m to under 1.6 m": 1.6,
    "1.6 m to under 5 m": 5.0,
    "5 m to under 15 m": 15.0,
    "15 m and more": math.inf,
}
"""Classes of ground pixel sizes, from small to large, with their upper ends; 0.3, 0.5 and 1 m fall apart."""
FEWEST_IMAGES = 10
"""Images from which on drawing whole ones says how far the accuracy could lie elsewhere."""


@dataclass(frozen=True)
class Share:
    """How many of how many, with Wilson's 95 % interval.

    Attributes:
        right: how many.
        n: of how many.
    """

    right: int
    n: int

    @property
    def value(self) -> float | None:
        """The share from 0 to 1, None of nothing."""
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies, 0 to 1 of nothing."""
        return wilson(self.right, self.n)

    def to_json(self) -> dict[str, Any]:
        """The share as one JSON-ready object."""
        return {"right": self.right, "n": self.n, "share": self.value, "interval": list(self.interval)}


@dataclass(frozen=True)
class Accuracy:
    """Verdicts on some cases.

    Attributes:
        verdicts: how many cases have each verdict.
    """

    verdicts: Mapping[str, int]

    @classmethod
    def of(cls, results: Iterable[Result]) -> Accuracy:
        """Count headline verdicts."""
        return cls.of_verdicts(result.verdict for result in results)

    @classmethod
    def of_verdicts(cls, verdicts: Iterable[str]) -> Accuracy:
        """Count verdicts."""
        counted = Counter(verdicts)
        return cls({verdict: counted[verdict] for verdict in VERDICTS})

    @property
    def n(self) -> int:
        """All cases, those refused, failed and unparsable included."""
        return sum(self.verdicts.values())

    @property
    def headline(self) -> Share:
        """Right of all cases."""
        return Share(self.verdicts["right"], self.n)

    @property
    def when_answered(self) -> Share:
        """Right of the cases that got an answer, unparsable ones included."""
        return Share(self.verdicts["right"], self.coverage.right)

    @property
    def coverage(self) -> Share:
        """Cases that got an answer of all cases."""
        return Share(self.n - sum(self.verdicts[verdict] for verdict in SILENT), self.n)

    def to_json(self) -> dict[str, Any]:
        """The accuracy as one JSON-ready object."""
        return {
            "n": self.n,
            "accuracy": self.headline.to_json(),
            "when_answered": self.when_answered.to_json(),
            "coverage": self.coverage.to_json(),
            "verdicts": dict(self.verdicts),
        }


def images_of(results: Sequence[Result]) -> int:
    """How many images the questions are about."""
    return len({result.image for result in results})


def by_image(results: Sequence[Result]) -> tuple[float, float] | None:
    """Bootstrap interval of the accuracy with whole images drawn, since their questions are not independent.

    None for fewer than `FEWEST_IMAGES` images: from a handful, draws say nothing about others.
    """
    if images_of(results) < FEWEST_IMAGES:
        return None
    return bootstrap_mean([float(result.right) for result in results], [result.image for result in results])


def rule_of(result: Result) -> str:
    """The rule that gave the headline verdict."""
    named = result.extras.get("rule")
    return str(named) if named else result.scores[0].metric.partition(":")[2] or result.scores[0].metric


def ground_size(result: Result) -> str | None:
    """The class of ground pixel sizes that an image falls into."""
    size = result.extras.get("gsd_m", result.extras.get("gsd"))
    if isinstance(size, bool) or not isinstance(size, int | float):
        return None
    return next((words for words, end in GROUND_SIZES.items() if size < end), None)


def answer_kind(result: Result) -> str:
    """Whether a question can be answered by a coin."""
    binary = result.extras.get("binary", result.truth in ("yes", "no"))
    return "yes or no" if binary else "not yes or no"


def borderline(result: Result) -> str | None:
    """Whether a truth would be another one, had thresholds been moved a little."""
    known = result.extras.get("borderline")
    return None if known is None else "borderline" if known else "not borderline"


def _extra(name: str) -> Callable[[Result], str | None]:
    def value(result: Result) -> str | None:
        found = result.extras.get(name)
        return None if found is None else str(found)

    return value


GROUPINGS: Mapping[str, Callable[[Result], str | None]] = {
    "tier": lambda result: result.tier,
    "type": lambda result: result.type,
    "source": _extra("source"),
    "ground pixel size": ground_size,
    "rule": rule_of,
    "kind of answer": answer_kind,
    "borderline truth": borderline,
    "group": _extra("group"),
}
UNKNOWN = "not stated"


def grouped(results: Sequence[Result], key: Callable[[Result], str | None]) -> dict[str, Accuracy]:
    """Accuracy by group, empty where no case says which group it is in."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result) or UNKNOWN, []).append(result)
    if groups.keys() <= {UNKNOWN}:
        return {}
    sizes = list(GROUND_SIZES)  # the alphabet would not keep their order
    return {
        name: Accuracy.of(groups[name])
        for name in sorted(groups, key=lambda name: (sizes.index(name) if name in sizes else -1, name))
    }
