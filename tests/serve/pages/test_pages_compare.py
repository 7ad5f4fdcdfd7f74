"""The page of two runs side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from pages_scene import ALL, COUNT, HOUSES, NEAR, town

from swath.serve.pages.compare import compare_page, matched


def boxes(*sides: tuple[float, float, float, float]) -> Any:
    return np.array([shapely.box(*box) for box in sides], dtype=object)


def test_objects_are_the_same_from_half_of_their_common_area_on() -> None:
    # Of 10 x 10: moved by 3 they share 70 of 130, by 4 60 of 140.
    a = boxes((0, 0, 10, 10), (100, 0, 110, 10), (200, 0, 210, 10))
    b = boxes((3, 0, 13, 10), (104, 0, 114, 10), (200, 0, 210, 10), (300, 0, 310, 10))
    in_b, in_a = matched(a, b)
    assert in_b.tolist() == [True, False, True]
    assert in_a.tolist() == [True, False, True, False]


def test_points_and_nothing_are_matched_too() -> None:
    a = np.array([shapely.Point(1, 1), shapely.Point(2, 2)], dtype=object)
    in_b, in_a = matched(a, np.array([shapely.Point(2, 2)], dtype=object))
    assert (in_b.tolist(), in_a.tolist()) == ([False, True], [True])
    assert [found.tolist() for found in matched(a, np.zeros(0, dtype=object))] == [[False, False], []]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    place = town(tmp_path_factory.mktemp("pair"))
    return place.ask(COUNT), place.ask(ALL, question="How many buildings are there?", reading="buildings")


def test_compare_page_shows_both_and_what_only_one_counts(
    pair: tuple[Path, Path], tmp_path: Path, open_page: Callable[..., Any], faults_found: Callable[[Any], list[str]]
) -> None:
    file = tmp_path / "two.html"
    file.write_text(compare_page(*pair), encoding="utf-8")
    page = open_page(file.as_uri(), viewport={"width": 400, "height": 800})
    page.wait_for_selector("#objects-1 .grid-body .grid-row")
    assert [value.inner_text() for value in page.query_selector_all(".side .value")] == [str(NEAR), str(len(HOUSES))]
    assert f"{NEAR}, of which 0 are only in this run." in page.inner_text(".side:nth-child(1)")
    assert f"{len(HOUSES)}, of which {len(HOUSES) - NEAR} are only in this run." in page.inner_text(
        ".side:nth-child(2)"
    )
    page.check('[data-only="1"]')
    assert page.locator("#objects-1 .grid-body .grid-row").count() == len(HOUSES) - NEAR
    assert page.inner_text("#count-1") == f"{len(HOUSES) - NEAR} of {len(HOUSES)}"
    removed = [line.inner_text().strip() for line in page.query_selector_all(".changes .removed")]
    assert removed == [f"- {line}" for line in COUNT.splitlines()]
    assert "large buildings near water" in page.inner_text(".differences")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 400
    assert not faults_found(page)
