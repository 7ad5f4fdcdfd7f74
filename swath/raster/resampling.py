"""Continuous fields onto the image's grid: bilinear, averaged first where the image is coarser; gaps stay gaps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from affine import Affine
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.placing import STRIP_PX, TIE_PX, FloatArray, Locator, positions

Field = NDArray[np.floating[Any]]


def cells_per_pixel(locate: Locator, image: Grid) -> tuple[int, int]:
    """How many whole cells (along rows, along columns) of the other raster lie under a pixel at the image's centre."""
    row, col = image.shape[0] / 2, image.shape[1] / 2
    at = np.array(locate(np.array([col - 0.5, col + 0.5, col, col]), np.array([row, row, row - 0.5, row + 0.5])))
    across, down = np.abs(at[:, 1] - at[:, 0]), np.abs(at[:, 3] - at[:, 2])
    spans = np.nan_to_num(np.maximum(across, down), nan=1.0)
    return max(int(spans[1] * (1 + 1e-9)), 1), max(int(spans[0] * (1 + 1e-9)), 1)


def averaged(field: Field, grid: Grid, cells: tuple[int, int]) -> tuple[Field, Grid]:
    """Means of blocks of cells; a block of which less than half is known is unknown.

    Args:
        field: (rows, columns) on `grid`, NaN where unknown.
        grid: where the cells lie.
        cells: (rows, columns) of a block.
    """
    if cells == (1, 1):
        return field, grid
    pads = [(0, -size % step) for size, step in zip(field.shape, cells, strict=True)]
    padded = np.pad(field, pads, constant_values=np.nan)
    shape = padded.shape[0] // cells[0], padded.shape[1] // cells[1]
    blocks = padded.reshape(shape[0], cells[0], shape[1], cells[1])
    known = np.isfinite(blocks).sum(axis=(1, 3))
    total = np.nansum(blocks, axis=(1, 3), dtype=np.float64)
    enough = 2 * known >= cells[0] * cells[1]
    means = np.where(enough, total / np.maximum(known, 1), np.nan).astype(field.dtype)
    affine = grid.affine @ Affine.scale(cells[1], cells[0])
    return means, replace(grid, affine=affine, shape=shape)


def bilinear(field: Field, locate: Locator, image: Grid) -> Field:
    """A field at the image's pixel centres.

    A pixel is known where the cell that holds its centre is: gaps neither grow nor shrink, and cells without a value
    have no weight.

    Args:
        field: (rows, columns), NaN where unknown.
        locate: from the image's pixel coordinates to the field's.
        image: the grid to fill.

    Returns:
        (rows, columns) of the image, NaN where unknown.
    """
    filled = np.full(image.shape, np.nan, dtype=field.dtype)
    step = max(1, STRIP_PX // image.shape[1])
    for top in range(0, image.shape[0], step):
        rows = slice(top, min(top + step, image.shape[0]))
        filled[rows] = _interpolated(field, *positions(locate, rows, image))
    return filled


def _interpolated(field: Field, at_col: FloatArray, at_row: FloatArray) -> FloatArray:
    rows, cols = field.shape
    inside = (at_row >= -TIE_PX) & (at_row < rows - TIE_PX) & (at_col >= -TIE_PX) & (at_col < cols - TIE_PX)
    at_row, at_col = np.where(inside, at_row, 0.0), np.where(inside, at_col, 0.0)
    own = field[(at_row + TIE_PX).astype(np.intp).clip(0), (at_col + TIE_PX).astype(np.intp).clip(0)]
    low_row, low_col = np.floor(at_row - 0.5), np.floor(at_col - 0.5)
    part_row, part_col = at_row - 0.5 - low_row, at_col - 0.5 - low_col
    total, weights = np.zeros(at_row.shape), np.zeros(at_row.shape)
    for down, row_weight in ((0, 1 - part_row), (1, part_row)):
        row = (low_row + down).astype(np.intp).clip(0, rows - 1)
        for right, col_weight in ((0, 1 - part_col), (1, part_col)):
            values = field[row, (low_col + right).astype(np.intp).clip(0, cols - 1)]
            weight = np.where(np.isfinite(values), row_weight * col_weight, 0.0)
            total += np.where(weight > 0, values, 0.0) * weight
            weights += weight
    known = inside & np.isfinite(own) & (weights > 0)
    return np.where(known, total / np.where(weights > 0, weights, 1.0), np.nan)
