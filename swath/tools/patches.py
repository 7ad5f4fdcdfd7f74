"""Objects with outlines of their own: each keeps its pixels apart, so that they may overlap and never merge."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.ground import Ground
from swath.raster.tiled import PixelSet
from swath.segment.protocol import Feature
from swath.tools.burning import burned
from swath.tools.kernels import pixel_ground
from swath.tools.runs import Runs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Geometries = NDArray[np.object_]

PIECE_PX = 1.0
"""Outlines are cut into pieces of this length where it matters on which pixel a piece lies."""


@dataclass(frozen=True, eq=False, repr=False)
class Patches:
    """Features of one class; arrays are in the order of `features`.

    Attributes:
        features: the objects, outlines in pixel coordinates.
        grid: the image's grid.
        valid: (rows, columns) pixels that count.
        class_name: what they are.
        areal: False for lines and points.
    """

    features: tuple[Feature, ...]
    grid: Grid
    valid: PixelSet = field(repr=False)
    class_name: str
    areal: bool = True
    _covered: dict[tuple[bytes, str], float] = field(default_factory=dict, repr=False)

    @cached_property
    def outlines(self) -> Geometries:
        """(n,) what of the outlines lies in the image."""
        outlines = np.empty(len(self.features), dtype=object)
        outlines[:] = [feature.outline for feature in self.features]
        rows, cols = self.grid.shape
        x0, y0, x1, y1 = shapely.bounds(outlines).reshape(-1, 4).T
        beyond = ~((x0 >= 0) & (y0 >= 0) & (x1 <= cols) & (y1 <= rows))
        outlines[beyond] = shapely.intersection(outlines[beyond], shapely.box(0, 0, cols, rows))
        return outlines

    @cached_property
    def _whole(self) -> Runs:
        return burned(self.outlines, self.grid.shape, areal=self.areal)

    @cached_property
    def runs(self) -> Runs:
        """The valid pixels of each object: those whose centre lies inside, at least one."""
        return self._whole if self.valid.all() else self._whole.inside(self.valid)

    @cached_property
    def boxes(self) -> IntArray:
        """(n, 4) half-open pixel boxes of the outlines: x_min, y_min, x_max, y_max; at least one pixel each."""
        rows, cols = self.grid.shape
        x0, y0, x1, y1 = np.nan_to_num(shapely.bounds(self.outlines).reshape(-1, 4)).T
        left, top = np.clip(np.floor(x0), 0, cols - 1), np.clip(np.floor(y0), 0, rows - 1)
        right, bottom = np.clip(np.ceil(x1), left + 1, cols), np.clip(np.ceil(y1), top + 1, rows)
        return np.column_stack([left, top, right, bottom]).astype(np.int64)

    @cached_property
    def centroids_yx(self) -> FloatArray:
        """(n, 2) centroids as row, column, pixel centres being whole numbers."""
        points = shapely.centroid(self.outlines)
        return np.column_stack([shapely.get_y(points), shapely.get_x(points)]) - 0.5

    @property
    def sizes_px(self) -> IntArray:
        """(n,) valid pixels whose centre lies inside, at least one where any is valid."""
        return self.runs.sizes_px

    @cached_property
    def areas_px(self) -> FloatArray:
        """(n,) areas in pixels inside the outlines, less the share whose pixels are not valid; 0 for lines."""
        return _ground_areas(self.outlines, self._valid_shares, pixel_ground(self.grid.shape))

    @cached_property
    def areas_m2(self) -> FloatArray:
        """(n,) ground areas in m2 inside the outlines, less the share whose pixels are not valid; 0 for lines."""
        return _ground_areas(self.outlines, self._valid_shares, self.grid.require_ground())

    @cached_property
    def _valid_shares(self) -> FloatArray:
        return _shares(self._whole, self.runs)

    def covered(self, indices: IntArray, ground: Ground) -> float:
        """Area that some objects cover together, in the square of the ground's unit: where they overlap it counts once.

        Args:
            indices: which objects.
            ground: the grid's own, or one whose unit is the pixel.
        """
        key = (np.asarray(indices).tobytes(), ground.method)
        if key not in self._covered:  # runs under a doubt ask again, and the union of 100,000 outlines takes seconds
            self._covered[key] = self._covered_now(indices, ground)
        return self._covered[key]

    def _covered_now(self, indices: IntArray, ground: Ground) -> float:
        outlines = self.outlines[indices]
        areas = _ground_areas(outlines, self._valid_shares[indices], ground)
        lapping = _lapping(outlines)
        if not len(lapping):
            return float(areas.sum())
        clusters = shapely.get_parts(shapely.union_all(outlines[lapping]))
        whole = burned(clusters, self.grid.shape, areal=self.areal)
        together = _ground_areas(clusters, _shares(whole, whole.inside(self.valid)), ground)
        return float(areas.sum() - areas[lapping].sum() + together.sum())

    @cached_property
    def outlines_m(self) -> FloatArray:
        """(n,) lengths in metres of the outlines on the ground, image border and edges to void excluded."""
        rows, cols = self.grid.shape
        frame = shapely.boundary(shapely.box(0, 0, cols, rows))
        return self._lengths_m(shapely.difference(shapely.boundary(self.outlines), frame), self.grid.require_ground())

    def _lengths_m(self, lines: Geometries, ground: Ground, *, everywhere: bool = False) -> FloatArray:
        """(n,) lengths in metres of lines on the ground, where they lie on valid pixels."""
        rows, cols = self.grid.shape
        pieces, owner = shapely.get_parts(shapely.segmentize(lines, PIECE_PX), return_index=True)
        xy, line = shapely.get_coordinates(pieces, return_index=True)
        along = np.flatnonzero(line[1:] == line[:-1])
        here, there, owner = xy[along] - 0.5, xy[along + 1] - 0.5, owner[line[along]]
        steps = ground.positions_m(there[:, 1], there[:, 0]) - ground.positions_m(here[:, 1], here[:, 0])
        x, y = np.floor((here + there) / 2 + 0.5).astype(np.int64).T
        counted = everywhere | self.valid[y.clip(0, rows - 1), x.clip(0, cols - 1)]
        lengths = np.linalg.norm(steps, axis=1) * counted
        return np.asarray(np.bincount(owner, lengths, minlength=len(self.features)), dtype=float)

    @cached_property
    def compactness(self) -> FloatArray:
        """(n,) 4 pi area / outline squared of the outlines, image border and void included; at most 1."""
        ground = self.grid.ground or pixel_ground(self.grid.shape)
        areas = _ground_areas(self.outlines, np.ones(len(self.features)), ground)
        whole_m = self._lengths_m(shapely.boundary(self.outlines), ground, everywhere=True)
        return np.asarray(np.minimum(4 * np.pi * areas / np.where(whole_m > 0, whole_m, np.inf) ** 2, 1.0))

    @property
    def scores(self) -> FloatArray:
        """(n,) confidence in [0, 1], NaN where unknown."""
        return np.array([np.nan if f.score is None else f.score for f in self.features], dtype=float)

    @property
    def source_ids(self) -> list[str]:
        """(n,) the source's own identifiers."""
        return [feature.id for feature in self.features]

    def touches(self, pixels: PixelSet) -> NDArray[np.bool_]:
        """(n,) bool: which objects have a pixel among these."""
        return self.runs.touches(pixels)

    def reaches(self, pixels: PixelSet) -> NDArray[np.bool_]:
        """(n,) bool: which objects have a pixel among these, valid or not."""
        return self._whole.touches(pixels)


