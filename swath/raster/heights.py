"""Rasters of heights on the image's grid: in metres, gaps as NaN, one vertical datum.

A surface keeps its own grid for what is derived from neighbouring cells (slope, ruggedness); only results are brought
onto the image's grid. See design/heights.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from swath.errors import InputError, Refused
from swath.raster import terrain
from swath.raster.grid import Grid
from swath.raster.placing import Placement, locator, place
from swath.raster.reader import Raster, open_raster
from swath.raster.resampling import Field, averaged, bilinear, cells_per_pixel
from swath.raster.source import opened
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

NOISE_M = 0.5
"""A first surface may lie this far below bare earth by noise, where no accuracy is stated."""

TALLEST_M = 100.0
"""Ground cover that is everywhere higher than this is none: units or datums differ."""

STATE_HEIGHTS = "give --ndsm FILE, or --dsm FILE and --dtm FILE"
STATE_TERRAIN = "give --dem FILE or --dtm FILE (or --dsm FILE for the first surface, roofs and trees included)"


@dataclass(frozen=True)
class Cells:
    """A surface on its own grid, cut to the image.

    Attributes:
        heights: (rows, columns) in metres, NaN in gaps.
        grid: where they lie.
        notes: what a careful reader should know of them.
    """

    heights: Field
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
    """

    surface: Surface
    raster: Raster
    vertical: Vertical
    image: Grid = field(repr=False)
    placement: Placement

    @property
    def name(self) -> str:
        """The file's name."""
        return self.raster.path.name

    @cached_property
    def cells(self) -> Cells:
        """The cells under the image, in metres.

        Raises:
            InputError: they cannot be read.
            Refused: none of them holds a height.
        """
        rows, cols = self.placement.rows, self.placement.cols
        pixels = self.raster.read(self.raster.data_bands[0].index, rows=rows, cols=cols)
        stored = np.asarray(pixels.data.data[0])
        known = ~np.ma.getmaskarray(pixels.data)[0]
        undeclared = np.isin(stored, GAPS) & known
        values = np.asarray(pixels.physical.data[0], dtype=np.result_type(stored.dtype, np.float32))
        heights = np.where(known & ~undeclared, values * self.vertical.metres, np.nan).astype(values.dtype)
        heights[np.abs(heights) > HIGHEST_M] = np.nan
        if not np.isfinite(heights).any():
            raise Refused(
                f"No cell of {self.name} under the image holds a height: all are nodata. "
                f"Next: give another file as --{self.surface}."
            )
        return Cells(heights, self._grid, self._notes(stored[undeclared]))

    def _notes(self, gaps: Field) -> tuple[str, ...]:
        notes = [*self.placement.warnings]
        if gaps.size:
            values = ", ".join(f"{value:g}" for value in np.unique(gaps))
            notes.append(f"{gaps.size:,} cells of {self.name} hold {values} undeclared; they were taken as nodata.")
        if self.vertical.unit is None:
            crs = self.raster.grid.crs
            feet = crs is not None and crs.is_projected and crs.axis_info[0].unit_conversion_factor != 1
            doubt = f", although its CRS counts in {crs.axis_info[0].unit_name}" if crs is not None and feet else ""
            notes.append(f"{self.name} states no vertical unit: its heights were taken as metres{doubt}.")
        return tuple(notes)

    @property
    def _grid(self) -> Grid:
        """Where the cells lie; the image's grid where they are its pixels, so that a stated pixel size holds."""
        if self.placement.same_grid:
            return self.image
        own = replace(self.raster.grid, crs=flat(self.raster.grid.crs))
        return own.window(self.placement.rows, self.placement.cols)

    def on_image(self, values: Field) -> Field:
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
        """(rows, columns) of the image, in metres, NaN where unknown.

        Raises:
            Refused: no pixel of the image has a height.
        """
        found = self.on_image(self.cells.heights)
        if not np.isfinite(found).any():
            raise Refused(
                f"No pixel of the image has a height in {self.name}: there it is nodata. "
                f"Next: give another file as --{self.surface}."
            )
        return found

    @cached_property
    def gradient(self) -> tuple[Field, Field]:
        """Rise towards east and north at the image's pixels, metres per metre, from this raster's own cells.

        Raises:
            Refused: no ground size is known.
        """
        cells = self.cells
        east, north = terrain.gradient(cells.heights, cells.grid)
        return self.on_image(east), self.on_image(north)

    def index(self, index: terrain.Index) -> Field:
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
            "path": str(self.raster.path),
            "sha256": self.raster.sha256,
            "unit": self.vertical.unit,
            "datum": self.vertical.datum,
            "method": self.method,
        }


