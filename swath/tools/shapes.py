"""How objects are shaped: long and short axes, direction, and measures without a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.ground import Ground
from swath.tools import kernels
from swath.tools.handles import Regions
from swath.tools.runs import Runs

FloatArray = NDArray[np.float64]
Shape = Literal["elongation", "solidity", "compactness", "extent"]


def _elongation(regions: Regions) -> FloatArray:
    long_m, short_m, _ = axes(regions).T
    return np.asarray(long_m / short_m)


def _extent(regions: Regions) -> FloatArray:
    return regions.measured(lambda runs: runs.sizes_px / np.prod(runs.boxes[:, 2:] - runs.boxes[:, :2], axis=1))


def _solidity(regions: Regions) -> FloatArray:
    from skimage.measure import regionprops  # 0.3 s to load

    def measure(runs: Runs) -> FloatArray:
        cut = (runs.cut(index)[0].astype(np.uint8) for index in range(runs.count))
        return np.array([regionprops(pixels)[0].solidity for pixels in cut], dtype=float)

    return regions.measured(measure)


def _compactness(regions: Regions) -> FloatArray:
    return regions.column("compactness")


SHAPES: dict[Shape, Callable[[Regions], FloatArray]] = {
    "elongation": _elongation,
    "solidity": _solidity,
    "compactness": _compactness,
    "extent": _extent,
}


def axes(regions: Regions) -> FloatArray:
    """(n, 3) long and short axis of each region's second moments, direction of the long one clockwise from up."""
    return regions.measured(lambda runs: axes_of(runs, regions.grid))


def axes_of(runs: Runs, grid: Grid) -> FloatArray:
    """(n, 3) the same of objects as runs."""
    ground = grid.ground or kernels.pixel_ground(grid.shape)
    moments = np.column_stack([runs.moments_xx_xy_yy, runs.centroids_yx])
    xx, xy, yy, row, col = moments.T
    across, slant, down = upright_steps_m(ground, row, col)
    right_right, right_down = across**2 * xx, across * (slant * xx + down * xy)
    down_down = slant**2 * xx + 2 * slant * down * xy + down**2 * yy
    middle, spread = (right_right + down_down) / 2, np.hypot((right_right - down_down) / 2, right_down)
    degrees = np.degrees(np.arctan2(2 * right_down, right_right - down_down) / 2) + 90.0
    return np.column_stack([np.sqrt(middle + spread), np.sqrt(middle - spread), degrees % 180.0 % 180.0])


def has_direction(long: FloatArray, short: FloatArray) -> NDArray[np.bool_]:
    """(n,) bool: whether one axis is longer than the other."""
    return np.asarray(long > short * (1 + 1e-9), dtype=bool)


def upright_steps_m(ground: Ground, rows: FloatArray, cols: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps across, slant and down in metres at some places, in a ground frame whose down is the image's.

    A column step goes `across` to the right and `slant` down, a row step goes `down` straight down.
    """
    column = ground.positions_m(rows, cols + 0.5) - ground.positions_m(rows, cols - 0.5)
    row = ground.positions_m(rows + 0.5, cols) - ground.positions_m(rows - 0.5, cols)
    down = np.linalg.norm(row, axis=1)
    slant = (column * row).sum(axis=1) / down
    across = np.sqrt(np.maximum((column**2).sum(axis=1) - slant**2, 0.0))
    return across, slant, down
