"""Intervals against closed forms, on the village whose outlines are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import swath
from swath.testing.planner import ScriptedPlanner

HOUSE_OUTLINE_M = 2 * (10 + 16) * 0.5 - 4 * (0.5 - 0.5 * 2**0.5 / 2)
"""Marching squares cuts each corner: half a pixel twice becomes half a pixel's diagonal."""


def measured(village: Any, out: Path, source: str, **options: Any) -> swath.Answer:
    given = village.options | {"keep": "light"} | options
    answer = swath.ask(village.image, "?", planner=ScriptedPlanner(source), out=out, **given)
    assert answer.status == "answered", answer.reason
    return answer


def test_an_area_spans_half_a_pixel_along_its_outline(village: Any, tmp_path: Path) -> None:
    answer = measured(village, tmp_path, 'reply(area_m2(segment("building")), kind="quantity", unit="m2")')
    assert answer.answer == pytest.approx(12 * village.house_m2)
    assert answer.interval is not None
    assert answer.interval.covers == ("boundary",)
    assert answer.interval.high - answer.answer == pytest.approx(12 * HOUSE_OUTLINE_M * 0.25)
    assert answer.answer - answer.interval.low == pytest.approx(12 * HOUSE_OUTLINE_M * 0.25)


def test_a_share_spans_the_same(village: Any, tmp_path: Path) -> None:
    answer = measured(village, tmp_path, 'reply(share_percent(segment("water")), kind="percent", unit="percent")')
    assert answer.answer == pytest.approx(100 * 198 * 20 / village.valid_px)
    shift = 2 * 197 * 0.5 * 0.25 / (village.valid_px * 0.25) * 100  # two banks; the image border is no outline
    assert answer.interval is not None
    assert answer.interval.high - answer.answer == pytest.approx(shift)


def test_a_count_is_recounted_with_moved_thresholds(village: Any, tmp_path: Path) -> None:
    program = 'big = components(segment("building"), larger_than_m2={})\nreply(count(big), kind="count", objects=big)'
    sure = measured(village, tmp_path, program.format(30))
    assert sure.answer == 12 and sure.interval is not None
    assert (sure.interval.low, sure.interval.high) == (12, 12)
    unsure = measured(village, tmp_path, program.format(39))
    assert unsure.answer == 12 and unsure.interval is not None
    assert (unsure.interval.low, unsure.interval.high) == (0, 12)


def test_a_distance_spans_a_pixel(village: Any, tmp_path: Path) -> None:
    answer = measured(
        village, tmp_path, 'reply(distance_m(segment("building"), segment("water")), kind="quantity", unit="m")'
    )
    assert answer.answer == pytest.approx(4.0)
    assert answer.interval is not None
    assert (answer.interval.low, answer.interval.high) == (pytest.approx(3.5), pytest.approx(4.5))
    assert answer.interval.covers == ("proximity",)


def test_a_yes_that_hangs_on_a_pixel_is_a_close_call(village: Any, tmp_path: Path) -> None:
    program = 'n = near(components(segment("building")), segment("water"), max_distance_m={})\n'
    program += 'reply(count(n) > 0, kind="boolean", objects=n)'
    close = measured(village, tmp_path, program.format(4))
    assert close.answer == "yes"
    assert any("close call" in warning for warning in close.warnings)
    plain = measured(village, tmp_path, program.format(20))
    assert not any("close call" in warning for warning in plain.warnings)


def test_deviations_of_two_classes_add_up(village: Any, tmp_path: Path) -> None:
    single = {
        name: measured(village, tmp_path, f'reply(area_m2(segment("{name}")), kind="quantity", unit="m2")')
        for name in ("building", "water")
    }
    both = measured(
        village,
        tmp_path,
        'reply(area_m2(segment("building")) + area_m2(segment("water")), kind="quantity", unit="m2")',
    )
    half_widths = [a.interval.high - a.answer for a in single.values() if a.interval is not None]
    assert both.interval is not None
    assert both.interval.high - both.answer == pytest.approx(sum(half_widths))


def test_an_outline_may_be_shorter_than_measured(village: Any, tmp_path: Path) -> None:
    answer = measured(village, tmp_path, 'reply(perimeter_m(segment("building")), kind="quantity", unit="m")')
    assert answer.answer == pytest.approx(12 * HOUSE_OUTLINE_M)
    assert answer.interval is not None
    assert answer.interval.low == pytest.approx(answer.answer / 1.0823922)
    assert answer.interval.covers == ("outline",)


def test_a_text_has_no_interval(village: Any, tmp_path: Path) -> None:
    program = 'reply(fragmentation(components(segment("water"))), kind="category")'
    answer = measured(village, tmp_path, program)
    assert (answer.answer, answer.interval) == ("connected", None)
