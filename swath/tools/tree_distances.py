"""Ground distances by a tree of a target's edge pixels, on any grid; it is asked only where it decides something."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.geodesy import NOWHERE_M, ellipsoid, horizontal
from swath.raster.ground import Ground
from swath.raster.parallel import mapped
from swath.raster.pixel_sets import by_window, window_of_set
from swath.raster.stretches import Places
from swath.raster.tiled import PixelSet, TiledPixels
from swath.tools.blocks import row_blocks
from swath.tools.discs import SLACK
from swath.tools.kernels import inside, widened
from swath.tools.labelling import mask_runs
from swath.tools.runs import Runs

BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

QUERIES = 2**19
"""Distances asked of the tree at a time: their coordinates take 12 MB."""

LATTICE = 17
"""Places per axis at which the steps from pixel to pixel are measured where they vary over the image."""

MOST_EDGES = 4_000_000
"""Pixels of a tree of a target in tiles: it takes 80 bytes for each."""

STEP_MARGIN = 1.05
"""Between these places a step may be longer than at them; a bound that is too wide costs time only."""


class TreeDistances:
    """By a k-d tree of the target's edge pixels, in planar or earth-centred coordinates.

    A distance changes by no more than the way walked, so that the distance of a run's middle pixel bounds those of all
    its pixels; a run is halved only while its bound decides nothing.
    """

    def __init__(self, target: PixelSet, ground: Ground) -> None:
        self._target, self._ground = target, ground
        columns, rows = _local_steps_m(ground)
        self._longest_step_m = float(np.linalg.norm(columns, axis=1).max(initial=0.0)) * STEP_MARGIN
        row, col = _tree_pixels(target, edges_suffice=_reduced(columns, rows))
        points = ground.positions_m(row.astype(np.float64), col.astype(np.float64))
        points = points[~_nowhere(points)]
        self._tree: Any = _tree(points) if len(points) else None

    def near(self, pixels: PixelSet, limit_m: float) -> PixelSet:
        """Which of some pixels lie within a distance, the limit included."""
        limit = limit_m * (1 + SLACK)
        return by_window(pixels, lambda rows, cols: self._window(pixels, rows, cols, limit))

    def _window(self, pixels: PixelSet, rows: slice, cols: slice, limit: float) -> BoolImage | bool:
        block, width = window_of_set(pixels, rows, cols), self._target.shape[1]
        if self._tree is None or not block.any():
            return False
        near = np.zeros(block.shape, dtype=bool)
        flat = near.reshape(-1)

        def mark(places: Places) -> None:
            row, col = np.divmod(places.astype(np.int64), width)
            flat[(row - rows.start) * block.shape[1] + col - cols.start] = True

        runs = _in_image(mask_runs(block), rows, cols, self._target.shape)
        while len(runs.start):
            middle, away, reach = self._bounded(runs)
            mark(middle[away <= limit])
            sure = away + reach <= limit
            mark(runs.where(sure).places)
            runs = _halves(runs, middle, ~sure & ((away - reach <= limit) | np.isinf(away)))
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
        away[self._target[np.divmod(places, self._target.shape[1])]] = 0.0
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


def _in_image(runs: Runs, rows: slice, cols: slice, shape: tuple[int, int]) -> Runs:
    """Runs of a window as runs of the image."""
    row, col = np.divmod(runs.start.astype(np.int64), runs.shape[1])
    start = (row + rows.start) * shape[1] + col + cols.start
    return Runs(start, start + runs.lengths, runs.owner, runs.count, shape)


def _tree_pixels(target: PixelSet, *, edges_suffice: bool) -> tuple[IntArray, IntArray]:
    """Rows and columns of the target pixels that a tree needs: with a neighbour outside of the target or of the image.

    Args:
        target: (rows, columns).
        edges_suffice: whether those are all it needs.

    Raises:
        Refused: they are too many to be held, of an image in tiles.
    """
    rows = target.shape[0]

    def found(strip: slice) -> tuple[IntArray, IntArray]:
        wide = widened(strip, 1, rows)
        block = target[wide]
        if edges_suffice:
            block = block & ~_inner(block, wide.start == 0, wide.stop == rows)
        row, col = np.nonzero(block[inside(strip, wide)])
        return row + strip.start, col

    pixels, total = [], 0
    for part in mapped(found, row_blocks(rows)):
        pixels.append(part)
        total += len(part[0])
        if total > MOST_EDGES and isinstance(target, TiledPixels):
            raise Refused(
                f"The distance to a target with more than {MOST_EDGES:,} edge pixels cannot be measured yet in an "
                "image that is held in tiles. Next: ask about a part of it that is cut out."
            )
    return np.concatenate([row for row, _ in pixels]), np.concatenate([col for _, col in pixels])


def _inner(block: BoolImage, is_first: bool, is_last: bool) -> BoolImage:
    """Pixels of some rows whose eight neighbours are all of the set; beyond the image there is none."""
    framed = np.pad(block, ((int(is_first), int(is_last)), (1, 1))).view(np.uint8)
    eroded = cv2.erode(framed, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0).view(bool)
    return eroded[int(is_first) : framed.shape[0] - int(is_last), 1:-1]


def _tree(points: FloatArray) -> Any:
    from scipy.spatial import cKDTree  # 0.3 s to load, and only grids of unequal or slanted pixels need it

    return cKDTree(points)
