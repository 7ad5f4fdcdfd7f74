"""Where a file says that it lies: affine and CRS, or an affine fitted to its ground control points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray
from rasterio._err import CPLE_BaseError
from rasterio.errors import RasterioError

from swath.raster.geokeys import declares_crs
from swath.raster.grid import Grid

GCP_RMS_LIMIT_PX = 3.0
"""An affine fit worse than this many pixels (rms) gives no size; 1.4 px of a radar scene is fine, 8 px is not."""

_IDENTITY = Affine.identity()


def read_grid(dataset: Any, gsd_m: float | None) -> tuple[Grid, tuple[str, ...]]:
    """The grid of an open dataset, and warnings about it.

    Args:
        dataset: an open dataset.
        gsd_m: ground size of a pixel that a person typed.
    """
    shape = (int(dataset.height), int(dataset.width))
    affine = Affine(*dataset.transform[:6])
    points, points_crs = dataset.gcps
    if affine == _IDENTITY and points:
        return _grid_from_gcps(points, points_crs, shape, gsd_m)
    crs = _to_pyproj(dataset.crs)
    unreadable = crs is None and (bool(dataset.crs) or declares_crs(Path(dataset.name)))
    reason = "the CRS of the file cannot be read" if unreadable else _why_unlocated(dataset, affine, crs)
    return Grid(affine, shape, crs, reason, gsd_m), ()


def _why_unlocated(dataset: Any, affine: Affine, crs: pyproj.CRS | None) -> str | None:
    if affine == _IDENTITY:
        if dataset.rpcs is not None:
            return "the file is located by RPCs only, which need a height"
        what = "neither a CRS nor a geotransform" if crs is None else "a CRS but no geotransform"
        return f"the file has {what}"
    return "the file has no CRS, so the unit of its geotransform is unknown" if crs is None else None


def _to_pyproj(crs: Any) -> pyproj.CRS | None:
    """The CRS that rasterio found, None where there is none or it cannot be understood."""
    if not crs:
        return None
    try:
        return pyproj.CRS.from_wkt(crs.to_wkt(version="WKT2_2019"))
    except (RasterioError, CPLE_BaseError, pyproj.exceptions.CRSError):
        return None


def _grid_from_gcps(
    points: list[Any], points_crs: Any, shape: tuple[int, int], gsd_m: float | None
) -> tuple[Grid, tuple[str, ...]]:
    crs = _to_pyproj(points_crs)
    if crs is None:
        return Grid(_IDENTITY, shape, None, "the ground control points have no CRS that can be read", gsd_m), ()
    fit = fit_affine(
        np.array([[point.col, point.row] for point in points], dtype=float),
        _unwrapped(np.array([[point.x, point.y] for point in points], dtype=float), crs),
    )
    if fit is None:
        reason = f"the {len(points)} ground control points do not span an area"
        return Grid(_IDENTITY, shape, crs, reason, gsd_m), ()
    affine, rms_px = fit
    said = f"an affine grid fitted to {len(points)} ground control points (rms {rms_px:.2g} px)"
    if rms_px > GCP_RMS_LIMIT_PX:
        reason = f"{said} is off by more than {GCP_RMS_LIMIT_PX:g} px"
        return Grid(affine, shape, crs, reason, gsd_m), ()
    unchecked = ", too few to check it" if len(points) == 3 else ""
    warning = f"The ground size is approximate: it comes from {said}{unchecked}."
    return Grid(affine, shape, crs, None, gsd_m), (warning,)


def fit_affine(cols_rows: NDArray[np.float64], xy: NDArray[np.float64]) -> tuple[Affine, float] | None:
    """The affine from pixels to CRS coordinates by least squares over control points.

    Args:
        cols_rows: (n, 2) pixel coordinates.
        xy: (n, 2) CRS coordinates.

    Returns:
        The affine and its root mean square misfit in pixels; None where the points do not span an area.
    """
    offset = xy.mean(axis=0)
    design = np.column_stack([cols_rows, np.ones(len(cols_rows))])
    solution, _, rank, _ = np.linalg.lstsq(design, xy - offset, rcond=None)
    linear = solution[:2].T
    if rank < 3 or not np.isfinite(linear).all() or np.linalg.matrix_rank(linear) < 2:
        return None
    misfit = np.linalg.solve(linear, (design @ solution - (xy - offset)).T)
    rms_px = float(np.sqrt(np.mean(np.sum(misfit**2, axis=0))))
    (a, b), (d, e) = linear
    c, f = solution[2] + offset
    return Affine(*map(float, (a, b, c, d, e, f))), rms_px


def _unwrapped(xy: NDArray[np.float64], crs: pyproj.CRS) -> NDArray[np.float64]:
    """Longitudes on one side of the antimeridian, so that neighbours stay neighbours."""
    if crs.is_geographic and 180 < np.ptp(xy[:, 0]) <= 360:
        xy = xy.copy()
        xy[:, 0] %= 360
    return xy
