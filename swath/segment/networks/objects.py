"""Touching objects told apart: each starts where a network sees a middle and grows within the class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.raster.pixel_sets import window_of_set
from swath.raster.room import let_go, room
from swath.raster.tiled import PixelSet
from swath.segment.networks.card import Roofs
from swath.segment.protocol import BoolImage
from swath.segment.tiling import SURE, ByteImage, strips

Ids = NDArray[np.int32]
WINDOW_PX = 2048
REACH_PX = 256
"""What is seen around a window; roofs are smaller."""


def told_apart(mask: PixelSet, centre: ByteImage, border: ByteImage, rule: Roofs) -> Ids:
    """Ids of the objects of a class.

    A start is an 8-connected patch where the centre's score less the border's, smoothed by `rule.smooth_px`, reaches
    `rule.seed`. Every pixel of the class belongs to the start that floods it first, from high centres to low ones; a
    patch of the class without any start is one object. Starts are found on the whole image and flood window by window,
    so an object may lie across windows, but what is connected to a start only by way of more than `REACH_PX` beyond a
    window is another object.

    Args:
        mask: (rows, columns) bool, the class.
        centre: (rows, columns) uint8 scores, 255 = 1.
        border: the same.
        rule: seed, smallest start and smoothing.

    Returns:
        (rows, columns) int32, positive exactly where `mask` is; in a temporary file where that is large.
    """
    shape = (mask.shape[0], mask.shape[1])

    def height(rows: slice, cols: slice) -> ByteImage:
        found = heights(centre, border, (rows, cols), rule)
        let_go(centre)
        let_go(border)
        return found

    begun = united(shape, lambda *part: _high(window_of_set(mask, *part), height(*part), rule))
    numbers, count = _numbered(begun.sizes_px >= rule.smallest_px)
    ids = room(shape, np.int32)
    for core, whole in _windows(shape, REACH_PX):
        found = flooded(numbers[begun.window(*whole)], height(*whole), window_of_set(mask, *whole))
        ids[core] = found[_inside(core, whole)]
        for array in (ids, begun.labels):
            let_go(array)
    _name_the_rest(ids, mask, count)
    return ids


def heights(centre: ByteImage, border: ByteImage, part: tuple[slice, slice], rule: Roofs) -> ByteImage:
    """(rows, columns) uint8 of a window: the centre's score less the border's, smoothed; the same in any window.

    Args:
        centre: (rows, columns) uint8 scores, 255 = 1.
        border: the same.
        part: rows and columns of the window.
        rule: how wide it is smoothed.
    """
    margin = ceil(4 * rule.smooth_px)
    whole = tuple(
        slice(max(own.start - margin, 0), min(own.stop + margin, size))
        for own, size in zip(part, centre.shape, strict=True)
    )
    found = cv2.subtract(np.ascontiguousarray(centre[whole]), np.ascontiguousarray(border[whole]))
    if not rule.smooth_px:
        return np.asarray(found, np.uint8)
    side = 2 * ceil(3 * rule.smooth_px) + 1
    smooth = cv2.GaussianBlur(found, (side, side), rule.smooth_px)
    return np.asarray(smooth[_inside(part, (whole[0], whole[1]))], np.uint8)


def _name_the_rest(ids: Ids, mask: PixelSet, count: int) -> None:
    """Make every patch of a mask that has no id an object, numbered after `count`."""

    def left(rows: slice, cols: slice) -> BoolImage:
        found: BoolImage = window_of_set(mask, rows, cols) & (ids[rows, cols] == 0)
        let_go(ids)
        return found

    rest = united((mask.shape[0], mask.shape[1]), left)
    if len(rest.sizes_px) == 1:
        return
    for rows in strips(*ids.shape):
        found = rest.window(rows, slice(None))
        ids[rows] += np.where(found > 0, found + np.int32(count), 0).astype(np.int32)
        let_go(ids)
        let_go(rest.labels)


@dataclass(frozen=True, eq=False)
class Patches:
    """The 8-connected patches of an image of any size.

    Attributes:
        labels: (rows, columns) int32 of patches strip by strip, 0 = none; in a temporary file where that is large.
        numbers: (n + 1,) the patch of each label, from 1 on.
        sizes_px: (m + 1,) pixels of each patch; the first is no patch.
    """

    labels: Ids
    numbers: Ids
    sizes_px: NDArray[np.int64]

    def window(self, rows: slice, cols: slice) -> Ids:
        """(rows, columns) int32: the patches in a window, 0 = none."""
        return self.numbers[self.labels[rows, cols]]


def united(shape: tuple[int, int], window: Callable[[slice, slice], BoolImage]) -> Patches:
    """Patches found strip by strip and united across the seams.

    Args:
        shape: (rows, columns) of the image.
        window: from rows and columns to the pixels there.
    """
    labels = room(shape, np.int32)
    sizes, pairs, total = [np.zeros(1, np.int64)], [np.zeros((0, 2), np.int32)], 0
    above = np.zeros(shape[1], np.int32)
    for rows in strips(*shape):
        strip = window(rows, slice(0, shape[1])).astype(np.uint8)
        count, found, stats, _ = cv2.connectedComponentsWithStats(strip, connectivity=8, ltype=cv2.CV_32S)
        own = np.where(found > 0, found + np.int32(total), 0).astype(np.int32)
        labels[rows] = own
        let_go(labels)
        pairs.append(_touching(above, own[0]))
        sizes.append(stats[1:, cv2.CC_STAT_AREA].astype(np.int64))
        above, total = own[-1].copy(), total + count - 1
    numbers = _joined(np.concatenate(pairs), total)
    sizes_px = np.bincount(numbers, np.concatenate(sizes)).astype(np.int64)
    return Patches(labels, numbers, sizes_px)


def _touching(above: Ids, below: Ids) -> Ids:
    """(k, 2) labels of two neighbouring rows that touch by a side or a corner."""
    width = len(above)
    both = [
        np.column_stack([above[max(-by, 0) : width - max(by, 0)], below[max(by, 0) : width - max(-by, 0)]])
        for by in (-1, 0, 1)
    ]
    pairs = np.concatenate(both)
    return np.unique(pairs[(pairs > 0).all(1)], axis=0)


def _joined(pairs: Ids, count: int) -> Ids:
    """(count + 1,) from labels to numbers from 1 on, those of a pair having the same; 0 stays 0."""
    if not len(pairs):
        return np.arange(count + 1, dtype=np.int32)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), bool), tuple(pairs.T - 1)), shape=(count, count))
    return np.concatenate([[0], connected_components(graph, directed=False)[1] + 1]).astype(np.int32)


def starts(mask: BoolImage, height: ByteImage, rule: Roofs) -> tuple[Ids, int]:
    """Where objects start: ids from 1 on, and how many."""
    high = _high(mask, height, rule).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(high, connectivity=8, ltype=cv2.CV_32S)
    numbers, count = _numbered(stats[:, cv2.CC_STAT_AREA] >= rule.smallest_px)
    return numbers[labels], count


def _high(mask: BoolImage, height: ByteImage, rule: Roofs) -> BoolImage:
    return np.asarray((height >= np.uint8(round(rule.seed * SURE))) & mask)


def _numbered(kept: NDArray[np.bool_]) -> tuple[Ids, int]:
    """Numbers from 1 on for what is kept, 0 for the rest and for what comes first; and how many there are."""
    kept = kept.copy()
    kept[0] = False
    return np.where(kept, np.cumsum(kept), 0).astype(np.int32), int(kept.sum())


def number_of(mask: BoolImage, centre: ByteImage, border: ByteImage, rule: Roofs) -> int:
    """How many objects there are once patches without a start are dropped, without growing them."""
    whole = slice(0, mask.shape[0]), slice(0, mask.shape[1])
    begun, count = starts(mask, heights(centre, border, whole, rule), rule)
    _, small, started = _patches(mask, begun, rule)
    return count + int((~small & ~started)[1:].sum())


def give_away_specks(channels: ByteImage, classes: int, index: int, rule: Roofs) -> None:
    """Lower a class's scores to just below its strongest rival's on small patches in which no object starts.

    In windows that overlap by more than the largest of these patches. What one window leaves of a patch for the next is
    as small and as empty, so the result does not depend on them.

    Args:
        channels: (channels, rows, columns) uint8, all that a network says, 255 = 1; changed in place.
        classes: how many of the channels, from the first on, are classes.
        index: of the class.
        rule: seed, smallest start, smallest patch.
    """
    others = [i for i in range(classes) if i != index]
    for core, whole in _windows((channels.shape[1], channels.shape[2]), rule.smallest_alone_px):
        part = channels[:, *whole]
        rival = part[others].max(0) if others else SURE - part[index]
        mask = part[index] >= rival
        begun, _ = starts(mask, heights(channels[rule.centre], channels[rule.border], whole, rule), rule)
        labels, small, started = _patches(mask, begun, rule)
        dropped = (small & ~started)[labels]
        inside = _inside(core, whole)
        lower = np.minimum(part[index], np.maximum(rival, 1) - 1)[inside]
        channels[index, *core] = np.where(dropped[inside], lower, part[index][inside])
        let_go(channels)


def _patches(mask: BoolImage, begun: Ids, rule: Roofs) -> tuple[Ids, NDArray[np.bool_], NDArray[np.bool_]]:
    """Patches of a mask, and of each whether it is too small to stand alone and whether an object starts in it."""
    count, found, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8, ltype=cv2.CV_32S)
    labels = np.asarray(found, np.int32)
    small = stats[:, cv2.CC_STAT_AREA] < rule.smallest_alone_px
    small[0] = False
    started = np.zeros(count, bool)
    started[np.unique(labels[begun > 0])] = True
    return labels, small, started


def _windows(shape: tuple[int, int], reach: int) -> Iterator[tuple[tuple[slice, slice], tuple[slice, slice]]]:
    """Parts that make up an image, each with `reach` pixels around it."""
    rows, cols = shape
    for top in range(0, rows, WINDOW_PX):
        for left in range(0, cols, WINDOW_PX):
            core = slice(top, min(top + WINDOW_PX, rows)), slice(left, min(left + WINDOW_PX, cols))
            whole = tuple(
                slice(max(part.start - reach, 0), min(part.stop + reach, size))
                for part, size in zip(core, shape, strict=True)
            )
            yield core, (whole[0], whole[1])


def _inside(core: tuple[slice, slice], whole: tuple[slice, slice]) -> tuple[slice, slice]:
    """Where a window's core lies in it."""
    rows, cols = (slice(a.start - b.start, a.stop - b.start) for a, b in zip(core, whole, strict=True))
    return rows, cols


