"""Ground distances to a set of pixels, centre to centre.

Grids whose pixels are equal rectangles get a distance transform, or discs around the target where the image is held in
tiles; all others a tree of the target's edge pixels that is asked only where it decides something. See
design/measure.md and design/scale.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.raster.ground import Ground
from swath.raster.parallel import mapped
from swath.raster.tiled import PixelSet, TiledPixels, part_of
from swath.tools.blocks import strips_of
from swath.tools.discs import Disc, Strokes, disc, drawn_out, is_square, reach_of, strokes_of
from swath.tools.kernels import inside, pixel_ground, widened
from swath.tools.runs import Runs
from swath.tools.transform_distances import TransformDistances
from swath.tools.tree_distances import TreeDistances

BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Place = tuple[int, int]

MOST_REACH_PX = 2000
"""How far a tile looks around itself; a window of 512 x 2,048 pixels then has 27 million."""

DRAWN_PER_PX = 0.5
"""Stretches to be drawn for each pixel of a window above which a distance transform takes less time."""


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
        zone, near = self._zone(limit_m), disc(limit_m, self._ground, max(self._target.shape))
        if zone is None:
            return self._tree.reached(objects, limit_m / self._unit_m)
        found = np.zeros(objects.count, dtype=bool)
        for owners in mapped(lambda rows: self._reached_in(rows, objects, near, zone), strips_of(self._target)):
            found[owners] = True
        return found

    def _reached_in(self, rows: slice, objects: Runs, near: Disc, zone: TiledPixels) -> NDArray[np.int32]:
        """Owners of the runs in some rows that lie within a distance: by runs, or by pixels where there are many."""
        own, cols = objects.within(rows), self._target.shape[1]
        if not len(own.start) or not len(near.rows):
            return own.owner[:0]
        target = self._target.runs(widened(rows, near.reach_px[0], self._target.shape[0]))
        reach = None if target is None else reach_of(target, near, rows, cols)
        return own.touching(zone, rows) if reach is None else own.owner[reach.meet(own.start, own.stop)]

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
