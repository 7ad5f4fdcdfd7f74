"""Middle lines of bands such as roads and rivers: how long they are and how far they bend."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.tools.handles import Regions
from swath.tools.kernels import pixel_ground
from swath.tools.shapes import upright_steps_m

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
FORWARD = ((0, 1), (1, -1), (1, 0), (1, 1))
"""Steps to the neighbours that come later in reading order."""


def lengths(region: Regions) -> tuple[float, float]:
    """Length of the middle line and mean width (area over length) of one region, on the ground or in pixels."""
    line = _middle(region)
    length = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    ground = region.grid.ground or pixel_ground(region.grid.shape)
    area = float(region.measured(lambda runs: runs.areas_m2(ground))[0])
    return length, area / length if length else np.inf


def bends(region: Regions) -> float:
    """The farthest that the middle line is from the line between its ends, in lengths of that; infinite for a ring."""
    line, (_, width) = _middle(region), lengths(region)
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    inner = line[(gone >= width) & (gone <= gone[-1] - width)]  # a skeleton runs into the corners of a band's ends
    line = inner if len(inner) > 1 else line
    chord = line[-1] - line[0]
    span = float(np.hypot(*chord))
    if span == 0:
        return np.inf
    away = (line - line[0]) @ np.array([chord[1], -chord[0]]) / span
    return float(np.abs(away).max() / span)


def _middle(region: Regions) -> FloatArray:
    """(n, 2) places of the longest way through the skeleton of one region, in an upright frame of the ground."""
    from skimage.morphology import skeletonize  # 0.3 s to load

    source, index = region.sources[region.which[0]], int(region.indices[0])
    pixels, _, _ = source.runs.cut(index)
    row, col = np.nonzero(skeletonize(np.pad(pixels, 1)))
    places = _on_ground(region, row, col)
    return places[_longest_way(row, col, places)]


def _on_ground(region: Regions, row: IntArray, col: IntArray) -> FloatArray:
    ground = region.grid.ground or pixel_ground(region.grid.shape)
    centre = region.column("centroids_yx")
    across, slant, down = (float(step[0]) for step in upright_steps_m(ground, centre[:, 0], centre[:, 1]))
    return np.column_stack([across * col, slant * col + down * row])


def _longest_way(row: IntArray, col: IntArray, places: FloatArray) -> IntArray:
    """Positions along the longest of the shortest ways, from the place farthest off some other to that farthest off it.

    That is the longest of all where the skeleton has no loops.
    """
    from scipy.sparse.csgraph import dijkstra

    graph = _graph(row, col, places)
    away: Any = dijkstra(graph, directed=False, indices=0)
    start = int(np.where(np.isfinite(away), away, -1).argmax())
    away, before = dijkstra(graph, directed=False, indices=start, return_predecessors=True)
    way = [int(np.where(np.isfinite(away), away, -1).argmax())]
    while before[way[-1]] >= 0:
        way.append(int(before[way[-1]]))
    return np.array(way)


def _graph(row: IntArray, col: IntArray, places: FloatArray) -> Any:
    """Ground lengths between neighbouring pixels of a skeleton."""
    from scipy.sparse import csr_matrix

    number = np.full((row.max() + 2, col.max() + 2), -1)
    number[row, col] = np.arange(len(row))
    pairs = []
    for down, right in FORWARD:
        other = number[row + down, col + right]
        here = np.flatnonzero(other >= 0)
        pairs.append(np.column_stack([here, other[here]]))
    i, j = np.concatenate(pairs).T
    return csr_matrix((np.linalg.norm(places[i] - places[j], axis=1), (i, j)), shape=(len(row), len(row)))
