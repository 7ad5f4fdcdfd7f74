"""Every tool of masks, regions, proximity and area gives in tiles what it gives on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from measured_sites import AFFINES, ROUND_GRIDS, SHAPE, blobs, call, planar, site_on
from tiled_sites import PICTURES, TILES, as_array, tiled_site

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.raster.stretches import Stretches
from swath.raster.tiled import TiledPixels
from swath.tools import discs
from swath.tools.handles import Mask, Regions
from swath.tools.registry import make_tool, tool, tools
from swath.tools.site import Nudge, Site

GRIDS: Mapping[str, Callable[[], Grid]] = {
    **{name: lambda name=name: planar(name) for name in AFFINES},
    **ROUND_GRIDS,
}

FAMILIES = ("masks", "regions", "proximity", "area")


def told(value: Any) -> Any:
    """What can be compared of a tool's result."""
    if isinstance(value, Mask):
        return np.asarray(as_array(value.pixels)), value.size_px, value.name
    if isinstance(value, Regions):
        return value.column("sizes_px"), value.column("boxes"), value.column("centroids_yx"), value.name
    if isinstance(value, list):
        return [told(item) for item in value]
    return value


def answers(site: Site) -> dict[str, Any]:
    """One call, or several, of every tool of the families, by name."""
    found: dict[str, Any] = {}

    def ask(key: str, *args: Any, **kwargs: Any) -> Any:
        try:
            found[f"{key} {sorted(kwargs.items())}"] = value = call(site, key, *args, **kwargs)
        except (Refused, ToolError) as why:
            found[f"{key} {sorted(kwargs.items())}"] = str(why)
            return None
        return value

    a, b = ask("segment", "a"), call(site, "segment", "b")
    side = max(site.raster.grid.require_ground().size_xy_m)
    ask("union", a, b)
    ask("intersection", a, b)
    ask("difference", a, b)
    ask("complement", a)
    ask("whole_image")
    half = ask("image_part", part="north-west")
    every = ask("components", a)
    four = ask("components", a, connectivity=4)
    some = ask("components", a, min_px=3, max_px=400)
    large = ask("components", b, larger_than_m2=2 * side**2, smaller_than_m2=300 * side**2)
    ask("filter_regions", every, larger_than_px=2)
    ask("count", every)
    ask("largest", every, n=3)
    ask("smallest", every, n=3)
    ask("nth_largest", every, n=2)
    ask("sort_by_area", some)
    ask("located_in", every, half)
    merged = ask("merge", some, large)
    ask("exclude", every, some)
    ask("common", every, some)
    ask("mask_of", merged)
    ask("each", ask("largest", some, n=4))
    ask("region_areas_m2", merged)
    for statistic in ("mean", "median", "sum", "std"):
        ask("area_statistic_m2", every, statistic=statistic)
        ask("area_statistic_px", four, statistic=statistic)
    for pixels in (0.5, 1.0, 3.7, 12.0, 1000.0):
        ask("within", a, b, max_distance_m=pixels * side)
        ask("beyond", a, large, larger_than_m=pixels * side)
        ask("near", every, b, smaller_than_m=pixels * side)
        ask("farther", large, a, min_distance_m=pixels * side)
    ask("touching", every, b)
    ask("overlapping", every, large)
    ask("distance_m", some, b)
    ask("distance_m", a, large)
    ask("distances_m", every, b)
    ask("distance_statistic_m", large, a, statistic="median")
    ask("neighbour_distance_statistic_m", large, statistic="mean")
    ask("image_part", part="left-third")
    ask("nearest", every, b, n=1)
    ask("farthest", every, b, n=1)
    ask("area_m2", a)
    ask("area_m2", some)
    ask("area_px", merged)
    ask("share_percent", a)
    ask("share_percent", some, of=b)
    ask("perimeter_m", a)
    ask("perimeter_m", some)
    ask("density_per_km2", every, of=b)
    ask("fragmentation", every)
    ask("orientation_deg", ask("largest", every, n=1))
    for shape in ("elongation", "solidity", "compactness", "extent"):
        ask("shape_statistic", some, shape=shape, statistic="mean")
    ask("solar_power_kw", a)
    ask("ratio", 1.0, 2.0)
    ask("convert", 1.0, from_unit="m", to_unit="ft")
    found["warnings"] = list(site.warnings)
    found["doubts"] = sorted(site.doubts)
    return {key: told(value) for key, value in found.items()}


