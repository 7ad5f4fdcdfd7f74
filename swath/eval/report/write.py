"""Makes the report on a benchmark run, or on several of the same benchmark."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.report.accuracy import images_of
from swath.eval.report.comparison import Comparison, compare
from swath.eval.report.figures import RunFigures, figures_of, title_of
from swath.eval.report.markdown import markdown
from swath.eval.report.page import page
from swath.eval.report.table import Section, Table
from swath.eval.report.tables import (
    attribution_by_type,
    attribution_table,
    comparison_tables,
    mistakes_table,
    oracles_table,
    overview,
    published_table,
    run_section,
)
from swath.eval.report.terminal import terminal
from swath.eval.runner.results import read_results
from swath.trace.strict_json import json_ready

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Report:
    """The figures of one run or of several, in four renderings.

    Attributes:
        runs: the runs; the first one is what the report is about, and the others are held against it.
        comparisons: each further run held against the first, question by question.
    """

    runs: tuple[RunFigures, ...]
    comparisons: tuple[Comparison, ...] = field(repr=False)

    @property
    def title(self) -> str:
        """What was run, by its honest name."""
        return f"Report: {title_of(self.runs[0])}"

    @property
    def terminal(self) -> str:
        """The tables as text, without lists of cases, and details of the first run alone."""
        compared = tuple(comparison_tables(found)[0] for found in self.comparisons)
        return terminal(self.title, [*self._sections(compared), run_section(self.runs[0])])

    @cached_property
    def markdown(self) -> str:
        """The tables as Markdown, with the first mistakes of each run."""
        tables = tuple(table for run in self.runs if (table := mistakes_table(run)).rows)
        return markdown(self.title, [*self._whole(), *([Section("Mistakes", tables=tables)] if tables else [])])

    @cached_property
    def html(self) -> str:
        """One page with plots, a gallery of mistakes and a list of cases."""
        return page(self.title, self._whole(), self.runs)

    def to_json(self) -> dict[str, Any]:
        """All figures as one JSON-ready object."""
        ready: dict[str, Any] = json_ready(
            {
                "schema_version": SCHEMA_VERSION,
                "title": self.title,
                "runs": [run.to_json() for run in self.runs],
                "comparisons": [found.to_json() for found in self.comparisons],
            }
        )
        return ready

    def _whole(self) -> list[Section]:
        compared = tuple(table for found in self.comparisons for table in comparison_tables(found))
        return [*self._sections(compared), *map(run_section, self.runs)]

    def _sections(self, compared: tuple[Table, ...]) -> list[Section]:
        attributed = [attribution_table(run) for run in self.runs]
        by_type = [table for run in self.runs if (table := attribution_by_type(run)).rows]
        oracles = [oracles_table(run) for run in self.runs if run.oracles]
        published = tuple(published_table(run.name, found) for run in self.runs if (found := run.published))
        sections = [
            Section("Where errors come from", tables=(*attributed, *by_type)),
            Section("Results", _remarks(self.runs), (overview(self.runs), *oracles)),
            Section("How to make this again", _made_with(self.runs), commands=_commands(self.runs)),
        ]
        sections += [Section("Question by question", tables=compared)] if compared else []
        sections += [Section("Published accuracies", tables=published)] if published else []
        return sections


def report(folders: Sequence[Path]) -> Report:
    """The report on the benchmark runs in some folders.

    Args:
        folders: the run that the report is about, then those that are held against it: another planner, a baseline.

    Raises:
        InputError: there is no folder, one holds no benchmark run, or two are of different benchmarks.
    """
    if not folders:
        raise InputError("There is nothing to report on. Next: name the folder of a benchmark run.")
    read = [read_results(folder) for folder in folders]
    names = list(dict.fromkeys(str(run.meta["benchmark"]) for run in read))
    if len(names) > 1:
        raise InputError(
            f"Runs of different benchmarks cannot be compared: {' and '.join(names)}. Next: report on each by itself."
        )
    runs = figures_of(read)
    first = runs[0]
    return Report(runs, tuple(compare(first.name, first.plain, other.name, other.plain) for other in runs[1:]))


def _remarks(runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """What has to be known before any figure."""
    found = []
    for run in runs:
        if title_of(run) == "self-test":
            found.append(f"{run.name}: a self-test, on questions made from label maps by swath bench make.")
        if run.official is False:
            found.append(f"{run.name}: not the official files, so that no published accuracy stands beside it.")
        if run.missing:
            lacking = sum(run.missing.values())
            found.append(f"{run.name}: not at its end, answers missing: {lacking:,}. Next: go on with --resume.")
        broke = sum(result.broke for result in run.plain)
        if broke:
            found.append(f"{run.name}: cases that broke, and count as failed: {broke:,}; --resume asks them again.")
        images = images_of(run.plain)
        if run.plain and run.images_drawn is None:
            found.append(
                f"{run.name}: {images} images are too few to say how far the accuracy could lie on others; the "
                "intervals take its questions for independent, which those about one image are not."
            )
        if run.images_drawn is not None:
            low, high = (100 * end for end in run.images_drawn)
            found.append(
                f"{run.name}: accuracy lies from {low:.1f} to {high:.1f} % when whole ones of its {images} images are "
                "drawn (bootstrap, 95 %), since questions about one image are not independent."
            )
    return tuple(found)


def _commands(runs: Sequence[RunFigures]) -> tuple[str, ...]:
    """Command lines that make the rows of the runs, in order, and this report."""
    typed = [str(run.run.meta.get("command") or "# run from Python, without a command line") for run in runs]
    return (*typed, shlex.join(["swath", "bench", "report", *(str(run.run.folder) for run in runs)]))


def _made_with(runs: Sequence[RunFigures]) -> tuple[str, ...]:
    lines = ["Rows with the number of a command come from its run; the last command makes this report."]
    for number, run in enumerate(runs, start=1):
        meta = run.run.meta
        lines.append(
            f"[{number}] {meta['created']}, swath {meta['swath_version']} (code "
            f"{str(meta.get('code_sha256', 'unknown'))[:12]}), {meta['n_cases']:,} cases of {meta['data']} "
            f"(SHA-256 of the cases begins with {str(meta['data_sha256'])[:12]})."
        )
    return tuple(lines)
