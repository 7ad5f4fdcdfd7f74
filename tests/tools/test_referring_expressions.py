"""Referring expressions on real annotated objects: each program gives the box that an independent reading gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import referring_truth
import shapely

import swath
from swath.eval.cases import Case
from swath.eval.metrics.boxes import BoxIou
from swath.eval.metrics.oriented import OrientedIou
from swath.eval.scores import Prediction
from swath.testing.planner import ScriptedPlanner

FILES = [Path(__file__).with_name(name) for name in ("referring.jsonl", "referring_further.jsonl")]
"""Forty, and twenty that were kept from whoever wrote the planner until they had been tried once."""
EXPRESSIONS: list[dict[str, Any]] = [
    json.loads(line) for file in FILES for line in file.read_text(encoding="utf-8").splitlines()
]


def test_there_are_sixty_of_unlike_wording_and_boxes() -> None:
    assert len(EXPRESSIONS) == len({own["sentence"] for own in EXPRESSIONS}) == 60
    assert {(own["kind"], own["box"]) for own in EXPRESSIONS} == {
        ("trees", "upright"), ("houses", "upright"), ("houses", "oriented"),
    }  # fmt: skip


@pytest.mark.parametrize("own", EXPRESSIONS, ids=lambda own: own["id"])
def test_a_program_finds_the_object_that_is_meant(own: dict[str, Any], shared_data: Path, tmp_path: Path) -> None:
    scene = referring_truth.plot(shared_data, own["kind"], own["image"])
    oriented = own["box"] == "oriented"
    truth = referring_truth.meant(own["truth"], scene, oriented=oriented)
    assert truth is not None
    planner = ScriptedPlanner(own["program"])
    answer = swath.ask(scene.image, own["sentence"], planner=planner, out=tmp_path, keep="light", **scene.options)
    assert (answer.status, answer.kind, answer.unit) == ("answered", "boxes", "px"), answer.reason
    box = np.ravel(truth.corners).tolist() if oriented else truth.box
    case = Case(id=own["id"], image=scene.image, question=own["sentence"], truth=box, type="ref", metrics=("box:0.5",))
    score = (OrientedIou("0.5") if oriented else BoxIou("0.5")).score(case, Prediction.of_answer(answer))
    assert score.verdict == "right"
    assert score.value is not None and score.value > 0.95


@pytest.mark.parametrize("own", EXPRESSIONS, ids=lambda own: own["id"])
def test_the_offline_planner_reads_the_sentence_alike(own: dict[str, Any], shared_data: Path, tmp_path: Path) -> None:
    scene = referring_truth.plot(shared_data, own["kind"], own["image"])
    truth = referring_truth.meant(own["truth"], scene, oriented=own["box"] == "oriented")
    assert truth is not None
    answer = swath.ask(scene.image, own["sentence"], planner="offline", out=tmp_path, keep="light", **scene.options)
    assert (answer.status, answer.kind) == ("answered", "boxes"), answer.reason
    assert len(answer.answer) == 1
    assert answer.answer[0] == pytest.approx(truth.box, abs=0.6)


def test_the_independent_reading_knows_when_nothing_or_several_are_meant() -> None:
    def thing(x: float, side: float) -> referring_truth.Thing:
        outline = shapely.box(x, 10, x + side, 10 + side)
        corners = np.array(outline.exterior.coords)[:4]
        return referring_truth.Thing(
            *outline.bounds, x + side / 2, 10 + side / 2, side**2, corners, outline, (x, 10), outline
        )

    scene = referring_truth.Plot(Path("x"), {}, 100, 100, (thing(5, 4), thing(40, 8), thing(41, 8)))
    assert referring_truth.meant("least(t, key=area)", scene) is scene.things[0]
    assert referring_truth.meant("most(t, key=area)", scene) is None  # two of one size
    assert referring_truth.meant("one([o for o in t if o.x > 90])", scene) is None
    assert referring_truth.meant("most(t, key=x0)", scene) is None  # 40 and 41 are too close
