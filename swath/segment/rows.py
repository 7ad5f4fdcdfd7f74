"""Rows of a benchmark's JSON files, checked key by key: what does not fit is one sentence with file, row and key."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

from swath.errors import InputError

SHOWN = 60
"""Characters of a wrong value that an error shows."""

LONGEST_NAME_BYTES = 255
"""What file systems take for a name; paths within a benchmark are shorter."""


@dataclass(frozen=True)
class Row:
    """One object of a JSON file.

    Attributes:
        file: where it was read.
        place: which of the file's objects it is, such as "line 3"; empty where the file is the object.
        values: what it holds.
    """

    file: Path
    place: str
    values: Mapping[str, Any] = field(repr=False)

    def fault(self, key: str, what: str) -> InputError:
        """The error for a value that cannot be used.

        Args:
            key: the value's key.
            what: what is wrong with it, after 'key "..." '.
        """
        where = f"{self.file}, {self.place}" if self.place else f"{self.file}"
        return InputError(f'{where}: key "{key}" {what}. Next: correct it, or fetch the file anew.')

    def text(self, key: str, default: str | None = None) -> str:
        """A text.

        Args:
            key: the value's key.
            default: what stands for a missing or null value; None where there must be one.

        Raises:
            InputError: it is missing, no text, empty without a default, or text that UTF-8 cannot hold.
        """
        found = self.values.get(key)
        if found is None and default is not None:
            return default
        if not isinstance(found, str):
            raise self._unfit(key, "a text")
        if not found.strip() and default is None:
            raise self.fault(key, "is empty")
        if any("\ud800" <= sign <= "\udfff" for sign in found):
            raise self.fault(key, "holds half a character, which no UTF-8 file can keep")
        return found

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number; an integer stays one.

        Raises:
            InputError: it is missing without a default, no number, or too large for one.
        """
        found = self.values.get(key)
        if found is None and default is not None:
            return default
        if not _is_number(found):
            raise self._unfit(key, "a finite number")
        return found

    def flag(self, key: str) -> bool:
        """True or false; 1 and 0 count as they do in Python.

        Raises:
            InputError: it is anything else.
        """
        found = self.values.get(key)
        if not isinstance(found, bool) and (not isinstance(found, int) or found not in (0, 1)):
            raise self._unfit(key, "true or false")
        return bool(found)

    def numbers(self, key: str, count: int) -> list[float]:
        """A list of finite numbers, or of texts that are such, of a fixed length.

        Raises:
            InputError: it is anything else.
        """
        found = self.values.get(key)
        values = [_number_of(value) for value in found] if isinstance(found, list) else []
        if len(values) != count or not all(map(math.isfinite, values)):
            raise self._unfit(key, f"a list of {count} finite numbers")
        return values

    def objects(self, key: str) -> list[Row]:
        """The objects of a list; a missing list is empty.

        Raises:
            InputError: it is no list of objects.
        """
        found = self.values.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self._unfit(key, "a list of objects")
        before = f"{self.place}, " if self.place else ""
        return [Row(self.file, f"{before}{key} {i}", item) for i, item in enumerate(found, start=1)]

    def inside(self, key: str, folder: Path) -> Path:
        """The file that a relative path names, below a folder, whether or not it is there.

        Raises:
            InputError: it is no text, or it leads out of the folder.
        """
        text = self.text(key)
        path = PurePosixPath(text)
        strange = "\0" in text or "\\" in text or len(text.encode()) > LONGEST_NAME_BYTES
        if strange or path.is_absolute() or ".." in path.parts:
            raise self.fault(key, f"is {shown(text)}, which is no path below {folder}")
        return folder / path

    def present(self, key: str, folder: Path) -> Path:
        """The same, which has to be there.

        Raises:
            InputError: as for `inside`, or there is no such file.
        """
        path = self.inside(key, folder)
        if not path.is_file():
            raise self.fault(key, f"names {shown(self.values[key])}, which is not in {folder}")
        return path

    def identity(self, key: str) -> str:
        """An identifier as text: a text or an integer.

        Raises:
            InputError: it is anything else.
        """
        found = self.values.get(key)
        if isinstance(found, int) and not isinstance(found, bool) and _is_number(found):
            return str(found)
        return self.text(key)

    def _unfit(self, key: str, wanted: str) -> InputError:
        if self.values.get(key) is None:
            return self.fault(key, f"is missing, where {wanted} is needed")
        return self.fault(key, f"is {shown(self.values[key])}, not {wanted}")


def once(rows: Iterable[Row], name: Callable[[Row], str]) -> Iterator[tuple[str, Row]]:
    """Rows with their names, each of which may come once.

    Args:
        rows: in the file's order.
        name: gives a row's name.

    Raises:
        InputError: a name comes twice.
    """
    first: dict[str, str] = {}
    for row in rows:
        found = name(row)
        if found in first:
            raise InputError(
                f"{row.file}, {row.place}: the id {shown(found)} has been used by {first[found]} already. "
                "Next: give each row its own."
            )
        first[found] = row.place
        yield found, row


def json_lines(file: Path) -> Iterator[Row]:
    """The objects of a JSON-lines file; empty lines are passed over.

    Raises:
        InputError: the file cannot be read, or a line holds no object.
    """
    # Not splitlines: JSON strings may hold U+2028 and its like, which end no line here.
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            yield _row(parsed(line, file, f"line {number}"), file, f"line {number}")


def json_array(file: Path) -> Iterator[Row]:
    """The objects of a file that is one JSON array.

    Raises:
        InputError: the file cannot be read, is no array, or holds something that is no object.
    """
    found = parsed(read_text(file), file, "")
    if not isinstance(found, list):
        raise InputError(f"{file} holds {_kind(found)}, not one JSON array. Next: fetch the file anew.")
    for number, item in enumerate(found, start=1):
        yield _row(item, file, f"row {number}")


def read_text(file: Path) -> str:
    """A UTF-8 file's text, without a byte-order mark.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as why:
        raise InputError(f"{file} cannot be read ({why.strerror}). Next: check the path.") from None
    except UnicodeDecodeError as why:
        raise InputError(f"{file} is not UTF-8 (byte {why.start}). Next: fetch the file anew.") from None


def parsed(text: str, file: Path, place: str) -> Any:
    """A JSON text's value.

    Raises:
        InputError: it is not JSON, or nested too deeply.
    """
    where = f"{file}, {place}" if place else f"{file}"
    try:
        return json.loads(text)
    except json.JSONDecodeError as why:
        at = f"character {why.colno}" if place else f"line {why.lineno}, character {why.colno}"
        raise InputError(f"{where}: not JSON ({why.msg} at {at}). Next: fetch the file anew.") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply to be read. Next: fetch the file anew.") from None
    except ValueError as why:  # an integer of more digits than Python turns into a number
        raise InputError(f"{where}: not usable JSON ({why}). Next: fetch the file anew.") from None


def _row(found: Any, file: Path, place: str) -> Row:
    if not isinstance(found, dict):
        raise InputError(f"{file}, {place}: holds {_kind(found)}, not an object. Next: fetch the file anew.")
    return Row(file, place, found)


def _number_of(value: Any) -> float:
    """A number or the number that a text is; NaN where it is neither, or too large."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(_number_of(value))


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def shown(value: Any) -> str:
    """A value for an error: in quotes where it is a text, cut where it is long."""
    text = repr(value)  # signs that a terminal would obey become visible
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
