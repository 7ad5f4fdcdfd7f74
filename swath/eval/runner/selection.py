"""Which cases a run is about, and the digest by which two runs know that they are about the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from swath.agent.kept_masks import sha256_of
from swath.batch.asked import named_files
from swath.errors import InputError
from swath.eval.cases import Case, open_benchmark
from swath.eval.runner.results import kept_path
from swath.eval.scores import open_metric
from swath.trace.strict_json import json_text

IMAGES_FOLDER = "images"
"""Where a benchmark unpacks images that its files embed."""


def place_of(data: str | Path) -> Path:
    """Where a benchmark's files lie, absolute where that is on disk; "hf:owner/name" stays as it is."""
    return Path(data).absolute() if Path(data).exists() or not str(data).startswith("hf:") else Path(data)


def select(
    benchmark: str,
    data: Path,
    out: Path | None = None,
    *,
    labels_dir: Path | None = None,
    only: Sequence[str] = (),
    limit: int | None = None,
) -> tuple[Case, ...]:
    """The cases of a benchmark.

    Args:
        benchmark: its name.
        data: its folder.
        out: folder of the run, for images that its files embed.
        labels_dir: folder of true classes, laid beside the cases by the names of their images.
        only: types of questions; all where none is named.
        limit: the first so many of them.

    Raises:
        InputError: there is no such benchmark, folder, type or metric, or two cases share an id.
    """
    cases = list(open_benchmark(benchmark).cases(data, None if out is None else out / IMAGES_FOLDER))
    if labels_dir is not None:
        from swath.eval.labels_dir import with_labels

        cases = list(with_labels(cases, labels_dir))
    known = dict.fromkeys(case.type for case in cases)
    for name in only:
        if name not in known:
            raise InputError(f'{benchmark} has no questions of type "{name}". Next: use one of {", ".join(known)}.')
    chosen = tuple(case for case in cases if not only or case.type in only)[:limit]
    if not chosen:
        raise InputError(f"{data} holds no case of {benchmark}. Next: check --data and --limit.")
    twice = [name for name, times in Counter(case.id for case in chosen).items() if times > 1]
    if twice:
        raise InputError(f'{data} holds several cases with the id "{twice[0]}". Next: report it: ids must be unique.')
    for metric in dict.fromkeys(name for case in chosen for name in case.metrics):
        open_metric(metric)
    return chosen


def digest(cases: Sequence[Case], data: Path, out: Path) -> str:
    """SHA-256 of some cases and of all files that they name; the same wherever the folders lie."""
    sha256_once = lru_cache(maxsize=None)(sha256_of)

    def plain(value: Any) -> Any:
        if isinstance(value, Path):
            return [kept_path(value, data, out), sha256_once(value) if value.is_file() else None]
        if isinstance(value, dict):
            return {name: plain(item) for name, item in value.items()}
        return value

    total = hashlib.sha256()
    for case in cases:
        named = {name: [plain(path) for path in named_files(getattr(case, name))] for name in ("options", "exact")}
        total.update(json_text([plain(asdict(case)), named]).encode())
    return total.hexdigest()
