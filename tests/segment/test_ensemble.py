"""Several sources as one, against what each finds alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine

import swath
from swath.agent.replay import replay
from swath.errors import InputError, Refused
from swath.raster.reader import Raster, open_raster
from swath.segment.protocol import SegmentOptions
from swath.segment.registry import open_backend
from swath.testing.networks import colour_network
from swath.testing.segment_contract import faults
from swath.trace.reading import find_run

RED, BLUE, GREEN = (220, 40, 40), (20, 60, 200), (40, 160, 50)


@pytest.fixture
def raster(tmp_path: Path) -> Raster:
    random = np.random.default_rng(4)
    which = np.kron(random.integers(0, 3, (12, 10)), np.ones((8, 8), int))
    pixels = (np.array([RED, BLUE, GREEN])[which] + random.integers(-60, 61, (96, 80, 3))).clip(0, 255)
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 5e5, 0, -0.5, 4e6)}
    with rasterio.open(
        tmp_path / "image.tif", "w", driver="GTiff", width=80, height=96, count=3, dtype="uint8",
        photometric="rgb", **place,
    ) as file:  # fmt: skip
        file.write(pixels.astype(np.uint8).transpose(2, 0, 1))
    return open_raster(tmp_path / "image.tif")


@pytest.fixture
def cards(tmp_path: Path) -> tuple[Path, Path]:
    """Two networks: one knows houses and water, the other water and plants; they differ on what is water."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    bounds = "[thresholds]\nstrict = 0.7\nlax = 0.4\n"
    first = colour_network(tmp_path / "a", {"building": RED, "water": BLUE}, more=bounds)
    second = colour_network(tmp_path / "b", {"water": (60, 90, 180), "vegetation": GREEN})
    return first, second


def written(folder: Path, text: str) -> Path:
    path = folder / "both.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_class_comes_from_the_source_that_the_file_names(
    tmp_path: Path, raster: Raster, cards: tuple[Path, Path]
) -> None:
    text = 'fuse = "class"\n[classes]\nbuilding = "onnx:a/colours.toml"\nwater = "onnx:b/colours.toml"\n'
    both = open_backend(f"ensemble:{written(tmp_path, text)}", raster, SegmentOptions())
    alone = [open_backend(f"onnx:{card}", raster, SegmentOptions()) for card in cards]
    assert both.classes() == ("building", "water")
    for name, source in zip(both.classes(), alone, strict=True):
        found, expected = both.segment(name), source.segment(name)
        assert np.array_equal(np.asarray(found.mask), np.asarray(expected.mask))
        assert found.thresholds == expected.thresholds
        assert found.method.startswith(f"{name} by onnx:")
    assert not np.array_equal(np.asarray(both.segment("water").mask), np.asarray(alone[0].segment("water").mask))
    assert faults(both, raster) == []


def test_the_highest_score_in_any_source_wins(tmp_path: Path, raster: Raster, cards: tuple[Path, Path]) -> None:
    text = 'fuse = "score"\nmembers = ["onnx:a/colours.toml", "onnx:b/colours.toml"]\n'
    both = open_backend(f"ensemble:{written(tmp_path, text)}", raster, SegmentOptions())
    first, second = (open_backend(f"onnx:{card}", raster, SegmentOptions()) for card in cards)
    score = {
        "building": first.segment("building").score,
        "water": np.maximum(first.segment("water").score, second.segment("water").score),  # type: ignore[type-var]
        "vegetation": second.segment("vegetation").score,
    }
    highest = np.array(list(score))[np.argmax(np.stack(list(score.values())), 0)]  # type: ignore[arg-type]
    assert both.classes() == ("building", "water", "vegetation")
    for name in both.classes():
        mask = np.asarray(both.segment(name).mask)
        ties = np.stack([np.asarray(score[other]) == np.asarray(score[name]) for other in score if other != name]).any(
            0
        )
        assert np.array_equal(mask[~ties], (highest == name)[~ties])
    assert both.segment("water").thresholds == (0.7, 0.5, 0.4)
    assert both.segment("vegetation").thresholds is None
    assert faults(both, raster) == []


def test_a_run_records_what_was_fused_and_replays(tmp_path: Path, raster: Raster, cards: tuple[Path, Path]) -> None:
    text = 'fuse = "score"\nmembers = ["onnx:a/colours.toml", "onnx:b/colours.toml"]\n'
    name = f"ensemble:{written(tmp_path, text)}"
    answer = swath.ask(raster.path, "What percentage is water?", segmenter=name, out=tmp_path / "runs")
    run = find_run(str(answer.run), tmp_path)
    record = run.record["segmenter"]
    assert record["fuse"] == "score"
    hashes = [member["weights_sha256"] for member in record["members"].values()]
    assert len(set(hashes)) == 2
    assert replay(run).same
    colour_network(tmp_path / "b", {"water": (60, 90, 181), "vegetation": GREEN})
    assert "the files that the classes come from have changed since" in replay(run, resegment=True).differences


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fuse = ", "cannot be read as TOML"),
        ("", "it lacks 'fuse'"),
        ('fuse = "mean"', """fuse is "class" or "score", not 'mean'"""),
        ('fuse = "class"', "it lacks 'classes'"),
        ('fuse = "score"\nmembers = []', "names no 1 to 16 segmenters"),
        ('fuse = "score"\nmembers = [3]', "names no 1 to 16 segmenters"),
        ('fuse = "score"\nmembers = ["gold"]', '"gold" is no segmenter that an ensemble can hold'),
        ('fuse = "score"\nmembers = ["ensemble:both.toml"]', "is no segmenter that an ensemble can hold"),
        (
            'fuse = "class"\n[classes]\npond = "onnx:a/colours.toml"\ntree = "onnx:a/colours.toml"',
            'knows no class "tree"',
        ),
    ],
)
def test_what_describes_no_ensemble_is_one_sentence(
    tmp_path: Path, raster: Raster, cards: tuple[Path, Path], text: str, why: str
) -> None:
    with pytest.raises(InputError) as said:
        open_backend(f"ensemble:{written(tmp_path, text)}", raster, SegmentOptions())
    assert why in str(said.value)


def test_without_a_file_it_says_how_to_name_one(raster: Raster) -> None:
    with pytest.raises(InputError, match="--segmenter ensemble:FILE.toml"):
        open_backend("ensemble", raster, SegmentOptions())
    with pytest.raises(InputError, match=r"none.toml cannot be read"):
        open_backend("ensemble:none.toml", raster, SegmentOptions())


def test_an_unknown_class_is_refused(tmp_path: Path, raster: Raster, cards: tuple[Path, Path]) -> None:
    text = 'fuse = "class"\n[classes]\nbuilding = "onnx:a/colours.toml"\n'
    both = open_backend(f"ensemble:{written(tmp_path, text)}", raster, SegmentOptions())
    with pytest.raises(Refused, match='"water" is not a class of ensemble, which knows building'):
        both.segment("water")
