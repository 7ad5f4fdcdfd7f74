"""Keeps the lines of a benchmark run so that a process may be killed at any moment: nothing is lost, nothing is twice.

A line of results is written after its line of timings, each in one call, and flushed to the disk: it alone says that a
case is done. Whatever else a killed process left behind is cleared away when the run is resumed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.runner.cells import Key
from swath.eval.runner.results import (
    BENCH_FILE,
    RESULTS_FILE,
    RUNS_FOLDER,
    SCHEMA_VERSION,
    TIMINGS_FILE,
    Line,
    key_of,
    located_lines,
    read_meta,
    run_name,
)
from swath.trace.strict_json import json_ready, json_text

LOCK_FILE = ".lock"
SAME = (
    "benchmark", "data_sha256", "n_cases", "planner", "segmenter", "oracle", "options", "model", "swath_version",
    "code_sha256",
)  # fmt: skip
"""Fields of bench.json that a run shares with the one that it resumes."""
LONGEST_SHOWN = 80
UNNAMED_RUN = re.compile(r"\.?\d{8}-\d{6}-[0-9a-f]{4}(\.partial)?")
"""Run folders that had not been given the name of their case when the process ended."""


class ResultsFolder:
    """The folder of a run, for the one process that writes to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None
        self._files: dict[str, int] = {}

    def open(self, meta: Mapping[str, Any], *, resume: bool) -> dict[Key, str]:
        """Begin, or go on.

        Args:
            meta: the content of bench.json, of which an earlier one is kept.
            resume: take over the lines that are there, unless their case broke.

        Returns:
            The headline verdict of each line taken over.

        Raises:
            InputError: the folder cannot be written, is being written, or holds a run that is another one or that
                nobody asked to resume.
        """
        with self._writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            done = self._taken_over(json_ready(meta), resume=resume)
            self._clear(done)
            for name in (TIMINGS_FILE, RESULTS_FILE):
                self._rewrite(name, {key: number for number, key in enumerate(done)})
                self._files[name] = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        return done

    def add(self, line: Line) -> None:
        """Keep a line for good.

        Raises:
            InputError: it cannot be written.
        """
        with self._writing():
            for name, content in ((TIMINGS_FILE, line.timing), (RESULTS_FILE, line.result)):
                text = (json_text(content) + "\n").encode()
                if os.write(self._files[name], text) < len(text):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._files[RESULTS_FILE])

    def put_in_order(self, keys: Sequence[Key]) -> None:
        """Write the lines anew in the order of the cases, once all are there.

        Raises:
            InputError: they cannot be written.
        """
        place = {key: number for number, key in enumerate(keys)}
        with self._writing():
            for name in (TIMINGS_FILE, RESULTS_FILE):
                self._rewrite(name, place)

    def close(self) -> None:
        """End writing, and let others write."""
        for file in (*self._files.values(), self._lock):
            if file is not None:
                os.close(file)
        self._files, self._lock = {}, None

    def _take_lock(self) -> None:
        self._lock = os.open(self.folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system frees it when the process ends
        except BlockingIOError:
            raise InputError(
                f"Another process is writing to {self.folder}. Next: wait for it, or name another folder with --out."
            ) from None

    def _taken_over(self, meta: Mapping[str, Any], *, resume: bool) -> dict[Key, str]:
        then = read_meta(self.folder)
        found = [line.line for line in located_lines(self.folder / RESULTS_FILE)] if then is None else []
        if then is None and (found or (self.folder / RUNS_FOLDER).exists()):
            raise InputError(
                f"{self.folder} holds results without a {BENCH_FILE}. Next: name another folder with --out."
            )
        if then is None:
            self._replace(
                BENCH_FILE, [(json_text({"schema_version": SCHEMA_VERSION, **meta}, indent=1) + "\n").encode()]
            )
            return {}
        if not resume:
            raise InputError(f"{self.folder} holds a run already. Next: go on with --resume, or name another --out.")
        differing = [name for name in SAME if then.get(name) != meta.get(name)]
        if differing:
            said = "; ".join(f"{name} was {_shown(then.get(name))}, is {_shown(meta.get(name))}" for name in differing)
            raise InputError(f"{self.folder} holds another run ({said}). Next: ask as then, or name another --out.")
        lines = (found.line for found in located_lines(self.folder / RESULTS_FILE))
        return {key_of(line): line["verdict"] for line in lines if not line["broke"]}

    def _clear(self, done: Mapping[Key, str]) -> None:
        """Remove the run folders that no line tells of."""
        kept = {run_name(*key) for key in done}
        runs = self.folder / RUNS_FOLDER
        for path in list(runs.iterdir()) if runs.is_dir() else []:
            if path.name not in kept and ((path / "run.json").is_file() or UNNAMED_RUN.fullmatch(path.name)):
                shutil.rmtree(path)

    def _rewrite(self, name: str, place: Mapping[Key, int]) -> None:
        """A file of lines with those of `place` alone, in that order."""
        path = self.folder / name
        if not path.is_file():
            return
        keys = ((key_of(found.line), found) for found in located_lines(path))
        places = {place[key]: (found.start, found.size) for key, found in keys if key in place}
        self._replace(name, _pieces(path, [places[number] for number in sorted(places)]))

    def _replace(self, name: str, pieces: Iterable[bytes]) -> None:
        partial = self.folder / f".{name}.partial"
        with partial.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.folder / name)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Failures of the medium as one sentence."""
        try:
            yield
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise InputError(
                f"The results cannot be written to {self.folder}: {why}. Next: make room, then go on with --resume."
            ) from None


def _pieces(path: Path, places: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Parts of a file, one after the other: (start, size) in bytes."""
    with path.open("rb") as file:
        for start, size in places:
            file.seek(start)
            yield file.read(size)


def _shown(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
