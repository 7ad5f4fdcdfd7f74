"""Objects with outlines: identities, overlap, the image's border, void, sizes below a pixel, lines and points."""

from __future__ import annotations

import numpy as np
import pyproj
import pytest
import shapely
from affine import Affine
from measured_sites import ROUND_GRIDS, SHAPE, call, geographic, planar, site_on
from shapely.geometry import LineString, MultiPolygon, Point, Polygon, box

from swath.errors import Refused
from swath.raster.grid import Grid
from swath.segment.protocol import Feature
from swath.tools.patches import Patches

ALL = np.ones(SHAPE, dtype=bool)
HEXAGON = Polygon([(20.3, 5.1), (31.7, 8.4), (33.2, 19.9), (22.8, 26.3), (11.4, 21.5), (12.9, 9.6)])


def patches(grid: Grid, *outlines: shapely.Geometry, valid: np.ndarray = ALL, areal: bool = True) -> Patches:
    return Patches(tuple(Feature(str(i), o, None) for i, o in enumerate(outlines)), grid, valid, "roof", areal)


def geodesic(polygon: Polygon, grid: Grid) -> tuple[float, float]:
    """Area and perimeter of a polygon in pixel coordinates on the ellipsoid, its edges cut short."""
    ring = np.array(shapely.segmentize(polygon, 0.1).exterior.coords)
    x, y = grid.affine @ (ring[:, 0], ring[:, 1])
    lonlat = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True).transform(x, y)
    area, length = pyproj.Geod(ellps="WGS84").polygon_area_perimeter(*lonlat)
    return abs(area), length


@pytest.mark.parametrize("name", ["square", "not square", "rotated", "sheared"])
def test_areas_and_outlines_are_those_of_the_polygon_on_the_ground(name: str) -> None:
    grid = planar(name)
    on_ground = shapely.transform(HEXAGON, lambda xy: np.column_stack(grid.affine @ (xy[:, 0], xy[:, 1])))
    found = patches(grid, HEXAGON)
    assert found.areas_m2.tolist() == pytest.approx([on_ground.area])
    assert found.outlines_m.tolist() == pytest.approx([on_ground.length])
    assert found.compactness.tolist() == pytest.approx([4 * np.pi * on_ground.area / on_ground.length**2])


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_areas_and_outlines_on_round_grids_are_geodesic(name: str) -> None:
    grid = ROUND_GRIDS[name]()
    area, length = geodesic(HEXAGON, grid)
    found = patches(grid, HEXAGON)
    assert found.areas_m2.tolist() == pytest.approx([area], rel=1e-4)
    assert found.outlines_m.tolist() == pytest.approx([length], rel=1e-5)


def test_an_object_as_large_as_a_country_is_measured_to_a_tenth_of_a_percent() -> None:
    grid = geographic(degrees=0.1, lat=63.0)
    assert patches(grid, HEXAGON).areas_m2.tolist() == pytest.approx([geodesic(HEXAGON, grid)[0]], rel=1e-3)


def test_what_lies_beyond_the_image_is_not_measured() -> None:
    found = patches(planar("square"), box(-10, -10, 10, 10), box(70, 50, 300, 300), box(-9, 0, -2, 5), Polygon())
    assert found.areas_m2.tolist() == [25.0, 25.0, 0.0, 0.0]
    assert found.outlines_m.tolist() == pytest.approx([10.0, 10.0, 0.0, 0.0])
    assert found.sizes_px.tolist() == [100, 100, 0, 0]
    assert found.boxes[:2].tolist() == [[0, 0, 10, 10], [70, 50, 80, 60]]


def test_objects_that_touch_stay_two_and_objects_beyond_the_image_are_none() -> None:
    site = site_on(planar("square"), {"roof": [box(5, 5, 15, 15), box(15, 5, 25, 15)]})
    roofs = call(site, "components", call(site, "segment", "roof"))
    assert call(site, "count", roofs) == 2
    assert call(site, "region_areas_m2", roofs) == [25.0, 25.0]
    outside = patches(planar("square"), box(5, 5, 15, 15), box(-9, 0, -2, 5))
    assert np.count_nonzero(outside.sizes_px) == 1