@dataclass(frozen=True)
class AboveGround:
    """Heights above ground.

    Attributes:
        heights: (rows, columns) of the image, in metres, NaN where unknown.
        source: what they were taken from, for people.
        notes: what a careful reader should know of them.
    """

    heights: Field
    source: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Heights:
    """The rasters of heights that were given with an image.

    Attributes:
        rasters: by what they are.
        accuracy_m: within how many metres heights are right, as somebody stated; None where nobody did.
    """

    rasters: Mapping[Surface, HeightRaster]
    accuracy_m: float | None = None

    @cached_property
    def above_ground(self) -> AboveGround:
        """The nDSM where one was given, else DSM minus DTM.

        Raises:
            Refused: neither was given, their units or datums clash, or nowhere is a height known.
        """
        ndsm, dsm, dtm = (self.rasters.get(surface) for surface in ("ndsm", "dsm", "dtm"))
        if ndsm is not None:
            _check_cover(ndsm.heights, f"{ndsm.name} is nowhere near the ground")
            return AboveGround(ndsm.heights, f"nDSM {ndsm.name}", ndsm.cells.notes)
        if dsm is None or dtm is None:
            given = ", ".join(f"--{surface}" for surface in self.rasters)
            raise Refused(f"Heights above ground need a first surface and bare earth; {given} is given. "
                          f"Next: {STATE_HEIGHTS}.")  # fmt: skip
        _check_clash(dsm, dtm)
        heights = np.asarray(dsm.heights - dtm.heights)
        if not np.isfinite(heights).any():
            raise Refused(f"Nowhere in the image do both {dsm.name} and {dtm.name} hold a height. "
                          "Next: give a DSM and a DTM of the same place.")  # fmt: skip
        _check_cover(heights, f"{dsm.name} is nowhere near {dtm.name}")
        notes = (*dsm.cells.notes, *dtm.cells.notes, *_one_sided_datum(dsm, dtm), *self._below(heights))
        return AboveGround(heights, f"DSM {dsm.name} - DTM {dtm.name}", notes)

    def _below(self, heights: Field) -> tuple[str, ...]:
        """A warning where the first surface lies below bare earth by more than noise."""
        noise = NOISE_M if self.accuracy_m is None else 2 * self.accuracy_m
        known = np.isfinite(heights)
        share = 100 * np.count_nonzero(heights[known] < -noise) / np.count_nonzero(known)
        if not share:
            return ()
        return (f"The DSM lies more than {noise:g} m below the DTM at {share:.2g} % of the pixels.",)

    def surface(self, named: Surface | Literal["auto"]) -> HeightRaster:
        """A surface by name; "auto" is the terrain where it was given (DEM, then DTM), else the first surface.

        Raises:
            Refused: it was not given.
        """
        order: tuple[Surface, ...] = ("dem", "dtm", "dsm") if named == "auto" else (named,)
        for surface in order:
            if surface in self.rasters:
                return self.rasters[surface]
        given = ", ".join(f"--{surface}" for surface in self.rasters)
        wanted = "Elevations need a surface" if named == "auto" else f"The {WORDS[named]} is not given"
        raise Refused(f"{wanted}; {given} is. Next: {STATE_TERRAIN if named == 'auto' else f'give --{named} FILE'}.")

    @property
    def methods(self) -> list[str]:
        """How each raster comes onto the image's grid."""
        return [raster.method for raster in self.rasters.values()]

    def describe(self) -> dict[str, Any]:
        """What was given, JSON-ready."""
        rasters = {surface: raster.describe() for surface, raster in self.rasters.items()}
        return {"accuracy_m": self.accuracy_m, "rasters": rasters}


