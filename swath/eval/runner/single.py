"""One answer held against one truth, as the metrics hold those of a benchmark."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swath.agent.units import DIMENSIONS
from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.runner.predictions import read_value
from swath.eval.runner.predictors import Told
from swath.eval.scores import Prediction, Score, score

METRIC_OF: Mapping[str, str] = {
    "number": "tolerance",
    "binary": "exact",
    "categorical": "exact",
    "box": "box:0.5",
    "oriented": "oriented:0.5",
    "mask": "mask",
    "caption": "caption",
    "vqa": "vqa:official",
}
"""Type of a question to the metric that scores it unless another one is named."""


def judge(
    truths: Sequence[str],
    type_: str,
    answer: str,
    *,
    unit: str | None = None,
    tolerance: float = 0.0,
    metric: str | None = None,
) -> Score:
    """Score one answer.

    Args:
        truths: the truth as text; of captions each reference, of boxes a JSON list.
        type_: one of `METRIC_OF`.
        answer: as text; a bare number is in the unit of the truth.
        unit: unit of the truth.
        tolerance: how far a number may lie from the truth, as a share of it.
        metric: "name" or "name:rule" in place of the one that the type has.

    Raises:
        InputError: the truth is not of the type, or there is no such metric.
    """
    if not 0 <= tolerance < math.inf:
        raise InputError(f"A tolerance of {tolerance:g} is not possible. Next: give a share of the truth, such as 0.2.")
    if unit is not None and unit not in DIMENSIONS:
        raise InputError(f'There is no unit "{unit}". Next: choose one of {", ".join(DIMENSIONS)}.')
    name = metric or METRIC_OF[type_]
    case = Case(
        "answer", Path(), "", _truth(truths, type_), type_, (name,), unit=unit, tolerance_rel=tolerance
    )  # fmt: skip
    return score(case, Told({case.id: Prediction("answered", read_value(answer))}).predict(case))


EXAMPLES: Mapping[str, str] = {
    "number": "12.5",
    "box": "[10, 20, 30, 40]",
    "oriented": "[10, 20, 30, 20, 30, 40, 10, 40]",
}


def _is_of(value: Any, type_: str) -> bool:
    if type_ == "number":
        return _is_number(value)
    length = len(json.loads(EXAMPLES[type_]))
    return isinstance(value, list) and len(value) == length and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _truth(truths: Sequence[str], type_: str) -> Any:
    if type_ == "caption":
        return list(truths)
    (text,) = truths if len(truths) == 1 else (None,)
    if text is None:
        raise InputError(f"A truth of type {type_} is one. Next: give --truth once.")
    if type_ in ("number", "box", "oriented"):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not _is_of(value, type_):
            example = EXAMPLES[type_]
            raise InputError(f'--truth "{text}" is not of type {type_}. Next: write it like {example}.')
        return value
    return text
