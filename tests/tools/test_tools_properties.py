"""What holds for any image: turning and mirroring it, scaling its pixels, moving thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from affine import Affine
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measured_sites import call, site_on

from swath.raster.grid import Grid
from swath.tools.site import Nudge, Site

CLASSES = arrays(np.uint8, st.tuples(st.integers(1, 16), st.integers(1, 16)), elements=st.integers(0, 3))
"""0 void, 1 roof, 2 water, 3 neither."""

TURNS: dict[str, Callable[[Any], Any]] = {
    "transposed": np.transpose,
    "flipped": np.flipud,
    "mirrored": np.fliplr,
    "turned": np.rot90,
}


def site_of(classes: Any, pixel_m: float = 0.5) -> Site:
    grid = Grid(Affine.identity(), classes.shape, None, stated_gsd_m=pixel_m)
    return site_on(grid, {"roof": classes == 1, "water": classes == 2}, classes > 0)


def measured(site: Site, *, limit_m: float = 2.0, min_m2: float = 0.8) -> dict[str, Any]:
    roof, water = call(site, "segment", "roof"), call(site, "segment", "water")
    roofs = call(site, "components", roof)
    absent = not (roof.size_px and water.size_px)
    return {
        "count": len(roofs),
        "large": len(call(site, "components", roof, min_m2=min_m2)),
        "areas": sorted(call(site, "region_areas_m2", roofs)),
        "share": call(site, "share_percent", roof) if site.valid.any() else None,
        "perimeter": call(site, "perimeter_m", roof),
        "perimeters": sorted(np.round(roofs.column("outlines_m"), 9).tolist()),
        "near": len(call(site, "near", roofs, water, max_distance_m=limit_m)),
        "near area": call(site, "area_m2", call(site, "within", roof, water, max_distance_m=limit_m)),
        "touching": len(call(site, "touching", roofs, water)),
        "distance": None if absent else call(site, "distance_m", roof, water),
        "distances": None if absent else sorted(call(site, "distances_m", roofs, water)),
        "solid": sorted(np.round(roofs.column("compactness"), 9).tolist()),
    }


def agree(a: dict[str, Any], b: dict[str, Any]) -> None:
    for name, value in a.items():
        expected = value if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
        assert b[name] == expected, name


@settings(max_examples=60)
@given(classes=CLASSES, turn=st.sampled_from(sorted(TURNS)))
def test_measurements_do_not_depend_on_how_the_image_lies(classes: Any, turn: str) -> None:
    agree(measured(site_of(classes)), measured(site_of(np.ascontiguousarray(TURNS[turn](classes)))))


@settings(max_examples=40)
@given(classes=CLASSES, margin=st.integers(1, 5))
def test_void_around_the_image_changes_nothing(classes: Any, margin: int) -> None:
    inside, framed = measured(site_of(classes)), measured(site_of(np.pad(classes, margin)))
    agree(inside, framed)


@settings(max_examples=40)
@given(classes=CLASSES, factor=st.sampled_from([0.1, 0.3, 2.0, 7.0, 1000.0]))
def test_areas_scale_by_the_square_of_the_pixel_size_and_lengths_by_it(classes: Any, factor: float) -> None:
    plain = measured(site_of(classes))
    scaled = measured(site_of(classes, 0.5 * factor), limit_m=2.0 * factor, min_m2=0.8 * factor**2)
    power = {"areas": 2, "near area": 2, "perimeter": 1, "perimeters": 1, "distance": 1, "distances": 1}
    for name, value in plain.items():
        expected = value if value is None else np.asarray(value) * factor ** power.get(name, 0)
        if value is None:
            assert scaled[name] is None
        else:
            assert np.allclose(scaled[name], expected, rtol=1e-8, atol=1e-8 * factor), name


@settings(max_examples=40)
@given(classes=CLASSES, order=st.permutations([1, 2, 3]))
def test_numbers_of_instances_mean_nothing(classes: Any, order: list[int]) -> None:
    renumbered = np.array([0, *(7 * value for value in order)], dtype=np.int32)[classes]
    results = []
    for ids in (classes.astype(np.int32), renumbered):
        grid = Grid(Affine.identity(), classes.shape, None, stated_gsd_m=0.5)
        site = site_on(grid, {"roof": ids})
        found = call(site, "components", call(site, "segment", "roof"))
        results.append((len(found), sorted(call(site, "region_areas_m2", found)),
                        sorted(np.round(found.column("outlines_m"), 9).tolist())))  # fmt: skip
    assert results[0] == results[1]


@settings(max_examples=40)
@given(classes=CLASSES, bounds=st.tuples(st.floats(0, 30), st.floats(0, 30)).map(sorted))
def test_a_larger_bound_keeps_fewer_and_a_larger_distance_more(classes: Any, bounds: list[float]) -> None:
    site, (low, high) = site_of(classes), bounds
    roof, water = call(site, "segment", "roof"), call(site, "segment", "water")
    roofs = call(site, "components", roof)

    def members(name: str, *args: Any, **kwargs: Any) -> set[int]:
        return set(call(site, name, *args, **kwargs).indices.tolist())

    assert members("components", roof, larger_than_m2=high) <= members("components", roof, larger_than_m2=low)
    assert members("components", roof, larger_than_m2=low) <= members("components", roof, min_m2=low)
    assert members("near", roofs, water, max_distance_m=low) <= members("near", roofs, water, max_distance_m=high)
    assert members("near", roofs, water, smaller_than_m=low) <= members("near", roofs, water, max_distance_m=low)
    assert members("near", roofs, water, max_distance_m=low).isdisjoint(
        members("farther", roofs, water, larger_than_m=low)
    )
    wide = call(site, "within", roof, water, max_distance_m=high).pixels
    assert (wide | ~call(site, "within", roof, water, max_distance_m=low).pixels).all()


@settings(max_examples=40)
@given(classes=CLASSES, doubt=st.sampled_from(["boundary", "proximity_px", "outline"]))
def test_every_doubt_brackets_the_measurement(classes: Any, doubt: str) -> None:
    site = site_of(classes)
    if not site.valid.any():
        return
    ends = {}
    for way in (-1, 0, 1):
        nudge = Nudge(classes=frozenset({"roof"}), **{doubt: way}) if way else Nudge()
        ends[way] = measured(site.nudged(nudge))
    for name in ("large", "share", "perimeter", "near", "near area"):
        assert ends[-1][name] <= ends[0][name] <= ends[1][name], name


@settings(max_examples=60)
@given(classes=CLASSES)
def test_parts_of_the_image_add_up(classes: Any) -> None:
    site = site_of(classes)
    roof, water = call(site, "segment", "roof"), call(site, "segment", "water")
    assert roof.size_px + water.size_px + (classes == 3).sum() == site.valid.sum()
    for first, second in (("top", "bottom"), ("left", "right"), ("north", "south"), ("west", "east")):
        halves = [call(site, "area_m2", call(site, "intersection", roof, call(site, "image_part", part=part)))
                  for part in (first, second)]  # fmt: skip
        assert sum(halves) == pytest.approx(call(site, "area_m2", roof))
    roofs = call(site, "components", roof)
    assert call(site, "area_m2", roofs) == pytest.approx(call(site, "area_m2", roof))
    assert sum(roofs.column("sizes_px")) == roof.size_px
    assert call(site, "perimeter_m", roofs) == pytest.approx(call(site, "perimeter_m", roof))
