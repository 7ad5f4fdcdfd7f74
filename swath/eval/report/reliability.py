"""Whether stated intervals hold the truth, by how wide they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swath.eval.metrics.numeric import within
from swath.eval.numbers import value_in_unit
from swath.eval.report.accuracy import Share
from swath.eval.report.result import Result

WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
"""Upper ends of the classes of widths, inclusive, as shares of the answer."""


@dataclass(frozen=True)
class WidthClass:
    """Answers whose intervals are about as wide.

    Attributes:
        words: which widths.
        holds: how many of the intervals hold the truth.
        right: how many of the answers are right.
    """

    words: str
    holds: Share
    right: Share

    def to_json(self) -> dict[str, Any]:
        """The class as one JSON-ready object."""
        return {"width": self.words, "holds_truth": self.holds.to_json(), "right": self.right.to_json()}


@dataclass(frozen=True)
class Reliability:
    """Intervals held against truths.

    Attributes:
        classes: by relative width, from narrow to wide; empty classes are left out.
        all: all intervals together.
        without: answered cases with a number for their truth and no interval that could be compared with it.
    """

    classes: tuple[WidthClass, ...]
    all: WidthClass
    without: int

    def to_json(self) -> dict[str, Any]:
        """The reliability as one JSON-ready object."""
        return {
            "classes": [found.to_json() for found in self.classes],
            "all": self.all.to_json(),
            "without_interval": self.without,
        }


@dataclass(frozen=True)
class _Stated:
    width: float
    holds: bool
    right: bool


def reliability(results: Sequence[Result]) -> Reliability:
    """Hold the intervals of one cell's answers against the truths."""
    numeric = [result for result in results if _is_number(result.truth) and result.prediction.status == "answered"]
    stated = [found for found in map(_stated, numeric) if found is not None]
    ends = [0.0, *WIDTHS, math.inf]
    groups = [[found for found in stated if _end(found.width) == end] for end in ends]
    classes = [_class(_words(i, ends), group) for i, group in enumerate(groups) if group]
    return Reliability(tuple(classes), _class("all", stated), len(numeric) - len(stated))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _stated(result: Result) -> _Stated | None:
    """A number's interval in the unit of the truth, None where there is none to compare."""
    said = result.prediction
    if said.interval is None or not _is_number(said.answer) or not all(map(_is_number, said.interval)):
        return None
    low, high = (value_in_unit(end, said.unit, result.unit) for end in said.interval)
    if low is None or high is None:
        return None
    span = abs(said.interval[1] - said.interval[0])
    width = 0.0 if span == 0 else span / abs(said.answer) if said.answer else math.inf
    return _Stated(width, within(float(result.truth), low, high), result.right)


def _end(width: float) -> float:
    return 0.0 if width == 0 else next((end for end in WIDTHS if width <= end), math.inf)


def _words(i: int, ends: Sequence[float]) -> str:
    if i == 0:
        return "no width"
    if i == len(ends) - 1:
        return f"over {100 * ends[i - 1]:g} %"
    return f"up to {100 * ends[i]:g} %"


def _class(words: str, group: Sequence[_Stated]) -> WidthClass:
    n = len(group)
    return WidthClass(
        words, Share(sum(found.holds for found in group), n), Share(sum(found.right for found in group), n)
    )
