"""Runs of pixels: where values change along the rows of an image, and sets of pixels as what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.signedinteger[Any]]

BLOCK_PX = 2**20
"""Pixels that are compared at a time: they and what comes of it stay in the cache."""


def place_type(rows: int, cols: int) -> type[np.signedinteger[Any]]:
    """The type that counts the pixels of an image: 4 bytes while they suffice."""
    return np.int32 if rows * cols < 2**31 else np.int64


@dataclass(frozen=True, eq=False)
class Stretches:
    """Runs of pixels, in order; two that touch are one.

    Attributes:
        start: (m,) first pixel of each run, counted along the rows of the image.
        stop: (m,) one past its last pixel, in the same row.
    """

    start: Places
    stop: Places

    def within(self, rows: slice, cols: int) -> Stretches:
        """Those in some rows of an image with so many columns."""
        own = in_rows(self.start, rows, cols)
        return Stretches(self.start[own], self.stop[own])

    def moved(self, places: int) -> Stretches:
        """The same, some places further on."""
        return Stretches(self.start.astype(np.int64) + places, self.stop.astype(np.int64) + places)

    def meet(self, start: Places, stop: Places) -> NDArray[np.bool_]:
        """(m,) bool: which of some other runs share a pixel with one of these.

        Args:
            start: (m,) first pixel of each.
            stop: (m,) one past its last pixel.
        """
        if not len(self.start):
            return np.zeros(len(start), dtype=bool)
        i = np.searchsorted(self.stop, start, side="right")
        return (i < len(self.start)) & (self.start.take(i, mode="clip") < stop)


def in_rows(start: Places, rows: slice, cols: int) -> slice:
    """Which of some places in order lie in some rows.

    Args:
        start: (m,) places, counted along the rows of an image.
        rows: of the image.
        cols: its columns.
    """
    last = np.iinfo(start.dtype).max  # rows further on hold none of these places
    ends = np.array([min(row * cols, last) for row in (rows.start, rows.stop)], dtype=start.dtype)  # no conversion
    begin, end = np.searchsorted(start, ends).tolist()
    return slice(begin, end)


def in_full(rows: slice, cols: int) -> Stretches:
    """All pixels of some rows."""
    start = np.arange(rows.start, rows.stop, dtype=place_type(rows.stop, cols)) * cols
    return Stretches(start, start + cols)


def one_after_another(parts: Sequence[Stretches]) -> Stretches:
    """Runs of rows that follow each other."""
    return Stretches(np.concatenate([part.start for part in parts]), np.concatenate([part.stop for part in parts]))


def changes(block: NDArray[Any], width: int) -> NDArray[np.int64]:
    """(k,) places of a contiguous (rows, columns) block at which another value than before begins.

    Args:
        block: the values.
        width: a row's first place, and every so many further on, are among them anyway.
    """
    (rows, cols), flat = block.shape, block.reshape(-1)
    step = max(BLOCK_PX // max(cols, 1), 1)
    differs, found = np.empty((min(step, rows), cols), dtype=bool), [np.zeros(0, dtype=np.int64)]
    for top in range(0, rows, step):
        part = flat[top * cols : (top + step) * cols]
        here = differs.reshape(-1)[: len(part)]
        np.not_equal(part[1:], part[:-1], out=here[1:])
        here.reshape(-1, cols)[:, ::width] = True
        found.append(np.flatnonzero(here) + top * cols)
    return np.concatenate(found)


def united(start: Places, stop: Places, cols: int) -> Stretches:
    """Runs in order, those that touch within a row being made one.

    Args:
        start: (m,) first pixel of each.
        stop: (m,) one past its last pixel.
        cols: columns of the image.
    """
    if not len(start):
        return Stretches(start, stop)
    gap = start[1:] - stop[:-1]
    apart = (gap > 0) | ((gap == 0) & (start[1:] % cols == 0))
    return Stretches(start[np.append(True, apart)], stop[np.append(apart, True)])


def union(start: Places, stop: Places, cols: int) -> Stretches:
    """Runs in any order that may overlap, as runs in order.

    Args:
        start: (m,) first pixel of each.
        stop: (m,) one past its last pixel.
        cols: columns of the image.
    """
    order = np.argsort(start)
    start, furthest = start[order], np.maximum.accumulate(stop[order])
    return united(start, furthest, cols)


def without(one: Stretches, other: Stretches) -> Stretches:
    """The pixels of a set that are not in another, as runs in order."""
    places = np.concatenate([one.start, one.stop, other.start, other.stop])
    steps = np.repeat([1, -1, 2, -2], [len(one.start)] * 2 + [len(other.start)] * 2)
    order = np.argsort(places, kind="stable")
    places, inside = places[order], np.cumsum(steps[order])
    own = np.flatnonzero((inside[:-1] == 1) & (places[:-1] < places[1:]))
    return Stretches(places[own], places[own + 1])
