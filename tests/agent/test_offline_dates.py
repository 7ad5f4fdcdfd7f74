"""Questions about two dates, held against truths computed without the tools; what is ambiguous is refused or said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from changed_town import SCENE, build_changed_town
from painted_town import SCENE as ONE_DATE
from painted_town import Town
from test_offline_questions import outcome

from swath.agent.offline import OfflinePlanner
from swath.agent.planner import Program, Scene
from swath.errors import Refused

FILE = Path(__file__).parent / "questions_two_dates.jsonl"
QUESTIONS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_changed_town(tmp_path_factory.mktemp("changed"))


def plan(question: str, scene: Scene = SCENE) -> Program:
    return OfflinePlanner().plan(question, scene, None)


def refusal(question: str, scene: Scene = SCENE) -> str:
    with pytest.raises(Refused) as caught:
        plan(question, scene)
    return str(caught.value)


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_question_about_two_dates_is_answered_rightly(question, town):
    result = outcome(question, town, SCENE)
    assert result == "right", f"{question['question']}\n{result}"


def test_new_objects_are_those_that_overlap_none_of_before_and_the_reading_says_so():
    program = plan("How many new buildings are larger than 50 m2?")
    assert program.reading == "number of buildings after larger than 50 m2 that overlap no building before"
    source = """\
building_after = segment("building after")
building_after_regions = components(building_after, larger_than_m2=50)
building_before = segment("building before")
overlapping_building_after = overlapping(building_after_regions, building_before)
building_after_alone = exclude(building_after_regions, overlapping_building_after)
reply(count(building_after_alone), kind="count", objects=building_after_alone)
"""
    assert program.source == source


def test_a_class_without_a_date_is_that_of_after_and_a_note_says_so():
    program = plan("How many buildings are within 20 m of water?")
    assert 'Where no date is said, "after" is taken.' in program.notes
    assert program.source == plan("How many buildings are now within 20 m of water?").source
    assert "before" not in program.source


def test_what_is_near_is_taken_at_the_date_of_what_is_measured():
    assert 'segment("road before")' in plan("How many buildings within 20 m of a road were demolished?").source
    assert 'segment("road after")' in plan("How many new buildings are within 20 m of a road?").source
    assert 'segment("water before")' in plan("How many new buildings are within 20 m of the former water?").source


def test_years_are_the_dates_in_their_order_and_a_note_says_so():
    program = plan("By how many hectares did the vegetation shrink from 2015 to 2023?")
    assert '2015 is taken as the date "before".' in program.notes
    assert '2023 is taken as the date "after".' in program.notes


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How much farmland was there in 2015?", "Which of the two dates this year is, is not known"),
        ("How much water was lost in 2010, 2015 and 2020?", "It names more than two years"),
        ("How many buildings that were there before were built?", "It puts one thing at two dates at once"),
        ("Between 2015 and 2020, how many buildings are within 20 m of water?", "names dates, but not what is to be"),
    ],
)
def test_what_the_dates_leave_open_is_refused(question, why):
    assert why in refusal(question)


@pytest.mark.parametrize("question", [row["question"] for row in QUESTIONS if row["reference"]])
def test_one_date_alone_answers_no_question_of_two(question):
    if "now" in question:
        pytest.skip("Without a second date, now is when the image was taken.")
    assert refusal(question, ONE_DATE)


def test_one_date_alone_refuses_change_with_the_options_that_help():
    assert "Next: give those of two with --before FILE --after FILE." in refusal("How much forest was lost?", ONE_DATE)
