"""Proximity tools: inclusive and exclusive limits, complements, warnings, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from measured_sites import AFFINES, ROUND_GRIDS, blobs, call, pairwise_m, planar, site_on
from scipy import ndimage
from shapely.geometry import box

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.site import Nudge, Site

GRIDS = {name: planar(name, (24, 31)) for name in AFFINES} | {n: make((24, 31)) for n, make in ROUND_GRIDS.items()}
EVERY = np.ones((24, 31), dtype=bool)


def two_classes(grid: Grid, valid: np.ndarray | None = None) -> Site:
    wood, water = blobs((24, 31), share=0.4, seed=3), blobs((24, 31), share=0.07, seed=11)
    return site_on(grid, {"wood": wood & ~water, "water": water, "sand": ~EVERY}, valid)


def masks(site: Site) -> tuple[Any, Any]:
    return call(site, "segment", "wood"), call(site, "segment", "water")


def row_site(gap: int, *, pixel_m: float = 0.5) -> Site:
    """Two squares of 4 pixels in a row, `gap` columns of nothing between them."""
    roof, water = np.zeros((30, 60), dtype=bool), np.zeros((30, 60), dtype=bool)
    roof[10:14, 10:14] = True
    water[10:14, 14 + gap : 18 + gap] = True
    grid = Grid(planar("square").affine @ planar("square").affine.scale(pixel_m / 0.5), (30, 60), planar("square").crs)
    return site_on(grid, {"roof": roof, "water": water})


def roofs(site: Site) -> Any:
    return call(site, "components", call(site, "segment", "roof"))


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_distances_of_regions_on_every_kind_of_grid(name: str) -> None:
    site = two_classes(GRIDS[name])
    wood, water = masks(site)
    woods = call(site, "components", wood)
    apart = pairwise_m(GRIDS[name], EVERY, water.pixels).min(axis=1).reshape(EVERY.shape)
    labels = ndimage.label(wood.pixels, np.ones((3, 3)))[0]
    expected = sorted(ndimage.minimum(apart, labels, np.arange(1, len(woods) + 1)))
    found = call(site, "distances_m", woods, water)
    assert sorted(found) == pytest.approx(expected, rel=3e-6)
    assert call(site, "distance_m", wood, water) == pytest.approx(expected[0], rel=3e-6)
    assert call(site, "distance_m", woods, water) == pytest.approx(call(site, "distance_m", water, wood), rel=1e-9)
    assert call(site, "distance_statistic_m", woods, water, statistic="mean") == pytest.approx(np.mean(expected))
    nearest, farthest = (call(site, tool, woods, water, n=2) for tool in ("nearest", "farthest"))
    assert call(site, "distances_m", nearest, water) == pytest.approx(expected[:2], rel=3e-6)
    assert call(site, "distances_m", farthest, water) == pytest.approx(expected[:-3:-1], rel=3e-6)


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_the_next_of_its_own_kind_is_the_nearest_of_all_others(name: str) -> None:
    site = two_classes(GRIDS[name])
    woods = call(site, "components", masks(site)[0])
    labels, count = ndimage.label(masks(site)[0].pixels, np.ones((3, 3)))
    flat = labels.ravel()
    inside = np.flatnonzero(flat)
    apart = pairwise_m(GRIDS[name], labels > 0, labels > 0)
    other = flat[inside][:, None] != flat[inside][None, :]
    expected = [np.where(other, apart, np.inf)[flat[inside] == label].min() for label in range(1, count + 1)]
    for statistic, of in (("mean", np.mean), ("median", np.median), ("min", np.min), ("max", np.max)):
        found = call(site, "neighbour_distance_statistic_m", woods, statistic=statistic)
        assert found == pytest.approx(of(expected), rel=3e-6)


def test_one_object_has_no_next_one() -> None:
    site = row_site(4)
    with pytest.raises(Refused, match="^There are not two roof in the image, so that there is no distance"):
        call(site, "neighbour_distance_statistic_m", roofs(site), statistic="mean")


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_within_and_beyond_share_a_mask_and_near_and_farther_its_regions(name: str) -> None:
    site = two_classes(GRIDS[name])
    wood, water = masks(site)
    woods = call(site, "components", wood)
    apart = pairwise_m(GRIDS[name], EVERY, water.pixels).min(axis=1).reshape(EVERY.shape)
    limit_m = float(np.median(apart[wood.pixels])) * 1.001
    within = call(site, "within", wood, water, max_distance_m=limit_m)
    assert np.array_equal(within.pixels, wood.pixels & (apart <= limit_m))
    for close, far in (("max_distance_m", "larger_than_m"), ("smaller_than_m", "min_distance_m")):
        inside = call(site, "within", wood, water, **{close: limit_m}).pixels
        outside = call(site, "beyond", wood, water, **{far: limit_m}).pixels
        assert np.array_equal(inside ^ outside, wood.pixels)
        near = call(site, "near", woods, water, **{close: limit_m})
        farther = call(site, "farther", woods, water, **{far: limit_m})
        assert sorted(near.indices.tolist() + farther.indices.tolist()) == list(range(len(woods)))
        assert near.indices.tolist() == np.flatnonzero(woods.touches(inside)).tolist()


@pytest.mark.parametrize("pixel_m", [0.5, 0.3, 0.1])
def test_max_is_inclusive_and_smaller_than_exclusive(pixel_m: float) -> None:
    site = row_site(4, pixel_m=pixel_m)
    water, limit_m = call(site, "segment", "water"), float(f"{5 * pixel_m:.10g}")
    assert call(site, "distance_m", roofs(site), water) == pytest.approx(limit_m, rel=1e-12)
    assert len(call(site, "near", roofs(site), water, max_distance_m=limit_m)) == 1
    assert len(call(site, "near", roofs(site), water, smaller_than_m=limit_m)) == 0
    assert len(call(site, "farther", roofs(site), water, larger_than_m=limit_m)) == 0
    assert len(call(site, "farther", roofs(site), water, min_distance_m=limit_m)) == 1
    roof = call(site, "segment", "roof")
    assert call(site, "area_px", call(site, "within", roof, water, max_distance_m=limit_m)) == 4
    assert call(site, "area_px", call(site, "within", roof, water, smaller_than_m=limit_m)) == 0
    assert call(site, "area_px", call(site, "beyond", roof, water, larger_than_m=limit_m)) == 12
    assert call(site, "area_px", call(site, "beyond", roof, water, min_distance_m=limit_m)) == 16


def test_at_distance_0_lie_a_target_s_own_pixels() -> None:
    site = row_site(4)
    water, whole = call(site, "segment", "water"), call(site, "whole_image")
    assert call(site, "area_px", call(site, "within", whole, water, max_distance_m=0)) == 16
    assert call(site, "area_px", call(site, "within", whole, water, smaller_than_m=0)) == 0
    assert call(site, "area_px", call(site, "beyond", whole, water, larger_than_m=0)) == 1800 - 16
    assert call(site, "area_px", call(site, "beyond", whole, water, min_distance_m=0)) == 1800


@pytest.mark.parametrize(("gap", "touches"), [(0, True), (1, False), (-2, True)])
def test_touching_is_sides_corners_or_overlap(gap: int, *, touches: bool) -> None:
    site = row_site(gap)
    assert len(call(site, "touching", roofs(site), call(site, "segment", "water"))) == touches


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_overlapping_regions_are_those_that_share_a_pixel(grid: Grid) -> None:
    site = site_on(grid, {"old": blobs((24, 31), share=0.2, seed=5), "new": blobs((24, 31), share=0.3, seed=8)})
    new, old = call(site, "segment", "new"), call(site, "segment", "old")
    labels, number = ndimage.label(new.pixels, np.ones((3, 3)))
    shared = {i for i in range(1, number + 1) if (old.pixels & (labels == i)).any()}
    regions = call(site, "components", new)
    found = call(site, "overlapping", regions, old)
    assert 0 < len(found) == len(shared) < number
    assert found.column("sizes_px").tolist() == [int((labels == i).sum()) for i in sorted(shared)]
    assert len(call(site, "overlapping", regions, call(site, "components", old))) == len(shared)


@pytest.mark.parametrize(("gap", "overlaps"), [(0, False), (-1, True)])
def test_overlapping_is_more_than_touching(gap: int, *, overlaps: bool) -> None:
    site = row_site(gap)
    assert len(call(site, "overlapping", roofs(site), call(site, "segment", "water"))) == overlaps


def test_touching_at_a_corner_and_without_a_ground_size() -> None:
    roof, water = np.zeros((20, 20), dtype=bool), np.zeros((20, 20), dtype=bool)
    roof[2:5, 2:5] = roof[12:14, 12:14] = water[5:9, 5:9] = True
    site = site_on(Grid(planar("square").affine, (20, 20), None), {"roof": roof, "water": water})
    found = call(site, "touching", roofs(site), call(site, "segment", "water"))
    assert found.column("boxes").tolist() == [[2, 2, 5, 5]]
    with pytest.raises(Refused, match="Metres cannot be measured"):
        call(site, "near", roofs(site), call(site, "segment", "water"), max_distance_m=3)


def test_overlapping_outlines_are_at_distance_0() -> None:
    site = site_on(planar("square"), {"roof": [box(5, 5, 15, 15)], "pool": [box(10, 10, 12, 12)]})
    pools = call(site, "components", call(site, "segment", "pool"))
    assert call(site, "distance_m", roofs(site), pools) == 0.0
    assert call(site, "distances_m", pools, roofs(site)) == [0.0]


def test_void_is_near_nothing_and_nothing_is_near_void() -> None:
    valid = EVERY.copy()
    valid[:, 15:] = False
    site = two_classes(GRIDS["square"], valid)
    wood, water = masks(site)
    assert not (wood.pixels & ~valid).any()
    near = call(site, "within", call(site, "whole_image"), water, max_distance_m=100)
    assert np.array_equal(near.pixels, valid)
    apart = ndimage.distance_transform_edt(~(water.pixels & valid), sampling=0.5)
    near = call(site, "within", call(site, "whole_image"), water, max_distance_m=2)
    assert np.array_equal(near.pixels, valid & (apart <= 2 + 1e-9))


def test_nothing_is_within_any_distance_of_an_absent_class() -> None:
    site = two_classes(GRIDS["square"])
    wood, _ = masks(site)
    woods, sand = call(site, "components", wood), call(site, "segment", "sand")
    assert len(call(site, "near", woods, sand, max_distance_m=1e6)) == 0
    assert len(call(site, "farther", woods, sand, larger_than_m=1e6)) == len(woods)
    assert call(site, "area_px", call(site, "within", wood, sand, max_distance_m=1e6)) == 0
    assert call(site, "area_px", call(site, "beyond", wood, sand, larger_than_m=1e6)) == wood.size_px
    assert len(call(site, "touching", woods, sand)) == 0
    for tool, things in (("distance_m", (woods, sand)), ("distance_m", (sand, woods)), ("distances_m", (woods, sand)),
                         ("nearest", (woods, sand)), ("farthest", (woods, sand))):  # fmt: skip
        with pytest.raises(Refused, match="^There is no sand in the image, so that a distance to it has no value.$"):
            call(site, tool, *things)


def test_no_regions_are_near_anything() -> None:
    site = two_classes(GRIDS["square"])
    none, water = call(site, "components", call(site, "segment", "sand")), call(site, "segment", "water")
    for tool, limit in (("near", "max_distance_m"), ("farther", "larger_than_m")):
        assert len(call(site, tool, none, water, **{limit: 5})) == 0
    assert call(site, "distances_m", none, water) == []
    assert len(call(site, "nearest", none, water)) == len(call(site, "touching", none, water)) == 0
    with pytest.raises(Refused, match="^There are no sand in the image, so that their mean has no value.$"):
        call(site, "distance_statistic_m", none, water, statistic="mean")


@pytest.mark.parametrize("bounds", [{}, {"max_distance_m": 3, "smaller_than_m": 3}])
def test_one_limit_is_given(bounds: dict[str, float]) -> None:
    site = row_site(4)
    with pytest.raises(ToolError, match="^Give one distance in metres: the inclusive argument or the exclusive one"):
        call(site, "near", roofs(site), call(site, "segment", "water"), **bounds)


def test_a_distance_of_few_pixels_is_a_warning() -> None:
    site = row_site(4)
    call(site, "near", roofs(site), call(site, "segment", "water"), max_distance_m=1.6)
    assert not any("pixels" in sentence for sentence in site.warnings)
    call(site, "near", roofs(site), call(site, "segment", "water"), max_distance_m=1.4)
    assert "1.4 m is less than 3 pixels: at this resolution the answer is mostly raster." in site.warnings


def test_what_lies_beyond_the_edge_is_not_seen() -> None:
    roof, water = np.zeros((60, 80), dtype=bool), np.zeros((60, 80), dtype=bool)
    roof[4:8, 30:34] = roof[30:34, 40:44] = roof[25:28, 60:64] = True
    water[20:24, 60:64] = True
    site = site_on(planar("square"), {"roof": roof, "water": water})
    call(site, "near", roofs(site), call(site, "segment", "water"), max_distance_m=2.4)
    assert not any("not seen" in sentence for sentence in site.warnings)
    call(site, "near", roofs(site), call(site, "segment", "water"), max_distance_m=2.5)
    assert (
        "Of 3 objects (roof), 1 is nearer than 2.5 m to the image's edge or to void: what lies beyond is not seen."
        in site.warnings
    )


def test_what_lies_in_void_is_not_seen() -> None:
    roof, valid = np.zeros((60, 80), dtype=bool), np.ones((60, 80), dtype=bool)
    roof[30:34, 30:34] = True
    valid[28:36, 40:44] = False
    site = site_on(planar("square"), {"roof": roof, "water": ~valid & False}, valid)
    for limit_m, warned in ((3.4, False), (3.5, True)):
        call(site, "near", roofs(site), call(site, "segment", "water"), max_distance_m=limit_m)
        assert any("not seen" in sentence for sentence in site.warnings) == warned


@pytest.mark.parametrize("name", ["square", "not square", "sheared", "geographic"])
def test_a_pixel_more_or_less_brackets_what_is_near(name: str) -> None:
    site = two_classes(GRIDS[name])
    wood, water = masks(site)
    limit_m = 4.2 * max(GRIDS[name].require_ground().size_xy_m)
    woods = call(site, "components", wood)

    def measured(nudge: Nudge) -> tuple[int, int, float]:
        doubted = site.nudged(nudge)
        near = call(doubted, "near", woods, water, max_distance_m=limit_m)
        assert doubted.doubts == {"proximity"}
        return (
            len(near),
            call(doubted, "area_px", call(doubted, "within", wood, water, max_distance_m=limit_m)),
            call(doubted, "distance_statistic_m", woods, water, statistic="mean"),
        )

    low, middle, high = (measured(Nudge(proximity_px=px)) for px in (-1, 0, 1))
    assert low[0] <= middle[0] <= high[0]
    assert low[1] < middle[1] < high[1]
    assert low[2] < middle[2] < high[2]
