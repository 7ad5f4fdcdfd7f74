"""A case: one question with its truth; and the seam through which benchmarks bring them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from swath.errors import InputError

GROUP = "swath.benchmarks"


@dataclass(frozen=True)
class Case:
    """One question about one image, with its truth.

    Attributes:
        id: unique in its benchmark.
        image: the raster.
        question: as the benchmark words it.
        truth: a number, "yes" or "no", a name, texts, a box or the path of a mask, as its metrics need it.
        type: the benchmark's own type of question.
        metrics: names of the metrics that score it, "name" or "name:rule"; the first gives the headline verdict.
        tier: the benchmark's own level of difficulty, None where it has none.
        unit: unit of a numeric truth, None where it has none.
        tolerance_abs: how far a number may lie from the truth.
        tolerance_rel: the same as a share of the truth; the larger of the two counts.
        ranges: acceptable ranges (low, high), both inclusive, by the name of the rule that gave them.
        aliases: accepted spellings of a name, by canonical name.
        options: further arguments for `swath.ask` (gsd_m, aoi ...).
        exact: arguments for `swath.ask` that give the true classes (labels, legend): what a perfect segmenter would
            see; empty where nobody knows.
        program: a program that measures the truth, by code independent of the planners; None where there is none.
        extras: anything a report may group by or show: source, gsd, borderline ...; JSON values only.
    """

    id: str
    image: Path
    question: str
    truth: Any
    type: str
    metrics: tuple[str, ...] = ("tolerance",)
    tier: str | None = None
    unit: str | None = None
    tolerance_abs: float = 0.0
    tolerance_rel: float = 0.0
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    exact: Mapping[str, Any] = field(default_factory=dict)
    program: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)


class Benchmark(Protocol):
    """A folder layout that holds cases; registered under the entry-point group `swath.benchmarks`."""

    name: str

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """The cases of a folder in the benchmark's official layout.

        Args:
            folder: where the official files lie; it is only read.
            cache: folder for images that are embedded in the official files, made where it is not there.

        Raises:
            InputError: the folder is not such a layout; the message names the file and the row.
        """


def benchmark_names() -> tuple[str, ...]:
    """Names of all registered benchmarks."""
    return tuple(sorted(entry.name for entry in entry_points(group=GROUP)))


def open_benchmark(name: str) -> Benchmark:
    """A benchmark by name.

    Raises:
        InputError: no benchmark has this name; the message lists those that there are.
    """
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        raise InputError(f'There is no benchmark "{name}". Next: choose one of {", ".join(benchmark_names())}.')
    benchmark: Benchmark = found[name].load()()
    return benchmark
