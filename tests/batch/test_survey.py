"""One question about many rasters: a row each whatever happens, in order, kept and resumed."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import working
from affine import Affine

import swath
from swath.agent.planner import Program
from swath.batch.rows import Row
from swath.errors import InputError, Refused
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.testing.planner import ScriptedPlanner

COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'
LABELS = {"labels": "{stem}.tif", "legend": "legend.json"}
Street = Callable[..., Path]


def told(rows: tuple[Row, ...]) -> list[Row]:
    """Rows without what differs from run to run."""
    return [replace(row, run=None, seconds=0.0) for row in rows]


def table_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_for_each_raster_in_the_order_given(street: Street) -> None:
    names = [street(f"{name}.tif", houses) for name, houses in (("b", 2), ("a", 0), ("c", 5))]
    found = swath.survey(
        names, "how many?", planner=ScriptedPlanner(Program(COUNT, "houses")), output="t.csv", **LABELS
    )
    assert [(row.image, row.status, row.answer) for row in found.rows] == [
        ("b.tif", "answered", 2), ("a.tif", "answered", 0), ("c.tif", "answered", 5),
    ]  # fmt: skip
    rows = table_of("t.csv")
    assert list(rows[0]) == [
        "image", "status", "answer", "unit", "kind", "low", "high", "covers", "text", "reason", "warnings", "run",
        "seconds",
    ]  # fmt: skip
    assert [(row["image"], row["answer"], row["unit"], row["kind"], row["text"], row["reason"]) for row in rows] == [
        (f"{name}.tif", count, "count", "count", f"{count}: houses", "")
        for name, count in (("b", "2"), ("a", "0"), ("c", "5"))
    ]
    for row in rows:
        assert (Path(row["run"]) / "run.json").is_file()
        assert not (Path(row["run"]) / "masks").exists()


def test_intervals_and_warnings_come_along(street: Street) -> None:
    source = 'reply(area_m2(segment("building")), kind="quantity", unit="m2", objects=segment("building"))'
    planner = ScriptedPlanner(Program(source, "built area", ("Read so.", "Read thus.")))
    found = swath.survey(street("a.tif", 3), "how much?", planner=planner, output="t.csv", **LABELS)
    answer = swath.ask("a.tif", "how much?", program=source, labels="a.tif", legend="legend.json")
    assert answer.interval is not None
    (row,) = found.rows
    assert (row.answer, row.low, row.high, row.covers) == (
        48.0,
        answer.interval.low,
        answer.interval.high,
        ("boundary",),
    )
    (cells,) = table_of("t.csv")
    assert (float(cells["low"]), cells["covers"], cells["warnings"]) == (row.low, "boundary", "Read so. Read thus.")


def test_what_cannot_be_read_or_measured_is_a_row_with_its_reason(street: Street) -> None:
    street("a.tif", 1)
    Path("text.tif").write_text("not an image", encoding="utf-8")
    write_array(Path("slc.tif"), np.zeros((8, 8), np.complex64), Grid(Affine.scale(2, -2), (8, 8), pyproj.CRS(32631)))
    names = ["nowhere.tif", "a.tif", "text.tif", "slc.tif"]
    labels = {"labels": "a.tif", "legend": "legend.json"}
    found = swath.survey(names, "how many?", planner=ScriptedPlanner(COUNT), output="t.csv", **labels)
    assert [row.status for row in found.rows] == ["failed", "answered", "failed", "refused"]
    assert [found.count(status) for status in ("answered", "refused", "failed")] == [1, 1, 2]  # type: ignore[arg-type]
    assert found.rows[0].reason == "There is no file nowhere.tif. Next: check the path."
    assert "text.tif" in (found.rows[2].reason or "")
    assert (found.rows[3].reason or "").startswith("slc.tif holds complex numbers")
    assert [row["reason"] for row in table_of("t.csv")] == [row.reason or "" for row in found.rows]


def test_an_error_that_nobody_foresaw_is_a_row_too(street: Street) -> None:
    street("a.tif", 1), street("b.tif", 2, shape=(40, 101))
    planner = ScriptedPlanner(ValueError("oh\nno"), Program(COUNT, ""))
    found = swath.survey(["a.tif", "b.tif"], "how many?", planner=planner, **LABELS)
    assert [(row.status, row.answer) for row in found.rows] == [("failed", None), ("answered", 2)]
    assert found.rows[0].reason == (
        "Internal error (ValueError: oh no). Next: report it with the output of swath ask on this image."
    )
    assert found.table is None


def test_a_question_is_planned_once_for_every_scene(street: Street) -> None:
    names = [street(f"{k}.tif", k) for k in range(3)] + [street("wide.tif", 1, shape=(40, 120))]
    planner = ScriptedPlanner(Program(COUNT, ""), Program(COUNT, ""))
    found = swath.survey(names, "how many?", planner=planner, **LABELS)
    assert [row.answer for row in found.rows] == [0, 1, 2, 1]
    assert [scene.shape for _, scene, _ in planner.asked] == [(40, 100), (40, 120)]


def test_a_refusal_and_a_mended_draft_are_planned_once_too(street: Street) -> None:
    names = [street(f"{k}.tif", k) for k in range(3)]
    refusing = ScriptedPlanner(Refused("Not from here."))
    found = swath.survey(names, "who?", planner=refusing, **LABELS)
    assert [(row.status, row.reason) for row in found.rows] == [("refused", "Not from here.")] * 3
    mending = ScriptedPlanner(COUNT.replace("count(", "cuont("), COUNT)
    found = swath.survey(names, "how many?", planner=mending, **LABELS)
    assert [row.answer for row in found.rows] == [0, 1, 2]
    assert len(mending.asked) == 2


def test_processes_give_the_same_rows_in_the_same_order(street: Street, tmp_path: Path) -> None:
    names = [street(f"{k}.tif", k % 4) for k in range(7)] + [Path("nowhere.tif")]
    alone = swath.survey(names, "how many?", planner=working.Counting(tmp_path), output="1.csv", **LABELS)
    for file in tmp_path.glob("plan-*"):
        file.unlink()
    shared = swath.survey(names, "how many?", planner=working.Counting(tmp_path), output="3.csv", jobs=3, **LABELS)
    assert told(shared.rows) == told(alone.rows)
    assert [row.answer for row in alone.rows] == [0, 1, 2, 3, 0, 1, 2, None]
    assert len(list(tmp_path.glob("plan-*"))) == 1
    assert [row["image"] for row in table_of("3.csv")] == list(map(str, names))


class Interrupting:
    """Presses Ctrl-C once so many rows are known."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.seen: list[str] = []

    def __call__(self, known: int, wanted: int, row: Row | None) -> None:
        if row is not None:
            self.seen.append(row.image)
        if known >= self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_survey_keeps_its_rows_and_is_resumed(street: Street, tmp_path: Path, jobs: int) -> None:
    names = [street(f"{k}.tif", k) for k in range(6)]
    ask = {"planner": working.Counting(tmp_path), "jobs": jobs, **LABELS}
    whole = swath.survey(names, "how many?", output="whole.csv", **ask)
    with pytest.raises(KeyboardInterrupt):
        swath.survey(names, "how many?", output="t.csv", listen=Interrupting(2), **ask)
    assert len(table_of("t.csv")) == 2
    with pytest.raises(
        InputError, match=r"t\.csv\.jsonl was interrupted after 2 of 6 rows\. Next: go on with --resume"
    ):
        swath.survey(names, "how many?", output="t.csv", **ask)
    rest = Interrupting(99)
    found = swath.survey(names, "how many?", output="t.csv", resume=True, listen=rest, **ask)
    assert told(found.rows) == told(whole.rows)
    assert len(rest.seen) == 4
    assert len(table_of("t.csv")) == 6


