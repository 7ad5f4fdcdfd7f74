"""Boxes of objects: upright ones in pixels, and the rectangle of least area on the ground, drawn in pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.tools.handles import LabelImage, Regions
from swath.tools.kernels import pixel_ground
from swath.tools.patches import Patches
from swath.tools.runs import Runs
from swath.tools.shapes import upright_steps_m

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Geometries = NDArray[np.object_]
Source = LabelImage | Patches

SAME_PX = 1e-6
"""Corners whose x + y differ by less are equally far up and left."""


def bounds_px(regions: Regions) -> FloatArray:
    """(n, 4) upright boxes, x_min, y_min, x_max, y_max in pixels, half-open: exact for outlines, whole for pixels.

    What has no extent (points, level lines) gets the pixels that it touches.
    """
    return np.asarray(regions.told(_bounds), dtype=float).reshape(-1, 4)


def _bounds(source: Source, own: IntArray) -> FloatArray:
    touched = source.boxes[own].astype(float)
    if isinstance(source, LabelImage):
        return touched
    exact = shapely.bounds(source.outlines[own]).reshape(-1, 4)
    solid = (exact[:, 2] > exact[:, 0]) & (exact[:, 3] > exact[:, 1])
    return np.where(solid[:, None], exact, touched)


def corners_px(regions: Regions) -> FloatArray:
    """(n, 4, 2) corners of each object's rectangle of least area; see `rectangles`."""
    grid = regions.grid
    return np.asarray(regions.told(lambda source, own: rectangles(source, own, grid)), dtype=float).reshape(-1, 4, 2)


def rectangles(source: Source, own: IntArray, grid: Grid) -> FloatArray:
    """(n, 4, 2) x and y in pixels of the corners of each object's rectangle of least area on the ground.

    Corners go clockwise as seen in the image, from the one with the least x + y (of equal ones the upper). On a grid
    whose pixels are no squares a right angle on the ground is none in the image. Where no ground size is known, pixels
    are taken for squares.

    Args:
        source: holds the objects.
        own: (n,) which of them.
        grid: the image's grid.
    """
    hulls = _hulls(source, own)
    centres = shapely.get_coordinates(shapely.centroid(hulls))
    steps = _steps(grid, centres)
    xy, owner = shapely.get_coordinates(hulls, return_index=True)
    # Around each object's own centre, since coordinates far from 0 lose digits, and the ground may vary over the image.
    on_ground = shapely.set_coordinates(hulls.copy(), _to_ground(xy - centres[owner], steps[owner]))
    ground_corners = _corners(np.asarray(shapely.oriented_envelope(on_ground), dtype=object))
    around = _from_ground(ground_corners.reshape(-1, 2), np.repeat(steps, 4, axis=0)).reshape(-1, 4, 2)
    return _clockwise(around + centres[:, None])


def sides(corners: FloatArray, grid: Grid) -> FloatArray:
    """(n, 2) long and short side of rectangles on the ground in metres; in pixels where no ground size is known."""
    centres = corners.mean(axis=1)
    steps = np.repeat(_steps(grid, centres), 4, axis=0)
    on_ground = _to_ground((corners - centres[:, None]).reshape(-1, 2), steps).reshape(-1, 4, 2)
    lengths = np.linalg.norm(on_ground - np.roll(on_ground, 1, axis=1), axis=2)[:, 1:3]
    return np.column_stack([lengths.max(axis=1), lengths.min(axis=1)])


def _hulls(source: Source, own: IntArray) -> Geometries:
    if isinstance(source, Patches):
        return np.asarray(shapely.convex_hull(source.outlines[own]), dtype=object).reshape(-1)
    runs = source.runs.of(own)
    row, start, stop, owner = _row_extremes(runs)
    corners = np.stack([[start, row], [stop, row], [start, row + 1], [stop, row + 1]]).transpose(2, 0, 1).reshape(-1, 2)
    points = shapely.multipoints(corners.astype(float), indices=np.repeat(owner, 4)) if len(corners) else np.zeros(0)
    return np.asarray(shapely.convex_hull(points), dtype=object)


def _row_extremes(runs: Runs) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Row, first column, one past the last column and object, once per object and row, object by object."""
    row = runs.start // runs.shape[1]
    order = np.lexsort((runs.start, row, runs.owner))
    owner, row = runs.owner[order].astype(np.int64), row[order].astype(np.int64)
    first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(row, prepend=-1) != 0))
    last = np.append(first[1:], len(order))[: len(first)] - 1
    start = runs.start[order][first] - row[first] * runs.shape[1]
    stop = runs.stop[order][last] - row[last] * runs.shape[1]
    return row[first], start.astype(np.int64), stop.astype(np.int64), owner[first]


def _steps(grid: Grid, centres_xy: FloatArray) -> FloatArray:
    """(n, 3) pixel steps across, slant and down at some places: see `upright_steps_m`."""
    ground = grid.ground or pixel_ground(grid.shape)
    return np.column_stack(upright_steps_m(ground, centres_xy[:, 1] - 0.5, centres_xy[:, 0] - 0.5))


def _to_ground(xy: FloatArray, steps: FloatArray) -> FloatArray:
    across, slant, down = steps.T
    return np.column_stack([across * xy[:, 0], slant * xy[:, 0] + down * xy[:, 1]])


def _from_ground(xy: FloatArray, steps: FloatArray) -> FloatArray:
    across, slant, down = steps.T
    x = xy[:, 0] / across
    return np.column_stack([x, (xy[:, 1] - slant * x) / down])


def _corners(boxes: Geometries) -> FloatArray:
    """(n, 4, 2) corners of polygons of four; of a line its ends twice, of a point that point."""
    found: list[Any] = [np.resize(_there_and_back(shapely.get_coordinates(box)), (4, 2)) for box in boxes]
    return np.array(found, dtype=float).reshape(-1, 4, 2)


def _there_and_back(xy: FloatArray) -> FloatArray:
    return xy[[0, 1, 1, 0]] if len(xy) == 2 else xy[:4]


def _clockwise(corners: FloatArray) -> FloatArray:
    x, y = corners[..., 0], corners[..., 1]
    turn = (x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y).sum(axis=1)
    corners = np.where((turn < 0)[:, None, None], corners[:, ::-1], corners)
    far = np.round(corners.sum(axis=2) / SAME_PX) + corners[..., 1] / 1e9
    first = far.argmin(axis=1)[:, None] if len(corners) else np.zeros((0, 1), dtype=np.int64)
    return np.take_along_axis(corners, ((first + np.arange(4)) % 4)[:, :, None], axis=1)
