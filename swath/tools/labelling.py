"""Telling objects apart by pixel: connected components and instance ids, as runs.

Components are labelled strip by strip by OpenCV and united across the seams, so that no temporary is as large as the
image; which library serves which kernel was measured, see design/kernels.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.parallel import mapped
from swath.raster.tiled import PixelSet, TiledPixels
from swath.tools.runs import Runs, place_type, row_blocks

MOST_RUNS = 50_000_000
"""Runs of the objects of an image that is held in tiles: they take 12 bytes each, and a while 8 more."""

Places = NDArray[np.signedinteger[Any]]


def component_runs(pixels: PixelSet, connectivity: int) -> Runs:
    """Connected components, in reading order of their first pixels.

    Args:
        pixels: (rows, columns).
        connectivity: 4 or 8.
    """
    shape = (pixels.shape[0], pixels.shape[1])
    starts, stops, owners, seams = [], [], [], []
    total, runs, above = 0, 0, None
    for strip in mapped(lambda rows: _labelled(pixels, rows, connectivity), row_blocks(shape[0])):
        owners.append(strip.owner + np.int32(total - 1))
        starts.append(strip.start)
        stops.append(strip.stop)
        below = np.where(strip.first > 0, strip.first + (total - 1), -1)
        if above is not None:
            seams.append(_meeting(above, below, connectivity))
        above = np.where(strip.last > 0, strip.last + (total - 1), -1)
        total += strip.found
        runs += len(strip.start)
        if runs > MOST_RUNS and isinstance(pixels, TiledPixels):
            raise Refused(
                f"The objects are too ragged to be held: more than {MOST_RUNS:,} runs of pixels in an image of "
                f"{shape[0]:,} x {shape[1]:,}. Next: ask about a part of it that is cut out."
            )
    owner, count = _united(np.concatenate(owners), total, seams)
    del owners
    start = np.concatenate(starts)
    del starts
    return Runs(start, np.concatenate(stops), owner, count, shape)


@dataclass(frozen=True)
class _Strip:
    """Components of some rows: their runs with labels from 1 on, the first and the last row of labels."""

    start: Places
    stop: Places
    owner: Places
    first: Places
    last: Places
    found: int


def _labelled(pixels: PixelSet, rows: slice, connectivity: int) -> _Strip:
    block = np.ascontiguousarray(pixels[rows]).view(np.uint8)
    found, labels = cv2.connectedComponents(block, connectivity=connectivity, ltype=cv2.CV_32S)
    start, stop = value_runs(block, rows.start)
    owner = labels.reshape(-1)[start - rows.start * block.shape[1]]
    return _Strip(start, stop, owner, labels[0].copy(), labels[-1].copy(), found - 1)


def instance_runs(ids: NDArray[np.integer[Any]]) -> Runs:
    """Objects told apart by pixel, in the order of their ids; 0 and below is no object."""
    shape = (ids.shape[0], ids.shape[1])
    parts = [(*value_runs(ids[rows], rows.start), rows) for rows in row_blocks(shape[0])]
    start, stop = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    present, owner = np.unique(ids.reshape(-1)[start], return_inverse=True)
    return Runs(start, stop, owner.astype(np.int32), len(present), shape)


def mask_runs(pixels: PixelSet) -> Runs:
    """All pixels of a mask as one object."""
    shape = (pixels.shape[0], pixels.shape[1])
    parts = mapped(lambda rows: value_runs(pixels[rows].view(np.uint8), rows.start), row_blocks(shape[0]))
    starts, stops = zip(*parts, strict=True)
    start, stop = np.concatenate(starts), np.concatenate(stops)
    return Runs(start, stop, np.zeros(len(start), dtype=np.int32), 1, shape)


def value_runs(block: NDArray[Any], first_row: int) -> tuple[Places, Places]:
    """Start and stop in the image of the runs of equal values above 0 in a block of rows."""
    rows, cols = block.shape
    # A column of zeros between the rows ends every run at its row's end.
    padded = np.zeros(rows * (cols + 1) + 1, dtype=block.dtype)
    padded[1:].reshape(rows, cols + 1)[:, :cols] = block
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    begins = np.flatnonzero(padded[1:][edges] > 0)
    start, stop = edges[begins], edges[begins + 1]
    shift = first_row * cols - start // (cols + 1)
    dtype = place_type(first_row + rows, cols)
    return (start + shift).astype(dtype), (stop + shift).astype(dtype)


def _meeting(above: Places, below: Places, connectivity: int) -> Places:
    """(k, 2) components that meet across a seam between two rows."""
    pairs = [np.column_stack([above, below])]
    if connectivity == 8:
        pairs += [np.column_stack([above[1:], below[:-1]]), np.column_stack([above[:-1], below[1:]])]
    joined = np.concatenate(pairs)
    joined = joined[(joined >= 0).all(axis=1)]
    again = (joined[1:] == joined[:-1]).all(axis=1)  # neighbours along the seam are mostly of the same two components
    return np.asarray(joined[np.append(True, ~again)[: len(joined)]])


def _united(owner: Places, total: int, seams: list[Places]) -> tuple[NDArray[np.int32], int]:
    """Components of strips united across their seams, numbered in the order of their first runs; how many there are."""
    root = _roots(total, np.concatenate([np.zeros((0, 2), dtype=np.int32), *seams]))
    owner = root[owner]
    first = np.full(total, len(owner), dtype=np.int32)
    first[owner[::-1]] = np.arange(len(owner) - 1, -1, -1)  # of equal indices the last assignment stays: the first run
    rank = np.empty(total, dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(total, dtype=np.int32)
    return rank[owner], int(np.count_nonzero(root == np.arange(total)))


def _roots(total: int, pairs: Places) -> NDArray[np.int32]:
    """(total,) the smallest member of each one's group, pairs being in one group (Shiloach and Vishkin 1982)."""
    root = np.arange(total, dtype=np.int32)
    while len(pairs):
        ends = np.sort(root[pairs], axis=1)
        ends = ends[ends[:, 0] != ends[:, 1]]
        np.minimum.at(root, ends[:, 1], ends[:, 0])
        while not np.array_equal(root, above := root[root]):
            root = above
        pairs = ends
    return root
