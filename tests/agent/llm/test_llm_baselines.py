"""Looking and guessing in place of measuring: what is sent, how answers are marked, how they are scored."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from PIL import Image

import swath
from swath.agent.llm.baselines import form_of
from swath.agent.replay import replay
from swath.cli import swath as command
from swath.errors import InputError
from swath.testing.benchmark import write_questions
from swath.testing.benchmarks.vrsbench import write_vrsbench
from swath.testing.llm_server import FakeServer, Reply
from swath.trace.reading import load_run

QUESTION = "How many buildings are there?"


def asked(village: Any, out: Path, reply: Reply | str, planner: str, question: str = QUESTION, **options: Any) -> Any:
    with FakeServer([Reply(reply) if isinstance(reply, str) else reply]) as server:
        answer = swath.ask(village.image, question, planner=planner, model="seer", base_url=server.base_url, out=out,
                           keep="light", **(village.options | options))  # fmt: skip
    return answer, server


def test_looking_sends_a_small_picture_and_the_question(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, "About 13.", "look")
    text, picture = server.received[0].body["messages"][0]["content"]
    assert f"<<<{QUESTION}>>>" in text["text"]
    head, _, content = picture["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    assert Image.open(io.BytesIO(base64.b64decode(content))).size == (300, 200)
    assert (answer.status, answer.answer, answer.kind) == ("answered", "About 13.", "text")
    assert answer.warnings == ("Judged by a model that looked at the image, not measured.",)
    assert (answer.program, answer.method, answer.interval, answer.counted) == (None, None, None, None)


def test_guessing_sends_the_question_alone(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, "1,200", "blind")
    (message,) = server.received[0].body["messages"]
    assert isinstance(message["content"], str) and QUESTION in message["content"]
    assert str(village.image) not in message["content"]
    assert (answer.answer, answer.kind) == (1200, "quantity")
    assert answer.text == "1,200: Guessed by a model that was not shown the image, not measured."


@pytest.mark.parametrize(
    ("reply", "value", "kind"),
    [("Yes.", "yes", "boolean"), ("no", "no", "boolean"), ("3.5", 3.5, "quantity"), ("-2", -2, "quantity"),
     ("3.5 ha", "3.5 ha", "text"), ("a stadium", "a stadium", "text"), ("1e999", "1e999", "text")],
)  # fmt: skip
def test_replies_are_read_strictly(village: Any, tmp_path: Path, reply: str, value: Any, kind: str) -> None:
    answer, _ = asked(village, tmp_path, reply, "blind")
    assert (answer.answer, answer.kind) == (value, kind)
    assert type(answer.answer) is type(value)


def test_the_run_says_who_was_asked_and_has_no_program(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, "12", "look")
    run = load_run(Path(answer.run))
    assert (run.program, run.record["model"], set(run.record["prompts"])) == (None, "seer", {"look.md"})
    assert [step["name"] for step in run.steps] == ["read", "plan", "answer"]


@pytest.mark.parametrize("planner", ["look", "blind"])
@pytest.mark.parametrize("reply", ["12", "Yes.", "a stadium"])
def test_a_replay_says_what_was_said_without_a_model(village: Any, tmp_path: Path, planner: str, reply: str) -> None:
    answer, server = asked(village, tmp_path, reply, planner)
    again = replay(load_run(Path(answer.run)))
    assert again.same, again.differences
    assert (again.answer.answer, again.answer.warnings) == (answer.answer, answer.warnings)
    assert len(server.received) == 1


def test_a_record_that_was_changed_is_found_out(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, "12", "blind")
    file = Path(answer.run) / "run.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"reply": "12"', '"reply": "13"'), encoding="utf-8")
    again = replay(load_run(Path(answer.run)))
    assert not again.same and any(difference.startswith("answer: 12 then, 13 now") for difference in again.differences)


def test_a_judgement_that_failed_has_nothing_to_replay(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, Reply(refusal="No."), "look")
    with pytest.raises(InputError, match="never had a program"):
        replay(load_run(Path(answer.run)))


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (Reply(refusal="No."), "refused", "The language model finds that this cannot be measured here: No."),
        (Reply(status=404), "failed", "has no model seer at this address (404)"),
        (Reply(""), "failed", "The model seer returned nothing, 3 times."),
    ],
    ids=["declined", "no such model", "silent"],
)
def test_failures_end_as_those_of_programs_do(village: Any, tmp_path: Path, reply: Reply, status: str,
                                              reason: str) -> None:  # fmt: skip
    answer, _ = asked(village, tmp_path, reply, "look")
    assert answer.status == status and reason in answer.reason


VRSBENCH = {
    "vrsbench-vqa": ("as briefly as it can be", "yes"),
    "vrsbench-ref": ("{<x_min><y_min><x_max><y_max>}", "{<12><12><37><25>}"),
    "vrsbench-cap": ("three to seven plain sentences", "Two ships lie in a harbour. A tank stands on the right."),
}


@pytest.mark.parametrize("planner", ["blind", "look"])
@pytest.mark.parametrize("benchmark", VRSBENCH)
def test_vrsbench_is_asked_as_its_tasks_are(tmp_path: Path, planner: str, benchmark: str) -> None:
    told, reply = VRSBENCH[benchmark]
    folder = write_vrsbench(tmp_path / "v")
    with FakeServer([Reply(reply)]) as server:
        arguments = ["bench", "run", benchmark, "--data", str(folder), "--planner", planner, "--model", "seer"]
        arguments += ["--base-url", server.base_url, "--out", str(tmp_path / "r")]
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
        assert result.exception is None, result.exception
    for call in server.received:
        content = call.body["messages"][0]["content"]
        assert told in (content if planner == "blind" else content[0]["text"])
        assert isinstance(content, str) is (planner == "blind")
    rows = [json.loads(line) for line in (tmp_path / "r" / "results.jsonl").read_text().splitlines()]
    plain = [row for row in rows if row["cell"] == "plain"]
    assert len(plain) == len(server.received) and {row["planner"] for row in plain} == {planner}
    assert all(row["prediction"]["answer"] == reply for row in plain)
    if benchmark != "vrsbench-cap":
        assert "right" in {row["verdict"] for row in plain} and "unparsable" not in {row["verdict"] for row in plain}


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("The larger ship at the top-left of the image.", "box"),
        ("Locate the red car", "box"),
        ("Describe the image in detail", "caption"),
        ("How many ships are there?", "phrase"),
        ("The area of water in ha", "phrase"),
        ("The ship is where?", "phrase"),
        ("Is there a ship?", "phrase"),
    ],
)
def test_the_form_of_an_answer(question: str, form: str) -> None:
    assert form_of(question) == form


@pytest.mark.parametrize("planner", ["blind", "look"])
def test_a_benchmark_run(tmp_path: Path, planner: str) -> None:
    folder = write_questions(tmp_path / "q")
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    number = next(line["answer"] for line in lines if isinstance(line["answer"], int | float))
    with FakeServer([Reply(str(number))]) as server:
        arguments = ["bench", "run", "questions", "--data", str(folder), "--planner", planner, "--model", "seer"]
        arguments += ["--base-url", server.base_url, "--out", str(tmp_path / "r")]
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
        assert result.exception is None, result.exception
        assert len(server.received) == len(lines)
    rows = [json.loads(line) for line in (tmp_path / "r" / "results.jsonl").read_text().splitlines()]
    assert {row["planner"] for row in rows} == {planner}
    assert "right" in {row["verdict"] for row in rows} and "wrong" in {row["verdict"] for row in rows}


def test_the_command_line_says_that_nothing_was_measured(village: Any, tmp_path: Path) -> None:
    with FakeServer([Reply("12")]) as server:
        arguments = ["ask", str(village.image), QUESTION, "--planner", "blind", "--model", "seer"]
        arguments += ["--base-url", server.base_url, "--out", str(tmp_path)]
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert result.return_value == 0
    assert "not measured" in result.output and "  measured" not in result.output
