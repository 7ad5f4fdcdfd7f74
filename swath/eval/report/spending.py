"""Time, tokens and money that a run took, and what its answers warn of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from swath.eval.report.accuracy import Accuracy
from swath.eval.report.result import Result


@dataclass(frozen=True)
class Spending:
    """What the questions of one cell took.

    Attributes:
        cell: which one.
        questions: number of questions whose time is known.
        untimed: number of questions whose time is not known.
        seconds: time of all together.
        median_s: median time of a question, None where no time is known.
        p90_s: nine out of ten questions took at most this.
        longest_s: time of the slowest.
        asked_model: number of questions that cost tokens of a language model.
        tokens_in: tokens sent, None where no model was asked.
        tokens_out: tokens received.
        dollars: cost of those questions whose price is known, None where none is.
        unpriced: number of questions that cost tokens of unknown price.
    """

    cell: str
    questions: int
    untimed: int
    seconds: float
    median_s: float | None
    p90_s: float | None
    longest_s: float | None
    asked_model: int
    tokens_in: int | None
    tokens_out: int | None
    dollars: float | None
    unpriced: int

    def to_json(self) -> dict[str, Any]:
        """The spending as one JSON-ready object."""
        return asdict(self)


def spending(cell: str, results: Sequence[Result]) -> Spending:
    """What the questions of one cell took."""
    times = [result.seconds for result in results if result.seconds is not None]
    tokens = [result.tokens for result in results if result.tokens is not None]
    dollars = [result.dollars for result in results if result.dollars is not None]
    median, p90, longest = np.quantile(times, [0.5, 0.9, 1.0]).tolist() if times else (None, None, None)
    return Spending(
        cell=cell,
        questions=len(times),
        untimed=len(results) - len(times),
        seconds=float(sum(times)),
        median_s=median,
        p90_s=p90,
        longest_s=longest,
        asked_model=len(tokens),
        tokens_in=sum(found.get("in", 0) for found in tokens) if tokens else None,
        tokens_out=sum(found.get("out", 0) for found in tokens) if tokens else None,
        dollars=float(sum(dollars)) if dollars else None,
        unpriced=sum(result.tokens is not None and result.dollars is None for result in results),
    )


@dataclass(frozen=True)
class Warned:
    """A warning that answers carry.

    Attributes:
        example: its words in the first of these answers; in others, numbers may differ.
        accuracy: of all answers that carry it.
    """

    example: str
    accuracy: Accuracy

    def to_json(self) -> dict[str, Any]:
        """The warning as one JSON-ready object."""
        return {"example": self.example, **self.accuracy.to_json()}


def warned(results: Iterable[Result]) -> tuple[Warned, ...]:
    """Warnings that differ by more than their numbers, the most frequent first."""
    examples: dict[str, str] = {}
    carriers: dict[str, dict[str, Result]] = {}
    for result in results:
        for warning in result.warnings:
            kind = re.sub(r"\d[\d.,]*", "#", warning)
            examples.setdefault(kind, warning)
            carriers.setdefault(kind, {})[result.case] = result
    found = [Warned(examples[kind], Accuracy.of(carried.values())) for kind, carried in carriers.items()]
    return tuple(sorted(found, key=lambda one: -one.accuracy.n))
