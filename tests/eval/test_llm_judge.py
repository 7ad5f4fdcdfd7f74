"""The judge behind the metric `judge`, as a model on a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from affine import Affine
from click.testing import CliRunner
from pyproj import CRS

from swath.agent.planner import PlannerOptions
from swath.cli import swath
from swath.errors import InputError, ModelError
from swath.eval.cases import Case
from swath.eval.llm_judge import LlmJudge
from swath.eval.metrics.judge import Judged, has_judge, set_judge
from swath.eval.metrics.numeric import judged_number
from swath.eval.runner.results import read_results
from swath.eval.scores import Prediction
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.testing.llm_server import FakeServer, Reply

CASE = Case("1", Path("i.tif"), "What is it?", "soccer field", "text")
SAID = Prediction("answered", "a football pitch")


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SWATH_MODEL", raising=False)
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "config.toml"))
    yield
    set_judge(None)


def judge_at(server: FakeServer) -> LlmJudge:
    judge = LlmJudge(PlannerOptions("tiny", server.base_url))
    set_judge(judge)
    return judge


@pytest.mark.parametrize(("reply", "verdict"), [("1", "right"), ("0", "wrong"), ("Perhaps.", "unparsable")])
def test_a_model_judges(reply: str, verdict: str) -> None:
    with FakeServer([Reply(reply, usage=(80, 0, 1))]) as server:
        judge = judge_at(server)
        assert Judged("vqa").score(CASE, SAID).verdict == verdict
        prompt = server.received[0].body["messages"][0]["content"]
        assert "soccer field" in prompt and "a football pitch" in prompt
    assert [(call.purpose, call.tokens_in) for call in judge.calls] == [("judge", 80)]


def test_each_answer_has_a_budget_of_its_own() -> None:
    with FakeServer([Reply("1", usage=(50_000, 0, 1))]) as server:
        judge_at(server)
        assert [Judged("vqa").score(CASE, SAID).verdict for _ in range(12)] == ["right"] * 12


def test_a_server_that_fails_is_said() -> None:
    with FakeServer([Reply(status=404)]) as server:
        judge_at(server)
        with pytest.raises(ModelError, match="has no model tiny"):
            Judged("vqa").score(CASE, SAID)


WORDED = Case("2", Path("i.tif"), "How many tanks are there?", 12, "count", ("numeric",))


@pytest.mark.parametrize(
    ("reply", "verdict", "why"),
    [
        ("12", "right", "12, as the judge reads 'about a dozen or so, perhaps one or two fewer', for"),
        ("11.0", "wrong", "11, as the judge reads"),
        ("none", "unparsable", "states no single number"),
        ("12 tanks", "unparsable", "states no single number"),
    ],
)
def test_a_judge_reads_numbers_that_the_rules_do_not_find(reply: str, verdict: str, why: str) -> None:
    said = "about a dozen or so, perhaps one or two fewer"
    accepted = lambda value: value == 12  # noqa: E731
    assert judged_number(WORDED, Prediction("answered", said), accepted, "12")[0] == "unparsable"
    with FakeServer([Reply(reply)]) as server:
        judge_at(server)
        found = judged_number(WORDED, Prediction("answered", said), accepted, "12")
        assert (found[0], why in found[1]) == (verdict, True)
        assert judged_number(WORDED, Prediction("answered", "12 tanks"), accepted, "12")[0] == "right"
        assert len(server.received) == 1, "the judge is asked where the rules find nothing, and nowhere else"


def test_the_judge_is_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "legend.json").write_text('{"1": "building"}', encoding="utf-8")
    write_array(tmp_path / "a.tif", np.ones((4, 4), np.uint8), Grid(Affine(1, 0, 5e5, 0, -1, 5e6), (4, 4), CRS(32631)))
    row = {"id": "1", "image": "a.tif", "question": "How many tanks are there?", "answer": 12, "unit": "count",
           "type": "count", "tolerance": {"rel": 0.0}}  # fmt: skip
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text('{"id": "1", "answer": "a dozen or so, or one or two fewer"}\n', encoding="utf-8")
    words = ["bench", "score", "questions", "--data", tmp_path, "--predictions", theirs, "--out", tmp_path / "out"]
    with FakeServer([Reply("12")]) as server:
        named = ["--judge", "tiny", "--judge-url", server.base_url]
        done = CliRunner().invoke(swath, [str(word) for word in (*words, *named)], standalone_mode=False)
    assert (done.return_value, "1 of 1 right" in done.stdout) == (0, True)
    assert read_results(tmp_path / "out").meta["judge"] == "tiny"
    assert not has_judge(), "the judge of one run is not that of the next"


def test_an_address_alone_names_no_judge(tmp_path: Path) -> None:
    words = ["bench", "run", "questions", "--data", tmp_path, "--judge-url", "http://localhost:1/v1", "--out", tmp_path]
    with pytest.raises(click.UsageError, match=r"says where, but no --judge says which model\. Next: name it\."):
        CliRunner().invoke(swath, [str(word) for word in words], standalone_mode=False, catch_exceptions=False)


def test_a_judge_has_to_be_named() -> None:
    with pytest.raises(InputError, match="No language model is named"):
        LlmJudge()
