"""Captions run through the whole path: every sentence is true, and the calls behind it are the ones that made it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine

import swath
from swath.agent.captions import Sentence, caption, caption_program
from swath.agent.planner import Scene
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.write import write_array

CLASSES = {1: "building", 2: "water", 3: "grass"}
GREEN, RED, BLUE = (50, 140, 60), (200, 30, 40), (40, 80, 200)


def scene_of(image: Path, classes: tuple[str, ...] = tuple(CLASSES.values())) -> Scene:
    raster = open_raster(image)
    size = None if raster.grid.ground is None else raster.grid.ground.size_xy_m
    roles = tuple(band.role for band in raster.bands if band.role)
    return Scene(classes, raster.shape, size, raster.grid.crs_name, raster.grid.north, roles, "labels")


class Town:
    """Ten red houses in a row and one larger in the top left, a canal and grass; 200 x 300 pixels of 0.5 m."""

    def __init__(self, folder: Path, *, ground: bool = True, dtype: Any = np.uint8, colour: bool = True) -> None:
        labels = np.full((200, 300), 3, dtype=np.uint8)
        labels[180:, :] = 2
        for k in range(10):
            labels[120:130, 10 + 25 * k : 20 + 25 * k] = 1
        labels[10:40, 10:50] = 1
        rgb = np.array([(0, 0, 0), RED, BLUE, GREEN], dtype=dtype)[labels].transpose(2, 0, 1)
        grid = Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), labels.shape, pyproj.CRS(32631))
        grid = grid if ground else Grid(Affine.identity(), labels.shape)
        self.image, self.labels, self.legend = folder / "town.tif", folder / "labels.tif", folder / "legend.json"
        write_array(self.image, rgb if colour else rgb[:1], grid)
        write_array(self.labels, labels, grid)
        self.legend.write_text(json.dumps({str(value): name for value, name in CLASSES.items()}), encoding="utf-8")
        self.out = folder / "runs"

    def caption(self, program: str, bands: dict[str, int] | None = None) -> tuple[swath.Answer, list[dict[str, Any]]]:
        answer = swath.ask(
            self.image, "Describe the image", program=program, labels=self.labels, legend=self.legend, bands=bands,
            out=self.out,
        )  # fmt: skip
        assert answer.status == "answered", answer.text
        lines = (Path(str(answer.run)) / "steps.jsonl").read_text(encoding="utf-8").splitlines()
        return answer, [json.loads(line) for line in lines]


RGB = {"red": 1, "green": 2, "blue": 3}


def test_a_caption_says_what_was_painted(tmp_path: Path) -> None:
    town = Town(tmp_path)
    answer, _ = town.caption(caption_program(scene_of(town.image)), RGB)
    assert answer.kind == "text"
    assert answer.answer == (
        "The image shows 1.5 ha of ground in 300 by 200 pixels of 0.5 m. "
        "It has 3 bands, and 100 % of its pixels hold data; its classes come from the source labels. "
        "Its main colours are green and blue. "
        "By area it is 86.3 % grass, 10 % water and 3.67 % building. "
        "It holds 11 buildings, 1 separate area of water and 1 separate area of grass. "
        "The largest building lies in the top-left of the image, measures 300 m2, and is mostly red. "
        "The 11 buildings are in rows, the most of them, 4 each, in the centre-left and centre."
    )


def test_the_calls_behind_each_sentence_are_those_that_made_it(tmp_path: Path) -> None:
    town = Town(tmp_path)
    program = caption_program(scene_of(town.image))
    answer, steps = town.caption(program, RGB)
    sentences = caption(str(answer.answer), program, steps)
    assert " ".join(sentence.text for sentence in sentences) == answer.answer
    names = [{steps[k]["name"] for k in sentence.calls} for sentence in sentences]
    assert names[0] == {"image_area_m2", "image_size_px", "pixel_size_m"}
    assert names[1] == {"band_count", "valid_percent"}
    assert names[2] == {"has_true_colour", "whole_image", "colours_of"}
    assert names[3] == {"segment", "share_percent", "has_area"}
    assert names[4] == {"segment", "share_percent", "has_area", "components", "count"}
    assert {"largest", "in_cell", "area_m2", "dominant_colour", "has_true_colour"} <= names[5]
    assert {"distribution", "in_cell", "components"} <= names[6]
    assert "dominant_colour" not in names[4]
    results = [value for k in sentences[3].calls if isinstance(value := steps[k]["result"], float)]
    said = [float(number) for number in re.findall(r"[\d.]+(?= %)", sentences[3].text)]
    assert sorted(said) == pytest.approx(sorted(results), rel=5e-3)


@pytest.mark.parametrize("ground", [True, False])
def test_three_to_seven_sentences_whatever_is_known(tmp_path: Path, ground: bool) -> None:
    town = Town(tmp_path, ground=ground)
    for classes, least in ((tuple(CLASSES.values()), 7), ((), 3)):
        program = caption_program(scene_of(town.image, classes))
        answer, steps = town.caption(program)
        sentences = caption(str(answer.answer), program, steps)
        assert len(sentences) == least
        assert all(sentence.calls for sentence in sentences)


def test_without_a_ground_size_nothing_is_in_metres(tmp_path: Path) -> None:
    town = Town(tmp_path, ground=False)
    answer, _ = town.caption(caption_program(scene_of(town.image)), RGB)
    assert str(answer.answer).startswith("The image has 300 by 200 pixels of unknown ground size.")
    assert "measures 1200 pixels" in str(answer.answer)
    assert not re.search(r"\bm2\b|\bha\b", str(answer.answer))


@pytest.mark.parametrize(("dtype", "colour"), [(np.uint16, True), (np.uint8, False)])
def test_colours_that_cannot_be_told_are_left_out(tmp_path: Path, dtype: Any, colour: bool) -> None:
    town = Town(tmp_path, dtype=dtype, colour=colour)
    answer, _ = town.caption(caption_program(scene_of(town.image)))
    assert "Its colours cannot be told from its bands." in str(answer.answer)
    assert "mostly" not in str(answer.answer)


def test_classes_that_are_nowhere_are_not_described(tmp_path: Path) -> None:
    town = Town(tmp_path)
    town.legend.write_text('{"1": "house", "2": "water", "3": "grass", "7": "tennis court"}', encoding="utf-8")
    program = caption_program(scene_of(town.image, ("tennis court",)))
    answer, steps = town.caption(program)
    said = [sentence.text for sentence in caption(str(answer.answer), program, steps)]
    assert said[3:] == ["By area none of its classes makes up any of it.", "It holds nothing of these classes."]


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (("tennis court", "ferry", "bus"), ("'tennis courts'", "'ferries'", "'buses'")),
        (
            ("aircraft", "water", "bench", "trees"),
            ("'aircraft'", "'separate areas of trees'", "'separate areas of water'", "'benches'"),
        ),
    ],
)
def test_classes_are_called_by_what_several_of_them_are(classes: tuple[str, ...], said: tuple[str, ...]) -> None:
    program = caption_program(Scene(classes, (10, 10), None, None, "up", (), "labels"))
    for word in said:
        assert word in program


def test_a_name_with_quotes_stays_a_name() -> None:
    program = caption_program(Scene(('it\'s "odd"',), (10, 10), None, None, "up", (), "labels"))
    compile(program, "program", "exec")
    assert isinstance(caption("A. B.", program, [])[0], Sentence)
