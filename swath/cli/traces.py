"""The commands of `swath trace`."""

from __future__ import annotations

from pathlib import Path

import click

from swath.cli.options import EXPORT_OPTIONS, FILE, with_options
from swath.cli.printing import json_line
from swath.trace.wording import harmless, harmless_lines

LINE_LETTERS = 165
"""A run's line in a list: its id, status, the start of the question and of the answer."""


@click.group()
def trace() -> None:
    """Look at runs: list, show, replay, diff, export."""


_PARENT = click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Parent of the run folders.")


@trace.command("list")
@_PARENT
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per run.")
def list_runs(out: Path, as_json: bool) -> None:
    """List runs, newest first."""
    from swath.trace.reading import broken_runs
    from swath.trace.reading import list_runs as runs_of

    for sentence in broken_runs(out):
        click.echo(f"note: {harmless(sentence)}", err=True)
    for found in runs_of(out):
        answer = found.answer
        if as_json:
            click.echo(json_line({"id": found.id, "status": answer["status"], "text": answer["text"],
                              "question": answer["question"], "image": answer["image"]}))  # fmt: skip
        else:
            line = f"{found.id}  {answer['status']:<8}  {harmless(answer['question'])[:60]:<60}  {answer['text']}"
            click.echo(harmless(line)[:LINE_LETTERS])


@trace.command()
@click.argument("run_id", metavar="RUN")
@_PARENT
@click.option(
    "--html",
    type=FILE,
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write a page that opens offline, to FILE or else to RUN.html in this folder.",
)
def show(run_id: str, out: Path, html: Path | None) -> None:
    """Show how an answer came about: program, calls, results, times."""
    from swath.trace.reading import find_run

    run = find_run(run_id, out)
    if html is None:
        from swath.trace.show import show as shown

        click.echo(shown(run))
        return
    from swath.agent.export import files_of
    from swath.agent.outputs import write_text
    from swath.serve.pages.run import run_page

    path = html if html.name else Path(f"{run.id}.html")
    write_text(path, run_page(run.folder), files_of(run))
    click.echo(harmless(f"page: {path}"))


@trace.command()
@click.argument("run_id", metavar="RUN")
@_PARENT
@click.option("--resegment", is_flag=True, help="Find the classes anew instead of reading the recorded masks.")
@click.option("--image", type=FILE, help="The image, where it has moved.")
def replay(run_id: str, out: Path, resegment: bool, image: Path | None) -> int:
    """Run a recorded program again, without any planner, and compare the answers."""
    from swath.agent.replay import replay as replay_run
    from swath.trace.reading import find_run

    result = replay_run(find_run(run_id, out), resegment=resegment, image=image)
    if result.same:
        click.echo(f"same: {harmless(result.answer.text)}")
        return 0
    for difference in result.differences:
        click.echo(f"differs: {harmless(difference)}")
    return 1


@trace.command()
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@_PARENT
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def diff(first: str, second: str, out: Path, as_json: bool) -> None:
    """Say in what two runs differ: question, image, program, answer, steps."""
    from swath.trace.diff import diff as compare
    from swath.trace.reading import find_run

    found = compare(find_run(first, out), find_run(second, out))
    click.echo(json_line(found.to_json()) if as_json else harmless_lines(found.text))


@trace.command()
@click.argument("run_id", metavar="RUN")
@_PARENT
@with_options(*EXPORT_OPTIONS)
def export(run_id: str, out: Path, geojson: Path | None, csv: Path | None) -> None:
    """Write the objects that an answer counted."""
    from swath.agent.export import Exports
    from swath.agent.export import export as export_run
    from swath.trace.reading import find_run

    if geojson is None and csv is None:
        raise click.UsageError("Give a file to write: --geojson FILE or --csv FILE.")
    click.echo(harmless_lines(export_run(find_run(run_id, out), Exports(geojson, csv))))
