"""Sites without files: a grid, painted classes, and the way in which a program calls tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray

from swath.raster.bands import Band
from swath.raster.grid import Grid
from swath.raster.reader import Raster
from swath.testing.segment import PaintedBackend
from swath.tools.registry import tools
from swath.tools.site import Site

BoolImage = NDArray[np.bool_]
UTM = pyproj.CRS.from_epsg(32633)
SHAPE = (60, 80)

AFFINES = {
    "square": Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000),
    "not square": Affine(0.5, 0, 500_000, 0, -0.8, 5_000_000),
    "south-up": Affine(0.5, 0, 500_000, 0, 0.5, 5_000_000),
    "rotated": Affine.translation(500_000, 5_000_000) @ Affine.rotation(27) @ Affine.scale(0.5, -0.5),
    "sheared": Affine(0.5, 0.2, 500_000, 0.1, -0.6, 5_000_000),
    "strongly sheared": Affine(0.5, 1.6, 500_000, 0, -0.5, 5_000_000),
}
"""Planar grids in UTM, where metres are metres."""


def planar(name: str, shape: tuple[int, int] = SHAPE) -> Grid:
    return Grid(AFFINES[name], shape, UTM)


def geographic(shape: tuple[int, int] = SHAPE, *, lat: float = 60.0, degrees: float = 0.01) -> Grid:
    """A north-up grid of degrees, whose pixels differ from row to row."""
    return Grid(Affine(degrees, 0, 10, 0, -degrees, lat), shape, pyproj.CRS.from_epsg(4326))


def mercator(shape: tuple[int, int] = SHAPE, *, metres: float = 1000.0) -> Grid:
    """EPSG:3857 around 60 degrees north, where a nominal metre measures half a metre."""
    return Grid(Affine(metres, 0, 1_000_000, 0, -metres, 8_400_000), shape, pyproj.CRS.from_epsg(3857))


def polar(shape: tuple[int, int] = SHAPE, *, metres: float = 5000.0) -> Grid:
    """Polar stereographic far from its standard parallel."""
    return Grid(Affine(metres, 0, 2_000_000, 0, -metres, 2_000_000), shape, pyproj.CRS.from_epsg(3995))


ROUND_GRIDS = {"geographic": geographic, "mercator": mercator, "polar": polar}


def site_on(grid: Grid, paintings: Mapping[str, Any], valid: BoolImage | None = None) -> Site:
    band = Band(1, None, None, "uint8", None, 1.0, 0.0, "gray")
    raster = Raster(path=Path("scene.tif"), driver="GTiff", grid=grid, bands=(band,), warnings=(), name="scene.tif")
    everywhere = np.ones(grid.shape, dtype=bool)
    return Site(raster, PaintedBackend(grid.shape, paintings), everywhere if valid is None else valid)


def call(site: Site, name: str, *args: Any, **kwargs: Any) -> Any:
    """A tool as a program calls it, arguments checked."""
    return tools()[name].call(site, args, kwargs)


def blobs(shape: tuple[int, int] = SHAPE, *, share: float = 0.3, seed: int = 0, grain: int = 4) -> BoolImage:
    """Random patches of a few pixels across."""
    rng = np.random.default_rng(seed)
    coarse = rng.random((shape[0] // grain + 2, shape[1] // grain + 2)) < share
    return np.kron(coarse, np.ones((grain, grain), dtype=bool))[: shape[0], : shape[1]] ^ (rng.random(shape) < 0.03)


def disc(shape: tuple[int, int], row: float, col: float, radius: float) -> BoolImage:
    rows, cols = np.indices(shape)
    return (rows - row) ** 2 + (cols - col) ** 2 <= radius**2


def ground_xy(affine: Affine, rows: NDArray[Any], cols: NDArray[Any]) -> NDArray[np.float64]:
    """(n, 2) planar coordinates of pixel centres by the affine alone."""
    x, y = affine @ (np.asarray(cols) + 0.5, np.asarray(rows) + 0.5)
    return np.column_stack([x, y])


def pairwise_m(grid: Grid, here: BoolImage, there: BoolImage) -> NDArray[np.float64]:
    """Distances of every pixel of one set to every pixel of another: planar, or geodesics on the ellipsoid."""
    a, b = np.nonzero(here), np.nonzero(there)
    if grid.crs is not None and grid.crs.is_projected and grid.crs.utm_zone:
        near_zero = Affine(grid.affine.a, grid.affine.b, 0, grid.affine.d, grid.affine.e, 0)  # keeps 16 digits
        return np.linalg.norm(ground_xy(near_zero, *a)[:, None] - ground_xy(near_zero, *b)[None], axis=2)
    to_lonlat = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True)
    lon0, lat0 = to_lonlat.transform(*ground_xy(grid.affine, *a).T)
    lon1, lat1 = to_lonlat.transform(*ground_xy(grid.affine, *b).T)
    pairs = np.broadcast_arrays(lon0[:, None], lat0[:, None], lon1[None], lat1[None])
    return np.asarray(pyproj.Geod(ellps="WGS84").inv(*(p.ravel() for p in pairs))[2]).reshape(pairs[0].shape)
