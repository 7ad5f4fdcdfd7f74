"""The command line under bad input and bad weather: one sentence, the right exit status, nothing left half done."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine

from swath.cli.asking import LONGEST_PROGRAM_BYTES
from swath.raster.grid import Grid
from swath.raster.write import write_array

ESCAPE = "\x1b[2J\x1b]0;owned\x07"
COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'


def swath(*words: object, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "swath", *map(str, words)],
        **{"capture_output": True, "text": True, "cwd": cwd, "timeout": 120, **options},
    )
    assert "Traceback" not in (done.stdout or "") + done.stderr
    return done


def says(done: subprocess.CompletedProcess[str], status: int, sentence: str) -> None:
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr
    assert all(letter.isprintable() for letter in done.stderr.replace("\n", ""))


def labelled(village: Any) -> list[object]:
    return ["--labels", village.image, "--legend", village.legend]


# ---------------------------------------------------------------------------------------------------- options


def test_one_role_for_two_bands_is_refused(village: Any, tmp_path: Path) -> None:
    done = swath("ask", village.image, "How much water?", "--bands", "red=1,Red=2", cwd=tmp_path)
    says(done, 2, '--bands names red twice: "red=1" and "red=2".')
    done = swath("info", village.image, "--bands", "RED=1,red=1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
def test_a_threshold_is_a_finite_number(village: Any, tmp_path: Path, value: str) -> None:
    done = swath(
        "ask", village.image, "How much water?", *labelled(village), "--threshold", f"ndwi={value}", cwd=tmp_path
    )
    says(done, 2, f'--threshold takes a number, such as NDWI=0.1, not "ndwi={value}".')


def test_what_click_says_about_hostile_words_is_harmless(tmp_path: Path) -> None:
    for words in (["ask", f"--{ESCAPE}"], [f"{ESCAPE}fly"], ["ask", "a.tif", "?", "--keep", ESCAPE]):
        says(swath(*words, cwd=tmp_path), 2, "owned")
    says(
        swath("info", "a.tif", ESCAPE, cwd=tmp_path), 2, "unexpected extra argument (\N{REPLACEMENT CHARACTER}]0;owned"
    )


def test_hostile_names_of_classes_reach_no_terminal(village: Any, tmp_path: Path) -> None:
    legend = tmp_path / "legend.json"
    legend.write_text(json.dumps({"1": f"{ESCAPE}building", "2": "water", "3": "grass\u202e"}), encoding="utf-8")
    done = swath("segment", village.image, "water", "--labels", village.image, "--legend", legend, "-o",
                 f"{ESCAPE}.tif", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    words = ["ask", village.image, "How many trees are there?", "--labels", village.image, "--legend", legend]
    says(swath(*words, cwd=tmp_path), 3, "trees")
    done = swath(*words, "--json", cwd=tmp_path)
    assert done.stdout.rstrip("\n").isprintable()
    assert "\\u001b" in done.stdout
    assert "\x1b" in json.loads(done.stdout)["reason"]


# --------------------------------------------------------------------------------------------------- programs


def test_a_program_that_is_no_text_file_is_refused(village: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "latin.py").write_bytes("# forêt\n".encode("latin-1"))
    with (tmp_path / "video.py").open("wb") as file:
        file.truncate(LONGEST_PROGRAM_BYTES + 1)  # sparse
    for name, sentence in {
        "pipe.py": "pipe.py is no regular file. Next: write the program to a file.",
        "/dev/zero": "/dev/zero is no regular file.",
        ".": ". is no regular file.",
        "latin.py": "latin.py is not a program: it is not UTF-8 text. Next: check the path.",
        "video.py": "video.py has 16,777,217 bytes, which no program has.",
        "nowhere.py": "The program nowhere.py cannot be read: no such file or directory. Next: check the path.",
    }.items():
        says(swath("run", name, village.image, *labelled(village), cwd=tmp_path), 2, sentence)
    assert not (tmp_path / "runs").exists()


def test_a_byte_order_mark_is_no_part_of_a_program(village: Any, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(COUNT, encoding="utf-8-sig")
    done = swath("run", "p.py", village.image, *labelled(village), "--json", "--keep", "light", cwd=tmp_path)
    assert json.loads(done.stdout)["answer"] == 12


# -------------------------------------------------------------------------------------------- files to write


def test_segment_does_not_overwrite_what_it_reads(village: Any, tmp_path: Path) -> None:
    image = Path(shutil.copy(village.image, tmp_path / "village.tif"))
    before = image.read_bytes()
    words = ["segment", image, "water", "--labels", village.image, "--legend", village.legend]
    says(swath(*words, "-o", "village.tif", cwd=tmp_path), 2, "is one of the files that are read")
    says(swath(*words, "-o", "no/m.tif", cwd=tmp_path), 2, "no/m.tif cannot be written: there is no folder no.")
    assert image.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_one_sentence(village: Any, tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = swath("info", village.image, cwd=tmp_path, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    says(done, 1, "swath: The output cannot be written: no space left on device. Next: make room.")


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = swath("tools", cwd=tmp_path, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


# ---------------------------------------------------------------------------------------------------- signals


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    own = [int(child) for child in listed.read_text().split()] if listed.exists() else []
    return own + [further for child in own for further in children(child)]


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="children are found as Linux shows them")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_being_ended_leaves_no_worker_and_no_half_written_run(village: Any, tmp_path: Path, number: int) -> None:
    (tmp_path / "p.py").write_text("n = 0\nwhile True:\n    n += count(components(segment('water')))\n")
    words = [sys.executable, "-m", "swath", "run", "p.py", village.image, *labelled(village)]
    process = subprocess.Popen(
        [*map(str, words)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers: list[int] = []
    deadline = time.monotonic() + 60
    while not workers and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
        workers = children(process.pid)
    assert workers, "no worker was started"
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number), said
    assert "Traceback" not in said
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


# ------------------------------------------------------------------------------------------------------- runs


def test_a_run_that_was_tampered_with_is_one_sentence(village: Any, tmp_path: Path) -> None:
    done = swath("ask", village.image, "How many buildings are there?", *labelled(village), "--keep", "light",
                 cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps(record | {"classes": "water"}), encoding="utf-8")
    for words in (["show", folder], ["replay", folder], ["export", folder, "--geojson", "o.geojson"]):
        done = swath("trace", *words, cwd=tmp_path)
        says(done, 2, "is broken: run.json is not as swath writes it: classes is of another type.")
    done = swath("trace", "list", cwd=tmp_path)
    assert "classes is of another type" in done.stderr
    (folder / "run.json").write_text("[" * 100_000, encoding="utf-8")
    says(swath("trace", "show", folder, cwd=tmp_path), 2, "run.json is not JSON (RecursionError)")


def test_info_shows_an_affine_of_equal_numbers_whole(tmp_path: Path) -> None:
    write_array(tmp_path / "a.tif", np.ones((2, 4, 4), np.uint8), Grid(Affine.identity(), (4, 4), pyproj.CRS(32631)))
    said = swath("info", "a.tif", cwd=tmp_path).stdout
    assert "shape  4, 4\n" in said
    assert "dtypes  uint8 in each\n" in said
