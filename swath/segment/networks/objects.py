"""Touching objects told apart: each starts where a network sees a middle and grows within the class."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.segment.networks.card import Roofs
from swath.segment.protocol import BoolImage
from swath.segment.tiling import SURE, ByteImage, let_go

Ids = NDArray[np.int32]
WINDOW_PX = 2048


def told_apart(mask: BoolImage, centre: ByteImage, border: ByteImage, rule: Roofs) -> Ids:
    """Ids of the objects of a class.

    A start is an 8-connected patch where the centre's score less the border's reaches `rule.seed`. Every pixel of the
    class belongs to the start that floods it first, from high centres to low ones; a patch of the class without any
    start is one object.

    Args:
        mask: (rows, columns) bool, the class.
        centre: (rows, columns) uint8 scores, 255 = 1.
        border: the same.
        rule: seed and smallest start.

    Returns:
        (rows, columns) int32, positive exactly where `mask` is.
    """
    height = np.asarray(cv2.subtract(centre, border), np.uint8)
    begun, count = starts(mask, height, rule)
    ids = flooded(begun, height, mask)
    alone = (mask & (ids == 0)).astype(np.uint8)
    _, rest = cv2.connectedComponents(alone, connectivity=8, ltype=cv2.CV_32S)
    return np.where(rest > 0, rest + count, ids).astype(np.int32)


def starts(mask: BoolImage, height: ByteImage, rule: Roofs) -> tuple[Ids, int]:
    """Where objects start: ids from 1 on, and how many."""
    high = ((height >= np.uint8(round(rule.seed * SURE))) & mask).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(high, connectivity=8, ltype=cv2.CV_32S)
    kept = stats[:, cv2.CC_STAT_AREA] >= rule.smallest_px
    kept[0] = False
    numbers = np.zeros(count, np.int32)
    numbers[kept] = np.arange(1, int(kept.sum()) + 1)
    return numbers[labels], int(kept.sum())


def number_of(mask: BoolImage, centre: ByteImage, border: ByteImage, rule: Roofs) -> int:
    """How many objects there are once patches without a start are dropped, without growing them."""
    begun, count = starts(mask, np.asarray(cv2.subtract(centre, border), np.uint8), rule)
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
        begun, _ = starts(mask, np.asarray(cv2.subtract(part[rule.centre], part[rule.border]), np.uint8), rule)
        labels, small, started = _patches(mask, begun, rule)
        dropped = (small & ~started)[labels]
        inside = tuple(slice(a.start - b.start, a.stop - b.start) for a, b in zip(core, whole, strict=True))
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


def flooded(starts: Ids, height: ByteImage, mask: BoolImage) -> Ids:
    """Starts grown within a mask, from high ground to low."""
    if not starts.any():
        return starts
    from skimage.segmentation import watershed

    found: Ids = watershed(255 - height.astype(np.int16), starts, connectivity=2, mask=mask).astype(np.int32)
    return found


def onto(ids: Ids, mask: BoolImage) -> Ids:
    """Ids brought to the grid of a mask by nearest neighbour; mask pixels that none reached take the nearest id.

    Args:
        ids: (other rows, other columns) int32.
        mask: (rows, columns) bool.
    """
    rows, cols = (
        np.minimum((np.arange(new) + 0.5) * old / new, old - 1).astype(np.intp)
        for new, old in zip(mask.shape, ids.shape, strict=True)
    )
    moved = ids if ids.shape == mask.shape else ids[rows[:, None], cols[None, :]]
    moved = np.where(mask, moved, 0).astype(np.int32)
    lost = mask & (moved == 0)
    if lost.any():
        if not moved.any():
            return np.asarray(cv2.connectedComponents(mask.astype(np.uint8), connectivity=8, ltype=cv2.CV_32S)[1])
        from scipy.ndimage import distance_transform_edt

        near = distance_transform_edt(moved == 0, return_distances=False, return_indices=True)
        moved[lost] = moved[near[0][lost], near[1][lost]]
    return moved
