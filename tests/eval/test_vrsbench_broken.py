"""Damaged VRSBench folders: one sentence each, with file, row and key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swath.errors import InputError
from swath.eval.cases import open_benchmark
from swath.eval.vrsbench.benchmark import Captions
from swath.testing.benchmarks.vrsbench import COURSE, HARBOUR, write_vrsbench

FILES = {"cap": "Cap", "ref": "referring", "ref-obb": "referring", "vqa": "vqa"}


def file_of(task: str, folder: Path) -> Path:
    return folder / f"VRSBench_EVAL_{FILES[task]}.json"


def error(task: str, folder: Path, cache: Path | None = None) -> str:
    with pytest.raises(InputError) as caught:
        list(open_benchmark(f"vrsbench-{task}").cases(folder, cache))
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence.replace(str(folder), "")) < 400
    return sentence


def broken(task: str, folder: Path, row: int, change: Callable[[dict[str, Any]], object]) -> str:
    """The error once a change has been made to one row, counted from 1, of a task's evaluation file."""
    file = file_of(task, write_vrsbench(folder))
    rows = json.loads(file.read_text(encoding="utf-8"))
    change(rows[row - 1])
    file.write_text(json.dumps(rows), encoding="utf-8")
    return error(task, folder)


@pytest.mark.parametrize(
    ("task", "key", "value", "said"),
    [
        ("cap", "ground_truth", None, "is missing, where a text is needed"),
        ("cap", "ground_truth", ["a"], "is ['a'], not a text"),
        ("cap", "ground_truth", " ", "is empty"),
        ("cap", "question", 7, "is 7, not a text"),
        ("cap", "question_id", None, "is missing"),
        ("cap", "question_id", 1.5, "is 1.5, not a text"),
        ("cap", "image_id", "gone.png", "names 'gone.png', which is not in"),
        ("cap", "image_id", "../../secret.png", "is '../../secret.png', which is no path below"),
        ("cap", "image_id", "/etc/passwd", "is '/etc/passwd', which is no path below"),
        ("cap", "image_id", "a/" + HARBOUR, "is no plain file name"),
        ("cap", "image_id", "a\0.png", "is 'a\\x00.png', which is no path below"),
        ("cap", "image_id", {}, "is {}, not a text"),
        ("cap", "image_id", "x" * 5000, "xxx..., which is no path below"),
        ("vqa", "type", "object smell", "is 'object smell', not one of object category, object existence"),
        ("vqa", "type", "\x1b[31mred", "is '\\x1b[31mred', not one of"),
        ("vqa", "ground_truth", 2, "is 2, not a text"),
        ("vqa", "ground_truth", True, "is True, not a text"),
        ("vqa", "ground_truth", "\ud800", "holds half a character"),
        ("ref", "ground_truth", "{<1><2><3>}", "is no box of four numbers from 0 to 100"),
        ("ref", "ground_truth", "{<1><2><3><101>}", "is no box of four numbers from 0 to 100"),
        ("ref", "ground_truth", "9" * 5000, "is no box of four numbers"),
        ("ref", "unique", "yes", "is 'yes', not true or false"),
        ("ref", "unique", 2, "is 2, not true or false"),
        ("ref", "obj_corner", [0.1] * 7, "not a list of 8 finite numbers"),
        ("ref", "obj_corner", [0.1] * 7 + ["a"], "not a list of 8 finite numbers"),
        ("ref", "obj_corner", [0.1] * 7 + [float("nan")], "not a list of 8 finite numbers"),
        ("ref", "obj_corner", [0.1] * 7 + [10**400], "not a list of 8 finite numbers"),
        ("ref-obb", "obj_corner", [0.1] * 7 + [1e300], "is not given in fractions of the image's width and height"),
        ("ref", "obj_corner", {"x": 1}, "not a list of 8 finite numbers"),
        ("ref", "obj_cls", "", "is empty"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named(task: str, key: str, value: object, said: str, tmp_path: Path) -> None:
    sentence = broken(task, tmp_path, 2, lambda row: row.update({key: value}))
    assert sentence.startswith(f'{file_of(task, tmp_path)}, row 2: key "{key}" ')
    assert said in sentence
    assert sentence.endswith("Next: correct it, or fetch the file anew.")


def test_two_rows_of_one_id(tmp_path: Path) -> None:
    sentence = broken("vqa", tmp_path, 5, lambda row: row.update(question_id=1))
    assert sentence == (
        f"{file_of('vqa', tmp_path)}, row 5: the id '1' has been used by row 2 already. Next: give each row its own."
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON (Expecting value at line 1, character 1)"),
        (b"[{", "not JSON"),
        (b'{"rows": []}', "holds an object, not one JSON array"),
        (b"[[1]]", "row 1: holds an array, not an object"),
        (b"[null]", "row 1: holds null, not an object"),
        (b"[7]", "row 1: holds a number, not an object"),
        (b'["\xff"]', "is not UTF-8 (byte 2)"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "not usable JSON"),
    ],
)
def test_a_damaged_file(content: bytes, said: str, tmp_path: Path) -> None:
    file_of("cap", write_vrsbench(tmp_path)).write_bytes(content)
    assert said in error("cap", tmp_path)


def test_a_byte_order_mark_and_unicode_are_no_damage(tmp_path: Path) -> None:
    file = file_of("cap", write_vrsbench(tmp_path))
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[0]["ground_truth"] = "Schiffe – 船 🚢 \u2028 done"
    file.write_text("\ufeff" + json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    (first, _) = open_benchmark("vrsbench-cap").cases(tmp_path)
    assert first.truth == ["Schiffe – 船 🚢 \u2028 done"]


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    assert error("ref", tmp_path) == (
        f"{tmp_path} holds neither VRSBench_EVAL_referring.json nor a folder Annotations_val. "
        "Next: unpack the official files there, or give the folder that holds them."
    )


def test_an_unreadable_evaluation_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    write_vrsbench(tmp_path)
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(InputError) as caught:
        list(Captions().cases(tmp_path))
    file = file_of("cap", tmp_path)
    assert str(caught.value) == f"{file} cannot be read (Permission denied). Next: check the path."


def test_an_image_that_is_none(tmp_path: Path) -> None:
    write_vrsbench(tmp_path)
    (tmp_path / "Images_val" / HARBOUR).write_bytes(b"no picture")
    assert HARBOUR in error("ref", tmp_path)
    assert len(list(open_benchmark("vrsbench-vqa").cases(tmp_path))) == 12  # nothing of it is needed there


# Annotations


def annotation(folder: Path, **changes: object) -> Path:
    """The annotation file of the harbour with some of its values changed."""
    file = write_vrsbench(folder, evaluation=False) / "Annotations_val" / f"{Path(HARBOUR).stem}.json"
    values = json.loads(file.read_text(encoding="utf-8")) | changes
    file.write_text(json.dumps(values), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("task", "changes", "said"),
    [
        ("cap", {"caption": 3}, 'key "caption" is 3, not a text'),
        ("cap", {"image": None}, 'key "image" is missing, where a text is needed'),
        ("ref", {"objects": {}}, 'key "objects" is {}, not a list of objects'),
        ("ref", {"objects": [1]}, 'key "objects" is [1], not a list of objects'),
        ("ref", {"objects": [{"obj_id": 1}]}, 'objects 1: key "obj_corner" is missing'),
        ("vqa", {"qa_pairs": [{"question": "Is it?", "answer": "yes", "type": "image"}]},
         'qa_pairs 1: key "ques_id" is missing'),
        ("vqa", {"qa_pairs": [{"ques_id": 1, "question": "Is it?", "answer": "yes", "type": "image"}] * 2},
         "qa_pairs 2: the id 'P0003_0002:1' has been used by qa_pairs 1 already"),
    ],
)  # fmt: skip
def test_a_wrong_annotation_is_named(task: str, changes: dict[str, object], said: str, tmp_path: Path) -> None:
    file = annotation(tmp_path, **changes)
    sentence = error(task, tmp_path)
    assert sentence.startswith(str(file))
    assert said in sentence


def test_an_annotation_that_even_a_lenient_reader_cannot_read(tmp_path: Path) -> None:
    file = annotation(tmp_path)
    file.write_text("{caption: }")
    assert error("cap", tmp_path).startswith(f"{file}: not JSON (")
    file.write_text("[1, 2]")
    assert error("cap", tmp_path) == f"{file} holds no JSON object. Next: fetch the file anew."


def test_a_broken_annotation_matters_only_where_detections_are_wanted(tmp_path: Path) -> None:
    write_vrsbench(tmp_path)
    (tmp_path / "Annotations_val" / f"{Path(COURSE).stem}.json").write_text("{")
    assert len(list(open_benchmark("vrsbench-cap").cases(tmp_path))) == 2
    assert f"{Path(COURSE).stem}.json" in error("cap", tmp_path, tmp_path / "cache")


def test_numbers_as_texts_are_numbers(tmp_path: Path) -> None:
    """Upstream turns every corner into a float before it uses it."""
    file = file_of("ref", write_vrsbench(tmp_path))
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[0]["obj_corner"] = [str(value) for value in rows[0]["obj_corner"]]
    file.write_text(json.dumps(rows), encoding="utf-8")
    assert next(iter(open_benchmark("vrsbench-ref").cases(tmp_path))).truth == [64, 64, 192, 128]
