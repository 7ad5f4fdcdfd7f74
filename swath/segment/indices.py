"""Normalised-difference indices: their bands, their values, and the units of the bands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.fields import TiledField
from swath.raster.parallel import threaded
from swath.raster.reader import Pixels, Raster, masked_windows
from swath.raster.tiled import PixelSet, tiled

STRIP_PX = 2**22
SAMPLE_PX = 2**22
"""Statistics are taken from at most about this many pixels, every k-th in both axes."""
INFRARED = ("nir", "swir1", "swir", "swir2")
REFLECTANCE = (-0.2, 1.6)
"""Surface reflectance leaves 0..1 a little: over-corrected shadow, glint and snow."""

FloatImage = NDArray[np.float32]


@dataclass(frozen=True)
class Index:
    """(plus - minus) / (plus + minus).

    Attributes:
        name: as people state it: "NDWI".
        class_name: what is high in it.
        plus: role of the first band.
        minus: roles of the second band; the first that is known is taken.
        on_reflectance: (strict, used, lax) thresholds that hold where the bands are reflectances.
    """

    name: str
    class_name: str
    plus: str
    minus: tuple[str, ...]
    on_reflectance: tuple[float, float, float]

    def roles(self, raster: Raster) -> tuple[str, str]:
        """Roles of the two bands in one raster."""
        return self.plus, next((role for role in self.minus if raster.has(role)), self.minus[0])

    def formula(self, raster: Raster) -> str:
        """The index with the band numbers of one raster, for people."""
        plus, minus = (f"{role} (band {raster.band(role).index})" for role in self.roles(raster))
        return f"{self.name} of {plus} and {minus}"


# The first index of a class whose bands are known is taken. Shortwave infrared comes first: built-up land is bright
# in it, while its near infrared is often as dark as turbid water's (Xu 2006).
INDICES = (
    Index("MNDWI", "water", "green", ("swir1", "swir"), (0.1, 0.0, -0.1)),
    Index("NDWI", "water", "green", ("nir",), (0.1, 0.0, -0.1)),
    Index("NDVI", "vegetation", "nir", ("red",), (0.4, 0.3, 0.2)),
)


@dataclass(frozen=True, eq=False)
class IndexImage:
    """An index of one raster, and a sample of the bands that speak for or against what it shows.

    Attributes:
        index: which one.
        raster: of what.
        values: (rows, columns) float32 in [-1, 1]; NaN at nodata and where the bands sum to nothing.
        sample: every so many of them in both axes.
        bands: role to the sample's values of the index's own bands and of every infrared band that is known; NaN where
            it has none.
    """

    index: Index
    raster: Raster
    values: FloatImage | TiledField = field(repr=False)
    sample: FloatImage = field(repr=False)
    bands: Mapping[str, FloatImage] = field(repr=False)

    @property
    def infrared(self) -> dict[str, FloatImage]:
        """The sample's infrared bands."""
        return {role: values for role, values in self.bands.items() if role in INFRARED}


def compute(raster: Raster, index: Index) -> IndexImage:
    """An index over a whole raster, in one pass over its pixels; of one in tiles the pass takes the sample alone.

    Raises:
        Refused: a band that it needs is not known.
        InputError: the pixels cannot be read.
    """
    pair = index.roles(raster)
    roles = tuple(dict.fromkeys((*pair, *(role for role in INFRARED if raster.has(role)))))
    step = max(1, math.ceil(math.sqrt(raster.shape[0] * raster.shape[1] / SAMPLE_PX)))
    read = _reader(raster, roles)
    values = np.empty((0, 0) if raster.in_tiles else raster.shape, dtype=np.float32)

    def looked_at(rows: slice) -> tuple[FloatImage, dict[str, FloatImage]]:
        bands = read(rows, slice(0, raster.shape[1]))
        ratio = _ratio(bands[pair[0]], bands[pair[1]])
        if not raster.in_tiles:
            values[rows] = ratio
        return ratio[::step, ::step].astype(np.float32), {
            role: band[::step, ::step].astype(np.float32) for role, band in bands.items()
        }

    found = list(threaded(looked_at, _strips(raster, step)))
    bands = {role: np.concatenate([sampled[role] for _, sampled in found]) for role in roles}
    sample = np.concatenate([ratio for ratio, _ in found])
    if not raster.in_tiles:
        return IndexImage(index, raster, values, sample, bands)
    read = _reader(raster, pair)
    plus, minus = pair
    field = TiledField(raster.shape, raster.tiles, lambda rows, cols: _index(read(rows, cols), plus, minus))
    return IndexImage(index, raster, field, sample, bands)


