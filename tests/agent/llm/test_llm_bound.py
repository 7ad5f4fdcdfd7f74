"""The bound way: whatever its grammar lets a model write is a program that the checker takes."""

from __future__ import annotations

import ast
import random
import tomllib
from pathlib import Path

import pytest
from gbnf_grammars import Gbnf
from llm_scenes import CLASSES, painted_site, replied, task

import swath.prompts
from swath.agent.checker import check, depends_on_measurement
from swath.agent.execution import surface
from swath.agent.llm.bound import Bound
from swath.agent.llm.bound_compile import compiled
from swath.agent.llm.bound_forms import written_by
from swath.agent.llm.bound_rules import rules_of
from swath.agent.llm.exchange import Grammar
from swath.agent.llm.expression import label, operations
from swath.agent.llm.given import given
from swath.errors import PlanError, ProgramRejected, Refused
from swath.tools.site import Site

FAMILIES = Path(swath.prompts.__file__).with_name("families.toml")
QUESTIONS = (
    "How many buildings are there?",
    "How many buildings larger than 0.1 ha are within 50 m of water but further than 0.2 km from a road?",
    "What percentage of the vegetation patches smaller than 2 acres lies within 100 ft of water?",
    "Does vegetation cover more than 30% of the image?",
    "What is the area of the 3 largest buildings of at least 20 pixels?",
    "How much power could panels of 18% efficiency on roofs give?",
    "How tall are the buildings over 6 m, and how steep is the slope?",
    'How much "quoted" stuff is there?',
    "What is near the thing?",
)


def grammar_of(question: str, classes: tuple[str, ...] = CLASSES) -> Gbnf:
    shape = Bound().shape(task(question, classes))
    assert isinstance(shape, Grammar)
    return Gbnf.read(shape.gbnf)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return painted_site(tmp_path_factory.mktemp("painted"))


