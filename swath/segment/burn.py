"""Which pixels an outline covers: those whose centre lies inside; a line or a point covers every pixel it touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from rasterio.features import rasterize
from shapely.geometry.base import BaseGeometry

BoolImage = NDArray[np.bool_]


def covered(outline: BaseGeometry, shape: tuple[int, int], *, areal: bool) -> tuple[BoolImage, int, int]:
    """The pixels of one outline, cut out by its box.

    Args:
        outline: in pixel coordinates, inside the image.
        shape: (rows, columns) of the image.
        areal: whether pixel centres count, else every touched pixel.

    Returns:
        (pixels, first row, first column); no pixel where the outline lies between centres.
    """
    x0, y0, x1, y1 = shapely.bounds(outline)
    left, top = (int(np.clip(np.floor(low), 0, size - 1)) for low, size in ((x0, shape[1]), (y0, shape[0])))
    right = int(np.clip(np.ceil(x1), left + 1, shape[1]))
    bottom = int(np.clip(np.ceil(y1), top + 1, shape[0]))
    local = shapely.transform(outline, lambda xy: xy - (left, top))
    pixels = rasterize([local], out_shape=(bottom - top, right - left), dtype="uint8", all_touched=not areal) > 0
    return pixels, top, left


def burn(outlines: Sequence[BaseGeometry], shape: tuple[int, int], *, areal: bool) -> BoolImage:
    """(rows, columns) bool: the pixels of all outlines together.

    An outline that covers no pixel centre keeps the pixel that holds a point of it, so that no object vanishes.

    Args:
        outlines: in pixel coordinates, inside the image.
        shape: (rows, columns) of the image.
        areal: whether pixel centres count, else every touched pixel.
    """
    if not len(outlines):
        return np.zeros(shape, dtype=bool)
    numbered = [(outline, number) for number, outline in enumerate(outlines, start=1)]
    numbers = rasterize(numbered, out_shape=shape, dtype="int32", all_touched=not areal)
    mask: BoolImage = numbers > 0
    seen = np.zeros(len(outlines) + 1, dtype=bool)
    seen[numbers] = True
    for index in np.flatnonzero(~seen[1:]).tolist():
        # hidden under later outlines, or between pixel centres
        if not covered(outlines[index], shape, areal=areal)[0].any():
            mask[held_by(outlines[index], shape)] = True
    return mask


def held_by(outline: BaseGeometry, shape: tuple[int, int]) -> tuple[int, int]:
    """(row, column) of the pixel that holds a point of an outline."""
    point: Any = shapely.point_on_surface(outline)
    return min(max(int(point.y), 0), shape[0] - 1), min(max(int(point.x), 0), shape[1] - 1)
