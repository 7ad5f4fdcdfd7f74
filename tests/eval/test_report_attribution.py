"""Where errors come from, against a table written out by hand."""

from __future__ import annotations

from itertools import product

import pytest
from bench_folder import line, results

from swath.eval.report.attribution import CAUSES, CELLS, MEANING, attribute, cause

WRONG_AS_IT_IS = {
    # segmenter, planner, both -> cause
    (False, False, False): "measurement",
    (True, False, False): "measurement",
    (False, True, False): "measurement",
    (True, True, False): "measurement",
    (False, False, True): "joint",
    (True, False, True): "segmenter",
    (False, True, True): "planner",
    (True, True, True): "ambiguous",
}


@pytest.mark.parametrize("plain, segmenter, planner, both", list(product([False, True], repeat=4)))
def test_every_combination_has_its_cause(plain: bool, segmenter: bool, planner: bool, both: bool) -> None:
    expected = None if plain else WRONG_AS_IT_IS[segmenter, planner, both]
    assert cause(plain, segmenter, planner, both) == expected


def test_every_cause_is_explained() -> None:
    assert set(WRONG_AS_IT_IS.values()) == set(CAUSES) == MEANING.keys()


def asked(case: str, rights: tuple[bool, ...], verdict: str = "wrong", **values: object) -> list[dict[str, object]]:
    return [
        line(case, "right" if right else verdict, cell=cell, **values)
        for cell, right in zip(CELLS, rights, strict=False)
    ]


def test_all_sixteen_combinations_add_up() -> None:
    lines = [row for i, rights in enumerate(product([False, True], repeat=4)) for row in asked(f"c{i}", rights)]
    found = attribute(results(*lines))
    assert found.complete == 16 and found.incomplete == 0
    assert dict(found.causes) == {"measurement": 4, "joint": 1, "segmenter": 1, "planner": 1, "ambiguous": 1}
    assert found.contradictory == 3 and found.right_yet_measured_wrong == 4


def test_cases_without_all_ways_have_no_cause() -> None:
    lines = asked("a", (False, True, False, True)) + asked("b", (False, True)) + asked("c", (True,))
    found = attribute(results(*lines))
    assert (found.complete, found.incomplete) == (1, 2) and dict(found.causes) == {"segmenter": 1}


@pytest.mark.parametrize("verdict", ["wrong", "refused", "failed", "unparsable"])
def test_whatever_is_not_right_is_an_error(verdict: str) -> None:
    assert attribute(results(*asked("a", (False, False, True, True), verdict))).causes["planner"] == 1


def test_causes_by_type() -> None:
    lines = asked("a", (False, False, False, True), type="area") + asked("b", (False, False, True, True))
    found = attribute(results(*lines)).to_json()
    assert list(found["by_type"]) == ["area", "count"]
    assert found["by_type"]["area"] == {"segmenter": 0, "planner": 0, "ambiguous": 0, "joint": 1, "measurement": 0}
    assert found["causes"] == {"segmenter": 0, "planner": 1, "ambiguous": 0, "joint": 1, "measurement": 0}


def test_nothing_asked_is_nothing_attributed() -> None:
    assert attribute(()).to_json()["complete"] == 0
