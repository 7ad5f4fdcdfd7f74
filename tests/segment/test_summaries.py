"""What is kept of a large class raster from one question to the next: equal answers, and nothing of another one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from PIL import Image

import swath
from swath.raster.reader import open_raster
from swath.segment import summaries
from swath.segment.code_runs import CodeRuns
from swath.segment.summaries import keep_summaries, kept_summaries

QUESTION = "What percentage of the image is water?"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SWATH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "summaries"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for each tile that is counted."""
    calls: list[int] = []
    tallies = CodeRuns.tallies

    def noted(self: CodeRuns, windows: Any) -> Any:
        calls.extend([1] * len(windows))
        return tallies(self, windows)

    monkeypatch.setattr(CodeRuns, "tallies", noted)
    return calls


def labels(path: Path, seed: int = 1, share: float = 0.3) -> Path:
    values = np.where(np.random.default_rng(seed).random((700, 2600)) < share, 2, 1).astype(np.uint8)
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000)}
    profile = {"driver": "GTiff", "height": 700, "width": 2600, "count": 1, "dtype": "uint8", "compress": "deflate"}
    with rasterio.open(path, "w", **profile, **place) as dataset:
        dataset.write(values, 1)
    path.with_suffix(".json").write_text(json.dumps({"1": "grass", "2": "water"}))
    return path


def asked(path: Path, out: Path, **options: Any) -> swath.Answer:
    given = {"labels": path, "legend": path.with_suffix(".json"), "tiles_above_px": 10**6, **options}
    return swath.ask(path, QUESTION, out=out, keep="light", **given)


def from_cache(answer: swath.Answer) -> bool:
    record = json.loads((Path(answer.run or "") / "run.json").read_text())
    return bool(record["segmenter"]["labels"].get("summaries_from_cache", False))


def test_the_second_question_counts_nothing_and_answers_the_same(
    tmp_path: Path, cache: Path, counted: list[int]
) -> None:
    path = labels(tmp_path / "a.tif")
    first = asked(path, tmp_path / "runs")
    tiles = len(counted)
    second = asked(path, tmp_path / "runs")
    assert tiles == 4
    assert len(counted) == tiles
    assert (first.answer, first.text, first.interval) == (second.answer, second.text, second.interval)
    assert [from_cache(first), from_cache(second)] == [False, True]
    assert len(list(cache.iterdir())) == 1


def test_another_name_of_the_same_content_is_known(tmp_path: Path, cache: Path, counted: list[int]) -> None:
    asked(labels(tmp_path / "a.tif"), tmp_path / "runs")
    before = len(counted)
    assert from_cache(asked(labels(tmp_path / "b.tif"), tmp_path / "runs"))
    assert len(counted) == before


def test_another_legend_of_the_same_values_needs_no_counting(tmp_path: Path, cache: Path, counted: list[int]) -> None:
    path = labels(tmp_path / "a.tif")
    first, before = asked(path, tmp_path / "runs"), len(counted)
    path.with_suffix(".json").write_text(json.dumps({"1": "water", "2": "grass"}))
    second = asked(path, tmp_path / "runs")
    assert len(counted) == before
    assert isinstance(first.answer, float)
    assert second.answer == pytest.approx(100 - first.answer, abs=1e-9)


def masked(path: Path) -> None:
    """A mask beside the file, which says that its upper half is no data."""
    mask = np.full((700, 2600), 255, dtype=np.uint8)
    mask[:350] = 0
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000)}
    profile = {"driver": "GTiff", "height": 700, "width": 2600, "count": 1, "dtype": "uint8"}
    with rasterio.open(f"{path}.msk", "w", **profile, **place) as dataset:
        dataset.write(mask, 1)
        dataset.update_tags(INTERNAL_MASK_FLAGS_1="2")


@pytest.mark.parametrize("change", [lambda path: labels(path, seed=2, share=0.6), masked])
def test_what_has_changed_is_counted_anew(
    tmp_path: Path, cache: Path, counted: list[int], change: Callable[[Path], Any]
) -> None:
    path = labels(tmp_path / "a.tif")
    first = asked(path, tmp_path / "runs")
    change(path)
    second = asked(path, tmp_path / "runs")
    assert not from_cache(second)
    assert len(counted) == 8
    assert first.answer != second.answer
    assert second.answer == asked(path, tmp_path / "runs", tiles_above_px=10**9).answer


@pytest.mark.parametrize("junk", [b"", b"{}", b"0" * 64 + b"\n[]", b"\xff" * 200])
def test_a_corrupt_entry_is_no_entry(tmp_path: Path, cache: Path, junk: bytes) -> None:
    path = labels(tmp_path / "a.tif")
    first = asked(path, tmp_path / "runs")
    (entry,) = cache.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(junk)
    second = asked(path, tmp_path / "runs")
    assert (from_cache(second), first.answer) == (False, second.answer)
    assert entry.read_bytes() == whole


def test_an_entry_of_one_flipped_bit_is_no_entry(tmp_path: Path, cache: Path) -> None:
    keep_summaries("k", [(np.array([1, 2]), np.array([5, 6]))])
    assert kept_summaries("k", 1) is not None
    assert kept_summaries("k", 2) is None
    data = bytearray((cache / "k.json").read_bytes())
    data[-3] ^= 1
    (cache / "k.json").write_bytes(data)
    assert kept_summaries("k", 1) is None


def test_entries_take_no_more_room_than_they_may(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MOST_BYTES", 1000)
    tally = [(np.arange(40), np.arange(40))]
    for number in range(6):
        keep_summaries(f"{number}", tally)
        os.utime(cache / f"{number}.json", ns=(number, number))
        kept_summaries("0", 1)  # is used, so that it stays
    names = sorted(path.stem for path in cache.iterdir())
    assert names == ["0", "5"]
    assert sum(path.stat().st_size for path in cache.iterdir()) <= 1000
    monkeypatch.setattr(summaries, "LARGEST_BYTES", 100)
    keep_summaries("large", tally)
    assert sorted(path.stem for path in cache.iterdir()) == names


def test_a_folder_that_cannot_be_written_stops_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SWATH_CACHE", str(tmp_path / "file" / "below"))
    path = labels(tmp_path / "a.tif")
    assert [asked(path, tmp_path / "runs").status for _ in range(2)] == ["answered", "answered"]


def test_only_what_has_a_content_is_kept(tmp_path: Path) -> None:
    path = labels(tmp_path / "a.tif")
    Image.fromarray(open_raster(path).read(1).data[0].data).save(tmp_path / "a.png")
    windows = [(slice(0, 700), slice(0, 2600))]
    assert summaries.summary_key(open_raster(tmp_path / "a.png"), "values", windows) is None
    keys = {summaries.summary_key(open_raster(path), meaning, windows) for meaning in ("values", "colours")}
    assert len(keys) == 2
    assert None not in keys
