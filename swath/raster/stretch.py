"""A picture of a raster for people and models: one global stretch, never one per tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.reader import Pixels, Raster

LOW_PERCENT, HIGH_PERCENT = 2.0, 98.0
SAMPLE_SIDE_PX = 1024
"""The percentiles come from a decimated read of at most this side: a million pixels give them to 0.1 %."""

ByteImage = NDArray[np.uint8]


@dataclass(frozen=True)
class Stretch:
    """How stored values became grey levels.

    Attributes:
        bands: 1-based numbers of the bands shown as red, green, blue.
        low: value shown as black, per band; empty where values are shown as they are.
        high: value shown as white, per band.
        method: in words.
    """

    bands: tuple[int, int, int]
    low: tuple[float, ...]
    high: tuple[float, ...]
    method: str


def display(raster: Raster, max_side: int | None = None) -> tuple[ByteImage, Stretch]:
    """A picture of the whole raster.

    Args:
        raster: any raster without complex numbers.
        max_side: longest side of the picture; None for full size.

    Returns:
        uint8 (rows, columns, 3), black where invalid, and the stretch in force.
    """
    palette = raster.palette()
    bands = shown_bands(raster)
    if palette is not None:
        pixels = raster.decimated(max_side, bands[0], average=False)
        return _coloured(pixels, palette), Stretch(bands, (), (), "colour table")
    stretch = global_stretch(raster)
    pixels = raster.decimated(max_side, *dict.fromkeys(bands))
    return apply_stretch(pixels, stretch), stretch


def shown_bands(raster: Raster) -> tuple[int, int, int]:
    """Numbers of the bands shown as red, green, blue: by their roles, else the first data band thrice."""
    if raster.palette() is None and raster.has("red", "green", "blue"):
        red, green, blue = (raster.band(role).index for role in ("red", "green", "blue"))
        return red, green, blue
    first = raster.data_bands[0].index
    return first, first, first


def global_stretch(raster: Raster) -> Stretch:
    """One linear stretch per band for the whole raster: the 2nd to 98th percentile of its valid pixels.

    8-bit values are shown as they are.
    """
    bands = shown_bands(raster)
    if all(raster.bands[index - 1].dtype == "uint8" for index in bands):
        return Stretch(bands, (), (), "8-bit values as they are")
    sample = raster.decimated(SAMPLE_SIDE_PX, *bands, average=False)
    limits = [_limits(band.compressed()) for band in sample.data]
    low, high = zip(*limits, strict=True)
    return Stretch(bands, low, high, f"{LOW_PERCENT:g} to {HIGH_PERCENT:g} percentile of the valid pixels")


def _limits(values: NDArray[Any]) -> tuple[float, float]:
    if values.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(values.astype(np.float64), [LOW_PERCENT, HIGH_PERCENT])
    return float(low), float(high)


def apply_stretch(pixels: Pixels, stretch: Stretch) -> ByteImage:
    """Grey levels of some pixels under a stretch that was found before.

    Args:
        pixels: holds the bands of the stretch, a window or a decimated image of them.
        stretch: of the whole raster.

    Returns:
        uint8 (rows, columns, 3), black where masked.
    """
    where = {band.index: i for i, band in enumerate(pixels.bands)}
    planes = [pixels.data[where[index]] for index in stretch.bands]
    if stretch.low:
        planes = [_levels(plane, low, high) for plane, low, high in zip(planes, stretch.low, stretch.high, strict=True)]
    return np.stack([np.ma.filled(plane, 0).astype(np.uint8) for plane in planes], axis=-1)


def _levels(plane: np.ma.MaskedArray[Any, Any], low: float, high: float) -> np.ma.MaskedArray[Any, Any]:
    values = np.ma.filled(plane.astype(np.float64), low)
    width = high - low
    levels = np.clip((values - low) / width, 0, 1) * 255 if width > 0 else np.where(values > low, 255.0, 127.0)
    return np.ma.MaskedArray(np.rint(levels), mask=np.ma.getmaskarray(plane))


def _coloured(pixels: Pixels, palette: dict[int, tuple[int, int, int, int]]) -> ByteImage:
    values = pixels.data[0]
    table = np.zeros((max(*palette, int(values.max() or 0) if values.count() else 0) + 1, 3), dtype=np.uint8)
    for value, colour in palette.items():
        table[value] = colour[:3]
    picture: ByteImage = table[np.ma.filled(values, 0)]
    picture[np.ma.getmaskarray(values)] = 0
    return picture
