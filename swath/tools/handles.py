"""Masks and regions: what a program passes from tool to tool without ever seeing a pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.segment.protocol import Feature
from swath.tools import kernels
from swath.tools.patches import Patches

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolImage = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """A set of pixels of the image.

    Attributes:
        pixels: (rows, columns) bool, valid pixels only.
        valid: (rows, columns) bool: pixels that count at all.
        grid: the image's grid.
        name: what the set is, in words.
        classes: the classes that it was made from.
        instance_ids: (rows, columns) int32 where the source tells objects apart by pixel.
        features: the objects where the source holds outlines.
        areal: False for lines and points.
        frame: (rows, columns) bool of a part of the image, invalid pixels included: centroids may fall on them.
    """

    pixels: BoolImage
    valid: BoolImage
    grid: Grid
    name: str
    classes: frozenset[str] = frozenset()
    instance_ids: NDArray[np.int32] | None = None
    features: tuple[Feature, ...] | None = None
    areal: bool = True
    frame: BoolImage | None = None
    _objects: dict[int, LabelImage | Patches] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Mask({self.size_px} px of {self.name!r})"

    def objects(self, connectivity: int) -> LabelImage | Patches:
        """The source's own objects where it has them, else connected components; computed once."""
        if connectivity not in self._objects:
            self._objects[connectivity] = self._found_objects(connectivity)
        return self._objects[connectivity]

    def _found_objects(self, connectivity: int) -> LabelImage | Patches:
        if self.features is not None:
            return Patches(self.features, self.grid, self.valid, self.name, self.areal)
        if self.instance_ids is not None:
            return LabelImage.of_instances(np.where(self.pixels, self.instance_ids, 0), self)
        return LabelImage(*kernels.label_components(self.pixels, connectivity), self)

    @cached_property
    def size_px(self) -> int:
        """Number of pixels."""
        return int(np.count_nonzero(self.pixels))

    @cached_property
    def area_m2(self) -> float:
        """True ground area in m2."""
        return kernels.mask_area_m2(self.pixels, self.grid.require_ground())

    @cached_property
    def outline_m(self) -> float:
        """Length in metres of the outline by marching squares, image border and edges to void excluded."""
        return kernels.outline_m(self.pixels, self.valid, self.grid.require_ground())

    def derived(self, pixels: BoolImage, name: str, *others: Mask) -> Mask:
        """A new mask of other pixels; it keeps no identities, and its area counts only if all parents' does."""
        classes = self.classes.union(*(other.classes for other in others))
        areal = self.areal and all(other.areal for other in others)
        return Mask(pixels, self.valid, self.grid, name, classes, areal=areal)


