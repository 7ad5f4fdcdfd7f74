"""Labels onto the image's grid: nearest neighbour, exact, and never a guess where something does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyproj
from affine import Affine, TransformNotInvertibleError
from numpy.typing import NDArray
from pyproj.exceptions import ProjError

from swath.errors import InputError
from swath.raster.grid import Grid

FloatArray = NDArray[np.float64]
Locator = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

SAME_GRID_PX = 0.01
"""Corners nearer than this are the same grid: nearest neighbour could not tell them apart."""
LATTICE = 33
"""Points per axis at which the image is looked up in the labels' grid; between them a projection bends by well
under the 2 pixels and 1 % by which the window is padded."""
STRIP_PX = 2**22
SPLINE_PX = 1e-3
TIE_PX = 1e-6
"""A centre that falls on the edge between two label pixels belongs to the one with the higher number, whatever the
rounding of the transformation."""


@dataclass(frozen=True)
class Placement:
    """Which part of a label raster lies under the image, and how.

    Attributes:
        rows: rows of the label raster that are needed.
        cols: its columns that are needed.
        same_grid: whether label pixels are image pixels, one to one.
        warnings: sentences for people.
    """

    rows: slice
    cols: slice
    same_grid: bool
    warnings: tuple[str, ...] = ()


def extent(grid: Grid) -> str:
    """Where a grid lies, for people: its bounds in its own CRS, or its size where it names none."""
    if grid.crs is None:
        return f"{grid.shape[0]} x {grid.shape[1]} pixels (rows x columns), no CRS"
    corners = [grid.affine @ (col, row) for col in (0, grid.shape[1]) for row in (0, grid.shape[0])]
    xs, ys = zip(*corners, strict=True)
    return f"x {min(xs):.9g} to {max(xs):.9g}, y {min(ys):.9g} to {max(ys):.9g} in {grid.crs_name}"


def place(labels: Grid, image: Grid, labels_name: str, image_name: str) -> Placement:
    """Decide how a label raster lies under an image.

    Args:
        labels: grid of the label raster.
        image: grid of the image.
        labels_name: the label file, for sentences.
        image_name: the image file, for sentences.

    Raises:
        InputError: the two do not overlap, or one of them does not say where it lies and their shapes or their
            geotransforms differ; the sentence names both sides.
    """
    if labels.crs is None or image.crs is None:
        return _place_by_shape(labels, image, labels_name, image_name)
    if labels.crs.equals(image.crs, ignore_axis_order=True) and _same(labels, image):
        return _whole(labels)
    rows, cols = _window(labels, image, labels_name, image_name)
    if rows.start >= rows.stop or cols.start >= cols.stop:
        raise no_overlap(labels_name, extent(labels), image_name, extent(image))
    return Placement(rows, cols, same_grid=False)


def no_overlap(labels_name: str, labels_extent: str, image_name: str, image_extent: str) -> InputError:
    """The error for labels of another place."""
    return InputError(
        f"The labels do not overlap the image: {labels_name} covers {labels_extent}; {image_name} covers "
        f"{image_extent}. Next: give labels of the same place, or correct the CRS of one of the two."
    )


def onto_image(codes: NDArray[Any], labels: Grid, image: Grid, labels_name: str) -> NDArray[Any]:
    """Codes resampled to the image's grid by nearest neighbour: the label pixel that holds each image pixel's centre.

    rasterio's `reproject` would be off by up to an eighth of a label pixel, since GDAL interpolates positions linearly
    and version 1.4 leaves no way to stop it: 4.5 % of the pixels took a neighbour's class in a trial of 600 x 600.

    Args:
        codes: (rows, columns) unsigned integers on `labels`; 0 means nothing.
        labels: the grid of `codes`, with a CRS.
        image: the grid to fill, with a CRS.
        labels_name: the label file, for sentences.

    Returns:
        (rows, columns) of the image, 0 where no label pixel lies.

    Raises:
        InputError: no transformation between the two CRSs is known.
    """
    locate = _locator(labels, image, labels_name)
    filled = np.zeros(image.shape, dtype=codes.dtype)
    step = max(1, STRIP_PX // image.shape[1])
    for top in range(0, image.shape[0], step):
        rows = slice(top, min(top + step, image.shape[0]))
        at_col, at_row = (
            _pixel_numbers(at, size)
            for at, size in zip(_positions(locate, rows, image), codes.shape[::-1], strict=True)
        )
        inside = (at_col >= 0) & (at_row >= 0)
        filled[rows] = np.where(inside, codes[at_row, at_col], 0)
    return filled


def _pixel_numbers(at: FloatArray, size: int) -> NDArray[np.int32]:
    """Which pixel of an axis each position lies in; -1 outside and where it is unknown."""
    within = (at >= -TIE_PX) & (at < size - TIE_PX)
    return np.where(within, at + TIE_PX, -1).astype(np.int32)


def _locator(labels: Grid, image: Grid, labels_name: str) -> Locator:
    """From pixel coordinates (column, row) of the image to those of the labels."""
    try:
        to_pixels = ~labels.affine
        if labels.crs is not None and labels.crs.equals(image.crs, ignore_axis_order=True):
            direct = to_pixels @ image.affine
            return lambda cols, rows: applied(direct, cols, rows)
        transformer = pyproj.Transformer.from_crs(image.crs, labels.crs, always_xy=True)
    except (ProjError, TransformNotInvertibleError):
        raise _no_way(labels_name, labels, image) from None

    def through_crs(cols: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        x, y = transformer.transform(*applied(image.affine, cols, rows))
        where = np.array([x, y], dtype=float)
        where[:, ~np.isfinite(where).all(axis=0)] = np.nan
        return applied(to_pixels, where[0], where[1])

    return through_crs


def _positions(locate: Locator, rows: slice, image: Grid) -> tuple[FloatArray, FloatArray]:
    """Column and row in the labels of every pixel centre of some rows of the image, NaN where it has no place there.

    Interpolated by a cubic spline where that is right to `SPLINE_PX`, 20 times faster than PROJ for each pixel.
    """
    row_centres, col_centres = np.arange(rows.start, rows.stop) + 0.5, np.arange(image.shape[1]) + 0.5
    if min(len(row_centres), len(col_centres)) > LATTICE:
        knots = [np.linspace(centres[0], centres[-1], LATTICE) for centres in (row_centres, col_centres)]
        between = [(ticks[1:] + ticks[:-1]) / 2 for ticks in knots]
        known, checks = (locate(*np.meshgrid(ticks[1], ticks[0])) for ticks in (knots, between))
        if np.isfinite(known).all():
            from scipy.interpolate import RectBivariateSpline  # 0.3 s to load, and only labels of another grid need it

            splines = [RectBivariateSpline(*knots, values) for values in known]
            errors = [np.abs(spline(*between) - check).max() for spline, check in zip(splines, checks, strict=True)]
            if max(errors) < SPLINE_PX:
                at_col, at_row = (spline(row_centres, col_centres) for spline in splines)
                return at_col, at_row
    return locate(*np.meshgrid(col_centres, row_centres))


def _no_way(labels_name: str, labels: Grid, image: Grid) -> InputError:
    return InputError(
        f"No transformation from the CRS of {labels_name} ({labels.crs_name}) to the image's ({image.crs_name}) is "
        "known. Next: reproject the labels to the image's CRS."
    )


def _whole(grid: Grid, *warnings: str) -> Placement:
    return Placement(slice(0, grid.shape[0]), slice(0, grid.shape[1]), same_grid=True, warnings=warnings)


def _same(labels: Grid, image: Grid) -> bool:
    """Whether every corner of two grids of one CRS falls together."""
    if labels.shape != image.shape:
        return False
    try:
        back = ~image.affine
    except TransformNotInvertibleError:
        return bool(labels.affine == image.affine)
    corners = [(col, row) for col in (0, labels.shape[1]) for row in (0, labels.shape[0])]
    apart = [np.subtract(back @ (labels.affine @ corner), corner) for corner in corners]
    return float(np.abs(apart).max()) < SAME_GRID_PX


def _place_by_shape(labels: Grid, image: Grid, labels_name: str, image_name: str) -> Placement:
    """Without a CRS on both sides only equal shapes tell that two files belong together."""
    silent = labels_name if labels.crs is None else image_name
    if labels.shape != image.shape:
        raise InputError(
            f"{silent} names no CRS, and {labels_name} has {labels.shape[0]} x {labels.shape[1]} pixels where "
            f"{image_name} has {image.shape[0]} x {image.shape[1]} (rows x columns). "
            "Next: give labels of the image's shape, or files that both name a CRS."
        )
    georeferenced = Affine.identity() not in (labels.affine, image.affine)
    if georeferenced and not _same(labels, image):
        raise InputError(
            f"{silent} names no CRS, and the geotransform of {labels_name} differs from that of {image_name}, so the "
            "labels cannot be placed. Next: give both files a CRS."
        )
    if labels.crs is not None:
        return _whole(
            labels,
            f"{image_name} names no CRS while {labels_name} does; as both have {labels.shape[0]} x {labels.shape[1]} "
            "pixels, label pixels were taken for image pixels.",
        )
    return _whole(labels)


def applied(affine: Affine, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Arrays of coordinates through an affine."""
    return affine.a * x + affine.b * y + affine.c, affine.d * x + affine.e * y + affine.f


