"""Whole images through models that see a tile: overlapping tiles, blended scores, no seams.

Scores are 8-bit and weights are whole numbers, so that where tiles agree the blend is exactly what each of them says,
whatever their size and place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import SwathError
from swath.raster.room import let_go, room

ByteImage = NDArray[np.uint8]
Read = Callable[[slice, slice], ByteImage]
Predict = Callable[[ByteImage], NDArray[np.floating[Any]]]
Progress = Callable[[int, int], None]

SURE = 255
STRIP_PX = 2**22


@dataclass(frozen=True)
class Tiling:
    """How an image is cut.

    Attributes:
        side_px: side of a tile.
        margin_px: what is dropped along the inner edges of a tile, where a model lacks what lies beyond.
        ramp_px: over which two tiles blend.
        multiple_px: the model takes sides that are multiples of this.
        offset_px: moves the inner tiles; results must not depend on it.
    """

    side_px: int = 512
    margin_px: int = 16
    ramp_px: int = 32
    multiple_px: int = 32
    offset_px: int = 0

    def __post_init__(self) -> None:
        if self.step_px < 1 or self.side_px % self.multiple_px:
            raise ValueError(f"tiles of {self.side_px} px cannot overlap by {self.overlap_px} px")

    @property
    def overlap_px(self) -> int:
        """Least overlap of neighbouring tiles."""
        return 2 * self.margin_px + self.ramp_px

    @property
    def step_px(self) -> int:
        """Largest distance between neighbouring tiles."""
        return self.side_px - self.overlap_px

    def starts(self, length: int) -> list[int]:
        """First pixels of the tiles along an axis; the last tile ends with the image."""
        if length <= self.side_px:
            return [0]
        last = length - self.side_px
        inner = range(self.step_px - self.offset_px % self.step_px, last, self.step_px)
        return sorted({0, *inner, last})

    def weights(self, start: int, size: int, length: int) -> NDArray[np.uint32]:
        """(size,) whole weights of a tile's pixels along an axis: 0 in the margin, rising over the ramp.

        The image's own edges keep their full weight: no other tile sees more of them.
        """
        from_low = np.arange(size) - self.margin_px + 1
        from_high = from_low[::-1]
        low = from_low if start > 0 else np.full(size, self.ramp_px)
        high = from_high if start + size < length else np.full(size, self.ramp_px)
        found: NDArray[np.uint32] = np.minimum(low, high).clip(0, max(self.ramp_px, 1)).astype(np.uint32)
        return found


def blended(
    shape: tuple[int, int],
    channels: int,
    read: Read,
    predict: Predict,
    tiling: Tiling = Tiling(),
    progress: Progress | None = None,
) -> ByteImage:
    """Scores of a whole image.

    Args:
        shape: (rows, columns) of the image.
        channels: of the model's output.
        read: (rows, columns, 3) uint8 of a window; one stretch for all windows.
        predict: an image whose sides are multiples of `multiple_px` to (channels, rows, columns) scores from 0 to 1.
        tiling: how the image is cut.
        progress: told how many tiles of how many are done.

    Returns:
        (channels, rows, columns) uint8, 255 = 1.

    Raises:
        SwathError: a tile's scores are no numbers from 0 to 1: no hole is left in their place.
    """
    rows, cols = shape
    result = room((channels, rows, cols), np.uint8)
    row_starts, col_starts = tiling.starts(rows), tiling.starts(cols)
    height, width = min(tiling.side_px, rows), min(tiling.side_px, cols)
    total = np.zeros((channels, height, cols), np.uint32)
    weight = np.zeros((height, cols), np.uint32)
    done = 0
    for i, top in enumerate(row_starts):
        by_row = tiling.weights(top, height, rows)
        for left in col_starts:
            window = slice(top, top + height), slice(left, left + width)
            tile = _scores(read(*window), channels, predict, tiling, window)
            both = by_row[:, None] * tiling.weights(left, width, cols)[None, :]
            total[:, :, left : left + width] += tile * both
            weight[:, left : left + width] += both
            done += 1
            if progress is not None:
                progress(done, len(row_starts) * len(col_starts))
        final = (row_starts[i + 1] if i + 1 < len(row_starts) else rows) - top
        for channel, sums in enumerate(total):
            result[channel, top : top + final] = (sums[:final] + weight[:final] // 2) // weight[:final]
            _move_up(sums, final)
        _move_up(weight, final)
        let_go(result)
    return result


def _scores(
    image: ByteImage, channels: int, predict: Predict, tiling: Tiling, window: tuple[slice, slice]
) -> NDArray[np.uint32]:
    height, width = image.shape[:2]
    pads = [(0, -height % tiling.multiple_px), (0, -width % tiling.multiple_px), (0, 0)]
    found = predict(np.pad(image, pads, mode="symmetric"))[:, :height, :width]
    if found.shape != (channels, height, width) or not ((found >= -1e-3) & (found <= 1 + 1e-3)).all():
        rows, cols = window
        raise SwathError(
            f"The model's scores for the tile at row {rows.start}, column {cols.start} are no numbers from 0 to 1, so "
            "the image is not segmented at all. Next: check the model and the activation that its card states."
        )
    scores: NDArray[np.uint32] = np.rint(found.clip(0, 1) * SURE).astype(np.uint32)
    return scores


def _move_up(array: NDArray[np.uint32], by: int) -> None:
    kept = array.shape[0] - by
    array[:kept] = array[by:].copy()
    array[kept:] = 0


@dataclass(frozen=True)
class Axis:
    """Linear interpolation along one axis: each new pixel lies between two old ones.

    The places follow from the whole axis, never from a window of it, so that windows fit together exactly.
    """

    old: int
    new: int

    def reach(self, part: slice) -> slice:
        """The old pixels between which a part of the new ones lies."""
        low, high, _ = self.taps(part)
        return slice(int(low[0]), int(high[-1]) + 1)

    def taps(self, part: slice) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
        """Indices of the two old pixels and the weight of the second, for a part of the new ones."""
        at = ((np.arange(part.start, part.stop) + 0.5) * (self.old / self.new) - 0.5).clip(0, self.old - 1)
        low = np.floor(at).astype(np.intp)
        return low, np.minimum(low + 1, self.old - 1), (at - low).astype(np.float32)


def interpolated(
    image: NDArray[Any], axes: tuple[Axis, Axis], rows: slice, cols: slice, first: tuple[int, int] = (0, 0)
) -> NDArray[np.float32]:
    """A window of an image brought to another number of pixels.

    Args:
        image: (old rows, old columns, ...), or the part of it that begins at `first`.
        axes: of rows and columns.
        rows: the window, in new pixels.
        cols: the same.
        first: old (row, column) at which `image` begins.
    """
    low, high, part = axes[0].taps(rows)
    tail = (1,) * (image.ndim - 2)
    share = part.reshape(-1, 1, *tail)
    lines = image[low - first[0]] * (1 - share) + image[high - first[0]] * share
    low, high, part = axes[1].taps(cols)
    share = part.reshape(1, -1, *tail)
    found = lines[:, low - first[1]] * (1 - share) + lines[:, high - first[1]] * share
    return found.astype(np.float32)


def strips(rows: int, cols: int) -> Iterator[slice]:
    """Parts of an image from top to bottom, of about `STRIP_PX` pixels each."""
    height = max(STRIP_PX // cols, 1)
    for top in range(0, rows, height):
        yield slice(top, min(top + height, rows))
