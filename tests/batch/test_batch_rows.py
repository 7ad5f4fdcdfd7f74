"""The file of rows: nothing that was known is lost, nothing of another survey is taken over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from swath.batch.rows import Key, Row, RowFile, row_of, row_of_error, sidecar_of
from swath.errors import InputError, Refused
from swath.raster.local_files import Stamp, stamp
from swath.types import Answer, Interval

SURVEY = {"question": "how many?", "labels": Path("l.tif")}
WANTED: dict[Key, Stamp] = {("a.tif", None): [[1, 2]], ("b.tif", None): [[3, 4]], ("c.tif", None): [[5, 6]]}


def row(image: str, status: str = "answered") -> Row:
    return Row(image, None, status, 3, covers=("boundary",), warnings=("Mind.", "Beware."))  # type: ignore[arg-type]


def written(path: Path, *rows: Row, survey: dict[str, object] | None = None) -> RowFile:
    file = RowFile(path, survey or SURVEY)
    file.open(WANTED, resume=False)
    for one in rows:
        file.add(one, WANTED[one.key])
    return file


def taken_over(
    path: Path, *, survey: Mapping[str, Any] = SURVEY, wanted: Mapping[Key, Stamp] = WANTED
) -> dict[Key, Row]:
    with closing(RowFile(path, survey)) as file:
        return file.open(wanted, resume=True)


def test_a_row_is_in_the_file_before_the_next_one_is_begun(tmp_path: Path) -> None:
    path = sidecar_of(tmp_path / "table.csv")
    assert path.name == "table.csv.jsonl"
    file = written(path, row("a.tif"))
    assert [json.loads(line).get("image") for line in path.read_text(encoding="utf-8").splitlines()] == [None, "a.tif"]
    file.close()


def test_rows_are_taken_over_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    written(path, row("a.tif"), row("b.tif", "refused")).close()
    again = RowFile(path, dict(SURVEY))
    assert again.open(WANTED, resume=True) == {("a.tif", None): row("a.tif"), ("b.tif", None): row("b.tif", "refused")}
    again.add(row("c.tif"), WANTED["c.tif", None])
    again.close()
    assert len(taken_over(path)) == 3


def test_failed_changed_and_unwanted_rows_are_done_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    written(path, row("a.tif", "failed"), row("b.tif"), row("c.tif")).close()
    changed: dict[Key, Stamp] = {("a.tif", None): [[1, 2]], ("b.tif", None): [[3, 99]]}
    assert taken_over(path, wanted=changed) == {}


def test_the_last_word_on_a_row_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    written(path, row("a.tif", "failed"), row("a.tif"), row("b.tif"), row("b.tif", "failed")).close()
    assert set(taken_over(path)) == {("a.tif", None)}


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_line_that_was_cut_off_is_no_row(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.jsonl"
    written(path, row("a.tif"), row("b.tif")).close()
    path.write_bytes(path.read_bytes()[:-cut])
    file = RowFile(path, SURVEY)
    assert set(file.open(WANTED, resume=True)) == {("a.tif", None)}
    file.add(row("b.tif"), WANTED["b.tif", None])
    file.close()
    assert len(taken_over(path)) == 2


def test_rows_of_another_survey_are_refused_and_what_differs_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    written(path, row("a.tif")).close()
    other = {"question": "how much?", "labels": Path("l.tif"), "aoi": "a.gpkg"}
    with pytest.raises(
        InputError, match=r"holds rows of another survey \(not the same: aoi, question\)\. Next: give the"
    ):
        taken_over(path, survey=other)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_an_unfinished_survey_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    written(path, row("a.tif"), row("b.tif")).close()
    with pytest.raises(
        InputError, match=r"was interrupted after 2 of 3 rows\. Next: go on with --resume, or delete the"
    ):
        RowFile(path, SURVEY).open(WANTED, resume=False)
    written_whole = RowFile(path, SURVEY)
    written_whole.open(WANTED, resume=True)
    written_whole.add(row("c.tif"), WANTED["c.tif", None])
    written_whole.close()
    with closing(RowFile(path, {"question": "another"})) as afresh:
        assert afresh.open(WANTED, resume=False) == {}


def test_what_is_no_file_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for content in (b'{"a": 1}\n', b"word\n", b"[]\n", b"\xff\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"t\.jsonl (is not a file of survey rows|cannot be read)"):
            RowFile(path, SURVEY).open(WANTED, resume=True)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: no such file or directory\. Next: name another table"):
        RowFile(tmp_path / "none" / "t.jsonl", SURVEY).open(WANTED, resume=False)


def test_a_full_disk_is_one_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with closing(RowFile(Path("rows.jsonl"), SURVEY)) as file:
        file._file = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115
        with pytest.raises(InputError, match=r"^rows\.jsonl cannot be written: no space left on device\. Next: name"):
            file.add(row("a.tif"), [])


def test_answers_and_errors_as_rows() -> None:
    answer = Answer(
        "answered", "q", "i.tif", 2, "count", "count", "2: x", Interval(1, 3, ("boundary",)), warnings=("w",)
    )
    found = row_of(answer, "i.tif", "z", 50.0)
    assert (found.key, found.low, found.high, found.covers, found.covered_percent) == (
        ("i.tif", "z"),
        1,
        3,
        ("boundary",),
        50,
    )
    assert row_of_error(Refused("No."), "i.tif").status == "refused"
    assert row_of_error(InputError("Bad."), "i.tif").reason == "Bad."
    broken = row_of_error(KeyError("x"), "i.tif", "z")
    assert (broken.status, broken.zone) == ("failed", "z")
    assert (broken.reason or "").startswith("Internal error (KeyError: 'x'). Next: report it")


def test_a_stamp_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    assert stamp([path]) == [[0, 0]]
    path.write_text("a", encoding="utf-8")
    before = stamp([path, path])
    assert before[0] == before[1] != [0, 0]
    path.write_text("ab", encoding="utf-8")
    assert stamp([path]) != before[:1]
