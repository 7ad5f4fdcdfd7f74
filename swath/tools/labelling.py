"""Telling objects apart by pixel: connected components and instance ids, as runs.

Components are found strip by strip, by linking runs that touch or, where there are many, by OpenCV, and united across
the seams, so that no temporary is as large as the image. What was measured is in design/kernels.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.parallel import mapped
from swath.raster.room import let_go
from swath.raster.stretches import Places, in_rows, place_type
from swath.raster.tiled import PixelSet, TiledPixels
from swath.tools.blocks import row_blocks, strips_of
from swath.tools.runs import BoolImage, Runs

MOST_RUNS = 50_000_000
"""Runs of the objects of an image that is held in tiles: they take 12 bytes each, and a while 8 more."""

LINKED_PER_PX = 0.02
"""Runs for each pixel of a strip up to which linking runs takes less time than labelling pixels: 0.1 us and 2 ns."""

Pairs = tuple[Places, Places]


def component_runs(pixels: PixelSet, connectivity: int) -> Runs:
    """Connected components, in reading order of their first pixels.

    Args:
        pixels: (rows, columns).
        connectivity: 4 or 8.
    """
    shape = (pixels.shape[0], pixels.shape[1])
    starts, stops, owners = [], [], []
    seams: list[Pairs] = []
    above: _Strip | None = None
    total, runs = 0, 0
    for group in mapped(lambda rows: _labelled(pixels, rows, connectivity), _strips(pixels)):
        for strip in group:
            if above is not None:
                seams.append(_meeting(above, strip, connectivity, total))
            above = strip
            starts.append(strip.start)
            stops.append(strip.stop)
            owners.append(strip.owner + np.int32(total))
            total += strip.found
            runs += len(strip.start)
        if runs > MOST_RUNS and isinstance(pixels, TiledPixels):
            raise Refused(
                f"The objects are too ragged to be held: more than {MOST_RUNS:,} runs of pixels in an image of "
                f"{shape[0]:,} x {shape[1]:,}. Next: ask about a part of it that is cut out."
            )
    rank, count = _numbered(total, _joined(seams))
    owner = _emptied(owners)
    np.take(rank, owner, out=owner, mode="clip")  # in place: the other modes make a copy
    return Runs(_emptied(starts), _emptied(stops), owner, count, shape)


def _emptied(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Arrays one after the other; each of them is let go of as it is copied."""
    whole = np.empty(sum(map(len, parts)), dtype=np.result_type(*parts))
    end = 0
    for i, part in enumerate(parts):
        whole[end : end + len(part)] = part
        end += len(part)
        parts[i] = whole[:0]
    return whole


def _strips(pixels: PixelSet) -> list[slice]:
    """Rows for one thread each: a row of tiles, so that no two threads compute or unpack the same tile."""
    return strips_of(pixels) if isinstance(pixels, TiledPixels) else list(row_blocks(pixels.shape[0]))


@dataclass(frozen=True)
class _Strip:
    """Components of some rows.

    Attributes:
        start: (m,) first places of their runs, in order.
        stop: (m,) places behind their last.
        owner: (m,) components from 0 on, numbered by their first runs.
        found: how many components.
        rows: the rows.
        cols: columns of the image.
    """

    start: Places
    stop: Places
    owner: Places
    found: int
    rows: slice
    cols: int

    def row(self, row: int) -> tuple[Places, Places, Places]:
        """Columns where the runs of one row begin and end, and their components."""
        own = in_rows(self.start, slice(row, row + 1), self.cols)
        return self.start[own] - row * self.cols, self.stop[own] - row * self.cols, self.owner[own]


def _labelled(pixels: PixelSet, rows: slice, connectivity: int) -> list[_Strip]:
    """Components of some rows: of all of them at once where their runs are known, else of a few rows at a time."""
    known = pixels.runs(rows) if isinstance(pixels, TiledPixels) else None
    if known is not None:
        return [_linked(known.start, known.stop, rows, pixels.shape[1], connectivity)]
    blocks = (slice(rows.start + own.start, rows.start + own.stop) for own in row_blocks(rows.stop - rows.start))
    return [_block_labelled(np.ascontiguousarray(pixels[own]), own, connectivity) for own in blocks]


def _block_labelled(block: BoolImage, rows: slice, connectivity: int) -> _Strip:
    cols = block.shape[1]
    start, stop = value_runs(block, rows.start)
    if len(start) <= LINKED_PER_PX * block.size:
        return _linked(start, stop, rows, cols, connectivity)
    owner, found = _looked_up(block, start - rows.start * cols, connectivity)
    return _Strip(start, stop, owner, found, rows, cols)


def _linked(start: Places, stop: Places, rows: slice, cols: int, connectivity: int) -> _Strip:
    """Components of runs, by those that touch."""
    first = start - rows.start * cols
    first += first // cols  # a column between the rows: the end of one does not touch the beginning of the next
    last = first + (stop - start)
    above, below = _touching(first, last, first - (cols + 1), last - (cols + 1), connectivity)
    owner, found = _numbered(len(start), (above, below))
    return _Strip(start, stop, owner, found, rows, cols)


def _looked_up(block: BoolImage, first: Places, connectivity: int) -> tuple[NDArray[np.int32], int]:
    """Components that runs belong to, by labelling every pixel; the places of the runs' first pixels are given."""
    found, labels = cv2.connectedComponents(block.view(np.uint8), connectivity=connectivity, ltype=cv2.CV_32S)
    owner = labels.reshape(-1)[first] - 1
    seen = np.empty(found - 1, dtype=np.int32)
    seen[owner[::-1]] = np.arange(len(owner) - 1, -1, -1)  # of equal indices the last assignment stays: the first run
    rank = np.empty(found - 1, dtype=np.int32)
    rank[np.argsort(seen)] = np.arange(found - 1, dtype=np.int32)
    return rank[owner], found - 1


