"""What a question is about: things, the first half of a small typed tree between the words and the program.

A thing is a class (or several) with steps that narrow it down, in the order in which they apply; `question.py` has the
other half, what is asked of things.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from swath.agent.offline.question import Measure

Vagueness = Literal["", "small", "large", "isolated"]


@dataclass(frozen=True)
class ClassWord:
    """Classes of the scene as a person named them.

    Attributes:
        names: legend names that together are what the word means; empty for "they".
        word: the word as typed.
        plural: whether it names things one by one ("ponds"), not a substance ("water").
        single: whether it names one such thing ("pond").
    """

    names: tuple[str, ...]
    word: str
    plural: bool = False
    single: bool = False


@dataclass(frozen=True)
class Amount:
    """A number in the SI unit of its dimension.

    Attributes:
        value: the number.
        unit: "m2", "m", "px", "percent", "kW", or "" for a bare number.
        said: as typed.
        key: the unit as typed, by its key in `units.toml`.
    """

    value: Decimal
    unit: str
    said: str = ""
    key: str = ""


@dataclass(frozen=True)
class Bound:
    """One end of a range; the limit may itself be measured ("larger than the average building")."""

    limit: Amount | Measure
    inclusive: bool


@dataclass(frozen=True)
class Size:
    """Regions of some area, in m2 or pixels."""

    low: Bound | None = None
    high: Bound | None = None


@dataclass(frozen=True)
class Near:
    """What lies within `high` and no nearer than `low` of a target; each may be absent."""

    target: Thing
    low: Bound | None = None
    high: Bound | None = None


@dataclass(frozen=True)
class Touching:
    """What has a pixel in or next to the target."""

    target: Thing


@dataclass(frozen=True)
class Overlapping:
    """Regions that share a pixel with the target, or that share none where `absent`."""

    target: Thing
    absent: bool = False


@dataclass(frozen=True)
class Whole:
    """What the steps before it kept are whole objects, of which nothing is cut off when their area is measured."""


@dataclass(frozen=True)
class Dated:
    """What there is at one of two dates, "before" or "after"."""

    date: str


@dataclass(frozen=True)
class Changed:
    """What of a thing was "lost", "gained" or "kept" between two dates; "changed" of the whole image."""

    how: str


@dataclass(frozen=True)
class Turned:
    """What of a thing has other classes after; before, where `back`."""

    classes: tuple[ClassWord, ...]
    back: bool = False


@dataclass(frozen=True)
class Inside:
    """What lies in another thing."""

    target: Thing


@dataclass(frozen=True)
class InPart:
    """What lies in a half or quadrant of the image."""

    part: str


@dataclass(frozen=True)
class Not:
    """The opposite of a step."""

    step: Step


@dataclass(frozen=True)
class EitherOf:
    """What fulfils at least one of several lists of steps; `said` is that in fewer words."""

    options: tuple[tuple[Step, ...], ...]
    said: str = ""


@dataclass(frozen=True)
class Pick:
    """The n largest or smallest, or only the nth; nearest or farthest from a target."""

    which: Literal["largest", "smallest", "nth largest", "nth smallest", "nearest", "farthest"]
    n: int = 1
    target: Thing | None = None


class SeenStep:
    """A step of the second grammar, about heights, looks and places; see `seen/meaning.py`."""


Step: TypeAlias = (
    "Size | Near | Touching | Overlapping | Inside | InPart | Not | EitherOf | Pick | Whole | Dated | Changed | "
    "Turned | SeenStep"
)


@dataclass(frozen=True)
class Thing:
    """What is measured.

    Attributes:
        classes: what it is made of, together.
        steps: what narrows it down, in order.
        inverted: everything but these classes.
        everything: the whole image.
        without: classes taken off.
        also: classes that it has to have as well, at the other of two dates.
        areal: whether its area was named ("water area").
        regions: whether it was named one by one ("regions", "ponds").
        pronoun: stands for a thing named elsewhere: "they" for the one named before, with all that was said of it;
            "elided" for the same class without it ("and how many in the south?"); "same" for the first of the question;
            "shore" for the water; "area" for the thing named before or else the image.
        vague: "small" or "large" where the words say so, which needs a limit; "isolated", which is read as separate.
        listed: what stands between its classes: "AND", "OR", "COMMA".
    """

    classes: tuple[ClassWord, ...] = ()
    steps: tuple[Step, ...] = ()
    inverted: bool = False
    everything: bool = False
    without: tuple[ClassWord, ...] = ()
    also: tuple[ClassWord, ...] = ()
    areal: bool = False
    regions: bool = False
    pronoun: Literal["", "they", "elided", "same", "shore", "area"] = ""
    vague: Vagueness = ""
    listed: frozenset[str] = field(default=frozenset(), compare=False)

    def having(self, *steps: Step) -> Thing:
        """The same thing with more steps."""
        return replace(self, steps=self.steps + steps)

    @property
    def countable(self) -> bool:
        """Whether it was named as separate objects."""
        return self.regions or (bool(self.classes) and all(word.plural for word in self.classes))

    @property
    def objects(self) -> bool:
        """Whether it was named as one or several separate objects: "a building", "ponds", "any forest patch"."""
        named = bool(self.classes) and all(word.plural or word.single for word in self.classes)
        return (self.regions or named) and not (self.areal or self.inverted)

    @property
    def picked(self) -> bool:
        """Whether single regions were picked from it."""
        return any(isinstance(step, Pick) for step in self.steps)


THEY = Thing(pronoun="they")
"""The thing named before; filled in by `settle.py`."""
ELIDED = Thing(pronoun="elided")
"""A class left out because it was just named: "and how many in the south?"."""
AREA = Thing(areal=True, pronoun="area")
"""The area that is meant: of what was named before, or else of the image."""
SHORE = Thing(pronoun="shore")
"""The edge of the water, as something to be near to."""
EVERYTHING = Thing(everything=True)
SAME = Thing(pronoun="same")
"""The first thing of the same question: "the largest building ... the smallest one"."""
