"""Tiles of a picture of a raster, for maps: every tile under the one stretch of the whole raster.

Two kinds of tiles: in the raster's own pixels, which any image has, and on the Web Mercator grid that base maps use.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from affine import Affine
from numpy.typing import NDArray
from PIL import Image
from rasterio.enums import Resampling
from rasterio.vrt import WarpedVRT
from rasterio.windows import Window

from swath.errors import InputError
from swath.raster.reader import Pixels, Raster
from swath.raster.source import opened
from swath.raster.stretch import Stretch, apply_stretch, global_stretch, shown_bands
from swath.raster.valid import finite, known_in_bands

SIDE_PX = 256
PREVIEW_PX = 2048
"""Longest side of the picture from which the coarsest tiles of a raster without overviews are cut."""
MERCATOR_M = 20037508.342789244
"""Half the side of the Web Mercator square."""

RgbaImage = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Tiler:
    """Tiles of one raster.

    Attributes:
        raster: any raster without complex numbers.
    """

    raster: Raster

    def __post_init__(self) -> None:
        if self.raster.complex:
            raise InputError(f"{self.raster.path.name} holds complex numbers, which no picture shows.")

    @cached_property
    def stretch(self) -> Stretch:
        """How stored values become grey levels."""
        if self.raster.palette() is not None:
            return Stretch(shown_bands(self.raster), (), (), "colour table")
        return global_stretch(self.raster)

    @property
    def levels(self) -> int:
        """Number of times that the raster has to be halved to fit into one tile."""
        return max(0, int(np.ceil(np.log2(max(self.raster.shape) / SIDE_PX))))

    def tile(self, level: int, x: int, y: int) -> bytes:
        """A PNG of 256 x 256 pixels, each of which stands for `2 ** level` pixels of the raster on either axis.

        Args:
            level: 0 for full size.
            x: column of the tile, from the raster's left.
            y: row of the tile, from its top.

        Raises:
            InputError: the raster has no such tile, or its pixels cannot be read.
        """
        step = 2 ** min(max(level, 0), 60)
        left, top = x * SIDE_PX * step, y * SIDE_PX * step
        rows, cols = self.raster.shape
        if level < 0 or x < 0 or y < 0 or top >= rows or left >= cols:
            raise InputError(f"{self.raster.path.name} has no tile {level}/{x}/{y}.")
        window = Window(left, top, min(SIDE_PX * step, cols - left), min(SIDE_PX * step, rows - top))
        shape = (max(1, -(-window.height // step)), max(1, -(-window.width // step)))
        if self._coarse and step >= max(self.raster.shape) / PREVIEW_PX:
            picture = self._from_preview(window, shape)
        else:
            picture = self._read(window, shape)
        whole = np.zeros((SIDE_PX, SIDE_PX, 4), dtype=np.uint8)
        whole[: shape[0], : shape[1]] = picture
        return _png(whole)

    def mercator_tile(self, zoom: int, x: int, y: int) -> bytes:
        """A PNG of 256 x 256 pixels on the Web Mercator grid, rows counted from the north.

        Raises:
            InputError: the raster has no CRS, or its pixels cannot be read.
        """
        if self.raster.grid.crs is None:
            raise InputError(f"{self.raster.path.name} names no CRS, so it has no place on a map.")
        pixel = 2 * MERCATOR_M / SIDE_PX / 2**zoom
        corner = Affine(pixel, 0, x * SIDE_PX * pixel - MERCATOR_M, 0, -pixel, MERCATOR_M - y * SIDE_PX * pixel)
        bands = self._bands
        with opened(self.raster.name) as dataset, WarpedVRT(
            dataset, crs="EPSG:3857", transform=corner, width=SIDE_PX, height=SIDE_PX, add_alpha=True,
            resampling=Resampling.bilinear if self.raster.palette() is None else Resampling.nearest,
        ) as warped:  # fmt: skip
            values = warped.read(list(bands))
            inside = warped.dataset_mask() != 0
        return _png(self._picture(values, np.broadcast_to(inside, values.shape) & finite(values), bands))

    @property
    def _bands(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.stretch.bands))

    @cached_property
    def _coarse(self) -> bool:
        with opened(self.raster.name) as dataset:
            return max(self.raster.shape) > PREVIEW_PX and not dataset.overviews(1)

    @cached_property
    def _preview(self) -> RgbaImage:
        rows, cols = self.raster.shape
        factor = max(rows, cols) / PREVIEW_PX
        return self._read(Window(0, 0, cols, rows), (max(1, round(rows / factor)), max(1, round(cols / factor))))

    def _from_preview(self, window: Window, shape: tuple[int, int]) -> RgbaImage:
        rows, cols = self.raster.shape
        preview = self._preview
        row = (window.row_off + (np.arange(shape[0]) + 0.5) * window.height / shape[0]) * preview.shape[0] / rows
        col = (window.col_off + (np.arange(shape[1]) + 0.5) * window.width / shape[1]) * preview.shape[1] / cols
        part: RgbaImage = preview[row.astype(int)[:, None], col.astype(int)]
        return part

    def _read(self, window: Window, shape: tuple[int, int]) -> RgbaImage:
        numbers = self._bands
        bands = tuple(self.raster.bands[number - 1] for number in numbers)
        smaller = shape[0] * shape[1] < window.height * window.width
        method = Resampling.average if smaller and self.raster.palette() is None else Resampling.nearest
        with opened(self.raster.name) as dataset:
            values = dataset.read(list(numbers), window=window, out_shape=(len(bands), *shape), resampling=method)
            known = known_in_bands(dataset, bands, self.raster.rules, values, window, shape)
        return self._picture(values, known, numbers)

    def _picture(self, values: NDArray[np.generic], known: NDArray[np.bool_], numbers: tuple[int, ...]) -> RgbaImage:
        alpha = np.where(known.any(axis=0), 255, 0).astype(np.uint8)
        palette = self.raster.palette()
        if palette is not None:
            colours = np.zeros((max(palette) + 2, 4), dtype=np.uint8)  # the last one for values without a colour
            colours[list(palette)] = list(palette.values())
            picture: RgbaImage = colours[np.clip(values[0].astype(np.int64), 0, len(colours) - 1)]
            picture[..., 3] = np.minimum(picture[..., 3], alpha)
            return picture
        bands = tuple(self.raster.bands[number - 1] for number in numbers)
        pixels = Pixels(np.ma.MaskedArray(values, mask=~known), self.raster.grid, bands)
        return np.dstack([apply_stretch(pixels, self.stretch), alpha])


def _png(picture: RgbaImage) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=3)
    return file.getvalue()
