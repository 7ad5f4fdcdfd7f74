"""What is among the children of a node of the second grammar: nouns, places and conditions as they were named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.unsettled import Unsettled

ANYTHING = m.Thing(pronoun="same", regions=True)
"""Objects whose class was named before: "the largest one"."""
NEIGHBOUR = m.Thing(pronoun="they", regions=True)
"""Objects of the class of what they are near to."""
_OPERATORS: dict[str, q.Operator] = {
    "OVER": ">", "UNDER": "<", "ATLEAST": ">=", "ATMOST": "<=", "TALLER": ">", "SHORTER": "<", "NOTTALLER": "<=",
    "NOTSHORTER": ">=", "STEEPER": ">", "FLATTER": "<", "MORE": ">", "LARGER": ">", "LESS": "<", "SMALLER": "<",
}  # fmt: skip
_ORDER: tuple[tuple[type, ...], ...] = (
    (m.Size,), (s.Look,), (m.InPart, s.InCell), (m.Near, m.Touching, s.Related), (s.Just,),
    (s.Between, s.Flooded, m.Not), (s.Ranked,), (s.Only,),
)  # fmt: skip
"""What narrows a thing down applies in this order: ranks and the count of one come last."""


@dataclass(frozen=True)
class Placed:
    """Where something is in the image, as it was named; a cell or a part, as the question is about one or many."""

    part: str
    text: str


@dataclass(frozen=True)
class Middle:
    """In the middle of the image, or in one of its corners."""

    corner: str = ""


@dataclass(frozen=True)
class Conditions:
    """What is said of a thing after the verb."""

    steps: tuple[Any, ...]
    denied: bool = False


@dataclass(frozen=True)
class Said(m.SeenStep):
    """What comes after it is said of the thing, and is not what tells it from others."""


@dataclass(frozen=True)
class Noun:
    """The classes of a thing, its article not yet heard."""

    thing: m.Thing
    listed: str = ""


OPEN = (Placed, Middle)


@dataclass(frozen=True)
class By:
    """By what the largest or smallest is meant: "height" or "area"."""

    field: str


STEPS = (m.SeenStep, m.Size, m.Near, m.Touching, m.InPart, m.Not, Placed, Middle)


def steps_in(children: Sequence[Any]) -> tuple[Any, ...]:
    """The steps among the children, lists of them opened."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, tuple):
            found += steps_in(child)
        elif isinstance(child, STEPS):
            found.append(child)
    return tuple(found)


def sign_of(children: Sequence[Any]) -> q.Operator:
    """The comparison among the children, a token or one read before."""
    for child in children:
        if isinstance(child, Token) and child.type in _OPERATORS:
            return _OPERATORS[child.type]
        read = next((sign for sign in _OPERATORS.values() if child == sign), None)
        if read is not None:
            return read
    raise Unsettled("It is not clear what is compared.")


def ordered(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Steps in the order in which they apply.

    Raises:
        Unsettled: two of them pick, so that the order decides.
    """
    if sum(isinstance(step, s.Ranked) for step in steps) > 1:
        raise Unsettled("It ranks twice, so that it is not clear what comes first. Next: ask with one rank.")
    found = [step for kinds in _ORDER for step in steps if isinstance(step, kinds)]
    found += [step for step in steps if step not in found and not isinstance(step, OPEN)]
    return (*(step for step in steps if isinstance(step, OPEN)), *found)
