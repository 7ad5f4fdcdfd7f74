"""Array kernels under the tools: components, areas, outlines, distances; arrays in, arrays out, metres throughout.

Which library serves which kernel was measured; see design/kernels.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from affine import Affine
from numpy.typing import NDArray

from swath.raster.ground import Ground

BoolImage = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
LabelArray = NDArray[np.int32]

BLOCK_ROWS = 512
"""Rows handled at a time where a temporary per pixel is needed: 512 rows of 10,000 float64 are 41 MB."""

DISTANCE_SLACK = 1e-9
"""Relative slack of "within D", so that a distance that equals D is within it in floating point too."""

FLOAT32_DOUBT = 1e-6
"""Distances this close to D, relatively, are computed again in float64: float32 tells 2,000 px apart to 1e-7 only."""


def row_blocks(rows: int, overlap: int = 0) -> Iterator[slice]:
    """Slices of `BLOCK_ROWS` rows, each reaching `overlap` rows into the next."""
    for start in range(0, max(rows - overlap, 0), BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS + overlap, rows))


def label_components(pixels: BoolImage, connectivity: int) -> tuple[LabelArray, IntArray, IntArray, FloatArray]:
    """Connected components.

    Args:
        pixels: (rows, columns).
        connectivity: 4 or 8.

    Returns:
        labels (rows, columns) from 1, 0 outside; sizes (n,) in pixels; half-open boxes (n, 4) as x_min, y_min, x_max,
        y_max; centroids (n, 2) as row, column of pixel centres.
    """
    _, labels, stats, centroids = cv2.connectedComponentsWithStats(
        pixels.view(np.uint8), connectivity=connectivity, ltype=cv2.CV_32S
    )
    left, top, width, height, size = stats[1:].astype(np.int64).T
    boxes = np.column_stack([left, top, left + width, top + height])
    return np.asarray(labels, dtype=np.int32), size, boxes, centroids[1:, ::-1].astype(np.float64)


def mask_area_m2(pixels: BoolImage, ground: Ground) -> float:
    """True ground area in m2 of a set of pixels."""
    if ground.uniform:
        return float(np.count_nonzero(pixels) * ground.pixel_area_m2)
    return float(sum(ground.area_m2(rows)[pixels[rows]].sum() for rows in row_blocks(pixels.shape[0])))


def label_areas_m2(labels: LabelArray, sizes_px: IntArray, ground: Ground) -> FloatArray:
    """(n,) true ground areas in m2 of labelled regions."""
    if ground.uniform:
        return sizes_px.astype(np.float64) * ground.pixel_area_m2
    total = np.zeros(len(sizes_px) + 1)
    for rows in row_blocks(labels.shape[0]):
        total += np.bincount(labels[rows].ravel(), ground.area_m2(rows).ravel(), minlength=total.size)
    return total[1:]


def label_minimum(labels: LabelArray, field: NDArray[np.floating[Any]], count: int) -> FloatArray:
    """(n,) smallest value of a field over each of `count` labelled regions; infinity for an empty region."""
    lowest = np.full(count + 1, np.inf)
    for rows in row_blocks(labels.shape[0]):
        inside = labels[rows] > 0
        np.minimum.at(lowest, labels[rows][inside], field[rows][inside].astype(np.float64))
    return lowest[1:]


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


def _cell_codes(pixels: BoolImage, valid: BoolImage) -> NDArray[np.uint8]:
    """(rows - 1, columns - 1) codes of the 2 x 2 cells; 0 where a cell holds an invalid pixel."""
    p = pixels.view(np.uint8)
    codes = (p[:-1, :-1] << 3) | (p[:-1, 1:] << 2) | (p[1:, :-1] << 1) | p[1:, 1:]
    whole = valid[:-1, :-1] & valid[:-1, 1:] & valid[1:, :-1] & valid[1:, 1:]
    result: NDArray[np.uint8] = np.where(whole, codes, np.uint8(0))
    return result


def _segment_lengths(ground: Ground) -> FloatArray:
    """(16,) metres of outline in a cell of each code, where the pixel size is uniform."""
    lengths = np.zeros(16)
    for code, segments in _SEGMENTS.items():
        for (row0, col0), (row1, col1) in segments:
            step = (row1 - row0) * np.array(ground.row_m) + (col1 - col0) * np.array(ground.column_m)
            lengths[code] += np.hypot(*step)
    return lengths


def _cell_lengths(codes: NDArray[np.uint8], ground: Ground, first_row: int, first_col: int = 0) -> FloatArray:
    """Metres of outline in each cell."""
    if ground.uniform:
        return _segment_lengths(ground)[codes]
    lengths = np.zeros(codes.shape)
    for code, segments in _SEGMENTS.items():
        rows, cols = (axis.astype(np.float64) for axis in np.nonzero(codes == code))
        for (row0, col0), (row1, col1) in segments:
            here = ground.positions_m(rows + first_row + row0, cols + first_col + col0)
            there = ground.positions_m(rows + first_row + row1, cols + first_col + col1)
            lengths[codes == code] += np.linalg.norm(there - here, axis=1)
    return lengths


def outline_m(pixels: BoolImage, valid: BoolImage, ground: Ground, first_row: int = 0, first_col: int = 0) -> float:
    """Length in metres of the outline of a set of pixels, by marching squares at half level.

    The image border and edges to invalid pixels are not outline. Equals the summed length of scikit-image's
    `find_contours(pixels, 0.5, mask=valid)`, in a fiftieth of the time (tests compare the two).

    Args:
        pixels: (rows, columns), a subset of `valid`.
        valid: (rows, columns).
        ground: the ground under the grid.
        first_row: row of the grid at which the arrays begin.
        first_col: column of the grid at which the arrays begin.
    """
    total = 0.0
    for rows in row_blocks(pixels.shape[0], overlap=1):
        codes = _cell_codes(pixels[rows], valid[rows])
        if ground.uniform:
            total += float(np.bincount(codes.ravel(), minlength=16) @ _segment_lengths(ground))
        else:
            total += float(_cell_lengths(codes, ground, rows.start + first_row, first_col).sum())
    return total


def outline_px(pixels: BoolImage, valid: BoolImage) -> float:
    """Length of the outline in pixel sides, for images without a ground size; see `outline_m`."""
    square = Ground((1.0, 0.0), (0.0, 1.0), "pixels", Affine.identity(), pixels.shape)
    return outline_m(pixels, valid, square)


def label_outlines_m(labels: LabelArray, count: int, valid: BoolImage, ground: Ground) -> FloatArray:
    """(n,) lengths in metres of the outlines of labelled regions that do not touch each other side by side."""
    total = np.zeros(count + 1)
    for rows in row_blocks(labels.shape[0], overlap=1):
        block = labels[rows]
        codes = _cell_codes(block > 0, valid[rows])
        lengths = _cell_lengths(codes, ground, rows.start)
        corners = np.stack([block[:-1, :-1], block[:-1, 1:], block[1:, :-1], block[1:, 1:]])
        # Under 4-connectivity a saddle cell holds two regions, each with half of the cell's outline.
        np.add.at(total, corners.max(axis=0).ravel(), lengths.ravel() / 2)
        lowest = np.where(corners > 0, corners, np.iinfo(np.int32).max).min(axis=0)
        np.add.at(total, np.where(codes > 0, lowest, 0).ravel(), lengths.ravel() / 2)
    return total[1:]


def distance_field_m(target: BoolImage, wanted: BoolImage, ground: Ground) -> NDArray[np.floating[Any]]:
    """Ground distance in metres from each wanted pixel to the nearest target pixel, centre to centre.

    Args:
        target: (rows, columns).
        wanted: (rows, columns); elsewhere the value is unspecified.
        ground: the ground under the grid.

    Returns:
        (rows, columns), 0 on the target, infinity everywhere where there is no target.
    """
    if not target.any():
        return np.full(target.shape, np.inf, dtype=np.float32)
    if not (ground.uniform and ground.orthogonal):
        return _distance_by_tree(target, wanted, ground)
    x, y = ground.size_xy_m
    if abs(x / y - 1) < DISTANCE_SLACK:
        field = cv2.distanceTransform((~target).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        return np.multiply(field, np.float32(x), out=field)
    import edt  # only anisotropic grids pay for it

    return np.asarray(edt.edt(~target, anisotropy=(y, x), parallel=2))


def _edge_pixels(target: BoolImage) -> tuple[FloatArray, FloatArray]:
    """Rows and columns of target pixels with a neighbour outside: the nearest target pixel is always one of them."""
    inner = cv2.erode(target.view(np.uint8), np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0)
    rows, cols = np.nonzero(target & (inner == 0))
    return rows.astype(np.float64), cols.astype(np.float64)


def _distance_by_tree(target: BoolImage, wanted: BoolImage, ground: Ground) -> FloatArray:
    tree = _tree(ground.positions_m(*_edge_pixels(target)))
    field = np.zeros(target.shape)
    rows, cols = np.nonzero(wanted & ~target)
    field[rows, cols] = tree.query(ground.positions_m(rows.astype(np.float64), cols.astype(np.float64)), workers=-1)[0]
    return field


def within(
    field: NDArray[np.floating[Any]], target: BoolImage, wanted: BoolImage, distance_m: float, ground: Ground
) -> BoolImage:
    """Wanted pixels whose distance to the target is at most `distance_m`, decided in float64.

    Args:
        field: `distance_field_m(target, wanted, ground)`.
        target: (rows, columns).
        wanted: (rows, columns).
        distance_m: metres.
        ground: the ground under the grid.
    """
    if not target.any() or distance_m < 0:
        return np.zeros(target.shape, dtype=bool)
    near: BoolImage = wanted & (field <= np.float32(distance_m) if field.dtype == np.float32 else field <= distance_m)
    doubtful = wanted & (np.abs(field - distance_m) <= max(FLOAT32_DOUBT * distance_m, 1e-12))
    if doubtful.any():
        near[doubtful] = _exactly_within(target, doubtful, distance_m, ground)
    return near


def _exactly_within(target: BoolImage, doubtful: BoolImage, distance_m: float, ground: Ground) -> BoolImage:
    """(n,) for each doubtful pixel, in reading order, whether a target pixel lies within the distance, in float64."""
    rows, cols = np.nonzero(doubtful)
    limit = distance_m * (1 + DISTANCE_SLACK)
    if not ground.uniform:
        here = ground.positions_m(rows.astype(np.float64), cols.astype(np.float64))
        exact = _tree(ground.positions_m(*_edge_pixels(target))).query(here, workers=-1)[0]
        return np.asarray((exact <= limit) | target[rows, cols])
    found = target[rows, cols].copy()
    for row_step, col_step in _steps_of_length(distance_m, limit, ground):
        row, col = rows + row_step, cols + col_step
        inside = (row >= 0) & (row < target.shape[0]) & (col >= 0) & (col < target.shape[1])
        found[inside] |= target[row[inside], col[inside]]
    return found


def _steps_of_length(distance_m: float, limit: float, ground: Ground) -> NDArray[np.int64]:
    """(n, 2) row and column steps whose ground length is about a distance and at most a limit.

    For each row step r the column steps c solve |r row_m + c column_m| = distance, a quadratic in c.
    """
    u, v = np.array(ground.column_m), np.array(ground.row_m)
    reach = int(np.ceil(distance_m / (ground.pixel_area_m2 / np.hypot(*u)))) + 1
    r = np.arange(-reach, reach + 1)
    half_b, c = r * (u @ v), r.astype(float) ** 2 * (v @ v) - distance_m**2
    root = np.sqrt(np.maximum(half_b**2 - (u @ u) * c, 0.0))
    solutions = np.concatenate([(-half_b - root) / (u @ u), (-half_b + root) / (u @ u)])
    near = np.concatenate([np.floor(solutions), np.ceil(solutions)]).astype(np.int64)
    steps = np.unique(np.column_stack([np.tile(r, 4), near]), axis=0)
    lengths = np.linalg.norm(steps[:, :1] * v + steps[:, 1:] * u, axis=1)
    return steps[(lengths <= limit) & (lengths >= distance_m * (1 - 4 * FLOAT32_DOUBT))]


def _tree(points: FloatArray) -> Any:
    from scipy.spatial import cKDTree  # 0.3 s to load, and only grids that vary over the image need it

    return cKDTree(points)