def same(one: Any, other: Any) -> bool:
    """Equal, floats to a relative 1e-6: distances of pixels that are not square are float32 on arrays."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype.kind == "f":
            return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True))
        return bool(np.array_equal(one, other))
    if isinstance(one, float):
        return one == pytest.approx(other, rel=1e-6, abs=1e-6, nan_ok=True)
    return bool(one == other)


def test_every_tool_of_the_families_is_asked() -> None:
    asked = {key.split(" ")[0] for key in answers(site_on(planar("square"), {"a": blobs(), "b": blobs(seed=1)}))}
    families = {f"swath.tools.{family}" for family in FAMILIES}
    expected = {name for name, tool in tools().items() if tool.function.__module__ in families}
    assert expected - asked == set()


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a failing example says enough; making it smaller takes long
)
@given(
    grid=st.sampled_from(sorted(GRIDS)),
    pictures=st.tuples(st.sampled_from(sorted(PICTURES)), st.sampled_from(sorted(PICTURES))),
    seed=st.integers(0, 1000),
    tiles=st.sampled_from(TILES),
    void=st.booleans(),
    runs=st.booleans(),
    nudge=st.sampled_from(
        [
            Nudge(),
            Nudge(boundary=1, classes=frozenset("a")),
            Nudge(boundary=-1, classes=frozenset("b")),
            Nudge(proximity_px=1),
            Nudge(proximity_px=-1),
            Nudge(outline=1),
        ]
    ),
)
def test_in_tiles_as_on_arrays(
    grid: str, pictures: tuple[str, str], seed: int, tiles: tuple[int, int], void: bool, runs: bool, nudge: Nudge
) -> None:
    paintings = {
        name: PICTURES[picture](SHAPE, seed + k) for k, (name, picture) in enumerate(zip("ab", pictures, strict=True))
    }
    valid = ~blobs(SHAPE, share=0.1, seed=seed + 5) if void else np.ones(SHAPE, dtype=bool)
    whole = site_on(GRIDS[grid](), paintings, valid).nudged(nudge)
    one, other = answers(whole), answers(tiled_site(whole, tiles, runs=runs))
    assert one.keys() == other.keys()
    different = {key: (one[key], other[key]) for key in one if not same(one[key], other[key])}
    assert not different


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_large_square_limit_is_one_distance_transform_or_a_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = site_on(planar("square"), {"a": PICTURES[name](SHAPE, 3), "b": blobs(seed=9)})
    one = answers(whole)
    for reach, drawn in ((1, 0.5), (2000, 0.0)):
        monkeypatch.setattr("swath.tools.distances.MOST_REACH_PX", reach)
        monkeypatch.setattr("swath.tools.distances.DRAWN_PER_PX", drawn)
        other = answers(tiled_site(whole, (16, 16)))
        assert {key: (one[key], other[key]) for key in one if not same(one[key], other[key])} == {}


@pytest.mark.parametrize("name", sorted(PICTURES))
@pytest.mark.parametrize("drawn", [0, 2**20])
def test_runs_are_reached_as_pixels_are(name: str, drawn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swath.tools.discs.RUNS_DRAWN", drawn)
    for grid in ("square", "not square"):
        whole = site_on(planar(grid), {"a": blobs(seed=9), "b": PICTURES[name](SHAPE, 3)})
        for tiles in TILES:
            parts = tiled_site(whole, tiles, runs=True)
            for limit in (0.0, 1.0, 2.5, 7.0, 40.0, 500.0):
                one, other = (
                    call(site, "near", call(site, "components", call(site, "segment", "a")),
                         call(site, "segment", "b"), max_distance_m=limit)
                    for site in (whole, parts)
                )  # fmt: skip
                assert np.array_equal(one.column("boxes"), other.column("boxes")), (grid, tiles, limit)


def test_more_runs_than_are_drawn_are_not_even_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_for: list[int] = []
    drawn = discs.run_strokes_of
    monkeypatch.setattr(discs, "run_strokes_of", lambda *given: sorted_for.append(1) or drawn(*given))
    near = discs.disc(0.0, planar("square").ground, 9)
    for runs, reached in ((3, True), (4, False)):
        monkeypatch.setattr(discs, "RUNS_DRAWN", 3)
        start = 5 * np.arange(runs)
        found = discs.reach_of(Stretches(start, start + 1), near, slice(0, 4), 5)
        assert (found is not None) == reached
    assert len(sorted_for) == 1


@tool(measures=True)
def next_cell(site: Site, mask: Mask) -> int:
    """A tool that somebody wrote for arrays."""
    return int(np.argmax(mask.pixels))


def test_a_tool_that_needs_the_whole_image_says_so() -> None:
    site = tiled_site(site_on(planar("square"), {"a": blobs()}), (7, 11))
    with pytest.raises(Refused, match=r"^next_cell cannot be measured here: an image of 60 x 80 pixels is"):
        make_tool(next_cell).call(site, (call(site, "segment", "a"),), {})


def test_masks_stay_in_tiles() -> None:
    site = tiled_site(site_on(planar("square"), {"a": blobs(), "b": blobs(seed=1)}), (7, 11))
    a, b = call(site, "segment", "a"), call(site, "segment", "b")
    near = call(site, "within", call(site, "complement", a), b, max_distance_m=2)
    assert isinstance(near.pixels, TiledPixels)
    with pytest.raises(Refused, match="needs all of them at once"):
        np.count_nonzero(near.pixels)
