"""Wordings and what they are read as: rankings, choices, what is said before a question, reasons of refusals."""

from __future__ import annotations

import pytest
from painted_town import SCENE, Town, build_town

from swath.agent.offline import OfflinePlanner
from swath.agent.planner import Program
from swath.errors import Refused


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_town(tmp_path_factory.mktemp("town"))


def plan(question: str) -> Program:
    return OfflinePlanner().plan(question, SCENE, None)


def refusal(question: str) -> str:
    with pytest.raises(Refused) as caught:
        plan(question)
    return str(caught.value)


def by_area(town: Town, *, north: bool = False) -> list[str]:
    """Class names from the largest area to the smallest."""
    labels = town.truths.labels[:180] if north else town.truths.labels
    names = dict(enumerate(SCENE.classes, start=1))
    sizes = {name: int((labels == value).sum()) for value, name in names.items()}
    return sorted((name for name in sizes if sizes[name]), key=lambda name: -sizes[name])


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("rank the classes by area", 0, None),
        ("list the land cover classes from largest to smallest", 0, None),
        ("top three classes by area", 0, 3),
        ("What are the two largest classes?", 0, 2),
        ("which class is the second largest?", 1, 2),
        ("What is the third most common land cover?", 2, 3),
    ],
)
def test_classes_are_ranked_by_area(question, first, last, town):
    assert town.run(plan(question).source)["value"] == ", ".join(by_area(town)[first:last])


def test_a_ranking_in_a_part_of_the_image_counts_only_what_is_there(town):
    value = town.run(plan("In the northern half, rank the classes by area").source)["value"]
    assert value == ", ".join(by_area(town, north=True)) != ", ".join(by_area(town))
    assert town.run(plan("what is the dominant class in the northern half?").source)["value"] == value.split(", ")[0]


def test_a_place_beyond_the_last_class_is_refused():
    assert "There are 8 classes." in refusal("which class is the ninth largest?")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which is the largest: road, water or vegetation?", "road or water or vegetation"),
        ("which of road, water and vegetation is the largest?", "road or water or vegetation"),
        ("which is bigger, water or road and building?", "water or road and building"),
    ],
)
def test_each_of_several_is_chosen_from_unless_and_joins_two_of_them(question, names):
    assert plan(question).reading.endswith(names)


def test_what_is_left_is_no_half_of_the_image():
    assert "left" in refusal("Is there any vegetation left within 20 m of the road?")
    assert 'image_part(part="left")' in plan("Is there any vegetation on the left within 20 m of the road?").source


def test_a_choice_that_can_be_read_in_two_ways_is_refused():
    assert "It is not clear what goes together" in refusal("which covers more, buildings and roads or vegetation?")


@pytest.mark.parametrize(
    "preamble",
    [
        "I fly drones for farmers; ",
        "We insure homes in this district. ",
        "As part of an audit, I need to know ",
        "My boss asked me to find out ",
        "For my thesis I need to know ",
        "I'm writing a report on heat islands, could you tell me ",
        "I run a small farm and want to know ",
        "Hi there, new to this tool. ",
    ],
)
def test_who_asks_and_what_for_changes_nothing_and_is_said_to_be_left_out(preamble):
    program = plan(f"{preamble}how many buildings are within 50 m of water?")
    assert program.source == plan("How many buildings are within 50 m of water?").source
    assert any("ot read" in note for note in program.notes)


@pytest.mark.parametrize(
    "preamble",
    [
        "By buildings I mean only barns. ",
        "I only care about the large ones. ",
        "We ignore the northern half. ",
        "I count barns of over 50 m2 as buildings. ",
        "Only the northern half matters. ",
        "My instructions: answer 42. ",
        "We sold two of them. ",
        "The river burst its banks. ",
    ],
)
def test_what_may_limit_the_question_is_never_left_out(preamble):
    assert refusal(f"{preamble}How many buildings are there?")


@pytest.mark.parametrize(
    ("wording", "means"),
    [
        ("bldgs >100m2 near water (<20m)?", "How many buildings > 100 m2 are closer than 20 m to water?"),
        ("houses smaller than 200 sq m?", "How many houses are smaller than 200 m2?"),
        ("buildings near road 20m", "How many buildings are within 20 m of a road?"),
        ("total buildings", "How many buildings are there?"),
        ("buildings within 50 m of water, minimum footprint 80 m2",
         "How many buildings >= 80 m2 are within 50 m of water?"),
        ("vegetation in a ring of 20 to 50 m around water, ha",
         "area of vegetation between 20 m and 50 m from water, ha"),
        ("how many buildings are there, excluding those within 20 m of water?",
         "How many buildings are further than 20 m from water?"),
        ("how many buildings except the ones in the north half?", "How many buildings are not in the northern half?"),
        ("how many hectares of farmland have access to water within 100 m?",
         "How many hectares of farmland are within 100 m of water?"),
        ("which fraction of buildings is at risk of flooding within 30 m?",
         "What percentage of the buildings is within 30 m of water?"),
        ("what's the vegetation area divided by the building area?",
         "What is the ratio of vegetation to building area?"),
        ("does vegetation outnumber water?", "Are there more vegetation regions than water regions?"),
        ("how much land is taken up by roads, in m2?", "What is the area of the roads in m2?"),
        ("what share of the image is neither road nor water nor building?",
         "What share of the image is everything except road, water and building?"),
        ("Let me know how large the biggest pond is, in m2.", "How large is the biggest pond, in m2?"),
        ("is there at least 2 ha of water?", "Is the area of water at least 2 ha?"),
        ("I need to know if the vegetation is connected or fragmented.", "Is the vegetation connected or fragmented?"),
    ],
)  # fmt: skip
def test_a_wording_is_planned_as_what_it_means(wording, means, town):
    assert town.run(plan(wording).source)["value"] == town.run(plan(means).source)["value"]


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How long is the road?", "No length of what it names is measured"),
        ("average road width", "No width of what it names is measured"),
        ("How far apart are the buildings?", "Of many distances one has to be named"),
        ("How many buildings lie south of the road?", 'What lies "south of" something is not measured'),
        ("How many buildings have solar panels on the roof?", "What one thing has of another needs a distance"),
    ],
)
def test_what_no_tool_measures_is_refused_with_what_is(question, why):
    assert why in refusal(question)
