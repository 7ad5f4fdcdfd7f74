"""Ground distances to a set of pixels, centre to centre.

Grids whose pixels are equal rectangles get a distance transform; all others a tree of the target's edge pixels that is
asked only where it decides something. See design/measure.md.
"""

from __future__ import annotations

from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.raster.geodesy import NOWHERE_M, ellipsoid, horizontal
from swath.raster.ground import Ground
from swath.tools.labelling import mask_runs
from swath.tools.runs import Places, Runs, row_blocks

BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SLACK = 1e-9
"""Relative slack of "within D", so that a distance that equals D is within it in floating point too."""

EXACT_PX = 1000.0
"""Up to here the squared distances of square pixels are known as whole numbers: OpenCV's float32 distances are off by
6e-8 of their length, which rounds to the right whole number up to 2,051 px."""

DOUBT = 1e-6
"""Distances this close to D, relatively, are decided again exactly; both transforms were off by at most 1.4e-7."""

QUERIES = 2**19
"""Distances asked of the tree at a time: their coordinates take 12 MB."""

LATTICE = 17
"""Places per axis at which the steps from pixel to pixel are measured where they vary over the image."""

STEP_MARGIN = 1.05
"""Between these places a step may be longer than at them; a bound that is too wide costs time only."""


class Distances(Protocol):
    """Ground distances in metres from any pixel to one target."""

    def near(self, pixels: BoolImage, limit_m: float) -> BoolImage:
        """Which of some pixels lie within a distance, the limit included."""

    def reached(self, objects: Runs, limit_m: float) -> BoolArray:
        """(n,) bool: which objects have a pixel within a distance, the limit included."""

    def lowest(self, objects: Runs) -> FloatArray:
        """(n,) distance of each object's nearest pixel; infinity where there is no target."""


def distances_to(target: BoolImage, ground: Ground) -> Distances:
    """Distances to the nearest pixel of a target; all are infinite where it is empty.

    Args:
        target: (rows, columns).
        ground: the ground under the grid.
    """
    if ground.uniform and ground.orthogonal and target.any():
        return TransformDistances(target, ground)
    return TreeDistances(target, ground)


class TransformDistances:
    """By a distance transform of the whole image: pixels are equal rectangles."""

    def __init__(self, target: BoolImage, ground: Ground) -> None:
        self._target, self._ground = target, ground
        self._unit_m, row_m = ground.size_xy_m
        self._square = abs(row_m / self._unit_m - 1) < SLACK
        self._steps = _transform(target, 1.0 if self._square else row_m / self._unit_m)

    def near(self, pixels: BoolImage, limit_m: float) -> BoolImage:
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


