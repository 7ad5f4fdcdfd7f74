"""How a benchmark run shows itself: live on a terminal, and in the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swath.trace.wording import harmless

if TYPE_CHECKING:
    from swath.eval.runner.run import Progress

NOT_RIGHT = ("wrong", "refused", "failed", "unparsable")
SHOWN_BREAKS = 3


@contextmanager
def bar() -> Iterator[Callable[[Progress], None] | None]:
    """A bar of finished cases with running accuracy, time left, tokens and cost; on a terminal only."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("", total=None)
        yield lambda progress: shown.update(
            task, completed=progress.done, total=progress.total, description=description(progress)
        )


def description(progress: Progress) -> str:
    """What stands beside the bar."""
    parts = [] if progress.accuracy is None else [f"{progress.accuracy:.1%} right"]
    if progress.broke:
        parts.append(f"{len(progress.broke)} broke")
    if progress.tokens is not None:
        parts.append(f"{progress.tokens.total():,} tokens")
    if progress.cost is not None:
        parts.append(f"${progress.cost:.2f}")
    return ", ".join(parts)


def print_counts(progress: Progress, out: Path | None) -> int:
    """The counts of each cell, and the first cases that broke; the exit status."""
    from swath.eval.statistics import wilson

    for (case, cell), why in list(progress.broke.items())[:SHOWN_BREAKS]:
        click.echo(harmless(f"broke: {case}, {cell}: {why}"), err=True)
    if len(progress.broke) > SHOWN_BREAKS:
        click.echo(f"and {len(progress.broke) - SHOWN_BREAKS} more", err=True)
    for cell, counts in progress.verdicts.items():
        total = counts.total()
        others = ", ".join(f"{counts[verdict]} {verdict}" for verdict in NOT_RIGHT)
        low, high = wilson(counts["right"], total) if total else (0.0, 1.0)
        share = f"{counts['right'] / max(total, 1):.1%}, {low:.1%} to {high:.1%}"
        click.echo(f"{cell}: {counts['right']} of {total} right ({share}), {others}")
    if out is not None:
        click.echo(harmless(f"{out}: {progress.done} lines. Next: swath bench report {out}"))
    return 1 if progress.broke else 0
