"""Objects with outlines of their own: each keeps its pixels apart, so that they may overlap and never merge."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from rasterio.features import rasterize

from swath.raster.grid import Grid
from swath.segment.protocol import Feature

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolImage = NDArray[np.bool_]


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
    valid: BoolImage = field(repr=False)
    class_name: str
    areal: bool = True

    @cached_property
    def _outlines(self) -> NDArray[np.object_]:
        return np.array([feature.outline for feature in self.features], dtype=object)

    @cached_property
    def boxes(self) -> IntArray:
        """(n, 4) half-open pixel boxes: x_min, y_min, x_max, y_max; at least one pixel each."""
        if not self.features:
            return np.zeros((0, 4), dtype=np.int64)
        rows, cols = self.grid.shape
        x0, y0, x1, y1 = shapely.bounds(self._outlines).T
        left, top = np.clip(np.floor(x0), 0, cols - 1), np.clip(np.floor(y0), 0, rows - 1)
        right = np.clip(np.maximum(np.ceil(x1), left + 1), 1, cols)
        bottom = np.clip(np.maximum(np.ceil(y1), top + 1), 1, rows)
        return np.column_stack([left, top, right, bottom]).astype(np.int64)

    @cached_property
    def centroids_yx(self) -> FloatArray:
        """(n, 2) centroids as row, column, pixel centres being whole numbers."""
        points = shapely.centroid(self._outlines)
        return np.column_stack([shapely.get_y(points), shapely.get_x(points)]) - 0.5

    @cached_property
    def areas_m2(self) -> FloatArray:
        """(n,) ground areas in m2 inside the outlines, less the share whose pixels are not valid; 0 for lines."""
        ground = self.grid.require_ground()
        areas_px = np.asarray(shapely.area(self._outlines), dtype=float)
        if not self.valid.all():
            areas_px *= self.sizes_px / np.array([burned.sum() for burned in self._whole], dtype=float)
        if ground.uniform:
            return np.asarray(areas_px * ground.pixel_area_m2, dtype=float)
        rows, cols = np.clip(np.rint(self.centroids_yx), 0, np.array(self.grid.shape) - 1).astype(int).T
        local = np.array([ground.area_m2(slice(r, r + 1))[0, c] for r, c in zip(rows, cols, strict=True)])
        return np.asarray(areas_px * local, dtype=float)

    @cached_property
    def outlines_m(self) -> FloatArray:
        """(n,) lengths in metres of the outlines on the ground, stretches along the image border left out."""
        ground = self.grid.require_ground()
        rows, cols = self.grid.shape
        frame = shapely.boundary(shapely.box(0, 0, cols, rows))
        lines, owner = shapely.get_parts(shapely.difference(shapely.boundary(self._outlines), frame), return_index=True)
        xy, line_of = shapely.get_coordinates(lines, return_index=True)
        steps = np.linalg.norm(np.diff(ground.positions_m(xy[:, 1] - 0.5, xy[:, 0] - 0.5), axis=0), axis=1)
        along = line_of[1:] == line_of[:-1]
        return np.asarray(
            np.bincount(owner[line_of[1:][along]], steps[along], minlength=len(self.features)), dtype=float
        )

    @property
    def scores(self) -> FloatArray:
        """(n,) confidence in [0, 1], NaN where unknown."""
        return np.array([np.nan if f.score is None else f.score for f in self.features], dtype=float)

    @property
    def source_ids(self) -> list[str]:
        """(n,) the source's own identifiers."""
        return [feature.id for feature in self.features]

    @cached_property
    def _whole(self) -> list[BoolImage]:
        return [self._burn(index) for index in range(len(self.features))]

    @cached_property
    def _burned(self) -> list[BoolImage]:
        return [
            burned & self.valid[y0:y1, x0:x1] for burned, (x0, y0, x1, y1) in zip(self._whole, self.boxes, strict=True)
        ]

    def _burn(self, index: int) -> BoolImage:
        x0, y0, x1, y1 = self.boxes[index]
        local = shapely.transform(self._outlines[index], lambda xy: xy - (x0, y0))
        burned: BoolImage = (
            rasterize([(local, 1)], out_shape=(y1 - y0, x1 - x0), dtype="uint8", all_touched=not self.areal) > 0
        )
        if not burned.any():  # smaller than a pixel: it keeps the pixel that holds it, so that no object vanishes
            point = shapely.point_on_surface(local)
            row, col = int(min(max(point.y, 0), y1 - y0 - 1)), int(min(max(point.x, 0), x1 - x0 - 1))
            burned[row, col] = True
        return burned

    def patch(self, index: int) -> tuple[BoolImage, int, int]:
        """One object cut out by its box: (pixels, first row, first column)."""
        x0, y0, _, _ = self.boxes[index]
        return self._burned[index], int(y0), int(x0)

    @cached_property
    def sizes_px(self) -> IntArray:
        """(n,) valid pixels whose centre lies inside."""
        return np.array([np.count_nonzero(pixels) for pixels in self._burned], dtype=np.int64)

    def touches(self, pixels: BoolImage) -> BoolImage:
        """(n,) bool: which objects have a pixel among these."""
        return np.array(
            [
                (pixels[y0:y1, x0:x1] & own).any()
                for own, (x0, y0, x1, y1) in zip(self._burned, self.boxes, strict=True)
            ],
            dtype=bool,
        )

    def minimum(self, field: NDArray[np.floating[Any]]) -> FloatArray:
        """(n,) smallest value of an image field over each object's pixels."""
        return np.array(
            [
                field[y0:y1, x0:x1][pixels].min(initial=np.inf)
                for pixels, (x0, y0, x1, y1) in zip(self._burned, self.boxes, strict=True)
            ],
            dtype=float,
        )

    def pixels_of(self, indices: IntArray) -> BoolImage:
        """(rows, columns) bool: the pixels of some objects."""
        pixels = np.zeros(self.grid.shape, dtype=bool)
        for index in indices:
            x0, y0, x1, y1 = self.boxes[index]
            pixels[y0:y1, x0:x1] |= self._burned[index]
        return pixels
