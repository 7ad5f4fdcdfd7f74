"""`--agree`: two unlike ways are planned and measured; only what both measure is an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import swath
from swath.agent.agreement import same
from swath.agent.replay import replay
from swath.cli import swath as command
from swath.errors import InputError
from swath.testing.benchmark import write_questions
from swath.testing.llm_server import FakeServer, Received, Reply
from swath.trace.reading import list_runs, load_run
from swath.types import Answer

NEAR = "How many buildings are within 5 m of water?"
ODD = "Buildings: those whose paint gets splashed (within 5 m of water), tally please"
CODE = """```python
# buildings within 5 m of water
wet = near(components(segment("building")), segment("water"), max_distance_m=5)
reply(count(wet), kind="count", objects=wet)
```"""
ALL_BUT = (
    CODE.replace("reply(", 'dry = exclude(components(segment("building")), wet)\nreply(')
    .replace("count(wet)", "count(dry)").replace("objects=wet", "objects=dry").replace("within", "beyond")
)  # fmt: skip
EXPRESSION = 'count(near(components("building"), "water", max_distance="5 m"))'
BASE = Answer("answered", "q", "i.tif")


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWATH_MODEL", raising=False)
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("SWATH_CACHE", str(tmp_path / "cache"))


def asked(village: Any, out: Path, question: str, *replies: str | Reply, **options: Any) -> Any:
    with FakeServer([reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]) as server:
        answer = swath.ask(village.image, question, model="tiny", base_url=server.base_url, agree=True, out=out,
                           keep="light", **(village.options | options))  # fmt: skip
    return answer, server


def test_grammar_and_model_that_agree_answer_and_are_named(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path / "runs", NEAR, CODE)
    assert (answer.status, answer.answer, answer.planner) == ("answered", village.near_canal, "offline")
    assert "Two unlike ways to plan measure the same: offline and llm." in answer.warnings
    assert len(server.received) == 1
    runs = list_runs(tmp_path / "runs")
    assert sorted(str(run.answer["planner"]) for run in runs) == ["llm", "offline"]
    assert all(replay(run).same for run in runs)
    assert load_run(Path(answer.run)).record["tokens"]["in"] == 100


def test_where_they_differ_both_readings_and_programs_are_shown(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path / "runs", NEAR, ALL_BUT)
    assert (answer.status, answer.answer, answer.program) == ("refused", None, None)
    assert 'offline: 3, read as "number of buildings within 5 m of water"' in answer.reason
    assert 'llm: 9, read as "buildings beyond 5 m of water"' in answer.reason
    assert "Next: run the program that means what you mean with swath run" in answer.reason
    runs = list_runs(tmp_path / "runs")
    assert sorted(run.status for run in runs) == ["answered", "answered", "refused"]
    for run in runs:
        if run.status == "answered":
            assert str(run.folder / "program.py") in answer.reason
            assert replay(run).same


def test_beyond_the_grammar_two_ways_of_the_model_have_to_agree(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path / "runs", ODD, CODE, EXPRESSION)
    assert (answer.status, answer.answer, answer.planner) == ("answered", village.near_canal, "llm")
    assert "Two unlike ways to plan measure the same: llm and llm (bound)." in answer.warnings
    assert ["grammar" in call.body for call in server.received] == [False, True]
    wrong = 'count(components("building")) - count(near(components("building"), "water", max_distance="5 m"))'
    answer, _ = asked(village, tmp_path / "runs", ODD, CODE, wrong)
    assert answer.status == "refused" and "llm (bound): 9" in answer.reason


def test_beyond_the_grammar_two_models_have_to_agree(village: Any, tmp_path: Path) -> None:
    def by_model(second: str) -> Callable[[Received], Reply]:
        return lambda call: Reply(CODE if call.body["model"] == "tiny" else second)

    (tmp_path / "config.toml").write_text('[llm.rival]\nmodel = "other"\n', encoding="utf-8")
    for second, status in ((CODE, "answered"), (ALL_BUT, "refused")):
        with FakeServer(by_model(second)) as server:
            answer = swath.ask(village.image, ODD, model="tiny", base_url=server.base_url, agree=True,
                               out=tmp_path / "runs", **village.options)  # fmt: skip
        assert [call.body["model"] for call in server.received] == ["tiny", "other"]
        assert answer.status == status
        said = answer.reason or " ".join(answer.warnings)
        assert "llm (other)" in said


def test_both_ways_have_one_budget(village: Any, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[llm.budget]\ncalls = 1\n", encoding="utf-8")
    answer, server = asked(village, tmp_path / "runs", ODD, CODE, EXPRESSION)
    assert (answer.status, len(server.received)) == ("refused", 1)
    assert "llm (bound): failed, The question has used up its budget of 1 calls of the model" in answer.reason


def test_a_rival_that_has_no_answer_is_no_agreement(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path / "runs", NEAR, Reply(status=404))
    assert answer.status == "refused"
    assert "llm: failed, The server at" in answer.reason and "has no model tiny" in answer.reason


def test_without_a_model_nothing_can_agree(village: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No language model is named"):
        swath.ask(village.image, NEAR, agree=True, out=tmp_path, **village.options)


def test_in_a_benchmark(tmp_path: Path) -> None:
    folder = write_questions(tmp_path / "q")
    line = json.loads((folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()[0])
    program = 'reply(count(components(segment("building"))), kind="count")'
    with FakeServer([Reply(program)]) as server:
        arguments = ["bench", "run", "questions", "--data", str(folder), "--agree", "--model", "tiny"]
        arguments += ["--base-url", server.base_url, "--out", str(tmp_path / "r")]
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
        assert result.exception is None, result.exception
    rows = [json.loads(row) for row in (tmp_path / "r" / "results.jsonl").read_text().splitlines()]
    verdicts = {row["case"]: row["verdict"] for row in rows}
    assert verdicts.pop(line["id"]) == "right"
    assert set(verdicts.values()) == {"refused"}


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ((3, "count"), (3.0, "count"), True),
        ((3, "count"), (4, "count"), False),
        ((1.0, "ha"), (10_000.0, "m2"), True),
        ((1.0, "ha"), (10_000.1, "m2"), False),
        ((1.0, "ha"), (1.0, "m"), False),
        ((1.0, "ha"), (1.0, None), False),
        ((1.0, "ha"), (1.0 + 1e-11, "ha"), True),
        (("yes", None), ("yes", None), True),
        (("yes", None), (1, None), False),
        ((["a", "b"], None), (["a", "b"], None), True),
        ((["a", "b"], None), (["a"], None), False),
        (([1.0, 2.0], "m"), ([100.0, 200.0], "cm"), True),
    ],
)
def test_what_counts_as_the_same(one: tuple[Any, Any], other: tuple[Any, Any], agree: bool) -> None:
    first, second = (replace(BASE, answer=value, unit=unit) for value, unit in (one, other))
    assert same(first, second) is agree
    assert not same(first, replace(second, status="refused"))
