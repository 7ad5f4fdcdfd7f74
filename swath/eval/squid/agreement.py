"""How far people agree: SQuID's statistics from raw annotations.

Per item the median of numbers or the majority of names; the median absolute deviation (MAD) of its numbers from their
median, and for counts the same as a share of the median (MADc). Per type the means over its items.

Source: the dataset card of SQuID; its annotators gave 1.74 points for percentages, 2.25 for proximity, a MADc of 0.19.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

from swath.errors import InputError
from swath.segment.rows import Row, json_lines, read_text

Kind = Literal["number", "yes/no", "name"]

COLUMNS = ("item", "annotator", "answer")
YES_NO = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
WORDS = frozenset({"yes", "no", "true", "false"})
UNTYPED = "all"
"""Type of items whose file has no column `type`."""


@dataclass(frozen=True)
class ItemAgreement:
    """What people said of one item.

    Attributes:
        item: its name.
        type: its type of question.
        kind: number, yes/no or name.
        annotators: how many people answered.
        consensus: the median of numbers; the most frequent name, None where two are equally frequent.
        agreeing: share of the answers that equal the consensus, 0..1; None without one.
        mad: median absolute deviation from the median, in the answers' unit; None for names.
        madc: the same as a share of the median; None for names and where the median is zero.
    """

    item: str
    type: str
    kind: Kind
    annotators: int
    consensus: float | str | None
    agreeing: float | None
    mad: float | None
    madc: float | None


@dataclass(frozen=True)
class TypeAgreement:
    """Means over the items of one type and kind.

    Attributes:
        type: the type of question.
        kind: number, yes/no or name.
        items: how many items.
        annotations: how many answers to them.
        mean_mad: mean of the items' MAD; None for names.
        mean_madc: mean of the items' MADc over those that have one; None where none has.
        without_madc: items of numbers whose median is zero.
        mean_agreeing: mean share of answers that equal the consensus, over the items that have one.
        ties: items without a majority.
    """

    type: str
    kind: Kind
    items: int
    annotations: int
    mean_mad: float | None
    mean_madc: float | None
    without_madc: int
    mean_agreeing: float | None
    ties: int


@dataclass(frozen=True)
class Agreement:
    """The agreement in a file of raw annotations: by type, and item by item in the file's order."""

    types: tuple[TypeAgreement, ...]
    items: tuple[ItemAgreement, ...]

    def to_json(self) -> dict[str, Any]:
        """The agreement as one JSON-ready object."""
        return {"types": [asdict(found) for found in self.types], "items": [asdict(found) for found in self.items]}

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Head and rows of the table by type, as texts; "-" where a measure does not apply."""
        head = ("type", "answers", "items", "annotations", "mean MAD", "mean MADc", "agreeing", "ties")
        return head, [_cells(found) for found in self.types]


def agree(file: Path) -> Agreement:
    """The agreement in a CSV or JSON-lines file of item, annotator, answer and, where there is one, type.

    Args:
        file: one answer per line; its ending says which of the two it is.

    Raises:
        InputError: it is neither, it cannot be read, a value is missing, somebody answers an item twice, or an item's
            answers are numbers and names.
    """
    said: dict[str, list[Row]] = {}
    seen: set[tuple[str, str]] = set()
    for row in _rows(file):
        item, annotator = row.identity("item"), row.identity("annotator")
        if (item, annotator) in seen:
            raise row.fault("annotator", f"is {annotator!r}, who has answered {item!r} before")
        seen.add((item, annotator))
        said.setdefault(item, []).append(row)
    if not said:
        raise InputError(f"{file} holds no annotations. Next: give one line per answer: {', '.join(COLUMNS)}.")
    items = tuple(_item(name, rows) for name, rows in said.items())
    groups = dict.fromkeys((found.type, found.kind) for found in items)
    return Agreement(tuple(_type(key, [f for f in items if (f.type, f.kind) == key]) for key in groups), items)


def _rows(file: Path) -> Iterator[Row]:
    if file.suffix == ".jsonl":
        return json_lines(file)
    if file.suffix == ".csv":
        return _csv_rows(file)
    raise InputError(f"{file} is neither CSV nor JSON lines. Next: give a file that ends in .csv or .jsonl.")


def _csv_rows(file: Path) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(read_text(file), newline=""))
    for values in reader:
        yield Row(file, f"line {reader.line_num}", {key: value for key, value in values.items() if value})


def _item(name: str, rows: Sequence[Row]) -> ItemAgreement:
    answers = [_answer(row) for row in rows]
    types = dict.fromkeys(row.text("type", UNTYPED) for row in rows)
    if len(types) > 1:
        raise rows[-1].fault("type", f"differs within the item {name!r}: {' and '.join(types)}")
    kind = _kind(next(iter(types)), answers)
    if kind == "number":
        return _numbers(name, next(iter(types)), [_number(row, said) for row, said in zip(rows, answers, strict=True)])
    names = [YES_NO.get(said, said) for said in answers] if kind == "yes/no" else answers
    ranking = Counter(names).most_common(2)
    tied = len(ranking) == 2 and ranking[0][1] == ranking[1][1]
    consensus, share = (None, None) if tied else (ranking[0][0], ranking[0][1] / len(names))
    return ItemAgreement(name, next(iter(types)), kind, len(names), consensus, share, None, None)


def _answer(row: Row) -> str:
    value = row.values.get("answer")
    return str(value).lower() if isinstance(value, bool | int | float) else row.text("answer").strip().lower()


def _kind(type_name: str, answers: Iterable[str]) -> Kind:
    """What kind of answers these are: bare 1 and 0 are yes and no only where the type or somebody's words say so."""
    said = set(answers)
    if said <= YES_NO.keys() and (type_name.startswith("binary") or said & WORDS):
        return "yes/no"
    return "name" if not any(map(_is_number, said)) else "number"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(row: Row, said: str) -> float:
    if not _is_number(said):
        raise row.fault("answer", f"is {said!r}, where others answer the same item with numbers")
    return float(said)


def _numbers(name: str, type_name: str, values: Sequence[float]) -> ItemAgreement:
    middle = median(values)
    mad = median(abs(value - middle) for value in values)
    agreeing = sum(value == middle for value in values) / len(values)
    madc = mad / abs(middle) if middle else None
    return ItemAgreement(name, type_name, "number", len(values), middle, agreeing, mad, madc)


def _type(key: tuple[str, Kind], items: Sequence[ItemAgreement]) -> TypeAgreement:
    numeric = [found for found in items if found.kind == "number"]
    return TypeAgreement(
        type=key[0],
        kind=key[1],
        items=len(items),
        annotations=sum(found.annotators for found in items),
        mean_mad=_mean(found.mad for found in items),
        mean_madc=_mean(found.madc for found in items),
        without_madc=sum(found.madc is None for found in numeric),
        mean_agreeing=_mean(found.agreeing for found in items),
        ties=sum(found.consensus is None for found in items),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _cells(found: TypeAgreement) -> tuple[str, ...]:
    measures = (found.mean_mad, found.mean_madc, found.mean_agreeing)
    mad, madc, agreeing = ("-" if value is None else f"{value:.3g}" for value in measures)
    return found.type, found.kind, str(found.items), str(found.annotations), mad, madc, agreeing, str(found.ties)
