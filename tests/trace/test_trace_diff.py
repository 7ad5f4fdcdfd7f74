"""In what two runs differ."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swath.trace.diff import diff
from swath.trace.reading import load_run

Make = Callable[..., Path]


def test_the_same_question_asked_twice_does_not_differ(make_run: Make) -> None:
    first = load_run(make_run())
    second = load_run(make_run("20261130-101600-0000", timings={"run": 9.0}, answer={"seconds": 99.0}))
    found = diff(first, second)
    assert found.same
    assert found.to_json()["same"] is True
    assert "no difference" in found.text


def test_everything_that_differs_is_told(make_run: Make) -> None:
    first = load_run(make_run())
    program = (first.program or "").replace("area_m2", "perimeter_m")
    other = {
        "question": "How long is the shore?",
        "image": {**first.record["image"], "path": "sea.tif", "sha256": "1" * 64},
        "inputs": {"labels": "other.tif", "gsd_m": 0.5},
        "answer": {"answer": 400.0, "unit": "m"},
    }
    second = load_run(make_run("20261130-101600-0000", program=program, **other))
    found = diff(first, second)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert not found.same
    assert told["question"] == ["How large is the water?", "How long is the shore?"]
    assert [image["path"] for image in told["image"]] == ["lake.tif", "sea.tif"]
    assert told["inputs"] == {"labels": ["labels.tif", "other.tif"], "gsd_m": [None, 0.5]}
    assert told["answer"] == {"answer": [5000.0, 400.0], "unit": ["m2", "m"]}
    assert any(line.startswith("-") and "area_m2" in line for line in told["program"])
    assert any(line.startswith("+") and "perimeter_m" in line for line in told["program"])
    assert told["steps"] == []
    for words in ("How long is the shore?", "sea.tif", "input: gsd_m", "answer: unit", "perimeter_m"):
        assert words in found.text


def test_a_field_that_is_not_in_the_other_run_is_told_too(make_run: Make) -> None:
    first, second = load_run(make_run(inputs={"gsd_m": 1})), load_run(make_run("20261130-101600-0000", inputs={}))
    assert diff(first, second).inputs == {"gsd_m": (1, None)}
    assert diff(second, first).inputs == {"gsd_m": (None, 1)}


def test_calls_that_gave_something_else_or_were_made_once(make_run: Make) -> None:
    first = load_run(make_run())
    steps: list[dict[str, Any]] = copy.deepcopy(list(first.steps))
    steps[1]["result"]["pixels"] = 1000
    del steps[2]
    found = diff(first, load_run(make_run("20261130-101600-0000", steps=steps)))
    (changed_before, changed_after), (made, not_made) = found.steps
    assert (changed_before["result"], changed_after["result"]) == ("#1 water: 1,234 px", "#1 water: 1,000 px")
    assert made["call"] == "area_m2(#1)"
    assert not_made is None


def test_a_smaller_ulp_is_a_difference(make_run: Make) -> None:
    first = load_run(make_run())
    second = load_run(make_run("20261130-101600-0000", answer={"answer": 5000.000000000001}))
    assert list(diff(first, second).answer) == ["answer"]


def test_hostile_text_is_harmless(make_run: Make) -> None:
    first = load_run(make_run())
    second = load_run(make_run("20261130-101600-0000", question="\x1b[2J\x1b]0;owned\x07", program="x = '\x1b[31m'\n"))
    assert "\x1b" not in diff(first, second).text
    assert "\x07" not in diff(first, second).text
