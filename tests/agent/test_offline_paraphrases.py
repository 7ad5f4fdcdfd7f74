"""Wordings by people who have not read the grammar, each beside a plain question that means the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from painted_town import SCENE

from swath.agent.offline import OfflinePlanner
from swath.errors import Refused

FOLDER = Path(__file__).parent
PLANNER = OfflinePlanner()
LEAST_SAME = 0.70
"""A refusal is not wrong, but a planner that refuses everything is of no use."""
SAME_OTHERWISE = frozenset(
    {
        "is there anything green within 5 m of the water? .5m per pixel",
        "What is the shortest gap between forest and the closest building, in feet? 0.5m gsd",
        "how many houses are on the top half of the picture",
        "how many houses are on the left side of the picture (left half)",
        "My homework: how many houses are closer than 20 m to the water? each pixel is 0.5 m big",
        "Of the buildings within 50 m of water, how many are over 300 m2? pixel 0.5 m",
        "How many house is near of water less than 50 meter? GSD is of 0.5 meter",
        "0.5 m/px. bldgs w/in 20 m of road?",
        "Buildings, northern half, larger than 50 m2, count",
        "What percentage of vegetation is found in patches of less than 0.1 ha?",
        "By how many square metres is the largest building larger than the second largest? GSD: 0.5 m",
        "How much agricultural land, in hectares, within patches larger than 0.25 hectares has access to water, where "
        "access means at most 100 m from a water body? (GSD: 1m)",
    }
)
"""Another program for the same measurement: order of steps, "top" for "north", "closer than" exclusive."""


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def planned(question: str, classes: list[str]) -> tuple[str, float | None] | None:
    try:
        program = PLANNER.plan(question, replace(SCENE, classes=tuple(classes)), None)
    except Refused:
        return None
    return program.source, program.gsd_m


@pytest.mark.parametrize("name", ["paraphrases.jsonl", "personas.jsonl"])
def test_a_wording_is_planned_as_what_it_means_or_refused(name):
    same = 0
    other = []
    for row in rows(name):
        got, meant = planned(row["wording"], row["classes"]), planned(row["means"], row["classes"])
        same += got is not None and got == meant
        if None not in (got, meant) and got != meant and row["wording"] not in SAME_OTHERWISE:
            other.append((row["wording"], row["means"]))
    assert other == []
    assert same / len(rows(name)) >= LEAST_SAME


@pytest.mark.parametrize("row", rows("refusals.jsonl"), ids=lambda row: row["why"])
def test_what_is_to_be_refused_is(row):
    assert planned(row["wording"], row["classes"]) is None
