"""The command `swath survey`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from swath.cli.options import (
    FILE,
    PLACE_OPTIONS,
    PLANNER_OPTIONS,
    SOURCE_OPTIONS,
    dask_option,
    keep_option,
    with_options,
)
from swath.errors import InputError
from swath.trace.wording import harmless

SHOWN_FAILURES = 3


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="IMAGES... QUESTION")
@with_options(*SOURCE_OPTIONS, *PLACE_OPTIONS)
@click.option("--zones", type=FILE, help="Vector file of polygons: one answer for each.")
@click.option("--id", "id_field", metavar="FIELD", help="Column that names the zones.")
@with_options(*PLANNER_OPTIONS)
@click.option("-o", "--output", type=FILE, required=True, help="Table to write: .csv, .gpkg or .parquet.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@dask_option("Ask on")
@click.option("--resume", is_flag=True, help="Take over the rows that an earlier run left.")
@keep_option("wrong")
def survey(words: tuple[str, ...], output: Path, **options: Any) -> int:
    """Ask one QUESTION about many IMAGES, or about every zone of them.

    IMAGES are files, folders, patterns such as 'tiles/*.tif', or lists: a .txt file (or @ and any file) with one path
    per line. The question comes last. In the names of other files {stem} stands for an image's name without its ending.

    \b
    swath survey tiles/ "How much is forest?" --labels "lc/{stem}.tif" -o t.csv
    swath survey city.tif "How many trees are there?" --labels trees.gpkg
        --zones districts.gpkg --id name -o counts.gpkg

    Exit status: 0 every row is answered or refused, 1 some failed, 2 wrong usage, 130 interrupted.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    *images, question = words
    if not images:
        raise InputError(
            'Give images and then a question. Next: swath survey tiles/ "How much is water?" -o table.csv, for example.'
        )
    # Path.exists raises where a question is longer than the name of a file may be.
    if os.path.exists(question):  # noqa: PTH110 - see above
        raise InputError(f"The question comes last, but {question} is a file. Next: add it in quotes.")
    if options["dask"] is not None and options["jobs"] > 1:
        raise click.UsageError("--jobs and --dask both say where to work. Next: give one of the two.")
    if options["id_field"] is not None and options["zones"] is None:
        raise InputError("--id names a column of the file of zones. Next: give that file with --zones FILE.")
    from swath.batch.survey import survey as ask_all

    try:
        with _bar() as listen:
            found = ask_all(images, question, output=output, listen=listen, **options)
    except KeyboardInterrupt:
        click.echo(f"Interrupted: the rows so far are in {output}. Next: go on with --resume.", err=True)
        return 130
    failed = [row for row in found.rows if row.status == "failed"]
    for row in failed[:SHOWN_FAILURES]:
        what = row.image if row.zone is None else f"{row.image}, zone {row.zone}"
        click.echo(harmless(f"failed: {what}: {row.reason}"), err=True)
    if len(failed) > SHOWN_FAILURES:
        click.echo(f"and {len(failed) - SHOWN_FAILURES} more, see {output}", err=True)
    counts = ", ".join(f"{found.count(status)} {status}" for status in ("answered", "refused", "failed"))
    click.echo(f"{output}: {len(found.rows)} rows, {counts}")
    return 1 if failed else 0


@contextmanager
def _bar() -> Iterator[Callable[[int, int, Any], None] | None]:
    """A bar of the rows that are known, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)
        failed = 0

        def listen(known: int, wanted: int, row: Any) -> None:
            nonlocal failed
            failed += row is not None and row.status == "failed"
            progress.update(task, completed=known, total=wanted, description=f"{failed} failed" if failed else "")

        yield listen
