"""Geodesics under pixels: longitudes and latitudes, pixel sizes, exact areas between parallels.

Lengths and azimuths are geodesics on the CRS's own ellipsoid (Karney 2013, through pyproj). The area between two
parallels is the closed form of Snyder, "Map Projections: A Working Manual" (1987), equation 3-12.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray
from pyproj.enums import TransformDirection
from pyproj.exceptions import ProjError

FloatArray = NDArray[np.float64]

NOWHERE_M = 1e12
"""Earth-centred coordinate of places off the body: farther from everything than anyone asks."""


class NoGround(Exception):
    """No ground size can be known; the message is the reason."""


@dataclass(frozen=True)
class Jacobian:
    """How long pixels are and how they lie.

    Attributes:
        x: geodesic metres from the left to the right edge, through the pixel's centre.
        y: geodesic metres from the upper to the lower edge.
        right: azimuth of the step to the right, radians clockwise from true north.
        down: azimuth of the step down.
    """

    x: FloatArray
    y: FloatArray
    right: FloatArray
    down: FloatArray

    @property
    def angle(self) -> FloatArray:
        """From the step right to the step down, radians clockwise."""
        return self.down - self.right

    @property
    def area(self) -> FloatArray:
        """Area in m2: the determinant, not the product of the lengths."""
        return self.x * self.y * np.abs(np.sin(self.angle))


def horizontal(crs: pyproj.CRS) -> pyproj.CRS:
    """The horizontal part of a compound or bound CRS."""
    if crs.is_compound:
        return horizontal(crs.sub_crs_list[0])
    if crs.is_bound and crs.source_crs is not None:
        return horizontal(crs.source_crs)
    return crs


@lru_cache(maxsize=32)
def _to_base(crs: pyproj.CRS) -> tuple[pyproj.Transformer | None, float]:
    """The way from a CRS to its geographic base (None where it is one) and the base's unit in radians."""
    if crs.is_geographic and not crs.is_derived:
        return None, float(crs.axis_info[0].unit_conversion_factor)
    base = crs.source_crs if crs.is_geographic else crs.geodetic_crs
    if base is None or not base.is_geographic:
        raise NoGround("the CRS is local and has no link to the ground")
    return pyproj.Transformer.from_crs(base, crs, always_xy=True), float(base.axis_info[0].unit_conversion_factor)


