"""Images whose bands tell no class and that come without labels: what needs no class is answered all the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from affine import Affine
from run_scenes import NORTH_UP, UTM, write_image

import swath
from swath.agent.segmenting import write_class
from swath.errors import Refused
from swath.raster.grid import Grid
from swath.raster.write import write_array

WHY = (
    r"Classes cannot be told from the bands of rgb\.tif .*give --labels FILE\. "
    r"Or let the embedded network guess from colours, with --segmenter landcover\."
)


@pytest.fixture
def rgb(tmp_path: Path) -> Path:
    return write_image(tmp_path / "rgb.tif")


@pytest.mark.parametrize(
    ("question", "value", "unit"),
    [
        ("How large is the image in hectares?", 40 * 60 * 4 / 10_000, "ha"),
        ("How many bands does the image have?", 3, "count"),
        ("How wide is the image in pixels?", 60, "px"),
        ("What is the pixel size?", 2, "m"),
        ("What percentage of the image is valid?", 100, "percent"),
    ],
)
def test_what_needs_no_class_is_answered(rgb: Path, tmp_path: Path, question: str, value: float, unit: str) -> None:
    answer = swath.ask(rgb, question, out=tmp_path / "runs", keep="light")
    assert answer.status == "answered", answer.reason
    assert answer.answer == pytest.approx(value)
    assert (answer.unit, answer.segmenter) == (unit, "none")


def test_the_valid_share_leaves_out_what_is_nodata(tmp_path: Path) -> None:
    pixels = np.full((3, 10, 10), 7, dtype=np.uint8)
    pixels[:, :, :4] = 0
    write_array(tmp_path / "rgb.tif", pixels, Grid(NORTH_UP, (10, 10), UTM), nodata=0)
    shares = [
        swath.ask(tmp_path / "rgb.tif", f"What percentage of the image is {word}?", out=tmp_path / "runs").answer
        for word in ("valid", "nodata")
    ]
    assert shares == [60, 40]


def test_a_question_about_classes_is_refused_with_the_reason_why_there_are_none(rgb: Path, tmp_path: Path) -> None:
    for question in ("How many buildings are there?", "What percentage of the image is water?"):
        answer = swath.ask(rgb, question, out=tmp_path / "runs", keep="light")
        assert answer.status == "refused"
        assert re.fullmatch(WHY, str(answer.reason))
    program = 'reply(area_px(segment("water")), kind="quantity", unit="px")\n'
    answer = swath.ask(rgb, "program", program=program, out=tmp_path / "runs", keep="light")
    assert str(answer.reason).startswith("Classes cannot be told from the bands of rgb.tif")
    with pytest.raises(Refused, match=WHY):
        write_class(rgb, "water", tmp_path / "m.tif", None)
    assert not (tmp_path / "m.tif").exists()


@pytest.mark.parametrize("question", ["Flurb the gibberish?", "Who owns the largest building?"])
def test_a_question_that_is_not_understood_is_refused_for_that(rgb: Path, tmp_path: Path, question: str) -> None:
    reason = swath.ask(rgb, question, out=tmp_path / "runs", keep="light").reason
    assert reason is not None and reason.startswith("Not understood")


def test_who_asks_for_a_source_that_cannot_be_used_is_refused_whatever_the_question(rgb: Path, tmp_path: Path) -> None:
    for options in ({"segmenter": "spectral"}, {"thresholds": {"NDWI": 0.1}}):
        answer = swath.ask(rgb, "How many bands does the image have?", out=tmp_path / "runs", keep="light", **options)
        assert (answer.status, answer.answer) == ("refused", None)


def test_a_run_without_classes_is_replayed(tmp_path: Path) -> None:
    from swath.agent.replay import replay
    from swath.trace.reading import load_run

    image = write_image(tmp_path / "rgb.tif", affine=Affine(3, 0, 5e5, 0, -3, 5e6))
    for keep in ("light", "full"):
        answer = swath.ask(image, "How large is the image in hectares?", out=tmp_path / "runs", keep=keep)
        assert replay(load_run(Path(str(answer.run)))).same


def test_a_refusal_shows_the_first_of_very_many_classes(village: Any, tmp_path: Path) -> None:
    (tmp_path / "many.json").write_text(json.dumps({str(i): f"class number {i}" for i in range(2_000)}))
    options = {"labels": village.image, "legend": tmp_path / "many.json", "out": tmp_path / "runs", "keep": "light"}
    program = 'reply(area_px(segment("ships")), kind="quantity", unit="px")\n'
    reason = str(swath.ask(village.image, "program", program=program, **options).reason)
    assert "class number 39 and 1,960 more. Next:" in reason
