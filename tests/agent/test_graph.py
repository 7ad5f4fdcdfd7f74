"""The graph with a scripted planner: repairs, refusals, limits, and nothing that leaves the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import swath
from swath.agent.planner import Program
from swath.agent.sandbox import Limits
from swath.errors import InputError, Refused
from swath.testing.planner import ScriptedPlanner

COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'


def asked(village: Any, out: Path, *drafts: Any, **options: Any) -> tuple[swath.Answer, ScriptedPlanner]:
    planner = ScriptedPlanner(*drafts)
    given = village.options | {"keep": "light"} | options
    return swath.ask(village.image, "how many?", planner=planner, out=out, **given), planner


def test_a_right_program_is_answered(village: Any, tmp_path: Path) -> None:
    answer, planner = asked(village, tmp_path, Program(COUNT, "houses"))
    assert (answer.status, answer.answer, answer.kind, answer.unit) == ("answered", village.houses, "count", "count")
    assert answer.text == "12: houses"
    assert answer.counted is not None and answer.counted.count == 12
    assert len(planner.asked) == 1


def test_the_planner_sees_the_scene_but_no_pixels(village: Any, tmp_path: Path) -> None:
    _, planner = asked(village, tmp_path, COUNT)
    _, scene, feedback = planner.asked[0]
    assert scene.classes == ("building", "water", "grass")
    assert (scene.shape, scene.pixel_size_m, scene.crs, scene.north) == ((200, 300), (0.5, 0.5), "EPSG:32631", "up")
    assert feedback is None


def test_a_misspelt_tool_comes_back_as_a_hint_and_is_mended(village: Any, tmp_path: Path) -> None:
    answer, planner = asked(village, tmp_path, COUNT.replace("components", "componets"), COUNT)
    assert answer.answer == 12
    assert "did you mean components" in planner.feedback[0][0]
    assert "Line 1" in planner.feedback[0][0]


def test_a_tool_s_error_comes_back_as_a_hint(village: Any, tmp_path: Path) -> None:
    broken = 'reply(convert(area_m2(segment("water")), from_unit="m2", to_unit="m"), kind="quantity", unit="m")'
    answer, planner = asked(village, tmp_path, broken, COUNT)
    assert answer.answer == 12
    assert "'m2' cannot be converted to 'm'" in planner.feedback[0][0]


def test_a_reply_that_contradicts_its_evidence_is_not_shown(village: Any, tmp_path: Path) -> None:
    lie = COUNT.replace("count(houses)", "count(houses) + 1")
    answer, planner = asked(village, tmp_path, lie, lie + "\n", lie + "\n\n")
    assert (answer.status, answer.answer) == ("failed", None)
    assert "it says 13 but its objects are 12 building" in (answer.reason or "")
    assert len(planner.asked) == 3


def test_a_constant_is_no_answer(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, 'segment("water")\nreply(42, kind="count")', Refused("I give up."))
    assert (answer.status, answer.reason) == ("refused", "I give up.")


def test_a_planner_that_repeats_itself_is_stopped(village: Any, tmp_path: Path) -> None:
    answer, planner = asked(village, tmp_path, "reply(", "reply(")
    assert answer.status == "failed"
    assert (answer.reason or "").startswith("The planner repeats a program that does not work.")
    assert len(planner.asked) == 2


def test_three_drafts_and_no_more(village: Any, tmp_path: Path) -> None:
    answer, planner = asked(village, tmp_path, "a(", "b(", "c(", COUNT)
    assert answer.status == "failed"
    assert (answer.reason or "").startswith("No working program after 3 drafts.")
    assert len(planner.asked) == 3


def test_a_budget_ends_the_run_and_keeps_its_trace(village: Any, tmp_path: Path) -> None:
    flood = (
        'for i in range(100):\n    area_px(segment("water"))\nreply(count(components(segment("water"))), kind="count")'
    )
    answer = swath.ask(
        village.image, "?", planner=ScriptedPlanner(flood), limits=Limits(calls=20), out=tmp_path, **village.options
    )
    assert answer.status == "failed"
    assert "20" in (answer.reason or "")
    assert (Path(answer.run or "") / "steps.jsonl").read_text(encoding="utf-8").count('"area_px"') >= 5


def test_metres_without_a_ground_size_are_refused_with_what_would_help(tmp_path: Path) -> None:
    from swath.testing.benchmark import write_questions

    folder = write_questions(tmp_path / "q")
    options = {"labels": folder / "scene.tif", "legend": folder / "legend.json", "out": tmp_path, "keep": "light"}
    area = 'reply(area_m2(segment("water")), kind="quantity", unit="m2")'
    answer = swath.ask(folder / "scene.tif", "?", planner=ScriptedPlanner(area), **options)
    assert answer.status == "refused"
    assert answer.reason == (
        "Metres cannot be measured: the file has neither a CRS nor a geotransform. "
        'Next: state the ground size of a pixel with --gsd METRES, or in the question: "(GSD: 0.5m)".'
    )
    stated = swath.ask(folder / "scene.tif", "?", planner=ScriptedPlanner(Program(area, "water", gsd_m=2.0)), **options)
    assert stated.answer == 1000 * 4.0


def test_an_option_wins_over_the_question_s_words_and_says_so(village: Any, tmp_path: Path) -> None:
    program = Program('reply(area_m2(segment("water")), kind="quantity", unit="m2")', "water", gsd_m=2.0)
    answer, _ = asked(village, tmp_path, program, gsd_m=1.0)
    assert answer.answer == pytest.approx(4 * village.canal_m2)
    assert "--gsd 1 was used, although the question says 2 m." in answer.warnings
    assert any("the file's georeferencing says 0.5 x 0.5 m" in warning for warning in answer.warnings)


def test_unusable_input_leaves_the_graph_as_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere.tif"):
        swath.ask(tmp_path / "nowhere.tif", "how many?", out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_traced_environment_sends_nothing(village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import langsmith.client

    def sent(*args: object, **kwargs: object) -> None:
        raise AssertionError("a trace was about to leave the process")

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "secret")
    monkeypatch.setattr(langsmith.client.Client, "create_run", sent)
    monkeypatch.setattr(langsmith.client.Client, "request_with_retries", sent)
    answer, _ = asked(village, tmp_path, COUNT)
    assert answer.answer == 12


def test_graph_steps_are_recorded_in_order(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, "reply(", COUNT)
    lines = [json.loads(line) for line in (Path(answer.run or "") / "steps.jsonl").read_text().splitlines()]
    graph = [line["name"] for line in lines if line["kind"] == "graph"]
    assert graph == ["read", "plan", "check", "plan", "check", "run", "verify", "answer"]
