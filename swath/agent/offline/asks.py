"""What a question asks, as far as its words go: what is still to be chosen is settled in `settle.py`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q


@dataclass(frozen=True)
class Parsed:
    """A question as read, before what was left open is settled."""

    leads: tuple[Any, ...]
    core: Any
    tails: tuple[Any, ...]


@dataclass(frozen=True)
class ShareAsked:
    """A share whose whole depends on the words around it.

    Attributes:
        part: what it is the share of, with all its steps.
        of_image: whether the image is the whole.
        implied: whether that is only because nothing else was named in the same sentence.
        rest: whether it is of what remains without something named before.
    """

    part: m.Thing
    of_image: bool
    implied: bool = False
    rest: bool = False


@dataclass(frozen=True)
class SideAsked:
    """Which half or quadrant has most; or where it is `located`, in which one region lies."""

    word: str
    operand: Any
    parts: tuple[str, ...]
    most: bool
    located: bool = False


EVERYWHERE = m.Thing(everything=True)


@dataclass(frozen=True)
class Dominant:
    """The class that covers most, or least; `within` is where, `without` the classes that are left out."""

    most: bool
    within: m.Thing = EVERYWHERE
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class DominantAsked:
    """Whether one class covers more, or less, than any other."""

    thing: m.Thing
    most: bool


@dataclass(frozen=True)
class RankAsked:
    """The classes in the order of their areas, from `first` (0 is the first) to before `last`."""

    most: bool
    first: int = 0
    last: int | None = None
    within: m.Thing = EVERYWHERE
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChoiceAsked:
    """Which of several operands is most (or least); `more` where the word was "more", not "larger"."""

    operands: tuple[Any, ...]
    most: bool
    more: bool


@dataclass(frozen=True)
class ComparedAsked:
    """Two operands, or one and an amount, whose measure is still to be chosen."""

    operands: tuple[Any, ...]
    operator: q.Operator
    amount: m.Amount | None = None
    factor: Decimal | None = None
    more: bool = False


@dataclass(frozen=True)
class RatioAsked:
    """A ratio or a difference of two operands whose measure is still to be chosen."""

    operands: tuple[Any, ...]
    difference: bool = False
    more: bool = False
    absolute: bool = False


@dataclass(frozen=True)
class WhereAsked:
    """Such as "is the forest within 50 m of water", "is the largest lake larger than 2 ha"."""

    thing: m.Thing
    conditions: tuple[Any, ...]


@dataclass(frozen=True)
class GrewAsked:
    """How much, or whether, something grew between two dates.

    Attributes:
        operand: a thing or a measure.
        direction: "up", "down", or "net" for a difference with its sign.
        percent: whether it is asked as a percentage of what there was.
        points: whether it is asked in percentage points of the image.
        claim: whether yes or no is asked.
        either: whether it is asked if it grew or shrank.
    """

    operand: Any
    direction: Literal["up", "down", "net"]
    percent: bool = False
    points: bool = False
    claim: bool = False
    either: bool = False


@dataclass(frozen=True)
class GrewMost:
    """Which class grew or shrank most, or had most `changed` ("lost", "gained", "kept")."""

    direction: Literal["up", "down", "net", ""]
    changed: str = ""


@dataclass(frozen=True)
class TurnedAsked:
    """Which class most of a thing turned into; which it was before, where `back`."""

    thing: m.Thing
    back: bool


@dataclass(frozen=True)
class Per:
    """As in "per hectare"."""

    unit: str


@dataclass(frozen=True)
class DensityAsked:
    """A density and the unit of area that it is per."""

    density: q.Density
    per: str | None


@dataclass(frozen=True)
class Bare:
    """A thing and nothing else; the unit asked for says what is measured."""

    thing: m.Thing


@dataclass(frozen=True)
class Between:
    """Both ends of a range."""

    low: ComparedAsked
    high: ComparedAsked


@dataclass(frozen=True)
class AreaOrNumber:
    """What "how much buildings" asks for: an area where a unit of area is asked for, else a number."""

    thing: m.Thing
