"""The benchmark `squid`: rows of SQuID, as shipped or as its card documents them, become cases."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swath.eval.cases import Case
from swath.eval.squid.files import read_rows
from swath.eval.squid.images import default_cache, image_of, name_of, size_px
from swath.eval.squid.ranges import Range, derived_ranges, rules_in_order
from swath.eval.squid.wording import TYPES, buffer_m, stated_gsd_m, unit_of
from swath.segment.rows import Row, once

GSD_SLACK = 1e-3
"""Relative: the column is a 32-bit float, which holds no 0.3."""

SHIPPED = ("acceptable_range_lower", "acceptable_range_upper")

OFFICIAL = "exact:official"
"""The card's `evaluate()` looks for a column that is not shipped and falls back to comparing strings, everywhere."""

YES_NO = {"1": "yes", "1.0": "yes", "yes": "yes", "true": "yes", "0": "no", "0.0": "no", "no": "no", "false": "no"}
CONNECTION = {"connected": (), "fragmented": (), "absent": ("0", "0.0", "none", "no")}
"""Answers of the type `fragmentation`; where there is no region the files hold 0."""


class Squid:
    """The benchmark `squid`."""

    name = "squid"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per row, those of types that nobody documents included.

        Args:
            folder: a folder or a file with the official rows in parquet, arrow, JSON or JSON lines, or "hf:owner/name"
                for a dataset that the package `datasets` has in its cache or can fetch.
            cache: folder for embedded images; the person's cache folder by default.

        Raises:
            InputError: there are no such rows, or one is malformed; the message names the file, the row and the
                column.
        """
        warned: set[str] = set()
        for _, row in once(read_rows(folder), lambda row: row.identity("id")):
            case = case_of(row, folder, cache or default_cache())
            if case.type not in TYPES and case.type not in warned:
                warned.add(case.type)
                warnings.warn(f'SQuID has a new type "{case.type}": its unit is read off the question.', stacklevel=2)
            yield case


def case_of(row: Row, root: Path, cache: Path) -> Case:
    """The case of one row.

    Args:
        row: with the columns id, image, question, answer, type, and where shipped tier, gsd and the range.
        root: the dataset's folder, from which paths of images may start.
        cache: folder for embedded images.

    Raises:
        InputError: a column is missing or malformed.
    """
    question, kind = row.text("question").strip(), row.text("type").strip()
    answer, image = _answer(row), image_of(row, root, cache)
    gsd_m, extras = _ground(row, question)
    extras |= _swallowed(row, image, question, gsd_m)
    extras |= {"answer": answer, "binary": kind.startswith("binary"), "image_name": name_of(row)}
    common: dict[str, Any] = {
        "id": row.identity("id"),
        "image": image,
        "question": question,
        "type": kind,
        "tier": _tier(row, kind),
        "options": {} if gsd_m is None else {"gsd_m": gsd_m},
    }
    name = named(row, kind, answer)
    if name is not None:
        extras["rule"] = "exact"
        aliases = CONNECTION if kind == "fragmentation" else {}
        return Case(**common, truth=name, metrics=("exact", OFFICIAL), aliases=aliases, extras=extras)
    truth, unit = _finite(row, "answer", answer), unit_of(question, kind)
    ranges = _ranges(row, question, unit, truth)
    rules = rules_in_order(ranges)
    extras["rule"] = rules[0]
    metrics = (*(f"range:{rule}" for rule in rules), OFFICIAL)
    return Case(**common, truth=truth, unit=unit, metrics=metrics, ranges=ranges, extras=extras)


def named(row: Row, kind: str, answer: str) -> str | None:
    """The truth where it is a name: yes or no, connected, fragmented or absent; None where it has to be a number.

    Raises:
        InputError: it is no answer that its type can have.
    """
    said = answer.lower()
    if kind.startswith("binary"):
        if said not in YES_NO:
            raise row.fault("answer", f"is {answer!r}, not 1 or 0")
        return YES_NO[said]
    if kind == "fragmentation":
        return next((name for name, spellings in CONNECTION.items() if said in spellings), said)
    is_number = said.replace(".", "", 1).removeprefix("-").isdecimal()
    return None if kind in TYPES or is_number else said


def _answer(row: Row) -> str:
    """The answer as text, as the files ship it; numbers, true and false of other people's JSON are read as well."""
    value = row.values.get("answer")
    return str(value) if isinstance(value, bool | int | float) else row.text("answer").strip()


def _finite(row: Row, column: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise row.fault(column, f"is {text!r}, not a finite number")
    return int(number) if number.is_integer() else number


def _tier(row: Row, kind: str) -> str | None:
    if row.values.get("tier") is None:
        return TYPES[kind].tier if kind in TYPES else None
    tier = row.number("tier")
    if tier not in (1, 2, 3):
        raise row.fault("tier", f"is {tier!r}, not 1, 2 or 3")
    return f"{tier:.0f}"


def _ground(row: Row, question: str) -> tuple[float | None, dict[str, Any]]:
    """The ground pixel size in metres and what to report of it.

    The phrase in the question wins over the column, because it is all that a model is told.
    """
    column = None if row.values.get("gsd") is None else float(f"{row.number('gsd'):.6g}")
    stated = stated_gsd_m(question)
    used = column if stated is None else stated
    if used is None:
        return None, {}
    if used <= 0:
        raise row.fault("gsd", f"is {used:g}, not a size above zero")
    extras: dict[str, Any] = {"gsd_m": used}
    if column is not None and abs(used - column) > GSD_SLACK * used:
        extras["gsd_clash"] = f"the question states {used:g} m and the column {column:g} m; the question's is used"
    return used, extras


def _swallowed(row: Row, image: Path, question: str, gsd_m: float | None) -> dict[str, bool]:
    """Whether the buffer of a question is wider than its image, which makes it a question of presence."""
    distance = buffer_m(question)
    if distance is None or gsd_m is None:
        return {}
    return {"buffer_swallows_image": distance >= max(size_px(row, image)) * gsd_m}


def _ranges(row: Row, question: str, unit: str | None, truth: float) -> dict[str, Range]:
    pair = _card_column(row) if "acceptable_range" in row.values else _shipped_columns(row)
    return ({} if pair is None else {"shipped": pair}) | derived_ranges(question, unit, truth)


def _shipped_columns(row: Row) -> Range | None:
    """The two columns of the files; an inverted range is kept, but gives no headline."""
    lower, upper = (None if _is_null(row.values.get(column)) else row.number(column) for column in SHIPPED)
    if lower is None and upper is None:
        return None
    if lower is None or upper is None:
        raise row.fault(SHIPPED[lower is not None], "is empty, where the other end of the range is given")
    return float(lower), float(upper)


def _card_column(row: Row) -> Range | None:
    """The single column of the card: two numbers, in a list or as the text of one."""
    value = row.values["acceptable_range"]
    if isinstance(value, str):
        ends = value.strip("[]() ").split(",")
        if len(ends) != 2:
            raise row.fault("acceptable_range", f"is {value!r}, not two numbers")
        return _finite(row, "acceptable_range", ends[0]), _finite(row, "acceptable_range", ends[1])
    if _is_null(value) or (isinstance(value, list) and all(map(_is_null, value))):
        return None
    lower, upper = row.numbers("acceptable_range", 2)
    return lower, upper


def _is_null(value: Any) -> bool:
    """Whether a value is missing; pandas writes NaN for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))
