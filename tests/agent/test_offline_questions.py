"""Questions as people type them, held against truths computed without the tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from painted_town import SCENE, Town, build_town

from swath.agent.offline import OfflinePlanner
from swath.agent.planner import Scene
from swath.errors import Refused

QUESTIONS = [
    json.loads(line)
    for line in (Path(__file__).parent / "questions_offline.jsonl").read_text(encoding="utf-8").splitlines()
]
PLANNER = OfflinePlanner()


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_town(tmp_path_factory.mktemp("town"))


def outcome(question: dict[str, Any], town: Town, scene: Scene = SCENE) -> str:
    """ "right", "wrong: ..." or "refused: ..."."""
    try:
        program = PLANNER.plan(question["question"], scene, None)
    except Refused as refusal:
        return "right" if question["reference"] is None else f"refused: {refusal}"
    if question["reference"] is None:
        return f"wrong: answered\n{program.source}"
    reply = town.run(program.source)
    value, truth, unit = reply["value"], town.truth(question["reference"]), reply.get("unit")
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(truth, str):
        same = value == truth
    else:
        units = {"count": None, "percent": None}
        same = value == pytest.approx(truth, rel=2e-3, abs=1e-9) and units.get(unit, unit) == units.get(
            question["unit"], question["unit"]
        )
    return "right" if same else f"wrong: {value} {unit}, not {truth} {question['unit']}\n{program.source}"


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_question_is_answered_rightly(question, town):
    result = outcome(question, town)
    assert result == "right", f"{question['question']}\n{result}"
