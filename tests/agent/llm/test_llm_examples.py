"""Worked examples teach what is true: both spellings of each measure the same thing."""

from __future__ import annotations

import pytest
from gbnf_grammars import Gbnf
from llm_scenes import painted_site, replied, task

from swath.agent.llm.bound import Bound
from swath.agent.llm.code import Code
from swath.agent.llm.examples import similar
from swath.agent.llm.exchange import Grammar
from swath.agent.llm.held import faults
from swath.errors import Refused
from swath.prompts.examples import Example, examples
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site

ANSWERED = [example for example in examples() if not example.program.startswith("cannot")]
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