def test_ground_that_objects_share_counts_once() -> None:
    three = [box(5, 5, 15, 15), box(10, 5, 20, 15), box(12, 5, 14, 15), box(40, 40, 50, 50)]
    site = site_on(planar("square"), {"roof": three})
    roofs = call(site, "components", call(site, "segment", "roof"))
    assert call(site, "region_areas_m2", roofs) == [25.0, 25.0, 5.0, 25.0]
    assert call(site, "area_m2", roofs) == pytest.approx(0.25 * (150 + 100))
    assert call(site, "area_m2", call(site, "mask_of", roofs)) == pytest.approx(0.25 * 250)
    assert call(site, "area_statistic_m2", roofs, statistic="sum") == pytest.approx(80.0)
    assert call(site, "area_m2", call(site, "largest", roofs, n=1)) == 25.0


def test_void_takes_its_share_of_an_object() -> None:
    valid = ALL.copy()
    valid[:, :10] = False
    found = patches(planar("square"), box(5, 5, 15, 15), box(2, 20, 4, 22), box(30, 30, 34, 34), valid=valid)
    assert found.sizes_px.tolist() == [50, 0, 16]
    assert found.areas_m2.tolist() == [12.5, 0.0, 4.0]
    # Of the first outline lie outside of void: the right side and half of the upper and of the lower one.
    assert found.outlines_m.tolist() == pytest.approx([10.0, 0.0, 8.0])
    site = site_on(planar("square"), {"roof": [box(5, 5, 15, 15), box(2, 20, 4, 22)]}, valid)
    assert call(site, "count", call(site, "components", call(site, "segment", "roof"))) == 1


def test_an_object_below_a_pixel_keeps_its_area_and_a_pixel() -> None:
    found = patches(planar("square"), box(5.6, 7.6, 5.9, 7.9))
    assert found.sizes_px.tolist() == [1]
    assert found.areas_m2.tolist() == pytest.approx([0.09 * 0.25])
    assert found.boxes.tolist() == [[5, 7, 6, 8]]


def test_an_object_of_several_parts_is_one() -> None:
    parts = MultiPolygon([box(2, 2, 6, 6), box(20, 20, 22, 22)])
    site = site_on(planar("square"), {"roof": [parts]})
    roofs = call(site, "components", call(site, "segment", "roof"))
    assert call(site, "count", roofs) == 1
    assert call(site, "area_m2", roofs) == pytest.approx(5.0)
    assert call(site, "perimeter_m", roofs) == pytest.approx(0.5 * (16 + 8))


def test_lines_and_points_are_counted_and_near_but_have_no_area() -> None:
    site = site_on(planar("square"), {"way": [LineString([(2, 3.5), (70, 3.5)]), Point(40.2, 30.7)],
                                      "roof": [box(10, 10, 20, 20)]})  # fmt: skip
    ways = call(site, "components", call(site, "segment", "way"))
    roofs = call(site, "components", call(site, "segment", "roof"))
    assert call(site, "count", ways) == 2
    assert call(site, "area_px", ways) == 68 + 1
    assert call(site, "distance_m", roofs, ways) == pytest.approx(0.5 * 7)
    assert call(site, "count", call(site, "near", roofs, ways, max_distance_m=3.5)) == 1
    for tool, keywords in (
        ("area_m2", {}),
        ("perimeter_m", {}),
        ("share_percent", {}),
        ("region_areas_m2", {}),
        ("solar_power_kw", {}),
    ):
        with pytest.raises(Refused, match="^The area of way cannot be measured: its source draws lines or points"):
            call(site, tool, ways, **keywords)
    with pytest.raises(Refused, match="ask for a count or a distance"):
        call(site, "components", call(site, "segment", "way"), larger_than_m2=1.0)
    assert call(site, "area_px", call(site, "largest", ways)) == 68


