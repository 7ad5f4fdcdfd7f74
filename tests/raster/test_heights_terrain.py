"""Slope, aspect and ruggedness: planes in closed form on any grid, and a plain Horn of our own on rough ground."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from height_files import AFFINE, UTM, image, plane, write_heights
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster import terrain
from swath.raster.grid import Grid
from swath.raster.heights import open_heights

AFFINES = {
    "square": AFFINE,
    "not square": Affine(2, 0, 500_000, 0, -3, 5_000_000),
    "south-up": Affine(2, 0, 500_000, 0, 2, 5_000_000),
    "rotated": Affine.translation(500_000, 5_000_000) @ Affine.rotation(27) @ Affine.scale(2, -2),
    "sheared": Affine(2, 0.7, 500_000, 0.4, -2.5, 5_000_000),
}


def rough(shape: tuple[int, int] = (12, 15), seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(200, 3, shape)


def horn(z: NDArray[Any], row: int, col: int, x_m: float, y_m: float) -> float:
    """Slope in degrees of one cell of a north-up grid, straight from the formula."""
    (a, b, c), (d, _, f), (g, h, i) = z[row - 1 : row + 2, col - 1 : col + 2]
    across = ((c + 2 * f + i) - (a + 2 * d + g)) / (8 * x_m)
    down = ((g + 2 * h + i) - (a + 2 * b + c)) / (8 * y_m)
    return float(np.degrees(np.arctan(np.hypot(across, down))))


@pytest.mark.parametrize("name", AFFINES)
def test_a_plane_has_its_slope_and_aspect_on_every_grid(name: str) -> None:
    grid = Grid(AFFINES[name], (9, 11), UTM)
    for east, north, facing in ((0.25, 0.0, 270.0), (0.0, -0.5, 0.0), (-0.3, 0.3, 135.0), (0.1, 0.2, 206.565051177)):
        found = terrain.gradient(plane(AFFINES[name], (9, 11), east, north), grid)
        inner = tuple(part[1:-1, 1:-1] for part in found)
        np.testing.assert_allclose(inner[0], east, atol=1e-9)
        np.testing.assert_allclose(inner[1], north, atol=1e-9)
        slope = np.degrees(np.arctan(np.hypot(east, north)))
        np.testing.assert_allclose(terrain.slope_deg(*inner), slope, atol=1e-7)
        apart = (terrain.aspect_deg(*inner) - facing + 180) % 360 - 180
        assert np.abs(apart).max() < 1e-6


def test_rough_ground_by_the_formula_and_nothing_at_the_border() -> None:
    z = rough()
    slope = terrain.slope_deg(*terrain.gradient(z, Grid(AFFINES["not square"], z.shape, UTM)))
    for row in range(1, 11):
        for col in range(1, 14):
            assert slope[row, col] == pytest.approx(horn(z, row, col, 2, 3), abs=1e-10)
    assert np.isnan(slope[[0, -1]]).all()
    assert np.isnan(slope[:, [0, -1]]).all()


def test_rows_beyond_one_block_are_no_different(monkeypatch: pytest.MonkeyPatch) -> None:
    z, grid = rough((40, 9)), Grid(AFFINE, (40, 9), UTM)
    whole = terrain.gradient(z, grid)
    monkeypatch.setattr(terrain, "BLOCK_ROWS", 7)
    np.testing.assert_array_equal(terrain.gradient(z, grid), whole)


def test_a_gap_takes_its_whole_window_along() -> None:
    z = rough()
    z[5, 6] = np.nan
    for field in (*terrain.gradient(z, Grid(AFFINE, z.shape, UTM)), *(terrain.index_m(z, i) for i in terrain.INDICES)):
        inner = np.isnan(field[1:-1, 1:-1])
        assert np.argwhere(inner).min(axis=0).tolist() == [3, 4]
        assert np.argwhere(inner).max(axis=0).tolist() == [5, 6]
        assert inner.sum() == 9


def test_indices_by_brute_force() -> None:
    z = rough()
    tri, tpi, roughness = (terrain.index_m(z, index) for index in ("tri", "tpi", "roughness"))
    for row in range(1, 11):
        for col in range(1, 14):
            window = z[row - 1 : row + 2, col - 1 : col + 2].ravel()
            others = np.delete(window, 4)
            assert tri[row, col] == pytest.approx(np.sqrt(np.sum((others - window[4]) ** 2)))
            assert tpi[row, col] == pytest.approx(window[4] - np.mean(others))
            assert roughness[row, col] == pytest.approx(window.max() - window.min())


@pytest.mark.parametrize("lat", [0.0, 60.0, -60.0])
def test_degrees_are_measured_on_the_ground(lat: float) -> None:
    """A slope of 1 in 10 towards east, then towards north, by geodesics from cell to cell."""
    affine = Affine(0.001, 0, 10, 0, -0.001, lat + 0.005)
    grid = Grid(affine, (10, 12), pyproj.CRS(4326))
    geod = pyproj.Geod(ellps="WGS84")
    rows, cols = np.indices((10, 12)) + 0.5
    lon, lats = affine @ (cols, rows)
    base = np.full(lon.shape, 10.0), np.full(lon.shape, lat + 0.005)
    to_east = geod.inv(base[0], lats, lon, lats)[2] / 10
    to_north = -np.array(geod.inv(lon, base[1], lon, lats)[2]) / 10
    for z, wanted in ((to_east, (0.1, 0.0)), (to_north, (0.0, 0.1))):
        east, north = (part[1:-1, 1:-1] for part in terrain.gradient(z, grid))
        np.testing.assert_allclose(east, wanted[0], atol=2e-5)
        np.testing.assert_allclose(north, wanted[1], atol=2e-5)


def test_web_mercator_at_60_north_is_not_taken_at_its_word() -> None:
    affine = Affine(20, 0, 1_000_000, 0, -20, 8_400_000)
    grid = Grid(affine, (8, 8), pyproj.CRS(3857))
    slope = terrain.slope_deg(*terrain.gradient(plane(affine, (8, 8), 0.1, 0.0), grid))[4, 4]
    assert np.tan(np.radians(slope)) == pytest.approx(0.1 / 0.5, rel=0.01)  # a nominal metre measures half of one


def test_a_stated_pixel_size_is_the_step(tmp_path: Path) -> None:
    bare = Affine.scale(1, -1)
    grid = Grid(bare, (9, 9), None, "nothing", 4.0)
    east, _ = terrain.gradient(plane(bare, (9, 9), 1.0, 0.0), grid)
    assert east[4, 4] == pytest.approx(0.25)
    with pytest.raises(Refused, match="Metres cannot be measured"):
        terrain.gradient(rough(), Grid(bare, (12, 15), None, "nothing"))


def test_slope_is_taken_on_the_surface_s_own_cells(tmp_path: Path) -> None:
    """A ridge of 10 m cells under an image of 2 m: bilinear heights would make facets, the slope of cells does not."""
    z = rough((20, 20)).astype(np.float32)
    affine = AFFINE @ Affine.translation(-10, -10) @ Affine.scale(5)
    path = write_heights(tmp_path / "dem.tif", z, affine=affine)
    heights = open_heights({"dem": path}, image(tmp_path, (50, 50)))
    assert heights is not None
    slope = terrain.slope_deg(*heights.surface("dem").gradient)
    # The centre of image pixel (12, 12) is that of cell (4, 4): 12.5 + 10 = 4.5 x 5.
    assert slope[12, 12] == pytest.approx(horn(z.astype(float), 4, 4, 10, 10), abs=1e-4)
    np.testing.assert_allclose(heights.surface("dem").index("roughness")[12, 12], np.ptp(z[3:6, 3:6]), atol=1e-4)


def test_a_published_slope(shared_data: Path) -> None:
    """landlab's planar slope: 30.9638 degrees above, 0.0573 below, by its construction."""
    from swath.raster.reader import open_raster

    path = shared_data / "height" / "small_dems" / "planar_slope.asc"
    heights = open_heights({"dem": path}, open_raster(path, gsd_m=10))
    assert heights is not None
    found = heights.surface("dem")
    slope = terrain.slope_deg(*found.gradient)
    np.testing.assert_allclose(slope[1:30, 2:15], 30.963756532, atol=2e-4)
    np.testing.assert_allclose(slope[31:49, 2:15], 0.0572957604, atol=2e-3)
    np.testing.assert_allclose(terrain.aspect_deg(*found.gradient)[1:30, 2:15], 180, atol=1e-6)
