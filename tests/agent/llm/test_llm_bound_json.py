"""The bound way without grammars: the same rules as a JSON Schema, and JSON that is read back as an expression."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from llm_scenes import task

import swath
from swath.agent.checker import check
from swath.agent.execution import surface
from swath.agent.llm.bound import Bound
from swath.agent.llm.bound_schema import EXPRESSION, expression_of, json_of
from swath.agent.llm.exchange import Schema
from swath.errors import ProgramRejected, Refused
from swath.prompts.examples import Example, examples
from swath.testing.llm_server import FakeServer, Reply

QUESTION = "How many buildings larger than 0.1 ha are within 50 m of water?"
EXPRESSED = [example for example in examples() if example.expression]
WAY = Bound(as_json=True)


def schema_of(question: str) -> dict[str, Any]:
    shape = WAY.shape(task(question))
    assert isinstance(shape, Schema)
    return dict(shape.schema)


@pytest.mark.parametrize("example", EXPRESSED, ids=lambda example: example.question[:40])
def test_every_example_is_of_its_schema_and_means_the_same_in_both_spellings(example: Example) -> None:
    said = json_of(example.expression)
    jsonschema.Draft202012Validator(_lenient(schema_of(example.question))).validate(said)
    asked = task(example.question)
    if said[EXPRESSION] is None:
        with pytest.raises(Refused, match="prices are not measured"):
            WAY.program(json.dumps(said), asked)
    else:
        assert WAY.program(json.dumps(said), asked).source == Bound().program(example.expression, asked).source


@pytest.mark.parametrize(
    "question",
    [QUESTION, "Does vegetation cover more than 30%?", "Is there more water or road?", "How much is near it?"],
)
def test_whatever_the_schema_allows_compiles(question: str) -> None:
    schema, rng, compiled = schema_of(question), random.Random(4), 0
    for _ in range(60):
        said = {"cannot": None, EXPRESSION: _derived({"$ref": "#/$defs/answer"}, schema["$defs"], rng, 12)}
        jsonschema.Draft202012Validator(schema).validate(said)
        try:
            program = WAY.program(json.dumps(said), task(question))
        except ProgramRejected as fault:
            senseless = ("is there twice", "and itself", "of itself", "and the whole thing", "asks for")
            assert any(why in str(fault) for why in senseless), fault
        else:
            check(program.source, surface())
            compiled += 1
    assert compiled >= 15


def _lenient(schema: Any) -> Any:
    """A schema whose null properties may be left out, as worked examples leave them out."""
    if isinstance(schema, list):
        return [_lenient(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _lenient(part) for name, part in schema.items()}
    if isinstance(schema.get("properties"), dict):
        made["required"] = [
            name for name, part in schema["properties"].items() if {"type": "null"} not in part.get("anyOf", [])
        ]
    return made


def _derived(rule: dict[str, Any], rules: dict[str, Any], rng: random.Random, depth: int) -> Any:
    if "$ref" in rule:
        return _derived(rules[rule["$ref"].removeprefix("#/$defs/")], rules, rng, depth - 1)
    if "anyOf" in rule:
        options = sorted(rule["anyOf"], key=lambda option: _height(option, rules, 9))
        return _derived(options[0] if depth <= 0 else rng.choice(options), rules, rng, depth - 1)
    if "enum" in rule:
        return rng.choice(rule["enum"])
    if rule["type"] == "null":
        return None
    return {name: _derived(part, rules, rng, depth - 1) for name, part in rule["properties"].items()}


def _height(rule: dict[str, Any], rules: dict[str, Any], most: int) -> int:
    if most == 0 or "enum" in rule or rule.get("type") == "null":
        return 0 if most else 99
    if "$ref" in rule:
        return 1 + _height(rules[rule["$ref"].removeprefix("#/$defs/")], rules, most - 1)
    if "anyOf" in rule:
        return 1 + min(_height(option, rules, most - 1) for option in rule["anyOf"])
    return 1 + max(_height(part, rules, most - 1) for part in rule["properties"].values())


def test_nothing_but_the_question_s_classes_and_quantities_is_of_the_schema() -> None:
    right = json_of('count(near(components("building", larger_than="0.1 ha"), "water", max_distance="50 m"))')
    validator = jsonschema.Draft202012Validator(schema_of(QUESTION))
    validator.validate(right)
    text = json.dumps(right)
    for here, there in (("0.1 ha", "0.2 ha"), ("water", "road"), ("count", "open"), ("50 m", "5 m")):
        assert not validator.is_valid(json.loads(text.replace(here, there, 1))), there


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("no JSON", "The reply is not JSON"),
        ("[]", "The reply is not a JSON object."),
        ({}, "None has no meaning there"),
        ({"tool": "open", "file": "x"}, "has no meaning there"),
        ({"tool": "count"}, "count lacks regions"),
        ({"tool": "count", "regions": {"tool": "components", "mask": "water", "low); open(": "x"}}, "is no argument"),
        ({"left": 1, "sign": "; import os", "right": 1}, "has no meaning there"),
        ({"tool": "count", "regions": True}, "True has no meaning there"),
    ],
)
def test_what_is_not_of_the_schema_comes_back_with_why(said: Any, why: str) -> None:
    text = said if isinstance(said, str) else json.dumps({"cannot": None, EXPRESSION: said or None})
    with pytest.raises(ProgramRejected) as caught:
        WAY.program(text, task(QUESTION))
    assert why in caught.value.hints[0]


def test_deep_nesting_comes_back() -> None:
    said: Any = "water"
    for _ in range(60):
        said = {"tool": "complement", "mask": said}
    with pytest.raises(ValueError, match="nested too deeply"):
        expression_of(said)


def test_a_question_is_answered_by_schema(village: Any, tmp_path: Path, nothing_configured: Path) -> None:
    (nothing_configured / "config.toml").write_text('[llm]\nway = "bound-json"\nprofile = "small"\n', encoding="utf-8")
    said = json_of('count(near(components("building"), "water", max_distance="5 m"))')
    with FakeServer([Reply(json.dumps(said))]) as server:
        answer = swath.ask(village.image, "How many buildings are within 5 m of water?", planner="llm", model="tiny",
                           base_url=server.base_url, out=tmp_path, keep="light", **village.options)  # fmt: skip
        sent = server.received[0].body
    assert (answer.status, answer.answer) == ("answered", village.near_canal)
    assert sent["response_format"]["json_schema"]["strict"] is True and "grammar" not in sent
