"""The runs and batches of the served folder, listed without reading any of them twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.report.accuracy import VERDICTS
from swath.eval.runner.results import BENCH_FILE, RESULTS_FILE, read_results
from swath.serve.folder import Folder
from swath.trace.reading import RUN_FILE, Run, load_run

LARGEST_RUN_BYTES = 64 * 2**20
"""A larger run.json is none that swath wrote."""
LARGEST_RESULTS_BYTES = 256 * 2**20
"""Verdicts of a longer list are not counted for the list of batches."""
DRAWN = re.compile(r"area-[0-9a-f]{12}\.gpkg")
"""Names of the files of drawn areas."""
PAGE = 50
LONGEST_ID = 200
DEEPEST = 3
"""Batches are looked for so many folders below the served one."""


@dataclass
class RunIndex:
    """The runs of a folder.

    Attributes:
        folder: the served folder.
    """

    folder: Folder
    _known: dict[Path, tuple[int, dict[str, Any] | None]] = field(default_factory=dict, repr=False)
    _scored: dict[Path, tuple[int, str]] = field(default_factory=dict, repr=False)

    def find(self, run_id: str) -> Run:
        """A run by its whole id.

        Raises:
            InputError: there is no such run, or it cannot be read.
        """
        folder = self.folder.runs / run_id
        if not _is_name(run_id) or not (folder / RUN_FILE).is_file():
            raise InputError(f"There is no run {run_id[:60]} here. Next: choose one from the list of runs.")
        if not folder.resolve().is_relative_to(self.folder.root):
            raise InputError("Only runs inside the served folder are shown. Next: choose one from the list of runs.")
        if (folder / RUN_FILE).stat().st_size > LARGEST_RUN_BYTES:
            raise InputError(f"The run {run_id[:60]} is too large to be one of ours. Next: choose another.")
        return load_run(folder)

    def search(
        self, words: str = "", status: str = "", kind: str = "", image: str = "", skip: int = 0
    ) -> dict[str, Any]:
        """Runs newest first, as JSON.

        Args:
            words: all of which the question, the answer, the image or the id holds, in any case.
            status: answered, refused or failed.
            kind: of the answer.
            image: name of the image.
            skip: how many to leave out.
        """
        wanted = words.casefold().split()
        found = [
            run
            for run in self._all()
            if status in ("", run["status"])
            and kind in ("", run["kind"])
            and image in ("", run["image"])
            and all(word in run["searched"] for word in wanted)
        ]
        shown = [{name: value for name, value in run.items() if name != "searched"} for run in found]
        return {"runs": shown[skip : skip + PAGE], "total": len(found), "skip": skip, "page": PAGE}

    def images(self) -> list[str]:
        """Names of the images that runs are about."""
        return sorted({run["image"] for run in self._all()})

    def batches(self) -> list[dict[str, str]]:
        """Benchmark runs: folder relative to the served one, and in words what was run and how it did."""
        found = ({"folder": self.folder.relative(path), "told": self._told(path)} for path in self._folders())
        return sorted(found, key=lambda batch: batch["folder"])

    def _folders(self) -> Iterator[Path]:
        return _below(self.folder.root, DEEPEST)

    def _told(self, folder: Path) -> str:
        results = folder / RESULTS_FILE
        state = results.stat() if results.is_file() else None
        changed = 0 if state is None else state.st_mtime_ns
        known = self._scored.get(folder)
        if known is None or known[0] != changed:
            whole = state is not None and state.st_size <= LARGEST_RESULTS_BYTES
            known = self._scored[folder] = changed, _batch_words(folder) if whole else "nothing to count"
        return known[1]

    def _all(self) -> Iterator[dict[str, Any]]:
        if not self.folder.runs.is_dir():
            return
        for path in sorted(self.folder.runs.iterdir(), key=lambda path: path.name, reverse=True):
            if path.name.startswith(".") or not (path / RUN_FILE).is_file():
                continue
            changed = (path / RUN_FILE).stat().st_mtime_ns
            known = self._known.get(path)
            if known is None or known[0] != changed:
                known = self._known[path] = changed, self._summary(path.name)
            if known[1] is not None:
                yield known[1]

    def _summary(self, run_id: str) -> dict[str, Any] | None:
        try:
            run = self.find(run_id)
        except InputError:
            return None
        answer = run.answer
        shown = {
            "id": run_id,
            "created": run.created,
            "question": run.question,
            "image": Path(str(run.record["image"]["path"])).name,
            "status": run.status,
            "kind": answer.get("kind"),
            "text": answer.get("text") or answer.get("reason") or "",
            "within": _within(run.record["inputs"].get("aoi")),
        }
        return {**shown, "searched": " ".join(map(str, shown.values())).casefold()}


def _within(aoi: str | None) -> str:
    """Which part of the image a run was asked about, empty for all of it."""
    if aoi is None:
        return ""
    name = Path(aoi).name
    return "in a drawn area" if DRAWN.fullmatch(name) else f"within {name}"


def _batch_words(folder: Path) -> str:
    try:
        batch = read_results(folder)
    except InputError:
        return "it cannot be read"
    verdicts = Counter(str(row.get("verdict")) for row in batch.rows)
    counted = [f"{verdicts[name]:,} {name}" for name in VERDICTS if verdicts[name]]
    who = [str(batch.meta.get(name)) for name in ("benchmark", "planner", "segmenter") if batch.meta.get(name)]
    return f"{', '.join(who)}: {len(batch.rows):,} answers, {', '.join(counted)}" if counted else ", ".join(who)


def _below(folder: Path, depth: int) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.is_symlink() or not path.is_dir():
            continue
        if (path / BENCH_FILE).is_file():
            yield path
        elif depth > 1:
            yield from _below(path, depth - 1)


def _is_name(name: str) -> bool:
    plain = not name.startswith(".") and "/" not in name and "\\" not in name and name.isprintable()
    return plain and 0 < len(name) < LONGEST_ID
