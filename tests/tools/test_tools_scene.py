"""Scenes by shares that were painted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import shapely
from measured_sites import call, geographic, planar, site_on

from swath.errors import Refused
from swath.tools.site import Site

SHAPE = (60, 80)


def stripes(**percent: float) -> Site:
    """A site of vertical stripes of the named classes, "_" for no class; of a width that is a share of 100 columns."""
    shape = (20, 100)
    paintings: dict[str, Any] = {}
    start = 0
    for name, width in percent.items():
        stripe = np.zeros(shape, dtype=bool)
        stripe[:, start : start + int(width)] = True
        start += int(width)
        if name != "_":
            paintings[name.replace("_", " ")] = stripe
    return site_on(planar("square", shape), paintings)


@pytest.mark.parametrize(
    ("percent", "word"),
    [
        ({"building": 20, "road": 10, "tree": 70}, "urban"),
        ({"building": 20, "road": 9, "tree": 71}, "rural"),
        ({"house": 5, "parking_lot": 26, "_": 69}, "urban"),
        ({"tree": 60, "water": 15, "building": 3, "_": 22}, "rural"),
    ],
)
def test_urban_begins_at_thirty_percent_built_up(percent: dict[str, float], word: str) -> None:
    assert call(stripes(**percent), "rural_or_urban") == word


def test_the_rule_and_its_numbers_are_said() -> None:
    site = stripes(building=20, road=9, tree=71)
    call(site, "rural_or_urban")
    assert list(site.warnings) == [
        "Urban from 30 % built-up surfaces on (IGBP): 29.0 % are built-up, 0.0 % are of no class that tells."
    ]


def test_area_of_no_class_may_leave_it_open() -> None:
    with pytest.raises(Refused) as why:
        call(stripes(building=20, tree=60, _=20), "rural_or_urban")
    assert str(why.value) == (
        "Whether this is rural or urban cannot be told: 20.0 % of the image are built-up, and 20.0 % are of no class "
        "that tells, while 30 % decide. Next: give classes that cover the image, with --labels."
    )


def test_the_main_scene_is_the_largest_cover_of_several_classes() -> None:
    site = stripes(river=25, lake=20, cropland=40, building=10, _=5)
    assert call(site, "main_scene") == "water"
    assert list(site.warnings) == [
        "The main scene is the land cover with the largest share: water 45.0 %, agricultural land 40.0 %, urban or "
        "built-up land 10.0 %; of no class 5.0 %."
    ]


def test_the_main_scene_is_refused_where_more_is_unknown() -> None:
    with pytest.raises(Refused) as why:
        call(stripes(forest=30, _=70), "main_scene")
    assert str(why.value) == (
        "The main scene cannot be told: 70.0 % of the image are of no class of land cover, more than of any "
        "(forest 30.0 %). Next: give classes that cover the image, with --labels."
    )


def test_sources_of_objects_alone_are_refused() -> None:
    site = site_on(planar("square", SHAPE), {"vehicle": [shapely.box(3, 3, 8, 5)], "ship": []})
    for name in ("main_scene", "rural_or_urban"):
        with pytest.raises(Refused) as why:
            call(site, name)
        assert str(why.value) == (
            "The scene cannot be told: the source of classes (painted) knows no class of land cover but vehicle, ship. "
            "Next: give such classes with --labels."
        )


def test_shares_are_of_ground_not_of_pixels_and_overlaps_count_once() -> None:
    """On degrees from 60 to 0 north, the northern half of the rows is less than half of the ground."""
    grid = geographic(SHAPE, lat=60, degrees=1.0)
    north = np.zeros(SHAPE, dtype=bool)
    north[:30] = True
    site = site_on(grid, {"water": ~north, "forest": north, "lake": ~north})
    call(site, "main_scene")
    said = next(iter(site.warnings))
    sines = np.sin(np.radians((60, 30, 0)))
    share = 100 * (sines[0] - sines[1]) / (sines[0] - sines[2])
    told = re.search(r"forest ([\d.]+) %", said)
    assert told is not None
    assert float(told[1]) == pytest.approx(share, abs=0.2)  # the sphere's share; on the ellipsoid it is a little more
    assert "of no class 0.0 %" in said


def test_lines_have_no_area() -> None:
    site = site_on(
        planar("square", SHAPE), {"road": [shapely.LineString([(3, 3), (50, 40)])], "pond": [shapely.box(3, 3, 8, 5)]}
    )
    assert call(site, "has_area", call(site, "segment", "road")) is False
    assert call(site, "has_area", call(site, "components", call(site, "segment", "pond"))) is True
