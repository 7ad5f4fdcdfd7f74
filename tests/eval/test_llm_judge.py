"""The judge behind the metric `judge`, as a model on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from swath.agent.planner import PlannerOptions
from swath.errors import InputError, ModelError
from swath.eval.cases import Case
from swath.eval.llm_judge import LlmJudge
from swath.eval.metrics.judge import Judged, set_judge
from swath.eval.scores import Prediction
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


def test_a_judge_has_to_be_named() -> None:
    with pytest.raises(InputError, match="No language model is named"):
        LlmJudge()