def open_heights(files: Mapping[Surface, Path], image: Raster, accuracy_m: float | None = None) -> Heights | None:
    """Rasters of heights that belong to an image; None where none is given.

    Args:
        files: by what they are heights of.
        image: its grid is the one to measure on.
        accuracy_m: within how many metres the heights are right.

    Raises:
        InputError: a file cannot be opened, holds no single band of real numbers, lies elsewhere, states a unit that is
            none of height; or the accuracy is no length.
    """
    if accuracy_m is not None and not 0 < accuracy_m < HIGHEST_M:
        raise InputError(f"A vertical accuracy of {accuracy_m:g} m is not possible. Next: state metres above 0.")
    rasters = {surface: _opened(surface, path, image) for surface, path in files.items()}
    return Heights(rasters, accuracy_m) if rasters else None


def _opened(surface: Surface, path: Path, image: Raster) -> HeightRaster:
    raster = open_raster(path)
    bands = raster.data_bands
    if len(bands) != 1 or raster.complex:
        what = "complex numbers" if raster.complex else f"{len(bands)} bands"
        raise InputError(
            f"{raster.path.name} holds {what}, but a {WORDS[surface]} is one band of numbers. "
            f"Next: give a raster of heights as --{surface}."
        )
    with opened(raster.name) as dataset:
        vertical = read_vertical(dataset, raster.grid.crs, raster.path.name)
    own, grid = (replace(item.grid, crs=flat(item.grid.crs)) for item in (raster, image))
    placement = place(own, grid, raster.path.name, image.path.name, "heights")
    return HeightRaster(surface, raster, vertical, image.grid, placement)


def _check_clash(dsm: HeightRaster, dtm: HeightRaster) -> None:
    """Refuse a DSM and a DTM that do not count alike.

    Raises:
        Refused: other vertical datums, or only one of them says that it is not in metres.
    """
    one, other = dsm.vertical, dtm.vertical
    if one.datum and other.datum and one.datum != other.datum:
        raise Refused(
            f"{dsm.name} counts heights from {one.datum}, {dtm.name} from {other.datum}: their difference is no height "
            "above ground. Next: bring both to one vertical datum."
        )
    for stated, silent in ((dsm, dtm), (dtm, dsm)):
        if silent.vertical.unit is None and stated.vertical.metres != 1:
            raise Refused(
                f"{stated.name} is in {stated.vertical.unit}, {silent.name} states no vertical unit: whether both "
                "are in one unit is not known. Next: write the vertical unit into the file."
            )


def _one_sided_datum(dsm: HeightRaster, dtm: HeightRaster) -> tuple[str, ...]:
    for stated, silent in ((dsm, dtm), (dtm, dsm)):
        if stated.vertical.datum and not silent.vertical.datum:
            return (
                f"{silent.name} states no vertical datum; it was taken to be that of {stated.name}, "
                f"{stated.vertical.datum}.",
            )
    return ()


def _check_cover(heights: Field, found: str) -> None:
    """Refuse heights above ground that never come near the ground.

    Raises:
        Refused: nineteen twentieths of the pixels lie more than `TALLEST_M` above ground, or below it.
    """
    low, high = np.nanpercentile(heights, (5, 95))
    if low > TALLEST_M or high < -TALLEST_M:
        raise Refused(
            f"{found}: most of it lies {abs(low if low > 0 else high):.0f} m {'above' if low > 0 else 'below'} it. "
            "Next: check the vertical units (feet or metres) and datums of the heights."
        )
