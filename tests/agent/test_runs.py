"""Writing run folders: what they hold, how they are named, and that half a run is never seen."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import rasterio
from run_scenes import Scene, painted, write_image

import swath
from swath.agent import kept_masks, runs
from swath.agent.planner import Program
from swath.agent.run_record import RunRecord
from swath.agent.runs import write_run
from swath.agent.sandbox import Limits
from swath.errors import InputError
from swath.testing.planner import ScriptedPlanner
from swath.trace.reading import list_runs, load_run
from swath.trace.schema import schema
from swath.types import Answer

SHAPE = (40, 60)
COUNT = (
    'houses = components(segment("building"), larger_than_px=10)\n'
    'close = near(houses, segment("water"), max_distance_m=30)\n'
    'reply(count(close), kind="count", objects=close)\n'
)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Four houses (one too small, one too far) beside a canal."""
    houses = painted(SHAPE, (12, 2, 18, 8), (12, 20, 18, 26), (50, 30, 56, 36), (20, 10, 22, 12))
    paintings = {"building": houses, "water": painted(SHAPE, (0, 0, 5, 40))}
    return Scene(tmp_path, monkeypatch, write_image(tmp_path / "town.tif", SHAPE), paintings)


def bare_record(**changes: Any) -> RunRecord:
    """A run that was refused before an image was opened."""
    fields: dict[str, Any] = {
        "answer": Answer("refused", "why?", "x.tif", text="no", reason="no"),
        "outcome": None,
        "graph_steps": (),
        "tool_steps": (),
        "program": None,
        "drafts": (),
        "raster": None,
        "site": None,
        "inputs": {},
        "planner": "offline",
        "segmenter": {},
    }
    return RunRecord(**fields | changes)


def valid_run(folder: Path) -> dict[str, Any]:
    """run.json, held against the published schemas together with steps.jsonl."""
    record: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    jsonschema.validate(record, schema("run"), jsonschema.Draft202012Validator)
    for line in (folder / "steps.jsonl").read_text(encoding="utf-8").splitlines():
        jsonschema.validate(json.loads(line), schema("step"), jsonschema.Draft202012Validator)
    return record


def test_the_schemas_are_schemas() -> None:
    for name in ("run", "step"):
        jsonschema.Draft202012Validator.check_schema(schema(name))  # type: ignore[arg-type]


def test_full_keeps_everything(scene: Scene) -> None:
    folder, answer = scene.ask(COUNT)
    assert answer.answer == 2
    assert answer.run == str(folder)
    assert answer.counted is not None
    assert answer.counted.path == str(folder / "objects.gpkg")
    names = {path.name for path in folder.iterdir()}
    assert names == {"run.json", "steps.jsonl", "program.py", "masks", "objects.gpkg", "objects.qml", "overlay.png"}
    assert (folder / "program.py").read_text(encoding="utf-8") == COUNT
    assert not [path for path in scene.out.iterdir() if path.name.startswith(".")]


def test_light_keeps_the_texts(scene: Scene) -> None:
    folder, answer = scene.ask(COUNT, keep="light")
    assert {path.name for path in folder.iterdir()} == {"run.json", "steps.jsonl", "program.py"}
    assert answer.counted is not None
    assert (answer.counted.count, answer.counted.path) == (2, None)
    assert valid_run(folder)["masks"] == []


def test_wrong_keeps_the_rest_unless_answered(scene: Scene) -> None:
    folder, _ = scene.ask(COUNT, keep="wrong")
    assert not (folder / "masks").exists()
    refused = (
        'none = difference(segment("water"), segment("water"))\n'
        'reply(distance_m(none, none), kind="quantity", unit="m")\n'
    )
    folder, answer = scene.ask(refused, keep="wrong")
    assert answer.status == "refused"
    assert (folder / "overlay.png").exists()
    assert (folder / "masks").exists()


def test_run_json_says_what_the_schema_says(scene: Scene) -> None:
    folder, answer = scene.ask(COUNT, gsd_m=None)
    record = valid_run(folder)
    assert record["id"] == folder.name
    assert record["question"] == "how many?"
    assert record["image"]["sha256"] == kept_masks.sha256_of(scene.image)
    assert record["image"]["grid"]["shape"] == list(SHAPE)
    assert record["image"]["grid"]["affine"] == [2.0, 0.0, 500000.0, 0.0, -2.0, 5000000.0]
    assert record["image"]["grid"]["pixel_size_m"] == {"x": 2.0, "y": 2.0}
    assert "UTM zone 31N" in record["image"]["grid"]["crs"]
    assert (record["planner"], record["model"], record["prompts"]) == ("scripted", None, {})
    assert record["classes"] == ["building", "water"]
    assert record["answer"]["answer"] == answer.answer == 2
    assert record["answer"]["objects"] == {"count": 2, "path": "objects.gpkg"}
    assert record["answer"]["run"] == folder.name
    assert load_run(folder).answer == json.loads(json.dumps(answer.to_json())) | {
        "seconds": record["answer"]["seconds"]
    }


