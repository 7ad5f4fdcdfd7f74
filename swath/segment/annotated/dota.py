"""DOTA's text files: a line of eight corner numbers, class and difficulty for each object of one image."""

from __future__ import annotations

import math
import re
from pathlib import Path

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.annotated.objects import Annotated, Annotations, class_name, names_of, quadrilateral
from swath.segment.rows import read_text

CORNER_NUMBERS = 8
_HEADER = re.compile(r"(imagesource|gsd)\s*:\s*(\S*)", re.IGNORECASE)
_GRID_HEADER = re.compile(r"\s*(ncols|nrows)\b", re.IGNORECASE)


def is_dota(path: Path, head: str) -> bool:
    """Whether a file is taken for one of DOTA's: a text file that is no Esri ASCII grid."""
    return path.suffix.lower() == ".txt" and not _GRID_HEADER.match(head)


def read_dota(path: Path, image: Raster) -> Annotations:
    """Read one image's text file; objects marked as difficult are objects.

    Raises:
        InputError: it cannot be read, or a line is neither a header nor an object.
    """
    objects: list[Annotated] = []
    warnings: tuple[str, ...] = ()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        header = _HEADER.match(line.strip())
        if header and header[1].lower() == "gsd":
            warnings = _pixel_size_unused(path.name, header[2], image)
        elif line.strip() and not header:
            objects.append(_object(path.name, number, line.split(), len(objects) + 1))
    return Annotations("DOTA", names_of(objects), tuple(objects), warnings)


def _object(name: str, number: int, words: list[str], running: int) -> Annotated:
    corners = [_finite(word) for word in words[:CORNER_NUMBERS]]
    if len(words) not in (CORNER_NUMBERS + 1, CORNER_NUMBERS + 2) or math.nan in corners:
        raise InputError(
            f"{name}, line {number}: is no object of a DOTA file, which is eight numbers in pixels (x and y of four "
            "corners), a class and perhaps a difficulty, with blanks between. Next: correct the line."
        )
    return Annotated(str(running), class_name(words[CORNER_NUMBERS]), quadrilateral(corners))


def _finite(word: str) -> float:
    """The number that a word is; `math.nan` itself where it is none."""
    try:
        value = float(word)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _pixel_size_unused(name: str, stated: str, image: Raster) -> tuple[str, ...]:
    size = _finite(stated)
    if image.grid.ground is not None or not size > 0:
        return ()
    return (f"{name} states a pixel size of {size:.4g} m, which was not used. Next: give it as --gsd {size:.4g}.",)
