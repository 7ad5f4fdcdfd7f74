"""COCO's JSON: boxes or polygons of many images in one file, in pixels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import shapely
from shapely.geometry.base import BaseGeometry

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.annotated.objects import Annotated, Annotations, class_name
from swath.segment.rows import Row, parsed, read_text, shown

_KEYS = re.compile(r'"annotations"\s*:\s*\[')
LEAST_NUMBERS = 6
"""Of a polygon: three corners."""


def is_coco(path: Path, text: str) -> bool:
    """Whether a file is taken for COCO's: a JSON file that holds a list of annotations."""
    return path.suffix.lower() == ".json" and _KEYS.search(text) is not None


def read_coco(path: Path, image: Raster) -> Annotations:
    """Read the objects that a file has for an image; those marked as crowds are no single objects and are left out.

    Raises:
        InputError: it cannot be read, does not name the image, or an object cannot be used.
    """
    found = parsed(read_text(path), path, "")
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON object. Next: fetch the file anew.")
    top = Row(path, "", found)
    names = {row.values.get("id"): class_name(row.text("name")) for row in _keyed(top.objects("categories"))}
    wanted = _image(top, image).values.get("id")
    own = [row for row in top.objects("annotations") if row.values.get("image_id") == wanted]
    single = [row for row in own if not row.values.get("iscrowd")]
    crowds = len(own) - len(single)
    warnings = (f"{crowds} crowds of {path.name} are no single objects and were left out.",) if crowds else ()
    objects = tuple(_object(row, names, number) for number, row in enumerate(single, start=1))
    return Annotations("COCO", tuple(sorted(set(names.values()))), objects, warnings)


def _keyed(rows: list[Row]) -> list[Row]:
    for row in rows:
        row.identity("id")
    return rows


def _image(top: Row, image: Raster) -> Row:
    """What the file says of the image, found by the name of its file."""
    rows, name = _keyed(top.objects("images")), image.path.name
    own = [row for row in rows if Path(row.text("file_name")).name == name]
    if len(own) > 1:
        own = [row for row in own if image.path.as_posix().endswith("/" + row.text("file_name"))]
    if len(own) != 1:
        listed = ", ".join(row.text("file_name") for row in rows[:3])
        raise InputError(
            f"{top.file.name} does not name {name} as one of its {len(rows)} images ({listed} ...). "
            "Next: give the image under its own name, or the file that belongs to it."
        )
    size = own[0].values.get("width"), own[0].values.get("height")
    height, width = image.shape
    if size not in ((width, height), (None, None)):
        raise InputError(
            f"{top.file.name} says that {name} has {size[0]} x {size[1]} pixels, but it has {width} x {height}. "
            "Next: give the image that was annotated."
        )
    return own[0]


def _object(row: Row, names: dict[Any, str], number: int) -> Annotated:
    category = row.values.get("category_id")
    if not isinstance(category, int | str) or category not in names:
        raise row.fault("category_id", f"is {shown(category)}, which is no category of the file")
    score = row.number("score", -1.0)
    identity = row.identity("id") if "id" in row.values else str(number)
    return Annotated(identity, names[category], _outline(row), score if 0 <= score <= 1 else None)


def _outline(row: Row) -> BaseGeometry:
    """The polygons of an object where it has any, else its box."""
    drawn = row.values.get("segmentation")
    if not isinstance(drawn, list) or not drawn:
        x, y, width, height = row.numbers("bbox", 4)
        if width < 0 or height < 0:
            raise row.fault("bbox", "has a negative width or height: it is x, y, width, height")
        return shapely.box(x, y, x + width, y + height)
    return shapely.union_all([_polygon(row, ring) for ring in drawn])


def _polygon(row: Row, ring: Any) -> BaseGeometry:
    length = len(ring) if isinstance(ring, list) else 0
    if length < LEAST_NUMBERS or length % 2:
        raise row.fault("segmentation", "is no list of polygons, each of three corners or more")
    numbers = Row(row.file, row.place, {"segmentation": ring}).numbers("segmentation", length)
    return shapely.make_valid(shapely.Polygon(list(zip(numbers[::2], numbers[1::2], strict=True))))