def _index(bands: Mapping[str, NDArray[Any]], plus: str, minus: str) -> FloatImage:
    return _ratio(bands[plus], bands[minus]).astype(np.float32, copy=False)


def defined(raster: Raster, indices: Iterable[Index]) -> PixelSet:
    """(rows, columns) bool: where at least one of some indices has a value."""
    pairs = [index.roles(raster) for index in indices]
    read = _reader(raster, tuple(dict.fromkeys(role for pair in pairs for role in pair)))

    def known(rows: slice, cols: slice) -> NDArray[np.bool_]:
        bands = read(rows, cols)
        return np.asarray(np.logical_or.reduce([bands[plus] + bands[minus] > 0 for plus, minus in pairs]))

    if raster.in_tiles:
        return tiled(raster.shape, raster.tiles, known)
    return np.concatenate(list(threaded(lambda rows: known(rows, slice(0, raster.shape[1])), _strips(raster, 1))))


def _ratio(plus: NDArray[Any], minus: NDArray[Any]) -> NDArray[Any]:
    total = plus + minus
    # a slightly negative reflectance throws the ratio out of its range
    ratio: NDArray[Any] = np.divide(plus - minus, total, out=np.full_like(total, np.nan), where=total > 0)
    return np.clip(ratio, -1, 1, out=ratio)


def is_reflectance(image: IndexImage) -> bool:
    """Whether the index's bands are physical reflectances, so that thresholds from the literature hold.

    Digital numbers are not: gain and offset differ from band to band. Floating-point or scaled values within the
    range of reflectance are, unless they are 8-bit numbers divided by 255.
    """
    for role in image.index.roles(image.raster):
        band, values = image.raster.band(role), image.bands[role]
        present = values[np.isfinite(values)]
        if not present.size or not (band.dtype.startswith("float") or (band.scale, band.offset) != (1.0, 0.0)):
            return False
        low, high = np.percentile(present, (0.5, 99.5))
        if low < REFLECTANCE[0] or high > REFLECTANCE[1] or not np.ptp(present):
            return False
        if band.scale == 1 and np.allclose(present * 255, np.rint(present * 255), atol=1e-3):
            return False
    return True


def _reader(raster: Raster, roles: tuple[str, ...]) -> Callable[[slice, slice], dict[str, NDArray[Any]]]:
    """From rows and columns to role to floating-point values with NaN where a band has none."""
    bands = tuple(raster.band(role) for role in roles)
    grid, windows = raster.grid, masked_windows(raster, *(band.index for band in bands))

    def read(rows: slice, cols: slice) -> dict[str, NDArray[Any]]:
        pixels = Pixels(windows(rows, cols), grid, bands).physical
        floats = np.ma.filled(pixels.astype(np.result_type(pixels.dtype, np.float32)), np.nan)
        return dict(zip(roles, floats, strict=True))

    return read


def _strips(raster: Raster, step: int) -> Iterator[slice]:
    """All rows, in slices that begin at multiples of step."""
    height = max(1, STRIP_PX // raster.shape[1] // step) * step
    for top in range(0, raster.shape[0], height):
        yield slice(top, min(top + height, raster.shape[0]))
