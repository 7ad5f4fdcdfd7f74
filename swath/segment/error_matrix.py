"""What reference samples say of a map: an error matrix, and the shares of ground that it corrects.

The stratified estimator of Olofsson et al. 2014, Good practices for estimating area and assessing accuracy of land
change, Remote Sensing of Environment 148, equations 9 to 11.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from swath.errors import InputError

OF_CARD = "card"
"""In place of a file: the error matrix that the card of the model in force states."""
NORMAL_95 = 1.96
"""Half the width of a 95 % confidence interval in standard errors, as in the paper."""
FEW_SAMPLES = 50
"""The paper advises 50 to 100 samples even in the smallest stratum."""
REST = ("other", "rest", "background")
"""Rows for what belongs to none of the other rows' classes."""
MOST_CLASSES = 256
LARGEST_FILE = 2**20
TOTALS = ("total", "totals", "sum")
SHOWN = "map,water,other\nwater,97,3\nother,2,98"


@dataclass(frozen=True)
class ErrorMatrix:
    """Counts of reference samples.

    Attributes:
        counts: class of the map to class of the reference to how many samples; every row has the same columns.
        source: where it comes from, for people.
        sampled: whether the samples were drawn for this map; a model's own matrix was counted on other images.
        sha256: of the file.
    """

    counts: Mapping[str, Mapping[str, int]]
    source: str
    sampled: bool = True
    sha256: str | None = None

    @property
    def reference_classes(self) -> tuple[str, ...]:
        """The classes that the reference tells apart."""
        return tuple(next(iter(self.counts.values())))

    @property
    def samples(self) -> int:
        """All samples together."""
        return sum(sum(row.values()) for row in self.counts.values())

    def share(self, class_name: str, mapped: Mapping[str, float]) -> tuple[float, float]:
        """The share of the ground that a class truly has, and its standard error.

        Args:
            class_name: one of `reference_classes`.
            mapped: share of the ground of every class of the map; together 1.

        Raises:
            InputError: a class that is mapped has fewer than two samples.
        """
        share = variance = 0.0
        for name, weight in mapped.items():
            if not weight:
                continue
            total = sum(self.counts[name].values())
            if total < 2:
                raise InputError(
                    f'The error matrix of {self.source} has {total} samples where the map says "{name}", which takes '
                    f"two at least. Next: add reference samples there."
                )
            part = self.counts[name][class_name] / total
            share += weight * part
            variance += weight**2 * part * (1 - part) / (total - 1)
        return share, math.sqrt(variance)

    def describe(self) -> dict[str, Any]:
        """JSON-ready record, from which `recorded_matrix` makes it again."""
        counts = {name: dict(row) for name, row in self.counts.items()}
        return {"source": self.source, "sampled": self.sampled, "sha256": self.sha256, "counts": counts}


@runtime_checkable
class SelfAssessed(Protocol):
    """A source of classes that brings an error matrix of its own."""

    def error_matrix(self) -> ErrorMatrix | None:
        """The matrix that its card states, None where it states none."""


def recorded_matrix(record: Mapping[str, Any]) -> ErrorMatrix:
    """A matrix as `ErrorMatrix.describe` recorded it."""
    return ErrorMatrix(record["counts"], record["source"], record["sampled"], record["sha256"])


def read_error_matrix(path: Path) -> ErrorMatrix:
    """Read a CSV file: the first cell says what the rows are, "map" or "reference".

    Raises:
        InputError: it cannot be read, or is no error matrix.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as why:
        raise InputError(f"The error matrix {path} cannot be read ({why}). Next: check the path.") from None
    if len(data) > LARGEST_FILE:
        raise InputError(f"{path} is larger than any error matrix. Next: check the path given to --confusion.")
    try:
        counts = _counts(list(_rows(text)))
    except ValueError as why:
        shown = SHOWN.replace("\n", " / ")
        raise InputError(f"{path} is no error matrix: {why}. Next: write it as CSV such as {shown}.") from None
    return ErrorMatrix(counts, path.name, sha256=hashlib.sha256(data).hexdigest())


def matrix_of_card(table: Mapping[str, Any], name: str) -> ErrorMatrix | None:
    """The matrix `numbers.confusion_px` of a model's card: rows are what labels say, columns what the model found.

    Args:
        table: the card.
        name: of the model, for people.

    Raises:
        InputError: it is none.
    """
    rows = table.get("numbers", {}).get("confusion_px")
    if rows is None:
        return None
    try:
        lines = [[name, *map(str, row)] for name, row in rows.items()]
        counts = _counts([["reference", *rows], *lines])
    except (AttributeError, TypeError, ValueError) as why:
        raise InputError(f"numbers.confusion_px in the card of {name} is no error matrix: {why}.") from None
    return ErrorMatrix(counts, f"the card of {name}", sampled=False)


def _rows(text: str) -> Iterator[list[str]]:
    try:
        for row in csv.reader(io.StringIO(text), strict=True):
            if any(cell.strip() for cell in row):
                yield [cell.strip() for cell in row]
    except csv.Error as why:
        raise ValueError(f"it is no CSV ({why})") from None


def _counts(rows: Sequence[list[str]]) -> dict[str, dict[str, int]]:
    if len(rows) < 2 or rows[0][0].lower() not in ("map", "reference"):
        raise ValueError('its first cell says neither "map" nor "reference", so what its rows are cannot be told')
    columns = [_name(cell) for cell in rows[0][1:]]
    names = [_name(row[0]) for row in rows[1:]]
    for named in (columns, names):
        _check_names(named)
    if any(len(row) != len(columns) + 1 for row in rows):
        raise ValueError(f"not every row has {len(columns)} counts")
    counts = [dict(zip(columns, map(_count, row[1:]), strict=True)) for row in rows[1:]]
    table = dict(zip(names, counts, strict=True))
    if rows[0][0].lower() == "map":
        return table
    return {column: {name: table[name][column] for name in names} for column in columns}


def _name(cell: str) -> str:
    return " ".join(cell.lower().split())


def _check_names(names: list[str]) -> None:
    if not names or len(names) > MOST_CLASSES or "" in names or len(set(names)) < len(names):
        raise ValueError(f"its classes are not 1 to {MOST_CLASSES} different names")
    if set(names) & set(TOTALS):
        raise ValueError("it has a row or column of totals, which are no class")


def _count(cell: str) -> int:
    if not cell.isascii() or not cell.isdecimal() or len(cell) > 15:
        raise ValueError(f'"{cell[:20]}" is no number of samples')
    return int(cell)
