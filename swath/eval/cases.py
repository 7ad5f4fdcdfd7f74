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
        truth: a number, "yes" or "no", or a name.
        type: the benchmark's own type of question.
        unit: unit of a numeric truth, None where it has none.
        tolerance_abs: how far a number may lie from the truth.
        tolerance_rel: the same as a share of the truth; the larger of the two counts.
        aliases: accepted spellings of a name, by canonical name.
        options: further arguments for `swath.ask` (labels, legend ...).
    """

    id: str
    image: Path
    question: str
    truth: float | str
    type: str
    unit: str | None = None
    tolerance_abs: float = 0.0
    tolerance_rel: float = 0.0
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


class Benchmark(Protocol):
    """A folder layout that holds cases; registered under the entry-point group `swath.benchmarks`."""

    name: str

    def cases(self, folder: Path) -> Iterator[Case]:
        """The cases of a folder in the benchmark's official layout.

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
