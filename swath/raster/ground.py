"""How long and how large a pixel is on the ground, for any CRS and any affine.

Lengths are geodesics on the ellipsoid of the CRS (Karney's method, through pyproj). A projected grid keeps its nominal
size while its scale distortion stays within `DISTORTION_LIMIT` everywhere in the image; see the conventions page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray
from pyproj.enums import TransformDirection
from scipy.interpolate import RectBivariateSpline

DISTORTION_LIMIT = 1e-3
"""A UTM zone stays below 0.1 %, so that its 0.5 m pixels measure 0.5 m; Web Mercator at 60 degrees is at 100 %."""

LATTICE = 17
"""Points per axis at which the pixel size is probed; projections are smooth, so a cubic spline through 17 is exact
to 1e-6 even on a hemisphere."""

FloatArray = NDArray[np.float64]


class NoGround(Exception):
    """No ground size can be known; the message is the reason."""


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
    def _area_spline(self) -> RectBivariateSpline:
        rows, cols = _lattice(self.shape)
        area = _filled(_jacobian(self.affine, _required(self.crs), rows, cols).area) * self.scale**2
        return RectBivariateSpline(rows[:, 0], cols[0], area, kx=min(3, len(rows) - 1), ky=min(3, cols.shape[1] - 1))

    def area_m2(self, row_slice: slice) -> FloatArray:
        """Area in m2 of each pixel of some rows.

        Returns:
            float64, broadcastable to (rows, columns): one number where the size is uniform, else a full block.
        """
        if self.uniform:
            return np.array([[self.pixel_area_m2]])
        rows = np.arange(*row_slice.indices(self.shape[0])) + 0.5
        area: FloatArray = self._area_spline(rows, np.arange(self.shape[1]) + 0.5)
        return area

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
        lon, lat = _lonlat(self.affine, _required(self.crs), rows + 0.5, cols + 0.5)
        return self.scale * _earth_centred(_required(self.crs).get_geod(), lon, lat)


@dataclass(frozen=True)
class _Jacobian:
    """Geodesic pixel sizes (m), the angle between the two pixel axes (radians) and the CRS-nominal sizes (m)."""

    x: FloatArray
    y: FloatArray
    angle: FloatArray

    @property
    def area(self) -> FloatArray:
        return self.x * self.y * np.abs(np.sin(self.angle))


def measure_ground(affine: Affine, shape: tuple[int, int], crs: pyproj.CRS) -> Ground:
    """The ground under a grid with a CRS.

    Args:
        affine: pixel (column, row) to CRS coordinates.
        shape: (rows, columns).
        crs: any geographic or projected CRS, of any body.

    Raises:
        NoGround: a local CRS, or an image centre that lies nowhere on the ellipsoid.
    """
    crs = _horizontal(crs)
    if not (crs.is_geographic or crs.is_projected):
        raise NoGround("the CRS is local and has no link to the ground")
    if affine.a * affine.e == affine.b * affine.d:
        raise NoGround("the geotransform is degenerate: its pixels have no area")
    centre = _jacobian(affine, crs, np.array([[shape[0] / 2]]), np.array([[shape[1] / 2]]))
    if not np.isfinite(centre.area).all() or centre.area.item() <= 0:
        raise NoGround("the image centre lies outside the area where its CRS is defined")
    probes = _jacobian(affine, crs, *_lattice(shape))
    if crs.is_projected:
        unit_m = crs.axis_info[0].unit_conversion_factor
        column, row = (affine.a * unit_m, affine.d * unit_m), (affine.b * unit_m, affine.e * unit_m)
        nominal = np.hypot(*column), np.hypot(*row)
        if (
            _deviation(probes.x, nominal[0]) <= DISTORTION_LIMIT
            and _deviation(probes.y, nominal[1]) <= DISTORTION_LIMIT
        ):
            return Ground(_right_down(column), _right_down(row), f"planar in {crs_name(crs)}", affine, shape)
    x, y, angle = centre.x.item(), centre.y.item(), centre.angle.item()
    uniform = all(
        _deviation(got, at_centre) <= DISTORTION_LIMIT
        for got, at_centre in ((probes.x, x), (probes.y, y), (probes.area, centre.area.item()))
    )
    method = f"geodesic on the ellipsoid of {crs_name(crs)}" + ("" if uniform else ", pixel by pixel")
    return Ground((x, 0.0), (y * np.cos(angle), y * np.sin(angle)), method, affine, shape, crs, uniform=uniform)


def crs_name(crs: pyproj.CRS) -> str:
    """Short name of a CRS: its authority code, or else its own name."""
    authority = crs.to_authority()
    return ":".join(authority) if authority else crs.name


def _horizontal(crs: pyproj.CRS) -> pyproj.CRS:
    if crs.is_compound:
        crs = crs.sub_crs_list[0]
    if crs.is_bound and crs.source_crs is not None:
        return _horizontal(crs.source_crs)
    return crs


def _required(crs: pyproj.CRS | None) -> pyproj.CRS:
    if crs is None:
        raise ValueError("a ground that varies over the image needs a CRS")
    return crs


def _right_down(step: tuple[float, float]) -> tuple[float, float]:
    """A CRS step (east, north) as (right, down), so that a north-up grid has positive steps."""
    return step[0], -step[1]


@lru_cache(maxsize=32)
def _to_lonlat(crs: pyproj.CRS) -> pyproj.Transformer:
    geodetic = crs.geodetic_crs
    if geodetic is None:
        raise NoGround("the CRS is local and has no link to the ground")
    return pyproj.Transformer.from_crs(geodetic, crs, always_xy=True)


def _lonlat(affine: Affine, crs: pyproj.CRS, rows: FloatArray, cols: FloatArray) -> tuple[FloatArray, FloatArray]:
    x, y = affine @ (cols, rows)
    if crs.is_geographic:
        unit = crs.axis_info[0].unit_conversion_factor
        lon, lat = np.degrees(x * unit), np.degrees(y * unit)
    else:
        lon, lat = _to_lonlat(crs).transform(x, y, direction=TransformDirection.INVERSE)
    lat = np.where(np.abs(lat) <= 90, lat, np.nan)
    return np.asarray(lon, dtype=float), lat


def _jacobian(affine: Affine, crs: pyproj.CRS, rows: FloatArray, cols: FloatArray) -> _Jacobian:
    """Geodesic size of the pixels centred on pixel coordinates (rows, cols), broadcast against each other."""
    rows, cols = np.broadcast_arrays(rows, cols)
    geod = crs.get_geod()
    if geod is None:
        raise NoGround("the CRS has no ellipsoid")
    left = _lonlat(affine, crs, rows, cols - 0.5)
    right = _lonlat(affine, crs, rows, cols + 0.5)
    above = _lonlat(affine, crs, rows - 0.5, cols)
    below = _lonlat(affine, crs, rows + 0.5, cols)
    along_row, _, x = _inverse(geod, *left, *right)
    along_column, _, y = _inverse(geod, *above, *below)
    return _Jacobian(x, y, np.radians(along_column - along_row))


def _inverse(geod: pyproj.Geod, *lonlats: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    known = np.logical_and.reduce([np.isfinite(values) for values in lonlats])
    safe = [np.where(known, values, 0.0) for values in lonlats]
    there, back, length = geod.inv(*safe)
    return tuple(np.where(known, got, np.nan) for got in (there, back, length))  # type: ignore[return-value]


def _lattice(shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Row (n, 1) and column (1, m) pixel coordinates of pixel centres spread over the image."""
    axes = [np.linspace(0.5, max(size - 0.5, 1.5), LATTICE) for size in shape]
    return axes[0][:, None], axes[1][None, :]


def _deviation(values: FloatArray, reference: float) -> float:
    finite = values[np.isfinite(values)]
    return float(np.max(np.abs(finite / reference - 1))) if finite.size else 0.0


def _filled(values: FloatArray) -> FloatArray:
    """Values off the body take the nearest known value in their row order; such pixels hold no data anyway."""
    known = np.isfinite(values)
    if known.all():
        return values
    flat = np.arange(values.size)
    return np.interp(flat, flat[known.ravel()], values[known]).reshape(values.shape)


def _earth_centred(geod: pyproj.Geod, lon: FloatArray, lat: FloatArray) -> FloatArray:
    """Earth-centred cartesian coordinates (n, 3) in metres of points on the ellipsoid."""
    lam, phi = np.radians(lon), np.radians(lat)
    normal = geod.a / np.sqrt(1 - geod.es * np.sin(phi) ** 2)
    return np.column_stack(
        [
            normal * np.cos(phi) * np.cos(lam),
            normal * np.cos(phi) * np.sin(lam),
            normal * (1 - geod.es) * np.sin(phi),
        ]
    )
