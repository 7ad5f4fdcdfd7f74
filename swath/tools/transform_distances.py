"""Ground distances of a whole array, whose pixels are equal rectangles: by a distance transform.

Objects are asked by runs where the target has few (`discs.py`).
"""

from __future__ import annotations

from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.raster.ground import Ground
from swath.raster.stretches import Stretches
from swath.raster.tiled import PixelSet
from swath.tools.blocks import row_blocks
from swath.tools.discs import EXACT_PX, SLACK, disc, is_square, reach_of
from swath.tools.labelling import mask_runs
from swath.tools.runs import Runs

BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

DOUBT = 1e-6
"""Distances this close to D, relatively, are decided again exactly; both transforms were off by at most 1.4e-7."""


class TransformDistances:
    """By a distance transform of the whole image: pixels are equal rectangles."""

    def __init__(self, target: BoolImage, ground: Ground) -> None:
        self._target, self._ground = target, ground
        self._unit_m, row_m = ground.size_xy_m
        self._square, self._row_steps = is_square(ground), row_m / self._unit_m

    @cached_property
    def _steps(self) -> NDArray[np.float32]:
        return _transform(self._target, 1.0 if self._square else self._row_steps)

    @cached_property
    def _runs(self) -> Stretches:
        found = mask_runs(self._target)
        return Stretches(found.start, found.stop)

    def near(self, pixels: PixelSet, limit_m: float) -> BoolImage:
        """Which of some pixels lie within a distance, the limit included."""
        certain, possible = self._bounds(limit_m)
        near = np.empty(pixels.shape, dtype=bool)
        for rows in row_blocks(pixels.shape[0]):
            steps = self._steps[rows]
            near[rows] = pixels[rows] & (steps <= certain)
            if possible > certain:
                row, col = np.nonzero(pixels[rows] & (steps > certain) & (steps <= possible))
                near[rows][row, col] = _exactly_within(self._target, row + rows.start, col, limit_m, self._ground)
        return near

    def reached(self, objects: Runs, limit_m: float) -> BoolArray:
        """(n,) bool: which objects have a pixel within a distance, the limit included."""
        rows, cols = self._target.shape
        near = disc(limit_m, self._ground, max(rows, cols))
        reach = reach_of(self._runs, near, slice(0, rows), cols)
        if reach is not None:
            reached = np.zeros(objects.count, dtype=bool)
            reached[objects.owner[reach.meet(objects.start, objects.stop)]] = True
            return reached
        certain, possible = self._bounds(limit_m)
        lowest = objects.minimum(self._steps)
        reached = lowest <= certain
        doubtful = np.flatnonzero(~reached & (lowest <= possible))
        if len(doubtful):
            runs = objects.of(doubtful)
            reached[doubtful] = runs.touches(self.near(runs.pixels(), limit_m))
        return reached

    def lowest(self, objects: Runs) -> FloatArray:
        """(n,) distance of each object's nearest pixel."""
        steps = objects.minimum(self._steps)
        if self._square:
            whole = steps <= EXACT_PX
            steps[whole] = np.sqrt(np.rint(steps[whole] ** 2))
        return steps * self._unit_m

    def _bounds(self, limit_m: float) -> tuple[np.float32, np.float32]:
        """Column steps up to which a pixel is certainly within a distance, and beyond which it certainly is not."""
        limit = limit_m / self._unit_m
        if limit < 0:
            return np.float32(-1), np.float32(-1)
        if self._square and limit <= EXACT_PX:
            between = np.float32(np.sqrt(np.floor(limit**2 * (1 + 2 * SLACK)) + 0.5))
            return between, between
        return np.float32(limit * (1 - DOUBT)), np.float32(limit * (1 + DOUBT))


def _transform(target: BoolImage, row_steps: float) -> NDArray[np.float32]:
    """Distances in column steps, a row step being `row_steps` of them."""
    outside = ~target
    if row_steps == 1.0:
        return np.asarray(cv2.distanceTransform(outside.view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE))
    import edt  # only pixels that are not square pay for it

    # Along rows edt adds up steps in float32: whole numbers stay exact, 0.3 would drift by 1e-4 in 9,000 columns.
    return np.asarray(edt.edt(outside, anisotropy=(row_steps, 1.0), parallel=2))


def _exactly_within(target: BoolImage, rows: IntArray, cols: IntArray, limit_m: float, ground: Ground) -> BoolImage:
    """(n,) bool: which pixels, all of them about `limit_m` away from the target, are within it in float64."""
    found = target[rows, cols].copy()
    if len(rows) == 0:
        return found
    for row_step, col_step in _steps_of_length(limit_m, ground):
        row, col = rows + row_step, cols + col_step
        inside = (row >= 0) & (row < target.shape[0]) & (col >= 0) & (col < target.shape[1])
        found[inside] |= target[row[inside], col[inside]]
    return found


def _steps_of_length(length_m: float, ground: Ground) -> IntArray:
    """(n, 2) row and column steps whose ground length is about `length_m` and at most that.

    For each row step r the column steps c solve |r row_m + c column_m| = length, a quadratic in c.
    """
    u, v = np.array(ground.column_m), np.array(ground.row_m)
    reach = int(np.ceil(length_m * np.hypot(*u) / ground.pixel_area_m2)) + 1
    r = np.arange(-reach, reach + 1)
    half_b, c = r * (u @ v), r.astype(float) ** 2 * (v @ v) - length_m**2
    root = np.sqrt(np.maximum(half_b**2 - (u @ u) * c, 0.0))
    solutions = np.concatenate([-half_b - root, -half_b + root]) / (u @ u)
    around = np.concatenate([np.floor(solutions), np.ceil(solutions)]).astype(np.int64)
    steps = np.unique(np.column_stack([np.tile(r, 4), around]), axis=0)
    lengths = np.linalg.norm(steps[:, :1] * v + steps[:, 1:] * u, axis=1)
    return np.asarray(steps[(lengths <= length_m * (1 + SLACK)) & (lengths >= length_m * (1 - 4 * DOUBT))])
