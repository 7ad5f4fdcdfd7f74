"""What a question says and a program leaves out or turns round goes back."""

from __future__ import annotations

import pytest
from llm_scenes import task

from swath.agent.llm.held import faults

NEAR = "How many buildings larger than 100 m2 are within 50 m of water?"
GOOD = (
    'big = components(segment("building"), larger_than_m2=100)\n'
    'reply(count(near(big, segment("water"), max_distance_m=50)), kind="count")'
)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (GOOD, []),
        (GOOD.replace("50", "60"), ["The program does not use the question's 50 m."]),
        (GOOD.replace('segment("water")', "big"), ['The program does not use the question\'s "water".']),
        (GOOD.replace("larger_than_m2", "smaller_than_m2"),
         ["The question's 100 m2 is larger_than_m2=, not smaller_than_m2=."]),
        (GOOD.replace("max_distance_m", "larger_than_m"),
         ["The question's 50 m is max_distance_m=, not larger_than_m=."]),
        (GOOD.replace("larger_than_m2", "min_m2"), []),
        (GOOD.replace('"count"', '"boolean"'),
         ['The question asks for a number of objects: count(...), kind="count".']),
    ],
)  # fmt: skip
def test_a_program_is_held_against_its_question(program: str, said: list[str]) -> None:
    assert faults(program, task(NEAR).given) == said


@pytest.mark.parametrize(
    ("question", "reply", "fits"),
    [
        ("Is there any water?", 'reply(area_px(segment("water")), kind="quantity", unit="px")', False),
        ("Is there any water?", 'reply(area_px(segment("water")) > 0, kind="boolean")', True),
        ("How many ha of water?", 'reply(area_m2(segment("water")), kind="quantity", unit="m2")', True),
        ("How many ha of water?", 'reply(count(components(segment("water"))), kind="count")', False),
        ("What percentage is water?", 'reply(area_m2(segment("water")), kind="quantity", unit="m2")', False),
        ("What percentage is water?", 'reply(share_percent(segment("water")), kind="percent")', True),
        ("Is water connected or fragmented?", 'reply(count(components(segment("water"))), kind="count")', False),
        ("Tell me about the water.", 'reply(count(components(segment("water"))), kind="count")', True),
    ],
)
def test_the_reply_is_of_the_kind_that_is_asked_for(question: str, reply: str, fits: bool) -> None:
    assert (faults(reply, task(question).given) == []) is fits
