"""Objects as horizontal runs of pixels: what a label image says, in a hundredth of its memory.

Everything about an object is summed over its runs; see design/kernels.md for the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.ground import Ground
from swath.raster.parallel import mapped
from swath.raster.stretches import Places, in_rows, place_type
from swath.raster.tiled import PixelSet, TiledPixels
from swath.tools.blocks import columns_of, row_blocks, strips_of

BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CHUNK_RUNS = 2**17
"""Runs handled at a time where a temporary per run is needed: 1 MB each."""

CHUNK_PX = 2**20
"""Pixels that are spelled out one by one at a time."""

FEW_OBJECTS = 64
"""Objects that are taken out of many by a sorted index, which is kept; more of them by going through all runs."""


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Objects as runs of pixels in a row, sorted by their first pixel; objects may overlap.

    Attributes:
        start: (m,) first pixel of each run, counted along the rows of the image.
        stop: (m,) one past its last pixel, in the same row.
        owner: (m,) index of the object that the run belongs to.
        count: number of objects; one without a pixel has no run.
        shape: (rows, columns) of the image.
    """

    start: Places
    stop: Places
    owner: NDArray[np.int32]
    count: int
    shape: tuple[int, int]

    @property
    def lengths(self) -> Places:
        """(m,) pixels of each run."""
        return self.stop - self.start

    @property
    def nbytes(self) -> int:
        """Memory of the arrays, for the budget of a program's handles."""
        return int(self.start.nbytes + self.stop.nbytes + self.owner.nbytes)

    @property
    def places(self) -> IntArray:
        """Every pixel of every object, run by run."""
        return np.concatenate([self.start[:0], *(places for _, places in self._spelled_out())])

    def _parts(self) -> Iterator[Runs]:
        """The runs, some at a time, so that what is computed per run needs little memory."""
        for begin in range(0, len(self.start), CHUNK_RUNS):
            yield self.where(slice(begin, begin + CHUNK_RUNS))

    def _total(self, per_run: Callable[[Runs], NDArray[Any]]) -> FloatArray:
        """(n,) sum over the runs of each object."""
        total = np.zeros(self.count)
        for part in self._parts():
            np.add.at(total, part.owner, per_run(part).astype(np.float64, copy=False))
        return total

    @cached_property
    def sizes_px(self) -> IntArray:
        """(n,) pixels of each object."""
        return self._total(lambda part: part.lengths).astype(np.int64)

    @cached_property
    def boxes(self) -> IntArray:
        """(n, 4) half-open boxes: x_min, y_min, x_max, y_max; zeros for an object without a pixel."""
        boxes = np.zeros((4, self.count), dtype=self.start.dtype)
        boxes[:2] = max(self.shape)
        for part in self._parts():
            row, left = np.divmod(part.start, self.shape[1])
            np.minimum.at(boxes[0], part.owner, left)
            np.minimum.at(boxes[1], part.owner, row)
            np.maximum.at(boxes[2], part.owner, left + part.lengths)
            np.maximum.at(boxes[3], part.owner, row + 1)
        return np.where(self.sizes_px > 0, boxes, 0).T.astype(np.int64)

    @property
    def _middle_x(self) -> FloatArray:
        """(m,) column of the middle of each run; halves are exact in floating point."""
        return np.asarray((self.start % self.shape[1]) + (self.lengths - 1) * 0.5)

    @property
    def _middle_y(self) -> FloatArray:
        """(m,) row of each run."""
        return (self.start // self.shape[1]).astype(float)

    @cached_property
    def centroids_yx(self) -> FloatArray:
        """(n, 2) mean row and column of pixel centres, which are whole numbers; NaN without a pixel."""
        sizes = np.where(self.sizes_px > 0, self.sizes_px, np.nan)
        row = self._total(lambda part: part.lengths * part._middle_y)
        column = self._total(lambda part: part.lengths * part._middle_x)
        return np.column_stack([row / sizes, column / sizes])

    @cached_property
    def moments_xx_xy_yy(self) -> FloatArray:
        """(n, 3) central second moments in pixels, each pixel being a unit square, not a point."""
        y0, x0 = self.centroids_yx.T
        per_run: list[Callable[[Runs], FloatArray]] = [
            lambda part: part.lengths * (part._middle_x - x0[part.owner]) ** 2 + part.lengths.astype(float) ** 3 / 12,
            lambda part: part.lengths * (part._middle_x - x0[part.owner]) * (part._middle_y - y0[part.owner]),
            lambda part: part.lengths * ((part._middle_y - y0[part.owner]) ** 2 + 1 / 12),
        ]
        totals = np.column_stack([self._total(moment) for moment in per_run])
        return np.asarray(totals / np.maximum(self.sizes_px, 1)[:, None])

    def areas_m2(self, ground: Ground) -> FloatArray:
        """(n,) true ground areas in m2."""
        if ground.uniform:
            return self.sizes_px.astype(np.float64) * ground.pixel_area_m2
        total = np.zeros(self.count)
        for rows in row_blocks(self.shape[0]):
            part = self.within(rows)
            block = np.broadcast_to(ground.area_m2(rows), (rows.stop - rows.start, self.shape[1])).ravel()
            np.add.at(total, part.owner, _reduced(np.add, block, part.start, part.stop, rows.start * self.shape[1]))
        return total

    def touches(self, pixels: PixelSet) -> BoolArray:
        """(n,) bool: which objects have a pixel among these."""
        found = np.zeros(self.count, dtype=bool)
        for owners in mapped(lambda strip: self.touching(pixels, strip), strips_of(pixels)):
            found[owners] = True
        return found

    def touching(self, pixels: PixelSet, rows: slice) -> NDArray[np.int32]:
        """Owners of the runs in some rows that have a pixel among these."""
        part = self.within(rows)
        if not isinstance(pixels, TiledPixels):
            return part._hit(pixels[rows], rows.start * self.shape[1])
        row, left = np.divmod(part.start, self.shape[1])
        right, owners = left + part.lengths, [part.owner[:0]]
        for cols in columns_of(pixels) if len(part.start) else ():
            block = pixels.part(rows, cols)
            if block is False:
                continue
            own = np.flatnonzero((left < cols.stop) & (right > cols.start))
            if block is True:
                owners.append(part.owner[own])
                continue
            width = cols.stop - cols.start
            first = (row[own] - rows.start) * width - cols.start
            start, stop = first + np.maximum(left[own], cols.start), first + np.minimum(right[own], cols.stop)
            owners.append(Runs(start, stop, part.owner[own], self.count, block.shape)._hit(block, 0))
        return np.concatenate(owners)

    def _hit(self, block: BoolImage, offset: int) -> NDArray[np.int32]:
        """Owners of the runs that have a pixel in a block, whose first pixel is at the place `offset`."""
        return np.asarray(self.owner[_reduced(np.logical_or, block.reshape(-1), self.start, self.stop, offset)])

    def minimum(self, field: NDArray[np.floating[Any]]) -> FloatArray:
        """(n,) smallest value of an image field over each object's pixels; infinity without a pixel."""
        lowest = np.full(self.count, np.inf)
        np.minimum.at(lowest, self.owner, _reduced(np.minimum, field.reshape(-1), self.start, self.stop))
        return lowest

    def tally(self, codes: NDArray[np.uint8], kinds: int) -> IntArray:
        """(n, kinds) how many of each object's pixels have each code of an image, 0 to `kinds` - 1."""
        flat, counts = codes.reshape(-1), np.zeros(self.count * kinds, dtype=np.int64)
        for run, places in self._spelled_out():
            counts += np.bincount(self.owner[run].astype(np.int64) * kinds + flat[places], minlength=len(counts))
        return counts.reshape(self.count, kinds)

    def pixels(self, image: BoolImage | None = None) -> BoolImage:
        """(rows, columns) bool: the pixels of all objects, added to an image where one is given."""
        image = np.zeros(self.shape, dtype=bool) if image is None else image
        flat = image.reshape(-1)
        for _, places in self._spelled_out():
            flat[places] = True
        return image

    def window(self, rows: slice, cols: slice) -> BoolImage:
        """(rows, columns) bool: the pixels of all objects in a window."""
        inside = self.within(rows)
        row, left = np.divmod(inside.start, self.shape[1])
        right = np.minimum(left + inside.lengths, cols.stop) - cols.start
        left = np.maximum(left, cols.start) - cols.start
        seen = left < right
        width = cols.stop - cols.start
        first = (row[seen].astype(np.int64) - rows.start) * width
        cut = Runs(
            first + left[seen], first + right[seen], inside.owner[seen], self.count, (rows.stop - rows.start, width)
        )
        return cut.pixels()

    def labels(self, rows: slice | None = None, cols: slice | None = None) -> NDArray[np.int32]:
        """A window of the label image: object index + 1, 0 where there is none; of objects that overlap, the last."""
        y0, y1, _ = (rows or slice(None)).indices(self.shape[0])
        image = np.zeros((y1 - y0, self.shape[1]), dtype=np.int32)
        flat = image.reshape(-1)
        inside = self.within(slice(y0, y1))
        for run, places in inside._spelled_out():
            flat[places - y0 * self.shape[1]] = inside.owner[run] + 1
        return image[:, cols or slice(None)]

    def cut(self, index: int) -> tuple[BoolImage, int, int]:
        """One object cut out by its box: (pixels, first row, first column)."""
        one = self.of(np.array([index]))
        x0, y0, x1, y1 = one.boxes[0].tolist()
        pixels = np.zeros((y1 - y0, x1 - x0), dtype=bool)
        row, col = np.divmod(one.places, self.shape[1])
        pixels[row - y0, col - x0] = True
        return pixels, y0, x0

    def of(self, indices: IntArray) -> Runs:
        """Some of the objects, each once, numbered anew in the order given."""
        if len(indices) == self.count and np.array_equal(indices, np.arange(self.count)):
            return self
        if len(indices) > FEW_OBJECTS:
            place = np.full(self.count, -1, dtype=np.int32)
            place[indices] = np.arange(len(indices), dtype=np.int32)
            owner = place[self.owner]
            kept = owner >= 0
            return Runs(self.start[kept], self.stop[kept], owner[kept], len(indices), self.shape)
        first, order = self._by_owner
        sizes = first[indices + 1] - first[indices]
        mine = order[np.repeat(first[indices] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())]
        owner = np.repeat(np.arange(len(indices), dtype=np.int32), sizes)
        again = np.argsort(mine, kind="stable")
        return Runs(self.start[mine[again]], self.stop[mine[again]], owner[again], len(indices), self.shape)

    def where(self, chosen: BoolArray | slice) -> Runs:
        """Some of the runs, of the same objects."""
        return replace(self, start=self.start[chosen], stop=self.stop[chosen], owner=self.owner[chosen])

    def inside(self, valid: PixelSet) -> Runs:
        """The objects without their pixels outside `valid`."""
        places, owners = [self.start[:0]], [self.owner[:0]]
        for run, spelled in self._spelled_out():
            kept = valid[np.divmod(spelled, self.shape[1])]
            places.append(spelled[kept])
            owners.append(self.owner[run[kept]])
        return runs_of_pixels(np.concatenate(places), np.concatenate(owners), self.count, self.shape)

    @cached_property
    def _by_owner(self) -> tuple[IntArray, IntArray]:
        """Where the runs of object i are: `order[first[i] : first[i + 1]]`."""
        order = np.argsort(self.owner, kind="stable")
        return np.concatenate([[0], np.cumsum(np.bincount(self.owner, minlength=self.count))]), order

    def within(self, rows: slice) -> Runs:
        """The runs in some rows, of the same objects."""
        return self.where(in_rows(self.start, rows, self.shape[1]))

    def _spelled_out(self) -> Iterator[tuple[IntArray, IntArray]]:
        """In chunks: for every pixel the index of its run and its own place."""
        ends = np.cumsum(self.lengths)
        begin = 0
        while begin < len(ends):
            done = int(ends[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(ends, done + CHUNK_PX, side="right")), begin + 1)
            lengths = self.lengths[begin:end]
            run = np.repeat(np.arange(begin, end), lengths)
            yield (
                run,
                np.arange(lengths.sum()) + (self.start[begin:end] - (ends[begin:end] - lengths - done))[run - begin],
            )
            begin = end


def _reduced(ufunc: np.ufunc, flat: NDArray[Any], start: IntArray, stop: IntArray, offset: int = 0) -> NDArray[Any]:
    """(m,) a field reduced over each run; the field's first value belongs to the place `offset`."""
    if len(start) == 0:
        return np.zeros(0, dtype=bool if ufunc is np.logical_or else flat.dtype)
    low, high = int(start[0]), int(stop.max())
    part = flat[low - offset : high - offset]
    # `reduceat` takes no index behind the end: runs that reach it get the last value separately.
    edges = np.empty(2 * len(start), dtype=np.intp)
    edges[0::2], edges[1::2] = start - low, np.minimum(stop, high - 1) - low
    reduced: NDArray[Any] = ufunc.reduceat(part, edges)[0::2]
    last = (stop == high) & (stop - start > 1)
    reduced[last] = ufunc(reduced[last], part[-1])
    return reduced


def runs_of_pixels(places: IntArray, owner: NDArray[Any], count: int, shape: tuple[int, int]) -> Runs:
    """Runs from pixels in any order, each with its object; a pixel named twice counts once."""
    size = shape[0] * shape[1]
    keys = np.sort(owner.astype(np.int64) * size + places)  # a plain sort: `np.unique` took 90 times longer
    keys = keys[np.diff(keys, prepend=-1) > 0]
    begins = np.flatnonzero((np.diff(keys, prepend=-2) > 1) | (keys % shape[1] == 0))
    start = keys[begins]
    lengths = np.diff(begins, append=len(keys))
    return sorted_runs(start % size, start % size + lengths, start // size, count, shape)


def sorted_runs(start: IntArray, stop: IntArray, owner: NDArray[Any], count: int, shape: tuple[int, int]) -> Runs:
    """Runs in any order."""
    order, places = np.argsort(start, kind="stable"), place_type(*shape)
    return Runs(start[order].astype(places), stop[order].astype(places), owner[order].astype(np.int32), count, shape)
