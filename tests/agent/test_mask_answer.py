"""Answers of kind mask: a map and a picture in every run, one class or several."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from run_scenes import Scene, painted, write_image

import swath
from swath.agent.mask_answer import class_map
from swath.agent.replay import replay
from swath.raster.reader import open_raster
from swath.trace.reading import load_run

SHAPE = (40, 60)
TREES, WATER = painted(SHAPE, (2, 2, 12, 12)), painted(SHAPE, (8, 8, 30, 20))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch, write_image(tmp_path / "i.tif"), {"tree": TREES, "water <deep>": WATER})


def test_a_mask_is_a_map_and_a_picture_whatever_is_kept(scene: Scene) -> None:
    run, answer = scene.ask('reply(segment("tree"), kind="mask")', keep="light")
    assert (answer.status, answer.answer, answer.kind) == ("answered", "tree", "mask")
    assert answer.mask is not None
    assert (answer.mask.path, answer.mask.picture) == (str(run / "answer.tif"), str(run / "answer.png"))
    written = open_raster(run / "answer.tif")
    np.testing.assert_array_equal(written.read(1).data.data[0], TREES.astype(np.uint8))
    assert written.grid.crs == open_raster(scene.image).grid.crs
    assert written.categories() == {1: "tree"}
    picture = np.array(Image.open(run / "answer.png").convert("RGB"))
    np.testing.assert_array_equal(picture == 255, np.repeat(TREES[:, :, None], 3, axis=2))
    record = json.loads((run / "run.json").read_text())
    assert record["answer"]["mask"] == {"classes": ["tree"], "path": "answer.tif", "picture": "answer.png"}


def test_several_masks_are_one_map_in_their_order(scene: Scene) -> None:
    run, answer = scene.ask('reply([segment("water <deep>"), components(segment("tree"))], kind="mask")')
    assert answer.answer == ["water <deep>", "tree"]
    written = open_raster(run / "answer.tif")
    codes = written.read(1).data.data[0]
    np.testing.assert_array_equal(codes, np.where(WATER, 1, np.where(TREES, 2, 0)))
    assert written.categories() == {1: "water <deep>", 2: "tree"}
    assert len({tuple(colour) for colour in (written.palette() or {}).values()} - {(0, 0, 0, 255)}) == 2
    assert replay(load_run(run)).same


def test_the_objects_stand_in_for_a_value_in_words(scene: Scene) -> None:
    trees = 't = segment("tree")\nreply(f"{area_px(t)} pixels of trees", kind="mask", objects=t)'
    run, answer = scene.ask(trees)
    assert answer.answer == "100 pixels of trees"
    np.testing.assert_array_equal(open_raster(run / "answer.tif").read(1).data.data[0] > 0, TREES)


@pytest.mark.parametrize("value", ['"trees"', "[]", '[segment("tree"), "water"]', 'count(components(segment("tree")))'])
def test_what_is_no_mask_is_no_answer_of_that_kind(scene: Scene, value: str) -> None:
    program = f't = area_px(segment("tree"))\nreply({value} if t else t, kind="mask")'
    answer = swath.ask(scene.image, "which?", program=program, out=scene.out)
    assert answer.status == "failed"
    assert "it must come with a mask, or with up to 255, as value or as objects" in str(answer.reason)


def test_other_answers_have_no_map(scene: Scene) -> None:
    run, answer = scene.ask('reply(count(components(segment("tree"))), kind="count")')
    assert answer.mask is None
    assert not (run / "answer.tif").exists()


def test_a_pixel_of_two_masks_belongs_to_the_first(scene: Scene) -> None:
    from swath.testing.segment import PaintedBackend
    from swath.tools.site import Site

    raster = open_raster(scene.image)
    site = Site(raster, PaintedBackend(SHAPE, {"a": TREES, "b": WATER}), np.ones(SHAPE, dtype=bool))
    both = TREES & WATER
    assert both.any()
    assert (class_map([site.class_mask("a"), site.class_mask("b")])[both] == 1).all()
