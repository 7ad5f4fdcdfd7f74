"""What an annotation file says of one image, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely
from shapely.geometry.base import BaseGeometry

from swath.segment.legend import clean_name

SPELLINGS = {"golffield": "golf field", "trainstation": "train station"}
"""Class names that VRSBench writes as one word."""


@dataclass(frozen=True)
class Annotated:
    """One annotated object.

    Attributes:
        id: the file's own identifier, or a running number.
        class_name: in words.
        outline: in pixel coordinates of the image, (0, 0) being its outer corner.
        score: confidence in [0, 1], None where the file gives none.
    """

    id: str
    class_name: str
    outline: BaseGeometry
    score: float | None = None


@dataclass(frozen=True)
class Annotations:
    """The annotated objects of one image.

    Attributes:
        form: name of the file's format.
        names: classes that the file knows, whether or not they occur in the image.
        objects: in the file's order.
        warnings: sentences for people.
    """

    form: str
    names: tuple[str, ...]
    objects: tuple[Annotated, ...]
    warnings: tuple[str, ...] = ()


def class_name(raw: str) -> str:
    """A class of a data set in words: "golffield" is "golf field", "storage-tank" is "storage tank"."""
    plain = clean_name(raw)
    return SPELLINGS.get(plain, plain.replace("-", " "))


def names_of(objects: Sequence[Annotated]) -> tuple[str, ...]:
    """The classes that occur, sorted."""
    return tuple(sorted({found.class_name for found in objects}))


def quadrilateral(corners: Sequence[float]) -> BaseGeometry:
    """The box of four corners (eight numbers); of corners out of order, whose ring crosses itself, their hull."""
    ring = shapely.Polygon(list(zip(corners[::2], corners[1::2], strict=True)))
    return ring if ring.is_valid else ring.convex_hull
