"""An image as a network sees it: red, green, blue, one stretch, on a grid of the network's own ground size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.reader import Raster
from swath.raster.stretch import Stretch, apply_stretch, global_stretch
from swath.segment.tiling import Axis, ByteImage, interpolated

BLUR_PER_SHRINKING = 0.4
"""Standard deviation in old pixels of what is averaged per new pixel's width; as in training."""
LARGEST_FACTOR = 8.0
FEATURE_SIDE_PX = 256
FEATURE_WINDOWS = 3


def is_rgb(raster: Raster) -> bool:
    """Whether red, green and blue are known, of real numbers."""
    return raster.has("red", "green", "blue") and not raster.complex


def factors(raster: Raster, gsd_m: tuple[float, float] | None) -> tuple[float, float]:
    """New pixels per old one along (rows, columns), so that the ground size lies in a range.

    Args:
        raster: the image; where its ground size is not known it is taken as it is.
        gsd_m: least and largest ground size; None for as it is.

    Raises:
        Refused: the image is more than `LARGEST_FACTOR` times too coarse.
    """
    ground = raster.grid.ground
    if gsd_m is None or ground is None:
        return 1.0, 1.0
    found = [size / min(max(size, gsd_m[0]), gsd_m[1]) for size in reversed(ground.size_xy_m)]
    if max(found) > LARGEST_FACTOR:
        raise Refused(
            f"The pixels of {raster.path.name} measure {max(ground.size_xy_m):.3g} m on the ground: too coarse for a "
            f"network that sees {gsd_m[0]:g} to {gsd_m[1]:g} m. Next: give --labels FILE, or use a finer image."
        )
    return found[0], found[1]


@dataclass(frozen=True, eq=False)
class View:
    """What a network is shown of a raster.

    Attributes:
        raster: the image.
        factors: new pixels per old one along (rows, columns).
    """

    raster: Raster
    factors: tuple[float, float]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of the view."""
        rows, cols = (
            max(1, round(size * factor)) for size, factor in zip(self.raster.shape, self.factors, strict=True)
        )
        return rows, cols

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """How view pixels lie between the raster's, along rows and columns."""
        (rows, cols), (new_rows, new_cols) = self.raster.shape, self.shape
        return Axis(rows, new_rows), Axis(cols, new_cols)

    @cached_property
    def stretch(self) -> Stretch:
        """One stretch for the whole image."""
        return global_stretch(self.raster)

    def read(self, rows: slice, cols: slice) -> ByteImage:
        """(rows, columns, 3) uint8 of a window of the view; black where invalid."""
        if self.shape == self.raster.shape:
            return self._pixels(rows, cols)
        spread = [BLUR_PER_SHRINKING / factor if factor < 1 else 0.0 for factor in self.factors]
        parts = [
            _around(axis, part, 4 * sigma) for axis, part, sigma in zip(self.axes, (rows, cols), spread, strict=True)
        ]
        image = self._pixels(*parts)
        if max(spread) > 0:
            blurred = cv2.GaussianBlur(image, (0, 0), max(spread[1], 1e-3), sigmaY=max(spread[0], 1e-3))
            image = np.asarray(blurred, np.uint8)
        found = interpolated(image, self.axes, rows, cols, (parts[0].start, parts[1].start))
        return np.rint(found).astype(np.uint8)

    def features(self) -> NDArray[np.float64]:
        """Simple features of the image: see `features_of`; medians over a few windows."""
        rows, cols = self.shape
        windows = [self.read(down, right) for down in _spread_out(rows) for right in _spread_out(cols)]
        found: NDArray[np.float64] = np.median([features_of(window) for window in windows], axis=0)
        return found

    def _pixels(self, rows: slice, cols: slice) -> ByteImage:
        bands = tuple(dict.fromkeys(self.stretch.bands))
        return apply_stretch(self.raster.read(*bands, rows=rows, cols=cols), self.stretch)


def features_of(image: ByteImage) -> NDArray[np.float64]:
    """Lightness and its spread, the two colour axes of CIELAB and their spread, and the logarithm of the sharpness.

    Args:
        image: (rows, columns, 3) uint8, RGB.
    """
    lab = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2LAB).astype(np.float64)
    sharpness = np.abs(cv2.Laplacian(lab[..., 0], cv2.CV_64F)).mean()
    return np.array([*lab.mean((0, 1)), *lab.std((0, 1)), np.log(sharpness + 0.5)])


def _around(axis: Axis, part: slice, more: float) -> slice:
    low, high, _ = axis.taps(part)
    reach = int(np.ceil(more))
    return slice(max(int(low[0]) - reach, 0), min(int(high[-1]) + reach + 1, axis.old))


def _spread_out(length: int) -> list[slice]:
    side = min(FEATURE_SIDE_PX, length)
    starts = np.unique(np.linspace(0, length - side, FEATURE_WINDOWS).round().astype(int))
    return [slice(int(start), int(start) + side) for start in starts]
