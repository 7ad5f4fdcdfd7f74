"""VRSBench's annotation files: one JSON object per image, corners as fractions of its width and height."""

from __future__ import annotations

import re
from pathlib import Path

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.annotated.objects import Annotated, Annotations, class_name, names_of, quadrilateral
from swath.segment.boxes import corners_px
from swath.segment.lenient import loads
from swath.segment.rows import Row, read_text

FARTHEST = 10.0
"""Corners farther out, in widths of the image, are no fractions but pixels."""

_KEYS = re.compile(r"\bobj_cls\b|\bqa_pairs\b")


def is_vrsbench(path: Path, text: str) -> bool:
    """Whether a file is taken for one of VRSBench's annotations: by the names of its keys."""
    return path.suffix.lower() == ".json" and _KEYS.search(text) is not None


def read_annotation(path: Path) -> Row:
    """One image's annotations.

    Raises:
        InputError: the file cannot be read, or is no JSON object even when read leniently.
    """
    found = loads(read_text(path), path)
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON object. Next: fetch the file anew.")
    return Row(path, "", found)


def read_vrsbench(path: Path, image: Raster) -> Annotations:
    """Read the objects of one annotation file.

    Raises:
        InputError: it cannot be read, or an object lacks class, id or corners.
    """
    annotation = read_annotation(path)
    rows, cols = image.shape
    objects = tuple(_object(item, cols, rows) for item in annotation.objects("objects"))
    named, warnings = annotation.text("image", ""), []
    if named and Path(named).stem != image.path.stem:
        warnings.append(f"{path.name} says that it is about {named}, not about {image.path.name}.")
    return Annotations("VRSBench", names_of(objects), objects, tuple(warnings))


def corners_of(item: Row) -> list[float]:
    """An object's corners as eight fractions of the image's width and height.

    Raises:
        InputError: there are no eight numbers, or they are no fractions.
    """
    corners = item.numbers("obj_corner", 8)
    if not all(abs(value) < FARTHEST for value in corners):
        raise item.fault("obj_corner", "is not given in fractions of the image's width and height")
    return corners


def _object(item: Row, width: int, height: int) -> Annotated:
    outline = quadrilateral(corners_px(corners_of(item), width, height))
    return Annotated(item.identity("obj_id"), class_name(item.text("obj_cls")), outline)
