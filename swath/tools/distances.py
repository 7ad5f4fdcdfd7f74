"""Ground distances to a set of pixels, centre to centre.

Grids whose pixels are equal rectangles get a distance transform, or discs around the target where the image is held in
tiles; all others a tree of the target's edge pixels that is asked only where it decides something. See
design/measure.md and design/scale.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.geodesy import NOWHERE_M, ellipsoid, horizontal
from swath.raster.ground import Ground
from swath.raster.parallel import mapped
from swath.raster.tiled import PixelSet, TiledPixels, by_window, part_of, window_of_set
from swath.tools.blocks import row_blocks
from swath.tools.discs import EXACT_PX, SLACK, Disc, Strokes, disc, drawn_out, is_square, strokes_of
from swath.tools.kernels import inside, pixel_ground, widened
from swath.tools.labelling import mask_runs
from swath.tools.runs import Places, Runs

BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Place = tuple[int, int]

DOUBT = 1e-6
"""Distances this close to D, relatively, are decided again exactly; both transforms were off by at most 1.4e-7."""

QUERIES = 2**19
"""Distances asked of the tree at a time: their coordinates take 12 MB."""

LATTICE = 17
"""Places per axis at which the steps from pixel to pixel are measured where they vary over the image."""

MOST_REACH_PX = 2000
"""How far a tile looks around itself; a window of 512 x 2,048 pixels then has 27 million."""

DRAWN_PER_PX = 0.5
"""Stretches to be drawn for each pixel of a window above which a distance transform takes less time."""

MOST_EDGES = 4_000_000
"""Pixels of a tree of a target in tiles: it takes 80 bytes for each."""

STEP_MARGIN = 1.05
"""Between these places a step may be longer than at them; a bound that is too wide costs time only."""


class Distances(Protocol):
    """Ground distances in metres from any pixel to one target."""

    def near(self, pixels: PixelSet, limit_m: float) -> PixelSet:
        """Which of some pixels lie within a distance, the limit included."""

    def reached(self, objects: Runs, limit_m: float) -> BoolArray:
        """(n,) bool: which objects have a pixel within a distance, the limit included."""

    def lowest(self, objects: Runs) -> FloatArray:
        """(n,) distance of each object's nearest pixel; infinity where there is no target."""


def distances_to(target: PixelSet, ground: Ground) -> Distances:
    """Distances to the nearest pixel of a target; all are infinite where it is empty.

    Args:
        target: (rows, columns).
        ground: the ground under the grid.
    """
    if not (ground.uniform and ground.orthogonal):
        return TreeDistances(target, ground)
    if isinstance(target, TiledPixels):
        return DiscDistances(target, ground)
    return TransformDistances(target, ground) if target.any() else TreeDistances(target, ground)


class DiscDistances:
    """By discs around the target's pixels, tile by tile: pixels are equal rectangles, and the image is held in tiles.

    Distances that are not asked within a limit, or within a very long one, are those of a tree.
    """

    def __init__(self, target: TiledPixels, ground: Ground) -> None:
        self._target, self._ground = target, ground
        self._zones: dict[float, TiledPixels] = {}

    def near(self, pixels: PixelSet, limit_m: float) -> PixelSet:
        """Which of some pixels lie within a distance, the limit included."""
        zone = self._zone(limit_m)
        return self._tree.near(pixels, limit_m / self._unit_m) if zone is None else zone & pixels

    def reached(self, objects: Runs, limit_m: float) -> BoolArray:
        """(n,) bool: which objects have a pixel within a distance, the limit included."""
        zone = self._zone(limit_m)
        return self._tree.reached(objects, limit_m / self._unit_m) if zone is None else objects.touches(zone)

    def lowest(self, objects: Runs) -> FloatArray:
        """(n,) distance of each object's nearest pixel; infinity where there is no target."""
        return self._tree.lowest(objects) * self._unit_m

    def _zone(self, limit_m: float) -> TiledPixels | None:
        """All pixels within a distance; None where a tile would have to look too far."""
        if limit_m not in self._zones:
            near = disc(limit_m, self._ground, max(self._target.shape))
            if max(near.reach_px) > MOST_REACH_PX:
                return None
            self._zones[limit_m] = self._target.derived(lambda rows, cols: self._window(rows, cols, near, limit_m))
        return self._zones[limit_m]

    def _window(self, rows: slice, cols: slice, near: Disc, limit_m: float) -> BoolImage | bool:
        """Which pixels of a window lie within a distance."""
        down, across = near.reach_px
        if down < 0:
            return False
        wide = widened(rows, down, self._target.shape[0]), widened(cols, across, self._target.shape[1])
        block = part_of(self._target, *wide)
        if isinstance(block, bool):
            return block
        own = inside(rows, wide[0]), inside(cols, wide[1])
        left, top, width, height = cv2.boundingRect(np.ascontiguousarray(block).view(np.uint8))
        if not width:
            return False
        if block[own].all():
            return True
        strokes = strokes_of(block[top : top + height, left : left + width], near)
        if sum(stroke.count for stroke in strokes) > DRAWN_PER_PX * block.size:
            everything = np.ones(block.shape, dtype=bool)
            return np.ascontiguousarray(TransformDistances(block, self._ground).near(everything, limit_m)[own])
        corner = top - own[0].start, left - own[1].start
        return _drawn(strokes, near.reach_px, corner, (height, width), (rows.stop - rows.start, cols.stop - cols.start))

    @property
    def _unit_m(self) -> float:
        """Metres of the tree's unit: square pixels are measured in pixels, so that what is equal stays equal."""
        return self._ground.size_xy_m[0] if is_square(self._ground) else 1.0

    @cached_property
    def _tree(self) -> TreeDistances:
        ground = pixel_ground(self._target.shape) if is_square(self._ground) else self._ground
        return TreeDistances(self._target, ground)


def _drawn(strokes: Sequence[Strokes], reach: Place, corner: Place, size: Place, shape: Place) -> BoolImage | bool:
    """The pixels of a window that a target reaches; nothing is drawn where it surely reaches none.

    Args:
        strokes: of the target.
        reach: largest row step and column step.
        corner: row and column of the target's box, counted from the window's.
        size: rows and columns of that box.
        shape: rows and columns of the window.
    """
    rows, cols = (
        slice(max(first - far, 0), min(first + many + far, whole))
        for first, many, far, whole in zip(corner, size, reach, shape, strict=True)
    )
    if rows.start >= rows.stop or cols.start >= cols.stop:
        return False
    found = np.zeros(shape, dtype=bool)
    inner = rows.stop - rows.start, cols.stop - cols.start
    found[rows, cols] = drawn_out(strokes, corner[0] - rows.start, corner[1] - cols.start, inner)
    return found


class TransformDistances:
    """By a distance transform of the whole image: pixels are equal rectangles."""

    def __init__(self, target: BoolImage, ground: Ground) -> None:
        self._target, self._ground = target, ground
        self._unit_m, row_m = ground.size_xy_m
        self._square = is_square(ground)
        self._steps = _transform(target, 1.0 if self._square else row_m / self._unit_m)

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
