"""Halves and quadrants of the image that are compared with one another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline.parts import QUADRANTS
from swath.agent.offline.trees import STEPS, parts_in, rebuilt
from swath.agent.offline.unsettled import Unsettled


def parts_taken_off(operand: Any) -> tuple[Any, tuple[str, ...]]:
    """In "more buildings, the northern or the southern half" the halves are no condition of the buildings."""
    named: list[str] = []

    def without(part: Any) -> Any:
        if not isinstance(part, m.Thing):
            return part if isinstance(part, STEPS) else None
        placed = [step for step in part.steps if _is_placing(step)]
        named.extend(step.part for step in parts_in(tuple(placed)) if isinstance(step, m.InPart))
        return replace(part, steps=tuple(step for step in part.steps if not _is_placing(step)))

    operand = rebuilt(operand, without)
    if len(named) == 1 or len(set(named)) < len(named):
        raise Unsettled("It is not clear which parts of the image are to be compared.")
    return operand, tuple(named)


def _is_placing(step: Any) -> bool:
    """Whether a step is a part of the image, or one of several."""
    if isinstance(step, m.EitherOf):
        return all(_is_placing(one) for option in step.options for one in option)
    return isinstance(step, m.InPart)


def places_of(thing: m.Thing) -> list[m.InPart]:
    """The parts of the image in which a thing is."""
    return [step for step in thing.steps if isinstance(step, m.InPart)]


def place_name(thing: m.Thing) -> str | None:
    """The part of the image in which a thing is, None for the whole."""
    return next((step.part for step in thing.steps if isinstance(step, m.InPart)), None)


def parts_called(word: str) -> tuple[str, ...]:
    """The parts of the image that a word means together.

    Raises:
        Unsettled: it means one pair of several.
    """
    if word.rstrip("s") in ("quadrant", "quarter", "corner"):
        return QUADRANTS
    raise Unsettled('It does not say which halves, such as "the northern or the southern half".')
