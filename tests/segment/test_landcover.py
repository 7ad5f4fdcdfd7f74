"""The embedded network: what ships, what it says of itself, what it takes and refuses."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import swath
from swath.errors import Refused
from swath.raster.reader import open_raster
from swath.segment.networks.card import read_card
from swath.segment.networks.catalogue import find
from swath.segment.networks.landcover import CARD
from swath.segment.protocol import SegmentOptions
from swath.segment.registry import open_backend
from swath.segment.tiling import Tiling

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 12e6
TILES_AGREE = 0.9
"""Share of pixels whose class is the same for tiles of half the size; stated in docs/landcover.md."""


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(CARD.read_text(encoding="utf-8"))["numbers"]
    return found


def test_the_network_ships_small_and_unchanged() -> None:
    card = read_card(CARD)
    assert 'sha256 = "' in card.text
    assert card.network.stat().st_size <= MOST_BYTES
    assert card.classes == ("building", "land", "road", "vegetation", "water")
    assert find("landcover").sha256 == card.sha256


def test_the_page_says_what_the_card_says(numbers: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "landcover.md").read_text(encoding="utf-8")
    for value in (*numbers["dubai_group7"].values(), numbers["nepal_386694"]["iou"]):
        assert f"{value:.3f}" in page
    for name in ("majority", "colour rules", "random forest"):
        assert f"| {name} | " in page
        assert f"{numbers['baselines'][name]['mean']:.3f}" in page


def test_the_sentences_hold_the_measured_numbers(numbers: dict[str, Any]) -> None:
    card = read_card(CARD)
    assert f"mean IoU of {numbers['dubai_group7']['mean']:.2f}" in card.sentences[0]
    for name in card.classes:
        assert f"{numbers['dubai_group7'][name]:.2f} in Dubai" in card.of_class[name]


def test_what_was_never_seen_is_said(numbers: dict[str, Any]) -> None:
    card = read_card(CARD)
    unseen = numbers["elsewhere"]["hot_never_seen"]["iou"]
    assert f"{unseen:.2f} there by a shorter training without that town" in card.of_class["building"]
    assert f"{unseen:.3f}" in (ROOT / "docs" / "landcover.md").read_text(encoding="utf-8")


def test_the_confusion_matrix_gives_the_stated_ious(numbers: dict[str, Any]) -> None:
    names = read_card(CARD).classes
    table = np.array([numbers["confusion_px"][name] for name in names])
    both = np.diag(table)
    ious = both / (table.sum(0) + table.sum(1) - both)
    assert ious == pytest.approx([numbers["dubai_group7"][name] for name in names], abs=1e-4)


def test_a_question_is_answered_from_pixels_alone_and_says_how_far(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    pixels = random.normal((70, 110, 60), 12, (96, 128, 3)).clip(0, 255).astype(np.uint8)
    PIL.Image.fromarray(pixels).save(tmp_path / "field.png")
    question = "What percentage of the image is vegetation?"
    answer = swath.ask(tmp_path / "field.png", question, segmenter="landcover", out=tmp_path / "runs")
    assert answer.status == "answered", answer.reason
    assert any("mean IoU" in sentence for sentence in answer.warnings)
    assert any("DOUBTFUL: the ground size of a pixel is not known" in sentence for sentence in answer.warnings)
    assert answer.interval is not None
    assert answer.interval.low <= float(answer.answer) <= answer.interval.high


def test_it_is_never_used_unasked(tmp_path: Path) -> None:
    PIL.Image.fromarray(np.full((40, 40, 3), 90, np.uint8)).save(tmp_path / "gray.png")
    raster = open_raster(tmp_path / "gray.png")
    with pytest.raises(Refused, match=r"Or let the embedded network guess from colours, with --segmenter landcover\."):
        open_backend("auto", raster, SegmentOptions())


def test_asking_without_it_loads_no_onnxruntime() -> None:
    code = "import swath.segment.networks.landcover, swath.segment.networks.catalogue as c, sys\n"
    code += "c.find('landcover')\nprint('onnxruntime' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "False"


def test_without_onnxruntime_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PIL.Image.fromarray(np.full((40, 40, 3), 90, np.uint8)).save(tmp_path / "gray.png")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(Exception, match=r"Next: pip install 'swath\[eyes\]'"):
        open_backend("landcover", open_raster(tmp_path / "gray.png"), SegmentOptions())


def test_smaller_tiles_change_few_pixels(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raster = open_raster(shared_data / "landcover_dubai" / "images" / "group2_tile01.jpg")
    whole = open_backend("landcover", raster, SegmentOptions()).segment("building").mask
    monkeypatch.setattr(
        "swath.segment.networks.onnx.Tiling", lambda side_px, multiple_px: Tiling(256, multiple_px=32, offset_px=50)
    )
    cut = open_backend("landcover", raster, SegmentOptions()).segment("building").mask
    assert (whole == cut).mean() >= TILES_AGREE
