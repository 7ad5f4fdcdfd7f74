"""What a question means: a small typed tree between the words and the program.

A thing is a class (or several) with steps that narrow it down, in the order in which they apply; a measure is a number
taken of things; a claim is something that is true or false. Every measure takes every thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal, TypeAlias

Operator = Literal[">", ">=", "<", "<=", "=="]
Vagueness = Literal["", "small", "large", "isolated"]
Statistic = Literal["mean", "median", "std", "min", "max", "sum"]


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


class SeenMeasure:
    """A measure of the second grammar."""

    @property
    def unit(self) -> str:
        """The unit of its value in the program."""
        return "m"


class SeenClaim:
    """A claim of the second grammar."""


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


@dataclass(frozen=True)
class Count:
    """How many regions."""

    thing: Thing


@dataclass(frozen=True)
class Area:
    """Area in m2, or in pixels where `in_pixels`."""

    thing: Thing
    in_pixels: bool = False


@dataclass(frozen=True)
class Share:
    """Percent that a part has of a whole (None: of the image), by area or by number."""

    part: Thing
    whole: Thing | InPart | None = None
    by_count: bool = False


@dataclass(frozen=True)
class AreaStatistic:
    """A statistic of the regions' areas."""

    thing: Thing
    statistic: Statistic
    in_pixels: bool = False


@dataclass(frozen=True)
class Perimeter:
    """Length of the outline; of water, where it was called a shore."""

    thing: Thing
    shore: bool = False


@dataclass(frozen=True)
class Distance:
    """Ground distance between two things: the shortest, or a statistic over the regions of the first."""

    a: Thing
    b: Thing
    statistic: Statistic | None = None


@dataclass(frozen=True)
class Spacing:
    """A statistic of the ground distances from each region to the nearest other one."""

    thing: Thing
    statistic: Statistic


@dataclass(frozen=True)
class Density:
    """Regions per square kilometre of the image or of another thing."""

    thing: Thing
    whole: Thing | None = None


@dataclass(frozen=True)
class Power:
    """Solar power in kW."""

    thing: Thing
    irradiance: Decimal | None = None
    efficiency: Decimal | None = None


@dataclass(frozen=True)
class ImageFact:
    """Something about the image itself: a key of `IMAGE_FACTS` in `program.py`."""

    name: str


@dataclass(frozen=True)
class Ratio:
    """One measure divided by another."""

    a: Measure
    b: Measure


@dataclass(frozen=True)
class Difference:
    """One measure less another; `absolute` where the words do not say which is the larger."""

    a: Measure
    b: Measure
    absolute: bool = False


@dataclass(frozen=True)
class Growth:
    """Percent by which a measure grew from one date to another; by which it shrank, where `down`."""

    after: Measure
    before: Measure
    down: bool = False


@dataclass(frozen=True)
class Times:
    """A measure taken a number of times."""

    factor: Decimal
    of: Measure


Measure: TypeAlias = (
    "Count | Area | Share | AreaStatistic | Perimeter | Distance | Spacing | Density | Power | ImageFact | Ratio | "
    "Difference | Growth | Times | SeenMeasure"
)


@dataclass(frozen=True)
class Exists:
    """There is at least one pixel of it."""

    thing: Thing


@dataclass(frozen=True)
class Compared:
    """A measure against a measure or an amount."""

    left: Measure
    operator: Operator
    right: Measure | Amount


@dataclass(frozen=True)
class Connected:
    """It is one region."""

    thing: Thing


@dataclass(frozen=True)
class AllOf:
    """All claims hold."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one claim holds."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Denied:
    """The claim does not hold."""

    claim: Claim


Claim: TypeAlias = "Exists | Compared | Connected | AllOf | AnyOf | Denied | SeenClaim"


@dataclass(frozen=True)
class Fragmentation:
    """Connected or fragmented."""

    thing: Thing


@dataclass(frozen=True)
class Choice:
    """Which of several is largest (or smallest).

    Attributes:
        names: of each.
        measures: what is measured of each.
        most: whether the largest is asked.
        some: whether none of them is the answer where no measure is above 0.
        said: what is asked, where the measures would take long to say.
        without: classes that are left out.
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    most: bool = True
    some: bool = False
    said: str = ""
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """Names in the order of what is measured of each, from `first` (0 is the first) to before `last`."""

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    most: bool = True
    first: int = 0
    last: int | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class PresentClasses:
    """Which classes occur; of two dates at one, where it is said."""

    date: str = ""


@dataclass(frozen=True)
class Several:
    """Several measures, answered together."""

    measures: tuple[Measure, ...]


@dataclass(frozen=True)
class Areas:
    """The areas of regions, one by one."""

    thing: Thing


Answer: TypeAlias = "Measure | Claim | Fragmentation | Choice | Ranking | PresentClasses | Several | Areas"


@dataclass(frozen=True)
class Question:
    """A question understood.

    Attributes:
        answer: what is asked.
        unit: the unit that the answer is to be in, None where none was asked.
        notes: choices made where the words left one.
        classes: the scene's classes.
    """

    answer: Answer
    unit: str | None = None
    notes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
