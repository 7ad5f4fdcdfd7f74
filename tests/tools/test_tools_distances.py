"""Distances against scipy's transform, brute force and geodesics; exactness where a distance equals the limit."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from affine import Affine
from measured_sites import AFFINES, ROUND_GRIDS, UTM, blobs, disc, geographic, pairwise_m, planar
from scipy import ndimage

from swath.raster.grid import Grid
from swath.tools import runs, tree_distances
from swath.tools.discs import EXACT_PX
from swath.tools.distances import Distances, distances_to
from swath.tools.labelling import component_runs, mask_runs
from swath.tools.transform_distances import DOUBT, TransformDistances, _transform
from swath.tools.tree_distances import TreeDistances

TARGET = disc((60, 80), 14, 20, 5) | disc((60, 80), 47.3, 66, 3.2)
RECTANGLES = [name for name in AFFINES if not name.endswith("sheared")]


def every(shape: tuple[int, int]) -> Any:
    return np.ones(shape, dtype=bool)


def pixel_distances(to: Distances, shape: tuple[int, int]) -> np.ndarray:
    """The distance of every pixel, each asked for as an object of its own."""
    one_each = component_runs(every(shape), 8)
    start = np.arange(shape[0] * shape[1])
    single = type(one_each)(start, start + 1, start.astype(np.int32), len(start), shape)
    return to.lowest(single).reshape(shape)


@pytest.mark.parametrize("name", RECTANGLES)
def test_rectangular_pixels_by_scipy(name: str) -> None:
    grid = planar(name)
    to = distances_to(TARGET, grid.require_ground())
    x, y = np.hypot(grid.affine.a, grid.affine.d), np.hypot(grid.affine.b, grid.affine.e)
    expected = ndimage.distance_transform_edt(~TARGET, sampling=(y, x))
    assert isinstance(to, TransformDistances)
    assert np.allclose(pixel_distances(to, grid.shape), expected, rtol=2e-7)


@pytest.mark.parametrize("name", sorted(AFFINES))
def test_every_planar_grid_by_brute_force(name: str) -> None:
    grid = planar(name, (24, 31))
    target = blobs((24, 31), share=0.08)
    expected = pairwise_m(grid, every(grid.shape), target).min(axis=1).reshape(grid.shape)
    to = distances_to(target, grid.require_ground())
    assert isinstance(to, TreeDistances) == name.endswith("sheared")
    assert np.allclose(pixel_distances(to, grid.shape), expected, rtol=2e-7, atol=1e-9)


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_round_grids_by_geodesics(name: str) -> None:
    grid = ROUND_GRIDS[name]((24, 31))
    target = disc(grid.shape, 4, 25, 2.5) | disc(grid.shape, 21, 3, 1.5)
    to = distances_to(target, grid.require_ground())
    assert isinstance(to, TreeDistances)
    expected = pairwise_m(grid, every(grid.shape), target).min(axis=1).reshape(grid.shape)
    assert np.allclose(pixel_distances(to, grid.shape), expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_a_stated_pixel_size_scales_every_distance(name: str) -> None:
    grid = ROUND_GRIDS[name]((24, 31))
    target = disc(grid.shape, 4, 25, 2.5)
    mean_m = sum(grid.require_ground().size_xy_m) / 2
    stated = Grid(grid.affine, grid.shape, grid.crs, stated_gsd_m=mean_m / 8)
    plain, scaled = (pixel_distances(distances_to(target, g.require_ground()), grid.shape) for g in (grid, stated))
    assert np.allclose(scaled, plain / 8, rtol=1e-9, atol=1e-9)


def test_distances_across_continents_are_arcs_not_chords() -> None:
    grid = geographic((18, 36), lat=90.0, degrees=10.0)
    target = disc(grid.shape, 8, 30, 0)
    found = pixel_distances(distances_to(target, grid.require_ground()), grid.shape)
    expected = pairwise_m(grid, every(grid.shape), target).min(axis=1).reshape(grid.shape)
    assert expected.max() > 15e6
    assert np.allclose(found[expected < 1e7], expected[expected < 1e7], rtol=2e-3)
    assert np.allclose(found, expected, rtol=1e-2)  # straight lines would be 36 % short at the far side


def test_a_target_beyond_the_date_line_is_near() -> None:
    grid = Grid(Affine(0.1, 0, 178, 0, -0.1, 1), (20, 41), geographic().crs)
    target = np.zeros(grid.shape, dtype=bool)
    target[:, -1] = True
    found = pixel_distances(distances_to(target, grid.require_ground()), grid.shape)
    assert found[10, 0] == pytest.approx(4.0 * 111_319.5, rel=1e-3)


@pytest.mark.parametrize("name", sorted(AFFINES))
@pytest.mark.parametrize("limit_m", [0.0, 0.5, 1.6, 2.5, 4.1, 9.0, 100.0])
@pytest.mark.parametrize("most_runs", [0, 2**20], ids=["by a transform", "by runs"])
def test_near_is_what_brute_force_says(
    name: str, limit_m: float, most_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swath.tools.discs.RUNS_DRAWN", most_runs)
    grid = planar(name, (24, 31))
    target, wanted = blobs((24, 31), share=0.08), blobs((24, 31), share=0.5, seed=3)
    expected = pairwise_m(grid, every(grid.shape), target).min(axis=1).reshape(grid.shape) <= limit_m * (1 + 1e-9)
    to = distances_to(target, grid.require_ground())
    assert np.array_equal(to.near(wanted, limit_m), wanted & expected)
    objects = component_runs(wanted, 8)
    assert to.reached(objects, limit_m).tolist() == objects.touches(expected).tolist()


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_near_on_round_grids(name: str) -> None:
    grid = ROUND_GRIDS[name]((24, 31))
    target, wanted = blobs((24, 31), share=0.05), blobs((24, 31), share=0.5, seed=3)
    apart = pairwise_m(grid, every(grid.shape), target).min(axis=1).reshape(grid.shape)
    limit_m = float(np.median(apart)) * 1.0001
    to = distances_to(target, grid.require_ground())
    assert np.array_equal(to.near(wanted, limit_m), wanted & (apart <= limit_m))
    objects = component_runs(wanted, 8)
    assert to.reached(objects, limit_m).tolist() == objects.touches(apart <= limit_m).tolist()


SIZES = [(0.3, 0.3), (0.1, 0.1), (0.5, 0.3), (30.9, 15.3), (0.3048006096012192, 0.3048006096012192)]


@pytest.mark.parametrize(("x_m", "y_m"), SIZES)
@pytest.mark.parametrize("most_runs", [0, 2**20], ids=["by a transform", "by runs"])
def test_a_distance_that_equals_the_limit_is_within_it(
    x_m: float, y_m: float, most_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swath.tools.discs.RUNS_DRAWN", most_runs)
    grid = Grid(Affine(x_m, 0, 500_000, 0, -y_m, 5_000_000), (70, 90), UTM)
    target = np.zeros(grid.shape, dtype=bool)
    target[0, 0] = True
    rows, cols = np.indices(grid.shape)
    to = distances_to(target, grid.require_ground())
    for row, col in [(0, 1), (1, 0), (3, 4), (1, 1), (5, 12), (37, 61), (69, 89), (0, 89), (50, 7)]:
        limit_m = float(np.hypot(col * x_m, row * y_m))
        exact = (cols * x_m) ** 2 + (rows * y_m) ** 2 <= limit_m**2 * (1 + 2e-9)
        assert np.array_equal(to.near(every(grid.shape), limit_m), exact)
        just_below = (cols * x_m) ** 2 + (rows * y_m) ** 2 < limit_m**2 * (1 - 1e-6)
        assert np.array_equal(to.near(every(grid.shape), limit_m * (1 - 4e-9)) & ~just_below, exact & ~exact)
        assert to.reached(mask_runs((rows == row) & (cols == col)), limit_m).tolist() == [True]
        assert to.reached(mask_runs((rows == row) & (cols == col)), limit_m * (1 - 4e-9)).tolist() == [False]


def test_squared_steps_of_opencv_round_to_whole_numbers_up_to_the_limit_of_use() -> None:
    shape = (1100, 1100)
    target = np.zeros(shape, dtype=bool)
    target[0, 0] = True
    rows, cols = np.indices(shape)
    squared = rows**2 + cols**2
    steps = cv2.distanceTransform((~target).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE).astype(float)
    used = squared <= (EXACT_PX + 1) ** 2
    assert np.array_equal(np.rint(steps[used] ** 2), squared[used])
    assert np.abs(steps[used] ** 2 - squared[used]).max() < 0.1


@pytest.mark.parametrize(("x_m", "y_m"), [(1.0, 1.0), (0.5, 0.3), (0.31, 0.6)])
def test_the_doubt_covers_the_error_of_both_transforms_far_away(x_m: float, y_m: float) -> None:
    grid = Grid(Affine(x_m, 0, 500_000, 0, -y_m, 5_000_000), (40, 9000), UTM)
    target = np.zeros(grid.shape, dtype=bool)
    target[3, 5] = target[39, 0] = target[20, 2] = True
    expected = ndimage.distance_transform_edt(~target, sampling=(y_m, x_m))
    found = _transform(target, 1.0 if x_m == y_m else y_m / x_m) * np.float64(x_m)
    assert expected.max() > 8000 * x_m
    assert (np.abs(found - expected) / np.maximum(expected, x_m)).max() < DOUBT / 4


@pytest.mark.parametrize(("x_m", "y_m"), [(1.0, 1.0), (0.5, 0.3)])
def test_exact_at_the_limit_beyond_two_thousand_pixels(x_m: float, y_m: float) -> None:
    grid = Grid(Affine(x_m, 0, 500_000, 0, -y_m, 5_000_000), (160, 3200), UTM)
    target = np.zeros(grid.shape, dtype=bool)
    target[10, 3] = target[150, 40] = True
    rows, cols = np.indices(grid.shape)
    to = distances_to(target, grid.require_ground())
    squared = np.minimum(
        ((cols - 3) * x_m) ** 2 + ((rows - 10) * y_m) ** 2, ((cols - 40) * x_m) ** 2 + ((rows - 150) * y_m) ** 2
    )
    for row, col in [(10, 2500), (77, 3100), (150, 3010), (159, 2100)]:
        limit_m = float(np.sqrt(squared[row, col]))
        assert np.array_equal(to.near(every(grid.shape), limit_m), squared <= limit_m**2 * (1 + 2e-9))


def test_a_tree_decides_the_same_whether_its_runs_are_long_or_single_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_distances, "QUERIES", 7)
    monkeypatch.setattr(runs, "CHUNK_PX", 5)
    grid = planar("sheared")
    to = TreeDistances(TARGET, grid.require_ground())
    expected = pairwise_m(grid, every(grid.shape), TARGET).min(axis=1).reshape(grid.shape)
    for limit_m in (1.0, 6.0, 13.0):
        assert np.array_equal(to.near(every(grid.shape), limit_m), expected <= limit_m)


def test_on_a_strongly_sheared_grid_the_nearest_pixel_may_have_all_its_neighbours_in_the_target() -> None:
    grid = planar("strongly sheared", (40, 90))
    target = np.zeros(grid.shape, dtype=bool)
    target[10:20, 30:60] = True
    expected = pairwise_m(grid, every(grid.shape), target).min(axis=1).reshape(grid.shape)
    edges = target & ~ndimage.binary_erosion(target, np.ones((3, 3)))
    by_edges = pairwise_m(grid, every(grid.shape), edges).min(axis=1).reshape(grid.shape)
    assert (by_edges[~target] > expected[~target] + 0.1).any(), "the case does not bite"
    assert np.allclose(pixel_distances(distances_to(target, grid.require_ground()), grid.shape), expected, atol=1e-9)


@pytest.mark.parametrize("grid", [planar("square"), planar("sheared"), geographic()], ids=str)
def test_nothing_is_near_an_absent_target(grid: Grid) -> None:
    to = distances_to(np.zeros(grid.shape, dtype=bool), grid.require_ground())
    assert not to.near(every(grid.shape), 1e9).any()
    assert to.lowest(mask_runs(TARGET)).tolist() == [np.inf]
    assert to.reached(mask_runs(TARGET), 1e9).tolist() == [False]


@pytest.mark.parametrize("grid", [planar("square"), planar("not square"), planar("sheared"), geographic()], ids=str)
def test_nothing_is_within_less_than_nothing(grid: Grid) -> None:
    to = distances_to(TARGET, grid.require_ground())
    assert not to.near(every(grid.shape), -0.1).any()
    assert to.reached(mask_runs(TARGET), -0.1).tolist() == [False]
    assert np.array_equal(to.near(every(grid.shape), 0.0), TARGET)


def test_pixels_off_the_earth_are_near_nothing() -> None:
    grid = Grid(Affine(400_000, 0, -8_000_000, 0, -400_000, 8_000_000), (40, 40), _orthographic())
    assert grid.ground is not None
    assert not grid.ground.uniform
    target = disc(grid.shape, 20, 20, 3)
    near = distances_to(target, grid.require_ground()).near(every(grid.shape), 2_000_000)
    assert near[20, 20]
    assert not near[0, 0]
    assert 20 < near.sum() < 400


def _orthographic() -> Any:
    import pyproj

    return pyproj.CRS.from_proj4("+proj=ortho +lat_0=40 +lon_0=10 +datum=WGS84")
