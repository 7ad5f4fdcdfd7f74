"""Directions and shapes of known ellipses and rectangles, on grids of every kind, against regionprops."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from affine import Affine
from measured_sites import AFFINES, ROUND_GRIDS, UTM, call, disc, planar, site_on
from skimage.draw import ellipse
from skimage.measure import regionprops

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.site import Site


def tilted(degrees: float, *, shape: tuple[int, int] = (400, 400), long: float = 150, short: float = 50) -> np.ndarray:
    """An ellipse of pixels whose long axis points `degrees` clockwise from up."""
    pixels = np.zeros(shape, dtype=bool)
    pixels[ellipse(200, 200, long, short, shape=shape, rotation=np.radians(-degrees))] = True
    return pixels


def site_of(pixels: np.ndarray, grid: Grid | None = None) -> Site:
    return site_on(grid or planar("square", pixels.shape), {"field": pixels})


def fields(site: Site) -> object:
    return call(site, "components", call(site, "segment", "field"))


@pytest.mark.parametrize("degrees", [0, 10, 45, 89, 90, 91, 135, 170, 179])
def test_a_direction_runs_clockwise_from_up(degrees: float) -> None:
    site = site_of(tilted(degrees))
    assert call(site, "orientation_deg", fields(site)) == pytest.approx(degrees, abs=0.1)


def test_up_is_0_and_never_180() -> None:
    pixels = np.zeros((60, 80), dtype=bool)
    pixels[5:50, 20:24] = True
    site = site_of(pixels)
    assert call(site, "orientation_deg", fields(site)) == 0.0


@pytest.mark.parametrize("degrees", [20, 70, 110, 160])
def test_a_direction_is_one_on_the_ground(degrees: float) -> None:
    """On pixels twice as high as wide, what looks like `degrees` in the picture is another angle on the ground."""
    grid = Grid(Affine(0.5, 0, 500_000, 0, -1.0, 5_000_000), (400, 400), UTM)
    site = site_of(tilted(degrees), grid)
    # Moments of an ellipse stretch as its axes do: the direction from the ellipse drawn on the ground.
    axes = np.array([[np.sin(np.radians(degrees)), np.cos(np.radians(degrees))],
                     [np.cos(np.radians(degrees)), -np.sin(np.radians(degrees))]])  # fmt: skip
    spread = axes.T @ np.diag([150.0**2, 50.0**2]) @ axes
    stretched = np.diag([0.5, 1.0]) @ spread @ np.diag([0.5, 1.0])
    values, vectors = np.linalg.eigh(stretched)
    expected = np.degrees(np.arctan2(*vectors[:, 1])) % 180
    assert call(site, "orientation_deg", fields(site)) == pytest.approx(expected, abs=0.2)
    assert call(site, "shape_statistic", fields(site), shape="elongation", statistic="max") == pytest.approx(
        np.sqrt(values[1] / values[0]), rel=2e-3
    )


@pytest.mark.parametrize("name", ["square", "rotated", "south-up"])
def test_a_direction_is_that_in_the_image_however_the_image_lies(name: str) -> None:
    site = site_of(tilted(30), planar(name, (400, 400)))
    assert call(site, "orientation_deg", fields(site)) == pytest.approx(30, abs=0.1)


def test_a_strip_along_the_rows_of_a_sheared_grid() -> None:
    """Columns lean over: along a column is up; along a row is at the angle between the two on the ground."""
    affine = AFFINES["sheared"]
    pixels = np.zeros((200, 200), dtype=bool)
    pixels[100:102, 10:190] = True
    site = site_of(pixels, planar("sheared", (200, 200)))
    up, right = np.array([-affine.b, -affine.e]), np.array([affine.a, affine.d])
    angle = np.degrees(np.arctan2(up[1], up[0]) - np.arctan2(right[1], right[0]))
    assert call(site, "orientation_deg", fields(site)) == pytest.approx(angle, abs=0.3)


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_a_disc_on_the_ground_is_round_where_it_lies(name: str) -> None:
    """Drawn round by local pixel sizes near the edge of a grid whose pixels change from place to place."""
    grid = ROUND_GRIDS[name]((60, 80))
    ground = grid.require_ground()
    rows, cols = np.indices(grid.shape).astype(float)
    here = ground.positions_m(rows.ravel(), cols.ravel())
    centre = ground.positions_m(np.array([9.0]), np.array([12.0]))
    radius = 8 * np.linalg.norm(ground.positions_m(np.array([9.0]), np.array([13.0])) - centre)
    site = site_of((np.linalg.norm(here - centre, axis=1) <= radius).reshape(grid.shape), grid)
    assert call(site, "shape_statistic", fields(site), shape="elongation", statistic="max") < 1.05


def test_what_has_no_direction_is_refused_and_many_are_an_error() -> None:
    square = np.zeros((60, 80), dtype=bool)
    square[10:20, 10:20] = True
    site = site_of(square)
    with pytest.raises(Refused, match="^field is as wide as it is long, so that it has no direction.$"):
        call(site, "orientation_deg", fields(site))
    square[30:35, 40:60] = True
    site = site_of(square)
    with pytest.raises(
        ToolError, match=r"^orientation_deg takes one region, not 2: use largest\(\) or each\(\) first.$"
    ):
        call(site, "orientation_deg", fields(site))


def test_elongation_of_rectangles_is_the_ratio_of_their_sides() -> None:
    pixels = np.zeros((60, 80), dtype=bool)
    pixels[2:4, 2:12] = pixels[10:11, 5:35] = pixels[20, 20] = pixels[30:50, 30:40] = True
    site = site_of(pixels)
    for statistic, expected in (("max", 30), ("min", 1), ("sum", 5 + 30 + 1 + 2)):
        found = call(site, "shape_statistic", fields(site), shape="elongation", statistic=statistic)
        assert found == pytest.approx(expected)


def test_large_objects_have_the_axes_and_solidity_of_regionprops() -> None:
    pixels = tilted(33) & ~disc((400, 400), 240, 160, 30)
    site, properties = site_of(pixels), regionprops(pixels.astype(np.uint8))[0]
    shape = {"elongation": properties.axis_major_length / properties.axis_minor_length,
             "solidity": properties.solidity, "extent": properties.extent}  # fmt: skip
    for name, expected in shape.items():
        found = call(site, "shape_statistic", fields(site), shape=name, statistic="mean")
        assert found == pytest.approx(expected, rel=1e-4)
    expected_deg = -np.degrees(properties.orientation) % 180
    assert call(site, "orientation_deg", fields(site)) == pytest.approx(expected_deg, abs=1e-6)


def test_compactness_is_that_of_the_whole_outline_even_at_the_border() -> None:
    inside, cut = disc((200, 200), 100, 100, 40.2), disc((200, 200), 0, 100, 40.2)
    round_one = call(site_of(inside), "shape_statistic", fields(site_of(inside)), shape="compactness", statistic="max")
    half = call(site_of(cut), "shape_statistic", fields(site_of(cut)), shape="compactness", statistic="max")
    assert round_one == pytest.approx(0.90, abs=0.02)
    half_disc = 4 * np.pi * (np.pi / 2) / (np.pi + 2) ** 2
    assert half == pytest.approx(half_disc * 0.93, abs=0.03)


def test_shapes_need_no_ground_size() -> None:
    pixels = tilted(30)
    site = site_of(pixels, Grid(Affine.identity(), (400, 400), None))
    assert call(site, "orientation_deg", fields(site)) == pytest.approx(30, abs=0.1)
    for name, expected in (("elongation", 3.0), ("compactness", 0.6), ("solidity", 0.99), ("extent", 0.57)):
        found = call(site, "shape_statistic", fields(site), shape=name, statistic="mean")
        assert found == pytest.approx(expected, abs=0.06)


def test_shapes_of_outlines() -> None:
    roofs = [shapely.affinity.rotate(shapely.box(20, 20, 60, 30), 30), shapely.Point(120, 60).buffer(20)]
    site = site_on(planar("square", (200, 200)), {"field": roofs})
    first, second = call(site, "each", fields(site))
    assert call(site, "orientation_deg", first) == pytest.approx(120, abs=1)
    assert call(site, "shape_statistic", first, shape="elongation", statistic="max") == pytest.approx(4, rel=0.03)
    assert call(site, "shape_statistic", second, shape="compactness", statistic="max") == pytest.approx(1, abs=5e-3)
    assert call(site, "shape_statistic", second, shape="solidity", statistic="max") > 0.95


def test_of_no_regions_a_shape_has_no_value() -> None:
    site = site_of(np.zeros((60, 80), dtype=bool))
    for shape in ("elongation", "solidity", "compactness", "extent"):
        with pytest.raises(Refused, match="^There are no field in the image, so that their mean has no value.$"):
            call(site, "shape_statistic", fields(site), shape=shape, statistic="mean")
        assert call(site, "shape_statistic", fields(site), shape=shape, statistic="sum") == 0.0
