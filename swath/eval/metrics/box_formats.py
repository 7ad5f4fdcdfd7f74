"""Boxes as people and models say them: found in texts, their format told, and turned to pixels for a case's image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case
from swath.raster.reader import open_raster
from swath.segment import boxes
from swath.segment.boxes import FORMATS, GRID, PIXELS, Box

_NUMBER = r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?![\w])"
_RUN = re.compile(rf"{_NUMBER}(?:[\s,;|<>()\[\]]+{_NUMBER})*")


def numbers_said(given: Any, lengths: Sequence[int]) -> list[float] | str:
    """The one list of numbers in an answer, or why there is no such one.

    Args:
        given: a list of numbers, a list of such lists, or a text: "{<23><40><31><52>}" or "[0.1, 0.2, 0.3, 4]".
        lengths: how many numbers it may have.
    """
    found = [run for run in _lists_in(given) if len(run) in lengths]
    if len(found) == 1:
        return found[0]
    wanted = " or ".join(map(str, lengths))
    return f"{str(given)[:60]!r} holds {len(found) or 'no'} {'lists' if len(found) > 1 else 'list'} of {wanted} numbers"


def _lists_in(given: Any) -> list[list[float]]:
    if isinstance(given, str):
        return [[float(number) for number in re.findall(_NUMBER, run)] for run in _RUN.findall(given)]
    if not isinstance(given, list | tuple):
        return []
    if all(isinstance(item, int | float) and not isinstance(item, bool) for item in given):
        return [[float(item) for item in given]]
    return [inner for item in given for inner in _lists_in(item)]


def format_of(case: Case, given: Any) -> str:
    """The format of a predicted box: angle brackets mean 0-100, lists are pixels, other texts are as the case says.

    Raises:
        InputError: the case's extras name no known format under `box_format`.
    """
    if not isinstance(given, str):
        return PIXELS
    if re.search(r"<\s*[\d.+-]", given):
        return GRID
    named = str(case.extras.get("box_format", PIXELS))
    if named not in FORMATS:
        raise InputError(f'Case {case.id}: there is no box format "{named}". Next: choose one of {", ".join(FORMATS)}.')
    return named


def scale_of(case: Case, form: str) -> tuple[float, float]:
    """Pixels along x and y to one unit of a format; the image's size is asked for only where it matters.

    Raises:
        InputError: see `size_of`.
    """
    return boxes.scale_of(form, *_size_where_needed(case, form))


def _size_where_needed(case: Case, form: str) -> tuple[float, float]:
    return (1.0, 1.0) if form == PIXELS else size_of(case)


def size_of(case: Case) -> tuple[float, float]:
    """Width and height of a case's image in pixels: as its extras say (`size_px`), else as the image does.

    Raises:
        InputError: the extras do not say and the image cannot be read.
    """
    if "size_px" in case.extras:
        width, height = case.extras["size_px"]
        return float(width), float(height)
    return _size_of_image(case.image)


@lru_cache(maxsize=4096)
def _size_of_image(image: Path) -> tuple[float, float]:
    rows, cols = open_raster(image).shape
    return float(cols), float(rows)


def box_px(case: Case, numbers: Sequence[float], form: str) -> Box:
    """A box in pixels, half-open; corners may come in either order.

    Args:
        case: gives the size of its image.
        numbers: x, y of two opposite corners in a named format.
        form: one of `swath.segment.boxes.FORMATS`.

    Raises:
        InputError: see `size_of`.
    """
    return boxes.to_px(numbers, form, *_size_where_needed(case, form))