def test_resuming_does_again_what_failed_or_changed_and_adds_what_is_new(street: Street) -> None:
    street("a.tif", 1), street("b.tif", 2)
    ask: dict[str, Any] = {"output": "t.csv", **LABELS}
    first = swath.survey(["a.tif", "b.tif", "c.tif"], "how many?", planner=ScriptedPlanner(COUNT), **ask)
    assert [row.status for row in first.rows] == ["answered", "answered", "failed"]
    street("c.tif", 3), street("b.tif", 4)
    os.utime("b.tif", ns=(1, 1))
    seen = Interrupting(99)
    names = ["d.tif", "c.tif", "b.tif", "a.tif"]
    street("d.tif", 0)
    again = swath.survey(names, "how many?", planner=ScriptedPlanner(COUNT), resume=True, listen=seen, **ask)
    assert [(row.image, row.answer) for row in again.rows] == [("d.tif", 0), ("c.tif", 3), ("b.tif", 4), ("a.tif", 1)]
    assert seen.seen == ["d.tif", "c.tif", "b.tif"]


def test_rows_of_another_question_or_other_options_are_never_mixed(street: Street) -> None:
    street("a.tif", 1)
    ask: dict[str, Any] = {"output": "t.csv", "resume": True, **LABELS}
    swath.survey("a.tif", "how many?", planner=ScriptedPlanner(COUNT), keep="light", **ask)
    swath.survey(
        "a.tif", "how many?", planner=ScriptedPlanner(), keep="full", out="elsewhere", **ask
    )  # same measurement
    with pytest.raises(InputError, match=r"another survey \(not the same: question\)"):
        swath.survey("a.tif", "how much?", planner=ScriptedPlanner(COUNT), **ask)
    with pytest.raises(InputError, match=r"another survey \(not the same: gsd_m, planner\)"):
        swath.survey("a.tif", "how many?", gsd_m=2.0, **ask)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"planner": "magic"}, 'There is no planner "magic"'),
        (
            {"segmenter": "magic"},
            'There is no segmenter "magic". Next: use one of auto, ensemble, grounded, labels, landcover, '
            "landcover+sam, onnx, remote, sam, spectral.",
        ),
        ({"labels": "nowhere.tif"}, "There is no file nowhere.tif"),
        ({"layers": {"x": "nowhere.gpkg"}}, "There is no file nowhere.gpkg"),
        ({"jobs": 0}, "--jobs must be at least 1, not 0."),
        ({"zones": "z.geojson", "aoi": "z.geojson"}, "--aoi and --zones both say where to measure. Next: give one"),
        ({"zones": "nowhere.gpkg"}, "There is no file nowhere.gpkg"),
        ({"output": None, "resume": True}, "There is nothing to resume without a table. Next: name the table with -o."),
        ({"output": "t.xlsx"}, "t.xlsx is no table that can be written. Next: let it end in .csv, .gpkg, .parquet."),
        ({"output": "none/t.csv"}, "There is no folder none to write t.csv to. Next: make it first."),
        (
            {"output": "legend.json.csv", "labels": "legend.json.csv"},
            "legend.json.csv would write over legend.json.csv",
        ),
        ({"images": "*.jp2"}, 'No file matches "*.jp2"'),
    ],
)
def test_what_would_fail_in_every_row_is_said_at_once(street: Street, options: dict[str, Any], sentence: str) -> None:
    street("a.tif", 1)
    Path("legend.json.csv").touch()
    Path("legend.json.csv").write_text("x", encoding="utf-8")
    Path("z.geojson").write_text("{}", encoding="utf-8")
    before = set(Path().iterdir())
    given = {"images": "a.tif", "output": "t.csv", **options}
    with pytest.raises(InputError) as error:
        swath.survey(given.pop("images"), "how many?", **given)
    assert sentence in str(error.value)
    assert set(Path().iterdir()) == before


