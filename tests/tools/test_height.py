"""Heights above ground: every statistic against brute force, ranks, filters, differences, volumes, doubts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from heighted_sites import heighted
from measured_sites import SHAPE, blobs, call, geographic, planar, site_on
from numpy.typing import NDArray

from swath.errors import Refused, ToolError
from swath.tools.cells import named, statistic_by_owner
from swath.tools.handles import Regions
from swath.tools.site import Nudge, Site

RNG = np.random.default_rng(5)
HEIGHTS = RNG.gamma(2, 4, SHAPE)
HEIGHTS[RNG.random(SHAPE) < 0.05] = np.nan
BRUTE = {
    "mean": np.mean, "median": np.median, "min": np.min, "max": np.max, "std": np.std,
    "percentile": lambda cells: np.percentile(cells, 80),
}  # fmt: skip


@pytest.fixture
def site() -> Site:
    return heighted(planar("square"), {"building": blobs(seed=3)}, ndsm=HEIGHTS)


@pytest.fixture
def built(site: Site) -> Regions:
    regions: Regions = call(site, "components", call(site, "segment", "building"))
    return regions


def cells_of(site: Site, region: Regions) -> NDArray[np.float64]:
    cells = HEIGHTS[call(site, "mask_of", region).pixels]
    return cells[np.isfinite(cells)]


@pytest.mark.parametrize("statistic", BRUTE)
def test_statistics_of_regions_and_of_all_cells(site: Site, built: Regions, statistic: str) -> None:
    how = {"statistic": statistic, "percent": 80.0}
    wanted = [float(BRUTE[statistic](cells)) for one in call(site, "each", built) if len(cells := cells_of(site, one))]
    assert call(site, "region_heights_m", built, **how) == pytest.approx(wanted)
    together = float(BRUTE[statistic](cells_of(site, built)))
    assert call(site, "height_statistic_m", built, **how) == pytest.approx(together)
    assert call(site, "height_statistic_m", call(site, "segment", "building"), **how) == pytest.approx(together)
    for among in ("mean", "median", "min", "max", "std", "sum"):
        found = call(site, "region_height_statistic_m", built, among=among, **how)
        assert found == pytest.approx(float(getattr(np, among)(wanted)))


def test_the_95th_percentile_is_the_height_and_is_named(site: Site, built: Regions) -> None:
    assert call(site, "height_statistic_m", built) == pytest.approx(float(np.percentile(cells_of(site, built), 95)))
    assert "The height is the 95th percentile (p95) of the cells." in site.warnings
    call(site, "tallest", built)
    assert "The height of an object is the 95th percentile (p95) of its cells." in site.warnings
    assert "Heights are above ground, from nDSM ndsm.tif." in site.warnings
    call(site, "height_statistic_m", built, statistic="median")
    assert "The height is the median of the cells." in site.warnings


@pytest.mark.parametrize(("percent", "name"), [(95, "95th"), (1, "1st"), (22, "22nd"), (83, "83rd"), (11, "11th"),
                                               (99.5, "99.5th")])  # fmt: skip
def test_percentiles_are_named_as_people_do(percent: float, name: str) -> None:
    assert named("percentile", percent) == f"{name} percentile (p{percent:g})"


def test_a_percentile_above_100_is_a_hint(site: Site, built: Regions) -> None:
    with pytest.raises(ToolError, match=r"percent is a share of the cells from 0 to 100, not 101\."):
        call(site, "height_statistic_m", built, percent=101.0)


def test_ranks_go_by_height(site: Site, built: Regions) -> None:
    heights = np.array(call(site, "region_heights_m", built, statistic="max"))
    order = np.argsort(-heights, kind="stable")
    measured = built.take(np.flatnonzero([len(cells_of(site, one)) > 0 for one in call(site, "each", built)]), "m")
    for found, wanted in (
        (call(site, "tallest", built, n=3, statistic="max"), order[:3]),
        (call(site, "nth_tallest", built, n=2, statistic="max"), order[1:2]),
        (call(site, "sort_by_height", built, statistic="max"), order),
        (call(site, "lowest", built, n=2, statistic="max"), np.argsort(heights, kind="stable")[:2]),
    ):
        np.testing.assert_array_equal(found.indices, measured.indices[wanted])
    assert len(call(site, "nth_tallest", built, n=len(built) + 1)) == 0
    assert call(site, "tallest", built).name == "tallest building"


def test_bounds_are_exclusive_or_inclusive() -> None:
    boxes = np.zeros(SHAPE, dtype=bool)
    heights = np.zeros(SHAPE)
    for k, height in enumerate((5.0, 10.0, 15.0)):
        boxes[5:10, 10 * k : 10 * k + 5] = True
        heights[5:10, 10 * k : 10 * k + 5] = height
    site = heighted(planar("square"), {"building": boxes}, ndsm=heights)
    built = call(site, "components", call(site, "segment", "building"))
    for bounds, count in (({"larger_than_m": 10.0}, 1), ({"min_m": 10.0}, 2), ({"smaller_than_m": 10.0}, 1),
                          ({"max_m": 10.0}, 2), ({"min_m": 5.0, "smaller_than_m": 15.0}, 2)):  # fmt: skip
        assert len(call(site, "with_height", built, **bounds)) == count
        assert call(site, "height_mask", **bounds).size_px >= 25 * count
    assert call(site, "with_height", built, larger_than_m=7.0).name == "building taller than 7 m"
    assert call(site, "height_mask", larger_than_m=5.0).size_px == 50
    assert call(site, "height_mask", min_m=5.0).size_px == 75


def test_a_mask_never_holds_a_gap_or_an_invalid_pixel() -> None:
    valid = blobs(seed=8, share=0.8)
    site = heighted(planar("square"), {}, ndsm=HEIGHTS, valid=valid)
    with np.errstate(invalid="ignore"):
        wanted = valid & (HEIGHTS > 6)
    np.testing.assert_array_equal(call(site, "height_mask", larger_than_m=6.0).pixels, wanted)
    everything = call(site, "height_mask", min_m=0.0)
    np.testing.assert_array_equal(everything.pixels, valid & np.isfinite(HEIGHTS))


def test_shares_and_opposites_leave_out_what_is_unknown() -> None:
    valid, forest = blobs(seed=8, share=0.8), blobs(seed=3)
    heights = np.where(blobs(seed=5, share=0.3), np.nan, HEIGHTS)
    site = heighted(planar("square"), {"forest": forest}, ndsm=heights, valid=valid)
    woods, high = call(site, "segment", "forest"), call(site, "height_mask", larger_than_m=6.0)
    known, plants = valid & np.isfinite(heights), valid & forest
    with np.errstate(invalid="ignore"):
        above = known & (heights > 6)
    low, low_woods = call(site, "complement", high), call(site, "difference", woods, high)
    np.testing.assert_array_equal(low.pixels, known & ~above)
    np.testing.assert_array_equal(low_woods.pixels, plants & known & ~above)
    share = 100 * np.count_nonzero(above) / np.count_nonzero(known)
    assert call(site, "share_percent", high) == pytest.approx(share)
    assert call(site, "share_percent", call(site, "components", high)) == pytest.approx(share)
    assert call(site, "share_percent", low) == pytest.approx(100 - share)
    within = 100 * np.count_nonzero(plants & above) / np.count_nonzero(plants & known)
    both = call(site, "intersection", woods, high)
    assert call(site, "share_percent", both, of=woods) == pytest.approx(within)
    assert call(site, "share_percent", high, of=woods) == pytest.approx(within)
    missing = 100 * np.count_nonzero(plants & ~known) / np.count_nonzero(plants)
    assert f"forest: {missing:.2g} % of the pixels have no known height; the others count." in site.warnings
    assert call(site, "area_px", low) == np.count_nonzero(known & ~above)
    missing = 100 * np.count_nonzero(valid & ~known) / np.count_nonzero(valid)
    assert f"the image: {missing:.2g} % of the pixels have no known height and are left out." in site.warnings
    either = call(site, "union", woods, high)
    counted = 100 * np.count_nonzero((plants | above) & known) / np.count_nonzero(known)
    assert call(site, "share_percent", either) == pytest.approx(counted)


def test_a_share_of_unknown_heights_alone_is_refused() -> None:
    heights = np.where(blobs(seed=3), np.nan, HEIGHTS)
    site = heighted(planar("square"), {"forest": blobs(seed=3)}, ndsm=heights)
    woods = call(site, "segment", "forest")
    with pytest.raises(Refused, match=r"No pixel of forest has a known height\. Next: give heights that cover it\."):
        call(site, "share_percent", call(site, "height_mask", min_m=3.0), of=woods)


def test_differences_have_a_sign(site: Site, built: Regions) -> None:
    tall, low = call(site, "tallest", built), call(site, "lowest", built)
    apart = call(site, "height_statistic_m", tall) - call(site, "height_statistic_m", low)
    assert call(site, "height_difference_m", tall, low) == pytest.approx(apart)
    assert call(site, "height_difference_m", low, tall) == pytest.approx(-apart)


@pytest.mark.parametrize(
    "grid", [planar("square"), planar("sheared"), geographic()], ids=["square", "sheared", "round"]
)
def test_volume_is_height_times_true_area(grid: Any) -> None:
    mask = blobs(seed=4)
    site = heighted(grid, {"heap": mask}, ndsm=HEIGHTS - 3)
    areas = np.broadcast_to(grid.ground.area_m2(slice(0, SHAPE[0])), SHAPE)
    wanted = np.nansum(((HEIGHTS - 3) * areas)[mask])
    assert call(site, "volume_m3", call(site, "segment", "heap")) == pytest.approx(wanted)


def test_dsm_minus_dtm_is_the_height() -> None:
    ground = np.linspace(100, 140, SHAPE[1])[None, :] + np.zeros(SHAPE)
    site = heighted(planar("square"), {"building": blobs(seed=3)}, dsm=ground + HEIGHTS, dtm=ground)
    other = heighted(planar("square"), {"building": blobs(seed=3)}, ndsm=HEIGHTS)
    assert call(site, "height_statistic_m", call(site, "segment", "building")) == pytest.approx(
        call(other, "height_statistic_m", call(other, "segment", "building"))
    )
    assert "Heights are above ground, from DSM dsm.tif - DTM dtm.tif." in site.warnings


def test_without_heights_the_refusal_names_the_options(site: Site) -> None:
    bare = site_on(planar("square"), {"building": blobs()})
    mask = call(bare, "segment", "building")
    for tool, args in (("height_statistic_m", (mask,)), ("volume_m3", (mask,)), ("height_mask", ()),
                       ("tallest", (call(bare, "components", mask),))):  # fmt: skip
        with pytest.raises(Refused) as refused:
            call(bare, tool, *args)
        assert str(refused.value) == (
            "Heights cannot be measured: no raster of heights is given. "
            "Next: give --ndsm FILE, or --dsm FILE and --dtm FILE."
        )


def test_gaps_are_said_and_what_is_all_gap_is_left_out() -> None:
    boxes, heights = np.zeros(SHAPE, dtype=bool), np.full(SHAPE, 4.0)
    boxes[5:10, 0:10] = boxes[5:10, 20:30] = boxes[5:10, 40:50] = True
    heights[5:10, 0:10] = np.nan
    heights[5:10, 20:25] = np.nan
    site = heighted(planar("square"), {"building": boxes}, ndsm=heights)
    built = call(site, "components", call(site, "segment", "building"))
    assert call(site, "region_heights_m", built) == [4.0, 4.0]
    assert "1 of 3 building have no known height and were left out." in site.warnings
    assert call(site, "height_statistic_m", built, statistic="mean") == 4.0
    assert "building: 50 % of the pixels have no known height; the others count." in site.warnings
    first = call(site, "each", built)[0]
    for tool in ("tallest", "height_statistic_m"):
        with pytest.raises(
            Refused, match=r"No pixel of building number 1 has a known height\. Next: give heights that"
        ):
            call(site, tool, first)
    none = call(site, "filter_regions", built, larger_than_m2=1e9)
    assert len(call(site, "tallest", none)) == 0
    with pytest.raises(Refused, match="There are no building larger than 1e"):
        call(site, "height_statistic_m", none)


def low_high(site: Site, tool: str, *args: Any, **how: Any) -> tuple[float, float]:
    low, high = (call(site.nudged(Nudge(height=end)), tool, *args, **how) for end in (-1, 1))
    return low, high


def test_a_stated_accuracy_is_the_doubt_of_every_height() -> None:
    site = heighted(planar("square"), {"building": blobs(seed=3)}, accuracy_m=0.5, ndsm=HEIGHTS)
    mask = call(site, "segment", "building")
    value = call(site, "height_statistic_m", mask)
    assert site.doubts >= {"vertical accuracy"}
    assert "sampling" not in site.doubts
    assert low_high(site, "height_statistic_m", mask) == pytest.approx((value - 0.5, value + 0.5))
    built = call(site, "components", mask)
    a, b = call(site, "tallest", built), call(site, "lowest", built)
    apart = call(site, "height_difference_m", a, b)
    assert low_high(site, "height_difference_m", a, b) == pytest.approx((apart - 1, apart + 1))
    spread = call(site, "height_statistic_m", mask, statistic="std")
    assert low_high(site, "height_statistic_m", mask, statistic="std") == pytest.approx((spread, spread))
    lower, upper = (call(site.nudged(Nudge(height=end)), "height_mask", larger_than_m=6.0) for end in (-1, 1))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(lower.pixels, HEIGHTS > 6.5)
        np.testing.assert_array_equal(upper.pixels, HEIGHTS > 5.5)


def test_otherwise_the_doubt_is_the_sampling_of_the_cells(site: Site) -> None:
    mask = call(site, "segment", "building")
    cells = cells_of(site, call(site, "components", mask))
    call(site, "height_statistic_m", mask)
    assert "sampling" in site.doubts
    error = 1.96 * cells.std(ddof=1) / np.sqrt(len(cells))
    mean = low_high(site, "height_statistic_m", mask, statistic="mean")
    assert mean == pytest.approx((cells.mean() - error, cells.mean() + error))
    ordered = np.sort(cells)
    middle, step = (len(cells) - 1) / 2, 1.96 * np.sqrt(len(cells) / 4)
    ranks = np.interp([middle - step, middle + step], np.arange(len(cells)), ordered)
    assert low_high(site, "height_statistic_m", mask, statistic="median") == pytest.approx(tuple(ranks))
    highest = low_high(site, "height_statistic_m", mask, statistic="max")
    assert highest == pytest.approx((ordered[-2], ordered[-1]))


@pytest.mark.parametrize(("statistic", "percent"), [("mean", 0.0), ("median", 0.0), ("percentile", 90.0)])
def test_sampling_intervals_hold_the_truth_as_often_as_they_say(statistic: Any, percent: float) -> None:
    """2,000 samples of 60 cells from a known distribution: 95 % of the intervals should hold its true value."""
    truth = {"mean": 2.0, "median": 1.6783469900166605, "percentile": 3.8897201698674293}[statistic]  # gamma(2, 1)
    cells = np.random.default_rng(0).gamma(2, 1, 2000 * 60)
    owner = np.repeat(np.arange(2000), 60)
    low, high = (statistic_by_owner(cells, owner, 2000, statistic, percent, end) for end in (-1, 1))
    assert 0.92 <= np.mean((low <= truth) & (truth <= high)) <= 0.98
