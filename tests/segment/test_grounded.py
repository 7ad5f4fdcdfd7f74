"""Free phrases: boxes and outlines in place, and the real models with tiny random configurations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from numpy.typing import NDArray

import swath
from swath.errors import InputError, ModelMissing, Refused, SwathError
from swath.raster.reader import Raster, open_raster
from swath.segment.grounded.backend import LEAST_SCORE, Grounded
from swath.segment.grounded.detector import NEEDED, LocalDetector, corners
from swath.segment.protocol import SegmentOptions
from swath.segment.registry import open_backend
from swath.testing.detector import ColourDetector, tiny_dino, tiny_owl
from swath.testing.outliner import ColourOutlines
from swath.testing.segment_contract import faults

TANK = (200, 20, 20)
PLACES = [(10, 12, 30, 34), (700, 500, 760, 540), (930, 40, 990, 90), (1500, 700, 1530, 790)]
"""Tanks as x_min, y_min, x_max, y_max; the third lies across the edge of the first picture."""


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SWATH_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def raster(tmp_path: Path) -> Raster:
    pixels = np.zeros((820, 1600, 3), np.uint8)
    for x_min, y_min, x_max, y_max in PLACES:
        pixels[y_min:y_max, x_min:x_max] = TANK
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 5e5, 0, -0.5, 4e6)}
    with rasterio.open(
        tmp_path / "image.tif", "w", driver="GTiff", width=1600, height=820, count=3, dtype="uint8",
        photometric="rgb", **place,
    ) as file:  # fmt: skip
        file.write(pixels.transpose(2, 0, 1))
    return open_raster(tmp_path / "image.tif")


def painted(raster: Raster) -> NDArray[np.bool_]:
    mask = np.zeros(raster.shape, bool)
    for x_min, y_min, x_max, y_max in PLACES:
        mask[y_min:y_max, x_min:x_max] = True
    return mask


@pytest.mark.parametrize("outliner", [None, ColourOutlines(256)])
def test_each_thing_is_found_once_wherever_pictures_end(raster: Raster, outliner: ColourOutlines | None) -> None:
    detector = ColourDetector({"tank": TANK})
    backend = Grounded(raster, SegmentOptions(), detector, outliner)
    found = backend.ground("tank")
    assert found.features is not None
    assert sorted(feature.outline.bounds for feature in found.features) == sorted(PLACES)
    assert np.array_equal(np.asarray(found.mask), painted(raster))
    assert detector.pictures > 1
    assert faults(backend, raster, ["tank", "blue whale"]) == []
    assert backend.ground("blue whale").features == ()


def test_weak_boxes_are_left_out(raster: Raster) -> None:
    assert (
        Grounded(raster, SegmentOptions(), ColourDetector({"tank": TANK}, LEAST_SCORE - 0.01)).ground("tank").features
        == ()
    )


def test_boxes_relate_to_the_padded_square_or_to_the_picture() -> None:
    relative = np.array([[0.25, 0.25, 0.1, 0.2], [0.9, 0.9, 0.4, 0.4]], np.float32)
    assert corners(relative, (100, 400), square=True) == pytest.approx(
        np.array([[80, 60, 120, 100], [280, 100, 400, 100]])
    )
    assert corners(relative, (100, 400), square=False) == pytest.approx(
        np.array([[80, 15, 120, 35], [280, 70, 400, 100]])
    )


def test_a_missing_model_says_which_files_to_put_where(raster: Raster, models: Path) -> None:
    with pytest.raises(ModelMissing) as said:
        open_backend("grounded", raster, SegmentOptions())
    assert str(said.value) == (
        "Free phrases need the files of OWLv2 or Grounding DINO: config.json, model.safetensors, "
        f"preprocessor_config.json or processor_config.json, tokenizer_config.json are not in {models / 'grounded'}. "
        "Next: put the model's files there."
    )
    for name, *_ in NEEDED[1:]:
        (models / "grounded").mkdir(parents=True, exist_ok=True)
        (models / "grounded" / name).touch()
    with pytest.raises(ModelMissing, match=r": config.json is not in "):
        open_backend("grounded", raster, SegmentOptions())


def test_files_that_hold_no_model_are_one_sentence(raster: Raster, models: Path) -> None:
    (models / "grounded").mkdir(parents=True)
    for name, *_ in NEEDED:
        (models / "grounded" / name).write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(
        InputError, match=r'holds no model of OWLv2 or Grounding DINO \(it is of the kind "bert", not one of'
    ):
        open_backend("grounded", raster, SegmentOptions()).ground("tank")  # type: ignore[attr-defined]


@pytest.mark.parametrize("write", [tiny_owl, tiny_dino])
def test_tiny_random_models_run_the_whole_way(
    raster: Raster, models: Path, write: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(models / "grounded")
    monkeypatch.setattr("swath.segment.grounded.backend.LEAST_SCORE", 0.0)
    backend = open_backend("grounded", raster, SegmentOptions())
    assert isinstance(backend, Grounded)
    found = backend.ground("storage tank")
    assert found.features
    assert faults(backend, raster) == []
    assert len(backend.describe()["weights_sha256"]) == 64
    again = LocalDetector.load(models / "grounded")
    picture = np.zeros((64, 96, 3), np.uint8)
    boxes, scores = again.find(picture, "storage tank")
    assert boxes.shape == (len(scores), 4)
    assert ((boxes >= 0) & (boxes <= [96, 64, 96, 64])).all()
    other = again.find(picture, "tennis court")[1]
    assert not np.allclose(scores, other)  # the phrase matters


def test_weights_that_give_no_numbers_fail_the_run(models: Path) -> None:
    import torch

    detector = LocalDetector.load(tiny_owl(models / "grounded"))
    with torch.no_grad():
        for weights in detector.model.parameters():
            weights.fill_(float("nan"))
    with pytest.raises(SwathError, match="gives no numbers for a part of the image, so nothing is looked for at all"):
        detector.find(np.zeros((64, 64, 3), np.uint8), "tank")


def test_phrases_are_bounded(raster: Raster) -> None:
    backend = Grounded(raster, SegmentOptions(), ColourDetector({}))
    for phrase in ("", " ", "a" * 201):
        with pytest.raises(Refused, match="A phrase has 1 to 200 letters"):
            backend.ground(phrase)


def test_a_program_grounds_a_phrase_by_the_model_in_the_folder(raster: Raster, models: Path, tmp_path: Path) -> None:
    tiny_owl(models / "grounded")
    program = 'found = ground("storage tank")\nreply(count(found), kind="count", objects=found)'
    options: dict[str, Any] = {"segmenter": "grounded", "out": tmp_path / "runs"}
    answer = swath.ask(raster.path, "?", program=program, **options)
    assert answer.status == "answered", answer.reason
    assert any("was looked for by a detector that was never checked" in warning for warning in answer.warnings)
