"""Commands that ask: `ask`, `run`, `demo`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swath.cli.options import (
    EXPORT_OPTIONS,
    FILE,
    PLANNER_OPTIONS,
    RUN_OPTIONS,
    SOURCE_OPTIONS,
    dask_option,
    with_options,
)
from swath.cli.printing import json_line, print_answer, progress
from swath.errors import InputError, SwathError
from swath.trace.wording import harmless, harmless_lines

if TYPE_CHECKING:
    from swath.agent.export import Exports
    from swath.types import Answer

LONGEST_PROGRAM_BYTES = 2**24
"""The checker takes far less; this keeps a video named by mistake out of memory."""


@click.command()
@click.argument("image", type=FILE)
@click.argument("question")
@with_options(*SOURCE_OPTIONS, *RUN_OPTIONS, *EXPORT_OPTIONS, *PLANNER_OPTIONS)
@dask_option("Go through the tiles of a large image on")
@click.option("--dry-run", is_flag=True, help="Print the program, measure nothing.")
def ask(
    image: Path,
    question: str,
    planner: str,
    dry_run: bool,
    as_json: bool,
    geojson: Path | None,
    csv: Path | None,
    **options: Any,
) -> int:
    """Ask a QUESTION about an IMAGE and get a measured answer."""
    if dry_run:
        from swath.agent.ask import plan_only

        options.pop("dask")
        program = plan_only(image, question, planner=planner, **options)
        shown = {"program": program.source, "reading": program.reading, "notes": program.notes, "gsd_m": program.gsd_m}
        click.echo(json_line(shown) if as_json else f"# {program.reading}\n{program.source}".rstrip())
        return 0
    return _answer(image, question, as_json, (geojson, csv), planner=planner, **options)


@click.command()
@click.argument("program", type=FILE)
@click.argument("image", type=FILE)
@with_options(*SOURCE_OPTIONS, *RUN_OPTIONS, *EXPORT_OPTIONS)
@dask_option("Go through the tiles of a large image on")
def run(program: Path, image: Path, as_json: bool, geojson: Path | None, csv: Path | None, **options: Any) -> int:
    """Run an edited PROGRAM on an IMAGE, in the same sandbox and with the same run folder as `ask`."""
    source = _source(program)
    if any(path is not None and path.exists() and path.samefile(program) for path in (geojson, csv)):
        raise InputError(f"{program} is one of the files that are read. Next: name another file to write.")
    return _answer(image, program.name, as_json, (geojson, csv), program=source, **options)


def _source(program: Path) -> str:
    try:
        if program.exists() and not program.is_file():  # a pipe would be waited for, a device read for ever
            raise InputError(f"{program} is no regular file. Next: write the program to a file.")
        if program.stat().st_size > LONGEST_PROGRAM_BYTES:
            raise InputError(f"{program} has {program.stat().st_size:,} bytes, which no program has. Next: check it.")
        return program.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{program} is not a program: it is not UTF-8 text. Next: check the path.") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"The program {program} cannot be read: {why}. Next: check the path.") from None


def _answer(image: Path, question: str, as_json: bool, files: tuple[Path | None, Path | None], **options: Any) -> int:
    from swath.agent.ask import ask as ask_question
    from swath.agent.export import Exports

    exports = Exports(*files)
    exports.check([image, *_read(options)])
    try:
        with progress(quiet=as_json) as listen:
            answer = ask_question(image, question, listen=listen, **options)
    except SwathError as error:
        if as_json:
            failed = {
                "status": "failed",
                "answer": None,
                "question": question,
                "reason": str(error),
                "text": str(error),
            }
            click.echo(json_line(failed))
        raise
    if as_json:
        click.echo(json_line(answer.to_json()))
    else:
        print_answer(answer)
    _export(answer, exports, quiet=as_json)
    return {"answered": 0, "refused": 3, "failed": 1}[answer.status]


def _read(options: dict[str, Any]) -> Iterator[Path]:
    """The files among the options."""
    layers = options.get("layers") or {}
    return (value for value in (*options.values(), *layers.values()) if isinstance(value, Path))


def _export(answer: Answer, exports: Exports, *, quiet: bool) -> None:
    """Write the objects of an answer to the files that were asked for."""
    from swath.agent.export import export
    from swath.trace.reading import load_run

    if exports.files and (answer.counted is None or answer.run is None):
        names = " and ".join(map(str, exports.files))
        click.echo(harmless(f"note: No objects stand behind this answer, so {names} was not written."), err=True)
    elif exports.files:
        said = export(load_run(Path(str(answer.run))), exports)
        if not quiet:
            click.echo(harmless_lines("\n".join(f"  {line}" for line in said.splitlines())))


@click.command()
@click.option("--eyes", type=FILE, metavar="IMAGE", help="A colour image of yours, asked about from its pixels alone.")
@click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel of that image.")
@click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Parent of the run folders.")
def demo(eyes: Path | None, gsd_m: float | None, out: Path) -> int:
    """Ask six real questions about a real GeoTIFF that ships with swath.

    With --eyes, four questions about an image without labels: what the small embedded network makes of its pixels, and
    how far that may be believed.
    """
    from swath.agent.demo import EYES_QUESTIONS, QUESTIONS, demo_answers, eyes_answers

    if eyes is not None:
        click.echo(harmless(f"{eyes.name}: pixels alone, seen by the embedded network.\n"))
        return _asked(eyes_answers(eyes, gsd_m, out), len(EYES_QUESTIONS), out)
    if gsd_m is not None:
        raise InputError("--gsd is about the image of --eyes, which is not given. Next: add --eyes IMAGE.")
    click.echo("A Landsat 7 scene of Olinda, Brazil (USGS, public domain): 349 x 352 pixels of 28.5 m, six bands.\n")
    return _asked(demo_answers(out), len(QUESTIONS), out)


def _asked(answers: Iterable[Answer], total: int, out: Path) -> int:
    """Print the answers of a demo; 1 where one of them is none."""
    failed = 0
    for number, answer in enumerate(answers, start=1):
        click.echo(f"{number}/{total} {answer.question}")
        print_answer(answer)
        failed += answer.status != "answered"
        click.echo("")
    click.echo(f"Next: swath trace show RUN, where RUN is the start of a run's name in {out}.")
    return 1 if failed else 0
