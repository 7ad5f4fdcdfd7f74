"""How boxes are written, and what they become in pixels: the one place where formats of boxes are converted.

Inside swath a box is `x_min, y_min, x_max, y_max` in pixels, half-open, (0, 0) being the image's outer corner; an
oriented box is its four corners, x and y of each. VRSBench gives corners as fractions of the image's width and height;
its official box is made of them, on a grid of 0 to 100, with everything behind the decimal point cut off. An official
box therefore names the cells that an object touches, the last one included, which is why the official intersection over
union adds 1 to every length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PIXELS, GRID, UNIT = FORMATS = ("pixels-half-open", "0-100-inclusive", "0-1")
"""x_min, y_min, x_max, y_max: in pixels, the last ones outside; in hundredths of the image, the last cells inside; as
shares of its width and height."""

Box = tuple[float, float, float, float]

CELLS = 100
"""Cells of the official grid along each side of an image."""

LONGEST = 18
"""Digits that are read of a number; as a place on the grid it is far outside either way."""

_DIGITS = re.compile(r"[0-9]+")


def scale_of(form: str, width: float, height: float) -> tuple[float, float]:
    """Pixels along x and y to one unit of a format.

    Args:
        form: one of `FORMATS`.
        width: columns of the image.
        height: its rows.
    """
    if form == PIXELS:
        return 1.0, 1.0
    return (width / CELLS, height / CELLS) if form == GRID else (width, height)


def to_px(numbers: Sequence[float], form: str, width: float, height: float) -> Box:
    """A box in pixels, half-open.

    Args:
        numbers: x, y of two opposite corners, in either order.
        form: what they are written in, one of `FORMATS`.
        width: columns of the image.
        height: its rows.
    """
    across, down = scale_of(form, width, height)
    one_more = 1 if form == GRID else 0
    x0, x1 = sorted((numbers[0], numbers[2]))
    y0, y1 = sorted((numbers[1], numbers[3]))
    return x0 * across, y0 * down, (x1 + one_more) * across, (y1 + one_more) * down


def from_px(box: Sequence[float], form: str, width: float, height: float) -> list[float]:
    """A box in another format; what lies outside the image is cut off where the format counts cells.

    Args:
        box: x_min, y_min, x_max, y_max in pixels, half-open.
        form: one of `FORMATS`.
        width: columns of the image.
        height: its rows.
    """
    shares = [value / (height if i % 2 else width) for i, value in enumerate(box)]
    if form == GRID:
        return [float(cell) for cell in cells_of(shares)]
    return shares if form == UNIT else [float(value) for value in box]


def cells_in(text: str) -> list[int] | None:
    """The first four runs of digits in a text, as the official scoring reads it: "12.5" is 12 and 5, "-3" is 3.

    Returns:
        x_min, y_min, x_max, y_max in cells, the last ones included; None where there are fewer than four.
    """
    found = _DIGITS.findall(text)[:4]
    return [int(digits[:LONGEST]) for digits in found] if len(found) == 4 else None


def cells_of(corners: Sequence[float]) -> list[int]:
    """The official box of four corners.

    Args:
        corners: x, y of each, as fractions of the image's width and height; what lies outside is cut to the image.
    """
    return [int(bound * CELLS) for bound in _bounds([min(max(value, 0.0), 1.0) for value in corners])]


def official_text(cells: Sequence[int]) -> str:
    """The official spelling of a box, such as "{<25><40><33><60>}"."""
    return "{" + "".join(f"<{cell}>" for cell in cells) + "}"


def box_px(corners: Sequence[float], width: int, height: int) -> list[float]:
    """The horizontal box of four corners, `[x_min, y_min, x_max, y_max]` in pixels, half-open, cut to the image."""
    x0, y0, x1, y1 = _bounds([min(max(value, 0.0), 1.0) for value in corners])
    return [x0 * width, y0 * height, x1 * width, y1 * height]


def corners_px(corners: Sequence[float], width: int, height: int) -> list[float]:
    """Four corners in pixels, x and y of each, in the order given and not cut to the image."""
    return [value * (height if i % 2 else width) for i, value in enumerate(corners)]


def _bounds(corners: Sequence[float]) -> tuple[float, float, float, float]:
    xs, ys = corners[::2], corners[1::2]
    return min(xs), min(ys), max(xs), max(ys)
