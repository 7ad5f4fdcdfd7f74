"""The pixels within a distance of a target, tile by tile: each run of its edge pixels is drawn out by a disc.

Exact, for pixels that are equal rectangles. A tile looks no further than the distance asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swath.raster.ground import Ground
from swath.raster.stretches import Stretches, union, without
from swath.tools.labelling import value_runs
from swath.tools.runs import BoolImage, IntArray

SLACK = 1e-9
"""Relative slack of "within D", so that a distance that equals D is within it in floating point too."""

EXACT_PX = 1000.0
"""Up to here the squared distances of square pixels are known as whole numbers: OpenCV's float32 distances are off by
6e-8 of their length, which rounds to the right whole number up to 2,051 px."""

CHUNK = 2**20
"""Stretches that are drawn at a time: 60 MB."""

RUNS_DRAWN = 2**18
"""Stretches up to which they are sorted rather than drawn: 25 MB for each thread."""


@dataclass(frozen=True)
class Disc:
    """The steps from a pixel to those within a distance.

    Attributes:
        rows: (k,) row steps, in order.
        reach: (k,) largest column step to either side.
    """

    rows: IntArray
    reach: IntArray

    @property
    def reach_px(self) -> tuple[int, int]:
        """Largest row step and largest column step; -1 of a disc that holds nothing."""
        return (int(self.rows[-1]), int(self.reach.max())) if len(self.rows) else (-1, -1)


def is_square(ground: Ground) -> bool:
    """Whether row steps and column steps have one length."""
    column_m, row_m = ground.size_xy_m
    return abs(row_m / column_m - 1) < SLACK


def disc(limit_m: float, ground: Ground, furthest_px: int) -> Disc:
    """The disc of a distance, the limit included.

    Args:
        limit_m: the distance; below 0 for none.
        ground: equal rectangles.
        furthest_px: row and column steps beyond this do not matter.
    """
    column_m, row_m = ground.size_xy_m
    if limit_m < 0:
        return Disc(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    down = int(min(np.floor(limit_m / row_m) + 1, furthest_px))
    rows = np.arange(-down, down + 1)
    limit = limit_m / column_m
    if is_square(ground) and limit <= EXACT_PX:
        squared = int(np.floor(limit**2 * (1 + 2 * SLACK)))
        left = squared - rows.astype(np.int64) ** 2
        rows, left = rows[left >= 0], left[left >= 0]
        return Disc(rows, np.floor(np.sqrt(left.astype(float))).astype(np.int64))
    longest = limit_m * (1 + SLACK)
    rows = rows[np.abs(rows) * row_m <= longest]
    reach = np.minimum(np.sqrt(np.maximum(longest**2 - (rows * row_m) ** 2, 0.0)) / column_m, furthest_px)
    reach = np.floor(reach).astype(np.int64)
    reach += np.hypot((reach + 1) * column_m, rows * row_m) <= longest
    reach -= np.hypot(reach * column_m, rows * row_m) > longest
    return Disc(rows[reach >= 0], reach[reach >= 0])


@dataclass(frozen=True)
class Strokes:
    """Runs of target pixels, and the steps of a disc by which each is drawn out.

    Attributes:
        row: (m,) row of each run.
        first: (m,) its first column.
        lengths: (m,) its pixels.
        near: how far they reach.
    """

    row: IntArray
    first: IntArray
    lengths: IntArray
    near: Disc

    @property
    def count(self) -> int:
        """How many stretches will be drawn."""
        return len(self.row) * len(self.near.rows)


def strokes_of(block: BoolImage, near: Disc) -> list[Strokes]:
    """What has to be drawn to find all that a target reaches.

    A pixel above another one of the target reaches no row below that the other does not reach as far: downwards only
    the lowest pixels of a shape count, upwards only the highest.

    Args:
        block: (rows, columns) the target.
        near: how far it reaches.
    """
    lowest, highest = block.copy(), block.copy()
    lowest[:-1] &= ~block[1:]
    highest[1:] &= ~block[:-1]
    found = []
    for pixels, steps in ((block, near.rows == 0), (lowest, near.rows > 0), (highest, near.rows < 0)):
        start, stop = value_runs(pixels, 0)
        row, first = np.divmod(start.astype(np.int64), block.shape[1])
        found.append(Strokes(row, first, (stop - start).astype(np.int64), Disc(near.rows[steps], near.reach[steps])))
    return found


def run_strokes_of(target: Stretches, near: Disc, cols: int) -> list[Strokes]:
    """The same of a target that is given by its runs.

    Args:
        target: its runs, rows of an image with so many columns.
        near: how far it reaches.
        cols: columns of the image.
    """
    lowest, highest = (without(target, target.moved(step * cols)) for step in (-1, 1))
    found = []
    for runs, steps in ((target, near.rows == 0), (lowest, near.rows > 0), (highest, near.rows < 0)):
        row, first = np.divmod(runs.start.astype(np.int64), cols)
        lengths = (runs.stop - runs.start).astype(np.int64)
        found.append(Strokes(row, first, lengths, Disc(near.rows[steps], near.reach[steps])))
    return found


def reach_of(target: Stretches, near: Disc, rows: slice, cols: int) -> Stretches | None:
    """The pixels of some rows that a target reaches, as runs; None where too many would have to be drawn.

    Args:
        target: its runs in all rows from which these are reached.
        near: how far it reaches.
        rows: of the image.
        cols: its columns.
    """
    if len(target.start) > RUNS_DRAWN:  # each is drawn at least once; sorting them all would take too much room
        return None
    strokes = run_strokes_of(target, near, cols)
    if sum(stroke.count for stroke in strokes) > RUNS_DRAWN:
        return None
    starts, stops = [], []
    for stroke in strokes:
        row = (stroke.row[:, None] + stroke.near.rows).ravel()
        first = stroke.first[:, None]
        left = np.maximum(first - stroke.near.reach, 0).ravel()
        right = np.minimum(first + stroke.lengths[:, None] + stroke.near.reach, cols).ravel()
        seen = (row >= rows.start) & (row < rows.stop)
        starts.append((row * cols + left)[seen])
        stops.append((row * cols + right)[seen])
    return union(np.concatenate(starts), np.concatenate(stops), cols)


def drawn_out(strokes: Sequence[Strokes], row: int, col: int, shape: tuple[int, int]) -> BoolImage:
    """The pixels of a window that a target reaches.

    Args:
        strokes: of the target.
        row: row of the target's first row, counted from the window's; it may lie outside.
        col: its first column, counted likewise.
        shape: (rows, columns) of the window.
    """
    height, width = shape
    # One column more than the window has: where a run ends that reaches its edge.
    change = np.zeros((height, width + 1), dtype=np.int32)
    for stroke in strokes:
        _draw(change.reshape(-1), stroke, row, col, shape)
    return np.ascontiguousarray(np.cumsum(change, axis=1, dtype=np.int32)[:, :width] > 0)


def _draw(change: NDArray[np.int32], stroke: Strokes, row: int, col: int, shape: tuple[int, int]) -> None:
    """Count up where stretches begin and down where they end."""
    (height, width), near = shape, stroke.near
    step = max(CHUNK // max(len(near.rows), 1), 1)
    for begin in range(0, len(stroke.row), step):
        part = slice(begin, begin + step)
        at = (stroke.row[part, None] + (near.rows[None] + row)).ravel()
        first = stroke.first[part, None] + col
        left = (first - near.reach[None]).ravel().clip(0, width)
        right = (first + stroke.lengths[part, None] + near.reach[None]).ravel().clip(0, width)
        seen = (at >= 0) & (at < height) & (left < right)
        base = at[seen] * (width + 1)
        np.add.at(change, base + left[seen], 1)
        np.subtract.at(change, base + right[seen], 1)