def test_the_larger_of_two_objects_is_told_by_its_outline() -> None:
    site = site_on(planar("square"), {"roof": [box(5.6, 5.6, 9.4, 9.4), box(30.4, 30.4, 33.9, 34.5)]})
    roofs = call(site, "components", call(site, "segment", "roof"))
    assert call(site, "region_areas_m2", roofs) == pytest.approx([0.25 * 3.8**2, 0.25 * 3.5 * 4.1])
    assert roofs.sources[0].sizes_px.tolist() == [9, 16]
    assert call(site, "area_m2", call(site, "largest", roofs)) == pytest.approx(0.25 * 3.8**2)


def test_a_source_without_an_object() -> None:
    found = patches(planar("square"))
    for column in (found.areas_m2, found.outlines_m, found.sizes_px, found.scores, found.compactness):
        assert column.shape == (0,)
    assert found.boxes.shape == (0, 4)
    assert found.centroids_yx.shape == (0, 2)
    assert found.touches(ALL).shape == (0,)
    site = site_on(planar("square"), {"roof": []})
    roofs = call(site, "components", call(site, "segment", "roof"))
    assert call(site, "count", roofs) == 0
    assert call(site, "area_m2", roofs) == 0.0


def test_identities_and_scores_are_the_source_s() -> None:
    features = (Feature("tree-7", box(1, 1, 3, 3), 0.25), Feature("tree-9", box(5, 5, 9, 9)))
    found = Patches(features, planar("square"), ALL, "tree")
    assert found.source_ids == ["tree-7", "tree-9"]
    assert found.scores[0] == 0.25
    assert np.isnan(found.scores[1])
    assert found.centroids_yx.tolist() == [[1.5, 1.5], [6.5, 6.5]]


def test_a_class_of_small_footprints_is_as_large_as_they_are() -> None:
    """On pixels of 10 m, each house of 36 m2 holds one pixel of 100 m2: pixels would say 2.8 times too much."""
    grid = Grid(Affine(10, 0, 500_000, 0, -10, 5_000_000), SHAPE, planar("square").crs)
    rng = np.random.default_rng(3)
    houses = [
        box(x, y, x + 0.6, y + 0.6) for x, y in np.indices((7, 5)).reshape(2, -1).T * 8 + rng.uniform(0, 5, (35, 2))
    ]
    site = site_on(grid, {"roof": houses})
    mask = call(site, "segment", "roof")
    roofs = call(site, "components", mask)
    assert call(site, "area_px", mask) >= 35
    for thing in (mask, roofs):
        assert call(site, "area_m2", thing) == pytest.approx(35 * 36.0)
        assert call(site, "share_percent", thing) == pytest.approx(100 * 35 * 0.36 / 4800)
    assert call(site, "solar_power_kw", mask) == pytest.approx(35 * 36.0 * 0.2)


def test_overlap_is_taken_off_where_it_lies() -> None:
    """Two pairs far apart on a grid whose pixels differ, and a pair that void cuts."""
    grid, valid = geographic(lat=85.0, degrees=0.08), ALL.copy()
    valid[:, 70:] = False
    pairs = [
        box(5, 2, 15, 8),
        box(10, 2, 20, 8),
        box(5, 50, 15, 56),
        box(10, 50, 20, 56),
        box(60, 20, 74, 26),
        box(65, 20, 80, 26),
    ]
    site = site_on(grid, {"roof": pairs}, valid)
    mask = call(site, "segment", "roof")
    for thing in (mask, call(site, "components", mask)):
        weights = np.broadcast_to(grid.require_ground().area_m2(slice(0, 60)), SHAPE)
        assert call(site, "area_m2", thing) == pytest.approx(weights[mask.pixels].sum(), rel=1e-3)
        share = 100 * weights[mask.pixels].sum() / weights[valid].sum()
        assert call(site, "share_percent", thing) == pytest.approx(share, rel=1e-3)