def test_a_planner_that_cannot_travel_works_alone_only(street: Street) -> None:
    street("a.tif", 1), street("b.tif", 2)
    planner = ScriptedPlanner(COUNT)
    planner.name = lambda: None  # type: ignore[assignment, method-assign]
    with pytest.raises(InputError, match=r"cannot be handed to other processes\. Next: use one job\."):
        swath.survey(["a.tif", "b.tif"], "how many?", planner=planner, jobs=2, **LABELS)


def run(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "swath", "survey", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert "Traceback" not in done.stdout + done.stderr
    return done


WORDS = ("How many buildings are there?", "--labels", "{stem}.tif", "--legend", "legend.json", "-o", "t.csv")


def test_the_command(street: Street) -> None:
    street("a.tif", 2), street("b.tif", 1)
    done = run("a.tif", "b.tif", *WORDS)
    assert (done.returncode, done.stdout) == (0, "t.csv: 2 rows, 2 answered, 0 refused, 0 failed\n"), done.stderr
    assert [row["answer"] for row in table_of("t.csv")] == ["2", "1"]
    done = run(".", "How many solar panels are there?", *WORDS[1:])
    assert (done.returncode, done.stdout) == (0, "t.csv: 2 rows, 0 answered, 2 refused, 0 failed\n")
    done = run("a.tif", *(f"{k}.tif" for k in range(5)), *WORDS)
    assert (done.returncode, done.stdout) == (1, "t.csv: 6 rows, 1 answered, 0 refused, 5 failed\n")
    assert done.stderr.splitlines()[0] == "failed: 0.tif: There is no file 0.tif. Next: check the path."
    assert done.stderr.splitlines()[-1] == "and 2 more, see t.csv"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["how many?", "-o", "t.csv"], "Give images and then a question."),
        (["a.tif", "b.tif", "-o", "t.csv"], "The question comes last, but b.tif is a file. Next: add it in quotes."),
        (["a.tif", "how many?"], "Missing option '-o'"),
        (["a.tif", "how many?", "-o", "t.csv", "--id", "name"], "--id names a column of the file of zones"),
        (["a.tif", "how many?", "-o", "t.csv", "--jobs", "0"], "'--jobs'"),
        (["a.tif", "x" * 5000, "-o", "t.pdf"], "t.pdf is no table"),
        (["x" * 5000, "how many?", "-o", "t.csv"], "is no usable path (File name too long)"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_sentence_and_exit_2(street: Street, words: list[str], sentence: str) -> None:
    street("a.tif", 1), street("b.tif", 1)
    done = run(*words)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert not Path("t.csv").exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize(
    ("how", "jobs", "status"), [(signal.SIGINT, 1, 130), (signal.SIGINT, 2, 130), (signal.SIGKILL, 2, -9)]
)
def test_a_killed_survey_leaves_no_process_and_is_resumed_to_the_same_table(
    street: Street, tmp_path: Path, how: signal.Signals, jobs: int, status: int
) -> None:
    street("0.tif", 3)
    for k in range(1, 60):
        Path(f"{k}.tif").symlink_to("0.tif")
    mark = f"SWATH_TEST_MARK={tmp_path}"
    words = [sys.executable, "-m", "swath", "survey", "*.tif", *WORDS, "--jobs", str(jobs)]
    with subprocess.Popen(
        words, env=os.environ | dict([mark.split("=")]), stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        rows = Path("t.csv.jsonl")
        while not (rows.exists() and rows.read_bytes().count(b"\n") > 4):
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, how) if how == signal.SIGINT else process.kill()
        said = process.communicate(timeout=60)[1]
        assert process.returncode == status, said
    if how == signal.SIGINT:
        assert said == "Interrupted: the rows so far are in t.csv. Next: go on with --resume.\n"
        assert 3 < len(table_of("t.csv")) < 60
    deadline = time.monotonic() + 20
    while alive := [pid for pid in Path("/proc").glob("[0-9]*") if mark in environment(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.05)
    done = run("*.tif", *WORDS, "--resume")
    assert done.stdout == "t.csv: 60 rows, 60 answered, 0 refused, 0 failed\n", done.stderr
    assert [(row["image"], row["answer"]) for row in table_of("t.csv")] == [
        (f"{k}.tif", "3") for k in sorted(range(60), key=str)
    ]


def environment(process: Path) -> list[str]:
    try:
        return (process / "environ").read_text(encoding="utf-8", errors="replace").split("\0")
    except OSError:
        return []


def test_lines_hold_strict_json(street: Street) -> None:
    street("a.tif", 1)
    source = 'reply([float(k) for k in region_areas_m2(components(segment("building")))], kind="ranking")'
    swath.survey("a.tif", "all areas?", planner=ScriptedPlanner(source), output="t.csv", **LABELS)
    head, line = (json.loads(line) for line in Path("t.csv.jsonl").read_text(encoding="utf-8").splitlines())
    assert head["rows"] == 1
    assert line["answer"] == [16.0]
    assert table_of("t.csv")[0]["answer"] == "[16.0]"
    assert np.isfinite(line["seconds"])
