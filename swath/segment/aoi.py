"""Areas of interest: polygons laid onto an image; what lies outside is treated as not there.

A pixel belongs to an area where its centre lies inside, so that areas that share borders share no pixel and leave none
out: what is measured in them adds up to the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely

from swath.errors import InputError
from swath.raster.local_files import file_of
from swath.raster.pixel_sets import by_window, number_of, window_of_set
from swath.raster.placing import extent
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet, TiledPixels
from swath.segment import burn, vector_file
from swath.segment.codes import listed
from swath.segment.coverage import image_frame, share_inside
from swath.segment.outlines import Geometries, in_pixels
from swath.segment.protocol import BoolImage
from swath.segment.vector import crs_in_force
from swath.segment.vector_file import VectorFile

NAME = "the area of interest"
WHOLE = 0.9995
"""An area that is measured to this share is measured: below it the share, to a tenth of a percent, is not 100."""


@dataclass(frozen=True, eq=False)
class Area:
    """One area, laid onto an image.

    Attributes:
        name: what people call it.
        pixels: (h, w) bool, cut out by its box: the pixels whose centre lies inside; in tiles where the box is large.
        top: first row of the box.
        left: first column of the box.
        covered: share of its ground area that lies in the image's frame, 0 to 1; NaN where it cannot be told.
        notes: sentences for people.
    """

    name: str
    pixels: PixelSet = field(repr=False)
    top: int
    left: int
    covered: float
    notes: tuple[str, ...] = ()

    @property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns of the box."""
        rows, cols = self.pixels.shape
        return slice(self.top, self.top + rows), slice(self.left, self.left + cols)

    def clipped(self, valid: PixelSet) -> PixelSet:
        """(rows, columns) bool: the valid pixels inside."""
        return by_window(valid, self._inside) & valid

    def _inside(self, rows: slice, cols: slice) -> BoolImage | bool:
        """Which pixels of a window of the image lie inside."""
        box_rows, box_cols = self.window
        both_rows = slice(max(rows.start, box_rows.start), min(rows.stop, box_rows.stop))
        both_cols = slice(max(cols.start, box_cols.start), min(cols.stop, box_cols.stop))
        if both_rows.start >= both_rows.stop or both_cols.start >= both_cols.stop:
            return False
        window = np.zeros((rows.stop - rows.start, cols.stop - cols.start), dtype=bool)
        own = self.pixels[_moved(both_rows, self.top), _moved(both_cols, self.left)]
        window[_moved(both_rows, rows.start), _moved(both_cols, cols.start)] = own
        return window

    def measured(self, valid: PixelSet) -> float:
        """Share of the area that lies in the frame and is valid there, 0 to 1; NaN where it cannot be told."""
        whole = number_of(self.pixels)
        return self.covered * self._valid_px(valid) / whole if whole else 0.0

    def _valid_px(self, valid: PixelSet) -> int:
        """How many of its pixels are valid."""
        if not isinstance(self.pixels, TiledPixels):
            return int(np.count_nonzero(self.pixels & valid[self.window]))
        count = 0
        for rows, cols, inside in self.pixels.tiled_parts():
            where = _moved(rows, -self.top), _moved(cols, -self.left)
            count += int(np.count_nonzero(inside & window_of_set(valid, *where)))
        return count

    def remarks(self, valid: PixelSet) -> tuple[str, ...]:
        """What a careful reader should know of the area, the share that is measured included where it is not all."""
        share = self.measured(valid)
        if not share < WHOLE:
            return self.notes
        return (
            *self.notes,
            f"The image covers {100 * share:.1f} % of {self.name}: the rest lies outside it, is nodata or void.",
        )


