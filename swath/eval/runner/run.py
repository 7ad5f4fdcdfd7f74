"""Runs a benchmark.

cases -> keys wanted -> lines taken over from last time -> tasks by image -> processes or a cluster -> lines kept
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swath.agent.planner import Planner, PlannerOptions
from swath.agent.planners import open_planner, usage_of
from swath.batch.asked import check_askers
from swath.batch.cluster import results_on
from swath.batch.pool import Lost, Task, results
from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.runner.asking import Keep, Setup, judge_of, lines_of, lost
from swath.eval.runner.cells import CELLS_OF, TRUE_CLASSES, Cell, Key, Oracle, arguments, available
from swath.eval.runner.keeping import ResultsFolder
from swath.eval.runner.predictions import read_predictions
from swath.eval.runner.predictors import BASELINES, Predictor, baseline
from swath.eval.runner.provenance import made_with
from swath.eval.runner.results import Line
from swath.eval.runner.selection import digest, place_of, select
from swath.trace.strict_json import json_text

CASES_A_TASK = 32
"""Cases of one image that a process takes at a time, where several share the work."""
CASES_A_CLUSTER_TASK = 8
"""On a cluster the lines of a task come together, so that what a kill costs stays small."""


@dataclass
class Progress:
    """How far a run is.

    Attributes:
        done: finished cases and cells.
        total: all of them.
        verdicts: how often each headline verdict was given, by cell.
        broke: cases that never came to an answer, and why.
        tokens: tokens in and out so far; None where no model was asked.
        cost: dollars, None where no price is known.
    """

    total: int
    verdicts: dict[Cell, Counter[str]] = field(default_factory=dict)
    broke: dict[Key, str] = field(default_factory=dict)
    tokens: Counter[str] | None = None
    cost: float | None = None

    @property
    def done(self) -> int:
        """Finished cases and cells."""
        return sum(counter.total() for counter in self.verdicts.values())

    @property
    def accuracy(self) -> float | None:
        """Share of right answers among the finished cases without an oracle; None before the first."""
        plain = self.verdicts.get("plain", Counter())
        return plain["right"] / plain.total() if plain else None

    def count(self, key: Key, verdict: str) -> None:
        """Count a finished case."""
        self.verdicts.setdefault(key[1], Counter())[verdict] += 1

    def add(self, key: Key, line: Line) -> None:
        """Count a line that has just come."""
        self.count(key, line.result["verdict"])
        if line.result["broke"]:
            self.broke[key] = line.result["prediction"]["reason"]
        if line.timing["tokens"] is not None:
            self.tokens = (self.tokens or Counter()) + Counter(line.timing["tokens"])
        if line.timing["cost"] is not None:
            self.cost = (self.cost or 0.0) + line.timing["cost"]


Listen = Callable[[Progress], None]


def run(
    benchmark: str,
    data: str | Path,
    out: str | Path,
    *,
    planner: str | Planner = "auto",
    planner_options: PlannerOptions | None = None,
    segmenter: str = "auto",
    predictor: str | Predictor | None = None,
    oracle: Oracle | None = None,
    labels_dir: Path | None = None,
    judge: PlannerOptions | None = None,
    only: Sequence[str] = (),
    limit: int | None = None,
    keep: Keep = "wrong",
    jobs: int = 1,
    dask: str | None = None,
    resume: bool = False,
    command: str = "",
    listen: Listen | None = None,
) -> Progress:
    """Ask every case of a benchmark, score the answers and keep a line of each.

    Args:
        benchmark: its name.
        data: its folder.
        out: folder of the run; see `swath.eval.runner.results`.
        planner: name of a registered planner, or one of your own.
        planner_options: what is said about who plans: model, address of its server.
        segmenter: name of a segmenter; "labels" uses the true classes that the cases bring.
        predictor: a baseline ("majority", "always-yes"), or what answers in place of planner and image.
        oracle: what is replaced by the truth, in cells of their own beside the plain one.
        labels_dir: folder of true classes for cases that bring none.
        judge: the model that judges open answers, with the address of its server; None for none.
        only: types of questions to ask; all where none is named.
        limit: ask the first so many cases only.
        keep: what run folders hold; "wrong" keeps evidence of all that is not right.
        jobs: number of processes.
        dask: address of a Dask scheduler to use instead.
        resume: go on with the run in `out`; cases that broke are asked again.
        command: the command line that asked for this, for whoever reads the results.
        listen: called after each line.

    Returns:
        The counts, those of lines taken over included.

    Raises:
        InputError: something cannot be used as given; of a single case it is a line of results.
    """
    as_typed, data, out = str(data), place_of(data), Path(out).absolute()
    who = planner_options or PlannerOptions()
    check_askers(planner, who, segmenter, jobs)
    cases = select(benchmark, data, out, labels_dir=labels_dir, only=only, limit=limit)
    wanted = _wanted(cases, oracle, benchmark)
    answering = _predictor(predictor, cases)
    setup = Setup(out, data, {case.id: case for case in cases}, planner, who, segmenter, keep, answering, judge)
    chosen = {"only": sorted(only), "limit": limit, "labels_dir": labels_dir}
    meta = {
        "benchmark": benchmark,
        "data": as_typed,
        "data_sha256": digest(cases, data, out),
        **_asked(setup),
        "oracle": oracle,
        "cells": CELLS_OF[oracle],
        "judge": None if judge is None else judge_of(judge).model,
        "keep": keep,
        "options": chosen,
        "command": command,
        "n_cases": len(cases),
        "not_available": _not_available(cases, oracle),
        **made_with(),
    }
    return _run(setup, wanted, ResultsFolder(out), meta, resume, partial(_lines, jobs=jobs, dask=dask), listen)


def score_predictions(
    benchmark: str,
    data: str | Path,
    predictions: Path,
    out: Path | None = None,
    *,
    judge: PlannerOptions | None = None,
    only: Sequence[str] = (),
    limit: int | None = None,
    command: str = "",
) -> Progress:
    """Score somebody else's predictions.

    Args:
        benchmark: its name.
        data: its folder.
        predictions: see `swath.eval.runner.predictions.read_predictions`.
        out: folder for the results; nothing is kept where it is None.
        judge: the model that judges open answers.
        only: types of questions to score.
        limit: score the first so many cases only.
        command: the command line that asked for this.

    Raises:
        InputError: the predictions or the benchmark cannot be read.
    """
    with TemporaryDirectory() as nowhere:
        folder = Path(nowhere) if out is None else out
        ids = [case.id for case in select(benchmark, place_of(data), folder)]
        told = read_predictions(predictions, ids)
        return run(benchmark, data, folder, predictor=told, judge=judge, only=only, limit=limit, command=command)


def _run(
    setup: Setup,
    wanted: Sequence[Key],
    folder: ResultsFolder,
    meta: Mapping[str, Any],
    resume: bool,
    lines: Callable[[Setup, Sequence[Key]], Iterator[tuple[Key, Line]]],
    listen: Listen | None,
) -> Progress:
    progress = Progress(len(wanted), {cell: Counter() for _, cell in wanted})
    try:
        done = folder.open(meta, resume=resume)
        for key, verdict in done.items():
            progress.count(key, verdict)
        for key, line in lines(setup, [key for key in wanted if key not in done]):
            folder.add(line)
            progress.add(key, line)
            if listen is not None:
                listen(progress)
        folder.put_in_order(wanted)
    finally:
        folder.close()
    return progress


def _wanted(cases: Sequence[Case], oracle: Oracle | None, benchmark: str) -> list[Key]:
    """Which lines there shall be, in order.

    Raises:
        InputError: no case brings what a cell takes from the truth.
    """
    absent = _not_available(cases, oracle)
    for cell in CELLS_OF[oracle]:
        if absent.get(cell) == len(cases):
            what = "true classes" if cell in TRUE_CLASSES else "a reference program"
            raise InputError(
                f"No case of {benchmark} brings {what}, so that there is nothing to ask with --oracle {oracle}. "
                "Next: give masks with --labels-dir, or leave --oracle out."
            )
    return [(case.id, cell) for case in cases for cell in CELLS_OF[oracle] if available(case, cell)]


def _not_available(cases: Sequence[Case], oracle: Oracle | None) -> dict[str, int]:
    """How many cases are left out of a cell, for want of what it takes from the truth."""
    absent = {cell: sum(not available(case, cell) for case in cases) for cell in CELLS_OF[oracle]}
    return {cell: number for cell, number in absent.items() if number}


def _predictor(named: str | Predictor | None, cases: Sequence[Case]) -> Predictor | None:
    if not isinstance(named, str):
        return named
    if named not in BASELINES:
        raise InputError(f'There is no baseline "{named}". Next: choose one of {", ".join(BASELINES)}.')
    return baseline(named, cases)


def _asked(setup: Setup) -> dict[str, Any]:
    """Who answers, as bench.json says it."""
    if setup.predictor is not None:
        return {"planner": setup.predictor.name, "segmenter": None, "model": None}
    planner, said = setup.planner, setup.planner_options
    opened = open_planner(planner, said) if isinstance(planner, str) else planner
    usage = usage_of(opened)
    return {
        "planner": planner if isinstance(planner, str) else planner.name,
        "segmenter": setup.segmenter,
        "model": said.model if usage is None else usage.model,
    }


def _lines(setup: Setup, keys: Sequence[Key], *, jobs: int, dask: str | None) -> Iterator[tuple[Key, Line]]:
    """The lines of some cases, as they come."""
    size = CASES_A_CLUSTER_TASK if dask is not None else CASES_A_TASK if jobs > 1 else len(keys)
    tasks = _tasks(setup, keys, size)
    for key, line in results(lines_of, tasks, jobs) if dask is None else results_on(dask, lines_of, tasks):
        yield key, lost(setup, key, line) if isinstance(line, Lost) else line


def _tasks(setup: Setup, keys: Sequence[Key], size: int) -> list[Task]:
    """Cases that share an image and its options, at most so many to a task."""
    alike: dict[str, list[Key]] = {}
    for key in keys:
        case = setup.cases[key[0]]
        options = {} if setup.predictor is not None else arguments(case, key[1], setup.segmenter)
        alike.setdefault(json_text([case.image, options]), []).append(key)
    shares = [group[start : start + size] for group in alike.values() for start in range(0, len(group), size)]
    return [
        Task(replace(setup, cases={name: setup.cases[name] for name, _ in share}), tuple(share)) for share in shares
    ]
