"""Masks and regions: what a program passes from tool to tool without ever seeing a pixel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.ground import Ground
from swath.raster.pixel_sets import any_of, by_window, number_of
from swath.raster.tiled import PixelSet
from swath.segment.protocol import Feature
from swath.tools import kernels
from swath.tools.labelling import component_runs, instance_runs
from swath.tools.patches import Patches
from swath.tools.runs import Runs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolImage = NDArray[np.bool_]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Known:
    """Where it is known whether a pixel belongs to a mask.

    Attributes:
        pixels: (rows, columns) bool.
        field: what is unknown elsewhere: "height", "slope" ...
    """

    pixels: PixelSet
    field: str

    def both(self, other: Known | None) -> Known:
        """Where this and the other are known."""
        if other is None or other is self:
            return self
        fields = dict.fromkeys([*self.field.split(" or "), *other.field.split(" or ")])
        return Known(self.pixels & other.pixels, " or ".join(fields))


def jointly(known: Sequence[Known | None]) -> Known | None:
    """Where all of several masks are known; None where each is known everywhere."""
    some = [one for one in known if one is not None]
    return reduce(Known.both, some) if some else None


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """A set of pixels of the image.

    Attributes:
        pixels: (rows, columns) bool, valid pixels only; in tiles where the image is held so.
        valid: (rows, columns) bool: pixels that count at all.
        grid: the image's grid.
        name: what the set is, in words.
        classes: the classes that it was made from.
        instance_ids: (rows, columns) int32 where the source tells objects apart by pixel.
        features: the objects where the source holds outlines.
        areal: False for lines and points.
        frame: (rows, columns) bool of a part of the image, invalid pixels included: centroids may fall on them.
        known: where it is known what belongs to the set, None for everywhere; unknown pixels are never in it.
    """

    pixels: PixelSet
    valid: PixelSet
    grid: Grid
    name: str
    classes: frozenset[str] = frozenset()
    instance_ids: NDArray[np.int32] | None = None
    features: tuple[Feature, ...] | None = None
    areal: bool = True
    frame: PixelSet | None = None
    known: Known | None = None
    _objects: dict[int, LabelImage | Patches] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Mask({self.size_px} px of {self.name!r})"

    def _repr_html_(self) -> str:
        """For notebooks: the mask as a picture."""
        from swath.tools.displays import mask_html

        return mask_html(self)

    def objects(self, connectivity: int) -> LabelImage | Patches:
        """The source's own objects where it has them, else connected components; computed once."""
        key = 0 if self.has_identities else connectivity
        if key not in self._objects:
            self._objects[key] = self._found_objects(connectivity)
        return self._objects[key]

    @property
    def has_identities(self) -> bool:
        """Whether the source itself tells objects apart."""
        return self.features is not None or self.instance_ids is not None

    def _found_objects(self, connectivity: int) -> LabelImage | Patches:
        if self.features is not None:
            return Patches(self.features, self.grid, self.valid, self.name, self.areal)
        if self.instance_ids is not None:
            return LabelImage(instance_runs(self.instance_ids, self.pixels), self)
        return LabelImage(component_runs(self.pixels, connectivity), self)

    @cached_property
    def size_px(self) -> int:
        """Number of pixels."""
        return number_of(self.pixels)

    @cached_property
    def area_m2(self) -> float:
        """True ground area in m2: of the source's own outlines where it has them, else of the pixels."""
        return covered_area(self, self.grid.require_ground())

    @cached_property
    def outline_m(self) -> float:
        """Length in metres of the outline by marching squares, image border and edges to void excluded."""
        return kernels.outline_m(self.pixels, self.valid, self.grid.require_ground())

    def derived(self, pixels: PixelSet, name: str, *others: Mask) -> Mask:
        """A new mask of other pixels; it keeps no identities, and its area counts only if all parents' does."""
        classes = self.classes.union(*(other.classes for other in others))
        areal = self.areal and all(other.areal for other in others)
        known = jointly([self.known, *(other.known for other in others)])
        return Mask(pixels, self.valid, self.grid, name, classes, areal=areal, known=known)


