"""Reads somebody else's predictions: JSON lines or CSV with the columns id, answer and, where known, unit."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.runner.predictors import Told
from swath.eval.scores import Prediction

SHOWN_IDS = 3


def read_predictions(path: Path, ids: Collection[str]) -> Told:
    """Predictions by the id of their case.

    An answer is a number, a text, boxes or the path of a mask (in a CSV, numbers and JSON lists are read as such); an
    empty one, or null, is a refusal.

    Args:
        path: a file of JSON objects, one a line, or a CSV file with a line of column names.
        ids: the cases that there are; not each needs a prediction.

    Raises:
        InputError: the file cannot be read, names a case twice, or one that there is not.
    """
    predictions: dict[str, Prediction] = {}
    for number, row in _rows(path):
        name = str(row.get("id", row.get("question_id", ""))).strip()  # VRSBench's own lines say question_id
        if not name or "answer" not in row:
            raise InputError(f"{path}, line {number}: no id or no answer. Next: give each line an id and an answer.")
        if name in predictions:
            raise InputError(f'{path}, line {number}: "{name}" has a prediction already. Next: give one for each case.')
        predictions[name] = _prediction(row)
    unknown = sorted(predictions.keys() - set(ids))
    if unknown or not predictions:
        which = ", ".join(unknown[:SHOWN_IDS]) + (
            f" and {len(unknown) - SHOWN_IDS} more" if len(unknown) > SHOWN_IDS else ""
        )
        raise InputError(
            f"{path} predicts cases that the benchmark does not have: {which}. Next: use its ids."
            if unknown
            else f"{path} holds no prediction. Next: write lines with id and answer."
        )
    return Told(predictions, f"predictions {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}")


def _prediction(row: Mapping[str, Any]) -> Prediction:
    answer, unit = row["answer"], row.get("unit") or None
    if answer is None or answer == "":
        return Prediction("refused", reason="The prediction is empty.")
    return Prediction("answered", answer, unit)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix.lower() == ".csv":
                reader = csv.DictReader(file)
                for row in reader:
                    read = {"answer": read_value(row["answer"])} if "answer" in row else {}
                    yield reader.line_num, {**row, **read}
                return
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, _object(path, number, line)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"The predictions {path} cannot be read ({type(error).__name__}). Next: give JSON lines, or CSV."
        ) from None


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise InputError(f'{path}, line {number}: no JSON object. Next: write lines like {{"id": "7", "answer": 3}}.')
    return row


def read_value(text: str | None) -> Any:
    """A text as the number or the JSON list that it writes, else as it is."""
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        return text
    plain = isinstance(value, int | float | list) and not isinstance(value, bool)
    return value if plain else text
