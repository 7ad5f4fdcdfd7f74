"""One label map measured by a second route: outlines and areas as polygons, distances by k-d tree on pixel centres.

Nothing of `swath.tools` is used, so that a fault there cannot hide in the truth. Pixel centres are `(column + 0.5,
row + 0.5)` in steps of the grid's two axes in metres; polygons run along pixel edges in pixels.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray
from rasterio.errors import NotGeoreferencedWarning
from rasterio.features import rasterize, shapes
from scipy.ndimage import binary_erosion
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from shapely.geometry import shape

from swath.errors import InputError
from swath.raster.reader import open_raster
from swath.segment.legend import NamedValues

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

VOID = -1
UNNAMED = -2
COVERAGE_STEP_PX = 8
"""How much of a tile a buffer swallows is seen on every eighth pixel of every eighth row."""


@dataclass(frozen=True, eq=False)
class Patches:
    """The 8-connected regions of a class.

    Attributes:
        areas_px: (n,) area of each in pixels, from its polygons.
        numbers: (rows, columns) index of the patch a pixel belongs to, -1 outside the class.
    """

    areas_px: Floats
    numbers: NDArray[np.int32] = field(repr=False)


class Landscape:
    """A label map: which class a pixel has, and what can be measured of it.

    Attributes:
        names: classes of the legend, whether they are in this map or not.
        codes: (rows, columns) index into `names`; VOID, or UNNAMED for a value that the legend does not name.
        step_xy_m: metres on the ground from one column, and from one row, to the next.
        stated_gsd_m: the ground size that was stated for it; None where it brings its own.
        valid_px: number of pixels that are not void.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        codes: NDArray[np.int16],
        step_xy_m: tuple[float, float],
        stated_gsd_m: float | None = None,
    ) -> None:
        self.names = names
        self.codes = codes
        self.step_xy_m = step_xy_m
        self.stated_gsd_m = stated_gsd_m
        self.valid_px = int(np.count_nonzero(codes != VOID))
        self._pixels: dict[str, Bools] = {}
        self._borders: dict[str, Bools] = {}
        self._patches: dict[str, Patches] = {}
        self._patch_distances: dict[tuple[str, str], Floats] = {}
        self._trees: dict[str, cKDTree] = {}
        self._distances: dict[tuple[str, str], Floats] = {}
        self._coverage: dict[str, Floats] = {}

    @property
    def pixel_m2(self) -> float:
        """Area of a pixel in m2."""
        return self.step_xy_m[0] * self.step_xy_m[1]

    @property
    def side_m(self) -> float:
        """The shorter side of the map in metres."""
        rows, columns = self.codes.shape
        return float(min(columns * self.step_xy_m[0], rows * self.step_xy_m[1]))

    def pixels(self, name: str) -> Bools:
        """(rows, columns) bool: where a class is."""
        if name not in self._pixels:
            self._pixels[name] = self.codes == self.names.index(name)
        return self._pixels[name]

    def has(self, name: str) -> bool:
        """Whether a class is anywhere in the map."""
        return bool(self.pixels(name).any())

    def patches(self, name: str) -> Patches:
        """The regions of a class: polygons that share an edge or only a corner belong together."""
        if name not in self._patches:
            self._patches[name] = _patches(self.pixels(name))
        return self._patches[name]

    def distances_m(self, name: str, target: str) -> Floats:
        """Metres from every pixel of a class, row by row, to the nearest pixel of another; infinite where none is."""
        if (name, target) not in self._distances:
            self._distances[name, target] = self._to(target, self._centres(self.pixels(name)))
        return self._distances[name, target]

    def patch_distances_m(self, name: str, target: str) -> Floats:
        """(n,) metres from the nearest pixel of each patch of a class to another class."""
        if (name, target) not in self._patch_distances:
            patches, border = self.patches(name), self._border(name)
            nearest = np.full(len(patches.areas_px), np.inf)
            np.minimum.at(nearest, patches.numbers[border], self._to(target, self._centres(border)))
            self._patch_distances[name, target] = nearest
        return self._patch_distances[name, target]

    def coverage(self, target: str, distance_m: float) -> float:
        """About which share of the valid pixels, 0 to 1, lies within a distance of a class."""
        if target not in self._coverage:
            sampled = np.zeros(self.codes.shape, dtype=bool)
            sampled[::COVERAGE_STEP_PX, ::COVERAGE_STEP_PX] = True
            self._coverage[target] = self._to(target, self._centres(sampled & (self.codes != VOID)))
        return float(np.mean(self._coverage[target] <= distance_m))

    def _border(self, name: str) -> Bools:
        """The pixels of a class that have a side that is not of the class: what is nearest to any other class."""
        if name not in self._borders:
            mask = self.pixels(name)
            self._borders[name] = mask & ~binary_erosion(mask)
        return self._borders[name]

    def _centres(self, mask: Bools) -> Floats:
        rows, columns = np.nonzero(mask)
        centres: Floats = np.column_stack((columns, rows)) * np.asarray(self.step_xy_m)
        return centres

    def _to(self, target: str, points: Floats) -> Floats:
        if not self.has(target):
            return np.full(len(points), np.inf)
        if target not in self._trees:
            # On a lattice, where many distances are equal, the plain tree answers up to four times as fast.
            self._trees[target] = cKDTree(self._centres(self._border(target)), compact_nodes=False, balanced_tree=False)
        distances: Floats = self._trees[target].query(points)[0]
        return distances