@dataclass(frozen=True, eq=False)
class AreaFile:
    """The polygons of a vector file, in its own CRS.

    Attributes:
        file: geometries and columns.
        ids: what names each polygon: the cells of a column, or the file's feature numbers.
    """

    file: VectorFile = field(repr=False)
    ids: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The file."""
        return self.file.path

    def on(self, image: Raster, ids: Collection[str] | None = None) -> Iterator[tuple[str, Area | str]]:
        """Polygons as zones of an image, or the sentence that says why one cannot be; in file order, one at a time.

        Args:
            image: the image.
            ids: which ones; None for all.

        Raises:
            InputError: one of the two names no CRS while the other does, or no transformation is known.
        """
        chosen = [i for i, number in enumerate(self.ids) if ids is None or number in ids]
        crs, note = crs_in_force(self.file, image)
        placed = in_pixels(self.file.geometries[chosen], crs, image.grid)
        outline_of = dict(zip(placed.index.tolist(), placed.outlines, strict=True))
        frame = image_frame(image.grid, crs)

        def laid(k: int, number: str, geometry: Any) -> Area | str:
            what = f"Zone {number} of {self.path.name}"
            if geometry is None or geometry.is_empty:
                return f"{what} has no outline."
            if k not in outline_of:
                return _elsewhere(what, [geometry], crs, image)
            share = share_inside([geometry], frame, crs)
            area = _area(f"zone {number}", [outline_of[k]], image, share, note, [geometry])
            return area if area.pixels.any() else _too_small(what, image)

        return ((self.ids[i], laid(k, self.ids[i], self.file.geometries[i])) for k, i in enumerate(chosen))

    def together(self, image: Raster, *, only: str | None = None) -> Area:
        """All polygons as one area of an image, or the one of some id.

        Raises:
            InputError: none of them lies in the image, there is no such id, or the file cannot be placed.
        """
        chosen = [i for i, number in enumerate(self.ids) if only in (None, number)]
        if not chosen:
            raise InputError(f'{self.path.name} has no polygon "{only}". Next: name one of {listed(self.ids)}.')
        crs, note = crs_in_force(self.file, image)
        geometries = self.file.geometries[chosen]
        placed = in_pixels(geometries, crs, image.grid)
        if not len(placed.outlines):
            raise InputError(
                f"{_elsewhere(self.path.name, geometries, crs, image)} "
                "Next: give an area of the same place, or correct the CRS of one of the two."
            )
        share = share_inside(geometries, image_frame(image.grid, crs), crs)
        area = _area(NAME if only is None else f"zone {only}", placed.outlines, image, share, note, geometries)
        if not area.pixels.any():
            raise InputError(f"{_too_small(self.path.name, image)} Next: give a larger area.")
        return area


def read_areas(path: Path, id_field: str | None = None) -> AreaFile:
    """Read a vector file of polygons.

    Args:
        path: GeoJSON, GeoPackage, shapefile or FlatGeobuf, in any CRS.
        id_field: column that tells the polygons apart; None for the file's feature numbers.

    Raises:
        InputError: the file cannot be read, holds no polygon or anything else, or the column is missing, has gaps or
            holds a value twice.
    """
    file_of(str(path))
    layer, _, crs = vector_file.header(path)
    file = vector_file.read(path, layer, crs, None)
    drawn = file.geometries[~(shapely.is_missing(file.geometries) | shapely.is_empty(file.geometries))]
    if not len(drawn):
        raise InputError(f"{path.name} holds no polygon. Next: give a file of polygons.")
    if (shapely.get_dimensions(drawn) < 2).any():
        raise InputError(f"{path.name} draws lines or points, which enclose nothing. Next: give a file of polygons.")
    file.geometries[:] = [_polygons(geometry) for geometry in file.geometries]
    return AreaFile(file, tuple(map(str, file.fids.tolist())) if id_field is None else _ids(file, id_field))


def _polygons(geometry: Any) -> Any:
    """A geometry without the lines and points that a collection may hold beside its polygons."""
    if geometry is None or geometry.geom_type != "GeometryCollection":
        return geometry
    parts = shapely.get_parts(geometry)
    return shapely.MultiPolygon([part for part in shapely.get_parts(parts) if part.geom_type == "Polygon"])


def area_of_interest(path: Path, image: Raster, *, id_field: str | None = None, only: str | None = None) -> Area:
    """The polygons of a vector file as the area of interest of an image.

    Args:
        path: vector file in any CRS.
        image: the image.
        id_field: column that tells the polygons apart, where only one of them is meant.
        only: the one that is meant.

    Raises:
        InputError: the file cannot be used, holds anything but polygons, or lies elsewhere.
    """
    return read_areas(path, id_field).together(image, only=only)


def _area(
    name: str,
    outlines: Geometries | Sequence[Any],
    image: Raster,
    covered: float,
    note: str,
    geometries: Geometries | Sequence[Any],
) -> Area:
    rows, cols = image.shape
    x0, y0, x1, y1 = shapely.total_bounds(outlines)
    left, top = int(np.clip(np.floor(x0), 0, cols - 1)), int(np.clip(np.floor(y0), 0, rows - 1))
    right, bottom = int(np.clip(np.ceil(x1), left + 1, cols)), int(np.clip(np.ceil(y1), top + 1, rows))
    local = shapely.transform(np.asarray(outlines, dtype=object), lambda xy: xy - (left, top))
    pixels = burn.covered(local, (bottom - top, right - left), image.tiles)
    broken = int(np.count_nonzero(~shapely.is_valid(np.asarray(geometries, dtype=object))))
    repairs = f"{broken} invalid outlines of {name} were repaired." if broken else ""
    return Area(name, pixels, top, left, covered, tuple(filter(None, (note, repairs))))


def _moved(part: slice, first: int) -> slice:
    return slice(part.start - first, part.stop - first)


def _elsewhere(what: str, geometries: Geometries | Sequence[Any], crs: pyproj.CRS | None, image: Raster) -> str:
    """The sentence about polygons of another place; it names both extents."""
    x0, y0, x1, y1 = shapely.total_bounds(np.asarray(geometries, dtype=object)).tolist()
    return (
        f"{what} lies outside {image.path.name}: it covers x {x0:.9g} to {x1:.9g}, y {y0:.9g} to {y1:.9g} in "
        f"{'pixel coordinates' if crs is None else crs.name}; the image covers {extent(image.grid)}."
    )


def _too_small(what: str, image: Raster) -> str:
    return f"{what} holds the centre of no pixel of {image.path.name}, so there is nothing to measure in it."


def _ids(file: VectorFile, id_field: str) -> tuple[str, ...]:
    name = file.path.name
    if id_field not in file.columns:
        raise InputError(f'{name} has no column "{id_field}". Next: name one of {listed(list(file.columns))}.')
    cells = [_text(value) for value in file.columns[id_field].tolist()]
    if gaps := cells.count(""):
        raise InputError(
            f'The column "{id_field}" of {name} is empty for {gaps} of {len(cells)} polygons. Next: name a column that '
            "tells all polygons apart."
        )
    cell, times = Counter(cells).most_common(1)[0]
    if times > 1:
        raise InputError(
            f'The column "{id_field}" of {name} holds "{cell}" {times} times. Next: name a column that tells all '
            "polygons apart, or dissolve those that belong together."
        )
    return tuple(cells)


def _text(cell: Any) -> str:
    """A cell as text, empty where it holds nothing; a whole number without its point."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()
