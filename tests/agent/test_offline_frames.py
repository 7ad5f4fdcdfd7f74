"""Questions read by their parts, whatever their order, and what is left out around them; and what must not be."""

from __future__ import annotations

import pytest
from painted_town import SCENE

from swath.agent.offline import OfflinePlanner
from swath.errors import Refused

PLANNER = OfflinePlanner()


def source(question: str) -> str:
    return PLANNER.plan(question, SCENE, None).source


def refused(question: str) -> bool:
    try:
        source(question)
    except Refused:
        return True
    return False


@pytest.mark.parametrize(
    ("question", "plainly"),
    [
        ("How many buildings does the 25 m zone around the water contain?",
         "How many buildings are within 25 m of water?"),
        ("Buildings which are within 20 m of a road and also within 30 m of water - number?",
         "How many buildings are within 20 m of a road and within 30 m of water?"),
        ("The largest building in the photo - how many square metres is it?",
         "How large is the largest building in square metres?"),
        ("If patches below 200 m2 are left out, how many patches of vegetation remain?",
         "How many vegetation patches are there, ignoring patches smaller than 200 m2?"),
        ("Are there buildings with no road within 50 m, and if so how many?",
         "How many buildings have no road within 50 m?"),
        ("Roads versus buildings: which covers more ground?", "Is the road area or the building area larger?"),
        ("Among vegetation, water and barren land, which takes up the most space?",
         "Which of vegetation, water and barren land has the largest area?"),
        ("If we cover only roofs larger than 100 m2 with panels, how many kW?",
         "solar power of buildings larger than 100 m2 in kW"),
        ("Of everything that is not building, what share is vegetation?",
         "What percentage of everything but buildings is vegetation?"),
        ("Sealed = buildings and roads. How many hectares are sealed?",
         "What is the area of buildings and roads in hectares?"),
        ("How many of the buildings are not exposed, i.e. further than 50 m from any water?",
         "How many buildings are further than 50 m from water?"),
        ("Buildings farther than 50 m from water AND larger than 1000 m2: count",
         "Buildings farther than 50 m from water and larger than 1000 m2: count"),
    ],
)  # fmt: skip
def test_order_does_not_matter(question, plainly):
    assert source(question) == source(plainly)


@pytest.mark.parametrize(
    "around",
    [
        "Because we plan a bus line, I need to know: {}", "{} My editor needs the exact number.",
        "{} We are planning hygiene kits.", "Listing check. {}", "Assignment 3b: {}",
        "Would anybody be able to tell me the following: {}", "{} It is for our evacuation list.",
    ],
)  # fmt: skip
def test_what_is_about_who_asks_is_left_out(around):
    plain = "How many buildings are within 30 m of water?"
    assert source(around.format(plain)) == source(plain)


@pytest.mark.parametrize(
    "question",
    [
        "How many buildings are within 30 m of water? Only the residential ones.",
        "How many buildings are within 30 m of water? We mean residential ones.",
        "How many buildings are within 30 m of water? We are interested in residential use.",
        "How many buildings are within 30 m of water? My focus is on flats.",
        "How many buildings are within 30 m of water? Not those on our list.",
        "How many buildings are within 30 m of water, because we insure 20 flats?",
        "Abandoned: how many buildings are within 30 m of water?",
        "Our survey of 2010: how many buildings are there?",
        "Critics say there is no vegetation here. Is there any?",
        "How many buildings in the northern half are within 20 m of the roads in the southern half?",
        "buildings within 20 m of water are vegetation",
        "By how much did the vegetation grow in m2?",
        "Among vegetation, which takes up the most space?",
        "Lush, green vegetation: what percentage is vegetation?",
        "How many buildings exactly 50 m from water?",
        "Which will be larger, road or building?",
        "How much power do the panels on the buildings within sight make, if any?",
    ],
)
def test_what_may_limit_is_not_left_out(question):
    assert refused(question)
