"""How long and how large a pixel is on the ground, for any CRS and any affine.

A projected grid keeps its nominal size while its scale distortion stays within `DISTORTION_LIMIT` everywhere in the
image; see the conventions page. Everything else is measured by geodesics on the ellipsoid of the CRS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import cos, sin

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray

from swath.raster.geodesy import (
    FloatArray,
    Jacobian,
    NoGround,
    earth_centred_m,
    ellipsoid,
    horizontal,
    jacobian,
    lonlat,
    outer_filled,
    spline_weights,
    strip_areas_m2,
)

__all__ = ["DISTORTION_LIMIT", "LATTICE", "Ground", "NoGround", "crs_name", "measure_ground"]

DISTORTION_LIMIT = 1e-3
"""A UTM zone stays below 0.1 %, so that its 0.5 m pixels measure 0.5 m; Web Mercator at 60 degrees is at 100 %."""

LATTICE = 17
"""Points per axis at which the pixel size is probed; projections are smooth, so a cubic spline through 17 is exact
to 1e-6 even on a hemisphere."""


@dataclass(frozen=True)
class Ground:
    """The ground under a grid.

    Attributes:
        column_m: metres (right, down) on the ground of one step to the next column, at the image centre.
        row_m: metres (right, down) on the ground of one step to the next row, at the image centre.
        method: how the size was found, for people.
        crs: the CRS whose ellipsoid the geodesics run on; None where `column_m` and `row_m` hold everywhere.
        affine: pixel to CRS coordinates.
        shape: (rows, columns).
        scale: factor between the geodesic size and the size in force (1 unless someone typed a size).
        uniform: whether the size at the centre holds for the whole image within `DISTORTION_LIMIT`.
    """

    column_m: tuple[float, float]
    row_m: tuple[float, float]
    method: str
    affine: Affine = field(repr=False)
    shape: tuple[int, int]
    crs: pyproj.CRS | None = field(default=None, repr=False)
    scale: float = 1.0
    uniform: bool = True

    @property
    def size_xy_m(self) -> tuple[float, float]:
        """Lengths in metres of one column step and one row step, at the image centre."""
        return float(np.hypot(*self.column_m)), float(np.hypot(*self.row_m))

    @property
    def pixel_area_m2(self) -> float:
        """Area in m2 of the pixel at the image centre: the absolute determinant, never a square of lengths."""
        return abs(self.column_m[0] * self.row_m[1] - self.column_m[1] * self.row_m[0])

    @property
    def orthogonal(self) -> bool:
        """Whether columns and rows are at right angles on the ground (within 0.1 %)."""
        x, y = self.size_xy_m
        dot = self.column_m[0] * self.row_m[0] + self.column_m[1] * self.row_m[1]
        return abs(dot) <= DISTORTION_LIMIT * x * y

    @cached_property
    def _area_lattice(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows, cols = _lattice(self.shape)
        area = outer_filled(jacobian(self.affine, _required(self.crs), rows, cols).area) * self.scale**2
        return rows[:, 0] - 0.5, cols[0] - 0.5, area

    def area_m2(self, row_slice: slice) -> FloatArray:
        """Area in m2 of each pixel of some rows.

        Returns:
            float64, broadcastable to (rows, columns): one number where the size is uniform, else a full block.
        """
        if self.uniform:
            return np.array([[self.pixel_area_m2]])
        crs = _required(self.crs)
        start, stop, step = row_slice.indices(self.shape[0])
        rows = np.arange(start, stop, step)
        if crs.is_geographic and not crs.is_derived and self.affine.b == self.affine.d == 0:
            return self._area_of_strips_m2(crs, rows)
        row_nodes, col_nodes, area = self._area_lattice
        by_row = spline_weights(row_nodes, rows.astype(float))
        by_col = spline_weights(col_nodes, np.arange(self.shape[1], dtype=float))
        block: FloatArray = np.linalg.multi_dot([by_row, area, by_col.T])
        return block

    def _area_of_strips_m2(self, crs: pyproj.CRS, rows: NDArray[np.int_]) -> FloatArray:
        unit = np.degrees(crs.axis_info[0].unit_conversion_factor)
        edges = (self.affine.f + self.affine.e * np.stack([rows, rows + 1], axis=1)) * unit
        areas = strip_areas_m2(ellipsoid(crs), edges, self.affine.a * unit) * self.scale**2
        return np.broadcast_to(areas, (len(rows), self.shape[1]))

    def positions_m(self, rows: FloatArray, cols: FloatArray) -> FloatArray:
        """Ground positions of pixel centres in a frame in which straight lines are ground distances.

        Args:
            rows: row indices, shape (n,).
            cols: column indices, shape (n,).

        Returns:
            float64 (n, 2), planar metres, where the size is uniform; else (n, 3), metres from the ellipsoid's centre,
            whose chords equal geodesics to 1e-7 up to 10 km and to 1e-4 up to 300 km.
        """
        if self.uniform:
            steps = np.array([self.column_m, self.row_m])
            planar: FloatArray = np.column_stack([cols, rows]) @ steps
            return planar
        crs = _required(self.crs)
        lon, lat = lonlat(self.affine, crs, np.asarray(rows) + 0.5, np.asarray(cols) + 0.5)
        return self.scale * earth_centred_m(ellipsoid(crs), lon, lat)


def measure_ground(affine: Affine, shape: tuple[int, int], crs: pyproj.CRS) -> Ground:
    """The ground under a grid with a CRS.

    Args:
        affine: pixel (column, row) to CRS coordinates.
        shape: (rows, columns).
        crs: any geographic or projected CRS, of any body.

    Raises:
        NoGround: a local CRS, or an image centre that lies nowhere on the ellipsoid.
    """
    crs = horizontal(crs)
    if crs.is_geocentric:
        raise NoGround("the CRS is geocentric: its axes run through the body, not along the ground")
    if not (crs.is_geographic or crs.is_projected):
        raise NoGround("the CRS is local and has no link to the ground")
    if affine.a * affine.e == affine.b * affine.d or not np.isfinite(affine[:6]).all():
        raise NoGround("the geotransform is degenerate: its pixels have no area")
    centre = jacobian(affine, crs, np.array([[shape[0] / 2]]), np.array([[shape[1] / 2]]))
    if not np.isfinite(centre.area).all() or centre.area.item() <= 0:
        raise NoGround("the image centre lies outside the area where its CRS is defined")
    probes = jacobian(affine, crs, *_lattice(shape))
    if crs.is_projected:
        planar = _planar(affine, shape, crs)
        if not _deviates(probes, *planar.size_xy_m, planar.pixel_area_m2):
            return planar
    x, y, angle = centre.x.item(), centre.y.item(), centre.angle.item()
    uniform = not _deviates(probes, x, y, centre.area.item())
    method = f"geodesic on the ellipsoid of {crs_name(crs)}" + ("" if uniform else ", pixel by pixel")
    return Ground((x, 0.0), (y * cos(angle), y * sin(angle)), method, affine, shape, crs, uniform=uniform)


def _planar(affine: Affine, shape: tuple[int, int], crs: pyproj.CRS) -> Ground:
    """The nominal size; a CRS step (east, north) becomes (right, down), so that a north-up grid has positive steps."""
    unit_m = crs.axis_info[0].unit_conversion_factor
    column, row = (affine.a * unit_m, -affine.d * unit_m), (affine.b * unit_m, -affine.e * unit_m)
    return Ground(column, row, f"planar in {crs_name(crs)}", affine, shape)


def _deviates(probes: Jacobian, x: float, y: float, area: float) -> bool:
    """Whether pixels are anywhere longer, shorter, larger or smaller than stated by more than `DISTORTION_LIMIT`."""
    pairs = ((probes.x, x), (probes.y, y), (probes.area, area))
    return any(bool(np.any(np.abs(got / stated - 1) > DISTORTION_LIMIT)) for got, stated in pairs)


@lru_cache(maxsize=32)
def crs_name(crs: pyproj.CRS) -> str:
    """Short name of a CRS: its authority code where it is exactly that one, or else its own name."""
    authority = crs.to_authority(min_confidence=90)
    if authority:
        return ":".join(authority)
    if crs.name not in ("", "unknown", "unnamed", "undefined"):
        return crs.name
    operation = horizontal(crs).coordinate_operation
    return f"unnamed CRS ({crs.type_name if operation is None else operation.method_name})"


def _required(crs: pyproj.CRS | None) -> pyproj.CRS:
    if crs is None:
        raise ValueError("a ground that varies over the image needs a CRS")
    return crs


def _lattice(shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Row (n, 1) and column (1, m) pixel coordinates of pixel centres spread over the image."""
    axes = [np.linspace(0.5, max(size - 0.5, 1.5), LATTICE) for size in shape]
    return axes[0][:, None], axes[1][None, :]
