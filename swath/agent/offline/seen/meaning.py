"""What questions about heights, looks and places mean; beside the tree of `swath.agent.offline.meaning`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q

CellStatistic = Literal["mean", "median", "min", "max", "std", "percentile"]


@dataclass(frozen=True)
class Place:
    """One place: of a pixel column and row, of "lonlat" longitude and latitude, of "map" x and y; "A" if called so."""

    kind: Literal["pixel", "lonlat", "map"]
    first: Decimal
    second: Decimal
    name: str = ""


# ---------------------------------------------------------------------- steps
@dataclass(frozen=True)
class Between(m.SeenStep):
    """What lies in a range of a field.

    Attributes:
        field: "height" above ground, "elevation", "slope" in degrees; "unclear" until it is settled.
        low: from where.
        high: to where.
        percent: a slope as it was given.
    """

    field: Literal["height", "elevation", "slope", "unclear"]
    low: m.Bound | None = None
    high: m.Bound | None = None
    percent: Decimal | None = None


@dataclass(frozen=True)
class Flooded(m.SeenStep):
    """What lies below a level water surface, with any part of it."""

    level: m.Amount


@dataclass(frozen=True)
class Look(m.SeenStep):
    """What is of a colour, a shape or a size against its class: "colour", "shape", "size" and the word."""

    what: Literal["colour", "shape", "size"]
    word: str


@dataclass(frozen=True)
class InCell(m.SeenStep):
    """What lies in a cell of the image cut into three rows and columns; `part` is the place as it was named."""

    cell: str
    part: str = ""


@dataclass(frozen=True)
class Related(m.SeenStep):
    """What stands in a relation to things: a key of `RELATIONS`.

    Attributes:
        how: the relation.
        targets: one thing, two of "between"; none of "alone", which is about others of its class.
        side: of "side".
    """

    how: str
    targets: tuple[m.Thing, ...] = ()
    side: str = ""


RELATIONS = {
    "next": ("next_to", "next to"),
    "side": ("on_side", ""),
    "between": ("between", "between"),
    "inside": ("inside", "inside"),
    "around": ("surrounded_by", "surrounded by"),
    "colour": ("coloured_like", "of the same colour as"),
}
"""Relation to its tool and its words."""


@dataclass(frozen=True)
class Ranked(m.SeenStep):
    """The first of an order.

    Attributes:
        by: "area", "height", "length", "side", "corner", "edge", "centre", "nearest", "farthest".
        where: the side or the corner.
        most: whether the largest, tallest or longest come first.
        n: how many, or which one.
        nth: whether only the nth.
        target: of "nearest" and "farthest".
    """

    by: str
    where: str = ""
    most: bool = True
    n: int = 1
    nth: bool = False
    target: m.Thing | None = None


@dataclass(frozen=True)
class Just(m.SeenStep):
    """What is nearest to a thing on one side of it; of several, all on that side, until it is settled."""

    target: m.Thing
    side: str


@dataclass(frozen=True)
class Known(m.SeenStep):
    """What a field is known of: objects that a share may be related to."""

    field: Literal["height", "elevation", "slope", "flood"]


@dataclass(frozen=True)
class Only(m.SeenStep):
    """There is exactly one; `first` where it is the first of a rank, which only has to be there."""

    first: bool = False


# ---------------------------------------------------------------------- numbers
@dataclass(frozen=True)
class Field(q.SeenMeasure):
    """A statistic of a field over a thing, or over the whole image.

    Attributes:
        what: a key of `FIELDS`.
        of: over what; None is the whole image.
        statistic: which number for the cells; "" is the tool's own default.
        percent: of a percentile.
        among: of heights, which number for many objects, each of which counts once.
        level: of a depth the level of the water, of a flat share the steepest slope in degrees.
    """

    what: str
    of: m.Thing | None = None
    statistic: str = ""
    percent: Decimal | None = None
    among: str = ""
    level: m.Amount | None = None

    @property
    def unit(self) -> str:
        """The unit of its value in the program."""
        return FIELDS[self.what][1]


FIELDS: dict[str, tuple[str, str, str]] = {
    "height": ("height_statistic_m", "m", "height above ground"),
    "elevation": ("elevation_statistic_m", "m", "elevation"),
    "relief": ("relief_m", "m", "relief, highest less lowest elevation,"),
    "slope": ("slope_statistic_deg", "deg", "slope"),
    "flat": ("flat_share_percent", "percent", "share of flat ground"),
    "aspect": ("aspect_deg", "deg", "direction in which the ground faces"),
    "tri": ("ruggedness_m", "m", "terrain ruggedness index"),
    "tpi": ("ruggedness_m", "m", "topographic position index"),
    "roughness": ("ruggedness_m", "m", "roughness"),
    "volume": ("volume_m3", "m3", "volume above ground"),
    "depth": ("flood_depth_m", "m", "depth of the water"),
    "length": ("length_m", "m", "length"),
    "width": ("width_m", "m", "width"),
    "azimuth": ("azimuth_deg", "deg", "direction of the long axis"),
}
"""What can be measured: tool, unit, words."""


@dataclass(frozen=True)
class At(q.SeenMeasure):
    """Elevation of a place, or its height above ground."""

    place: Place
    above_ground: bool = False


@dataclass(frozen=True)
class HeightDifference(q.SeenMeasure):
    """By how much one thing is taller than another, or one place lies higher."""

    a: m.Thing | Place
    b: m.Thing | Place
    absolute: bool = False
