"""Normalised-difference indices: their bands, their values, and the units of the bands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.reader import Raster

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
    """An index of one raster.

    Attributes:
        index: which one.
        raster: of what.
        values: (rows, columns) float32 in [-1, 1]; NaN at nodata and where the bands sum to nothing.
    """

    index: Index
    raster: Raster
    values: FloatImage = field(repr=False)

    @property
    def step(self) -> int:
        """Every step-th pixel of both axes makes the sample."""
        rows, cols = self.values.shape
        return max(1, int(np.ceil(np.sqrt(rows * cols / SAMPLE_PX))))

    def sampled(self, image: NDArray[Any]) -> NDArray[Any]:
        """The sample's pixels of an image of the same shape."""
        return image[:: self.step, :: self.step]

    def infrared(self) -> dict[str, FloatImage]:
        """Role to the sample's values of each infrared band that is known; NaN where it has none."""
        roles = [role for role in INFRARED if self.raster.has(role)]
        return {role: self._sample_band(role) for role in roles}

    def bands(self) -> dict[str, FloatImage]:
        """Role to the sample's values of the index's own two bands."""
        return {role: self._sample_band(role) for role in self.index.roles(self.raster)}

    def _sample_band(self, role: str) -> FloatImage:
        number = self.raster.band(role).index
        strips = []
        for rows in _strips(self.raster.shape, self.step):
            pixels = self.raster.read(number, rows=rows).physical[0, :: self.step, :: self.step]
            strips.append(np.ma.filled(pixels.astype(np.float32), np.nan))
        return np.concatenate(strips)


def compute(raster: Raster, index: Index) -> IndexImage:
    """An index over a whole raster.

    Raises:
        Refused: a band that it needs is not known.
        InputError: the pixels cannot be read.
    """
    plus, minus = (raster.band(role).index for role in index.roles(raster))
    values = np.full(raster.shape, np.nan, dtype=np.float32)
    for rows in _strips(raster.shape, 1):
        pair = raster.read(plus, minus, rows=rows).physical.astype(np.float64)
        total = np.ma.filled(pair[0] + pair[1], np.nan)
        difference = np.ma.filled(pair[0] - pair[1], np.nan)
        defined = total > 0
        # a slightly negative reflectance throws the ratio out of its range
        ratio = np.clip(np.divide(difference, total, out=np.full_like(total, np.nan), where=defined), -1, 1)
        values[rows] = ratio
    return IndexImage(index, raster, values)


def is_reflectance(image: IndexImage) -> bool:
    """Whether the index's bands are physical reflectances, so that thresholds from the literature hold.

    Digital numbers are not: gain and offset differ from band to band. Floating-point or scaled values within the
    range of reflectance are, unless they are 8-bit numbers divided by 255.
    """
    roles = image.index.roles(image.raster)
    for role, values in image.bands().items():
        band = image.raster.band(role)
        present = values[np.isfinite(values)]
        if not present.size or not (band.dtype.startswith("float") or (band.scale, band.offset) != (1.0, 0.0)):
            return False
        low, high = np.percentile(present, (0.5, 99.5))
        if low < REFLECTANCE[0] or high > REFLECTANCE[1] or not np.ptp(present):
            return False
        if band.scale == 1 and np.allclose(present * 255, np.rint(present * 255), atol=1e-3):
            return False
    return len(roles) == 2


def _strips(shape: tuple[int, int], step: int) -> list[slice]:
    """Full-width slices of rows; each starts at a multiple of `step`."""
    height = max(1, STRIP_PX // shape[1] // step) * step
    return [slice(top, min(top + height, shape[0])) for top in range(0, shape[0], height)]