class TreeDistances:
    """By a k-d tree of the target's edge pixels, in planar or earth-centred coordinates.

    A distance changes by no more than the way walked, so that the distance of a run's middle pixel bounds those of all
    its pixels; a run is halved only while its bound decides nothing.
    """

    def __init__(self, target: BoolImage, ground: Ground) -> None:
        self._target, self._ground = target, ground
        columns, rows = _local_steps_m(ground)
        self._longest_step_m = float(np.linalg.norm(columns, axis=1).max(initial=0.0)) * STEP_MARGIN
        row, col = _edge_pixels(target) if _reduced(columns, rows) else np.nonzero(target)
        points = ground.positions_m(row.astype(np.float64), col.astype(np.float64))
        points = points[~_nowhere(points)]
        self._tree: Any = _tree(points) if len(points) else None

    def near(self, pixels: BoolImage, limit_m: float) -> BoolImage:
        """Which of some pixels lie within a distance, the limit included."""
        limit = limit_m * (1 + SLACK)
        near = np.zeros(pixels.shape, dtype=bool)
        runs = mask_runs(pixels)
        while len(runs.start) and self._tree is not None:
            middle, away, reach = self._bounded(runs)
            near.reshape(-1)[middle[away <= limit]] = True
            inside = away + reach <= limit
            runs.where(inside).pixels(near)
            runs = _halves(runs, middle, ~inside & ((away - reach <= limit) | np.isinf(away)))
        return near

    def reached(self, objects: Runs, limit_m: float) -> BoolArray:
        """(n,) bool: which objects have a pixel within a distance, the limit included."""
        limit = limit_m * (1 + SLACK)
        reached = np.zeros(objects.count, dtype=bool)
        runs = objects
        while len(runs.start) and self._tree is not None:
            middle, away, reach = self._bounded(runs)
            reached[runs.owner[away <= limit]] = True
            runs = _halves(runs, middle, ~reached[runs.owner] & ((away - reach <= limit) | np.isinf(away)))
        return reached

    def lowest(self, objects: Runs) -> FloatArray:
        """(n,) distance of each object's nearest pixel; infinity where there is no target."""
        lowest = np.full(objects.count, np.inf)
        runs = objects
        while len(runs.start) and self._tree is not None:
            middle, away, reach = self._bounded(runs)
            np.minimum.at(lowest, runs.owner, away)
            runs = _halves(runs, middle, (away - reach < lowest[runs.owner]) | np.isinf(away))
        return lowest

    def _bounded(self, runs: Runs) -> tuple[Places, FloatArray, FloatArray]:
        """Each run's middle pixel, that pixel's distance, and by how much the other pixels' may differ."""
        half = runs.lengths // 2
        middle = runs.start + half
        return middle, self._away(middle), half.astype(np.float64) * self._longest_step_m

    def _away(self, places: Places) -> FloatArray:
        """(n,) distances of pixels to the target; infinity off the body."""
        away = np.empty(len(places))
        for begin in range(0, len(places), QUERIES):
            part = slice(begin, begin + QUERIES)
            points = self._ground.positions_m(*np.divmod(places[part].astype(float), self._target.shape[1]))
            away[part] = self._along_the_ground(self._tree.query(points, workers=-1)[0])
            away[part][_nowhere(points)] = np.inf
        away[self._target.reshape(-1)[places]] = 0.0
        return away

    def _along_the_ground(self, chords: FloatArray) -> FloatArray:
        """Straight lines through the earth as arcs; at 1,000 km they differ by 0.1 %."""
        if self._ground.uniform or self._ground.crs is None:
            return chords
        geod = ellipsoid(horizontal(self._ground.crs))
        diameter = (4 * geod.a + 2 * geod.b) / 3 * self._ground.scale
        return np.asarray(diameter * np.arcsin(np.minimum(chords / diameter, 1.0)))


def _halves(runs: Runs, middle: Places, undecided: BoolArray) -> Runs:
    """What is left of undecided runs to both sides of their middle pixels."""
    own = runs.where(undecided)
    middle = middle[undecided]
    both = Runs(
        np.concatenate([own.start, middle + 1]),
        np.concatenate([middle, own.stop]),
        np.concatenate([own.owner, own.owner]),
        own.count,
        own.shape,
    )
    return both.where(both.start < both.stop)


def _nowhere(points: FloatArray) -> BoolArray:
    return np.asarray(np.abs(points).max(axis=1, initial=0.0) > NOWHERE_M / 2)


def _local_steps_m(ground: Ground) -> tuple[FloatArray, FloatArray]:
    """(k, 2 or 3) metres of one step to the next column and of one to the next row, all over the image."""
    rows, cols = (np.linspace(0, max(size - 2, 0), LATTICE).round() for size in ground.shape)
    row, col = (axis.ravel() for axis in np.meshgrid(rows, cols, indexing="ij"))
    here, right, below = (ground.positions_m(row + r, col + c) for r, c in ((0, 0), (0, 1), (1, 0)))
    known = ~(_nowhere(here) | _nowhere(right) | _nowhere(below))
    return (right - here)[known], (below - here)[known]


def _reduced(columns: FloatArray, rows: FloatArray) -> bool:
    """Whether the eight neighbours of a pixel surround it, as they do not on strongly sheared grids.

    Where they do, a target pixel whose eight neighbours belong to the target is never the nearest to one outside.
    """
    across = np.abs((columns * rows).sum(axis=1))
    return bool(np.all(2 * across <= np.minimum((columns**2).sum(axis=1), (rows**2).sum(axis=1)) * (1 + SLACK)))


def _edge_pixels(target: BoolImage) -> tuple[IntArray, IntArray]:
    """Rows and columns of target pixels with a neighbour outside of the target or of the image."""
    inner = cv2.erode(target.view(np.uint8), np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0)
    rows, cols = np.nonzero(target & (inner == 0))
    return rows, cols


def _tree(points: FloatArray) -> Any:
    from scipy.spatial import cKDTree  # 0.3 s to load, and only grids of unequal or slanted pixels need it

    return cKDTree(points)
