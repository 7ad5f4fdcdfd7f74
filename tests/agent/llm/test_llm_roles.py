"""What stands beside a quantity: read where it is certain, and not said where it is not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from llm_scenes import task

from swath.agent.llm.bound_grammar import grammar
from swath.agent.llm.bound_rules import rules_of
from swath.agent.llm.roles import Roles


def roles(question: str) -> Roles:
    return task(question).given.roles


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("How many buildings are there?", {"count"}),
        ("How many hectares of water are there?", {"m2"}),
        ("What percentage of the image is water?", {"percent"}),
        ("Solar potential of the roofs in kW?", {"kW"}),
        ("Is there any water?", {"truth"}),
        ("Would you say water exceeds vegetation in area?", {"truth"}),
        ("Within 50 m of water, is there a building?", {"truth"}),
        ("Is there more water or vegetation?", {"truth", "name"}),
        ("Is the road connected or fragmented?", {"name"}),
        ("What is near the water?", set()),
        ("Please describe the image.", {"text"}),
        ("Write a caption for this picture.", {"text"}),
        ("How many buildings per km2 are there?", set()),
        ("How many times larger is the water than the road?", set()),
        ("Can you count the buildings?", {"count"}),
        ("Is under a third of what can be seen water?", {"truth"}),
        ("Does water make up over 10 % of what is visible?", {"truth"}),
        ("Is there water, and what percentage of the image is it?", {"percent"}),
        ("What is the volume of the buildings in cubic metres?", {"m3"}),
    ],
)
def test_what_answers_a_question(question: str, answers: set[str]) -> None:
    assert roles(question).answers == answers


def sizes(question: str) -> dict[str, list[tuple[str, str]]]:
    found = roles(question).sizes
    return {names[0]: [(bound, amount.said) for bound, amount in bounds] for names, bounds in found.items()}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many buildings larger than 1 ha are there?", {"building": [("larger_than", "1 ha")]}),
        ("How many buildings of at most 1 ha are near water?", {"building": [("max", "1 ha")]}),
        (
            "How many buildings between 1 ha and 2 ha are there?",
            {"building": [("min", "1 ha"), ("max", "2 ha")]},
        ),
        ("Count the buildings of 1 ha or more near water.", {"building": [("min", "1 ha")]}),
        ("Ignoring buildings under 1 ha, how many are near water?", {"building": [("min", "1 ha")]}),
        ("Leaving out everything over 1 ha, how many buildings are there?", {"building": [("max", "1 ha")]}),
        ("How many buildings (leaving out those under 1 ha) are in 50 m of water?", {"building": [("min", "1 ha")]}),
        ("How many lakes are there once those of less than 1 ha are discarded?", {"water": [("min", "1 ha")]}),
        ("With roads of over 2 ha left out, is the road connected or fragmented?", {"road": [("max", "2 ha")]}),
        ("Is the road connected or fragmented, pieces below 1 ha being ignored?", {"road": [("min", "1 ha")]}),
        ("How many buildings over 1 ha are there, excluding those over 3 ha?",
         {"building": [("larger_than", "1 ha"), ("max", "3 ha")]}),
        ("How many buildings above 1 ha and below 2 ha are there?",
         {"building": [("larger_than", "1 ha"), ("smaller_than", "2 ha")]}),
        ("Buildings between 1 ha and 2 ha are excluded: how many are left?", {}),
        ("How many buildings within 50 m of water, ignoring those under 1 ha?", {}),
        ("Considering patches larger than 1 ha, is the road connected or fragmented?",
         {"road": [("larger_than", "1 ha")]}),
        ("Do vegetation patches over 1 ha lie near roads under 2 ha?",
         {"vegetation": [("larger_than", "1 ha")], "road": [("smaller_than", "2 ha")]}),
        ("Is the water larger than 1 ha?", {}),
        ("Which buildings near water, more or less 1 ha, are there?", {}),
        ("How many buildings are not larger than 1 ha and free of roads?", {}),
    ],
)  # fmt: skip
def test_a_size_belongs_to_the_class_beside_it(question: str, said: Any) -> None:
    assert sizes(question) == said


@pytest.mark.parametrize(
    ("question", "bound", "target", "subject"),
    [
        ("How many buildings are within 50 m of water?", "max_distance", "water", "building"),
        ("How many buildings have water within 50 m?", "max_distance", "water", "building"),
        ("How many buildings are more than 50 m away from a road?", "larger_than", "road", "building"),
        ("What area of vegetation in ha is in a 50 m radius of water?", "max_distance", "water", "vegetation"),
        ("How many buildings are endangered by fire because vegetation is within 50 m?", "max_distance", "vegetation",
         "building"),
        ("Is water within 50 m of roads and is a building there?", "max_distance", "road", None),
        ("What percentage of the vegetation is within 50 m of water?", "max_distance", "water", None),
    ],
)  # fmt: skip
def test_a_distance_belongs_to_its_target(question: str, bound: str, target: str, subject: str | None) -> None:
    found = roles(question)
    assert found.reach is not None
    assert (found.reach.bound, found.reach.target) == (bound, (target,))
    assert found.subject == (None if subject is None else (subject,))


@pytest.mark.parametrize(
    "question",
    [
        "Are there buildings higher than 50 m near the water?",
        "How many buildings are within 50 m of water and within 20 m of a road?",
        "How many buildings are without water within 50 m?",
        "How many buildings are 50 m long?",
        "How many buildings are there, not counting those within 50 m of water?",
    ],
)
def test_where_it_is_not_certain_nothing_is_said(question: str) -> None:
    assert roles(question).reach is None


def test_fire_that_spreads_is_no_standard_deviation() -> None:
    assert roles("If the water spread by 30 m, how many buildings would it reach?").statistic is None
    assert roles("What is the average size of buildings in m2?").statistic == "mean"


def grammar_for(question: str) -> str:
    asked = task(question)
    return grammar(rules_of(asked.given, {names[0]: names for _, names in asked.given.classes}))


@pytest.mark.parametrize(
    ("question", "present", "absent"),
    [
        ("How many buildings within 50 m of water are there?", "near(", "within("),
        ("How much vegetation in ha is within 50 m of water?", "within(", "near("),
        ("What is the full area of vegetation patches within 50 m of water in ha?", "near(", "within("),
        ("What area in ha do buildings that are within 50 m of water cover?", "near(", "within("),
        ("What area in ha does vegetation that is within 50 m of water cover?", "within(", "near("),
        ("Weighing the two, is there more water than vegetation?", "claim ::= sum-px", '"2'),
        ("What is the mean size of buildings in m2?", "area_statistic_m2(", "area_m2("),
        ("What is the area of buildings in m2?", "area_m2(", "largest("),
        ("How many buildings are there?", "count(", "image_part("),
        ("How many buildings are in the north?", "image_part(", 'share_percent(" of'),
        ("Is there more water than vegetation?", "claim ::= sum-px", "claim ::= sum-count"),
        ("Are there several buildings?", 'claim ::= sum-count " > " "1"', "claim ::= sum-px"),
    ],
)
def test_the_grammar_holds_to_it(question: str, present: str, absent: str) -> None:
    written = grammar_for(question)
    reached = _reached(written)
    assert present in reached and absent not in reached


def _reached(written: str) -> str:
    """The rules that an answer can reach."""
    rules = dict(line.split(" ::= ", 1) for line in written.strip().split("\n"))
    seen = ["answer"]
    for name in seen:
        plain = re.sub(r'"(?:\\.|[^"\\])*"', " ", rules[name])
        seen += [
            word for word in plain.replace("(", " ").replace(")", " ").split() if word in rules and word not in seen
        ]
    return "\n".join(f"{name} ::= {rules[name]}" for name in seen)
