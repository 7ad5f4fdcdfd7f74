"""Sentences that drawing from the grammars and shuffling known questions has found: each is refused with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from painted_town import SCENE
from seen_town import LEGEND

from swath.agent.offline import OfflinePlanner
from swath.agent.planner import Scene
from swath.errors import Refused

WITH_HEIGHTS = replace(SCENE, classes=tuple(LEGEND.values()), heights=("dsm", "dtm"), bands=("red", "green", "blue"))


def refusal(question: str, scene: Scene) -> str:
    with pytest.raises(Refused) as caught:
        OfflinePlanner().plan(question, scene, None)
    return str(caught.value)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("share in percent space r immediately north of all others not further than others", "of which class"),
        (
            "prevailing colour be 3rd slope map surface area and lie that falls standing between both across all other "
            "from northern half",
            "of which class",
        ),
        ("i m looking for cubature that stands on its own nearest neighbour", "of which class the neighbours are"),
        ("fait quelle hauteur mesurent pixel (20, 30) depassent 50 m", "above ground or the elevation"),
        ("Is the height at pixel (20, 30) above 50 m?", "above ground or the elevation"),
    ],
)
def test_what_once_raised_is_refused_with_its_reason(question: str, why: str) -> None:
    assert why in refusal(question, WITH_HEIGHTS)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("Is at least half of the image me", "what the share is of"),
        ("Could you tell me whether land makes up at least half of the tile?", "what the share is of"),
        ("Which share of the buildings is larger than 150 m²? m²?", "share of their number in a unit of area"),
    ],
)
def test_what_once_was_half_answered_is_refused_with_its_reason(question: str, why: str) -> None:
    assert why in refusal(question, SCENE)


@pytest.mark.parametrize("question", ["What is the area of each building?", "How far is each building from the road?"])
def test_one_number_for_each_is_not_the_total(question):
    with pytest.raises(Refused, match="It asks for a number of each of them. Next: ask for the total, the average or"):
        OfflinePlanner().plan(question, SCENE, None)


def test_whether_any_can_be_spotted_is_yes_or_no_and_not_boxes():
    assert 'kind="boolean"' in OfflinePlanner().plan("Can you spot any bodies of water?", SCENE, None).source
