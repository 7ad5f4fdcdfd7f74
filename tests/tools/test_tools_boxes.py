"""Boxes: upright ones against the pixels, oriented ones against rectangles laid out on the ground and brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
from affine import Affine
from measured_sites import AFFINES, SHAPE, UTM, blobs, call, disc, planar, site_on

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.site import Nudge, Site

UNKNOWN = Grid(Affine.identity(), SHAPE, None)
LENGTH_M, WIDTH_M = 12.0, 5.0


def ground_rectangle(affine: Affine, degrees: float, length_m: float = LENGTH_M, width_m: float = WIDTH_M) -> Any:
    """A rectangle of true metres around the image's centre, as an outline in pixels."""
    turn = np.radians(degrees)
    u, v = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    corners = [i * u * length_m / 2 + j * v * width_m / 2 for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    x, y = affine @ (SHAPE[1] / 2, SHAPE[0] / 2)
    return shapely.Polygon([~affine @ (x + dx, y + dy) for dx, dy in corners])


def houses(site: Site) -> Any:
    return call(site, "components", call(site, "segment", "house"))


def least_area(points: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Area and sides of the least rectangle around points, every pair of points tried as the direction of a side."""
    best = (np.inf, 0.0, 0.0)
    for i in range(len(points)):
        for step in points[i + 1 :] - points[i]:
            angle = np.arctan2(step[1], step[0])
            turned = points @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            a, b = np.ptp(turned, axis=0)
            best = min(best, (a * b, max(a, b), min(a, b)))
    return best


# Upright


def test_boxes_of_pixel_objects_are_those_of_their_pixels_in_order() -> None:
    site = site_on(planar("square"), {"house": blobs(seed=3)})
    ordered = call(site, "sort_by_area", houses(site))
    wanted = []
    for one in call(site, "each", ordered):
        rows, cols = np.nonzero(one.mask.pixels)
        wanted.append([cols.min(), rows.min(), cols.max() + 1, rows.max() + 1])
    assert len(wanted) > 20
    assert call(site, "boxes_px", ordered) == wanted


def test_boxes_of_outlines_are_exact_and_cut_to_the_image() -> None:
    outlines = [shapely.box(3.25, 4.5, 9.75, 8.125), shapely.box(-5, 50, 10.5, 70), shapely.Point(20, 30).buffer(4)]
    site = site_on(planar("square"), {"house": outlines})
    assert call(site, "boxes_px", houses(site)) == [[3.25, 4.5, 9.75, 8.125], [0, 50, 10.5, 60], [16, 26, 24, 34]]


def test_points_have_the_pixel_that_they_lie_in_for_a_box() -> None:
    site = site_on(planar("square"), {"house": [shapely.Point(7.5, 3.25)]})
    found = houses(site)
    assert call(site, "boxes_px", found) == [[7, 3, 8, 4]]
    assert call(site, "points_px", found) == [[7.5, 3.25]]
    assert call(site, "oriented_boxes_px", found) == [[7.5, 3.25] * 4]


def test_the_box_around_everything() -> None:
    site = site_on(
        UNKNOWN, {"house": [shapely.box(3.5, 4, 9, 8), shapely.box(30, 2, 31, 3)], "pond": disc(SHAPE, 30, 40, 5)}
    )
    assert call(site, "box_px", houses(site)) == [3.5, 2, 31, 8]
    assert call(site, "box_px", call(site, "segment", "house")) == [3.5, 2, 31, 8]
    assert call(site, "box_px", call(site, "segment", "pond")) == [35, 25, 46, 36]
    with pytest.raises(Refused, match="There is no house larger than 900 px in the image, so that it has no box"):
        call(site, "box_px", call(site, "filter_regions", houses(site), larger_than_px=900))


def test_points_are_centroids_from_the_outer_corner() -> None:
    site = site_on(UNKNOWN, {"pond": disc(SHAPE, 30, 40, 5), "house": [shapely.box(3, 4, 9, 8)]})
    assert call(site, "points_px", call(site, "components", call(site, "segment", "pond"))) == [[40.5, 30.5]]
    assert call(site, "points_px", houses(site)) == [[6, 6]]


# Oriented


@pytest.mark.parametrize("name", AFFINES)
@pytest.mark.parametrize("degrees", [0, 17, 45, 90, 133, 179])
def test_an_oriented_box_is_true_on_the_ground_at_any_affine(name: str, degrees: float) -> None:
    outline = ground_rectangle(AFFINES[name], degrees)
    site = site_on(planar(name), {"house": [outline]})
    one = houses(site)
    assert call(site, "length_m", one) == pytest.approx(LENGTH_M, rel=1e-6)
    assert call(site, "width_m", one) == pytest.approx(WIDTH_M, rel=1e-6)
    (numbers,) = call(site, "oriented_boxes_px", one)
    found = shapely.Polygon(np.reshape(numbers, (4, 2)))
    assert found.symmetric_difference(outline).area < 5e-4 * outline.area
    assert found.exterior.is_ccw  # with y down: clockwise as seen
    xy = np.reshape(numbers, (4, 2))
    assert xy[0].sum() <= xy.sum(axis=1).min() + 2e-3


def test_corners_begin_at_the_top_left_and_go_clockwise() -> None:
    site = site_on(UNKNOWN, {"house": [shapely.box(10, 20, 30, 25)]})
    assert call(site, "oriented_boxes_px", houses(site)) == [[10, 20, 30, 20, 30, 25, 10, 25]]
    diamond = shapely.Polygon([(10, 0), (20, 10), (10, 20), (0, 10)])  # two corners with the least x + y: the upper
    site = site_on(UNKNOWN, {"house": [diamond]})
    assert call(site, "oriented_boxes_px", houses(site)) == [[10, 0, 20, 10, 10, 20, 0, 10]]


@pytest.mark.parametrize("name", ["square", "not square", "strongly sheared", "pixels"])
def test_boxes_of_pixel_objects_are_the_least_around_the_corners_of_their_pixels(name: str) -> None:
    grid = UNKNOWN if name == "pixels" else planar(name)
    site = site_on(grid, {"house": blobs(seed=11, share=0.15)})
    found = call(site, "filter_regions", houses(site), min_px=9)
    affine = Affine.identity() if name == "pixels" else grid.affine
    boxes = np.reshape(call(site, "oriented_boxes_px", found), (-1, 4, 2))
    assert len(boxes) > 10
    for one, box in zip(call(site, "each", found), boxes, strict=True):
        rows, cols = np.nonzero(one.mask.pixels)
        corners = np.unique(
            [(c + i, r + j) for r, c in zip(rows, cols, strict=True) for i in (0, 1) for j in (0, 1)], axis=0
        )
        hull = np.array(shapely.MultiPoint(corners).convex_hull.exterior.coords)[:-1]
        area, long, short = least_area(np.column_stack([*affine @ tuple(hull.T)]) - np.array([affine.c, affine.f]))
        polygon = shapely.Polygon(box)
        assert polygon.area * abs(affine.determinant) == pytest.approx(area, rel=1e-3)
        assert polygon.buffer(2e-3).covers(shapely.MultiPoint(corners))
        if name != "pixels":  # two rectangles of one area may differ in their sides
            sides = call(site, "length_m", one), call(site, "width_m", one)
            assert sides[0] * sides[1] == pytest.approx(long * short, rel=1e-6)


@pytest.mark.parametrize("lat", [0.0, 60.0])
def test_sides_are_metres_on_the_ellipsoid_where_the_grid_is_in_degrees(lat: float) -> None:
    grid = Grid(Affine(1e-5, 0, 10, 0, -1e-5, lat), SHAPE, pyproj.CRS(4326))
    site = site_on(grid, {"house": [shapely.box(10, 20, 50, 30)]})
    geod = pyproj.Geod(ellps="WGS84")
    wide = geod.inv(10 + 10e-5, lat - 25e-5, 10 + 50e-5, lat - 25e-5)[2]
    high = geod.inv(10, lat - 20e-5, 10, lat - 30e-5)[2]
    assert call(site, "length_m", houses(site)) == pytest.approx(max(wide, high), rel=1e-5)
    assert call(site, "width_m", houses(site)) == pytest.approx(min(wide, high), rel=1e-5)


def test_sides_go_out_by_half_a_pixel_at_each_end() -> None:
    site = site_on(planar("square"), {"house": [ground_rectangle(AFFINES["square"], 30)]})
    one = houses(site)
    assert call(site, "length_m", one) == pytest.approx(12)
    assert "boundary" in site.doubts
    for boundary in (-1, 1):
        nudged = site.nudged(Nudge(boundary=boundary, classes=frozenset(["house"])))
        assert call(nudged, "length_m", houses(nudged)) == pytest.approx(12 + boundary * 0.5)
    nudged = site.nudged(Nudge(boundary=1, classes=frozenset(["pond"])))
    assert call(nudged, "width_m", houses(nudged)) == pytest.approx(5)


def test_sides_of_many_and_their_statistics() -> None:
    sizes = [(8.0, 2.0), (20.0, 1.0), (6.0, 5.0)]
    outlines = [shapely.box(2, 10 * k, 2 + 2 * a, 10 * k + 2 * b) for k, (a, b) in enumerate(sizes)]
    site = site_on(planar("square"), {"house": outlines})
    found = houses(site)
    assert call(site, "sides_m", found, side="length") == pytest.approx([8, 20, 6])
    assert call(site, "sides_m", found, side="width") == pytest.approx([2, 1, 5])
    assert call(site, "side_statistic_m", found, side="length", statistic="mean") == pytest.approx(34 / 3)
    assert call(site, "side_statistic_m", found, side="width", statistic="max") == pytest.approx(5)
    assert call(site, "sides_m", call(site, "longest", found, n=2), side="length") == pytest.approx([20, 8])
    rising = call(site, "sort_by_length", found, descending=False)
    assert call(site, "sides_m", rising, side="length") == pytest.approx([6, 8, 20])
    none = call(site, "filter_regions", found, larger_than_m2=900)
    assert call(site, "boxes_px", none) == call(site, "oriented_boxes_px", none) == call(site, "points_px", none) == []
    with pytest.raises(Refused, match="so that their mean has no value"):
        call(site, "side_statistic_m", none, side="length", statistic="mean")


def test_objects_of_two_sources_keep_their_order() -> None:
    site = site_on(UNKNOWN, {"house": [shapely.box(3, 4, 9, 8)], "pond": disc(SHAPE, 30, 40, 5)})
    both = call(site, "merge", call(site, "components", call(site, "segment", "pond")), houses(site))
    falling = call(site, "sort_by_area", both, descending=False)
    assert call(site, "boxes_px", falling) == [[3, 4, 9, 8], [35, 25, 46, 36]]
    assert call(site, "oriented_boxes_px", falling)[0] == [3, 4, 9, 4, 9, 8, 3, 8]


def test_a_length_needs_one_region_and_a_ground_size() -> None:
    site = site_on(planar("square"), {"house": [shapely.box(3, 4, 9, 8), shapely.box(20, 4, 29, 8)]})
    with pytest.raises(ToolError, match="length_m takes one region, not 2: use largest"):
        call(site, "length_m", houses(site))
    site = site_on(UNKNOWN, {"house": [shapely.box(3, 4, 9, 8), shapely.box(20, 4, 29, 8)]})
    assert call(site, "boxes_px", call(site, "longest", houses(site))) == [[20, 4, 29, 8]]
    with pytest.raises(Refused):
        call(site, "sides_m", houses(site), side="length")


def test_an_object_with_a_hole_or_in_two_parts_has_one_box() -> None:
    ring = disc(SHAPE, 30, 40, 12) & ~disc(SHAPE, 30, 40, 9)
    site = site_on(Grid(AFFINES["square"], SHAPE, UTM), {"house": ring})
    assert call(site, "boxes_px", houses(site)) == [[28, 18, 53, 43]]
    parts = shapely.MultiPolygon([shapely.box(5, 5, 10, 10), shapely.box(30, 5, 35, 10)])
    site = site_on(planar("square"), {"house": [parts]})
    assert call(site, "oriented_boxes_px", houses(site)) == [[5, 5, 35, 5, 35, 10, 5, 10]]
