"""A predicted number, whatever it came as, held against what a case accepts."""

from __future__ import annotations

import math
from collections.abc import Callable

from swath.eval.cases import Case
from swath.eval.metrics.judge import has_judge, number_said
from swath.eval.numbers import number_in, value_in_unit
from swath.eval.scores import Prediction, Verdict

SLACK = 1e-9
"""Bounds are inclusive; this share of a bound is rounding."""


def judged_number(
    case: Case, prediction: Prediction, accepts: Callable[[float], bool], wanted: str
) -> tuple[Verdict, str]:
    """The verdict on a predicted number, and what was compared with what.

    Args:
        case: its unit is that of the truth.
        prediction: a number with its unit, or a text that states one.
        accepts: whether a number in the case's unit is right.
        wanted: what is accepted, in words.
    """
    given = prediction.answer
    if isinstance(given, str):
        stated = number_in(given, prediction.unit or case.unit)
        if stated is None:
            return _read_by_judge(case, given, accepts, wanted)
        given = stated.value
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return "unparsable", f"{_short(given)} is not a number"
    value = value_in_unit(given, prediction.unit, case.unit)
    if value is None:
        return "wrong", f"the unit is {prediction.unit} for {case.unit}"
    return ("right" if accepts(value) else "wrong"), f"{value:g} for {wanted}"


def _read_by_judge(case: Case, text: str, accepts: Callable[[float], bool], wanted: str) -> tuple[Verdict, str]:
    """What is said in words that the rules of `number_in` do not cover, where a judge has been named."""
    value = number_said(case, text) if has_judge() else None
    if value is None:
        return "unparsable", f"{_short(text)} states no single number" + _in(case.unit)
    return ("right" if accepts(value) else "wrong"), f"{value:g}, as the judge reads {_short(text)}, for {wanted}"


def within(value: float, low: float, high: float) -> bool:
    """Whether a number lies between two bounds, both inclusive up to rounding."""
    return low - SLACK * abs(low) - 1e-12 <= value <= high + SLACK * abs(high) + 1e-12


def _in(unit: str | None) -> str:
    return f" in {unit}" if unit else ""


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "..."