def _shares(whole: Runs, valid: Runs) -> FloatArray:
    """(n,) which share of each object's pixels is valid."""
    return np.asarray(valid.sizes_px / np.maximum(whole.sizes_px, 1))


def _lapping(outlines: Geometries) -> IntArray:
    """Positions of the outlines that share area with another one."""
    first, second = shapely.STRtree(outlines).query(outlines, predicate="intersects")
    first, second = first[first < second], second[first < second]
    lap = shapely.area(shapely.intersection(outlines[first], outlines[second])) > 0
    return np.unique(np.concatenate([first[lap], second[lap]]))


def _ground_areas(outlines: Geometries, shares: FloatArray, ground: Ground) -> FloatArray:
    """(n,) areas of outlines on the ground times some shares; of a large one by the pixel size at its centroid."""
    areas_px = np.asarray(shapely.area(outlines), dtype=float) * shares
    if ground.uniform:
        return np.asarray(areas_px * ground.pixel_area_m2)
    areas = np.zeros(len(outlines))
    some = areas_px > 0
    centres = shapely.get_coordinates(shapely.centroid(outlines[some])) - 0.5
    areas[some] = areas_px[some] * _pixel_areas_m2(ground, centres[:, 1], centres[:, 0])
    return areas


def _pixel_areas_m2(ground: Ground, rows: FloatArray, cols: FloatArray) -> FloatArray:
    """(n,) ground areas of single pixels around some places, where the pixel size varies over the image."""
    across = ground.positions_m(rows, cols + 0.5) - ground.positions_m(rows, cols - 0.5)
    down = ground.positions_m(rows + 0.5, cols) - ground.positions_m(rows - 0.5, cols)
    areas: Any = np.linalg.norm(np.cross(across, down), axis=1)
    return np.asarray(areas, dtype=float)
