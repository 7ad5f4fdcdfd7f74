"""Where another raster lies under the image: exact to a thousandth of a pixel, never a guess where it does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
"""Corners nearer than this are the same grid."""
LATTICE = 33
"""Points per axis at which the image is looked up in the other grid; between them a projection bends by well
under the 2 pixels and 1 % by which the window is padded."""
STRIP_PX = 2**22
SPLINE_PX = 1e-3
TIE_PX = 1e-6
"""A centre that falls on the edge between two pixels belongs to the one with the higher number, whatever the rounding
of the transformation."""


@dataclass(frozen=True)
class Placement:
    """Which part of another raster lies under the image, and how.

    Attributes:
        rows: rows of the other raster that are needed.
        cols: its columns that are needed.
        same_grid: whether its pixels are image pixels, one to one.
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


def place(other: Grid, image: Grid, other_name: str, image_name: str, what: str = "labels") -> Placement:
    """Decide how another raster lies under an image.

    Args:
        other: grid of the other raster.
        image: grid of the image.
        other_name: its file, for sentences.
        image_name: the image file, for sentences.
        what: what it holds, a plural.

    Raises:
        InputError: the two do not overlap, or one of them does not say where it lies and their shapes or their
            geotransforms differ; the sentence names both sides.
    """
    if other.crs is None or image.crs is None:
        return _place_by_shape(other, image, other_name, image_name, what)
    if other.crs.equals(image.crs, ignore_axis_order=True) and _same(other, image):
        return _whole(other)
    rows, cols = _window(other, image, other_name, image_name, what)
    if rows.start >= rows.stop or cols.start >= cols.stop:
        raise no_overlap(other_name, extent(other), image_name, extent(image), what)
    return Placement(rows, cols, same_grid=False)


def no_overlap(
    other_name: str, other_extent: str, image_name: str, image_extent: str, what: str = "labels"
) -> InputError:
    """The error for a file of another place."""
    return InputError(
        f"The {what} do not overlap the image: {other_name} covers {other_extent}; {image_name} covers "
        f"{image_extent}. Next: give {what} of the same place, or correct the CRS of one of the two."
    )


