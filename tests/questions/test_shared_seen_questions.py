"""Questions as people type them, asked end to end and held against truths computed apart from swath (truths.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
import truths
from asking import Verdict, put_all, read, table
from made import options

SEEN = Path(__file__).parent / "seen.jsonl"
RIGHT = 0.97


@pytest.fixture(scope="module")
def verdicts(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    return list(put_all(read(SEEN), shared_data, tmp_path_factory.mktemp("questions")))


def test_the_share_of_right_answers(verdicts: list[Verdict]) -> None:
    right = sum(v.verdict == "right" for v in verdicts) / len(verdicts)
    assert right >= RIGHT, "\n" + table(verdicts)


def test_none_is_answered_wrong(verdicts: list[Verdict]) -> None:
    wrong = {v.row["id"] for v in verdicts if v.verdict in ("wrong", "should_refuse", "failed")}
    assert not wrong, "\n" + table(verdicts)


def test_the_truths_are_what_the_reference_computes(shared_data: Path, tmp_path: Path) -> None:
    rows = [row for row in read(SEEN) if "truth" in row][::6]
    for row in rows:
        fresh = truths.truth(row, truths.Scene(row, shared_data, tmp_path))
        assert truths.close(row["answer"], fresh, {"rel": 1e-6}), row["id"]


def test_every_question_finds_its_files(shared_data: Path, tmp_path: Path) -> None:
    for row in read(SEEN):
        given = options(row, shared_data, tmp_path)
        paths = [shared_data / row["image"], *(given[k] for k in ("labels", "legend") if k in given)]
        assert all(path.is_file() for path in (*paths, *given.get("layers", {}).values())), row["id"]
