"""What a question asks: measures, claims and other answers.

A measure is a number taken of things, a claim is something that is true or false. Every measure takes every thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from swath.agent.offline.meaning import Amount, InPart, Thing

Operator = Literal[">", ">=", "<", "<=", "=="]
Statistic = Literal["mean", "median", "std", "min", "max", "sum"]


class SeenMeasure:
    """A measure of the second grammar."""

    @property
    def unit(self) -> str:
        """The unit of its value in the program."""
        return "m"


class SeenClaim:
    """A claim of the second grammar."""


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
    """Something about the image itself: a key of `IMAGE_FACTS` in `image_facts.py`."""

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
