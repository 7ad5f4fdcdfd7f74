"""A benchmark as a JSON-lines file of questions over label rasters.

Layout: `questions.jsonl` with id, image, question, answer, unit, tolerance {"rel", "abs"}, type, and optionally gsd and
answer_aliases; `legend.json` beside it names the classes of the label rasters, which are also the images.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case

NO_UNIT = ("text", "yes/no")


class Questions:
    """The benchmark `questions`."""

    name = "questions"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per line.

        Raises:
            InputError: there is no questions.jsonl, or a line is not such a case.
        """
        file = folder / "questions.jsonl"
        if not file.is_file():
            raise InputError(f"{folder} holds no questions.jsonl, so that it is not a folder of questions.")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                yield _case(json.loads(line), folder)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(f"{file}, line {number}: not a case ({type(error).__name__}: {error}).") from None


def _case(row: dict[str, Any], folder: Path) -> Case:
    truth = row["answer"]
    if not isinstance(truth, int | float | str):
        raise TypeError(f"answer is {type(truth).__name__}")
    image = folder / row["image"]
    return Case(
        id=str(row["id"]),
        image=image,
        question=row["question"],
        truth=truth,
        type=row["type"],
        unit=None if row["unit"] in NO_UNIT else row["unit"],
        tolerance_abs=row["tolerance"].get("abs", 0.0),
        tolerance_rel=row["tolerance"].get("rel", 0.0),
        aliases={name: tuple(spellings) for name, spellings in row.get("answer_aliases", {}).items()},
        options={"labels": image, "legend": folder / "legend.json"},
    )