def test_a_schema_notices_what_is_missing_or_foreign(scene: Scene) -> None:
    folder, _ = scene.ask(COUNT)
    record = valid_run(folder)
    for changed in (
        {**record, "extra": 1},
        {k: v for k, v in record.items() if k != "masks"},
        record | {"keep": "all"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(changed, schema("run"), jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"step": 1, "name": "x"}, schema("step"), jsonschema.Draft202012Validator)


def test_refused_and_failed_runs_keep_to_the_schema_too(scene: Scene) -> None:
    refused = 'reply(count(components(segment("castle"))), kind="count")\n'
    folder, answer = scene.ask(refused)
    assert answer.status == "refused"
    assert valid_run(folder)["status"] == "refused"
    folder, answer = scene.ask("reply(", "reply((")
    assert answer.status == "refused"  # the script has no further draft
    record = valid_run(folder)
    assert [draft["file"] for draft in record["drafts"]] == ["program.1.py", "program.2.py"]
    assert (folder / "program.1.py").read_text(encoding="utf-8") == "reply(("
    assert all(draft["hints"] for draft in record["drafts"])
    folder, _ = write_run(bare_record(), scene.out)
    assert valid_run(folder)["image"] == {"path": "x.tif", "resolved": None, "sha256": None, "held": None, "grid": None}


def test_steps_are_in_the_order_in_which_they_were_made(scene: Scene) -> None:
    folder, _ = scene.ask(COUNT, COUNT.replace("count(close)", "cuont(close)"))
    steps = load_run(folder).steps
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    names = [step["name"] for step in steps]
    agent = [step["name"] for step in steps if step["kind"] == "graph"]
    assert agent == ["read", "plan", "check", "plan", "check", "run", "verify", "answer"]
    calls = ["segment", "components", "segment", "near", "count", "reply"]
    assert names[names.index("run") + 1 :][: len(calls)] == calls
    near = steps[names.index("near")]
    assert near["arguments"] == {"regions": "#2", "target": "#3", "max_distance_m": 30}
    assert near["result"]["count"] == 2
    assert near["line"] == 2


def test_masks_are_on_the_image_s_grid_and_named_after_what_they_show(scene: Scene) -> None:
    folder, _ = scene.ask(COUNT)
    record = load_run(folder).record
    names = [mask["file"] for mask in record["masks"]]
    assert names[0] == "masks/001-building.tif"
    assert "masks/004-building-larger-than-10-px-within-30-m-of-water.tif" in names
    for mask in record["masks"]:
        with rasterio.open(folder / mask["file"]) as dataset:
            assert dataset.shape == SHAPE
            assert dataset.crs.to_epsg() == 32631
            assert tuple(dataset.transform)[:6] == (2.0, 0.0, 500000.0, 0.0, -2.0, 5000000.0)
            assert dataset.tags(1, ns="IMAGE_STRUCTURE")["NBITS"] == "1"
            assert int(dataset.read(1).astype(int).sum()) == mask["pixels"]
        assert mask["sha256"] == kept_masks.sha256_of(folder / mask["file"])


def test_the_same_pixels_are_kept_once(scene: Scene) -> None:
    folder, _ = scene.ask('w = components(segment("water"))\nreply(count(w), kind="count", objects=w)\n')
    (mask,) = load_run(folder).record["masks"]
    assert mask["handles"] == [1, 2]
    assert sorted(path.name for path in (folder / "masks").glob("*.tif")) == ["001-water.tif", "valid.tif"]


def test_a_loop_over_many_regions_does_not_write_many_files(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swath.agent.kept_masks.MOST_MASKS", 3)
    program = (
        'n = 0\nfor one in each(components(segment("building"))):\n    n = n + count(one)\nreply(n, kind="count")\n'
    )
    folder, _ = scene.ask(program)
    record = valid_run(folder)
    assert sum(len(mask["handles"]) for mask in record["masks"]) == 3
    assert record["masks_left_out"] == 3


@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "a\x00b\n\x1b[31m", "水", "con", "." * 300, "A B"])
def test_names_of_classes_cannot_leave_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    image = write_image(tmp_path / "town.tif", SHAPE)
    water = np.where(painted(SHAPE, (0, 0, 5, 40)), 0.55, 0.0)
    scene = Scene(tmp_path, monkeypatch, image, {name: water, f"{name} ": painted(SHAPE, (9, 9, 12, 12))})
    monkeypatch.setattr("swath.tools.masks.canonical", lambda word, known: known[0] if word == "water" else known[1])
    folder, _ = scene.ask(
        'a = union(segment("water"), segment("pond"))\nreply(area_m2(a), kind="quantity", unit="m2", objects=a)'
    )
    record = valid_run(folder)
    files = [path.name for path in (folder / "masks").iterdir()]
    assert all(re.fullmatch(r"[a-z0-9-]+\.(tif|qml)", file) for file in files)
    kept = [found["mask"]["file"] for found in record["segmentations"].values()]
    assert len(set(kept)) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs", "town.tif"]


