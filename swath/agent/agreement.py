"""Two unlike ways to plan, both measured: there is an answer only where they measure the same.

A model that is asked twice in the same way repeats its mistakes; two ways that go wrong differently seldom agree on a
wrong number. See design/llm.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from swath.agent.answer import with_unit
from swath.agent.desk import Desk
from swath.agent.planner import Planner
from swath.tools.site import Nudge
from swath.tools.units import converted
from swath.types import Answer

SAME = 1e-9
"""Relative difference up to which two measured numbers are one."""


def verdict(desk: Desk, rival: Planner, work: Callable[[Desk], Answer], answer: Answer) -> dict[str, Any]:
    """Have the rival measure the same question, and say whether both agree.

    Args:
        desk: the question, measured.
        rival: the other planner.
        work: takes a desk through the graph.
        answer: what was measured.

    Returns:
        How the run ends: `status`, and a `reason` where the two differ. The desk then holds those of both ways in place
        of a program of its own, so that both runs are kept.
    """
    other = Desk(desk.request, rival, desk.sandbox, desk.limits)
    other.raster, other.backend, other.site = desk.raster, desk.backend, desk.opened().nudged(Nudge())
    second = work(other)
    if same(answer, second) and desk.program is not None:
        note = f"Two unlike ways to plan measure the same: {answer.planner} and {second.planner}."
        desk.program = replace(desk.program, notes=(*desk.program.notes, note))
        desk.rivals = (other,)
        return {"status": "answered"}
    first = copy(desk)
    first.answer = answer
    desk.rivals = (first, other)
    desk.program = desk.execution = desk.measured = None
    return {"status": "refused", "reason": _differing(answer, second)}


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers say the same: numbers after conversion of their units, names and lists as they are."""
    if one.status != "answered" or other.status != "answered":
        return False
    return _same_value(one.answer, one.unit, other.answer, other.unit)


def _same_value(one: Any, unit: str | None, other: Any, other_unit: str | None) -> bool:
    if _is_number(one) and _is_number(other):
        if unit != other_unit:
            try:
                other = converted(other, other_unit or "", unit or "")
            except ValueError:
                return False
        return math.isclose(one, other, rel_tol=SAME)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str | bytes):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same_value(a, unit, b, other_unit) for a, b in pairs)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _differing(*answers: Answer) -> str:
    said = ". ".join(f"{answer.planner}: {_said(answer)}" for answer in answers)
    return (
        f"Two unlike ways to plan do not measure the same. {said}. "
        "Next: run the program that means what you mean with swath run, or word the question differently."
    )


def _said(answer: Answer) -> str:
    if answer.status != "answered":
        return f"{answer.status}, {(answer.reason or '').rstrip('. ')}"
    return f'{with_unit(answer.answer, answer.unit)}, read as "{answer.reading}"'
