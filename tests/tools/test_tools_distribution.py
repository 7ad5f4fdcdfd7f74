"""Distributions of points that were laid out: lattices in closed form, rows, clusters, and many random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from affine import Affine
from measured_sites import UTM, call, planar, site_on
from scipy.stats import norm

from swath.errors import Refused
from swath.raster.grid import Grid
from swath.tools.distribution import Z_95, clark_evans, rayleigh
from swath.tools.site import Site

SHAPE = (300, 400)
PIXELS = Grid(Affine.identity(), SHAPE)


def site_with(points: Any, grid: Grid = PIXELS) -> tuple[Site, Any]:
    site = site_on(grid, {"ship": [shapely.box(x - 0.5, y - 0.5, x + 0.5, y + 0.5) for x, y in points]})
    return site, call(site, "components", call(site, "segment", "ship"))


def lattice(step: float, *, turn: float = 0.0, across: float | None = None) -> np.ndarray[Any, Any]:
    x, y = np.meshgrid(np.arange(-600, 600, step), np.arange(-600, 600, across or step))
    angle = np.radians(turn)
    xy = np.column_stack([x.ravel(), y.ravel()]) @ [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    xy += (SHAPE[1] / 2, SHAPE[0] / 2)
    return xy[(xy > 2).all(axis=1) & (xy[:, 0] < SHAPE[1] - 2) & (xy[:, 1] < SHAPE[0] - 2)]


def random_points(n: int, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform((2, 2), (SHAPE[1] - 2, SHAPE[0] - 2), (n, 2))


def clusters(seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(middle, 8, (12, 2)) for middle in ((60, 60), (300, 200), (330, 60))])


def test_the_index_is_that_of_every_pair_in_metres() -> None:
    """Against distances of all pairs and Donnelly's formula written out, on pixels of 0.5 by 0.8 m."""
    points = random_points(40, 3)
    site, ships = site_with(points, planar("not square", SHAPE))
    metres = points * (0.5, 0.8)
    apart = np.linalg.norm(metres[:, None] - metres[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    area, perimeter, n = 400 * 0.5 * 300 * 0.8, 2 * (400 * 0.5 + 300 * 0.8), 40
    expected = 0.5 * (area / n) ** 0.5 + 0.0514 * perimeter / n + 0.041 * perimeter / n**1.5
    error = (0.0703 * area / n**2 + 0.037 * perimeter * (area / n**5) ** 0.5) ** 0.5
    mean = apart.min(axis=1).mean()
    assert call(site, "nearest_neighbour_index", ships) == pytest.approx(mean / expected, rel=1e-3)
    assert call(site, "nearest_neighbour_z", ships) == pytest.approx((mean - expected) / error, abs=0.02)


def test_without_an_edge_the_index_of_lattices_is_the_closed_form() -> None:
    """Clark and Evans: 2 for a square lattice, 2.1491 for a triangular one, on ground without an edge."""
    n, step = 10_000, 3.0
    assert clark_evans(np.full(n, step), n * step**2, 0.0).index == pytest.approx(2)
    assert clark_evans(np.full(n, step), n * step**2 * np.sqrt(3) / 2, 0.0).index == pytest.approx(2.1491, abs=1e-4)
    assert clark_evans(np.full(n, step), 4 * n * step**2, 0.0).z == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("turn", [0, 12, 45, 80])
def test_lattices_and_rows_are_in_rows(turn: float) -> None:
    for points in (lattice(25, turn=turn), lattice(8, turn=turn, across=60), lattice(9, turn=turn, across=600)):
        site, ships = site_with(points)
        assert call(site, "distribution", ships) == "in rows"


def test_rows_are_rows_on_the_ground_of_a_sheared_grid() -> None:
    grid = Grid(Affine(0.5, 0.2, 500_000, 0.1, -0.6, 5_000_000), SHAPE, UTM)
    site, ships = site_with(lattice(8, turn=20, across=60), grid)
    assert call(site, "distribution", ships) == "in rows"


def test_clusters_are_clustered_and_the_numbers_are_said() -> None:
    site, ships = site_with(clusters(0))
    assert call(site, "distribution", ships) == "clustered"
    index, z = call(site, "nearest_neighbour_index", ships), call(site, "nearest_neighbour_z", ships)
    assert index < 0.5
    assert z < -4
    assert list(site.warnings) == [
        f"Distribution of the 36 ship in the valid area by the Clark-Evans index {index:.2f} "
        f"(z = {z:.1f}, Donnelly's edge correction)."
    ]


def test_points_that_keep_apart_without_rows_are_regular() -> None:
    rng = np.random.default_rng(5)
    points: list[Any] = []
    while len(points) < 60:
        new = rng.uniform((2, 2), (SHAPE[1] - 2, SHAPE[0] - 2))
        if all(np.hypot(*(new - old)) > 32 for old in points):
            points.append(new)
    site, ships = site_with(points)
    assert call(site, "distribution", ships) == "regular"


def test_random_points_are_random_as_often_as_the_level_says() -> None:
    """Of 200 random patterns about 5 % come out clustered or regular, about 1 % in rows."""
    words = []
    for seed in range(200):
        site, ships = site_with(random_points(30, seed))
        words.append(call(site, "distribution", ships))
    assert 180 <= words.count("random") <= 197
    assert words.count("in rows") <= 6


def test_the_z_of_random_points_is_normal() -> None:
    """Donnelly's mean and standard error, against 400 random patterns in the rectangle, by brute force."""
    found = []
    for seed in range(400):
        points = random_points(50, seed)
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        found.append(clark_evans(apart.min(axis=1), 396 * 296, 2 * (396 + 296)).z)
    assert np.mean(found) == pytest.approx(0, abs=0.2)
    assert np.std(found) == pytest.approx(1, abs=0.15)


def test_rayleigh_is_that_of_simulated_directions() -> None:
    rng = np.random.default_rng(0)
    lengths, p = rayleigh(rng.uniform(0, 2 * np.pi, 20))
    chance = np.abs(np.exp(1j * rng.uniform(0, 2 * np.pi, (20_000, 20))).mean(axis=1))
    assert p == pytest.approx((chance >= lengths).mean(), abs=0.015)
    assert rayleigh(np.full(10, 1.3)) == pytest.approx((1.0, np.exp(np.sqrt(41) - 21)))


def test_few_objects_are_refused() -> None:
    site, ships = site_with(random_points(7, 0))
    for name in ("distribution", "nearest_neighbour_index", "nearest_neighbour_z"):
        with pytest.raises(Refused) as why:
            call(site, name, ships)
        assert str(why.value) == (
            "How ship are distributed cannot be told from 7 of them: the test needs 8. "
            "Next: ask for their number, their places or the distances between them."
        )


def test_objects_at_one_place_are_as_near_as_can_be() -> None:
    site, ships = site_with([(50, 50)] * 5 + [(200, 100)] * 5)
    assert call(site, "nearest_neighbour_index", ships) == 0


def test_the_level_is_that_of_95_percent() -> None:
    assert pytest.approx(norm.ppf(0.975), abs=1e-6) == Z_95
