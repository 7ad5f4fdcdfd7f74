"""Rasters: a header that is cheap to hold, and pixels that are read window by window."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from affine import Affine
from rasterio.enums import MaskFlags, Resampling
from rasterio.windows import Window

from swath.errors import Refused
from swath.raster.bands import Band
from swath.raster.georef import read_grid
from swath.raster.grid import SMALLEST_USUAL_M, Grid, check_stated_size
from swath.raster.header import read_bands, refuse_no_bands, unused_mask_file
from swath.raster.held import IN_ARRAYS, Tiles, refuse_whole
from swath.raster.local_files import file_of
from swath.raster.palette import Colour, read_categories, read_palette
from swath.raster.remote import is_remote, known_as
from swath.raster.source import WindowReader, forget, opened
from swath.raster.tiled import PixelSet, everywhere, tiled
from swath.raster.valid import Rules, all_valid, is_real, known_in_bands, measurable, rules_of, valid_pixels

__all__ = ["Band", "Pixels", "Raster", "open_raster"]


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pixels with their grid.

    Attributes:
        data: masked array (band, y, x) of stored values; masked where a band has no number.
        grid: the grid of these pixels.
        bands: what each band is.
    """

    data: np.ma.MaskedArray[Any, Any]
    grid: Grid
    bands: tuple[Band, ...]

    @property
    def physical(self) -> np.ma.MaskedArray[Any, Any]:
        """Values with each band's scale and offset applied: float64 where any band has one, else as stored."""
        if all(band.scale in (0, 1) and band.offset == 0 for band in self.bands):
            return self.data
        scale = np.array([band.scale or 1.0 for band in self.bands])[:, None, None]
        offset = np.array([band.offset for band in self.bands])[:, None, None]
        values = self.data.data * scale + offset
        return np.ma.MaskedArray(values, mask=np.ma.getmaskarray(self.data))


