"""Questions about images in tiles that are killed, that find no room, that a cluster works on: the same in the end."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from dask_cluster import Cluster, wait_until
from hypothesis import given
from hypothesis import strategies as st
from test_tiled_runs import QUESTIONS, asked, town

import swath
from swath.agent import resuming
from swath.agent.leftovers import locked, sweep
from swath.errors import InputError
from swath.raster import journal as journal_module
from swath.raster.journal import Journal

AT_ONCE = (
    "from swath.raster import journal; journal.AFTER_S = 0; import runpy; runpy.run_module('swath', alter_sys=True)"
)
TILED = ("--tiles-above", "1000000")


def words(image: Path, question: str, out: Path, *more: str) -> list[str]:
    legend = str(image.with_suffix(".json"))
    return [
        *(sys.executable, "-c", AT_ONCE, "ask", str(image), question, "--labels", str(image), "--legend", legend),
        *("--out", str(out), "--json", "--keep", "light", *TILED, *more),
    ]


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Large enough that somebody is quick enough to kill the question."""
    return town(tmp_path / "town.tif", times=3)


@pytest.fixture(autouse=True)
def kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "AFTER_S", 0)


@pytest.fixture
def journals(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Journal]]:
    """Those that questions of this process make."""
    made: list[Journal] = []

    def make(*arguments: Any) -> Journal:
        made.append(Journal(*arguments))
        return made[-1]

    monkeypatch.setattr(resuming, "Journal", make)
    yield made


def known(out: Path) -> int:
    """Bytes of what is known of unfinished questions."""
    return sum(file.stat().st_size for file in out.glob(".unfinished-*/*.pass"))


