"""Replies that contradict their evidence, each with its sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import swath
from swath.testing.planner import ScriptedPlanner

HOUSES = 'houses = components(segment("building"))\nha = "h" + "a"\nfurlong = "furlong"\nnothing = None\n'
"""Units as variables: the checker refuses wrong literals before anything runs."""


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('reply(count(houses) - 1, kind="count", objects=houses)', "it says 11 but its objects are 12 building"),
        ('reply(count(houses) / 8, kind="count")', "a count is a whole number that is not negative, not 1.5"),
        ('reply(-count(houses), kind="count")', "a count is a whole number that is not negative, not -12"),
        ('reply(count(houses), kind="count", unit=ha)', "a count has the unit count, not ha"),
        ('reply(count(houses) * 10, kind="percent")', "a share lies between 0 and 100 percent, not at 120"),
        ('reply(share_percent(segment("water")), kind="percent", unit=ha)', "has the unit percent, not ha"),
        ('reply(area_m2(segment("water")), kind="quantity", unit=nothing)', "its unit must be one of m2, ha"),
        ('reply(area_m2(segment("water")), kind="quantity", unit=furlong)', "not str 'furlong'"),
        ('reply(area_m2(whole_image()) * 2, kind="quantity", unit="m2")', "is more than the whole image, 14850 m2"),
        ('reply(area_m2(segment("water")), kind="quantity", unit="ha")', "is more than the whole image"),
        ('reply(count(houses), kind="boolean")', "its value must be True or False, not int '12'"),
        ('reply(count(houses), kind="category")', "its value must be a text, not int '12'"),
        ('reply(area_m2(houses) > 1, kind="count")', "its value must be a finite number, not bool 'True'"),
        ('reply(str(count(houses)), kind="quantity", unit="m2")', "its value must be a finite number"),
        ('reply(area_m2(houses) * 1e308 * 10, kind="quantity", unit="m2")', "its value must be a finite number"),
        ('reply(count(houses), kind="ranking")', "its value must be a list"),
        ('reply(boxes_px(houses), kind="boxes", objects=largest(houses))', "it holds 12 boxes but its objects are 1 "),
        (
            'reply(points_px(houses), kind="boxes")',
            "list of boxes of four or eight pixel coordinates, which",
        ),
        ('reply(boxes_px(houses), kind="point")', "must be a list of points of two pixel coordinates"),
        ('reply(box_px(houses), kind="boxes")', "pixel coordinates, which float '47.0' is not"),
        ('reply(boxes_px(houses), kind="boxes", unit=ha)', "boxes and points have the unit px, not ha"),
        ('reply("all" if count(houses) else "none", kind="mask")', "must come with a mask"),
    ],
)
def test_contradictions_fail(village: Any, tmp_path: Path, reply: str, why: str) -> None:
    planner = ScriptedPlanner(HOUSES + reply)
    answer = swath.ask(village.image, "?", planner=planner, out=tmp_path, keep="light", **village.options)
    assert answer.status != "answered"
    heard = " ".join([answer.reason or "", *(hint for hints in planner.feedback for hint in hints)])
    assert why in heard


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('reply(count(houses), kind="count", objects=houses)', 12),
        ('reply(area_m2(segment("water")) / 10000, kind="quantity", unit="ha")', 0.099),
        ('reply(["building", "water"] if area_px(segment("water")) else [], kind="ranking")', ["building", "water"]),
        ('reply("water" if area_m2(segment("water")) > area_m2(houses) else "building", kind="category")', "water"),
        ('reply(boxes_px(largest(houses)), kind="boxes", objects=largest(houses))', [[47, 20, 63, 30]]),
        ('reply([box_px(houses)], kind="boxes", objects=houses)', [[47, 20, 266, 150]]),
        ('reply(points_px(largest(houses)), kind="point", unit="px")', [[55, 25]]),
        ('reply(ratio(area_m2(segment("water")), area_m2(houses)), kind="quantity", unit="ratio")', 990 / 480),
    ],
)
def test_what_holds_is_answered(village: Any, tmp_path: Path, reply: str, value: object) -> None:
    planner = ScriptedPlanner(HOUSES + reply)
    answer = swath.ask(village.image, "?", planner=planner, out=tmp_path, keep="light", **village.options)
    assert answer.status == "answered", answer.reason
    assert answer.answer == pytest.approx(value) if isinstance(value, float) else answer.answer == value