@dataclass(frozen=True, eq=False)
class Raster:
    """A file of pixels: its header only, no file is kept open.

    Attributes:
        path: the file.
        driver: GDAL's name of the format.
        grid: where the pixels lie.
        bands: in file order.
        warnings: what a careful reader should know.
        name: what GDAL opens: the path, or the name of a subdataset.
        tiles: when and how its pixels are held in tiles.
    """

    path: Path
    driver: str
    grid: Grid
    bands: tuple[Band, ...]
    warnings: tuple[str, ...]
    name: str = field(repr=False)
    tiles: Tiles = field(default=IN_ARRAYS, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.grid.shape

    @property
    def complex(self) -> bool:
        """Whether any band holds complex numbers, of which no area can be measured."""
        return any(band.dtype.startswith("complex") for band in self.bands)

    @property
    def data_bands(self) -> tuple[Band, ...]:
        """The bands that are not alpha."""
        return self.rules.data

    @cached_property
    def rules(self) -> Rules:
        """How the file and its stated roles say which pixels are data."""
        hidden = [value for value, colour in (self.palette() or {}).items() if colour[3] == 0]
        return rules_of(self.bands, hidden)

    @cached_property
    def sha256(self) -> str | None:
        """SHA-256 of the file's bytes; of a VRT or a header file, not of the files that it names.

        None of a file on the network, of which only the windows that are needed are fetched.
        """
        if is_remote(self.path):
            return None
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def in_tiles(self) -> bool:
        """Whether sets of its pixels are held in tiles, since arrays of them would be too large."""
        return self.tiles.hold(self.shape)

    @cached_property
    def _valid(self) -> PixelSet:
        with opened(self.name) as dataset:
            if not self.in_tiles:
                valid = valid_pixels(dataset, self.rules)
                valid.flags.writeable = False
                return valid
            if all_valid(dataset, self.rules):
                return everywhere(self.shape, self.tiles)
        rules, windows = self.rules, WindowReader(self.name)
        return tiled(
            self.shape,
            self.tiles,
            lambda rows, cols: windows.at(rows, cols, lambda dataset, window: measurable(dataset, rules, window)),
        )

    def valid(self) -> PixelSet:
        """(rows, columns) bool, read-only: the pixels that count; in tiles where the image is held so.

        Some data band is declared valid (nodata, mask band) and holds a number, alpha is not 0.

        Raises:
            InputError: the pixels cannot be read, or there are too many.
        """
        return self._valid

    def read(self, *indexes: int, rows: slice | None = None, cols: slice | None = None) -> Pixels:
        """Pixels of some bands (all where none is named), whole or a window.

        Args:
            indexes: 1-based band numbers.
            rows: rows of the window.
            cols: columns of the window.

        Raises:
            InputError: the pixels cannot be read.
            WholeImageNeeded: the window has more pixels than an array may have.
            ValueError: the window is empty, or there is no such band.
        """
        bands = self._chosen(indexes)
        rows, cols = (_bounded(part, size) for part, size in zip((rows, cols), self.shape, strict=True))
        if self.tiles.hold((rows.stop - rows.start, cols.stop - cols.start)):
            refuse_whole(self.shape)
        window = Window.from_slices(rows, cols)
        with opened(self.name) as dataset:
            values = dataset.read([band.index for band in bands], window=window)
            known = known_in_bands(dataset, bands, self.rules, values, window)
        return Pixels(np.ma.MaskedArray(values, mask=~known), self.grid.window(rows, cols), bands)

    def decimated(self, max_side: int | None, *indexes: int, average: bool = True) -> Pixels:
        """The whole image made smaller, from its overviews where it has them.

        Args:
            max_side: longest side in pixels; None or a larger number than the image's for full size.
            indexes: 1-based band numbers, all where none is named.
            average: average the pixels under each new one, else take the nearest.

        Raises:
            InputError: the pixels cannot be read.
            ValueError: there is no such band.
        """
        bands = self._chosen(indexes)
        factor = 1.0 if max_side is None else max(1.0, max(self.shape) / max_side)
        rows, cols = (max(1, round(size / factor)) for size in self.shape)
        method = Resampling.average if average and factor > 1 else Resampling.nearest
        window = Window(0, 0, self.shape[1], self.shape[0])
        with opened(self.name) as dataset:
            values = dataset.read([band.index for band in bands], out_shape=(len(bands), rows, cols), resampling=method)
            known = known_in_bands(dataset, bands, self.rules, values, window, (rows, cols))
        scale = Affine.scale(self.shape[1] / cols, self.shape[0] / rows)
        grid = replace(self.grid, affine=self.grid.affine @ scale, shape=(rows, cols))
        return Pixels(np.ma.MaskedArray(values, mask=~known), grid, bands)

    def _chosen(self, indexes: tuple[int, ...]) -> tuple[Band, ...]:
        if any(not 1 <= index <= len(self.bands) for index in indexes):
            raise ValueError(f"bands {indexes} of a raster whose bands are 1 to {len(self.bands)}")
        return tuple(self.bands[index - 1] for index in indexes) or self.bands

    def band(self, role: str) -> Band:
        """The band with a role ("red", "nir" ...).

        Raises:
            Refused: no band is known to have it; the message says how to state it.
        """
        for band in self.bands:
            if band.role == role:
                return band
        known = ", ".join(f"{band.role}={band.index}" for band in self.bands if band.role) or "none"
        raise Refused(
            f"No band of {self.path.name} is known to be {role} (known: {known}). "
            f"Next: state it with --bands {role}=N, N being 1 to {len(self.bands)}."
        )

    def has(self, *roles: str) -> bool:
        """Whether every one of some roles is known."""
        return set(roles) <= {band.role for band in self.bands}

    @cached_property
    def _palette(self) -> dict[int, Colour] | None:
        if self.bands[0].colorinterp != "palette":
            return None
        with opened(self.name) as dataset:
            return read_palette(dataset)

    def palette(self) -> dict[int, Colour] | None:
        """Value to (red, green, blue, alpha) of the first band, None without a colour table."""
        return self._palette

    @cached_property
    def _categories(self) -> dict[int, str]:
        with opened(self.name) as dataset:
            return read_categories(dataset)

    def categories(self) -> dict[int, str]:
        """Value to class name of the first band, as the file names them; empty where it does not."""
        return self._categories


def masked_windows(raster: Raster, *indexes: int) -> Callable[[slice, slice], np.ma.MaskedArray[Any, Any]]:
    """A function that reads windows of some bands as `Raster.read` does, for several threads and with files kept open.

    Args:
        raster: what to read.
        indexes: 1-based band numbers.
    """
    bands, rules, windows = raster._chosen(indexes), raster.rules, WindowReader(raster.name)

    def read(dataset: Any, window: Window) -> np.ma.MaskedArray[Any, Any]:
        values = dataset.read([band.index for band in bands], window=window)
        flags = dataset.mask_flag_enums
        silent = all(flags[band.index - 1] == [MaskFlags.all_valid] and not is_real(band) for band in bands)
        if silent and not rules.by_nodata:
            return np.ma.MaskedArray(values)
        return np.ma.MaskedArray(values, mask=~known_in_bands(dataset, bands, rules, values, window))

    return lambda rows, cols: windows.at(rows, cols, read)


def open_raster(
    path: Path | str,
    *,
    gsd_m: float | None = None,
    bands: Mapping[str, int] | None = None,
    tiles: Tiles | None = None,
) -> Raster:
    """Read the header of a raster.

    Args:
        path: GeoTIFF, COG, VRT, ASCII grid, PNG, JPEG or whatever else GDAL reads, or the name of a subdataset
            ("NETCDF:file.nc:variable"); the address of a GeoTIFF on the network.
        gsd_m: ground size of a pixel that a person typed; it wins over the file's.
        bands: role to 1-based band number, as a person stated them.
        tiles: when and how its pixels are held in tiles; None for never.

    Raises:
        InputError: the file cannot be opened, holds no bands, or an argument does not fit it.
    """
    if gsd_m is not None:
        check_stated_size(gsd_m)
    file = known_as(path)
    name = str(file) if is_remote(file) else str(path)
    file = file if is_remote(file) else file_of(name)
    forget(name)
    with opened(name) as dataset:
        refuse_no_bands(file, dataset)
        grid, notes = read_grid(dataset, gsd_m)
        found, doubts = read_bands(dataset, bands, file.name)
        others = len(dataset.subdatasets)
        unused = unused_mask_file(file, dataset)
        driver = str(dataset.driver)
    if others > 1:
        notes += (f"The file holds {others} rasters; this is the first.",)
    if grid.stated_clash:
        notes += (grid.stated_clash,)
    warnings = (*notes, *doubts, *unused, *_too_small(grid), *_not_recorded(file))
    return Raster(file, driver, grid, found, warnings, name, tiles or IN_ARRAYS)


def _not_recorded(file: Path) -> tuple[str, ...]:
    if not is_remote(file):
        return ()
    return (f"{file.name} was read over the network: no SHA-256 says later whether it is still the same.",)


def _too_small(grid: Grid) -> tuple[str, ...]:
    if grid.ground is None or grid.stated_gsd_m is not None or max(grid.ground.size_xy_m) >= SMALLEST_USUAL_M:
        return ()
    x, y = grid.ground.size_xy_m
    return (f"By the file's CRS, {grid.crs_name}, a pixel measures {x:.3g} x {y:.3g} m: the CRS may be a wrong one.",)


def _bounded(part: slice | None, size: int) -> slice:
    start, stop, step = (part or slice(None)).indices(size)
    if step != 1 or stop <= start:
        raise ValueError(f"an empty or stepped window: {part} of {size}")
    return slice(start, stop)
