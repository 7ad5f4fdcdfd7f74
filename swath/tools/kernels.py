"""Areas and outlines of sets of pixels: arrays in, metres out.

Which library serves which kernel was measured; see design/kernels.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from affine import Affine
from numpy.typing import NDArray

from swath.raster.ground import Ground
from swath.tools.runs import Runs, row_blocks

BoolImage = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def pixel_ground(shape: tuple[int, int]) -> Ground:
    """A ground on which a pixel is 1 by 1, for what needs no metres."""
    return Ground((1.0, 0.0), (0.0, 1.0), "pixels", Affine.identity(), shape)


def mask_area_m2(pixels: BoolImage, ground: Ground) -> float:
    """True ground area in m2 of a set of pixels."""
    if ground.uniform:
        return float(np.count_nonzero(pixels) * ground.pixel_area_m2)
    total = 0.0
    for rows in row_blocks(pixels.shape[0]):
        total += float(np.sum(np.broadcast_to(ground.area_m2(rows), pixels[rows].shape), where=pixels[rows]))
    return total


# Marching squares at half level: each 2 x 2 cell of pixel centres holds up to two straight segments between midpoints
# of its sides (row, column): T(op), L(eft), R(ight), B(ottom). Bits: 8 4 / 2 1. At a saddle the foreground connects.
_T, _L, _R, _B = (0.0, 0.5), (0.5, 0.0), (0.5, 1.0), (1.0, 0.5)
_SEGMENTS: dict[int, list[tuple[tuple[float, float], tuple[float, float]]]] = {
    0b1000: [(_T, _L)],
    0b0100: [(_T, _R)],
    0b0010: [(_L, _B)],
    0b0001: [(_R, _B)],
    0b1100: [(_L, _R)],
    0b1010: [(_T, _B)],
    0b1001: [(_T, _R), (_L, _B)],
}
_SEGMENTS |= {0b1111 ^ code: segments for code, segments in _SEGMENTS.items() if code != 0b1001}
_SEGMENTS[0b0110] = [(_T, _L), (_R, _B)]
_BITS = (8, 4, 2, 1)


def _corners(image: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The four pixels of each 2 x 2 cell, in the order of the bits; each (rows - 1, columns - 1)."""
    return image[:-1, :-1], image[:-1, 1:], image[1:, :-1], image[1:, 1:]


def _lengths_m(codes: NDArray[np.unsignedinteger[Any]], rows: IntArray, cols: IntArray, ground: Ground) -> FloatArray:
    """(k,) metres of outline in cells of some codes, whose upper left pixel is at (rows, columns)."""
    lengths = np.zeros(len(codes))
    for code, segments in _SEGMENTS.items():
        here = np.flatnonzero(codes == code)
        at = slice(0, 1) if ground.uniform else slice(None)
        row, col = rows[here][at].astype(np.float64), cols[here][at].astype(np.float64)
        for (row0, col0), (row1, col1) in segments:
            steps = ground.positions_m(row + row1, col + col1) - ground.positions_m(row + row0, col + col0)
            lengths[here] += np.linalg.norm(steps, axis=1)
    return lengths


def outline_m(pixels: BoolImage, valid: BoolImage, ground: Ground) -> float:
    """Length in metres of the outline of a set of pixels, by marching squares at half level.

    The image border and edges to invalid pixels are not outline. Equals the summed length of scikit-image's
    `find_contours(pixels, 0.5, fully_connected="high", mask=valid)`.

    Args:
        pixels: (rows, columns), a subset of `valid`.
        valid: (rows, columns).
        ground: the ground under the grid.
    """
    total = 0.0
    for rows in row_blocks(pixels.shape[0], overlap=1):
        upper_left, upper_right, lower_left, lower_right = _corners(pixels[rows].view(np.uint8))
        codes = (upper_left << 3) | (upper_right << 2) | (lower_left << 1) | lower_right
        codes *= np.logical_and.reduce(_corners(valid[rows]))
        if ground.uniform:
            every = np.arange(16, dtype=np.uint8)
            none = np.zeros(16, dtype=np.int64)
            total += float(np.bincount(codes.ravel(), minlength=16) @ _lengths_m(every, none, none, ground))
        else:
            row, col = np.nonzero((codes > 0) & (codes < 15))
            total += float(_lengths_m(codes[row, col], row + rows.start, col, ground).sum())
    return total


def longest_detour(ground: Ground) -> float:
    """How many times longer than a straight edge its marching squares may be.

    They run along rows, columns and both diagonals only. An edge midway between two of these directions that lie an
    angle apart is overstated by 1 / cos(angle / 2): by 8.24 % on square pixels, by 17.6 % on pixels of 2 to 1.
    """
    column, row = np.array(ground.column_m), np.array(ground.row_m)
    right, down = np.array([column, row, column + row, column - row]).T
    angles = np.sort(np.arctan2(down, right) % np.pi)
    apart = np.diff(angles, append=angles[0] + np.pi)
    return float(1 / np.cos(apart.max() / 2))


def outline_px(pixels: BoolImage, valid: BoolImage) -> float:
    """Length of the outline in pixel sides, for images without a ground size; see `outline_m`."""
    return outline_m(pixels, valid, pixel_ground((pixels.shape[0], pixels.shape[1])))


def object_outlines_m(objects: Runs, valid: BoolImage | None, ground: Ground) -> FloatArray:
    """(n,) lengths in metres of the outlines of objects that do not overlap, each as if it were alone.

    Args:
        objects: they may touch each other.
        valid: (rows, columns); None for whole outlines, image border and edges to invalid pixels included.
        ground: the ground under the grid.
    """
    total = np.zeros(objects.count)
    margin = 1 if valid is None else 0
    for rows in row_blocks(objects.shape[0] + 2 * margin, overlap=1):
        corners = _corners(_framed(objects, rows.start - margin, rows.stop - margin, margin))
        mixed = (corners[0] != corners[1]) | (corners[0] != corners[2]) | (corners[0] != corners[3])
        if valid is not None:
            mixed &= np.logical_and.reduce(_corners(valid[rows]))
        row, col = np.nonzero(mixed)
        cell = [corner[row, col] for corner in corners]
        for k, own in enumerate(cell):
            code = np.sum([(other == own) * np.uint8(bit) for other, bit in zip(cell, _BITS, strict=True)], axis=0)
            new = (own > 0) & np.logical_and.reduce([own != other for other in cell[:k]], axis=0)
            lengths = _lengths_m(code[new], row[new] + (rows.start - margin), col[new] - margin, ground)
            total += np.bincount(own[new] - 1, lengths, minlength=objects.count)
    return total


def _framed(objects: Runs, first: int, last: int, margin: int) -> NDArray[np.int32]:
    """Rows of a label image with a margin of zeros around the image."""
    inside = objects.labels(slice(max(first, 0), min(last, objects.shape[0])))
    return np.pad(inside, ((max(-first, 0), max(last - objects.shape[0], 0)), (margin, margin)))
