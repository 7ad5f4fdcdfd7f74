"""The two ways in which VRSBench states where an object is, and what they become in pixels.

Corners are eight fractions of the image's width and height; the official box is made of them, on a grid of 0 to 100,
with everything behind the decimal point cut off. An official box therefore names the cells that an object touches, the
last one included, which is why the official intersection over union adds 1 to every length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

GRID = 100
"""Cells of the official grid along each side of an image."""

LONGEST = 18
"""Digits that are read of a number; as a place on the grid it is far outside either way."""

_DIGITS = re.compile(r"[0-9]+")


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
    return [int(bound * GRID) for bound in _bounds([min(max(value, 0.0), 1.0) for value in corners])]


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
