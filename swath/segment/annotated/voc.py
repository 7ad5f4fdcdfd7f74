"""Pascal VOC's XML files, and DIOR's with oriented boxes: one file per image, in pixels counted from 1."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import shapely
from shapely.geometry.base import BaseGeometry

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.annotated.objects import Annotated, Annotations, class_name, names_of, quadrilateral
from swath.segment.rows import read_text

CORNERS = ("left_top", "right_top", "right_bottom", "left_bottom")
"""Names of the corners of an oriented box in DIOR-R's files."""

_UNSAFE = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
"""Declarations that no annotation needs and that can make a small file huge."""


def is_voc(path: Path, text: str) -> bool:
    """Whether a file is taken for VOC's: an XML file."""
    return path.suffix.lower() == ".xml"


def read_voc(path: Path, image: Raster) -> Annotations:
    """Read one image's file; objects marked as difficult are objects.

    The pixels of a box are counted from 1 and its last ones lie inside: `xmin` 1 and `xmax` 10 are ten columns.

    Raises:
        InputError: it cannot be read, or an object lacks its class or its box.
    """
    text = read_text(path)
    if _UNSAFE.search(text):
        raise InputError(f"{path.name} declares a document type, which no annotation needs. Next: remove it.")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - a document that declares a type was refused
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(
            f"{path.name}, line {line}, column {column + 1}: is not well-formed XML. Next: correct it."
        ) from None
    objects = tuple(_object(path.name, item, number) for number, item in enumerate(root.iter("object"), start=1))
    return Annotations("VOC", names_of(objects), objects, _about_another(root, path, image))


def _about_another(root: ElementTree.Element, path: Path, image: Raster) -> tuple[str, ...]:
    named = (root.findtext("filename") or "").strip()
    if named and Path(named).stem != image.path.stem:
        return (f"{path.name} says that it is about {named}, not about {image.path.name}.",)
    return ()


def _object(name: str, item: ElementTree.Element, number: int) -> Annotated:
    category = (item.findtext("name") or "").strip()
    if not category:
        raise InputError(f"{name}, object {number}: has no name. Next: give its class.")
    return Annotated(str(number), class_name(category), _outline(name, item, number))


def _outline(name: str, item: ElementTree.Element, number: int) -> BaseGeometry:
    oriented, upright = item.find("robndbox"), item.find("bndbox")
    if oriented is not None:
        numbers = [_number(oriented, f"{axis}_{corner}") for corner in CORNERS for axis in "xy"]
    else:
        numbers = [_number(upright, key) for key in ("xmin", "ymin", "xmax", "ymax")]
    if not all(map(math.isfinite, numbers)):
        raise InputError(
            f"{name}, object {number}: has no box of four numbers (xmin, ymin, xmax, ymax) or of four corners. "
            "Next: correct it."
        )
    if oriented is not None:
        return quadrilateral([value - 0.5 for value in numbers])
    x0, y0, x1, y1 = numbers
    return shapely.box(x0 - 1, y0 - 1, x1, y1)


def _number(box: ElementTree.Element | None, key: str) -> float:
    try:
        return float((None if box is None else box.findtext(key)) or "")
    except ValueError:
        return math.nan