@dataclass(frozen=True, eq=False, repr=False)
class LabelImage:
    """Regions that never overlap, as a label image: region i has the value i + 1."""

    labels: NDArray[np.int32]
    sizes_px: IntArray
    boxes: IntArray
    centroids_yx: FloatArray
    mask: Mask
    touching: bool = False

    @classmethod
    def of_instances(cls, ids: NDArray[np.int32], mask: Mask) -> LabelImage:
        """Instances told apart by pixel, numbered anew from 1 in the order of their ids."""
        from skimage.measure import regionprops  # 0.3 s to load, and only instance models need it here

        present, labels = np.unique(ids, return_inverse=True)
        labels = labels.reshape(ids.shape) + (0 if present[0] == 0 else 1)
        properties = regionprops(labels.astype(np.int32))
        boxes = [(x0, y0, x1, y1) for y0, x0, y1, x1 in (p.bbox for p in properties)]
        return cls(
            labels.astype(np.int32),
            np.array([p.num_pixels for p in properties], dtype=np.int64),
            np.array(boxes, dtype=np.int64).reshape(-1, 4),
            np.array([p.centroid for p in properties], dtype=float).reshape(-1, 2),
            mask,
            touching=True,
        )

    @cached_property
    def areas_m2(self) -> FloatArray:
        """(n,) true ground areas in m2."""
        return kernels.label_areas_m2(self.labels, self.sizes_px, self.mask.grid.require_ground())

    @cached_property
    def outlines_m(self) -> FloatArray:
        """(n,) lengths in metres of the regions' outlines."""
        ground, valid = self.mask.grid.require_ground(), self.mask.valid
        if not self.touching:
            return kernels.label_outlines_m(self.labels, len(self.sizes_px), valid, ground)
        return np.array([self._outline_m(index) for index in range(len(self.sizes_px))], dtype=float)

    def _outline_m(self, index: int) -> float:
        x0, y0, x1, y1 = self.boxes[index]
        rows, cols = slice(max(y0 - 1, 0), y1 + 1), slice(max(x0 - 1, 0), x1 + 1)
        grid = self.mask.grid
        inside = self.labels[rows, cols] == index + 1
        return kernels.outline_m(inside, self.mask.valid[rows, cols], grid.require_ground(), rows.start, cols.start)

    @property
    def scores(self) -> FloatArray:
        """(n,) NaN: components have no score."""
        return np.full(len(self.sizes_px), np.nan)

    @property
    def source_ids(self) -> list[str]:
        """(n,) running numbers from 1, in reading order."""
        return [str(i + 1) for i in range(len(self.sizes_px))]

    def touches(self, pixels: BoolImage) -> BoolImage:
        """(n,) bool: which regions have a pixel among these."""
        touched = np.zeros(len(self.sizes_px) + 1, dtype=bool)
        touched[self.labels[pixels]] = True
        return touched[1:]

    def minimum(self, field: NDArray[np.floating[Any]]) -> FloatArray:
        """(n,) smallest value of an image field over each region's pixels."""
        return kernels.label_minimum(self.labels, field, len(self.sizes_px))

    def pixels_of(self, indices: IntArray) -> BoolImage:
        """(rows, columns) bool: the pixels of some regions."""
        wanted = np.zeros(len(self.sizes_px) + 1, dtype=bool)
        wanted[indices + 1] = True
        return wanted[self.labels]

    def patch(self, index: int) -> tuple[BoolImage, int, int]:
        """One region cut out by its box: (pixels, first row, first column)."""
        x0, y0, x1, y1 = self.boxes[index]
        return self.labels[y0:y1, x0:x1] == index + 1, int(y0), int(x0)


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """An ordered set of objects.

    Attributes:
        sources: where the objects come from; more than one after `merge`.
        which: (n,) index into `sources`.
        indices: (n,) index of each object in its source.
        name: what the objects are, in words.
        classes: the classes that they were made from.
        areal: False for lines and points.
    """

    sources: tuple[LabelImage | Patches, ...]
    which: IntArray
    indices: IntArray
    name: str
    grid: Grid = field(repr=False)
    valid: BoolImage = field(repr=False)
    classes: frozenset[str] = frozenset()
    areal: bool = True

    def __repr__(self) -> str:
        return f"Regions({len(self)} of {self.name!r})"

    def __len__(self) -> int:
        """Number of objects."""
        return len(self.indices)

    def column(self, name: str) -> NDArray[Any]:
        """One property of every object, in order: "areas_m2", "sizes_px", "outlines_m", "boxes", "centroids_yx" ..."""
        return self._gathered([np.asarray(getattr(source, name)) for source in self.sources])

    def touches(self, pixels: BoolImage) -> BoolImage:
        """(n,) bool: which objects have a pixel among these."""
        return self._gathered([source.touches(pixels) for source in self.sources])

    def minimum(self, field: NDArray[np.floating[Any]]) -> FloatArray:
        """(n,) smallest value of an image field over each object's pixels."""
        return self._gathered([source.minimum(field) for source in self.sources])

    def _gathered(self, columns: list[NDArray[Any]]) -> NDArray[Any]:
        if len(columns) == 1:
            return columns[0][self.indices]
        return np.array([columns[k][i] for k, i in zip(self.which, self.indices, strict=True)])

    def take(self, positions: NDArray[Any] | Sequence[int], name: str) -> Regions:
        """The objects at some positions (or where a bool array says so), under a new name."""
        chosen = np.asarray(positions)
        if chosen.dtype != bool:
            chosen = chosen.astype(np.int64)
        return replace(self, which=self.which[chosen], indices=self.indices[chosen], name=name)

    @cached_property
    def mask(self) -> Mask:
        """All pixels of the objects as one mask."""
        pixels = np.zeros(self.grid.shape, dtype=bool)
        for k, source in enumerate(self.sources):
            pixels |= source.pixels_of(self.indices[self.which == k])
        return Mask(pixels & self.valid, self.valid, self.grid, self.name, self.classes, areal=self.areal)