def instance_runs(ids: NDArray[np.integer[Any]], pixels: PixelSet) -> Runs:
    """Objects told apart by pixel, in the order of their ids; 0 and below is no object.

    Args:
        ids: (rows, columns) integers.
        pixels: (rows, columns) bool: what lies outside is no object either.
    """
    shape = (ids.shape[0], ids.shape[1])
    starts, stops, values = zip(*(_instances(ids, pixels, rows) for rows in row_blocks(shape[0])), strict=True)
    present, owner = np.unique(np.concatenate(values), return_inverse=True)
    return Runs(np.concatenate(starts), np.concatenate(stops), owner.astype(np.int32), len(present), shape)


def _instances(
    ids: NDArray[np.integer[Any]], pixels: PixelSet, rows: slice
) -> tuple[Places, Places, NDArray[np.integer[Any]]]:
    """Start, stop and id of the runs of some rows."""
    block = np.where(pixels[rows], ids[rows], 0)
    let_go(ids)
    start, stop = value_runs(block, rows.start)
    return start, stop, block.reshape(-1)[start - rows.start * block.shape[1]]


def mask_runs(pixels: PixelSet) -> Runs:
    """All pixels of a mask as one object."""
    shape = (pixels.shape[0], pixels.shape[1])
    parts = mapped(lambda rows: value_runs(pixels[rows], rows.start), row_blocks(shape[0]))
    starts, stops = zip(*parts, strict=True)
    start, stop = np.concatenate(starts), np.concatenate(stops)
    return Runs(start, stop, np.zeros(len(start), dtype=np.int32), 1, shape)


def value_runs(block: NDArray[Any], first_row: int) -> tuple[Places, Places]:
    """Start and stop in the image of the runs of equal values above 0, or of true ones, in a block of rows."""
    return _places(*_edges(block), block.shape, first_row)


def _edges(block: NDArray[Any]) -> tuple[Places, Places]:
    """Start and stop of the runs of equal values above 0 in a block whose rows have one column more than are seen."""
    rows, cols = block.shape
    # A column of zeros between the rows ends every run at its row's end.
    padded = np.zeros(rows * (cols + 1) + 1, dtype=block.dtype)
    padded[1:].reshape(rows, cols + 1)[:, :cols] = block
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    if block.dtype == bool:
        return edges[::2], edges[1::2]
    begins = np.flatnonzero(padded[1:][edges] > 0)
    return edges[begins], edges[begins + 1]


def _places(start: Places, stop: Places, shape: tuple[int, ...], first_row: int) -> tuple[Places, Places]:
    """Places in the image of runs of a block with one column more than its shape says."""
    rows, cols = shape
    shift = first_row * cols - start // (cols + 1)
    dtype = place_type(first_row + rows, cols)
    return (start + shift).astype(dtype), (stop + shift).astype(dtype)


def _touching(
    above_start: Places, above_stop: Places, below_start: Places, below_stop: Places, connectivity: int
) -> Pairs:
    """Which runs above touch which runs below, given by places that are equal where one lies under the other."""
    corners = connectivity == 8
    first = np.searchsorted(above_stop, below_start, side="left" if corners else "right")
    many = np.searchsorted(above_start, below_stop, side="right" if corners else "left") - first
    below = np.repeat(np.arange(len(below_start)), many)
    return np.arange(len(below)) + np.repeat(first - np.cumsum(many) + many, many), below


def _meeting(above: _Strip, below: _Strip, connectivity: int, total: int) -> Pairs:
    """Components that touch across the seam between two strips; `total` precede those of the lower one."""
    upper_start, upper_stop, upper_owner = above.row(below.rows.start - 1)
    lower_start, lower_stop, lower_owner = below.row(below.rows.start)
    i, j = _touching(upper_start, upper_stop, lower_start, lower_stop, connectivity)
    return upper_owner[i] + (total - above.found), lower_owner[j] + total


def _joined(seams: list[Pairs]) -> Pairs:
    nothing = np.zeros(0, dtype=np.int64)
    above, below = (np.concatenate([nothing, *(seam[k] for seam in seams)]) for k in (0, 1))
    return above, below


def _numbered(total: int, pairs: Pairs) -> tuple[NDArray[np.int32], int]:
    """(total,) numbers of the groups that pairs unite, in the order of their smallest members; how many there are."""
    root = _roots(total, *pairs)
    smallest = root == np.arange(total)
    return (np.cumsum(smallest, dtype=np.int32) - np.int32(1))[root], int(np.count_nonzero(smallest))


def _roots(total: int, above: Places, below: Places) -> NDArray[np.int32]:
    """(total,) the smallest member of each one's group, pairs being in one group (Shiloach and Vishkin 1982).

    Args:
        total: number of members.
        above: one of each pair.
        below: the other, which is larger.
    """
    root = np.arange(total, dtype=np.int32)
    root[below[::-1]] = above[::-1]  # leads upwards only, so that there are no circles
    while True:
        while not np.array_equal(root, higher := root[root]):
            root = higher
        above, below = root[above], root[below]
        apart = above != below
        if not apart.any():
            return root
        above, below = np.minimum(above, below)[apart], np.maximum(above, below)[apart]
        np.minimum.at(root, below, above)
