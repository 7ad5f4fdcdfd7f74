"""`swath llm check` against servers that can do some things and not others; what it finds is used from then on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swath.agent.llm.check import QUESTIONS
from swath.agent.llm.remembered import Manner, manner_of, remember
from swath.agent.llm.settings import Settings
from swath.cli import swath
from swath.errors import InputError
from swath.testing.llm_server import FakeServer, Received, Reply

EVERYTHING = frozenset({"code", "schema", "tools", "grammar", "vision"})
PROSE = "Rain falls, and I like it."
PROGRAMS = {
    QUESTIONS[0][0]: "wet = near(components(segment('building'), larger_than_m2=50), segment('water'), "
    "max_distance_m=10)\nreply(count(wet), kind='count', objects=wet)",
    QUESTIONS[1][
        0
    ]: "reply(convert(area_m2(segment('water')), from_unit='m2', to_unit='ha'), kind='quantity', unit='ha')",
}
EXPRESSIONS = {
    QUESTIONS[0][0]: 'count(near(components("building", larger_than="50 m2"), "water", max_distance="10 m"))',
    QUESTIONS[1][0]: 'area_m2("water")',
}


def step(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "tool": tool, "arguments": arguments}


PLANS = {
    QUESTIONS[0][0]: [
        [step("b", "segment", class_name="building"), step("w", "segment", class_name="water"),
         step("r", "components", mask="b", larger_than_m2=50), step("n", "near", regions="r", target="w",
                                                                    max_distance_m=10),
         step("c", "count", regions="n")],
        {"value": "c", "kind": "count", "unit": "count", "objects": "n"},
    ],
    QUESTIONS[1][0]: [
        [step("w", "segment", class_name="water"), step("a", "area_m2", of="w"),
         step("h", "convert", value="a", from_unit="m2", to_unit="ha")],
        {"value": "h", "kind": "quantity", "unit": "ha", "objects": None},
    ],
}  # fmt: skip


def able(*abilities: str, refuses: bool = False) -> Callable[[Received], Reply]:
    """A model that can do some things; of others it is silent, or its server refuses them."""

    def reply(call: Received) -> Reply:
        body = call.body
        asked = json.dumps(body["messages"])
        question = next((question for question in PROGRAMS if question in asked), None)
        wanted = {"grammar": "grammar", "schema": "response_format", "tools": "tools"}
        for ability, name in wanted.items():
            if name in body:
                if ability not in abilities:
                    return Reply(status=400, message=f"{name} is not supported") if refuses else Reply(PROSE)
                return shaped(ability, question)
        if "image_url" in asked:
            return Reply("Red.") if "vision" in abilities else Reply(status=400, message="no pictures")
        if question is None:
            return Reply("ok")
        return Reply(f"```python\n{PROGRAMS[question]}\n```" if "code" in abilities else PROSE)

    return reply


def shaped(ability: str, question: str | None) -> Reply:
    if ability == "grammar":
        return Reply("zebra-123" if question is None else EXPRESSIONS[question])
    text = '{"number": 7}'
    if question is not None:
        steps, answer = PLANS[question]
        text = json.dumps({"cannot": None, "measures": "it", "steps": steps, "answer": answer})
    return Reply(text, function="plan" if ability == "tools" else None)


def checked(abilities: frozenset[str] | tuple[str, ...], **options: Any) -> tuple[dict[str, Any], int]:
    models = [{"id": "tiny", "max_model_len": options.pop("tokens", 32_768)}]
    with FakeServer(able(*abilities, **options), models=models) as server:
        arguments = ["llm", "check", "--model", "tiny", "--base-url", server.base_url, "--json"]
        result = CliRunner().invoke(swath, arguments, standalone_mode=False)
        assert result.exception is None, result.exception
        report = json.loads(result.stdout)
        if report["manner"]:
            known = manner_of(Settings("tiny", base_url=server.base_url))
            assert report["manner"] == {"way": known.way, "profile": known.profile, "vision": known.vision}
    return report, result.return_value


def works(report: dict[str, Any]) -> set[str]:
    return {finding["what"] for finding in report["findings"] if finding["works"]}


def test_a_model_that_can_do_everything_is_asked_for_code() -> None:
    report, status = checked(EVERYTHING)
    assert works(report) == {
        "answers", "JSON schema", "tool calls", "GBNF grammar", "vision", "the way code", "the way structured",
        "the way tools", "the way bound", "the way bound-json",
    }  # fmt: skip
    assert (report["manner"], status) == ({"way": "code", "profile": "full", "vision": True}, 0)


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize(
    ("abilities", "manner"),
    [
        (("grammar",), ("bound", "small")),
        (("schema",), ("structured", "full")),
        (("tools",), ("tools", "full")),
        (("code", "vision"), ("code", "full")),
    ],
)
def test_the_way_is_one_that_the_server_can_hold_a_model_to(
    abilities: tuple[str, ...], manner: tuple[str, str], refuses: bool
) -> None:
    report, _ = checked(abilities, refuses=refuses)
    assert tuple(report["manner"].values()) == (*manner, "vision" in abilities)
    names = {"grammar": "GBNF grammar", "schema": "JSON schema", "tools": "tool calls", "vision": "vision"}
    assert works(report) & set(names.values()) == {names[name] for name in abilities if name in names}


def test_a_short_conversation_asks_for_the_small_prompt() -> None:
    report, _ = checked(EVERYTHING, tokens=4_096)
    assert report["manner"] == {"way": "bound", "profile": "small", "vision": True}


def test_a_model_that_does_not_answer_is_said_so() -> None:
    with FakeServer([Reply(status=404)]) as server:
        arguments = ["llm", "check", "--model", "tiny", "--base-url", server.base_url]
        result = CliRunner().invoke(swath, arguments, standalone_mode=False)
    assert result.return_value == 1
    assert "has no model tiny at this address (404)" in result.stdout


def test_the_table_is_for_people() -> None:
    with FakeServer(able("code")) as server:
        arguments = ["llm", "check", "--model", "tiny", "--base-url", server.base_url]
        result = CliRunner().invoke(swath, arguments, standalone_mode=False)
    assert "GBNF grammar  no" in result.stdout
    assert "the way code  yes  2 of 2 right" in result.stdout
    assert "tiny is asked in the way code with the full prompt." in result.stdout


def test_what_is_configured_wins_over_what_is_remembered(nothing_configured: Path) -> None:
    model = Settings("tiny", base_url="http://one/v1")
    remember(model, Manner("tools", "small"))
    assert manner_of(model) == Manner("tools", "small")
    assert manner_of(Settings("tiny", base_url="http://two/v1")) == Manner("code", "full")
    assert manner_of(Settings("tiny", base_url="http://one/v1", way="bound")) == Manner("bound", "small")
    assert manner_of(Settings("model.gguf")) == Manner("bound", "small")
    (nothing_configured / "cache" / "llm.json").write_text('{"tiny at one": {"way": "magic"}}', encoding="utf-8")
    assert manner_of(model) == Manner("code", "full")
    remember(model, Manner("bound", "small"))
    assert manner_of(model) == Manner("bound", "small")


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"llm\.json cannot be written: .* Next: name another folder in SWATH_CACHE"):
        remember(Settings("tiny"), Manner("code", "full"), {"SWATH_CACHE": str(tmp_path / "file" / "below")})
