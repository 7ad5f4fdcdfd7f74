"""One raster of heights under an image: in metres, gaps as NaN, on its own grid and on the image's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError, Refused
from swath.raster import terrain
from swath.raster.fields import Field, Numbers, TiledField
from swath.raster.grid import Grid
from swath.raster.held import IN_ARRAYS, Tiles, refuse_whole
from swath.raster.parallel import threaded
from swath.raster.placing import Placement, locator, place
from swath.raster.reader import Pixels, Raster, masked_windows, open_raster
from swath.raster.remote import shown
from swath.raster.resampling import averaged, bilinear, cells_per_pixel
from swath.raster.source import opened
from swath.raster.tiled import everywhere
from swath.raster.vertical import Vertical, flat, read_vertical

Surface = Literal["dsm", "dtm", "ndsm", "dem"]
WORDS: Mapping[Surface, str] = {
    "dsm": "first surface (DSM)",
    "dtm": "bare earth (DTM)",
    "ndsm": "height above ground (nDSM)",
    "dem": "terrain (DEM)",
}
GAPS = (-9999.0, -99999.0, -32767.0, -32768.0)
"""What files hold where nothing was measured, also files that do not declare it."""

HIGHEST_M = 1e5
"""No height on any body is larger: 3.4e38 and its like are gaps."""


@dataclass(frozen=True)
class Cells:
    """A surface on its own grid, cut to the image.

    Attributes:
        heights: (rows, columns) in metres, NaN in gaps.
        grid: where they lie.
        notes: what a careful reader should know of them.
    """

    heights: Numbers
    grid: Grid
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class HeightRaster:
    """One raster of heights and how it lies under the image; its cells are read when they are needed.

    Attributes:
        surface: what it is a height of.
        raster: the file.
        vertical: its vertical unit and datum.
        image: the image's grid.
        placement: its part under the image.
        tiles: when and how the image is held in tiles; heights are then read window by window.
    """

    surface: Surface
    raster: Raster
    vertical: Vertical
    image: Grid = field(repr=False)
    placement: Placement
    tiles: Tiles = field(default=IN_ARRAYS, repr=False)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.raster.path.name

    @cached_property
    def cells(self) -> Cells:
        """The cells under the image, in metres.

        Raises:
            InputError: they cannot be read.
            Refused: none of them holds a height, or the image is held in tiles.
        """
        if self.in_tiles:
            refuse_whole(self.image.shape)
        rows, cols = self.placement.rows, self.placement.cols
        pixels = self.raster.read(self.raster.data_bands[0].index, rows=rows, cols=cols)
        heights, gaps = self._in_metres(pixels)
        if not np.isfinite(heights).any():
            raise self._nothing()
        return Cells(heights, self._grid, self._notes(gaps.size, np.unique(gaps)))

    def _in_metres(self, pixels: Pixels) -> tuple[Numbers, Numbers]:
        """Heights in metres, NaN in gaps; what the file holds where it does not say that there is a gap."""
        stored = np.asarray(pixels.data.data[0])
        known = ~np.ma.getmaskarray(pixels.data)[0]
        undeclared = np.isin(stored, GAPS) & known
        values = np.asarray(pixels.physical.data[0], dtype=np.result_type(stored.dtype, np.float32))
        heights = np.where(known & ~undeclared, values * self.vertical.metres, np.nan).astype(values.dtype)
        heights[np.abs(heights) > HIGHEST_M] = np.nan
        return heights, stored[undeclared]

    @property
    def in_tiles(self) -> bool:
        """Whether the image is held in tiles, so that heights are read window by window."""
        return self.tiles.hold(self.image.shape)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader should know of the heights.

        Raises:
            InputError: they cannot be read.
            Refused: there are none, or they are on another grid than an image in tiles.
        """
        return self._looked_through[0] if self.in_tiles else self.cells.notes

    @cached_property
    def _looked_through(self) -> tuple[tuple[str, ...], TiledField]:
        """Notes, and the heights of an image in tiles, after a pass over all of them."""
        if not self.placement.same_grid:
            raise Refused(
                f"{self.name} lies on another grid than the image, which is held in tiles. "
                "Next: warp it onto the image's grid (gdalwarp -te, -tr), or ask about a part that is cut out."
            )
        band, grid = self.raster.data_bands[0], self.raster.grid
        read, in_metres = masked_windows(self.raster, band.index), self._in_metres

        def looked_at(part: tuple[slice, slice]) -> tuple[Any, bool, Numbers, NDArray[np.int64]]:
            heights, gaps = in_metres(Pixels(read(*part), grid, (band,)))
            return heights.dtype, bool(np.isfinite(heights).any()), *np.unique(gaps, return_counts=True)

        parts = everywhere(self.image.shape, self.tiles).parts()
        dtypes, known, values, counts = zip(*threaded(looked_at, parts), strict=True)
        if not any(known):
            raise self._nothing()
        notes = self._notes(int(np.concatenate(counts).sum()), np.unique(np.concatenate(values)))
        windows = TiledField(
            self.image.shape,
            self.tiles,
            lambda rows, cols: in_metres(Pixels(read(rows, cols), grid, (band,)))[0],
            dtypes[0],
        )
        return notes, windows

    def _nothing(self) -> Refused:
        return Refused(
            f"No cell of {self.name} under the image holds a height: all are nodata. "
            f"Next: give another file as --{self.surface}."
        )

    def _notes(self, gaps: int, held: Numbers) -> tuple[str, ...]:
        notes = [*self.placement.warnings]
        if gaps:
            values = ", ".join(f"{value:g}" for value in held)
            notes.append(f"{gaps:,} cells of {self.name} hold {values} undeclared; they were taken as nodata.")
        if self.vertical.said:
            notes.append(f"{self.name} states no vertical unit: --vertical-unit says {self.vertical.unit}.")
        if self.vertical.unit is None:
            crs = self.raster.grid.crs
            feet = crs is not None and crs.is_projected and crs.axis_info[0].unit_conversion_factor != 1
            notes.append(f"{self.name} states no vertical unit: its heights were taken as metres.")
            if crs is not None and feet:
                notes.append(
                    f"The CRS of {self.name} counts in {crs.axis_info[0].unit_name}: its heights may be feet "
                    "too, which would make the answer wrong. Next: say the unit with --vertical-unit ft (or m)."
                )
        return tuple(notes)

    @property
    def _grid(self) -> Grid:
        """Where the cells lie; the image's grid where they are its pixels, so that a stated pixel size holds."""
        if self.placement.same_grid:
            return self.image
        own = replace(self.raster.grid, crs=flat(self.raster.grid.crs))
        return own.window(self.placement.rows, self.placement.cols)

    def on_image(self, values: Numbers) -> Numbers:
        """A field on this raster's cells at the image's pixels, NaN where unknown."""
        if self.placement.same_grid:
            return values
        coarse, grid = averaged(values, self._grid, self._block)
        return bilinear(coarse, locator(grid, self._flat_image, self.name, "heights"), self._flat_image)

    @cached_property
    def _block(self) -> tuple[int, int]:
        return cells_per_pixel(locator(self._grid, self._flat_image, self.name, "heights"), self.image)

    @property
    def _flat_image(self) -> Grid:
        return replace(self.image, crs=flat(self.image.crs))

    @cached_property
    def heights(self) -> Field:
        """(rows, columns) of the image, in metres, NaN where unknown; window by window of an image in tiles.

        Raises:
            Refused: no pixel of the image has a height, or they are on another grid than an image in tiles.
        """
        if self.in_tiles:
            return self._looked_through[1]
        found = self.on_image(self.cells.heights)
        if not np.isfinite(found).any():
            raise Refused(
                f"No pixel of the image has a height in {self.name}: there it is nodata. "
                f"Next: give another file as --{self.surface}."
            )
        return found

    @cached_property
    def gradient(self) -> tuple[Numbers, Numbers]:
        """Rise towards east and north at the image's pixels, metres per metre, from this raster's own cells.

        Raises:
            Refused: no ground size is known.
        """
        cells = self.cells
        east, north = terrain.gradient(cells.heights, cells.grid)
        return self.on_image(east), self.on_image(north)

    def index(self, index: terrain.Index) -> Numbers:
        """An index of `swath.raster.terrain` at the image's pixels, from this raster's own cells."""
        return self.on_image(terrain.index_m(self.cells.heights, index))

    @property
    def method(self) -> str:
        """How it came onto the image's grid, for people."""
        if self.placement.same_grid:
            return f"{self.surface} {self.name} on the image's own grid"
        rows, cols = self._block
        how = "bilinear" if (rows, cols) == (1, 1) else f"mean of {rows} x {cols} cells, then bilinear"
        return f"{self.surface} {self.name} ({self.raster.grid.crs_name}) onto the image's grid: {how}, gaps kept"

    def describe(self) -> dict[str, Any]:
        """The file, its unit, datum and alignment, JSON-ready."""
        return {
            "path": shown(self.raster.path),
            "sha256": self.raster.sha256,
            "unit": self.vertical.unit,
            "datum": self.vertical.datum,
            "method": self.method,
        }


def open_height_raster(surface: Surface, path: Path, image: Raster, unit: str | None) -> HeightRaster:
    """A raster of heights that belongs to an image.

    Args:
        surface: what it is a height of.
        path: the file.
        image: its grid is the one to measure on.
        unit: what heights are in where the file does not say; None where nobody said.

    Raises:
        InputError: it cannot be opened, holds no single band of real numbers, lies elsewhere, or states a unit that is
            none of height or not the one that was said.
    """
    raster = open_raster(path, tiles=image.tiles)
    bands = raster.data_bands
    if len(bands) != 1 or raster.complex:
        what = "complex numbers" if raster.complex else f"{len(bands)} bands"
        raise InputError(
            f"{raster.path.name} holds {what}, but a {WORDS[surface]} is one band of numbers. "
            f"Next: give a raster of heights as --{surface}."
        )
    with opened(raster.name) as dataset:
        vertical = read_vertical(dataset, raster.grid.crs, raster.path.name, unit)
    own, grid = (replace(item.grid, crs=flat(item.grid.crs)) for item in (raster, image))
    placement = place(own, grid, raster.path.name, image.path.name, "heights")
    return HeightRaster(surface, raster, vertical, image.grid, placement, image.tiles)
