"""What a surface does around each cell: gradient after Horn (1981), ruggedness, position, roughness.

Gradients are on the ground, towards true north where the CRS is measured by geodesics and towards grid north where a
projected CRS is taken as planar, as `swath.raster.ground` decides. Every window is 3 x 3; a cell whose window holds a
gap or leaves the grid has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swath.raster.geodesy import FloatArray, horizontal, jacobian, outer_filled, spline_weights
from swath.raster.grid import Grid
from swath.raster.ground import LATTICE

Field = NDArray[np.floating[Any]]
Index = Literal["tri", "tpi", "roughness"]
BLOCK_ROWS = 256


def gradient(heights: Field, grid: Grid) -> tuple[Field, Field]:
    """How steeply a surface rises towards east and towards north, metres per metre.

    The differences are Horn's: weights 1, 2, 1 across the direction of the difference, eighths of a pixel step.

    Args:
        heights: (rows, columns) in metres on `grid`, NaN where unknown.
        grid: with a known ground size.

    Returns:
        Two arrays like `heights`.

    Raises:
        Refused: no ground size is known.
    """
    steps = _steps_m(grid)
    east, north = np.full(heights.shape, np.nan, heights.dtype), np.full(heights.shape, np.nan, heights.dtype)
    for rows, (a, b, c, d, middle, f, g, h, i) in _windows(heights):
        along_row = ((c + 2 * f + i) - (a + 2 * d + g)) / 8
        along_col = ((g + 2 * h + i) - (a + 2 * b + c)) / 8
        column_east, column_north, row_east, row_north = (part[:, 1:-1] for part in steps(rows))
        unknown = 0.0 * middle  # the differences leave it out, but a gap has no slope
        determinant = unknown + column_east * row_north - column_north * row_east
        east[rows, 1:-1] = (along_row * row_north - along_col * column_north) / determinant
        north[rows, 1:-1] = (along_col * column_east - along_row * row_east) / determinant
    return east, north


def slope_deg(east: Field, north: Field) -> FloatArray:
    """Steepest slope in degrees from the two parts of a gradient."""
    return np.asarray(np.degrees(np.arctan(np.hypot(east, north))), dtype=np.float64)


def aspect_deg(east: Field, north: Field) -> FloatArray:
    """Direction in which a slope faces, downhill, in degrees clockwise from north; NaN where it is level."""
    facing = np.degrees(np.arctan2(-east, -north)) % 360.0 % 360.0
    return np.where((east == 0) & (north == 0), np.nan, facing)


def _tri(window: tuple[FloatArray, ...]) -> FloatArray:
    middle = window[4]
    return np.asarray(np.sqrt(sum((other - middle) ** 2 for k, other in enumerate(window) if k != 4)))


def _tpi(window: tuple[FloatArray, ...]) -> FloatArray:
    return np.asarray(window[4] - sum(other for k, other in enumerate(window) if k != 4) / 8)


def _roughness(window: tuple[FloatArray, ...]) -> FloatArray:
    return np.asarray(np.maximum.reduce(window) - np.minimum.reduce(window))


INDICES: dict[Index, Callable[[tuple[FloatArray, ...]], FloatArray]] = {
    "tri": _tri,
    "tpi": _tpi,
    "roughness": _roughness,
}
"""Terrain ruggedness (Riley et al. 1999), topographic position (height above the mean of the eight neighbours), and
roughness (highest minus lowest of the nine); all in metres, of the cell size at hand."""


def index_m(heights: Field, index: Index) -> Field:
    """One of `INDICES` for every cell of a surface in metres."""
    values = np.full(heights.shape, np.nan, heights.dtype)
    for rows, window in _windows(heights):
        values[rows, 1:-1] = INDICES[index](window)
    return values


def _windows(heights: Field) -> Iterator[tuple[slice, tuple[FloatArray, ...]]]:
    """Inner rows with the nine cells around each inner cell, in reading order, some rows at a time."""
    rows, cols = heights.shape
    if min(rows, cols) < 3:
        return
    for top in range(1, rows - 1, BLOCK_ROWS):
        inner = slice(top, min(top + BLOCK_ROWS, rows - 1))
        block = heights[inner.start - 1 : inner.stop + 1].astype(np.float64)
        size = inner.stop - inner.start
        yield inner, tuple(block[r : r + size, c : cols - 2 + c] for r in range(3) for c in range(3))


def _steps_m(grid: Grid) -> Callable[[slice], tuple[FloatArray, ...]]:
    """Metres east and north of a step to the next column, then of one to the next row, for the cells of some rows."""
    ground = grid.require_ground()
    if ground.crs is None:
        (right, down), (row_right, row_down) = ground.column_m, ground.row_m
        planar = tuple(np.full((1, grid.shape[1]), part) for part in (right, -down, row_right, -row_down))
        return lambda rows: planar
    nodes = [np.linspace(0.5, max(size - 0.5, 1.5), LATTICE) for size in grid.shape]
    found = jacobian(grid.affine, horizontal(ground.crs), nodes[0][:, None], nodes[1][None, :])
    parts = [
        outer_filled(length * turn(azimuth)) * ground.scale
        for length, azimuth in ((found.x, found.right), (found.y, found.down))
        for turn in (np.sin, np.cos)
    ]
    by_col = spline_weights(nodes[1] - 0.5, np.arange(grid.shape[1], dtype=float))

    def curved(rows: slice) -> tuple[FloatArray, ...]:
        by_row = spline_weights(nodes[0] - 0.5, np.arange(rows.start, rows.stop, dtype=float))
        return tuple(np.linalg.multi_dot([by_row, part, by_col.T]) for part in parts)

    return curved