def kill_once_more_is_known(image: Path, question: str, out: Path, more_bytes: int) -> None:
    enough = known(out) + more_bytes
    with subprocess.Popen(words(image, question, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: known(out) >= enough or process.poll() is not None)
        process.kill()
        process.communicate()
        assert process.returncode == -9


def same(one: swath.Answer, other: swath.Answer) -> bool:
    return (one.answer, one.text, one.interval, one.warnings, one.status) == (
        other.answer, other.text, other.interval, other.warnings, "answered",
    )  # fmt: skip


def test_a_killed_question_goes_on_and_leaves_nothing(large: Path, tmp_path: Path, journals: list[Journal]) -> None:
    question, out = QUESTIONS[0], tmp_path / "runs"
    whole = asked(large, question, tmp_path / "whole", tiles_above_px=10**9, keep="light")
    for begun in (1, 5_000):
        kill_once_more_is_known(large, question, out, begun)
        assert [path.name[:12] for path in out.iterdir()] == [".unfinished-"]
    again = asked(large, question, out, tiles_above_px=10**6, keep="light")
    assert same(whole, again)
    assert journals[-1].taken_over >= 4  # two rows of tiles, counted and looked for buildings
    assert [path.name for path in out.iterdir()] == [Path(again.run or "").name]


def test_a_killed_question_is_not_taken_over_where_a_file_has_changed(
    large: Path, tmp_path: Path, journals: list[Journal]
) -> None:
    question, out = QUESTIONS[1], tmp_path / "runs"
    kill_once_more_is_known(large, question, out, 1)
    os.utime(large, ns=(1, 1))
    asked(large, question, out, tiles_above_px=10**6, keep="light")
    assert journals[-1].taken_over == 0


@pytest.mark.parametrize("grid", ["same", "other"])
def test_what_was_found_is_known_again_though_the_labels_have_been_counted_since(
    grid: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWATH_CACHE", str(tmp_path / "cache"))
    labels, image = town(tmp_path / "town.tif"), tmp_path / "image.tif"
    place = Affine(0.5, 0, 500_000 if grid == "same" else 500_003.1, 0, -0.5, 5_000_000)
    profile = {"driver": "GTiff", "height": 700, "width": 2600, "count": 1, "dtype": "uint8", "crs": "EPSG:32633"}
    with rasterio.open(image, "w", **profile, transform=place) as dataset:
        dataset.write(np.full((700, 2600), 7, np.uint8), 1)
    named: list[str] = []
    carried = journal_module.carried

    def noted(function: Any) -> bytes | None:
        packed = carried(function)
        assert packed is not None
        named.append(hashlib.sha256(packed).hexdigest())
        return packed

    monkeypatch.setattr(journal_module, "carried", noted)
    options = {"labels": labels, "legend": labels.with_suffix(".json"), "tiles_above_px": 10**6, "keep": "light"}
    first, again = (swath.ask(image, QUESTIONS[0], out=tmp_path / "runs", **options) for _ in range(2))
    assert first.answer == again.answer
    counted = len(named) // 2 + 1
    assert named[1:counted] == named[counted:]


def test_leftovers_are_swept_only_where_nobody_is_at_work(tmp_path: Path) -> None:
    names = [".20260101-000000-0000.partial", ".20260101-000000-0001.partial", ".unfinished-0", ".unfinished-1", "run"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{")
    week_ago = time.time() - 8 * 86400
    for name in (names[0], names[2], names[4]):
        os.utime(tmp_path / name, (week_ago, week_ago))
    with locked(tmp_path / names[0]):
        sweep(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted({*names} - {names[2]})
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([names[1], names[3], names[4]])


@pytest.mark.parametrize(("noisy", "room"), [(True, 60_000), (False, 4_000), (False, 600)])
def test_a_full_disk_is_one_sentence_and_nothing_half_written(tmp_path: Path, noisy: bool, room: int) -> None:
    """A file that may not grow is what a full disk is to whoever writes to it."""
    image, out = town(tmp_path / "town.tif", noisy=noisy), tmp_path / "runs"

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    command = words(image, QUESTIONS[0], out, "--keep", "full")
    done = subprocess.run(command, preexec_fn=full, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    said = [line for line in done.stderr.strip().splitlines() if not line.startswith("_tiff")]  # GDAL's own
    assert len(said) == 1
    assert said[0].startswith("swath: ")
    assert any(end in said[0] for end in ("cannot be kept in", "cannot be written"))
    assert " Next: " in said[0]
    assert not out.exists() or list(out.iterdir()) == []


def test_what_cannot_be_kept_for_later_does_not_stop_the_answer(tmp_path: Path) -> None:
    journal = Journal(tmp_path, most_bytes=100)
    assert list(journal(lambda n: bytes(40 * n), [1, 2, 3])) == [bytes(40), bytes(80), bytes(120)]
    later = Journal(tmp_path)
    assert list(later(lambda n: bytes(40 * n), [1, 2, 3])) == [bytes(40), bytes(80), bytes(120)]


def test_what_is_found_in_the_first_seconds_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "AFTER_S", 1000)
    assert list(Journal(tmp_path)(abs, [-1, 2])) == [1, 2]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) == 0


@given(cut=st.integers(0, 400), junk=st.binary(max_size=30), again=st.lists(st.integers(0, 9), min_size=1))
def test_a_journal_that_was_cut_off_anywhere(cut: int, junk: bytes, again: list[int]) -> None:
    """What is left of it is right, and what is wrong in it is worked on anew."""
    with tempfile.TemporaryDirectory() as folder:
        offset = 7

        def power(n: int) -> tuple[int, bytes]:
            return n**offset, bytes(n)

        assert list(Journal(Path(folder))(power, range(10))) == [power(n) for n in range(10)]
        (file,) = Path(folder).glob("*.pass")
        file.write_bytes(file.read_bytes()[:cut] + junk)
        journal = Journal(Path(folder))
        assert list(journal(power, again)) == [power(n) for n in again]
        offset = 8
        assert list(journal(power, again)) == [power(n) for n in again]


def test_a_cluster_gives_the_same_though_it_loses_a_worker(large: Path, tmp_path: Path, cluster: Cluster) -> None:
    address, workers = cluster
    question, out = QUESTIONS[0], tmp_path / "runs"
    whole = asked(large, question, tmp_path / "whole", tiles_above_px=10**9, keep="light")
    with subprocess.Popen(
        words(large, question, out, "--dask", address), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until(lambda: known(out) > 0, process)
        assert process.poll() is None
        workers[0].kill()
        said, problems = process.communicate(timeout=240)
    assert process.returncode == 0, problems
    found = json.loads(said)
    assert (found["answer"], found["text"]) == (whole.answer, whole.text)
    assert found["interval"]["low"] == whole.interval.low  # type: ignore[union-attr]
    assert found["interval"]["high"] == whole.interval.high  # type: ignore[union-attr]


def test_a_cluster_has_nothing_to_do_with_a_small_image(tmp_path: Path) -> None:
    image = town(tmp_path / "town.tif")
    with pytest.raises(InputError, match=r"^town.tif is not held in tiles, so that --dask has nothing to hand out"):
        asked(image, QUESTIONS[0], tmp_path, dask="tcp://127.0.0.1:1")


def test_a_worker_that_cannot_read_the_image_says_so(tmp_path: Path, cluster: Cluster) -> None:
    image = town(tmp_path / "town.tif")
    here = Path.cwd()
    os.chdir(tmp_path.parent)  # the workers run elsewhere, so that a relative name is none to them
    try:
        relative = Path(tmp_path.name) / image.name
        with pytest.raises(InputError, match=r"There is no file .*town.tif"):
            asked(relative, QUESTIONS[0], tmp_path / "runs", tiles_above_px=10**6, dask=cluster[0])
    finally:
        os.chdir(here)


def test_damage_that_a_worker_meets_is_the_same_sentence(tmp_path: Path, cluster: Cluster) -> None:
    image = town(tmp_path / "town.tif")
    with rasterio.open(image) as dataset:
        offset = int(dataset.get_tag_item("BLOCK_OFFSET_3_1", "TIFF", bidx=1))
    data = image.read_bytes()
    image.write_bytes(data[:offset] + bytes(40) + data[offset + 40 :])
    for dask in (None, cluster[0]):
        with pytest.raises(
            InputError, match=r"^Rows 0 to 511, columns 0 to 2047 of .*town.tif cannot be read: the file"
        ):
            asked(image, QUESTIONS[0], tmp_path / "runs", tiles_above_px=10**6, dask=dask)
