"""Grids: stated sizes, reasons, and where north is."""

from __future__ import annotations

import pyproj
import pytest
from affine import Affine

from swath.errors import Refused
from swath.raster.grid import STATE_THE_GSD, Grid

UTM, NORTH_UP = pyproj.CRS(32633), Affine(10, 0, 500_000, 0, -10, 5_000_000)
SHAPE = (100, 200)


def test_a_grid_without_crs_has_no_ground_and_says_how_to_state_one() -> None:
    grid = Grid(NORTH_UP, SHAPE)
    assert grid.ground is None
    with pytest.raises(Refused) as caught:
        grid.require_ground()
    assert str(caught.value) == f"Metres cannot be measured: the file names no CRS. Next: {STATE_THE_GSD}."


def test_a_reason_comes_before_the_crs() -> None:
    assert Grid(NORTH_UP, SHAPE, UTM, "the points do not fit").why_no_ground == "the points do not fit"


def test_a_stated_size_gives_a_grid_without_crs_its_ground() -> None:
    grid = Grid(Affine.identity(), SHAPE, stated_gsd_m=0.5)
    assert grid.require_ground().column_m == (0.5, 0)
    assert grid.require_ground().row_m == (0, 0.5)
    assert grid.require_ground().method == "from the stated pixel size of 0.5 m"
    assert grid.why_no_ground is None
    assert grid.stated_clash is None


def test_a_stated_size_wins_and_the_difference_is_a_sentence() -> None:
    grid = Grid(NORTH_UP, SHAPE, UTM, stated_gsd_m=0.5)
    assert grid.require_ground().size_xy_m == pytest.approx((0.5, 0.5))
    assert grid.require_ground().pixel_area_m2 == pytest.approx(0.25)
    wanted = "The stated pixel size of 0.5 m was used, although the file's georeferencing says 10 x 10 m."
    assert grid.stated_clash == wanted


def test_a_stated_size_that_agrees_is_no_clash() -> None:
    assert Grid(NORTH_UP, SHAPE, UTM, stated_gsd_m=10.05).stated_clash is None


@pytest.mark.parametrize("crs", [UTM, None])
def test_one_stated_number_is_the_mean_of_unequal_sides(crs: pyproj.CRS | None) -> None:
    grid = Grid(Affine(10, 0, 500_000, 0, -30, 5_000_000), SHAPE, crs, stated_gsd_m=2)
    assert grid.require_ground().size_xy_m == pytest.approx((1, 3))
    assert "The pixels are not square; 2 m was taken as the mean of both sides." in str(grid.stated_clash)


def test_a_stated_size_scales_areas_that_vary() -> None:
    affine = Affine(0.01, 0, 10, 0, -0.01, 60)
    plain = Grid(affine, SHAPE, pyproj.CRS(4326)).require_ground()
    stated = Grid(affine, SHAPE, pyproj.CRS(4326), stated_gsd_m=2 * sum(plain.size_xy_m) / 2).require_ground()
    rows = slice(0, 3)
    assert stated.area_m2(rows) == pytest.approx(4 * plain.area_m2(rows))


def test_degrees_do_not_tell_the_shape_of_a_pixel() -> None:
    """A bad fit of control points in degrees: at 60 degrees north a square pixel is twice as wide as high in them."""
    grid = Grid(Affine(0.002, 0, 10, 0, -0.001, 60), SHAPE, pyproj.CRS(4326), "bad fit", stated_gsd_m=3)
    assert grid.require_ground().size_xy_m == (3, 3)


@pytest.mark.parametrize(
    ("linear", "north"),
    [
        (Affine.scale(10, -10), "up"),
        (Affine.scale(10, 10), "down"),
        (Affine.rotation(90) @ Affine.scale(10, -10), "right"),
        (Affine.rotation(-90) @ Affine.scale(10, -10), "left"),
        (Affine.rotation(30) @ Affine.scale(10, -10), "up"),
        (Affine.rotation(60) @ Affine.scale(10, -10), "right"),
        (Affine.scale(-10, -10), "up"),
    ],
)
def test_north_is_the_nearest_image_direction(linear: Affine, north: str) -> None:
    assert Grid(Affine.translation(500_000, 5_000_000) @ linear, SHAPE, UTM).north == north


def test_true_north_differs_from_the_grids_own() -> None:
    """Polar stereographic with its meridian at 45 degrees west: the pole lies up from there, left from 45 east."""
    crs = pyproj.CRS(3413)
    to_crs = pyproj.Transformer.from_crs(4326, crs, always_xy=True)
    for lon, north in ((-45, "up"), (135, "down"), (45, "left"), (-135, "right")):
        x, y = to_crs.transform(lon, 75)
        assert Grid(Affine(1000, 0, x, 0, -1000, y), (10, 10), crs).north == north


@pytest.mark.parametrize(
    ("affine", "crs"),
    [
        (Affine.identity(), None),
        (Affine.identity(), UTM),
        (Affine(1, 0, 0, 0, 1, 0), None),
        (Affine(1, 0, 0, 0, -1, 400), 4326),
    ],
)
def test_north_is_up_where_nothing_says_otherwise(affine: Affine, crs: object) -> None:
    known = None if crs is None else pyproj.CRS.from_user_input(crs)
    assert Grid(affine, SHAPE, known).north == "up"
