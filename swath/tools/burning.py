"""Outlines as runs of pixels, many at a time: pixels whose centre lies inside; for lines and points those they touch.

Objects that overlap keep their pixels apart. The rules are those by which a class's own pixels are filled.
"""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.segment.burn import runs as polygon_runs
from swath.tools.runs import Runs, runs_of_pixels, sorted_runs

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
        places = np.concatenate([runs.places, _places(xy, shape)])
        runs = runs_of_pixels(places, np.concatenate([runs.owner.repeat(runs.lengths), owner]), runs.count, shape)
    lost = np.flatnonzero((runs.sizes_px == 0) & ~shapely.is_empty(outlines))
    held = _places(shapely.get_coordinates(shapely.point_on_surface(outlines[lost])), shape)
    start, stop = np.concatenate([runs.start, held]), np.concatenate([runs.stop, held + 1])
    return sorted_runs(start, stop, np.concatenate([runs.owner, lost]), runs.count, shape)


def _places(xy: FloatArray, shape: tuple[int, int]) -> IntArray:
    """(n,) pixels that hold some points; points on the image's far borders belong to the last pixels."""
    col, row = (np.clip(np.floor(xy[:, k]), 0, shape[1 - k] - 1).astype(np.int64) for k in (0, 1))
    return np.asarray(row * shape[1] + col)


def _segments(lines: Geometries) -> tuple[IntArray, FloatArray]:
    """(k,) line of each straight piece, (k, 4) its ends x0, y0, x1, y1."""
    xy, line = shapely.get_coordinates(lines, return_index=True)
    along = np.flatnonzero(line[1:] == line[:-1])
    return line[along], np.concatenate([xy[along], xy[along + 1]], axis=1)


def _filled(outlines: Geometries, shape: tuple[int, int]) -> Runs:
    """The polygons among the parts of the outlines."""
    parts, owner = shapely.get_parts(outlines, return_index=True)
    areas = shapely.get_dimensions(parts) == 2
    found = polygon_runs(parts[areas], shape)
    row = found.row * shape[1]
    return sorted_runs(row + found.start, row + found.stop, owner[areas][found.outline], len(outlines), shape)


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
    points, owner_of_point = shapely.get_coordinates(
        np.where(shapely.get_dimensions(parts) == 0, parts, None), return_index=True
    )
    pieces, piece_of = shapely.get_parts(lines, return_index=True)
    line, ends = _segments(pieces)
    x0, y0, x1, y1 = ends.T
    crossed, at = [np.arange(len(ends)).repeat(2)], [np.tile([0.0, 1.0], len(ends))]
    for a, b in ((x0, x1), (y0, y1)):
        piece, number = _counted(np.ceil(np.minimum(a, b)).astype(np.int64), np.ceil(np.maximum(a, b)).astype(np.int64))
        crossed.append(piece)
        at.append((number - a[piece]) / (b - a)[piece])
    # Crossings in order along each piece: sorting values is ten times faster than sorting places, and keeps t to 1e-9.
    keys = np.sort(2.0 * np.concatenate(crossed) + np.concatenate(at))
    following = np.floor(keys[1:] / 2) == np.floor(keys[:-1] / 2)
    middle = (keys[1:][following] + keys[:-1][following]) / 2
    piece = (middle // 2).astype(np.int64)
    t = middle - 2 * piece
    inside = np.column_stack([x0[piece] + t * (x1 - x0)[piece], y0[piece] + t * (y1 - y0)[piece]])
    owner = outline[piece_of[line[piece]]]
    return np.concatenate([outline[owner_of_point], owner]), np.concatenate([points, inside])
