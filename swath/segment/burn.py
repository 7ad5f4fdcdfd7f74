"""Which pixels an outline covers: those whose centre lies inside; a line or a point covers every pixel it touches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from affine import Affine
from numpy.typing import NDArray
from rasterio.features import rasterize
from shapely.geometry.base import BaseGeometry

from swath.raster.held import Tiles
from swath.raster.tiled import PixelSet, TiledPixels, tiled

BoolImage = NDArray[np.bool_]
IntArray = NDArray[np.int64]

CHUNK_PX = 2**24


@dataclass(frozen=True, eq=False)
class Runs:
    """Pixels of many outlines as runs along rows, ordered by outline and row; they may overlap.

    Attributes:
        outline: (n,) which outline each run belongs to.
        row: (n,) its row.
        start: (n,) its first column.
        stop: (n,) the column after its last.
    """

    outline: IntArray
    row: IntArray
    start: IntArray
    stop: IntArray

    def sizes_px(self, count: int) -> IntArray:
        """(count,) pixels of each outline."""
        return np.bincount(self.outline, self.stop - self.start, minlength=count).astype(np.int64)

    def flat(self, cols: int) -> Iterator[IntArray]:
        """Numbers (row * cols + column) of all pixels, in order, some runs at a time."""
        lengths = self.stop - self.start
        for part in np.split(np.arange(len(lengths)), _cuts(lengths)):
            yield _counted_up(self.row[part] * cols + self.start[part], lengths[part])


def runs(polygons: Sequence[BaseGeometry] | NDArray[np.object_], shape: tuple[int, int]) -> Runs:
    """Pixels whose centre lies inside polygons, every polygon by itself.

    Even-odd filling along the lines through pixel centres, all edges at once. A centre on an edge belongs to the
    polygon right of or below the edge, so that polygons which share an edge share no pixel and leave none out.

    Args:
        polygons: valid polygons and multipolygons in pixel coordinates.
        shape: (rows, columns) of the image; what lies outside is left out.
    """
    owner, y_low, x_low, y_high, x_high = _edges(np.asarray(polygons, dtype=object))
    first = np.maximum(np.ceil(y_low - 0.5), 0).astype(np.int64)
    last = np.minimum(np.ceil(y_high - 0.5), shape[0]).astype(np.int64)
    crossed = np.maximum(last - first, 0)
    edge = np.repeat(np.arange(len(crossed)), crossed)
    row = _counted_up(first, crossed)
    x = x_low[edge] + (row + 0.5 - y_low[edge]) * ((x_high - x_low) / (y_high - y_low))[edge]
    order = np.lexsort((x, row, owner[edge]))
    owner, row = owner[edge][order][::2], row[order][::2]
    column = np.clip(np.ceil(x[order] - 0.5), 0, shape[1]).astype(np.int64)
    start, stop = column[::2], column[1::2]
    filled = stop > start
    return Runs(owner[filled], row[filled], start[filled], stop[filled])


def burn(outlines: Sequence[BaseGeometry], shape: tuple[int, int], *, areal: bool) -> BoolImage:
    """(rows, columns) bool: the pixels of all outlines together.

    An outline that covers no pixel centre keeps the pixel that holds a point of it, so that no object vanishes.

    Args:
        outlines: in pixel coordinates, inside the image.
        shape: (rows, columns) of the image.
        areal: whether pixel centres count, else every touched pixel.
    """
    mask: BoolImage = np.zeros(shape, dtype=bool)
    if not len(outlines):
        return mask
    if not areal:
        return np.asarray(rasterize(outlines, out_shape=shape, dtype="uint8", all_touched=True) > 0)
    found = runs(outlines, shape)
    for pixels in found.flat(shape[1]):
        mask.reshape(-1)[pixels] = True
    for index in np.flatnonzero(found.sizes_px(len(outlines)) == 0).tolist():
        mask[held_by(outlines[index], shape)] = True
    return mask


def burn_in_tiles(
    outlines: Sequence[BaseGeometry], shape: tuple[int, int], tiles: Tiles, *, areal: bool
) -> TiledPixels:
    """The same of an image that is held in tiles: only outlines that reach into a tile are looked at for it.

    Args:
        outlines: in pixel coordinates, inside the image.
        shape: (rows, columns) of the image.
        tiles: how it is cut.
        areal: whether pixel centres count, else every touched pixel.
    """
    geometries = np.asarray(outlines, dtype=object)
    if not areal:
        tree = shapely.STRtree(geometries)

        def touched(rows: slice, cols: slice) -> BoolImage | bool:
            near = tree.query(shapely.box(cols.start - 1, rows.start - 1, cols.stop + 1, rows.stop + 1))
            if not len(near):
                return False
            window = (rows.stop - rows.start, cols.stop - cols.start)
            place = Affine.translation(cols.start, rows.start)
            return np.asarray(
                rasterize(list(geometries[near]), window, transform=place, dtype="uint8", all_touched=True) > 0
            )

        return tiled(shape, tiles, touched)
    found = runs(geometries, shape)
    alone = np.flatnonzero(found.sizes_px(len(geometries)) == 0)
    held = np.array([held_by(geometries[index], shape) for index in alone], dtype=np.int64).reshape(-1, 2)
    row, start = np.concatenate([found.row, held[:, 0]]), np.concatenate([found.start, held[:, 1]])
    stop = np.concatenate([found.stop, held[:, 1] + 1])
    order = np.argsort(row, kind="stable")
    return _in_tiles(row[order], start[order], stop[order], shape, tiles)


def covered(polygons: Sequence[BaseGeometry] | NDArray[np.object_], shape: tuple[int, int], tiles: Tiles) -> PixelSet:
    """(rows, columns) bool: the pixels whose centre lies inside any polygon, and no others.

    Args:
        polygons: valid polygons and multipolygons in pixel coordinates.
        shape: (rows, columns) of the image; what lies outside is left out.
        tiles: when and how it is cut; the pixels are the same either way.
    """
    found = runs(polygons, shape)
    if tiles.hold(shape):
        order = np.argsort(found.row, kind="stable")
        return _in_tiles(found.row[order], found.start[order], found.stop[order], shape, tiles)
    mask: BoolImage = np.zeros(shape, dtype=bool)
    for pixels in found.flat(shape[1]):
        mask.reshape(-1)[pixels] = True
    return mask


def _in_tiles(row: IntArray, start: IntArray, stop: IntArray, shape: tuple[int, int], tiles: Tiles) -> TiledPixels:
    """Runs, sorted by row, as a set of pixels in tiles."""

    def filled(rows: slice, cols: slice) -> BoolImage | bool:
        part = slice(*np.searchsorted(row, [rows.start, rows.stop]).tolist())
        left = np.maximum(start[part], cols.start) - cols.start
        lengths = np.minimum(stop[part], cols.stop) - cols.start - left
        seen = lengths > 0
        if not seen.any():
            return False
        window = np.zeros((rows.stop - rows.start, cols.stop - cols.start), dtype=bool)
        first = (row[part][seen] - rows.start) * window.shape[1] + left[seen]
        window.reshape(-1)[_counted_up(first, lengths[seen])] = True
        return window

    return tiled(shape, tiles, filled)


def held_by(outline: BaseGeometry, shape: tuple[int, int]) -> tuple[int, int]:
    """(row, column) of the pixel that holds a point of an outline."""
    point: Any = shapely.point_on_surface(outline)
    return min(max(int(point.y), 0), shape[0] - 1), min(max(int(point.x), 0), shape[1] - 1)


def _edges(polygons: NDArray[np.object_]) -> tuple[IntArray, Any, Any, Any, Any]:
    """Polygon, lower and higher end (y, x) of every edge that is not level.

    The ends are ordered by y, so that an edge that two polygons share is computed alike for both.
    """
    parts, part_of = shapely.get_parts(polygons, return_index=True)
    rings, ring_of = shapely.get_rings(parts, return_index=True)
    xy, point_of = shapely.get_coordinates(rings, return_index=True)
    along = (point_of[1:] == point_of[:-1]) & (xy[1:, 1] != xy[:-1, 1])
    here, there = xy[:-1][along], xy[1:][along]
    down = (here[:, 1] < there[:, 1])[:, None]
    low, high = np.where(down, here, there), np.where(down, there, here)
    return part_of[ring_of[point_of[:-1][along]]], low[:, 1], low[:, 0], high[:, 1], high[:, 0]


def _counted_up(first: IntArray, counts: IntArray) -> IntArray:
    """first[0], first[0] + 1, ... (counts[0] of them), first[1], ..."""
    ends = np.cumsum(counts)
    return np.repeat(first - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)


def _cuts(lengths: IntArray) -> IntArray:
    """Where to cut runs so that each part holds about `CHUNK_PX` pixels."""
    filled = np.cumsum(lengths) // CHUNK_PX
    return np.flatnonzero(np.diff(filled)) + 1
