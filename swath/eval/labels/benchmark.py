"""The benchmark `labels`, called the self-test: what `swath bench make` wrote, as cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.labels.make import CASES, META


class Labels:
    """The benchmark `labels`."""

    name = "labels"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per line of cases.jsonl; image and label map are found from the folder.

        Raises:
            InputError: it is not a folder that `swath bench make` wrote, or a line is not such a case.
        """
        file, meta = folder / CASES, folder / META
        if not (file.is_file() and meta.is_file()):
            raise InputError(f"{folder} holds no {CASES} with its {META}. Next: make one with `swath bench make`.")
        try:
            legend = json.loads(meta.read_text(encoding="utf-8"))["legend"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{meta} is not what `swath bench make` writes ({type(error).__name__}).") from None
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                yield _case(json.loads(line), folder, legend)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(f"{file}, line {number}: not a case ({type(error).__name__}: {error}).") from None


def _case(row: dict[str, Any], folder: Path, legend: str | None) -> Case:
    exact = {"labels": (folder / row["labels"]).resolve()}
    if legend is not None:
        exact["legend"] = (folder / legend).resolve()
    return Case(
        id=row["id"],
        image=(folder / row["image"]).resolve(),
        question=row["question"],
        truth=row["truth"],
        type=row["type"],
        metrics=tuple(row["metrics"]),
        tier=row["tier"],
        unit=row["unit"],
        ranges={rule: (low, high) for rule, (low, high) in row["ranges"].items()},
        options={} if row["gsd_m"] is None else {"gsd_m": row["gsd_m"]},
        exact=exact,
        program=row["program"],
        extras=row["extras"],
    )
