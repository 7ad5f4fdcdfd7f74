"""All figures of one benchmark run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swath.eval.report.accuracy import GROUPINGS, Accuracy, by_image, grouped
from swath.eval.report.attribution import CELLS, Attribution, attribute
from swath.eval.report.beside import Beside, beside, is_official
from swath.eval.report.comparison import Comparison, compare
from swath.eval.report.measures import Measure, measures
from swath.eval.report.reliability import Reliability, reliability
from swath.eval.report.result import Result, results_of
from swath.eval.report.spending import Spending, Warned, spending, warned
from swath.eval.runner.results import BenchRun

PLAIN = CELLS[0]
SELF_TEST = "labels"
KEPT_OF_META = (
    "benchmark", "data", "data_sha256", "planner", "segmenter", "model", "oracle", "keep", "options", "command",
    "n_cases", "created", "swath_version", "versions",
)  # fmt: skip


@dataclass(frozen=True)
class RunFigures:
    """Figures of one run; those without a cell are of the plain one.

    Attributes:
        name: who answered; no two runs of a report share it.
        run: where it lies and what was run.
        cells: lines by cell.
        accuracy: verdicts by cell.
        images_drawn: interval of the accuracy with whole images drawn; None for too few images.
        oracles: each oracle's cell held against the plain one.
        missing: number of lines that each cell lacks because the run has not come to its end.
        attribution: where errors come from.
        official: whether the official files were asked; None where nobody has published accuracies on such.
        groups: accuracy by group, by what they are grouped by.
        measures: all metrics.
        published: published rows beside ours; None unless the official files were asked.
        reliability: intervals held against truths.
        spending: time, tokens and cost by cell.
        warned: warnings, the most frequent first.
    """

    name: str
    run: BenchRun = field(repr=False)
    cells: Mapping[str, tuple[Result, ...]] = field(repr=False)
    accuracy: Mapping[str, Accuracy]
    images_drawn: tuple[float, float] | None
    oracles: Mapping[str, Comparison]
    missing: Mapping[str, int]
    attribution: Attribution
    official: bool | None
    groups: Mapping[str, Mapping[str, Accuracy]]
    measures: tuple[Measure, ...]
    published: Beside | None
    reliability: Reliability
    spending: tuple[Spending, ...]
    warned: tuple[Warned, ...]

    @property
    def plain(self) -> tuple[Result, ...]:
        """Lines without an oracle."""
        return self.cells[PLAIN]

    @property
    def mistakes(self) -> tuple[Result, ...]:
        """Lines without an oracle that are not right."""
        return tuple(result for result in self.plain if not result.right)

    def to_json(self) -> dict[str, Any]:
        """The figures as one JSON-ready object."""
        return {
            "name": self.name,
            "folder": str(self.run.folder),
            "made_by": {name: self.run.meta.get(name) for name in KEPT_OF_META},
            "official_files": self.official,
            "missing": dict(self.missing),
            "broke": sum(result.broke for result in self.plain),
            "attribution": self.attribution.to_json(),
            "cells": {cell: found.to_json() for cell, found in self.accuracy.items()},
            "interval_by_image": None if self.images_drawn is None else list(self.images_drawn),
            "oracles": {cell: found.to_json() for cell, found in self.oracles.items()},
            "groups": {
                name: {group: found.to_json() for group, found in groups.items()}
                for name, groups in self.groups.items()
            },
            "metrics": [measure.to_json() for measure in self.measures],
            "published": None if self.published is None else self.published.to_json(),
            "reliability": self.reliability.to_json(),
            "spending": [spent.to_json() for spent in self.spending],
            "warnings": [found.to_json() for found in self.warned],
            "mistakes": [_mistake(result) for result in self.mistakes],
        }


def figures_of(runs: Sequence[BenchRun]) -> tuple[RunFigures, ...]:
    """The figures of each run.

    Raises:
        InputError: a line is not as the runner writes it.
    """
    names = [_name(run) for run in runs]
    named = [
        f"{name} ({run.folder.name})" if names.count(name) > 1 else name for name, run in zip(names, runs, strict=True)
    ]
    return tuple(_figures(f"{name}, {i}" if named.count(name) > 1 else name, run)
                 for i, (name, run) in enumerate(zip(named, runs, strict=True), start=1))  # fmt: skip


def title_of(run: RunFigures) -> str:
    """What the run's cases are to be called: a self-test is no benchmark, and a part of one is not it."""
    benchmark = str(run.run.meta["benchmark"])
    if benchmark == SELF_TEST:
        return "self-test"
    return f"{benchmark}, not the official files" if run.official is False else benchmark


def _name(run: BenchRun) -> str:
    meta = run.meta
    segmenter = f" with {meta['segmenter']}" if meta.get("segmenter") else ""
    model = f", {meta['model']}" if meta.get("model") else ""
    return f"{meta['planner']}{segmenter}{model}"


def _figures(name: str, run: BenchRun) -> RunFigures:
    results = results_of(run)
    cells = {cell: tuple(result for result in results if result.cell == cell) for cell in CELLS}
    cells = {cell: found for cell, found in cells.items() if found or cell == PLAIN}
    plain = cells[PLAIN]
    benchmark = str(run.meta["benchmark"])
    measured = measures(run, plain)
    return RunFigures(
        name=name,
        run=run,
        cells=cells,
        accuracy={cell: Accuracy.of(found) for cell, found in cells.items()},
        images_drawn=by_image(plain),
        oracles={cell: compare(PLAIN, plain, cell, found) for cell, found in cells.items() if cell != PLAIN},
        missing=_missing(run, cells),
        attribution=attribute(results),
        official=is_official(benchmark, plain),
        groups={name: found for name, key in GROUPINGS.items() if (found := grouped(plain, key))},
        measures=measured,
        published=beside(benchmark, plain, measured),
        reliability=reliability(plain),
        spending=tuple(spending(cell, found) for cell, found in cells.items()),
        warned=warned(plain),
    )


def _missing(run: BenchRun, cells: Mapping[str, Sequence[Result]]) -> dict[str, int]:
    not_available = run.meta.get("not_available") or {}
    wanted = {cell: int(run.meta["n_cases"]) - int(not_available.get(cell, 0)) for cell in run.meta["cells"]}
    lacking = {cell: number - len(cells.get(cell, ())) for cell, number in wanted.items()}
    return {cell: number for cell, number in lacking.items() if number > 0}


def _mistake(result: Result) -> dict[str, Any]:
    return {
        "case": result.case,
        "type": result.type,
        "question": result.question,
        "truth": result.truth,
        "answer": result.prediction.to_json(),
        "verdict": result.verdict,
        "why": result.scores[0].why,
        "reading": result.reading,
        "program": result.program,
        "run": result.run,
    }
