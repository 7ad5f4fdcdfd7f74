"""The folder of a benchmark run, read back.

bench.json      what was run; written first, whole or not at all
results.jsonl   what was found, a line for each finished case and cell: the same again whenever the same is run
timings.jsonl   seconds, tokens, cost: never the same twice
runs/           run folders, named by case and cell
masks/          masks that were answers
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from swath.errors import InputError
from swath.eval.runner.cells import Key

SCHEMA_VERSION = 1
BENCH_FILE, RESULTS_FILE, TIMINGS_FILE = "bench.json", "results.jsonl", "timings.jsonl"
RUNS_FOLDER, MASKS_FOLDER = "runs", "masks"
LONGEST_NAME = 80


@dataclass(frozen=True)
class Line:
    """One finished case in one cell.

    Attributes:
        result: the line of results.jsonl; "broke" says that the case never came to an answer, for a reason that may
            have passed by the time that the run is resumed.
        timing: the line of timings.jsonl.
    """

    result: dict[str, Any]
    timing: dict[str, Any]


@dataclass(frozen=True)
class BenchRun:
    """A benchmark run as it was kept.

    Attributes:
        folder: where it lies.
        meta: the content of bench.json.
        rows: lines of results and timings joined, in the order of the cases once the run has come to its end.
    """

    folder: Path
    meta: dict[str, Any] = field(repr=False)
    rows: list[dict[str, Any]] = field(repr=False)


def read_results(folder: Path) -> BenchRun:
    """Read a benchmark run, also one that has not come to its end.

    Raises:
        InputError: the folder holds no benchmark run, or a broken one.
    """
    meta = read_meta(folder)
    if meta is None:
        raise InputError(
            f"{folder} holds no benchmark run: it has no {BENCH_FILE}. Next: make one with swath bench run."
        )
    timings = {key_of(found.line): found.line for found in located_lines(folder / TIMINGS_FILE)}
    rows = {key_of(found.line): found.line for found in located_lines(folder / RESULTS_FILE)}
    return BenchRun(folder, meta, [{**row, **timings.get(key, {})} for key, row in rows.items()])


def read_meta(folder: Path) -> dict[str, Any] | None:
    """The content of bench.json, None where there is none.

    Raises:
        InputError: it is broken, or a newer swath wrote it.
    """
    path = folder / BENCH_FILE
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        newer = meta["schema_version"] > SCHEMA_VERSION
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not as swath writes it ({type(error).__name__}). Next: name another folder."
        ) from None
    if newer:
        raise InputError(
            f"{path} has schema version {meta['schema_version']}; this swath reads up to {SCHEMA_VERSION}."
        )
    return cast(dict[str, Any], meta)


@dataclass(frozen=True)
class Located:
    """A line of a file of lines, and the bytes that hold it."""

    start: int
    size: int
    line: dict[str, Any]


def located_lines(path: Path) -> Iterator[Located]:
    """The lines of a file, one after the other; a last one that was cut off while it was written is no line.

    Raises:
        InputError: a line is not as the runner writes it.
    """
    if not path.is_file():
        return
    start = 0
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            if not text.endswith(b"\n"):
                return
            try:
                line = json.loads(text)
                key_of(line)
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    f"{path}, line {number}: not a line of results. Next: run anew in another folder."
                ) from None
            yield Located(start, len(text), line)
            start += len(text)


def key_of(line: dict[str, Any]) -> Key:
    """What a line is about."""
    return line["case"], line["cell"]


def run_name(case: str, cell: str) -> str:
    """Name of the run folder of a case in a cell; ids that no folder can have get a digest in place of what is lost."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", case)[:LONGEST_NAME].lstrip(".")
    if name != case:
        name += "-" + hashlib.sha256(case.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{name}-{cell}"


def kept_path(path: Path, *folders: Path) -> str:
    """A path as results keep it: from the folder of the benchmark or of the run, so that either can be moved."""
    for folder in folders:
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return str(path)
