"""Which tools a model is told of, and how they are spelt."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from swath.agent.execution import surface
from swath.agent.llm.offered import always, bare, families, further, offered, typed


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
