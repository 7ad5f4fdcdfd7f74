"""`swath models`: what is at hand, what its card says; a network asked from the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from click.testing import CliRunner

from swath.cli import swath
from swath.segment import shelf
from swath.segment.networks.catalogue import find
from swath.segment.pulling import KNOWN
from swath.testing.networks import colour_network


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network of two colours in the user's folder of models."""
    monkeypatch.setenv("SWATH_MODELS", str(tmp_path))
    colours = {"building": (250, 20, 250), "water": (20, 20, 128)}
    return colour_network(tmp_path, colours, roofs="building", more='[sentences]\nalways = ["Painted."]')


def test_models_are_listed_with_how_to_use_them(card: Path) -> None:
    result = CliRunner().invoke(swath, ["models", "list"])
    (line,) = [line for line in result.output.splitlines() if line.startswith("colours")]
    assert "building, water" in line
    assert line.endswith(f"--segmenter onnx:{card}")
    size = card.with_name("colours.onnx").stat().st_size / 1e6
    assert f"here  {size:,.1f} MB  licence not stated  needs 'swath[eyes]'" in line


def listed() -> dict[str, str]:
    """The lines of `swath models list` by model."""
    result = CliRunner().invoke(swath, ["models", "list"])
    assert result.exit_code == 0, result.output
    return {line.partition("  ")[0]: line for line in result.output.splitlines()}


def test_models_that_are_not_here_are_listed_with_how_to_get_them(card: Path) -> None:
    lines = listed()
    assert set(KNOWN) | {"landcover", "colours", "grounded"} == set(lines)
    for name, known in KNOWN.items():
        assert f"not here  {known.bytes / 1e6:,.1f} MB  Apache-2.0  needs 'swath[sam]'" in lines[name]
        assert lines[name].endswith(f"swath models pull {name}")
    assert "not here  size by choice" in lines["grounded"]
    assert lines["grounded"].endswith(str(card.parent / "grounded"))


def test_models_that_were_put_there_are_listed_with_how_to_use_them(card: Path) -> None:
    (card.parent / KNOWN["sam-vit-b"].file).write_bytes(b"x" * 2_500_000)
    (card.parent / "sam_vit_own.pth").write_bytes(b"x" * 1_500_000)
    detector = card.parent / "grounded"
    detector.mkdir()
    for name in ("config.json", "model.safetensors", "preprocessor_config.json", "tokenizer_config.json"):
        (detector / name).write_bytes(b"x" * 1_000_000)
    lines = listed()
    assert "  here  2.5 MB  " in lines["sam-vit-b"]
    assert lines["sam-vit-b"].endswith("--segmenter landcover+sam")
    assert "  here  1.5 MB  licence not stated  " in lines["sam_vit_own"]
    assert lines["sam_vit_own"].endswith(f"--segmenter sam:{card.parent / 'sam_vit_own.pth'}")
    assert "  here  4.0 MB  licence not stated  " in lines["grounded"]
    assert lines["grounded"].endswith("--segmenter grounded")


def test_what_an_extra_lacks_is_listed(card: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shelf.PACKAGES, "sam", ("numpy", "a_package_that_nobody_has"))
    lines = listed()
    assert "needs 'swath[sam]' (lacks a_package_that_nobody_has)" in lines["sam-vit-b"]
    assert "needs 'swath[eyes]' (installed)" in lines["colours"]


def test_a_card_is_printed_by_name_and_by_path(card: Path) -> None:
    by_name = CliRunner().invoke(swath, ["models", "card", "colours"]).output
    assert by_name.rstrip() == card.read_text().rstrip()
    assert CliRunner().invoke(swath, ["models", "card", str(card)]).output == by_name


def test_an_unknown_model_is_a_sentence(card: Path) -> None:
    with pytest.raises(Exception, match=r'There is no model "gold" \(known: .*colours\). Next: give the path'):
        find("gold")


def test_segment_writes_what_the_network_sees(card: Path, tmp_path: Path) -> None:
    pixels = np.full((40, 60, 3), (20, 20, 128), np.uint8)
    pixels[5:15, 5:15] = pixels[20:30, 30:50] = (250, 20, 250)
    PIL.Image.fromarray(pixels).save(tmp_path / "scene.png")
    words = ["segment", str(tmp_path / "scene.png"), "building", "--segmenter", f"onnx:{card}"]
    output, vector = tmp_path / "out.tif", tmp_path / "out.gpkg"
    result = CliRunner().invoke(swath, [*words, "-o", str(output), "--vector", str(vector)])
    assert result.exception is None, result.output
    assert "building: 300 pixels, 12.50 % of the valid ones" in result.output
    assert "2 objects written" in result.output
    assert "note: Painted." in result.output
