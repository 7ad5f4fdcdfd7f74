"""The benchmark `questions`: its layout, its errors, and the public sample measured end to end."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import swath
from swath.errors import InputError
from swath.eval.cases import open_benchmark
from swath.eval.scores import Prediction, score

ROW = {
    "id": "S1", "image": "a.tif", "question": "How much?", "answer": 2, "unit": "ha", "type": "total_area",
    "tolerance": {"rel": 0.01},
}  # fmt: skip


def test_a_line_is_a_case(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    (case,) = open_benchmark("questions").cases(tmp_path)
    assert (case.id, case.truth, case.unit, case.tolerance_rel) == ("S1", 2, "ha", 0.01)
    assert case.image == tmp_path / "a.tif"


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(json.dumps(ROW) + "\n{", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: not a case"):
        list(open_benchmark("questions").cases(tmp_path))


def test_a_folder_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no questions.jsonl"):
        list(open_benchmark("questions").cases(tmp_path))


def test_an_unknown_benchmark_is_named() -> None:
    with pytest.raises(InputError, match=r'There is no benchmark "nonsense"\. Next: choose one of .*questions'):
        open_benchmark("nonsense")


def test_the_public_sample_is_answered_right(shared_questions: Path, tmp_path: Path) -> None:
    """41 questions whose truths come from two computations that are not ours."""
    scores = {}
    for case in open_benchmark("questions").cases(shared_questions):
        answer = swath.ask(case.image, case.question, out=tmp_path, keep="light", **case.options)
        scores[case.id] = score(case, Prediction.of_answer(answer))
    wrong = {key: found for key, found in scores.items() if found.verdict != "right"}
    assert Counter(found.verdict for found in scores.values())["right"] >= 40, wrong