def image_points(image: Grid) -> tuple[FloatArray, FloatArray]:
    """Coordinates x and y, each (LATTICE, LATTICE), of points spread over an image, border included, in its CRS."""
    cols, rows = np.meshgrid(*(np.linspace(0, size, LATTICE) for size in image.shape[::-1]))
    return applied(image.affine, cols, rows)


def _window(labels: Grid, image: Grid, labels_name: str, image_name: str) -> tuple[slice, slice]:
    """The part of the label raster under the image, padded; empty slices where there is none."""
    locate = _locator(labels, image, labels_name)
    where = np.array(locate(*np.meshgrid(*(np.linspace(0, size, LATTICE) for size in image.shape[::-1]))))
    known = np.isfinite(where).all(axis=0)
    if not known.any():
        raise no_overlap(labels_name, extent(labels), image_name, extent(image))
    low, high = where[:, known].min(axis=1), where[:, known].max(axis=1)
    pad = 2 + 0.01 * (high - low) if known.all() else np.array(labels.shape[::-1], dtype=float)
    first = np.maximum(np.floor(low - pad), 0).astype(int)
    last = np.minimum(np.ceil(high + pad), labels.shape[::-1]).astype(int)
    return slice(int(first[1]), int(last[1])), slice(int(first[0]), int(last[0]))
