"""Which tools a model is told of, and how they are spelt."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

import pytest
from llm_scenes import task

from swath.agent.execution import surface
from swath.agent.llm.bound import Bound
from swath.agent.llm.code import Code
from swath.agent.llm.expression import operations
from swath.agent.llm.offered import always, bare, families, further, offered, typed
from swath.agent.llm.structured import Structured


def test_every_question_has_the_core_and_no_more() -> None:
    names = {tool.name for tool in offered("How many buildings are within 50 m of water?")}
    assert {"segment", "components", "near", "count", "area_m2", "share_percent"} <= names
    assert not names & {"tallest", "slope_mask", "boxes_px", "reply"}
    assert further("What percentage of the area has water?") == ()


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("How tall is the TALLEST building?", "tallest"),
        ("Which share floods at 3 m?", "flood_mask"),
        ("Where is the longest bridge?", "length_m"),
        ("Combien, en hauteur: height?", "height_statistic_m"),
    ],
)
def test_a_word_brings_its_family(question: str, tool: str) -> None:
    assert tool in {found.name for found in further(question)}


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        ("How tall is the tallest building?", {"tallest", "height_statistic_m"}),
        ("How many buildings taller than 10 m are within 100 m of water?", {"with_height"}),
        ("How large is the red roof closest to the lake?", {"of_colour"}),
        ("What colour is the largest building?", {"dominant_colour"}),
        ("What share is steeper than 15 degrees?", {"slope_mask"}),
        ("Are the houses clustered or scattered?", {"distribution"}),
        ("How many buildings are round?", {"of_shape"}),
        ("Is this a rural or an urban scene?", {"rural_or_urban"}),
        ("Where is the second largest building from the left?", {"boxes_px", "nth", "extreme"}),
    ],
)
@pytest.mark.parametrize("way", [Bound, Code, Structured])
def test_every_way_is_told_of_what_the_question_needs(way: Any, question: str, tools: set[str]) -> None:
    asked = task(question)
    told = way(small=True).system().text + way(small=True).question(asked).text
    listed = {name for name in tools if way is not Bound or name in operations()}
    assert listed and all(f"{name}(" in told for name in listed)


@pytest.mark.parametrize(
    "question",
    [
        "How much green cover is there?",
        "How many buildings between 1 and 2 ha are there?",
        "How many buildings of at most 2 ha are there?",
        "How many roads above 300 square metres and below 1 ha are there?",
        "How much water in square metres is within 20 m around roads?",
        "What is the area of the most extensive water body?",
        "How many buildings are there when those under 40 m2 are left out?",
    ],
)
def test_words_for_classes_quantities_and_their_bounds_bring_no_family(question: str) -> None:
    assert further(task(question).given.beside) == ()


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("How many buildings higher than 6 m are there?", "with_height"),
        ("How many buildings over 30 m2 are square?", "of_shape"),
        ("Are buildings over 30 m2 above the road?", "on_side"),
        ("Which building over 30 m2 is most to the left?", "extreme"),
    ],
)
def test_the_same_words_elsewhere_do(question: str, tool: str) -> None:
    assert tool in {found.name for found in further(task(question).given.beside)}


def test_every_family_can_be_reached() -> None:
    text = resources.files("swath.prompts").joinpath("families.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)["words"]
    assert set(words) <= {tool.family for tool in surface().values()}
    for tool in surface().values():
        asked = words.get(tool.family, [tool.name.replace("_", " ")])[0]
        assert tool in offered(f"about {asked}?") or tool.name == "reply", tool.name


def test_spellings() -> None:
    near = surface()["near"]
    assert typed(near) == "near(regions: Regions, target: Area, *, max_distance_m=, smaller_than_m=) -> Regions"
    assert bare(near) == "near(regions, target, max_distance_m=, smaller_than_m=)"
    assert typed(surface()["count"]) == "count(regions: Regions) -> int"
    assert 'axis: "width"|"height"' in typed(surface()["image_size_px"])


def test_one_line_a_tool_or_one_a_family() -> None:
    assert [(name, len(lines)) for name, lines in families(always(), short=True)][:2] == [("masks", 1), ("regions", 1)]
    assert sum(len(lines) for _, lines in families(always(), short=False)) == len(always())
