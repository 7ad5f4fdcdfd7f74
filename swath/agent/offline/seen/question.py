"""What questions about looks, places and lists ask: claims and answers; beside `swath.agent.offline.question`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.seen.meaning import Field, Place


# ---------------------------------------------------------------------- claims
@dataclass(frozen=True)
class LooksLike(q.SeenClaim):
    """Whether a word is what is `Named` of a thing."""

    what: str
    of: m.Thing | None
    word: str


@dataclass(frozen=True)
class InColour(q.SeenClaim):
    """Whether the image has the colours that people see."""


@dataclass(frozen=True)
class Flat(q.SeenClaim):
    """Whether most of the ground is flat; settled it is a comparison of its flat share.

    Attributes:
        of: where; None is the whole image.
        limit: the steepest slope in degrees that is flat, None where none is said.
    """

    of: m.Thing | None = None
    limit: m.Amount | None = None


# ---------------------------------------------------------------------- answers
@dataclass(frozen=True)
class Named:
    """A word for a thing or for the image: a key of `NAMES`."""

    what: str
    of: m.Thing | None = None


NAMES: dict[str, tuple[str, str]] = {
    "colour": ("dominant_colour", "dominant colour"),
    "shape": ("shape_of", "shape"),
    "direction": ("direction_of", "direction of the long axis"),
    "course": ("course_of", "whether straight or curved"),
    "distribution": ("distribution", "distribution"),
    "size": ("size_of", "size against its class"),
    "cell": ("in_cell", "place in the image cut into three rows and columns"),
    "settlement": ("rural_or_urban", "whether the place is rural or urban"),
    "scene": ("main_scene", "land cover with the largest share"),
    "facing": ("aspect_deg", "direction in which the ground faces"),
}
"""What has a word: tool, what it is."""


@dataclass(frozen=True)
class Boxes:
    """The boxes of things; oriented ones where asked."""

    of: m.Thing
    oriented: bool = False


@dataclass(frozen=True)
class Masks:
    """A map of things, each with a value of its own."""

    of: tuple[m.Thing, ...]


@dataclass(frozen=True)
class Heights:
    """The heights of objects one by one, tallest first where `ordered`."""

    of: m.Thing
    ordered: bool = False


@dataclass(frozen=True)
class Profile:
    """Elevations along a line."""

    start: Place
    end: Place


@dataclass(frozen=True)
class Higher:
    """Which of several is the higher: things above ground, places by elevation."""

    options: tuple[m.Thing | Place, ...]
    most: bool = True


@dataclass(frozen=True)
class OneOfTwo:
    """Which of two things of one class is the larger, taller or longer one, by its side of the other.

    Attributes:
        of: the two.
        by: "area", "height" or "length".
        most: whether the larger one is asked.
    """

    of: m.Thing
    by: str
    most: bool = True


@dataclass(frozen=True)
class PartWith:
    """Which part of the image has most of something; settled it is a choice.

    Attributes:
        parts: their names.
        field: of what in each.
        most: whether the largest number is asked.
    """

    parts: tuple[str, ...]
    field: Field
    most: bool = True


@dataclass(frozen=True)
class Caption:
    """The image described in measured facts.

    Attributes:
        sentences: how many were asked for, None where no number was said.
    """

    sentences: int | None = None


SeenAnswer: TypeAlias = Named | Boxes | Masks | Heights | Profile | Higher | OneOfTwo | Caption
"""What is answered with something else than a number, a choice or yes or no."""
