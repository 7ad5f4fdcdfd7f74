"""A part of an image gives what the whole gives: values, warnings and doubts, for every tool that says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from hypothesis import given, settings
from hypothesis import strategies as st
from rasterio.features import rasterize
from shapely.geometry import LineString, Point, Polygon, box

from swath.agent.desk import clipped
from swath.agent.execution import surface
from swath.batch.parts import MEASURE_ALIKE, NotYetSegmented, PartOf, Remembered, measures_alike, part_of
from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.raster.reader import Raster
from swath.raster.window import window_of
from swath.segment.aoi import Area
from swath.testing.segment import PaintedBackend
from swath.tools import area, image, masks, proximity, regions
from swath.tools.handles import Mask, Regions
from swath.tools.site import Nudge, Site

SHAPE = (40, 60)
GRIDS = {
    "square": Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), SHAPE, pyproj.CRS(32631)),
    "oblong": Grid(Affine(2.0, 0, 500_000, 0, -0.7, 5_000_000), SHAPE, pyproj.CRS(32631)),
    "turned": Grid(Affine.translation(5e5, 5e6) @ Affine.rotation(30) @ Affine.scale(2, -2), SHAPE, pyproj.CRS(32631)),
    "mercator": Grid(Affine(9_000, 0, 0, 0, -9_000, 8_000_000), SHAPE, pyproj.CRS(3857)),
    "degrees": Grid(Affine(0.05, 0, 10, 0, -0.05, 61), SHAPE, pyproj.CRS(4326)),
    "stated": Grid(Affine(0.05, 0, 10, 0, -0.05, 61), SHAPE, pyproj.CRS(4326), stated_gsd_m=3000.0),
    "bare": Grid(Affine.identity(), SHAPE),
}  # fmt: skip


NUDGES = [Nudge(), Nudge(proximity_px=1, threshold=-1), Nudge(boundary=1, classes=frozenset(["tree"]))]


def painted(seed: int) -> PaintedBackend:
    """Houses and water as pixels, cars as instances, trees and roads as features, some of them across any border."""
    random = np.random.default_rng(seed)
    cars = np.zeros(SHAPE, dtype=np.int32)
    for k in range(1, 40):
        y, x = random.integers(0, SHAPE[0] - 3), random.integers(0, SHAPE[1] - 3)
        cars[y : y + 2, x : x + 3] = k
    corners = random.uniform(0, (SHAPE[1] - 9, SHAPE[0] - 9), (25, 2))
    trees = [box(x, y, x + w, y + h) for (x, y), (w, h) in zip(corners, random.uniform(0.2, 8, (25, 2)), strict=True)]
    roads = [LineString([(x, y), (x + 4, y + 3)]) for x, y in corners] + [Point(x, y) for x, y in corners + 1.3]
    return PaintedBackend(
        SHAPE,
        {
            "house": random.random(SHAPE) < 0.35,
            "water": random.random(SHAPE) < 0.03,
            "grass": random.random(SHAPE).astype(np.float32),
            "car": cars,
            "tree": trees,
            "road": roads,
            "pond": [box(1, 0, 9, 40)],
            "snow": np.zeros(SHAPE, dtype=bool),
        },
        known=random.random(SHAPE) < 0.97,
        warnings=("Painted.",),
    )


def whole_site(grid: Grid, seed: int) -> tuple[Site, Remembered]:
    raster = Raster(Path("image.tif"), "GTiff", grid, (), (), "image.tif")
    backend = Remembered(painted(seed))
    known = backend.known()
    assert known is not None
    return Site(raster, backend, known), backend


def zone(x: float, y: float, width: float, height: float) -> Area:
    """A slanted polygon."""
    drawn = Polygon(
        [(x, y), (x + width, y + height / 4), (x + width * 0.8, y + height), (x + width / 5, y + height * 0.7)]
    )
    inside = rasterize([drawn], out_shape=SHAPE, dtype="uint8") > 0
    rows, cols = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return Area("zone 1", np.ones((1, 1), dtype=bool), 5, 5, 1.0)
    cut = inside[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
    return Area("zone 1", cut, int(rows[0]), int(cols[0]), 1.0)


def found(site: Site, name: str) -> Regions:
    return regions.components(site, masks.segment(site, name))


def few_m(site: Site) -> float:
    """A few pixels in metres, so that it means something on every grid."""
    ground = site.raster.grid.ground
    return 1.0 if ground is None else 3.3 * max(ground.size_xy_m)


def size(site: Site) -> float:
    ground = site.raster.grid.ground
    return 1.0 if ground is None else 2.5 * ground.pixel_area_m2


CALLS: dict[str, Callable[[Site, str], Any]] = {
    "segment": lambda s, c: masks.segment(s, c),
    "union": lambda s, c: masks.union(s, masks.segment(s, c), masks.segment(s, "water")),
    "intersection": lambda s, c: masks.intersection(s, masks.segment(s, c), masks.segment(s, "house")),
    "difference": lambda s, c: masks.difference(s, masks.segment(s, c), masks.segment(s, "water")),
    "complement": lambda s, c: regions.components(s, masks.complement(s, masks.segment(s, c))),
    "whole_image": lambda s, c: masks.whole_image(s),
    "components": lambda s, c: regions.components(s, masks.segment(s, c), connectivity=4),
    "filter_regions": lambda s, c: regions.filter_regions(s, found(s, c), larger_than_m2=size(s)),
    "located_in": lambda s, c: regions.located_in(s, found(s, c), masks.segment(s, "house")),
    "count": lambda s, c: regions.count(s, found(s, c)),
    "largest": lambda s, c: regions.largest(s, found(s, c), n=3),
    "smallest": lambda s, c: regions.smallest(s, found(s, c), n=2),
    "nth_largest": lambda s, c: regions.nth_largest(s, found(s, c), n=2),
    "sort_by_area": lambda s, c: regions.sort_by_area(s, found(s, c)),
    "merge": lambda s, c: regions.merge(s, found(s, c), found(s, "water")),
    "exclude": lambda s, c: regions.exclude(s, found(s, c), regions.largest(s, found(s, c))),
    "common": lambda s, c: regions.common(s, found(s, c), regions.smallest(s, found(s, c))),
    "mask_of": lambda s, c: regions.mask_of(s, regions.largest(s, found(s, c))),
    "each": lambda s, c: regions.each(s, found(s, c)),
    "region_areas_m2": lambda s, c: regions.region_areas_m2(s, found(s, c)),
    "area_statistic_m2": lambda s, c: regions.area_statistic_m2(s, found(s, c), statistic="median"),
    "area_statistic_px": lambda s, c: regions.area_statistic_px(s, found(s, c), statistic="std"),
    "within": lambda s, c: proximity.within(s, masks.segment(s, c), masks.segment(s, "water"), max_distance_m=few_m(s)),
    "beyond": lambda s, c: proximity.beyond(s, masks.segment(s, "house"), masks.segment(s, c), larger_than_m=few_m(s)),
    "near": lambda s, c: proximity.near(s, found(s, c), masks.segment(s, "water"), smaller_than_m=few_m(s)),
    "farther": lambda s, c: proximity.farther(s, found(s, "house"), found(s, c), min_distance_m=few_m(s)),
    "touching": lambda s, c: proximity.touching(s, found(s, c), masks.segment(s, "water")),
    "overlapping": lambda s, c: proximity.overlapping(s, found(s, c), masks.segment(s, "water")),
    "distance_m": lambda s, c: proximity.distance_m(s, masks.segment(s, c), masks.segment(s, "water")),
    "distances_m": lambda s, c: proximity.distances_m(s, found(s, c), masks.segment(s, "water")),
    "distance_statistic_m": lambda s, c: proximity.distance_statistic_m(
        s, found(s, c), found(s, "water"), statistic="max"
    ),
    "nearest": lambda s, c: proximity.nearest(s, found(s, c), masks.segment(s, "water"), n=2),
    "farthest": lambda s, c: proximity.farthest(s, found(s, c), masks.segment(s, "water")),
    "area_m2": lambda s, c: [area.area_m2(s, masks.segment(s, c)), area.area_m2(s, found(s, c))],
    "area_px": lambda s, c: area.area_px(s, found(s, c)),
    "share_percent": lambda s, c: area.share_percent(s, masks.segment(s, c)),
    "perimeter_m": lambda s, c: [area.perimeter_m(s, masks.segment(s, c)), area.perimeter_m(s, found(s, c))],
    "density_per_km2": lambda s, c: area.density_per_km2(s, found(s, c)),
    "fragmentation": lambda s, c: area.fragmentation(s, found(s, c)),
    "shape_statistic": lambda s, c: [
        area.shape_statistic(s, found(s, c), shape=shape, statistic="mean")  # type: ignore[arg-type]
        for shape in ("elongation", "solidity", "compactness", "extent")
    ],
    "solar_power_kw": lambda s, c: area.solar_power_kw(s, masks.segment(s, c)),
    "image_area_m2": lambda s, c: image.image_area_m2(s),
    "pixel_size_m": lambda s, c: image.pixel_size_m(s),
    "band_count": lambda s, c: image.band_count(s),
    "ratio": lambda s, c: surface()["ratio"].call(s, (area.area_px(s, found(s, c)), 3.0), {}),
    "convert": lambda s, c: surface()["convert"].call(
        s, (area.area_m2(s, masks.segment(s, c)),), {"from_unit": "m2", "to_unit": "ha"}
    ),
}  # fmt: skip


def plain(thing: Any) -> Any:
    """What can be compared: sizes for masks and regions, in order."""
    if isinstance(thing, Mask):
        return thing.size_px
    if isinstance(thing, Regions):
        return [len(thing), *thing.column("sizes_px").tolist()]
    if isinstance(thing, list):
        return [number for item in thing for number in np.atleast_1d(plain(item)).tolist()]
    return thing


def outcome(call: Callable[[Site, str], Any], site: Site, class_name: str) -> tuple[Any, ...]:
    try:
        value = plain(call(site, class_name))
    except (Refused, ToolError) as error:
        value = str(error)
    return value, tuple(site.warnings), sorted(site.doubts), sorted(map(sorted, site.measured_classes))


def test_every_tool_that_measures_alike_is_held_to_it() -> None:
    assert set(CALLS) | {"reply"} == MEASURE_ALIKE
    assert set(surface()) >= MEASURE_ALIKE


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 99),
    place=st.tuples(st.integers(0, 40), st.integers(0, 25), st.floats(3, 35), st.floats(3, 30)),
    class_name=st.sampled_from(["house", "grass", "car", "tree", "road", "snow"]),
    nudge=st.sampled_from(NUDGES),
)  # fmt: skip
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())
def test_parts_measure_alike(grid: Grid, seed: int, place: tuple[float, ...], class_name: str, nudge: Nudge) -> None:
    site, backend = whole_site(grid, seed)
    chosen = zone(*place)
    for name in backend.classes()[:-2]:
        backend.segment(name)
    backend.segment("snow")
    part = part_of(site, backend, chosen)
    if part is None or not (chosen.pixels & site.valid[chosen.window]).any():
        return
    for name, call in CALLS.items():
        on_whole = outcome(call, clipped(site, chosen).nudged(nudge), class_name)
        on_part = outcome(call, clipped(*part).nudged(nudge), class_name)
        assert on_part[1:] == on_whole[1:], name
        if isinstance(on_whole[0], str):
            assert on_part[0] == on_whole[0], name
        else:
            assert on_part[0] == pytest.approx(on_whole[0], rel=1e-9, abs=1e-12), name


def test_a_part_is_smaller_and_holds_what_reaches_in_whole() -> None:
    site, backend = whole_site(GRIDS["square"], 1)
    small = Area("zone 1", np.ones((4, 4), dtype=bool), 10, 20, 1.0)
    first = part_of(site, backend, small)
    assert first is not None
    assert first[0].valid.shape == (6, 6)
    assert (first[1].top, first[1].left) == (1, 1)
    backend.segment("pond")
    grown = part_of(site, backend, Area("zone 1", np.ones((4, 4), dtype=bool), 10, 7, 1.0))
    assert grown is not None
    assert grown[0].valid.shape == (
        40,
        12,
    )  # the zone, the pond, and one pixel around both, cut off at the image's border
    assert grown[0].backend.segment("pond").features[0].outline.bounds == (1, 0, 9, 40)  # type: ignore[index]
    beside = part_of(site, backend, small)
    assert beside is not None
    assert beside[0].valid.shape == (6, 6)
    assert beside[0].backend.segment("pond").features == ()


def test_a_part_that_would_be_the_whole_is_none() -> None:
    site, backend = whole_site(GRIDS["square"], 1)
    assert part_of(site, backend, Area("zone 1", np.ones((38, 58), dtype=bool), 1, 1, 1.0)) is None


def test_a_class_that_was_never_asked_for_on_the_whole_is_left_to_it() -> None:
    site, backend = whole_site(GRIDS["square"], 1)
    part = part_of(site, backend, Area("zone 1", np.ones((4, 4), dtype=bool), 10, 20, 1.0))
    assert part is not None
    with pytest.raises(NotYetSegmented):
        part[0].backend.segment("tree")
    backend.segment("tree")
    backend.segment("tree")
    assert backend._backend.asked == ["tree"]  # type: ignore[attr-defined]


def test_programs_that_look_beyond_the_zone_are_left_to_the_whole() -> None:
    site, _ = whole_site(GRIDS["square"], 1)
    count = 'reply(count(components(segment("house"))), kind="count")'
    assert measures_alike(count, site)
    assert not measures_alike('half = image_part(part="north")\n' + count, site)
    assert not measures_alike(
        'reply(orientation_deg(largest(components(segment("car")))), kind="quantity", unit="deg")', site
    )
    assert not measures_alike('reply(image_size_px(axis="width"), kind="quantity", unit="px")', site)
    sheared, _ = whole_site(Grid(Affine(1, 0.5, 500_000, 0, -1, 5_000_000), SHAPE, pyproj.CRS(32631)), 1)
    assert not measures_alike(count, sheared)
    bare, _ = whole_site(GRIDS["bare"], 1)
    assert measures_alike(count, bare)


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())
def test_a_window_has_the_ground_of_the_whole(grid: Grid) -> None:
    window = window_of(grid, slice(7, 23), slice(11, 31))
    assert (window.shape, window.north, window.why_no_ground) == ((16, 20), grid.north, grid.why_no_ground)
    assert window.stated_clash == grid.stated_clash
    whole, part = grid.ground, window.ground
    if whole is None or part is None:
        assert whole is part is None
        return
    assert (part.size_xy_m, part.method, part.uniform) == (whole.size_xy_m, whole.method, whole.uniform)
    areas = np.broadcast_to(whole.area_m2(slice(0, 40)), SHAPE)[9:12, 11:31]
    assert np.array_equal(np.broadcast_to(part.area_m2(slice(2, 5)), (3, 20)), areas)
    rows, cols = np.array([0.0, 3.5, 15.0]), np.array([0.0, 19.0, 4.25])
    assert np.array_equal(part.positions_m(rows, cols), whole.positions_m(rows + 7, cols + 11))


def test_a_ground_size_that_is_stated_later_is_that_of_the_whole() -> None:
    from dataclasses import replace

    grid = GRIDS["degrees"]
    window = replace(window_of(grid, slice(7, 23), slice(11, 31)), stated_gsd_m=3000.0)
    assert window.require_ground().size_xy_m == GRIDS["stated"].require_ground().size_xy_m


def test_what_a_part_s_source_says_of_itself() -> None:
    _, backend = whole_site(GRIDS["square"], 1)
    part = PartOf(backend, Area("z", np.ones((2, 2), dtype=bool), 3, 3, 1.0), slice(2, 6), slice(2, 6))
    assert (part.name, part.classes(), part.describe()) == (backend.name, backend.classes(), backend.describe())
    known, whole = part.known(), backend.known()
    assert known is not None and whole is not None
    assert np.array_equal(known, whole[2:6, 2:6])