def lonlat(affine: Affine, crs: pyproj.CRS, rows: FloatArray, cols: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Longitude and latitude in degrees at pixel coordinates, NaN off the body.

    Args:
        affine: pixel (column, row) to CRS coordinates.
        crs: geographic or projected, horizontal.
        rows: row coordinates, any shape.
        cols: column coordinates, same shape.

    Raises:
        NoGround: a local CRS, or one that PROJ cannot compute.
    """
    x = affine.a * cols + affine.b * rows + affine.c
    y = affine.d * cols + affine.e * rows + affine.f
    try:
        transformer, unit = _to_base(crs)
        if transformer is not None:
            x, y = transformer.transform(x, y, direction=TransformDirection.INVERSE)
    except ProjError:
        raise NoGround("PROJ cannot compute the CRS") from None
    lon, lat = np.degrees(np.asarray(x) * unit), np.degrees(np.asarray(y) * unit)
    known = np.isfinite(lon) & (np.abs(lat) <= 90 + 1e-9)
    return np.where(known, lon, np.nan), np.where(known, lat, np.nan)


def ellipsoid(crs: pyproj.CRS) -> pyproj.Geod:
    """The ellipsoid of a CRS.

    Raises:
        NoGround: it has none.
    """
    geod = crs.get_geod()
    if geod is None:
        raise NoGround("the CRS has no ellipsoid")
    return geod


def jacobian(affine: Affine, crs: pyproj.CRS, rows: FloatArray, cols: FloatArray) -> Jacobian:
    """Geodesic size of the pixels centred on pixel coordinates, broadcast against each other; NaN off the body."""
    rows, cols = np.broadcast_arrays(rows, cols)
    geod = ellipsoid(crs)
    left, right = (lonlat(affine, crs, rows, cols + step) for step in (-0.5, 0.5))
    above, below = (lonlat(affine, crs, rows + step, cols) for step in (-0.5, 0.5))
    lon, lat = lonlat(affine, crs, rows, cols)
    return Jacobian(
        _length(geod, left, right),
        _length(geod, above, below),
        _azimuth(geod, left, right, lon, lat),
        _azimuth(geod, above, below, lon, lat),
    )


LonLat = tuple[FloatArray, FloatArray]


def _length(geod: pyproj.Geod, start: LonLat, end: LonLat) -> FloatArray:
    """Lengths in metres of geodesics, NaN where either end is unknown."""
    known = np.isfinite(start[0] + end[0])
    lon, lat, end_lon, end_lat = (np.where(known, values, 0.0) for values in (*start, *end))
    return np.where(known, geod.inv(lon, lat, end_lon, end_lat)[2], np.nan)


def _azimuth(geod: pyproj.Geod, start: LonLat, end: LonLat, lon: FloatArray, lat: FloatArray) -> FloatArray:
    """Directions of chords in radians clockwise from the north of a place between their ends.

    Both steps of a pixel are held against the north of its centre: the azimuths at their own ends differ from it by
    up to a right angle where the pixel holds a pole.
    """
    chord = _earth_centred(geod, *end) - _earth_centred(geod, *start)
    lam, phi = np.radians(lon), np.radians(lat)
    east = -np.sin(lam) * chord[0] + np.cos(lam) * chord[1]
    outward = np.cos(lam) * chord[0] + np.sin(lam) * chord[1]
    azimuth: FloatArray = np.arctan2(east, np.cos(phi) * chord[2] - np.sin(phi) * outward)
    return azimuth


def strip_areas_m2(geod: pyproj.Geod, edges_lat: FloatArray, width_lon: float) -> FloatArray:
    """Exact areas between successive parallels.

    Args:
        geod: the ellipsoid.
        edges_lat: (..., n + 1) latitudes in degrees; beyond the poles there is no area.
        width_lon: width in degrees of longitude.

    Returns:
        (..., n) areas in m2.
    """
    sine = np.sin(np.radians(np.clip(edges_lat, -90, 90)))
    e = np.sqrt(geod.es)
    zone = sine + sine if e == 0 else sine / (1 - geod.es * sine**2) + np.arctanh(e * sine) / e
    areas: FloatArray = np.abs(np.diff(zone)) * geod.b**2 / 2 * np.radians(abs(width_lon))
    return areas


def earth_centred_m(geod: pyproj.Geod, lon: FloatArray, lat: FloatArray) -> FloatArray:
    """Earth-centred cartesian coordinates (n, 3) in metres of points on the ellipsoid."""
    xyz = _earth_centred(geod, lon, lat).T
    return np.where(np.isfinite(xyz), xyz, NOWHERE_M)


def _earth_centred(geod: pyproj.Geod, lon: FloatArray, lat: FloatArray) -> FloatArray:
    lam, phi = np.radians(lon), np.radians(lat)
    normal = geod.a / np.sqrt(1 - geod.es * np.sin(phi) ** 2)
    across = normal * np.cos(phi)
    return np.array([across * np.cos(lam), across * np.sin(lam), normal * (1 - geod.es) * np.sin(phi)])


def spline_weights(nodes: FloatArray, at: FloatArray) -> FloatArray:
    """Weights by which values at nodes become values elsewhere, along the cubic not-a-knot spline through them.

    Args:
        nodes: (k,) equally spaced, k at least 4.
        at: (n,) places between the first and the last node.

    Returns:
        (n, k) so that `weights @ values` is the spline (de Boor, "A Practical Guide to Splines", chapter IV).
    """
    k, step = len(nodes), nodes[1] - nodes[0]
    # Slopes s solve a tridiagonal system that is linear in the values; not-a-knot closes it at both ends.
    system, right = np.zeros((k, k)), np.zeros((k, k))
    for i in range(1, k - 1):
        system[i, i - 1 : i + 2] = 1, 4, 1
        right[i, i - 1 : i + 2] = -3, 0, 3
    system[0, :2], right[0, :3] = (1, 2), (-2.5, 2, 0.5)
    system[-1, -2:], right[-1, -3:] = (2, 1), (-0.5, -2, 2.5)
    slopes = np.linalg.solve(system, right)
    cell = np.clip(((at - nodes[0]) // step).astype(int), 0, k - 2)
    t = ((at - nodes[cell]) / step)[:, None]
    values = np.eye(k)
    weights: FloatArray = (
        (1 + 2 * t) * (1 - t) ** 2 * values[cell]
        + t * (1 - t) ** 2 * slopes[cell]
        + t**2 * (3 - 2 * t) * values[cell + 1]
        - t**2 * (1 - t) * slopes[cell + 1]
    )
    return weights


def outer_filled(values: FloatArray) -> FloatArray:
    """Values off the body take the nearest known value in reading order; such pixels hold no data anyway."""
    known = np.isfinite(values)
    if known.all():
        return values
    flat = np.arange(values.size)
    filled: FloatArray = np.interp(flat, flat[known.ravel()], values[known]).reshape(values.shape)
    return filled
