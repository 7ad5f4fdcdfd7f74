"""Reading run folders: by path, by the start of an id, all of a parent; every way in which a folder can be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swath.errors import InputError
from swath.trace.reading import broken_runs, find_run, list_runs, load_run

Make = Callable[..., Path]


def test_a_run_is_read_back(make_run: Make) -> None:
    run = load_run(make_run())
    assert (run.id, run.status, run.question) == ("20261130-101512-3f2a", "answered", "How large is the water?")
    assert [step["name"] for step in run.steps] == ["run", "segment", "area_m2", "reply"]
    assert run.program is not None and run.program.startswith("water = segment")
    assert run.drafts == ()


def test_paths_of_the_answer_follow_a_folder_that_was_moved(make_run: Make, tmp_path: Path) -> None:
    folder = make_run().rename(tmp_path / "elsewhere")
    answer = load_run(folder).answer
    assert answer["run"] == str(folder)
    assert answer["objects"] == {"count": 1, "path": str(folder / "objects.gpkg")}


def test_a_run_is_found_by_path_by_its_run_json_and_by_the_start_of_its_id(make_run: Make, tmp_path: Path) -> None:
    folder, parent = make_run(), tmp_path / "runs"
    make_run("20261201-000000-0000")
    for name in (folder, str(folder), folder / "run.json", folder.name, "20261130", "202611"):
        assert find_run(name, parent).id == folder.name
    assert find_run("20261201", parent).id == "20261201-000000-0000"


def test_a_folder_of_runs_beside_one_is_not_taken_for_an_id(
    make_run: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "2026").mkdir()  # somebody's folder with a name that begins like an id
    assert find_run("2026").id == "20261130-101512-3f2a"


def test_an_unknown_start_says_where_it_looked(make_run: Make, tmp_path: Path) -> None:
    make_run()
    with pytest.raises(InputError, match=r'No run in .*runs begins with "1999".*swath trace list --out'):
        find_run("1999", tmp_path / "runs")


def test_an_ambiguous_start_names_the_runs(make_run: Make, tmp_path: Path) -> None:
    for minute in range(5):
        make_run(f"20261130-10{minute:02d}00-0000")
    with pytest.raises(InputError, match=r'"2026" is the start of 5 runs .*20261130-100000-0000, .* and 2 more'):
        find_run("2026", tmp_path / "runs")


def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no run folder .*nowhere"):
        find_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"No runs can be read from .*nowhere: there is no such folder.*--out DIR"):
        list_runs(tmp_path / "nowhere")


def test_the_parent_is_not_a_run(make_run: Make, tmp_path: Path) -> None:
    make_run()
    with pytest.raises(InputError, match=r"is not the folder of a run: it holds no run\.json"):
        find_run(tmp_path / "runs")


def test_a_foreign_run_json_is_recognised(tmp_path: Path) -> None:
    for text in ('{"name": "a workflow run"}', "[]", '"text"', '{"schema_version": true}', '{"schema_version": "1"}'):
        (tmp_path / "run.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="was not written by swath: it has no schema_version"):
            load_run(tmp_path)


def test_a_newer_run_asks_for_an_update(make_run: Make) -> None:
    with pytest.raises(InputError, match=r"schema version 2; this swath reads up to 1\. Next: update swath"):
        load_run(make_run(schema_version=2))


@pytest.mark.parametrize("text", ["", "{", "\x00", '{"schema_version": 1'])
def test_a_cut_off_run_json_is_broken(make_run: Make, text: str) -> None:
    folder = make_run()
    (folder / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"The run .* is broken: run\.json is not JSON"):
        load_run(folder)


def test_bytes_that_are_not_text_are_broken_too(make_run: Make) -> None:
    folder = make_run()
    (folder / "run.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(InputError, match="is broken"):
        load_run(folder)


def test_missing_fields_are_named(make_run: Make) -> None:
    folder = make_run()
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    del record["question"]
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json lacks question"):
        load_run(folder)


def test_missing_or_broken_steps_and_programs_are_named(make_run: Make) -> None:
    folder = make_run()
    (folder / "steps.jsonl").write_text('{"step": 1, "name": "run"}\n{"st', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2 of steps\.jsonl is not JSON"):
        _ = load_run(folder).steps
    (folder / "steps.jsonl").write_text("[]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1 of steps\.jsonl is not a step"):
        _ = load_run(folder).steps
    (folder / "steps.jsonl").unlink()
    with pytest.raises(InputError, match=r"steps\.jsonl is missing"):
        _ = load_run(folder).steps
    (folder / "program.py").unlink()
    with pytest.raises(InputError, match=r"program\.py is missing"):
        _ = load_run(folder).program


def test_a_run_without_a_program_has_none(make_run: Make) -> None:
    assert load_run(make_run(program=None, answer={"status": "refused", "answer": None})).program is None


def test_line_separators_in_a_text_do_not_end_a_step(make_run: Make) -> None:
    steps = [{"step": 1, "kind": "tool", "name": "segment", "arguments": {"class_name": "a\u2028b\u0085c"}}]
    assert load_run(make_run(steps=steps)).steps[0]["arguments"]["class_name"] == "a\u2028b\u0085c"


def test_names_that_lead_out_of_the_folder_are_not_followed(make_run: Make, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret", encoding="utf-8")
    folder = make_run(drafts=[{"file": "../../secret.py", "hints": []}])
    with pytest.raises(InputError, match="lies outside its folder"):
        _ = load_run(folder).drafts
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    with pytest.raises(InputError, match="lies outside its folder"):
        load_run(folder).file("link.py")


def test_runs_are_listed_newest_first_and_only_whole_ones(make_run: Make, tmp_path: Path) -> None:
    for name in ("20261130-101512-3f2a", "20261130-101512-3f2b", "20250101-000000-ffff"):
        make_run(name)
    make_run(".20261231-000000-0000.partial")
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "file.txt").touch()
    (make_run("20270101-000000-0000") / "run.json").write_text("{", encoding="utf-8")
    found = [run.id for run in list_runs(tmp_path / "runs")]
    assert found == ["20261130-101512-3f2b", "20261130-101512-3f2a", "20250101-000000-ffff"]
    assert len(broken_runs(tmp_path / "runs")) == 1
    assert "20270101-000000-0000 is broken" in broken_runs(tmp_path / "runs")[0]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"notes": "none"}, "notes is of another type"),
        ({"classes": [1]}, r"classes\[0\] is of another type"),
        ({"drafts": [{"file": "program.1.py"}]}, r"'hints' is a required property of drafts\[0\]"),
        ({"valid": {"file": "valid.tif"}}, "'sha256' is a required property of valid"),
        ({"timings": {"run": "long"}}, "timings.run is of another type"),
        ({"inputs": {"labels": ["a.tif"]}}, "inputs.labels is of another type"),
        ({"inputs": {"bands": {"red": "one"}}}, "inputs.bands.red is of another type"),
        ({"keep": "most"}, "keep is none of the values that it can have"),
        ({"answer": {"warnings": None}}, "answer.warnings is of another type"),
        ({"answer": {"objects": {"count": True, "path": None}}}, "answer.objects.count is of another type"),
        ({"answer": {"interval": {"low": 1, "high": [], "covers": []}}}, "answer.interval.high is of another type"),
    ],
)
def test_values_that_are_not_as_published_are_named(make_run: Make, changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=rf"is broken: run\.json is not as swath writes it: {sentence}\. Next: ask"):
        load_run(make_run(**changed))


def test_a_field_that_this_version_does_not_know_is_no_fault(make_run: Make) -> None:
    assert load_run(make_run(weather="fine")).record["weather"] == "fine"


def test_json_that_is_nested_without_end_is_broken(make_run: Make) -> None:
    folder = make_run()
    (folder / "steps.jsonl").write_text("[" * 200_000 + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1 of steps\.jsonl is not JSON"):
        _ = load_run(folder).steps
    (folder / "run.json").write_text('{"a":' * 200_000, encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json is not JSON \(RecursionError\)"):
        load_run(folder)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"arguments": 7}, "arguments is of another type"),
        ({"seconds": "long"}, "seconds is of another type"),
        ({"line": {}}, "line is of another type"),
        ({"kind": "thought"}, "kind is none of the values that it can have"),
    ],
)
def test_steps_that_are_not_as_published_are_named(make_run: Make, changed: dict[str, Any], sentence: str) -> None:
    step = {"step": 1, "kind": "tool", "name": "count", "arguments": {}, "seconds": 0.1, "line": 1}
    with pytest.raises(InputError, match=rf"line 1 of steps\.jsonl is not as swath writes it: {sentence}\. Next"):
        _ = load_run(make_run(steps=[step | changed])).steps
    assert load_run(make_run("20261201-000000-0000", steps=[step])).steps[0] == step
