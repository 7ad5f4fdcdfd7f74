"""Outlines of a whole image: pictures that overlap, each outline whole in one of them, each pixel in one outline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.room import room
from swath.segment.networks.objects import Ids
from swath.segment.protocol import BoolImage
from swath.segment.sam.outliner import Boxes, Outlined, Outliner
from swath.segment.tiling import Progress, Read, Tiling

EDGE_PX = 2
"""An outline this near to the edge of a picture that the image goes on behind is cut there."""
LEAST_LEFT = 0.5
"""Share of its own pixels that an outline keeps beside better ones, or it is a duplicate."""


@dataclass(frozen=True, eq=False)
class Objects:
    """What an image was outlined into.

    Attributes:
        ids: (rows, columns) int32, 0 = in no outline.
        count: largest id.
        cut: outlines that were left out because every picture that showed them cut them.
    """

    ids: Ids
    count: int
    cut: int


def pictures(shape: tuple[int, int], side_px: int) -> list[tuple[slice, slice]]:
    """Windows that overlap by a quarter, so that what is smaller than that lies whole in one of them."""
    tiling = Tiling(side_px, margin_px=side_px // 16, ramp_px=side_px // 8, multiple_px=1)
    rows, cols = shape
    return [
        (slice(top, min(top + side_px, rows)), slice(left, min(left + side_px, cols)))
        for top in tiling.starts(rows)
        for left in tiling.starts(cols)
    ]


def outlined(shape: tuple[int, int], read: Read, outliner: Outliner, progress: Progress | None = None) -> Objects:
    """Outline a whole image.

    Args:
        shape: (rows, columns).
        read: (rows, columns, 3) uint8 of a window; one stretch for all.
        outliner: who looks at a picture.
        progress: told how many pictures of how many are done.

    Raises:
        SwathError: a picture cannot be outlined: no hole is left in its place.
    """
    windows = pictures(shape, outliner.side_px)
    whole: list[Outlined] = []
    cut: list[Outlined] = []
    for done, (rows, cols) in enumerate(windows, start=1):
        for one in outliner.everything(read(rows, cols)):
            placed = _moved(one, rows.start, cols.start)
            (cut if _is_cut(placed, (rows, cols), shape) else whole).append(placed)
        if progress is not None:
            progress(done, len(windows))
    ids = room(shape, np.int32)
    count = 0
    for one in sorted(whole, key=lambda one: (-one.quality, one.rows.start, one.cols.start)):
        free = one.pixels & (ids[one.rows, one.cols] == 0)
        if free.any() and free.sum() >= LEAST_LEFT * one.pixels.sum():
            count += 1
            ids[one.rows, one.cols][free] = count
    lost = sum(_mostly_free(one, ids) for one in cut)
    return Objects(ids, count, lost)


def prompted(
    shape: tuple[int, int],
    read: Read,
    side_px: int,
    boxes: Boxes,
    answer: Callable[[Any, Boxes], list[BoolImage]],
) -> Iterator[tuple[slice, slice, BoolImage]]:
    """What each box asks for, in the picture that shows the most around it.

    Args:
        shape: (rows, columns) of the image.
        read: (rows, columns, 3) uint8 of a window.
        side_px: side of a picture; a larger box gets a picture of its own.
        boxes: (n, 4) x_min, y_min, x_max, y_max in pixels of the image; a point is a box without size.
        answer: picture and boxes in it to masks of it.

    Yields:
        For every box, in order, rows and columns of the image and the mask there.
    """
    windows = [_around(box, shape, side_px) for box in boxes]
    found: dict[int, tuple[slice, slice, BoolImage]] = {}
    for window in dict.fromkeys((rows.start, rows.stop, cols.start, cols.stop) for rows, cols in windows):
        rows, cols = slice(*window[:2]), slice(*window[2:])
        mine = [i for i, other in enumerate(windows) if other == (rows, cols)]
        inside = boxes[mine] - np.array([cols.start, rows.start] * 2)
        for i, mask in zip(mine, answer(read(rows, cols), inside), strict=True):
            found[i] = rows, cols, np.asarray(mask, bool)
    yield from (found[i] for i in range(len(boxes)))


def means(ids: Ids, count: int, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """(count + 1,) mean of values over the pixels of each id; of id 0 too."""
    sizes = np.bincount(ids.ravel(), minlength=count + 1)
    sums = np.bincount(ids.ravel(), weights=np.nan_to_num(values).ravel(), minlength=count + 1)
    result: NDArray[np.float64] = sums / np.maximum(sizes, 1)
    return result


def _around(box: NDArray[Any], shape: tuple[int, int], side_px: int) -> tuple[slice, slice]:
    """The window of the grid of pictures that leaves most room around a box, else one of its own."""
    x_min, y_min, x_max, y_max = box
    best, most = None, 0.0
    for rows, cols in pictures(shape, side_px):
        room_px = min(
            x_min - cols.start if cols.start else side_px,
            y_min - rows.start if rows.start else side_px,
            cols.stop - x_max if cols.stop < shape[1] else side_px,
            rows.stop - y_max if rows.stop < shape[0] else side_px,
        )
        if room_px > most:
            best, most = (rows, cols), room_px
    if best is not None:
        return best
    spare = max(x_max - x_min, y_max - y_min) / 4
    return (
        slice(max(int(y_min - spare), 0), min(int(np.ceil(y_max + spare)), shape[0])),
        slice(max(int(x_min - spare), 0), min(int(np.ceil(x_max + spare)), shape[1])),
    )


def _moved(one: Outlined, down: int, right: int) -> Outlined:
    rows = slice(one.rows.start + down, one.rows.stop + down)
    return replace(one, rows=rows, cols=slice(one.cols.start + right, one.cols.stop + right))


def _is_cut(one: Outlined, window: tuple[slice, slice], shape: tuple[int, int]) -> bool:
    for part, picture, length in zip((one.rows, one.cols), window, shape, strict=True):
        if picture.start > 0 and part.start < picture.start + EDGE_PX:
            return True
        if picture.stop < length and part.stop > picture.stop - EDGE_PX:
            return True
    return False


def _mostly_free(one: Outlined, ids: Ids) -> bool:
    return bool((one.pixels & (ids[one.rows, one.cols] == 0)).sum() > LEAST_LEFT * one.pixels.sum())