@dataclass(frozen=True, eq=False, repr=False)
class LabelImage:
    """Objects told apart by pixel, which never overlap; arrays are in the order of the objects.

    Attributes:
        runs: their pixels.
        mask: the mask that they make up.
    """

    runs: Runs
    mask: Mask

    @property
    def sizes_px(self) -> IntArray:
        """(n,) pixels of each object."""
        return self.runs.sizes_px

    @property
    def boxes(self) -> IntArray:
        """(n, 4) half-open pixel boxes: x_min, y_min, x_max, y_max."""
        return self.runs.boxes

    @property
    def centroids_yx(self) -> FloatArray:
        """(n, 2) centroids as row, column, pixel centres being whole numbers."""
        return self.runs.centroids_yx

    @property
    def areas_px(self) -> IntArray:
        """(n,) areas in pixels."""
        return self.runs.sizes_px

    @cached_property
    def areas_m2(self) -> FloatArray:
        """(n,) true ground areas in m2."""
        return self.runs.areas_m2(self.mask.grid.require_ground())

    @cached_property
    def outlines_m(self) -> FloatArray:
        """(n,) lengths in metres of the objects' outlines, image border and edges to void excluded."""
        return kernels.object_outlines_m(self.runs, self.mask.valid, self.mask.grid.require_ground())

    @cached_property
    def compactness(self) -> FloatArray:
        """(n,) 4 pi area / outline squared, image border and edges to void included; at most 1."""
        ground = self.mask.grid.ground or kernels.pixel_ground(self.mask.grid.shape)
        whole_m = kernels.object_outlines_m(self.runs, None, ground)
        return np.minimum(4 * np.pi * self.runs.areas_m2(ground) / whole_m**2, 1.0)

    @property
    def scores(self) -> FloatArray:
        """(n,) NaN: components have no score."""
        return np.full(self.runs.count, np.nan)

    @property
    def source_ids(self) -> list[str]:
        """(n,) running numbers from 1, in reading order."""
        return [str(i + 1) for i in range(self.runs.count)]

    def touches(self, pixels: PixelSet) -> BoolArray:
        """(n,) bool: which objects have a pixel among these."""
        return self.runs.touches(pixels)


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
    valid: PixelSet = field(repr=False)
    classes: frozenset[str] = frozenset()
    areal: bool = True

    def __repr__(self) -> str:
        return f"Regions({len(self)} of {self.name!r})"

    def _repr_html_(self) -> str:
        """For notebooks: a table of the first objects, and where they are."""
        from swath.tools.displays import regions_html

        return regions_html(self)

    def __len__(self) -> int:
        """Number of objects."""
        return len(self.indices)

    def column(self, name: str) -> NDArray[Any]:
        """One property of every object, in order: "areas_m2", "sizes_px", "outlines_m", "boxes", "centroids_yx" ..."""
        return self.told(lambda source, own: np.asarray(getattr(source, name))[own])

    def measured(self, measure: Callable[[Runs], NDArray[Any]]) -> NDArray[Any]:
        """What `measure` says of the objects' pixels, one value (or row) per object, in order."""
        return self.told(lambda source, own: measure(source.runs.of(own)))

    def told(self, tell: Callable[[LabelImage | Patches, IntArray], NDArray[Any]]) -> NDArray[Any]:
        """What `tell` says of some objects of a source, one value (or row) per object, in order."""
        return self._in_order([tell(source, own) for source, own in self._by_source()])

    def touches(self, pixels: PixelSet) -> BoolArray:
        """(n,) bool: which objects have a pixel among these."""
        return self.measured(lambda runs: runs.touches(pixels))

    def _by_source(self) -> Iterator[tuple[LabelImage | Patches, IntArray]]:
        """Each source with the indices of the objects that come from it."""
        for k, source in enumerate(self.sources):
            yield source, self.indices[self.which == k]

    def _in_order(self, columns: list[NDArray[Any]]) -> NDArray[Any]:
        """Values that go source by source, in the order of the objects."""
        order = np.argsort(self.which, kind="stable")
        values = np.concatenate(columns)
        result = np.empty_like(values)
        result[order] = values
        return result

    def take(self, positions: NDArray[Any] | Sequence[int], name: str) -> Regions:
        """The objects at some positions (or where a bool array says so), under a new name."""
        chosen = np.asarray(positions)
        if chosen.dtype != bool:
            chosen = chosen.astype(np.int64)
        return replace(self, which=self.which[chosen], indices=self.indices[chosen], name=name)

    @cached_property
    def shared_area_m2(self) -> float:
        """Ground area in m2 by which the objects' summed areas exceed the ground they cover: where outlines overlap."""
        ground, shared = self.grid.require_ground(), 0.0
        for source, own in self._by_source():
            if isinstance(source, Patches):
                shared += float(source.areas_m2[own].sum()) - source.covered(own, ground)
        return shared

    @cached_property
    def mask(self) -> Mask:
        """All pixels of the objects as one mask."""
        runs = [source.runs.of(own) for source, own in self._by_source()]
        pixels = by_window(self.valid, lambda rows, cols: any_of([part.window(rows, cols) for part in runs]))
        known = jointly([source.mask.known for source in self.sources if isinstance(source, LabelImage)])
        return Mask(pixels, self.valid, self.grid, self.name, self.classes, areal=self.areal, known=known)


def covered_area(thing: Mask | Regions, ground: Ground) -> float:
    """Area in the square of a ground's unit: of outlines where all of a thing has them, else of its pixels.

    Args:
        thing: overlaps count once.
        ground: the grid's own, or one whose unit is the pixel.
    """
    if isinstance(thing, Regions):
        sources, indices = thing.sources, thing.indices
    else:
        # Objects without a valid pixel lie outside the area of interest, where nothing counts.
        sources = (thing.objects(8),) if thing.features is not None else ()
        indices = np.flatnonzero(sources[0].sizes_px) if sources else np.zeros(0, dtype=np.int64)
    if len(sources) == 1 and isinstance(sources[0], Patches):
        return sources[0].covered(indices, ground)
    return kernels.mask_area_m2(thing.pixels if isinstance(thing, Mask) else thing.mask.pixels, ground)
