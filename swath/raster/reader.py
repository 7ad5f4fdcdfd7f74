"""Rasters: a header that is cheap to hold, and pixels that are read window by window."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from affine import Affine
from rasterio.enums import Resampling
from rasterio.windows import Window

from swath.errors import InputError, Refused
from swath.raster.bands import Band, stated, with_roles
from swath.raster.georef import read_grid
from swath.raster.grid import Grid
from swath.raster.source import existing_file, opened
from swath.raster.valid import BoolImage, band_masks, finite, valid_pixels

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
        """Values with each band's scale and offset applied, float64 where any band has one, else as stored."""
        if all(band.scale == 1 and band.offset == 0 for band in self.bands):
            return self.data
        scale = np.array([band.scale for band in self.bands])[:, None, None]
        offset = np.array([band.offset for band in self.bands])[:, None, None]
        return self.data * scale + offset


@dataclass(frozen=True, eq=False)
class Raster:
    """A file of pixels: its header only, no file is kept open.

    Attributes:
        path: the file.
        name: what GDAL opens: the path, or the name of a subdataset.
        driver: GDAL's name of the format.
        grid: where the pixels lie.
        bands: in file order.
        warnings: what a careful reader should know.
    """

    path: Path
    driver: str
    grid: Grid
    bands: tuple[Band, ...]
    warnings: tuple[str, ...] = ()
    name: str = field(default="", repr=False)

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
        return tuple(band for band in self.bands if band.role != "alpha") or self.bands

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file's bytes."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def _valid(self) -> BoolImage:
        with opened(self.name) as dataset:
            valid = valid_pixels(dataset, [band.index for band in self.data_bands])
        valid.flags.writeable = False
        return valid

    def valid(self) -> BoolImage:
        """(rows, columns) bool, read-only: where some band is declared valid and holds a number.

        Raises:
            InputError: the pixels cannot be read.
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
            ValueError: the window is empty.
        """
        wanted = indexes or tuple(band.index for band in self.bands)
        rows, cols = (_bounded(part, size) for part, size in zip((rows, cols), self.shape, strict=True))
        window = Window(cols.start, rows.start, cols.stop - cols.start, rows.stop - rows.start)
        with opened(self.name) as dataset:
            values = dataset.read(list(wanted), window=window)
            known = band_masks(dataset, list(wanted), window)
        data = np.ma.MaskedArray(values, mask=~(known & finite(values)))
        return Pixels(data, self.grid.window(rows, cols), tuple(self.bands[index - 1] for index in wanted))

    def decimated(self, max_side: int | None, *indexes: int, average: bool = True) -> Pixels:
        """The whole image made smaller, from its overviews where it has them.

        Args:
            max_side: longest side in pixels; None or a larger number than the image's for full size.
            indexes: 1-based band numbers, all where none is named.
            average: average the pixels under each new one, else take the nearest.

        Raises:
            InputError: the pixels cannot be read.
        """
        wanted = list(indexes or (band.index for band in self.bands))
        factor = 1.0 if max_side is None else max(1.0, max(self.shape) / max_side)
        rows, cols = (max(1, round(size / factor)) for size in self.shape)
        method = Resampling.average if average and factor > 1 else Resampling.nearest
        with opened(self.name) as dataset:
            values = dataset.read(wanted, out_shape=(len(wanted), rows, cols), resampling=method)
            known = dataset.read_masks(wanted, out_shape=(len(wanted), rows, cols)) > 0
        data = np.ma.MaskedArray(values, mask=~(known & finite(values)))
        scale = Affine.scale(self.shape[1] / cols, self.shape[0] / rows)
        grid = replace(self.grid, affine=self.grid.affine @ scale, shape=(rows, cols))
        return Pixels(data, grid, tuple(self.bands[index - 1] for index in wanted))

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
    def _palette(self) -> dict[int, tuple[int, int, int, int]] | None:
        if not any(band.colorinterp == "palette" for band in self.bands):
            return None
        with opened(self.name) as dataset:
            try:
                return dict(dataset.colormap(1))
            except ValueError:
                return None

    def palette(self) -> dict[int, tuple[int, int, int, int]] | None:
        """Value to (red, green, blue, alpha) of the first band, None without a colour table."""
        return self._palette

    def categories(self) -> dict[int, str]:
        """Value to class name, as the file names them; empty where it does not."""
        return {}


def open_raster(path: Path | str, *, gsd_m: float | None = None, bands: Mapping[str, int] | None = None) -> Raster:
    """Read the header of a raster.

    Args:
        path: GeoTIFF, COG, VRT, ASCII grid, PNG, JPEG or whatever else GDAL reads.
        gsd_m: ground size of a pixel that a person typed; it wins over the file's.
        bands: role to 1-based band number, as a person stated them.

    Raises:
        InputError: the file cannot be opened, holds no bands, or an argument does not fit it.
    """
    path = Path(path)
    if gsd_m is not None and not (np.isfinite(gsd_m) and gsd_m > 0):
        raise InputError(f"A ground size of {gsd_m} m is not possible. Next: state a number of metres above 0.")
    existing_file(path)
    with opened(str(path)) as dataset:
        if dataset.count == 0:
            raise InputError(_no_bands(path, dataset))
        grid, notes = read_grid(dataset, gsd_m)
        found = with_roles([_band(dataset, index) for index in dataset.indexes])
        driver = str(dataset.driver)
    if bands:
        found = stated(found, bands, path.name)
    clash = grid.stated_clash
    return Raster(path, driver, grid, found, (*notes, *([clash] if clash else [])), str(path))


def _no_bands(path: Path, dataset: Any) -> str:
    names = list(dataset.subdatasets)
    if not names:
        return f"{path} holds no bands of pixels. Next: name a raster."
    return f"{path} holds no bands of its own but {len(names)} subdatasets. Next: name one of them: {', '.join(names)}."


def _band(dataset: Any, index: int) -> Band:
    i = index - 1
    nodata = dataset.nodatavals[i]
    return Band(
        index,
        None,
        dataset.descriptions[i] or None,
        str(dataset.dtypes[i]),
        None if nodata is None else float(nodata),
        float(dataset.scales[i]),
        float(dataset.offsets[i]),
        dataset.colorinterp[i].name,
    )


def _bounded(part: slice | None, size: int) -> slice:
    start, stop, step = (part or slice(None)).indices(size)
    if step != 1 or stop <= start:
        raise ValueError(f"an empty or stepped window: {part} of {size}")
    return slice(start, stop)
