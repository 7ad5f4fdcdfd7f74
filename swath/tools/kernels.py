"""Areas and outlines of sets of pixels: arrays in, metres out.

Which library serves which kernel was measured; see design/kernels.md.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from affine import Affine
from numpy.typing import NDArray

from swath.raster.ground import Ground
from swath.raster.parallel import mapped
from swath.raster.pixel_sets import by_window, number_of
from swath.raster.tiled import PixelSet, part_of
from swath.tools.blocks import row_blocks
from swath.tools.runs import Runs

BoolImage = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def pixel_ground(shape: tuple[int, int]) -> Ground:
    """A ground on which a pixel is 1 by 1, for what needs no metres."""
    return Ground((1.0, 0.0), (0.0, 1.0), "pixels", Affine.identity(), shape)


def mask_area_m2(pixels: PixelSet, ground: Ground) -> float:
    """True ground area in m2 of a set of pixels."""
    if ground.uniform:
        return float(number_of(pixels) * ground.pixel_area_m2)

    def area_m2(rows: slice) -> float:
        block = pixels[rows]
        return float(np.sum(np.broadcast_to(ground.area_m2(rows), block.shape), where=block))

    return sum(mapped(area_m2, row_blocks(pixels.shape[0])), start=0.0)


def grown(pixels: PixelSet) -> PixelSet:
    """A set of pixels with their neighbours on all eight sides."""
    rows, cols = pixels.shape

    def compute(window_rows: slice, window_cols: slice) -> BoolImage | bool:
        wide_rows, wide_cols = widened(window_rows, 1, rows), widened(window_cols, 1, cols)
        block = part_of(pixels, wide_rows, wide_cols)
        if isinstance(block, bool):
            return block
        wide = cv2.dilate(np.ascontiguousarray(block).view(np.uint8), np.ones((3, 3), np.uint8)).view(bool)
        return np.ascontiguousarray(wide[inside(window_rows, wide_rows), inside(window_cols, wide_cols)])

    return by_window(pixels, compute)


def widened(part: slice, margin: int, size: int) -> slice:
    """A range of rows or columns with some more on both sides, as far as there are any."""
    return slice(max(part.start - margin, 0), min(part.stop + margin, size))


def inside(part: slice, wide: slice) -> slice:
    """Where a range lies in a wider one."""
    return slice(part.start - wide.start, part.stop - wide.start)


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
    if ground.uniform:
        return np.asarray(_table_m(ground)[codes])
    lengths = np.zeros(len(codes))
    for code, segments in _SEGMENTS.items():
        here = np.flatnonzero(codes == code)
        row, col = rows[here].astype(np.float64), cols[here].astype(np.float64)
        for (row0, col0), (row1, col1) in segments:
            steps = ground.positions_m(row + row1, col + col1) - ground.positions_m(row + row0, col + col0)
            lengths[here] += np.linalg.norm(steps, axis=1)
    return lengths


def _table_m(ground: Ground) -> FloatArray:
    """(16,) metres of outline in a cell of each code, where all pixels are alike."""
    lengths = np.zeros(16)
    for code, segments in _SEGMENTS.items():
        for ends in segments:
            start_m, stop_m = ground.positions_m(*np.transpose(ends))
            lengths[code] += float(np.linalg.norm(stop_m - start_m))
    return lengths


def outline_m(pixels: PixelSet, valid: PixelSet, ground: Ground) -> float:
    """Length in metres of the outline of a set of pixels, by marching squares at half level.

    The image border and edges to invalid pixels are not outline. Equals the summed length of scikit-image's
    `find_contours(pixels, 0.5, fully_connected="high", mask=valid)`.

    Args:
        pixels: (rows, columns), a subset of `valid`.
        valid: (rows, columns).
        ground: the ground under the grid.
    """

    def length_m(rows: slice) -> float:
        upper_left, upper_right, lower_left, lower_right = _corners(pixels[rows].view(np.uint8))
        codes = (upper_left << 3) | (upper_right << 2) | (lower_left << 1) | lower_right
        codes *= np.logical_and.reduce(_corners(valid[rows]))
        if ground.uniform:
            return float(np.bincount(codes.ravel(), minlength=16) @ _table_m(ground))
        row, col = np.nonzero((codes > 0) & (codes < 15))
        return float(_lengths_m(codes[row, col], row + rows.start, col, ground).sum())

    return sum(mapped(length_m, row_blocks(pixels.shape[0], overlap=1)), start=0.0)


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


def outline_px(pixels: PixelSet, valid: PixelSet) -> float:
    """Length of the outline in pixel sides, for images without a ground size; see `outline_m`."""
    return outline_m(pixels, valid, pixel_ground((pixels.shape[0], pixels.shape[1])))


def object_outlines_m(objects: Runs, valid: PixelSet | None, ground: Ground) -> FloatArray:
    """(n,) lengths in metres of the outlines of objects that do not overlap, each as if it were alone.

    Args:
        objects: they may touch each other.
        valid: (rows, columns); None for whole outlines, image border and edges to invalid pixels included.
        ground: the ground under the grid.
    """
    margin = 1 if valid is None else 0

    def lengths_m(rows: slice) -> list[tuple[NDArray[np.int32], FloatArray]]:
        found = []
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
            found.append((own[new] - 1, lengths))
        return found

    total = np.zeros(objects.count)
    for found in mapped(lengths_m, row_blocks(objects.shape[0] + 2 * margin, overlap=1)):
        for owner, lengths in found:
            np.add.at(total, owner, lengths)
    return total


def _framed(objects: Runs, first: int, last: int, margin: int) -> NDArray[np.int32]:
    """Rows of a label image with a margin of zeros around the image."""
    inside = objects.labels(slice(max(first, 0), min(last, objects.shape[0])))
    return np.pad(inside, ((max(-first, 0), max(last - objects.shape[0], 0)), (margin, margin)))
