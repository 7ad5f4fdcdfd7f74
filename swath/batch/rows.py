"""Rows of a survey, and the file of lines in which each is kept from the moment that it is known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from swath.errors import InputError, Refused, SwathError
from swath.raster.local_files import Stamp
from swath.trace.strict_json import json_ready, json_text
from swath.types import Answer, Status

Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Row:
    """The answer for one raster, or for one zone of it.

    Attributes:
        image: path as given.
        zone: id of the zone, None without zones.
        status: answered, refused or failed.
        answer: as in `swath.types.Answer`, None unless answered.
        unit: unit of the answer.
        kind: kind of the answer.
        low: lowest value of its interval.
        high: highest value of its interval.
        covers: doubts that the interval covers.
        text: one sentence for people.
        reason: why there is no answer.
        warnings: what a careful reader should know.
        run: folder of the run; None where it never came to one.
        seconds: wall time.
        covered_percent: share of the zone that was measured: inside the image, valid, not void.
    """

    image: str
    zone: str | None
    status: Status
    answer: Any = None
    unit: str | None = None
    kind: str | None = None
    low: float | None = None
    high: float | None = None
    covers: tuple[str, ...] = ()
    text: str = ""
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    run: str | None = None
    seconds: float = 0.0
    covered_percent: float | None = None

    @property
    def key(self) -> Key:
        """What the row is about."""
        return self.image, self.zone


def row_of(answer: Answer, image: str, zone: str | None = None, covered_percent: float | None = None) -> Row:
    """An answer as a row."""
    interval = answer.interval
    return Row(
        image,
        zone,
        answer.status,
        json_ready(answer.answer),
        answer.unit,
        answer.kind,
        None if interval is None else interval.low,
        None if interval is None else interval.high,
        () if interval is None else interval.covers,
        answer.text,
        answer.reason,
        answer.warnings,
        answer.run,
        answer.seconds,
        covered_percent,
    )


def row_of_error(error: Exception, image: str, zone: str | None = None, covered_percent: float | None = None) -> Row:
    """What went wrong as a row; an error that nobody raised on purpose is named as such."""
    reason = str(error)
    if not isinstance(error, SwathError):
        why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        reason = f"Internal error ({why}). Next: report it with the output of swath ask on this image."
    status: Status = "refused" if isinstance(error, Refused) else "failed"
    return Row(image, zone, status, text=reason, reason=reason, covered_percent=covered_percent)


def sidecar_of(table: Path) -> Path:
    """The file that holds the rows of a table while it is not finished, and afterwards for whoever adds images."""
    return table.with_name(f"{table.name}.jsonl")


class RowFile:
    """A file of JSON lines: what is surveyed, then one row a line, written through as soon as it is known."""

    def __init__(self, path: Path, survey: Mapping[str, Any]) -> None:
        """Name the file.

        Args:
            path: the file.
            survey: question and options; rows of another survey are never mixed with these.
        """
        self._path = path
        self._survey = json_ready(survey)
        self._file: IO[str] | None = None

    def open(self, wanted: Mapping[Key, Stamp], *, resume: bool) -> dict[Key, Row]:
        """Begin, or go on.

        Args:
            wanted: what rows there shall be, each with the stamp of the files that it depends on.
            resume: take over rows that are there, unless they failed or their files have changed.

        Returns:
            The rows taken over.

        Raises:
            InputError: the file cannot be written, holds rows of another survey, or an unfinished one that nobody
                asked to resume.
        """
        lines = self._lines()
        done = self._taken_over(lines, wanted) if resume else {}
        if not resume:
            self._keep_unfinished(lines)
        partial = self._path.with_name(f".{self._path.name}.partial")
        try:
            with partial.open("w", encoding="utf-8") as file:
                head = {"survey": self._survey, "sha256": _digest(self._survey), "rows": len(wanted)}
                file.write(json_text(head) + "\n")
                file.writelines(_line(row, wanted[key]) for key, row in done.items())
            partial.replace(self._path)
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(_unwritable(self._path, error)) from None
        return done

    def add(self, row: Row, its_stamp: Stamp) -> None:
        """Keep a row.

        Raises:
            InputError: it cannot be written.
        """
        if self._file is None:
            raise RuntimeError("the file of rows is not open")
        try:
            self._file.write(_line(row, its_stamp))
            self._file.flush()
        except OSError as error:
            raise InputError(_unwritable(self._path, error)) from None

    def close(self) -> None:
        """End writing; what could not be written was said when it was added."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _lines(self) -> list[dict[str, Any]]:
        """What the file holds; a last line that was cut off while it was written is no line."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self._path} cannot be read ({type(error).__name__}). Next: delete it.") from None
        try:
            lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
            if lines and not (isinstance(lines[0], dict) and "survey" in lines[0]):
                raise ValueError("no head")
        except ValueError:
            raise InputError(
                f"{self._path} is not a file of survey rows. Next: delete it, or name another table."
            ) from None
        return lines

    def _keep_unfinished(self, lines: list[dict[str, Any]]) -> None:
        """Never write over rows that took time and have not become a table yet."""
        if lines and len(lines) - 1 < lines[0]["rows"]:
            raise InputError(
                f"The survey of {self._path} was interrupted after {len(lines) - 1} of {lines[0]['rows']} rows. "
                f"Next: go on with --resume, or delete the file."
            )

    def _taken_over(self, lines: list[dict[str, Any]], wanted: Mapping[Key, Stamp]) -> dict[Key, Row]:
        if not lines:
            return {}
        then = lines[0]["survey"]
        if lines[0]["sha256"] != _digest(self._survey):
            different = sorted(name for name in {*then, *self._survey} if then.get(name) != self._survey.get(name))
            raise InputError(
                f"{self._path} holds rows of another survey (not the same: {', '.join(different)}). "
                "Next: give the question and options of then, or start anew without --resume under another name."
            )
        kept: dict[Key, Row] = {}
        for line in lines[1:]:
            row, its_stamp = _read(line)
            if row.status != "failed" and wanted.get(row.key) == its_stamp:
                kept[row.key] = row
            else:
                kept.pop(row.key, None)
        return kept


def _line(row: Row, its_stamp: Stamp) -> str:
    return json_text({**asdict(row), "stamp": its_stamp}) + "\n"


def _read(line: Mapping[str, Any]) -> tuple[Row, Stamp]:
    values = {name: value for name, value in line.items() if name != "stamp"}
    values |= {name: tuple(values[name]) for name in ("covers", "warnings")}
    return Row(**values), line["stamp"]


def _digest(survey: Any) -> str:
    return hashlib.sha256(json_text(survey).encode()).hexdigest()


def _unwritable(path: Path, error: OSError) -> str:
    why = (error.strerror or str(error)).lower()
    return f"{path} cannot be written: {why}. Next: name another table with -o, or make room there."
