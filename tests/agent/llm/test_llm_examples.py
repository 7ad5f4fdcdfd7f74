"""Worked examples teach what is true: both spellings of each measure the same thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gbnf_grammars import Gbnf
from jsonschema import Draft202012Validator
from llm_scenes import painted_site, replied, task

from swath.agent.execution import surface
from swath.agent.llm.bound import Bound
from swath.agent.llm.code import Code
from swath.agent.llm.examples import similar
from swath.agent.llm.exchange import Grammar, Schema
from swath.agent.llm.held import faults
from swath.agent.llm.plans import plan_of
from swath.agent.llm.structured import Structured
from swath.errors import Refused
from swath.prompts.examples import Example, examples
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site

ANSWERED = [example for example in examples() if not example.program.startswith("cannot")]
PLANNED = [example for example in ANSWERED if plan_of(example.program) is not None]
EXAMPLE = 'reply(count(components(segment("building"))), kind="count")'
EXPRESSED = [example for example in examples() if example.expression]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return painted_site(tmp_path_factory.mktemp("painted"))


@pytest.mark.parametrize(
    "example", [example for example in ANSWERED if example.expression], ids=lambda example: example.question[:40]
)
def test_both_spellings_of_an_example_measure_the_same(example: Example, site: Site) -> None:
    code = Code().program(f"```python\n{example.program}\n```", task(example.question))
    bound = Bound().program(example.expression, task(example.question))
    first, second = replied(code.source, site), replied(bound.source, site)
    assert type(first.value) is type(second.value)
    assert first.value == (second.value if isinstance(second.value, str) else pytest.approx(second.value, rel=1e-12))
    assert (first.kind, first.unit) == (second.kind, second.unit)
    if isinstance(first.objects, Regions) and isinstance(second.objects, Regions):
        assert len(first.objects) == len(second.objects)
    elif isinstance(first.objects, Mask) and isinstance(second.objects, Mask):
        assert (first.objects.pixels == second.objects.pixels).all()


@pytest.mark.parametrize("example", PLANNED, ids=lambda example: example.question[:40])
def test_an_example_s_plan_is_of_the_schema_and_measures_the_same(example: Example, site: Site) -> None:
    asked = task(example.question)
    plan = plan_of(example.program)
    assert plan is not None
    for small in (True, False):
        shape = Structured(small=small).shape(asked)
        assert isinstance(shape, Schema)
        # Strict structured output wants every property; the plan of the large prompt has nulls for the rest.
        Draft202012Validator(shape.schema).validate(json.loads(plan) if small else with_nulls(json.loads(plan)))
    first = replied(example.program, site)
    second = replied(Structured().program(plan, asked).source, site)
    assert first.value == (second.value if isinstance(second.value, str) else pytest.approx(second.value, rel=1e-12))
    assert (first.kind, first.unit) == (second.kind, second.unit)
    if example.program.startswith("# "):
        assert Structured().program(plan, asked).reading == example.program.partition("\n")[0].lstrip("# ")


def with_nulls(plan: dict[str, Any]) -> dict[str, Any]:
    """The same plan with every argument that its tools could take."""
    steps = [
        {**step, "arguments": {**dict.fromkeys(surface()[step["tool"]].signature.parameters), **step["arguments"]}}
        for step in plan["steps"]
    ]
    return {**plan, "steps": steps}


def test_all_examples_but_the_sentence_are_plans() -> None:
    assert [replied_kind(example.program) for example in ANSWERED if example not in PLANNED] == ["text"]


def replied_kind(program: str) -> str:
    return program.rpartition('kind="')[2].partition('"')[0]


def test_a_plan_names_classes_of_the_scene_and_steps_alone() -> None:
    shape = Structured(small=True).shape(task("How many buildings are there?"))
    assert isinstance(shape, Schema)
    plan = json.loads(str(plan_of(EXAMPLE)))
    held = Draft202012Validator(shape.schema)
    assert held.is_valid(plan)
    plan["steps"][0]["arguments"]["class_name"] = "lava"
    assert not held.is_valid(plan)
    plan = json.loads(str(plan_of(EXAMPLE)))
    plan["steps"][1]["arguments"]["mask"] = "#1"
    assert not held.is_valid(plan)


@pytest.mark.parametrize("example", ANSWERED, ids=lambda example: example.question[:40])
def test_every_example_is_worth_measuring(example: Example, site: Site) -> None:
    value = replied(example.program, site).value
    assert isinstance(value, bool) or value not in (0, ""), "the scene does not tell this example from a wrong one"


@pytest.mark.parametrize("example", ANSWERED, ids=lambda example: example.question[:40])
def test_every_quantity_and_class_of_an_example_is_used(example: Example) -> None:
    assert faults(example.program, task(example.question).given) == []


@pytest.mark.parametrize("example", EXPRESSED, ids=lambda example: example.question[:40])
def test_every_expression_is_of_its_question_s_grammar(example: Example) -> None:
    shape = Bound().shape(task(example.question))
    assert isinstance(shape, Grammar)
    assert Gbnf.read(shape.gbnf).holds(example.expression)


def test_an_example_shows_how_to_refuse() -> None:
    refusing = [example for example in examples() if example not in ANSWERED]
    assert refusing and all(example.expression.startswith("cannot: ") for example in refusing)
    for example in refusing:
        for way, text in ((Code(), example.program), (Bound(), example.expression)):
            with pytest.raises(Refused, match="The language model finds that this cannot be measured here: prices"):
                way.program(text, task(example.question))


def test_similar_examples_come_last() -> None:
    chosen = similar("How many houses lie within 30 m of the river?", 3)
    assert len(chosen) == 3
    assert "within" in chosen[-1].question
    assert "fragmented" in similar("Is the forest connected or fragmented?", 1)[0].question
