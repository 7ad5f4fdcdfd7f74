"""The planner `llm` in the graph, against a fake server: repairs, repeats, refusals, and what a run keeps of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import swath
from swath.cli import swath as command
from swath.testing.llm_server import FakeServer, Reply
from swath.trace.reading import load_run

NEAR = "How many buildings are within 5 m of water?"
GOOD = """```python
# buildings within 5 m of water
wet = near(components(segment("building")), segment("water"), max_distance_m=5)
reply(count(wet), kind="count", unit="count", objects=wet)
```"""
BAD_SYNTAX = "```python\nreply(count(\n```"
UNKNOWN_TOOL = GOOD.replace("near(", "nearby(")
UNUSED = GOOD.replace("max_distance_m=5", "max_distance_m=50")
NO_PROGRAM = "Sure, I would love to help you with that!"
AS_EXPRESSION = 'count(near(components("building"), "water", max_distance="5 m"))'


def asked(village: Any, out: Path, *replies: str | Reply, question: str = NEAR, **options: Any) -> Any:
    told = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]
    with FakeServer(told) as server:
        given = {**village.options, "planner": "llm", "model": "tiny", "base_url": server.base_url, "keep": "light"}
        return swath.ask(village.image, question, out=out, **(given | options)), server


def said_to_the_model(server: FakeServer, number: int) -> str:
    return "\n".join(message["content"] for message in server.received[number].body["messages"])


def test_one_call_answers(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, GOOD)
    assert (answer.status, answer.answer, answer.planner) == ("answered", village.near_canal, "llm")
    assert answer.text == "3: buildings within 5 m of water"
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("first", "hint"),
    [
        (BAD_SYNTAX, "this is not Python"),
        (UNKNOWN_TOOL, "did you mean near"),
        (UNUSED, "The program does not use the question's 5 m."),
        (NO_PROGRAM, "this is not Python"),
        (GOOD.replace("segment(", "open("), "open"),
        (GOOD.replace("# buildings", "import os\n#"), "import is not available"),
    ],
    ids=["syntax", "unknown tool", "unused quantity", "no program", "unlisted function", "import"],
)
def test_a_faulty_draft_is_sent_back_once_and_mended(village: Any, tmp_path: Path, first: str, hint: str) -> None:
    answer, server = asked(village, tmp_path, first, GOOD)
    assert (answer.status, answer.answer) == ("answered", village.near_canal)
    assert len(server.received) == 2
    assert hint in said_to_the_model(server, 1) and hint not in said_to_the_model(server, 0)
    assert [call["purpose"] for call in load_run(Path(answer.run)).record["model_calls"]] == ["plan", "repair"]


def test_at_most_three_drafts(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, BAD_SYNTAX, UNKNOWN_TOOL, UNUSED, GOOD)
    assert answer.status == "failed"
    assert answer.reason.startswith("No working program after 3 drafts. The program does not use the question's 5 m.")
    assert len(server.received) == 3


def test_the_same_program_twice_changes_the_way(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, UNKNOWN_TOOL, UNKNOWN_TOOL, AS_EXPRESSION)
    assert (answer.status, answer.answer) == ("answered", village.near_canal)
    assert ["grammar" in call.body for call in server.received] == [False, False, True]


def test_the_same_error_twice_changes_the_way(village: Any, tmp_path: Path) -> None:
    again = UNKNOWN_TOOL.replace("# buildings within", "# all buildings within\n\n#")
    answer, server = asked(village, tmp_path, UNKNOWN_TOOL, again, AS_EXPRESSION)
    assert (answer.status, answer.answer) == ("answered", village.near_canal)
    assert ["grammar" in call.body for call in server.received] == [False, False, True]


def test_a_model_that_always_says_the_same_is_stopped(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, UNKNOWN_TOOL)
    assert answer.status == "failed"
    assert answer.reason.startswith("No working program after 3 drafts.")
    assert len(server.received) <= 4


def test_a_small_model_that_repeats_itself_is_stopped_and_not_asked_in_another_way(
    village: Any, tmp_path: Path, nothing_configured: Path
) -> None:
    (nothing_configured / "config.toml").write_text('[llm]\nway = "bound"\nprofile = "small"\n', encoding="utf-8")
    answer, server = asked(village, tmp_path, AS_EXPRESSION.replace('"5 m"', '"6 m"'))
    assert answer.status == "failed"
    assert answer.reason.startswith("The planner repeats a program that does not work.")
    assert '"6 m" is no max_distance of the question' in answer.reason
    assert ["grammar" in call.body for call in server.received] == [True, True]


FACTS = """```python
# measured facts
share = round(share_percent(segment("water")))
reply(f"Water covers {share} % of the image.", kind="text")
```"""


def test_a_description_is_a_text_of_measured_facts(village: Any, tmp_path: Path) -> None:
    number = '```python\nreply(share_percent(segment("water")), kind="percent")\n```'
    answer, server = asked(village, tmp_path, number, FACTS, question="Describe the image in a sentence.")
    assert (answer.status, answer.answer) == ("answered", "Water covers 7 % of the image.")
    assert 'a text of measured facts: kind="text"' in said_to_the_model(server, 1)
    assert "Describe the image in a sentence" in said_to_the_model(server, 0)


def test_a_small_model_writes_no_description(village: Any, tmp_path: Path, nothing_configured: Path) -> None:
    (nothing_configured / "config.toml").write_text('[llm]\nway = "bound"\n', encoding="utf-8")
    answer, server = asked(village, tmp_path, "unasked", question="Describe the image.")
    assert (answer.status, server.received) == ("refused", [])
    assert answer.reason.startswith("A small model writes no descriptions. Next: ask with --planner offline")


def test_a_refusal_of_the_model_is_a_refusal(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, "cannot: ownership cannot be seen.", question="Who owns the buildings?")
    assert answer.status == "refused"
    assert answer.reason == "The language model finds that this cannot be measured here: ownership cannot be seen."
    declined, _ = asked(village, tmp_path, Reply(refusal="I must not."), question="Who owns the buildings?")
    assert (declined.status, declined.reason) == (
        "refused", "The language model finds that this cannot be measured here: I must not.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "status"),
    [("cannot: nobody can see that", 3), (GOOD, 0), (Reply(status=401), 1)],
    ids=["refused", "answered", "failed"],
)
def test_exit_status(village: Any, tmp_path: Path, reply: str | Reply, status: int) -> None:
    with FakeServer([reply if isinstance(reply, Reply) else Reply(reply)]) as server:
        files = ["--labels", str(village.image), "--legend", str(village.legend), "--out", str(tmp_path)]
        model = ["--planner", "llm", "--model", "tiny", "--base-url", server.base_url]
        result = CliRunner().invoke(command, ["ask", str(village.image), NEAR, *files, *model], standalone_mode=False)
    assert result.return_value == status, result.output


def test_auto_asks_the_grammar_first_and_a_model_only_where_it_has_to(village: Any, tmp_path: Path) -> None:
    answer, server = asked(village, tmp_path, GOOD, planner="auto")
    assert (answer.planner, answer.answer, server.received) == ("offline", village.near_canal, [])
    odd = "Buildings: those whose paint gets splashed (within 5 m of water), tally please"
    answer, server = asked(village, tmp_path, GOOD, planner="auto", question=odd)
    assert (answer.planner, answer.answer, len(server.received)) == ("llm", village.near_canal, 1)


def test_the_run_keeps_what_was_asked_and_replays_without_it(village: Any, tmp_path: Path) -> None:
    answer, _ = asked(village, tmp_path, Reply(UNKNOWN_TOOL, usage=(900, 0, 40)), Reply(GOOD, usage=(950, 900, 50)))
    run = load_run(Path(answer.run))
    assert (run.record["model"], run.record["tokens"]) == ("tiny", {"in": 1850, "cached": 900, "out": 90})
    assert run.record["cost"] is None
    assert set(run.record["prompts"]) == {"code_system.md", "code_question.md"}
    from swath.agent.replay import replay

    assert replay(run).same


@pytest.mark.parametrize(
    ("budget", "said", "calls"),
    [
        ("calls = 1", "The question has used up its budget of 1 calls of the model. Next: ask more simply", 1),
        ("tokens = 150", "The question has used up its budget of 150 tokens. Next: ask more simply", 2),
        ("dollars = 0.0001", "The question has used up its budget of 0.0001 dollars. Next: ask more simply", 1),
        ("seconds = 1.5", "The model took over 1.5 s for one question.", 2),
    ],
)
def test_each_budget_ends_the_question_and_keeps_the_trace(
    village: Any, tmp_path: Path, nothing_configured: Path, budget: str, said: str, calls: int
) -> None:
    (nothing_configured / "config.toml").write_text(
        f"[llm]\nprices = [1.0, 0.1, 10.0]\n[llm.budget]\n{budget}\n", encoding="utf-8"
    )
    late = Reply(GOOD, status=429, headers={"retry-after": "60"}) if "seconds" in budget else Reply(GOOD)
    drafts = [UNKNOWN_TOOL, UNUSED] if "tokens" in budget else [UNKNOWN_TOOL]
    answer, server = asked(village, tmp_path, *drafts, late)
    assert (answer.status, answer.answer) == ("failed", None)
    assert answer.reason.startswith(said)
    assert len(server.received) == calls
    run = load_run(Path(answer.run))
    assert [call["reply"] for call in run.record["model_calls"]][: len(drafts)] == drafts[:calls]
    assert (run.folder / "program.1.py").read_text(encoding="utf-8").strip() in UNKNOWN_TOOL
    assert run.steps[-1]["name"] == "answer"


def test_a_key_is_in_no_run_no_page_and_no_event(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-of-this-test-0123456789"
    monkeypatch.setenv("SWATH_API_KEY", key)
    caplog.set_level("DEBUG")
    telling = Reply(status=400, message=f"the key {key} may not do that")
    for replies in ([telling], [f"```python\n# {key}\nreply(1, kind='count')\n```", GOOD], [Reply(refusal=key)]):
        with FakeServer([one if isinstance(one, Reply) else Reply(one) for one in replies]) as server:
            files = ["--labels", str(village.image), "--legend", str(village.legend), "--out", str(tmp_path / "runs")]
            model = ["--planner", "llm", "--model", "tiny", "--base-url", server.base_url, "--json"]
            said = CliRunner().invoke(command, ["ask", str(village.image), NEAR, *files, *model])
        run = json.loads(said.stdout)["run"]
        page = CliRunner().invoke(command, ["trace", "show", run, "--html"])
        assert server.received[0].headers["authorization"] == f"Bearer {key}"
        assert key not in said.output + page.output + caplog.text
    for path in (tmp_path / "runs").rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path


def test_a_structured_plan(village: Any, tmp_path: Path, nothing_configured: Path) -> None:
    (nothing_configured / "config.toml").write_text('[llm]\nway = "structured"\n', encoding="utf-8")
    steps = [
        {"name": "b", "tool": "segment", "arguments": {"class_name": "building"}},
        {"name": "r", "tool": "components", "arguments": {"mask": "b", "larger_than_m2": None}},
        {"name": "w", "tool": "segment", "arguments": {"class_name": "water"}},
        {"name": "n", "tool": "near", "arguments": {"regions": "r", "target": "w", "max_distance_m": 5}},
        {"name": "c", "tool": "count", "arguments": {"regions": "n"}},
    ]
    plan = {"cannot": None, "measures": "houses by the water", "steps": steps,
            "answer": {"value": "c", "kind": "count", "unit": "count", "objects": "n"}}  # fmt: skip
    answer, server = asked(village, tmp_path, json.dumps(plan))
    assert (answer.status, answer.answer, answer.text) == ("answered", village.near_canal, "3: houses by the water")
    schema = server.received[0].body["response_format"]["json_schema"]
    assert schema["strict"] is True
    answer, _ = asked(village, tmp_path, "Here you are: {", f"```json\n{json.dumps(plan)}\n```")
    assert (answer.status, answer.answer) == ("answered", village.near_canal)
    refused = {"cannot": "nobody knows", "measures": "", "steps": [], "answer": None}
    answer, _ = asked(village, tmp_path, json.dumps(refused))
    assert answer.status == "refused"


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"steps": [{"name": "b", "tool": "lava", "arguments": {}}]}, "there is no tool lava"),
        ({"steps": [{"name": "b", "tool": "reply", "arguments": {}}]}, "there is no tool reply"),
        ({"steps": [{"name": "import", "tool": "segment", "arguments": {}}]}, "is not the name of a step"),
        ({"steps": [{"name": "b", "tool": "segment", "arguments": {"path": "/"}}]}, "segment takes no path"),
        ({"steps": [{"tool": "segment"}]}, "The plan is not of its schema"),
        ({"answer": {"value": "1 +", "kind": "count"}}, "The plan is not of its schema"),
        ({"answer": None}, "The plan is not of its schema"),
        ({"steps": 7}, "The plan is not of its schema"),
    ],
)
def test_a_plan_that_is_none_is_sent_back(change: dict[str, Any], hint: str) -> None:
    from llm_scenes import task

    from swath.agent.llm.structured import Structured
    from swath.errors import ProgramRejected

    plan: dict[str, Any] = {"cannot": None, "measures": "m", "steps": [], "answer": {"value": "b", "kind": "count"}}
    with pytest.raises(ProgramRejected) as caught:
        Structured().program(json.dumps(plan | change), task("How many buildings?"))
    assert hint in caught.value.hints[0]


def test_a_reply_without_end_is_asked_again_for_less(village: Any, tmp_path: Path) -> None:
    endless = Reply("x = 1\n" * 20, finish="length")
    program = 'reply(count(components(segment("building"))), kind="count")'
    with FakeServer([endless, Reply(f"```python\n{program}\n```")]) as server:
        answer = swath.ask(village.image, "How many buildings are there?", planner="llm", model="m",
                           base_url=server.base_url, out=tmp_path, **village.options)  # fmt: skip
    assert answer.answer == village.houses
    assert "The reply was longer than 1000 tokens: write less." in server.received[1].body["messages"][1]["content"]