def _patches(mask: Bools) -> Patches:
    pieces = [shape(outline) for outline, _ in shapes(mask.astype(np.uint8), mask=mask, connectivity=4)]
    numbers = np.full(mask.shape, -1, dtype=np.int32)
    if not pieces:
        return Patches(np.zeros(0), numbers)
    one, other = shapely.STRtree(pieces).query(pieces, predicate="intersects")
    touching = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(len(pieces), len(pieces)))
    count, owner = connected_components(touching, directed=False)
    areas = np.bincount(owner, weights=shapely.area(pieces), minlength=count).astype(np.float64)
    rasterize(zip(pieces, owner.tolist(), strict=True), out=numbers)
    return Patches(areas, numbers)


def read_landscape(path: Path, named: NamedValues, gsd_m: float | None) -> Landscape:
    """Read a label map.

    Args:
        path: a raster of class values, or of colours where the legend names colours.
        named: what they mean.
        gsd_m: metres on the ground of a pixel's side, for a map without georeference; None to use the file's.

    Raises:
        InputError: it has no ground size, an uneven one, or is not such a raster.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        raster = open_raster(path)
        if raster.grid.ground is None:
            raster = open_raster(path, gsd_m=gsd_m)
        bands = raster.read().data
    ground = raster.grid.ground
    if ground is None:
        raise InputError(f"{path} has no georeference. Next: state the ground size of its pixels with --gsd METRES.")
    if not (ground.uniform and ground.orthogonal):
        raise InputError(f"The pixels of {path} differ in size on the ground. Next: reproject it to UTM.")
    if len(bands) != (3 if named.coloured else 1):
        raise InputError(f"{path} has {len(bands)} bands, which the legend {named.source} cannot name.")
    filled = np.ma.filled(bands, 0).astype(np.int64)
    values = (filled[0] << 16) | (filled[1] << 8) | filled[2] if named.coloured else filled[0]
    void = np.ma.getmaskarray(bands).all(axis=0) | np.isin(values, list(named.legend.void))
    codes = _codes(values, void, named.legend.names)
    return Landscape(_distinct(named.legend.names), codes, ground.size_xy_m, raster.grid.stated_gsd_m)


def _distinct(legend: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(legend.values()))


def _codes(values: NDArray[np.int64], void: Bools, legend: Mapping[int, str]) -> NDArray[np.int16]:
    names = _distinct(legend)
    codes = np.full(values.shape, UNNAMED, dtype=np.int16)
    for value, name in legend.items():
        codes[values == value] = names.index(name)
    codes[void] = VOID
    return codes