def locator(other: Grid, image: Grid, other_name: str, what: str = "labels") -> Locator:
    """From pixel coordinates (column, row) of the image to those of another raster.

    Raises:
        InputError: no transformation between the two CRSs is known.
    """
    try:
        to_pixels = ~other.affine
        if other.crs is not None and other.crs.equals(image.crs, ignore_axis_order=True):
            direct = to_pixels @ image.affine
            return lambda cols, rows: applied(direct, cols, rows)
        transformer = pyproj.Transformer.from_crs(image.crs, other.crs, always_xy=True)
    except (ProjError, TransformNotInvertibleError):
        raise _no_way(other_name, other, image, what) from None

    def through_crs(cols: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        x, y = transformer.transform(*applied(image.affine, cols, rows))
        where = np.array([x, y], dtype=float)
        where[:, ~np.isfinite(where).all(axis=0)] = np.nan
        return applied(to_pixels, where[0], where[1])

    return through_crs


def positions(locate: Locator, rows: slice, image: Grid, cols: slice | None = None) -> tuple[FloatArray, FloatArray]:
    """Column and row in the other raster of the pixel centres of a part of the image, NaN where there is no place.

    Interpolated by a cubic spline where that is right to `SPLINE_PX`, 20 times faster than PROJ for each pixel.
    """
    cols = cols or slice(0, image.shape[1])
    row_centres, col_centres = (np.arange(part.start, part.stop) + 0.5 for part in (rows, cols))
    if min(len(row_centres), len(col_centres)) > LATTICE:
        knots = [np.linspace(centres[0], centres[-1], LATTICE) for centres in (row_centres, col_centres)]
        between = [(ticks[1:] + ticks[:-1]) / 2 for ticks in knots]
        known, checks = (locate(*np.meshgrid(ticks[1], ticks[0])) for ticks in (knots, between))
        if np.isfinite(known).all():
            from scipy.interpolate import RectBivariateSpline  # 0.3 s to load, and only rasters of another grid need it

            splines = [RectBivariateSpline(*knots, values) for values in known]
            errors = [np.abs(spline(*between) - check).max() for spline, check in zip(splines, checks, strict=True)]
            if max(errors) < SPLINE_PX:
                at_col, at_row = (spline(row_centres, col_centres) for spline in splines)
                return at_col, at_row
    return locate(*np.meshgrid(col_centres, row_centres))


def _no_way(other_name: str, other: Grid, image: Grid, what: str) -> InputError:
    return InputError(
        f"No transformation from the CRS of {other_name} ({other.crs_name}) to the image's ({image.crs_name}) is "
        f"known. Next: reproject the {what} to the image's CRS."
    )


def _whole(grid: Grid, *warnings: str) -> Placement:
    return Placement(slice(0, grid.shape[0]), slice(0, grid.shape[1]), same_grid=True, warnings=warnings)


def _same(other: Grid, image: Grid) -> bool:
    """Whether every corner of two grids of one CRS falls together."""
    if other.shape != image.shape:
        return False
    try:
        back = ~image.affine
    except TransformNotInvertibleError:
        return bool(other.affine == image.affine)
    corners = [(col, row) for col in (0, other.shape[1]) for row in (0, other.shape[0])]
    apart = [np.subtract(back @ (other.affine @ corner), corner) for corner in corners]
    return float(np.abs(apart).max()) < SAME_GRID_PX


def _place_by_shape(other: Grid, image: Grid, other_name: str, image_name: str, what: str) -> Placement:
    """Without a CRS on both sides only equal shapes tell that two files belong together."""
    silent = other_name if other.crs is None else image_name
    if other.shape != image.shape:
        raise InputError(
            f"{silent} names no CRS, and {other_name} has {other.shape[0]} x {other.shape[1]} pixels where "
            f"{image_name} has {image.shape[0]} x {image.shape[1]} (rows x columns). "
            f"Next: give {what} of the image's shape, or files that both name a CRS."
        )
    georeferenced = Affine.identity() not in (other.affine, image.affine)
    if georeferenced and not _same(other, image):
        raise InputError(
            f"{silent} names no CRS, and the geotransform of {other_name} differs from that of {image_name}, so the "
            f"{what} cannot be placed. Next: give both files a CRS."
        )
    if other.crs is not None:
        return _whole(
            other,
            f"{image_name} names no CRS while {other_name} does; as both have {other.shape[0]} x {other.shape[1]} "
            f"pixels, {what.removesuffix('s')} pixels were taken for image pixels.",
        )
    return _whole(other)


def applied(affine: Affine, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Arrays of coordinates through an affine."""
    return affine.a * x + affine.b * y + affine.c, affine.d * x + affine.e * y + affine.f


def image_points(image: Grid) -> tuple[FloatArray, FloatArray]:
    """Coordinates x and y, each (LATTICE, LATTICE), of points spread over an image, border included, in its CRS."""
    cols, rows = np.meshgrid(*(np.linspace(0, size, LATTICE) for size in image.shape[::-1]))
    return applied(image.affine, cols, rows)


def _window(other: Grid, image: Grid, other_name: str, image_name: str, what: str) -> tuple[slice, slice]:
    """The part of the other raster under the image, padded; empty slices where there is none."""
    locate = locator(other, image, other_name, what)
    where = np.array(locate(*np.meshgrid(*(np.linspace(0, size, LATTICE) for size in image.shape[::-1]))))
    known = np.isfinite(where).all(axis=0)
    if not known.any():
        raise no_overlap(other_name, extent(other), image_name, extent(image), what)
    low, high = where[:, known].min(axis=1), where[:, known].max(axis=1)
    pad = 2 + 0.01 * (high - low) if known.all() else np.array(other.shape[::-1], dtype=float)
    first = np.maximum(np.floor(low - pad), 0).astype(int)
    last = np.minimum(np.ceil(high + pad), other.shape[::-1]).astype(int)
    return slice(int(first[1]), int(last[1])), slice(int(first[0]), int(last[0]))
