"""Numbers, units, politeness and number of nouns: what may vary without the program varying."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from painted_town import SCENE

from swath.agent.offline import OfflinePlanner
from swath.agent.offline.amounts import amount_at, number_at, unit_by_words, units
from swath.agent.offline.words import normalised, words_of

PLANNER = OfflinePlanner()


def source(question: str) -> str:
    return PLANNER.plan(question, SCENE, None).source


def amount(text: str) -> tuple[Decimal, str | None]:
    found, length = amount_at(words_of(normalised(text)), 0)
    assert length == len(words_of(normalised(text)))
    return found.value, found.unit.key if found.unit else None


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("100m", "100", "m"),
        ("0.5 ha", "0.5", "ha"),
        ("0,125 hectares", "0.125", "ha"),
        ("1,250 sq ft", "1250", "sqft"),
        ("10 000 m²", "10000", "m2"),
        ("2.5k sq. ft.", "2500", "sqft"),
        ("a quarter acre", "0.25", "acre"),
        ("a quarter of an acre", "0.25", "acre"),
        ("half a hectare", "0.5", "ha"),
        ("1/4 acre", "0.25", "acre"),
        ("½ acre", "0.5", "acre"),
        ("2 1/2 acres", "2.5", "acre"),
        ("one and a half hectares", "1.5", "ha"),
        ("twenty five metres", "25", "m"),
        ("three hundred and twenty yards", "320", "yd"),
        ("two point five km", "2.5", "km"),
        ("a dozen", "12", None),
        ("an acre", "1", "acre"),
        ("three-quarters", "0.75", None),
        ("30%", "30", "percent"),
        ("500 square-metres", "500", "m2"),
        ("1e3 m2", "1000", "m2"),
    ],
)
def test_amounts_as_people_write_them(text, value, unit):
    assert amount(text) == (Decimal(value), unit)


@given(st.integers(0, 999_999), st.sampled_from(["{}", "{:,}"]))
def test_whole_numbers_survive_their_formats(number, form):
    assert number_at(words_of(form.format(number)), 0)[0] == number


@given(st.decimals("0.001", "9999", places=3, allow_nan=False), st.sampled_from(sorted(units())))
def test_every_spelling_of_a_unit_is_that_unit(value, key):
    spellings = [" ".join(words) for words, unit in unit_by_words().items() if unit.key == key and words[0].isascii()]
    for spelling in spellings:
        assert amount(f"{value} {spelling}") == (value, key)


@settings(deadline=None)  # the first question of a process builds the grammar
@given(
    st.decimals("0.01", "500", places=2, allow_nan=False),
    st.sampled_from([("ha", "m2", 10_000), ("km2", "ha", 100), ("acre", "sqft", 43_560), ("sqyd", "sqft", 9)]),
)
def test_sizes_in_two_units_are_the_same_program(value, pair):
    large, small, factor = pair
    limits = [
        float(re.search(r"larger_than_m2=([\d.e+-]+)", source(f"How many buildings are larger than {text}?"))[1])
        for text in (f"{value} {large}", f"{value * factor} {small}")
    ]
    assert limits[0] == pytest.approx(limits[1], rel=1e-12)


WRAPPERS = (
    "{}", "Please, {}", "Can you tell me {}", "Could you please tell me {} Thanks!", "I'd like to know {}",
    "Hello, {}", "I need to know {} for our report", "As a planner I need to know {}", "hi, {} cheers",
)  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "question",
    [
        "how many buildings are within 20 m of a road?",
        "what is the total area of water in hectares?",
        "what percentage of the image is vegetation?",
        "is there any water within 10 m of a building?",
        "how far is the largest building from the water?",
    ],
)
def test_politeness_does_not_change_the_program(wrapper, question):
    assert source(wrapper.format(question)) == source(question)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many building are within 20 metre of road?", "How many buildings are within 20 metres of roads?"),
        ("What is the area of the solar panel in m2?", "What is the area of the solar panels in m2?"),
        ("How many pond larger than 1 acre?", "How many ponds larger than 1 acres?"),
        ("HOW MANY BUILDINGS ARE THERE", "how many buildings are there?"),
        ("how many buildings", "How many buildings are there in this image?"),
        ("What percentage of the image is vegetation", "What percent of this picture is covered by vegetation?"),
        ("How many buildings are larger than 0.01 ha?", "How many buildings (> 0.01 ha) are there?"),
        ("How many buildings are within 20 m of water?", "How many buildings lie no further than 20 m from water?"),
        ("How many buildings are at least 100 m2?", "How many buildings of 100 m² or more are there?"),
        ("buildings in the north east corner: how many?", "How many buildings are in the northeastern quadrant?"),
    ],
)
def test_the_same_question_in_other_words_is_the_same_program(one, other):
    assert source(one) == source(other)
