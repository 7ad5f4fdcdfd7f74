"""Words for forms against figures laid out on the ground, on grids of every kind."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
import shapely.affinity
from affine import Affine
from measured_sites import AFFINES, ROUND_GRIDS, call, planar, site_on

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.site import Site

SHAPE = (160, 200)
GRIDS = {name: planar(name, SHAPE) for name in AFFINES} | {name: make(SHAPE) for name, make in ROUND_GRIDS.items()}
PIXELS = Grid(Affine.identity(), SHAPE)


def around_centre(grid: Grid, figure: Any) -> Any:
    """A figure of metres east and north of the image's centre, laid out by geodesics, in pixels."""
    there = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True)
    geod = pyproj.Geod(ellps="WGS84")
    lon, lat = there.transform(*(grid.affine @ (SHAPE[1] / 2, SHAPE[0] / 2)))

    def place(east_north: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        n = len(east_north)
        azimuth, distance = np.degrees(np.arctan2(*east_north.T)), np.hypot(*east_north.T)
        lons, lats, _ = geod.fwd(np.full(n, lon), np.full(n, lat), azimuth, distance)
        x, y = there.transform(lons, lats, direction="INVERSE")
        return np.column_stack(~grid.affine @ (np.array(x), np.array(y)))

    return shapely.transform(figure, place)


def unit_m(grid: Grid) -> float:
    """Metres such that a figure of 100 of them fits into the image."""
    assert grid.ground is not None
    return 0.7 * min(SHAPE) / 100 * min(grid.ground.size_xy_m) * (0.3 if grid is GRIDS["strongly sheared"] else 1)


def site_of(grid: Grid, figure: Any) -> tuple[Site, Any]:
    site = site_on(grid, {"thing": [figure] if isinstance(figure, shapely.Geometry) else figure})
    return site, call(site, "components", call(site, "segment", "thing"))


def rectangle(length: float, width: float, azimuth: float = 0.0) -> Any:
    """A rectangle whose long side points in an azimuth, around (0, 0), y to the north."""
    upright = shapely.box(-width / 2, -length / 2, width / 2, length / 2)
    return shapely.affinity.rotate(upright, -azimuth, origin=(0, 0))


def in_pixels(figure: Any) -> Any:
    """A figure with y up around the middle of an image without georeference."""
    return shapely.affinity.translate(shapely.affinity.scale(figure, 1, -1, origin=(0, 0)), SHAPE[1] / 2, SHAPE[0] / 2)


@pytest.mark.parametrize(("name", "azimuth"), list(product(GRIDS, (0, 17, 45, 78, 90, 121, 163))))
def test_azimuths_of_rectangles_are_from_true_north_on_any_grid(name: str, azimuth: float) -> None:
    grid = GRIDS[name]
    unit = unit_m(grid)
    site, thing = site_of(grid, around_centre(grid, rectangle(100 * unit, 25 * unit, azimuth)))
    off = (call(site, "azimuth_deg", thing) - azimuth + 90) % 180 - 90
    assert abs(off) < 2
    words = ("north-south", "northeast-southwest", "east-west", "northwest-southeast")
    assert call(site, "direction_of", thing) == words[round(azimuth / 45) % 4]
    assert not any("north" in warning for warning in site.warnings)


def test_without_a_crs_up_stands_for_north_and_is_said() -> None:
    site, thing = site_of(PIXELS, in_pixels(rectangle(80, 20, 45)))
    assert call(site, "azimuth_deg", thing) == pytest.approx(45, abs=0.5)
    assert list(site.warnings) == ["Nothing in the image says where north is: up is taken for north."]


def test_what_is_as_wide_as_long_has_no_direction() -> None:
    site, thing = site_of(PIXELS, shapely.box(10, 10, 30, 30))
    with pytest.raises(Refused, match=r"^thing is as wide as it is long, so that it has no direction\.$"):
        call(site, "direction_of", thing)


SHAPES = {
    "round": [shapely.Point(0, 0).buffer(30), shapely.affinity.scale(shapely.Point(0, 0).buffer(30), 1.2, 1)],
    "square": [rectangle(50, 50), rectangle(55, 50)],
    "rectangular": [rectangle(70, 50), rectangle(90, 35)],
    "elongated": [rectangle(90, 25), shapely.affinity.scale(shapely.Point(0, 0).buffer(12), 4, 1)],
    "irregular": [
        rectangle(60, 60).difference(shapely.box(-10, -10, 40, 40)),
        shapely.Polygon([(-40, -30), (40, -30), (0, 30)]),
    ],
}


@pytest.mark.parametrize(("word", "degrees"), list(product(SHAPES, (0, 20, 45))))
def test_shapes_have_their_word_however_they_lie(word: str, degrees: float) -> None:
    for figure in SHAPES[word]:
        turned = shapely.affinity.rotate(figure, degrees, origin=(0, 0))
        site, thing = site_of(PIXELS, in_pixels(turned))
        assert call(site, "shape_of", thing) == word
        grid = GRIDS["sheared"]
        scaled = shapely.affinity.scale(turned, unit_m(grid), unit_m(grid), origin=(0, 0))
        site, thing = site_of(grid, around_centre(grid, scaled))
        assert call(site, "shape_of", thing) == word


@pytest.mark.parametrize("radius", [4, 5, 12])
def test_small_discs_of_pixels_are_round_and_squares_are_not(radius: int) -> None:
    rows, cols = np.indices(SHAPE)
    disc = (rows - 60) ** 2 + (cols - 60) ** 2 <= radius**2
    site, thing = site_of(PIXELS, disc)
    assert call(site, "shape_of", thing) == "round"
    site, thing = site_of(PIXELS, (abs(rows - 60) <= radius) & (abs(cols - 60) <= radius))
    assert call(site, "shape_of", thing) == "square"
    assert call(site, "form_of_shape", thing, form="circularity") == pytest.approx(3 / np.pi, rel=1e-9)
    assert call(site, "form_of_shape", thing, form="rectangularity") == pytest.approx(1)
    assert call(site, "form_of_shape", thing, form="elongation") == pytest.approx(1)


def test_shapes_of_few_pixels_are_said_to_be_so() -> None:
    site, thing = site_of(PIXELS, shapely.box(10, 10, 16, 18))
    call(site, "shape_of", thing)
    assert list(site.warnings) == ["Shapes of regions of less than 50 pixels, 1 of 1 here, depend on how pixels fall."]


@pytest.mark.parametrize("grid", [PIXELS, GRIDS["square"]], ids=["pixels", "metres"])
def test_forms_are_those_of_the_closed_form(grid: Grid) -> None:
    site, thing = site_of(grid, [shapely.box(20, 20, 80, 40)])
    assert call(site, "form_of_shape", thing, form="elongation") == pytest.approx(3)
    assert call(site, "form_of_shape", thing, form="rectangularity") == pytest.approx(1)
    wanted = 60 * 20 / (2 * np.pi * (60**2 / 12 + 20**2 / 12))
    assert call(site, "form_of_shape", thing, form="circularity") == pytest.approx(wanted)
    site, thing = site_of(grid, [shapely.Polygon([(20, 20), (80, 20), (20, 80)])])
    assert call(site, "form_of_shape", thing, form="rectangularity") == pytest.approx(0.5)


def test_regions_of_a_shape_are_chosen_in_order() -> None:
    figures = [shapely.box(5, 5, 25, 25), shapely.Point(60, 60).buffer(15), shapely.box(100, 10, 120, 30)]
    site, things = site_of(PIXELS, figures)
    assert call(site, "boxes_px", call(site, "of_shape", things, shape="square")) == [
        [5, 5, 25, 25],
        [100, 10, 120, 30],
    ]
    assert call(site, "of_shape", things, shape="round").name == "round thing"
    none = call(site, "of_shape", things, shape="elongated")
    assert len(call(site, "of_shape", none, shape="round")) == 0


def test_sizes_are_told_against_the_class_as_of_size_tells_them() -> None:
    site, things = site_of(PIXELS, [shapely.box(x, 5, x + w, 5 + w) for x, w in ((5, 4), (20, 10), (50, 40))])
    words = [call(site, "size_of", one, among=things) for one in call(site, "each", things)]
    assert words == ["small", "small", "large"]  # the geometric mean of 16 and 1600 is 160
    assert len(call(site, "of_size", things, size="small")) == 2
    site, things = site_of(PIXELS, [shapely.box(x, 5, x + w, 15) for x, w in ((5, 4), (20, 8), (50, 16))])
    words = [call(site, "size_of", one, among=things) for one in call(site, "each", things)]
    assert words == ["small", "small", "large"]  # 80 lies on the mean itself
    assert [len(call(site, "of_size", things, size=size)) for size in ("small", "large")] == [2, 1]
    site, things = site_of(PIXELS, [shapely.box(x, 5, x + w, 15) for x, w in ((5, 10), (40, 14))])
    assert [call(site, "size_of", one, among=things) for one in call(site, "each", things)] == ["alike", "alike"]


def test_nothing_to_compare_with_is_said() -> None:
    site, things = site_of(PIXELS, [shapely.box(5, 5, 9, 9)])
    nothing = call(site, "filter_regions", things, larger_than_px=1000)
    with pytest.raises(Refused, match=r"^There are no thing larger than 1000 px in the image to compare with\.$"):
        call(site, "size_of", things, among=nothing)


def arc(degrees: float, radius: float, width: float) -> Any:
    turns = np.radians(np.linspace(-degrees / 2, degrees / 2, 200))
    return shapely.LineString(radius * np.column_stack([np.sin(turns), np.cos(turns)])).buffer(
        width / 2, cap_style="flat"
    )


@pytest.mark.parametrize(("degrees", "word"), [(12, "straight"), (20, "straight"), (27, "curved"), (90, "curved")])
def test_arcs_are_curved_from_23_degrees_on(degrees: float, word: str) -> None:
    """An arc of t rises tan(t / 4) / 2 of its chord: 0.05 at 22.8 degrees."""
    radius = 120 / (2 * np.sin(np.radians(degrees / 2)))
    for turn in (0, 33, 90):
        figure = shapely.affinity.rotate(arc(degrees, radius, 6), turn, origin="centroid")
        middle = shapely.affinity.translate(figure, *(-np.array(figure.centroid.coords[0])))
        site, thing = site_of(PIXELS, in_pixels(middle))
        assert call(site, "course_of", thing) == word


@pytest.mark.parametrize(("length", "width"), [(140, 4), (140, 12), (90, 20)])
def test_straight_bands_are_straight_however_wide_they_are(length: float, width: float) -> None:
    for azimuth in (0, 22.5, 45, 70):
        site, thing = site_of(PIXELS, in_pixels(rectangle(length, width, azimuth)))
        assert call(site, "course_of", thing) == "straight"


@pytest.mark.parametrize("name", ["not square", "south-up", "sheared", "geographic", "mercator"])
def test_a_course_is_one_on_the_ground(name: str) -> None:
    grid = GRIDS[name]
    unit = unit_m(grid)
    site, thing = site_of(grid, around_centre(grid, rectangle(100 * unit, 8 * unit, 60)))
    assert call(site, "course_of", thing) == "straight"


def test_a_ring_is_curved_and_a_square_has_no_course() -> None:
    ring = shapely.Point(0, 0).buffer(50).difference(shapely.Point(0, 0).buffer(44))
    site, thing = site_of(PIXELS, in_pixels(ring))
    assert call(site, "course_of", thing) == "curved"
    site, thing = site_of(PIXELS, shapely.box(10, 10, 40, 40))
    with pytest.raises(
        Refused, match=r"^thing is no band: it is less than twice as long as wide, and has no course\.$"
    ):
        call(site, "course_of", thing)


def test_words_are_for_one_region() -> None:
    site, things = site_of(PIXELS, [shapely.box(x, 5, x + 5, 15) for x in (5, 40)])
    for name in ("shape_of", "azimuth_deg", "direction_of", "course_of"):
        with pytest.raises(ToolError, match=r"takes one region, not 2: use largest\(\) or each\(\) first\.$"):
            call(site, name, things)


def test_lines_have_no_shape() -> None:
    site, thing = site_of(PIXELS, shapely.LineString([(5, 5), (50, 40)]))
    with pytest.raises(Refused, match="draws lines or points"):
        call(site, "shape_of", thing)
