"""Clauses around a question, nearness and risks without a distance: as read, before `naming.py` applies them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from swath.agent.offline import meaning as m


@dataclass(frozen=True)
class Context:
    """A thing named for what follows."""

    thing: m.Thing


@dataclass(frozen=True)
class Panelled(Context):
    """Something that is thought of as covered with solar panels, or a share of it."""

    share: Decimal = Decimal(1)


@dataclass(frozen=True)
class Without:
    """Classes that are left out of what a share is of: "excluding water, what percentage is built up?"."""

    words: tuple[m.ClassWord, ...]


@dataclass(frozen=True)
class HeadedRisk:
    """A risk as a heading, which the question has to give the distance of."""


@dataclass(frozen=True)
class Hazard:
    """What is meant by a risk: nearness to something."""

    near: m.Near


@dataclass(frozen=True)
class Restated:
    """A class named once more with a size, for every mention of it."""

    thing: m.Thing


@dataclass(frozen=True)
class Filter:
    """A size for everything that is counted; of one class only, where one is named."""

    sizes: tuple[m.Step, ...]
    only: m.Thing | None = None


@dataclass(frozen=True)
class Where:
    """A distance said before the question, for everything that it measures."""

    steps: tuple[m.Step, ...]


@dataclass(frozen=True)
class Assumption:
    """A constant of solar power."""

    irradiance: Decimal | None = None
    efficiency: Decimal | None = None


@dataclass(frozen=True)
class Span:
    """Both dates named, or the earlier, as that between which something changed."""

    dates: tuple[str, ...]


@dataclass(frozen=True)
class Vague:
    """A "near" or a risk without a distance; `risk` is "flood", "fire", "water access" or "any"."""

    words: str
    risk: str = ""


@dataclass(frozen=True)
class Risk:
    """At risk within a distance; the target follows from the risk and the scene."""

    kind: str
    distance: m.Amount


@dataclass(frozen=True)
class Told(m.Near):
    """What was said to be meant by a risk; "not at risk, that is, further than 50 m away" says its opposite at once."""
