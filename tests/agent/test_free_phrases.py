"""Free phrases: looked for by a segmenter with an open vocabulary where there is one, kept and replayed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import shapely
from run_scenes import write_image

import swath
from swath.agent.planner import Program
from swath.agent.replay import replay
from swath.errors import InputError
from swath.raster.reader import Raster, open_raster
from swath.segment import registry
from swath.segment.grounded.detector import usual_folder
from swath.segment.protocol import Segmentation, SegmentOptions
from swath.testing.planner import ScriptedPlanner
from swath.testing.segment import PaintedBackend, PaintedVocabulary
from swath.testing.segment_contract import faults
from swath.trace.reading import load_run
from swath.types import Answer

SHAPE = (40, 60)
LORRIES = [shapely.box(4, 5, 14, 9), shapely.box(30, 20, 40.5, 24)]
HOUSE = [shapely.box(20, 2, 28, 12)]
PROGRAM = """lorry = ground("the red lorry")
right = extreme(lorry, side="right")
reply(boxes_px(right), kind="boxes", objects=right)
"""


class Installed:
    """Segmenters that are installed beside ours; what was opened is noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **classes: Any) -> None:
        self.opened: list[PaintedVocabulary] = []
        entries = registry._entries()
        others = {name: SimpleNamespace(load=lambda made=made: self._noted(made)) for name, made in classes.items()}
        monkeypatch.setattr(registry, "_entries", lambda: entries | others)

    def _noted(self, made: Any) -> Any:
        def factory(raster: Raster, options: SegmentOptions) -> Any:
            self.opened.append(made(raster.shape))
            return self.opened[-1]

        return factory


def vocabulary(shape: tuple[int, int]) -> PaintedVocabulary:
    return PaintedVocabulary(shape, {"red lorry": LORRIES})


def ask(tmp_path: Path, program: str = PROGRAM, **options: Any) -> Answer:
    image = tmp_path / "i.tif"
    if not image.exists():
        write_image(image, SHAPE)
    (tmp_path / "houses.geojson").write_text(json.dumps({
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": "EPSG:32631"}},
        "features": [{"type": "Feature", "properties": {}, "bbox": [500_040, 4_999_976, 500_056, 4_999_996]}],
    }))  # fmt: skip
    options = {"layers": {"house": tmp_path / "houses.geojson"}} | options
    planner = ScriptedPlanner(Program(program, "the right one"))
    return swath.ask(image, "the red lorry on the right", planner=planner, out=tmp_path / "runs", **options)


def test_a_phrase_is_looked_for_kept_and_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = Installed(monkeypatch, grounded=vocabulary)
    answer = ask(tmp_path)
    assert answer.answer == [[30, 20, 40.5, 24]]
    assert [backend.phrases for backend in installed.opened] == [["red lorry"]]
    sentence = '"red lorry" names no class of the source: it was looked for by a segmenter with an open vocabulary.'
    assert sentence in answer.warnings
    run = load_run(Path(str(answer.run)))
    assert list(run.record["segmentations"]) == ["red lorry"]
    assert replay(run).same
    assert len(installed.opened) == 1  # no model for a replay
    assert replay(run, resegment=True).same
    assert len(installed.opened) == 2


def test_classes_of_the_source_come_first_and_open_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = Installed(monkeypatch, grounded=vocabulary)
    answer = ask(tmp_path, 'h = ground("the houses")\nreply(count(h), kind="count", objects=h)')
    assert (answer.answer, installed.opened) == (1, [])


def test_nothing_found_for_a_phrase_is_a_count_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Installed(monkeypatch, grounded=vocabulary)
    answer = ask(tmp_path, 'h = ground("a blue whale")\nreply(count(h), kind="count", objects=h)')
    assert (answer.status, answer.answer) == ("answered", 0)


def test_a_source_without_classes_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Installed(monkeypatch, grounded=vocabulary)
    assert ask(tmp_path, layers={}).answer == [[30, 20, 40.5, 24]]
    assert ask(tmp_path, layers={}, segmenter="grounded").answer == [[30, 20, 40.5, 24]]


def test_without_one_the_refusal_says_what_to_install(tmp_path: Path) -> None:
    answer = ask(tmp_path)
    assert (answer.status, answer.answer) == ("refused", None)
    assert answer.reason == (
        '"red lorry" names no class of the source (labels), which knows house. Next: take one of these and choose '
        "among its objects by size, place or neighbours, or add the objects with --layer NAME=FILE; a free phrase "
        f"needs the files of OWLv2 or Grounding DINO in {usual_folder()}, see docs/models.md."
    )
    assert replay(load_run(Path(str(answer.run)))).same


def test_one_that_finds_no_phrases_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Installed(monkeypatch, grounded=lambda shape: PaintedBackend(shape, {}))
    with pytest.raises(InputError, match=r'^The segmenter "grounded" finds no phrases: it has no ground\(\)\. Next: '):
        ask(tmp_path)


def test_the_contract_of_open_vocabularies(tmp_path: Path) -> None:
    raster = open_raster(write_image(tmp_path / "i.tif", SHAPE))
    assert faults(vocabulary(SHAPE), raster, ["red lorry", "blue whale"]) == []

    class Merged(PaintedVocabulary):
        def ground(self, phrase: str) -> Segmentation:
            return Segmentation(np.ones(SHAPE, dtype=bool), method="all of it")

    merged = '"red lorry": neither features nor instance ids tell its objects apart'
    assert faults(Merged(SHAPE, {}), raster, ["red lorry"]) == [merged]
    assert faults(PaintedBackend(SHAPE, {}), raster, ["red lorry"]) == ['"red lorry": it lacks ground']
