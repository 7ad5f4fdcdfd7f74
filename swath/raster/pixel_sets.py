"""Sets of pixels of an image, whether they are arrays or held in tiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swath.raster.tiled import BoolImage, Compute, PixelSet, TiledPixels


def by_window(like: PixelSet, compute: Compute) -> PixelSet:
    """A set of pixels computed window by window: tiled where another set of the same image is, else at once.

    Args:
        like: any set of pixels of the image.
        compute: from rows and columns to the pixels there, or one truth value for all of them.
    """
    if isinstance(like, TiledPixels):
        return like.derived(compute)
    made = compute(*whole_of(like))
    return np.full(like.shape, made) if isinstance(made, bool) else made


def whole_of(pixels: PixelSet) -> tuple[slice, slice]:
    """All rows and all columns."""
    return slice(0, pixels.shape[0]), slice(0, pixels.shape[1])


def window_of_set(pixels: PixelSet, rows: slice, cols: slice) -> BoolImage:
    """(rows, columns) bool of a window; it may be read-only."""
    return pixels.window(rows, cols) if isinstance(pixels, TiledPixels) else pixels[rows, cols]


def any_of(windows: Sequence[BoolImage | bool]) -> BoolImage | bool:
    """The union of some windows of one place; of none of them nothing."""
    found: BoolImage | bool = False
    for window in windows:
        found = window if found is False else True if found is True or window is True else found | window
    return found


def number_of(pixels: PixelSet) -> int:
    """How many pixels are in a set."""
    return pixels.sum() if isinstance(pixels, TiledPixels) else int(np.count_nonzero(pixels))