NO_SENSE = (
    "a share of itself",
    "is there twice",
    "of a thing and itself",
    "of a part of a thing and the whole thing",
    "and beyond the same distance",
    "The question asks for",
)
"""What the grammar lets through and the compiler sends back."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_whatever_the_grammar_derives_compiles_and_passes_the_checker(question: str) -> None:
    grammar, asked, rng, compiled_well = grammar_of(question), task(question), random.Random(1), 0
    for _ in range(600):
        text = grammar.derived(rng, start="answer")
        assert grammar.holds(text, "answer")
        try:
            program = Bound().program(text, asked)
        except ProgramRejected as fault:
            assert any(sense in str(fault) for sense in NO_SENSE), fault
        else:
            check(program.source, surface())
            compiled_well += 1
            if compiled_well == 20:
                return
    pytest.fail(f"only {compiled_well} of 600 compile")


def test_derived_expressions_run_or_come_back_as_hints(site: Site) -> None:
    grammar, rng = grammar_of(QUESTIONS[1]), random.Random(2)
    ran = 0
    for _ in range(25):
        try:
            program = Bound().program(grammar.derived(rng, "answer", depth=4), task(QUESTIONS[1]))
        except ProgramRejected:
            continue
        if not depends_on_measurement(program.source, surface()):
            continue
        try:
            ran += replied(program.source, site).value is not None
        except (PlanError, Refused):
            continue
    assert ran >= 5


def test_nothing_but_the_question_s_classes_and_quantities_can_be_written() -> None:
    grammar = grammar_of("How many buildings larger than 0.1 ha are within 50 m of water?")
    assert grammar.holds('count(near(components("building", larger_than="0.1 ha"), "water", max_distance="50 m"))')
    for foreign in (
        'count(near(components("building", larger_than="0.2 ha"), "water", max_distance="50 m"))',
        'count(near(components("building", larger_than="0.1 ha"), "road", max_distance="50 m"))',
        'count(near(components("building", larger_than="50 m"), "water", max_distance="50 m"))',
        'count(components("building")); open("/etc/passwd")',
        '__import__("os")',
    ):
        assert not grammar.holds(foreign), foreign


def test_a_bound_is_not_offered_where_the_question_has_no_quantity() -> None:
    rules = grammar_of("How many buildings are near water?").rules
    assert "near(" not in str(rules["regions"]) and "components(" in str(rules["regions"])


@pytest.mark.parametrize(
    "name", ['say "hi"', "back\\slash", "line\nbreak", "x" * 300, "naïve ünicode", '") | root', "[a-z]*"]
)
def test_strange_class_names_stay_texts_in_the_grammar(name: str) -> None:
    grammar = grammar_of("How much of it is there?", (name, "water"))
    rng = random.Random(3)
    for _ in range(20):
        ast.parse(grammar.derived(rng, "mask"), mode="eval")
    check(Bound().program(f"area_m2({name!r})", task_of(name)).source, surface())


def task_of(name: str):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    asked = task("How much of it is there?", (name, "water"))
    return replace(asked, scene=replace(asked.scene, classes=(name, "water")))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("count(", "it cannot be parsed"),
        ('count("building")', "'building' is pixels, not objects: write components('building')"),
        ('area_m2("lava")', "'lava' is no class of the question"),
        ('count(components("building", larger_than="3 ha"))', '"3 ha" is no larger_than of the question'),
        ('count(components("building", weight="50 m"))', "components takes no weight"),
        ("open('x')", "open('x') has no meaning there"),
        ("area_m2(__import__('os'))", "has no meaning there"),
        ('area_m2("building", "water")', "area_m2 takes 1 things in their places"),
        ('area_m2("building") and area_m2("water")', "and, or join comparisons"),
        ('share_percent("building") > "50 m"', '"50 m" is nothing to compare percent with'),
        ('area_m2("building") > 17', "has no meaning there"),
        ('area_m2("building") - distance_m("building", "water")', "m2 and m do not go together"),
        ('area_m2("building") > area_px("water")', "m2 and px do not go together"),
        ('percent(area_m2("building"), count(components("water")))', "m2 and count do not go together"),
        ('ratio(area_m2("building"), count(components("water")))', "m2 and count do not go together"),
        ("", "it cannot be parsed"),
        ("(" * 500, "it cannot be parsed"),
    ],
)
def test_what_is_no_expression_comes_back_with_why(text: str, why: str) -> None:
    with pytest.raises(ProgramRejected) as caught:
        Bound().program(text, task("How many buildings are within 50 m of water?"))
    assert why in caught.value.hints[0]
    assert caught.value.source == text.strip()


def test_every_operation_is_in_the_grammar_of_a_question_with_all_quantities() -> None:
    families = {operation.tool.family: operation.tool.name for operation in operations().values()}
    named = " ".join(_words_of_family(family, name) for family, name in families.items())
    question = f"Over 1 ha, 20 px, 30 m, 18%, 15 degrees in the north: the 2 largest? {named}"
    rules = str(grammar_of(question, ("marsh",)).rules) + str(grammar_of("Which share of the marsh", ("marsh",)).rules)
    assert [name for name in operations() if f"{name}(" not in rules] == []


def test_compound_values_are_answered_in_the_asked_unit(site: Site) -> None:
    asked = task("How many hectares more vegetation than water is there?")
    more = replied(Bound().program('area_m2("vegetation") - area_m2("water")', asked).source, site)
    plain = replied(
        'reply(area_m2(segment("vegetation")) - area_m2(segment("water")), kind="quantity", unit="m2")', site
    )
    assert more.unit == "ha"
    assert more.value == pytest.approx(plain.value / 1e4, rel=1e-12)


def _words_of_family(family: str, name: str) -> str:
    words = tomllib.loads(FAMILIES.read_text(encoding="utf-8"))["words"]
    return words.get(family, name.split("_"))[0]


@pytest.mark.parametrize(
    ("question", "expression", "said"),
    [
        ("How many hectares of water are there?", 'count(components("water"))', "asks for ha, but this gives count"),
        ("What percentage is water?", 'share_percent("water", of="water")', "a share of itself is always 100 percent"),
        (
            "How much water is there?",
            'area_m2(located_in(components("water"), "water"))',
            "of a part of a thing and the",
        ),
        (
            "How much water is within 20 m of a road?",
            'area_m2(within(largest(components("water"), n=1), "water", max_distance="20 m"))',
            "of a part of a thing and the whole thing",
        ),
        (
            "How much water is within 20 m of a road?",
            'area_m2(beyond(within("water", "road", max_distance="20 m"), "road", larger_than="20 m"))',
            "beyond the same distance of it",
        ),
    ],
)
def test_what_cannot_be_meant_comes_back_with_why(question: str, expression: str, said: str) -> None:
    classes = {name: (name,) for name in ("water", "road")}
    with pytest.raises(ProgramRejected, match=said):
        compiled(expression, given(question, ("water", "road")), classes)


def test_what_is_left_of_a_thing_without_a_part_of_it_can_be_meant() -> None:
    asked = task("How many buildings are not among the 2 largest?")
    expression = 'count(exclude(components("building"), largest(components("building"), n=2)))'
    assert "exclude(" in Bound().program(expression, asked).source


def test_a_volume_is_in_cubic_metres() -> None:
    asked = task("What is the volume of the buildings in cubic metres?")
    assert 'unit="m3"' in Bound().program('volume_m3("building")', asked).source
    with pytest.raises(ProgramRejected, match="asks for m3, but this gives m2"):
        Bound().program('area_m2("building")', asked)


SIZES = ("larger than 1 ha", "of at most 40 m2", "between 1 ha and 2 ha", "(ignoring those under 40 m2)", "")
PLACES = ("within 50 m of water", "more than 80 m away from roads", "that are within 50 m of water",
          "within 50 m of water and 20 m of roads", "not counting those within 30 m of a road", "")  # fmt: skip
FRAMES = ("How many buildings {} {} are there?", "What is the area in ha of buildings {} {}?",
          "Is there a building {} {}?", "Which share of the buildings {} is {}?",
          "{} What is the mean size in m2 of buildings {}?")  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("place", PLACES)
def test_every_quantity_and_class_of_a_question_has_a_place_in_its_grammar(frame: str, place: str) -> None:
    for size in SIZES:
        for parts in ((size, place), (place, size)):
            asked = task(frame.format(*parts))
            classes = {" or ".join(names): names for _, names in asked.given.classes}
            written = written_by(rules_of(asked.given, classes), "answer")
            wanted = {label(amount) for amount in asked.given.amounts if amount.unit}
            assert wanted | set(classes) <= written, asked.given.question