def flooded(starts: Ids, height: ByteImage, mask: BoolImage) -> Ids:
    """Starts grown within a mask, from high ground to low."""
    if not starts.any():
        return starts
    from skimage.segmentation import watershed

    found: Ids = watershed(255 - height.astype(np.int16), starts, connectivity=2, mask=mask).astype(np.int32)
    return found


def onto(ids: Ids, mask: PixelSet) -> Ids:
    """Ids brought to the grid of a mask by nearest neighbour.

    Mask pixels that none reached take the nearest id within `REACH_PX`; patches without any near are objects of
    their own.

    Args:
        ids: (other rows, other columns) int32.
        mask: (rows, columns) bool.
    """
    shape = (mask.shape[0], mask.shape[1])
    rows, cols = (
        np.minimum((np.arange(new) + 0.5) * old / new, old - 1).astype(np.intp)
        for new, old in zip(shape, ids.shape, strict=True)
    )
    moved, highest = room(shape, np.int32), 0
    for core, whole in _windows(shape, REACH_PX):
        near = ids[rows[whole[0]][:, None], cols[whole[1]][None, :]]
        found = _nearest(near, window_of_set(mask, *whole))
        highest = max(highest, int(found.max(initial=0)))
        moved[core] = found[_inside(core, whole)]
        let_go(moved)
        let_go(ids)
    _name_the_rest(moved, mask, highest)
    return moved


def _nearest(ids: Ids, mask: BoolImage) -> Ids:
    """Ids where a mask is; its pixels without one take the nearest, where there is any."""
    moved = np.where(mask, ids, 0).astype(np.int32)
    lost = mask & (moved == 0)
    if lost.any() and moved.any():
        from scipy.ndimage import distance_transform_edt

        near = distance_transform_edt(moved == 0, return_distances=False, return_indices=True)
        moved[lost] = moved[near[0][lost], near[1][lost]]
    return moved