def test_numbers_that_json_has_no_word_for_are_written_as_text(scene: Scene) -> None:
    program = 'reply([1e308 * 10, 2.5], kind="ranking")\nsegment("water")'
    folder, _ = write_run(
        bare_record(answer=Answer("failed", "q", "x", answer=float("nan")), program=program), scene.out
    )
    assert valid_run(folder)["answer"]["answer"] == "nan"


def test_ids_sort_by_time_and_are_never_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: write_run(bare_record(), tmp_path)[0], range(100)))
    assert len(set(folders)) == 100
    in_order = [write_run(bare_record(), tmp_path)[0].name for _ in range(20)]
    assert in_order == sorted(in_order)
    assert [run.id for run in list_runs(tmp_path)][:20] == in_order[::-1]
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", folder.name) for folder in folders)


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from test_runs import bare_record\nfrom swath.agent.runs import write_run\n"
        "[write_run(bare_record(), Path(sys.argv[1])) for _ in range(40)]\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "runs"), str(Path(__file__).parent)]
    workers = [subprocess.Popen(command) for _ in range(2)]
    assert [worker.wait() for worker in workers] == [0, 0]
    assert len(list_runs(tmp_path / "runs")) == 80
    assert len(list((tmp_path / "runs").iterdir())) == 80


def test_a_name_that_is_taken_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(runs.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls(2026, 11, 30, 10, 15, 12, 999_999, tzinfo=tz)

    monkeypatch.setattr(runs, "datetime", Clock)
    names = [write_run(bare_record(), tmp_path)[0].name for _ in range(3)]
    assert names == ["20261130-101512-ffff", "20261130-101512-0000", "20261130-101512-0001"]


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"The run cannot be kept in .*file: .*Next: name another folder with --out"):
        write_run(bare_record(), tmp_path / "file")
    with pytest.raises(InputError, match="cannot be kept in .*not a directory"):
        write_run(bare_record(), tmp_path / "file" / "runs")


def test_a_full_disk_says_so_and_leaves_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(runs, "draw_overlay", full)
    with pytest.raises(InputError, match="The run cannot be kept in .*: no space left on device.*make room there"):
        scene.ask(COUNT)
    assert list(scene.out.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any, **kwargs: Any) -> None:
        assert list_runs(scene.out) == []  # while it is being written nobody sees it
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "draw_overlay", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scene.ask(COUNT)
    assert list(scene.out.iterdir()) == []


def test_a_question_in_any_script_is_kept_as_typed(scene: Scene) -> None:
    question = "Wie viele Häuser? 有多少房子？ كم عدد المباني؟ \u2028 \x1b[31m \U0001f3e0"
    folder, _ = scene.ask(COUNT, question=question)
    assert load_run(folder).question == question
    valid_run(folder)


def test_the_public_function_returns_the_same_answer(village: Any, tmp_path: Path) -> None:
    planner = ScriptedPlanner(Program('reply(area_m2(segment("water")), kind="quantity", unit="m2")\n', "water"))
    answer = swath.ask(village.image, "how large?", planner=planner, out=tmp_path, **village.options)
    assert answer.run is not None
    kept = load_run(Path(answer.run)).answer
    shown = json.loads(json.dumps(answer.to_json()))
    assert kept | {"seconds": 0} == shown | {"seconds": 0}


def test_what_the_program_was_allowed_is_recorded(scene: Scene, tmp_path: Path) -> None:
    answer = swath.ask(scene.image, "count", program=COUNT, limits=Limits(calls=3), out=tmp_path / "runs", keep="light")
    assert (answer.status, "calls" in str(answer.reason)) == ("failed", True)
    limits = valid_run(Path(str(answer.run)))["limits"]
    assert (limits["calls"], limits["guest_seconds"]) == (3, Limits().guest_seconds)
