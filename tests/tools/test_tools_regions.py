"""Region tools: what components are, bounds, order, sets of regions, statistics, empty inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from measured_sites import blobs, call, geographic, planar, site_on
from scipy import ndimage

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.bounds import between, bound_words
from swath.tools.handles import Regions
from swath.tools.site import Site

UNKNOWN = Grid(planar("square").affine, (60, 80), None)


def steps_site(grid: Grid | None = None) -> Site:
    """Five rectangles of 4, 8, 8, 16 and 100 pixels, in reading order 8, 100, 4, 16, 8."""
    pixels = np.zeros((60, 80), dtype=bool)
    pixels[2:4, 2:6] = pixels[5:15, 20:30] = pixels[20:22, 2:4] = pixels[30:34, 40:44] = pixels[50:52, 60:64] = True
    return site_on(grid or planar("square"), {"roof": pixels, "lake": ~pixels & False})


def regions(site: Site, **bounds: Any) -> Regions:
    found = call(site, "components", call(site, "segment", "roof"), **bounds)
    assert isinstance(found, Regions)
    return found


def sizes(found: Regions) -> list[int]:
    return [int(size) for size in found.column("sizes_px")]


@pytest.mark.parametrize("connectivity", [4, 8])
def test_components_are_counted_as_by_scipy(connectivity: int) -> None:
    pixels, valid = blobs(seed=2), blobs(seed=3, share=0.9)
    site = site_on(planar("square"), {"roof": pixels}, valid)
    expected = ndimage.label(pixels & valid, ndimage.generate_binary_structure(2, connectivity // 4))[1]
    found = regions(site, connectivity=connectivity)
    assert call(site, "count", found) == expected
    assert call(site, "area_px", found) == (pixels & valid).sum()


def test_the_connectivity_is_4_or_8() -> None:
    with pytest.raises(ToolError, match="connectivity must be"):
        regions(steps_site(), connectivity=6)


@pytest.mark.parametrize(
    ("bounds", "kept"),
    [
        ({"larger_than_m2": 2.0}, [100, 16]),
        ({"min_m2": 2.0}, [8, 100, 16, 8]),
        ({"smaller_than_m2": 2.0}, [4]),
        ({"max_m2": 2.0}, [8, 4, 8]),
        ({"min_m2": 2.0, "max_m2": 4.0}, [8, 16, 8]),
        ({"larger_than_px": 8}, [100, 16]),
        ({"min_px": 8}, [8, 100, 16, 8]),
        ({"smaller_than_px": 8}, [4]),
        ({"max_px": 8}, [8, 4, 8]),
        ({"min_px": 8, "smaller_than_m2": 25.0}, [8, 16, 8]),
        ({"larger_than_m2": 1e9}, []),
        ({}, [8, 100, 4, 16, 8]),
    ],
)
def test_larger_and_smaller_are_exclusive_min_and_max_inclusive(bounds: dict[str, float], kept: list[int]) -> None:
    site = steps_site()
    assert sizes(regions(site, **bounds)) == kept
    assert sizes(call(site, "filter_regions", regions(site), **bounds)) == kept


@pytest.mark.parametrize("pixel_m", [0.1, 0.3, 0.7, 1 / 3])
def test_an_area_that_equals_the_bound_in_exact_arithmetic_is_equal(pixel_m: float) -> None:
    counts = np.arange(1, 200)
    for bound in (9, 27, 100, 199):
        as_typed = float(f"{bound * pixel_m**2:.12g}")
        areas = counts * pixel_m**2
        assert between(areas, as_typed, None, None, None).tolist() == (counts > bound).tolist()
        assert between(areas, None, as_typed, None, None).tolist() == (counts >= bound).tolist()
        assert between(areas, None, None, as_typed, None).tolist() == (counts < bound).tolist()
        assert between(areas, None, None, None, as_typed).tolist() == (counts <= bound).tolist()


def test_regions_say_how_they_were_chosen() -> None:
    site = steps_site()
    assert regions(site, larger_than_m2=2, max_m2=9.5).name == "roof larger than 2 m2 and at most 9.5 m2"
    assert regions(site, min_px=3).name == "roof at least 3 px"
    assert call(site, "largest", regions(site), n=2).name == "2 largest roof"
    assert bound_words(None, None, 4, None, unit="m2") == "smaller than 4 m2"


def test_areas_need_a_ground_size_and_pixels_do_not() -> None:
    site = steps_site(UNKNOWN)
    assert sizes(regions(site, min_px=9)) == [100, 16]
    assert sizes(call(site, "largest", regions(site), n=2)) == [100, 16]
    with pytest.raises(Refused, match="^Metres cannot be measured: the file names no CRS. Next: state the ground size"):
        regions(site, min_m2=9)


def test_order_by_size_keeps_reading_order_among_equals() -> None:
    site, found = steps_site(), regions(steps_site())
    assert sizes(call(site, "largest", found)) == [100]
    assert sizes(call(site, "largest", found, n=3)) == [100, 16, 8]
    assert sizes(call(site, "largest", found, n=99)) == [100, 16, 8, 8, 4]
    assert sizes(call(site, "smallest", found, n=2)) == [4, 8]
    assert sizes(call(site, "nth_largest", found, n=2)) == [16]
    assert sizes(call(site, "nth_largest", found, n=6)) == []
    assert sizes(call(site, "sort_by_area", found)) == [100, 16, 8, 8, 4]
    assert sizes(call(site, "sort_by_area", found, descending=False)) == [4, 8, 8, 16, 100]
    for order in (call(site, "sort_by_area", found), call(site, "smallest", found, n=4)):
        assert [i for i in order.indices.tolist() if i in (0, 4)] == [0, 4]


def test_the_largest_is_so_on_the_ground_and_not_in_pixels() -> None:
    pixels = np.zeros((60, 80), dtype=bool)
    pixels[1:5, 2:8], pixels[50:54, 2:7] = True, True
    site = site_on(geographic(lat=89.9, degrees=0.01), {"roof": pixels})
    found = regions(site)
    assert sizes(found) == [24, 20]
    assert sizes(call(site, "largest", found)) == [20]


@pytest.mark.parametrize("tool", ["largest", "smallest", "nth_largest", "nearest", "farthest"])
def test_none_of_them_cannot_be_chosen(tool: str) -> None:
    site = steps_site()
    target = (regions(site),) if tool.endswith("est") and tool[0] in "nf" and tool != "nth_largest" else ()
    with pytest.raises(ToolError, match="^n must be at least 1, not 0.$"):
        call(site, tool, regions(site), *target, n=0)


def test_each_region_alone() -> None:
    site = steps_site()
    single = call(site, "each", regions(site))
    assert [sizes(one) for one in single] == [[8], [100], [4], [16], [8]]
    assert single[2].name == "roof number 3"
    assert [call(site, "area_m2", one) for one in single] == call(site, "region_areas_m2", regions(site))


def test_sets_of_regions() -> None:
    site = steps_site()
    small, large = regions(site, max_px=8), regions(site, min_px=8)
    assert sizes(call(site, "merge", small, large)) == [8, 4, 8, 100, 16]
    assert sizes(call(site, "exclude", small, large)) == [4]
    assert sizes(call(site, "common", small, large)) == [8, 8]
    assert sizes(call(site, "merge", small, small)) == sizes(small)
    nothing = regions(site, min_px=1000)
    assert sizes(call(site, "merge", nothing, small)) == sizes(small)
    assert sizes(call(site, "exclude", nothing, small)) == sizes(call(site, "common", small, nothing)) == []


def test_regions_of_two_classes_merged() -> None:
    a, b = np.zeros((60, 80), dtype=bool), np.zeros((60, 80), dtype=bool)
    a[2:6, 2:6] = a[40:42, 40:42] = b[4:8, 4:8] = b[50:53, 10:13] = True
    site = site_on(planar("square"), {"roof": a, "pool": b})
    pools = call(site, "components", call(site, "segment", "pool"))
    both = call(site, "merge", pools, regions(site))
    assert sizes(both) == [16, 9, 16, 4]
    assert both.column("boxes").tolist() == [[4, 4, 8, 8], [10, 50, 13, 53], [2, 2, 6, 6], [40, 40, 42, 42]]
    assert call(site, "area_px", both) == (a | b).sum()
    assert both.touches(a).tolist() == [True, False, True, True]
    assert sizes(call(site, "largest", both, n=3)) == [16, 16, 9]
    assert both.classes == {"roof", "pool"}


def test_a_region_belongs_to_the_part_that_holds_its_centroid() -> None:
    site = steps_site()
    parts = {part: call(site, "image_part", part=part) for part in ("top", "bottom", "left", "right")}
    found = regions(site)
    assert sizes(call(site, "located_in", found, parts["top"])) == [8, 100, 4]
    assert sizes(call(site, "located_in", found, parts["bottom"])) == [16, 8]
    assert sizes(call(site, "located_in", found, parts["left"])) == [8, 100, 4]


@pytest.mark.parametrize(("rows", "centre"), [(9, 4), (10, 5)])
def test_a_centroid_on_the_middle_line_belongs_to_the_lower_half(rows: int, centre: int) -> None:
    pixels = np.zeros((rows, 8), dtype=bool)
    pixels[centre - 1 : centre + (2 if rows % 2 else 1), 2:4] = True
    site = site_on(planar("square", (rows, 8)), {"roof": pixels})
    top, bottom = (call(site, "image_part", part=part) for part in ("top", "bottom"))
    assert call(site, "area_px", top) == 8 * (rows // 2)
    assert sizes(call(site, "located_in", regions(site), top)) == []
    assert sizes(call(site, "located_in", regions(site), bottom)) == [int(pixels.sum())]


def test_every_region_belongs_to_exactly_one_quadrant() -> None:
    site = site_on(planar("square", (61, 79)), {"roof": blobs((61, 79))})
    found = regions(site)
    quadrants = ("top-left", "top-right", "bottom-left", "bottom-right")
    members = [call(site, "located_in", found, call(site, "image_part", part=part)) for part in quadrants]
    assert sorted(i for part in members for i in part.indices.tolist()) == list(range(len(found)))


def test_a_ring_around_void_belongs_to_its_half() -> None:
    pixels, valid = np.zeros((60, 80), dtype=bool), np.ones((60, 80), dtype=bool)
    pixels[5:20, 5:20] = True
    valid[8:17, 8:17] = False
    site = site_on(planar("square"), {"roof": pixels}, valid)
    assert len(call(site, "located_in", regions(site), call(site, "image_part", part="top"))) == 1


@pytest.mark.parametrize(
    ("statistic", "pixels"), [("mean", 27.2), ("median", 8), ("sum", 136), ("min", 4), ("max", 100)]
)
def test_statistics_of_areas(statistic: str, pixels: float) -> None:
    site = steps_site()
    assert call(site, "area_statistic_m2", regions(site), statistic=statistic) == pytest.approx(pixels / 4)
    assert call(site, "area_statistic_px", regions(site), statistic=statistic) == pytest.approx(pixels)


def test_the_standard_deviation_divides_by_n() -> None:
    site = steps_site()
    expected = np.sqrt(np.mean((np.array([8, 100, 4, 16, 8]) - 27.2) ** 2))
    assert call(site, "area_statistic_px", regions(site), statistic="std") == pytest.approx(expected)


def test_of_no_regions_the_count_is_0_and_the_mean_has_no_value() -> None:
    site = steps_site()
    none = call(site, "components", call(site, "segment", "lake"))
    assert call(site, "count", none) == 0
    assert call(site, "area_m2", none) == call(site, "area_px", none) == 0
    assert call(site, "region_areas_m2", none) == call(site, "each", none) == []
    assert call(site, "area_statistic_m2", none, statistic="sum") == 0
    assert len(call(site, "largest", none)) == len(call(site, "sort_by_area", none)) == 0
    assert len(call(site, "located_in", none, call(site, "image_part", part="top"))) == 0
    assert call(site, "area_px", call(site, "mask_of", none)) == 0
    assert call(site, "perimeter_m", none) == 0
    for tool in ("area_statistic_m2", "area_statistic_px"):
        with pytest.raises(Refused, match="^There are no lake in the image, so that their median has no value.$"):
            call(site, tool, none, statistic="median")


def test_identical_requests_give_the_same_objects() -> None:
    site = steps_site()
    assert regions(site).sources[0] is regions(site, min_px=9).sources[0]
    assert call(site, "mask_of", regions(site, min_px=9)) is call(site, "mask_of", regions(site, min_px=9))
