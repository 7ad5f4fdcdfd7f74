"""The part of an image around one zone, measured alone exactly as it is in the whole.

Nothing outside a zone counts, neither as a target of distances nor as a neighbour, so that the zone's box and a border
of one pixel hold all there is to measure. What does depend on the rest of the image (its halves, its size in pixels)
is left to the whole, and so is a direction, which may jump from 180 degrees to 0 by rounding: `measures_alike` tells
which programs that concerns.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.agent.execution import surface
from swath.raster.tiled import PixelSet
from swath.raster.window import window_of
from swath.segment.aoi import Area
from swath.segment.protocol import Backend, Feature, Segmentation
from swath.tools.site import Site

MEASURE_ALIKE = frozenset({
    "segment", "union", "intersection", "difference", "complement", "whole_image",
    "components", "filter_regions", "located_in", "count", "largest", "smallest", "nth_largest", "sort_by_area",
    "merge", "exclude", "common", "mask_of", "each", "region_areas_m2", "area_statistic_m2", "area_statistic_px",
    "within", "beyond", "near", "farther", "touching", "overlapping", "distance_m", "distances_m",
    "distance_statistic_m", "nearest", "farthest", "area_m2", "area_px", "share_percent", "perimeter_m",
    "density_per_km2", "fragmentation", "shape_statistic", "solar_power_kw", "image_area_m2", "pixel_size_m",
    "band_count", "ratio", "convert", "reply",
})  # fmt: skip
"""Tools that give the same on a part as on the whole (tests hold them to it); any other is left to the whole."""


class NotYetSegmented(Exception):
    """A class was asked for of which no window knows yet how far its objects reach."""


class Remembered:
    """A source of classes that is asked once for each class, however many zones need it."""

    def __init__(self, backend: Backend) -> None:
        self.name = backend.name
        self._backend = backend
        self._found: dict[str, Segmentation] = {}
        self._boxes: dict[str, NDArray[np.int64]] = {}

    def classes(self) -> tuple[str, ...]:
        """Those of the source."""
        return self._backend.classes()

    def known(self) -> PixelSet | None:
        """As the source says."""
        return self._backend.known()

    def segment(self, class_name: str) -> Segmentation:
        """What the source said when it was first asked."""
        if class_name not in self._found:
            found = self._backend.segment(class_name)
            self._found[class_name] = found
            if found.features is not None:
                self._boxes[class_name] = _boxes(found.features, found.mask.shape)
        return self._found[class_name]

    def describe(self) -> dict[str, Any]:
        """As the source says."""
        return self._backend.describe()

    def remembers(self, class_name: str) -> bool:
        """Whether a class has been asked for."""
        return class_name in self._found

    def inside(self, class_name: str, box: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) bool: the features of a class whose pixel boxes meet a box."""
        boxes = self._boxes[class_name]
        return np.asarray((boxes[:, :2] < box[2:]).all(axis=1) & (boxes[:, 2:] > box[:2]).all(axis=1))

    def window(self, area: Area, shape: tuple[int, int]) -> tuple[slice, slice]:
        """Rows and columns that hold an area, one pixel around it, and every object that reaches into it whole."""
        box = _box_of(area)
        reach = [box - (1, 1, -1, -1)]
        for class_name, boxes in self._boxes.items():
            reach.append(boxes[self.inside(class_name, box)] - (1, 1, -1, -1))
        x0, y0, x1, y1 = np.vstack(reach).T
        rows, cols = shape
        return (
            slice(max(int(y0.min()), 0), min(int(y1.max()), rows)),
            slice(max(int(x0.min()), 0), min(int(x1.max()), cols)),
        )


class PartOf:
    """A source of classes on a window, for one area in it; it gives what the remembered source gives there."""

    def __init__(self, backend: Remembered, area: Area, rows: slice, cols: slice) -> None:
        self.name = backend.name
        self._backend = backend
        self._box = _box_of(area)
        self._window = (rows, cols)

    def classes(self) -> tuple[str, ...]:
        """Those of the source."""
        return self._backend.classes()

    def known(self) -> PixelSet | None:
        """As the source says, in the window."""
        known = self._backend.known()
        return None if known is None else known[self._window]

    def segment(self, class_name: str) -> Segmentation:
        """The class in the window; of its features those that may reach into the area.

        Raises:
            NotYetSegmented: the class was never asked for on the whole.
        """
        if not self._backend.remembers(class_name):
            raise NotYetSegmented(class_name)
        found = self._backend.segment(class_name)
        features = found.features
        if features is not None:
            rows, cols = self._window
            near = [features[i] for i in np.flatnonzero(self._backend.inside(class_name, self._box))]
            moved = shapely.transform([feature.outline for feature in near], lambda xy: xy - (cols.start, rows.start))
            features = tuple(replace(feature, outline=outline) for feature, outline in zip(near, moved, strict=True))
        return replace(
            found,
            mask=found.mask[self._window],
            score=None if found.score is None else found.score[self._window],
            instance_ids=None if found.instance_ids is None else found.instance_ids[self._window],
            features=features,
        )

    def describe(self) -> dict[str, Any]:
        """As the source says."""
        return self._backend.describe()


def part_of(site: Site, backend: Remembered, area: Area) -> tuple[Site, Area] | None:
    """The part of a site around an area, and the area in it; None where that is no less than the whole.

    Args:
        site: the whole, not limited to any area.
        backend: its source of classes.
        area: an area of it.
    """
    rows, cols = backend.window(area, site.valid.shape)
    if (rows.stop - rows.start, cols.stop - cols.start) == site.valid.shape:
        return None
    raster = replace(site.raster, grid=window_of(site.raster.grid, rows, cols))
    part = Site(raster, PartOf(backend, area, rows, cols), site.valid[rows, cols], errors=site.errors)
    return part, replace(area, top=area.top - rows.start, left=area.left - cols.start)


def measures_alike(source: str, site: Site) -> bool:
    """Whether a program gives the same on a part of a site as on the whole.

    Args:
        source: a program that ran.
        site: the whole.
    """
    ground = site.raster.grid.ground
    if ground is not None and not ground.orthogonal:
        return False  # on sheared grids the nearest void pixel need not lie around the box
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    return names & surface().keys() <= MEASURE_ALIKE


def _box_of(area: Area) -> NDArray[np.int64]:
    rows, cols = area.window
    return np.array([cols.start, rows.start, cols.stop, rows.stop])


def _boxes(features: tuple[Feature, ...], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """(n, 4) half-open boxes of all pixels that outlines touch, inside the image."""
    outlines = np.array([feature.outline for feature in features], dtype=object)
    x0, y0, x1, y1 = shapely.bounds(outlines).reshape(-1, 4).T
    rows, cols = shape
    left, top = np.clip(np.floor(x0), 0, cols - 1), np.clip(np.floor(y0), 0, rows - 1)
    return np.column_stack(
        [left, top, np.clip(np.floor(x1) + 1, left + 1, cols), np.clip(np.floor(y1) + 1, top + 1, rows)]
    ).astype(np.int64)
