"""Outlines as runs of pixels, many at a time: pixels whose centre lies inside; for lines and points those they touch.

The rule is GDAL's, so that a class's pixels are its objects' pixels; objects that overlap keep theirs apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.tools.runs import CHUNK_PX, Runs, runs_of_pixels, sorted_runs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Geometries = NDArray[np.object_]


def burned(outlines: Geometries, shape: tuple[int, int], *, areal: bool) -> Runs:
    """The pixels of each outline.

    An outline between pixel centres keeps the pixel that holds a point of it, so that no object vanishes.

    Args:
        outlines: (n,) in pixel coordinates, x = column, y = row, inside the image; empty ones have no pixel.
        shape: (rows, columns) of the image.
        areal: whether pixel centres count, else every touched pixel.
    """
    runs = _filled(outlines, shape)
    if not areal:
        owner, xy = _touched(outlines)
        runs = _with_pixels(runs, owner, _places(xy, shape))
    lost = np.flatnonzero((runs.sizes_px == 0) & ~shapely.is_empty(outlines))
    if len(lost):
        points = shapely.point_on_surface(outlines[lost])
        runs = _with_pixels(runs, lost, _places(shapely.get_coordinates(points), shape))
    return runs


def _places(xy: FloatArray, shape: tuple[int, int]) -> IntArray:
    """(n,) pixels that hold some points; points on the image's far borders belong to the last pixels."""
    col, row = (np.clip(np.floor(xy[:, k]), 0, shape[1 - k] - 1).astype(np.int64) for k in (0, 1))
    return np.asarray(row * shape[1] + col)


def _with_pixels(runs: Runs, owner: IntArray, places: IntArray) -> Runs:
    before = runs.places
    return runs_of_pixels(
        np.concatenate([before, places]),
        np.concatenate([runs.owner.repeat(runs.lengths), owner]),
        runs.count,
        runs.shape,
    )


def _segments(lines: Geometries) -> tuple[IntArray, FloatArray]:
    """(k,) line of each straight piece, (k, 4) its ends x0, y0, x1, y1."""
    xy, line = shapely.get_coordinates(lines, return_index=True)
    along = np.flatnonzero(line[1:] == line[:-1])
    return line[along], np.concatenate([xy[along], xy[along + 1]], axis=1)


def _filled(outlines: Geometries, shape: tuple[int, int]) -> Runs:
    """Polygons by scan lines through the pixel centres: between its odd and its even crossings lies the inside."""
    parts, outline = shapely.get_parts(outlines, return_index=True)
    rings, part = shapely.get_rings(parts[shapely.get_dimensions(parts) == 2], return_index=True)
    ring, ends = _segments(rings)
    owner = outline[shapely.get_dimensions(parts) == 2][part][ring]
    low, high = np.minimum(ends[:, 1], ends[:, 3]), np.maximum(ends[:, 1], ends[:, 3])
    first, last = (np.clip(np.ceil(y - 0.5), 0, shape[0]).astype(np.int64) for y in (low, high))
    found = [_crossings(owner[k], ends[k], first[k], last[k], shape) for k in _batches(owner, last - first)]
    start, stop, owners = (np.concatenate(column) for column in zip(*found, strict=True))
    return sorted_runs(start, stop, owners, len(outlines), shape)


def _batches(owner: IntArray, sizes: IntArray) -> Iterator[slice]:
    """Slices of pieces, those of one object never apart, of about `CHUNK_PX` crossings each."""
    begin = 0
    ends = np.flatnonzero(np.diff(owner, append=-1))
    total = np.cumsum(sizes)
    while begin < len(owner):
        done = total[begin] - sizes[begin]
        index = np.searchsorted(total[ends], done + CHUNK_PX)
        end = int(ends[min(index, len(ends) - 1)]) + 1
        yield slice(begin, end)
        begin = end
    if not len(owner):
        yield slice(0, 0)


def _crossings(
    owner: IntArray, ends: FloatArray, first: IntArray, last: IntArray, shape: tuple[int, int]
) -> tuple[IntArray, IntArray, IntArray]:
    """Start, stop and owner of the runs between the crossings of the scan lines with pieces of outlines."""
    piece, row = _counted(first, last)
    x0, y0, x1, y1 = ends[piece].T
    x = x0 + (row + 0.5 - y0) * (x1 - x0) / (y1 - y0)
    order = np.lexsort([x, row, owner[piece]])
    col = np.clip(np.floor(x[order] + 0.5), 0, shape[1]).astype(np.int64)
    place = row[order] * shape[1] + col
    start, stop = place[0::2], place[1::2]
    some = start < stop
    return start[some], stop[some], owner[piece][order][0::2][some]


def _counted(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """For every whole number in each half-open range: index of the range, and the number."""
    sizes = np.maximum(last - first, 0)
    index = np.repeat(np.arange(len(sizes)), sizes)
    return index, np.arange(len(index)) + (first - np.cumsum(sizes) + sizes)[index]


def _touched(outlines: Geometries) -> tuple[IntArray, FloatArray]:
    """Owner and a point inside of every pixel that a line, a polygon's boundary or a point touches."""
    parts, outline = shapely.get_parts(outlines, return_index=True)
    areas = shapely.get_dimensions(parts) == 2
    lines = np.where(areas, shapely.boundary(parts), parts)
    vertices, owner_of_vertex = shapely.get_coordinates(lines, return_index=True)
    pieces, piece_of = shapely.get_parts(lines, return_index=True)
    line, ends = _segments(pieces)
    x0, y0, x1, y1 = ends.T
    crossed, at = [np.arange(len(ends)).repeat(2)], [np.tile([0.0, 1.0], len(ends))]
    for a, b in ((x0, x1), (y0, y1)):
        piece, number = _counted(np.ceil(np.minimum(a, b)).astype(np.int64), np.ceil(np.maximum(a, b)).astype(np.int64))
        crossed.append(piece)
        at.append((number - a[piece]) / (b - a)[piece])
    piece, t = np.concatenate(crossed), np.concatenate(at)
    order = np.lexsort([t, piece])
    piece, t = piece[order], t[order]
    same = np.flatnonzero(piece[1:] == piece[:-1])
    piece, t = piece[same], (t[same] + t[same + 1]) / 2
    inside = np.column_stack([x0[piece] + t * (x1 - x0)[piece], y0[piece] + t * (y1 - y0)[piece]])
    owner = outline[piece_of[line[piece]]]
    return np.concatenate([outline[owner_of_vertex], owner]), np.concatenate([vertices, inside])
