"""The command line: parse, call, print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from swath import __version__
from swath.errors import InputError, SwathError
from swath.trace.wording import harmless, harmless_lines

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


def main() -> None:
    """Run the command line; every mistake of a user ends in one sentence and an exit status."""
    try:
        sys.exit(swath(standalone_mode=False) or 0)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SwathError as error:
        click.echo(f"swath: {harmless(str(error))}", err=True)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if os.environ.get("SWATH_TRACEBACK"):
            raise
        why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        click.echo(f"swath: internal error ({why}). Next: report it with the output of SWATH_TRACEBACK=1.", err=True)
        sys.exit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="swath %(version)s")
def swath() -> None:
    """Answer questions about overhead imagery by measuring.

    \b
    swath demo                  six real questions about a real GeoTIFF
    swath info image.tif        what swath sees in a file
    swath ask image.tif "What percentage is water?" --bands green=2,nir=4
    swath ask image.tif "How many buildings are near water?" --labels l.gpkg
    swath trace show 2026       how an answer came about, step by step

    Exit status: 0 answered; 3 refused, it cannot be measured from this image; 2 wrong usage or unreadable input;
    1 anything else.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"


def _pairs(text: str, option: str, example: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = part.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise InputError(f'{option} takes NAME=VALUE, such as {example}, not "{part}".')
        yield name.strip(), value.strip()


def _bands(context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for role, index in _pairs(text or "", "--bands", "red=3,nir=4"):
        if not index.isdecimal():
            raise InputError(f'--bands takes the number of a band from 1, such as red=3, not "{role}={index}".')
        found[role] = int(index)
    return found


def _thresholds(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for index, value in _pairs(",".join(texts), "--threshold", "NDWI=0.1"):
        try:
            found[index.upper()] = float(value)
        except ValueError:
            raise InputError(f'--threshold takes a number, such as NDWI=0.1, not "{index}={value}".') from None
    return found


def _layers(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not (equals and name.strip() and file):
            raise InputError(f'--layer takes NAME=FILE, such as schools=schools.geojson, not "{text}".')
        if name.strip() in found:
            raise InputError(f'--layer names "{name.strip()}" twice: give each layer a name of its own.')
        found[name.strip()] = Path(file)
    return found


_SOURCE_OPTIONS = (
    click.option("--labels", type=FILE, help="Class raster or vector file that says what is where."),
    click.option("--legend", type=FILE, help="JSON object of label value to class name."),
    click.option("--label-class", metavar="NAME", help="Class of a vector file without a class column."),
    click.option("--layer", "layers", multiple=True, callback=_layers, metavar="NAME=FILE", help="One more class."),
    click.option("--segmenter", default="auto", show_default=True, metavar="NAME", help="Who finds the classes."),
    click.option("--bands", callback=_bands, metavar="ROLE=N,...", help="Which band is which: red=3,nir=4."),
    click.option("--threshold", "thresholds", multiple=True, callback=_thresholds, metavar="INDEX=T",
                 help="Threshold of a spectral index: NDWI=0.1."),
    click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel; wins over the file's."),
)  # fmt: skip
_RUN_OPTIONS = (
    click.option("--before", type=FILE, help="Labels or image of an earlier date, with --after."),
    click.option("--after", type=FILE, help="Labels or image of a later date, with --before."),
    click.option("--aoi", type=FILE, help="Vector file; only what lies inside is measured."),
    click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Parent of the run folders."),
    click.option("--keep", type=click.Choice(["light", "wrong", "full"]), default="full", show_default=True,
                 help="What a run folder holds: the program and its steps; the rest unless answered; all."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)  # fmt: skip


def _options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@swath.command()
@click.argument("image", type=FILE)
@click.argument("question")
@_options(*_SOURCE_OPTIONS, *_RUN_OPTIONS)
@click.option("--planner", default="auto", show_default=True, metavar="NAME", help="Who writes the program.")
@click.option("--dry-run", is_flag=True, help="Print the program, measure nothing.")
def ask(image: Path, question: str, planner: str, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Ask a QUESTION about an IMAGE and get a measured answer."""
    if dry_run:
        from swath.agent.ask import plan_only

        program = plan_only(image, question, planner=planner, **options)
        shown = {"program": program.source, "reading": program.reading, "notes": program.notes, "gsd_m": program.gsd_m}
        click.echo(_json(shown) if as_json else f"# {program.reading}\n{program.source}".rstrip())
        return 0
    return _answer(image, question, as_json, planner=planner, **options)


@swath.command()
@click.argument("program", type=FILE)
@click.argument("image", type=FILE)
@_options(*_SOURCE_OPTIONS, *_RUN_OPTIONS)
def run(program: Path, image: Path, as_json: bool, **options: Any) -> int:
    """Run an edited PROGRAM on an IMAGE, in the same sandbox and with the same run folder as `ask`."""
    try:
        source = program.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{program} cannot be read as a program ({type(error).__name__}).") from None
    return _answer(image, program.name, as_json, program=source, **options)


def _answer(image: Path, question: str, as_json: bool, **options: Any) -> int:
    from swath.agent.ask import ask as ask_question

    try:
        with _progress(quiet=as_json) as listen:
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
            click.echo(_json(failed))
        raise
    if as_json:
        click.echo(_json(answer.to_json()))
    else:
        _print_answer(answer)
    return {"answered": 0, "refused": 3, "failed": 1}[answer.status]


def _print_answer(answer: Any) -> None:
    if answer.status != "answered":
        click.echo(f"{answer.status}: {harmless(answer.reason or '')}", err=True)
    else:
        click.echo(click.style(harmless(answer.text), bold=True))
        if answer.interval is not None:
            click.echo(f"  the interval covers: {', '.join(answer.interval.covers)}")
        click.echo(f"  measured {harmless(answer.method or '')}")
    for warning in answer.warnings:
        click.echo(f"  note: {harmless(warning)}")
    if answer.run:
        picture = Path(answer.run) / "overlay.png"
        click.echo(f"  run: {answer.run}" + (f"   picture: {picture}" if picture.exists() else ""))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """The step at work, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda name: status.update(f"{name} ...")


@swath.command()
@click.argument("image", type=FILE)
@click.option("--bands", callback=_bands, metavar="ROLE=N,...", help="Which band is which: red=3,nir=4.")
@click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel; wins over the file's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(image: Path, bands: dict[str, int], gsd_m: float | None, as_json: bool) -> None:
    """Say what swath sees in an IMAGE: grid, ground pixel size, bands, valid share, warnings."""
    from swath.raster.info import info as look
    from swath.raster.reader import open_raster

    facts = look(open_raster(image, gsd_m=gsd_m, bands=bands or None))
    if as_json:
        click.echo(_json(facts))
        return
    for name, value in facts.items():
        for line in value if name == "warnings" else [_fact(value)]:
            if line:
                click.echo(f"{name.replace('_', ' '):>20}  {harmless(line)}")


def _fact(value: Any) -> str:
    """A fact for people: lists of one value once, what is absent not at all."""
    if value is None or value is False or value in ([], {}, ""):
        return ""
    if isinstance(value, list) and len(value) > 1 and all(item == value[0] for item in value):
        return f"{_fact(value[0])} in each" if _fact(value[0]) else ""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(_fact(item) or "none" for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_fact(item)}" for key, item in value.items())
    return str(value)


@swath.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON Schema of each tool.")
@click.option("--markdown", is_flag=True, help="Print the page docs/tools.md.")
def tools(as_json: bool, markdown: bool) -> None:
    """List every tool that a program may call, with its signature and one line."""
    from swath.agent.execution import surface

    if markdown:
        from swath.agent.surface_page import surface_page

        click.echo(surface_page().text, nl=False)
        return
    if as_json:
        click.echo(_json([tool.schema for tool in surface().values()]))
        return
    family = ""
    for tool in surface().values():
        if tool.family != family:
            family = tool.family
            click.echo(click.style(f"\n{family}", bold=True))
        click.echo(f"  {tool.stub}\n      {tool.summary}")


@swath.command()
@click.argument("image", type=FILE)
@click.argument("class_name", metavar="CLASS")
@_options(*_SOURCE_OPTIONS)
@click.option("-o", "--output", type=FILE, required=True, help="Mask to write, GeoTIFF.")
@click.option("--vector", type=FILE, help="Objects to write, GeoPackage.")
def segment(image: Path, class_name: str, output: Path, vector: Path | None, **options: Any) -> None:
    """Write the pixels of one CLASS of an IMAGE as a mask on the image's grid."""
    from swath.agent.segmenting import write_class

    click.echo(write_class(image, class_name, output, vector, **options))


@swath.group()
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
            click.echo(_json({"id": found.id, "status": answer["status"], "text": answer["text"],
                              "question": answer["question"], "image": answer["image"]}))  # fmt: skip
        else:
            click.echo(f"{found.id}  {answer['status']:<8}  {harmless(answer['question'])[:60]:<60}  "
                       f"{harmless(answer['text'])[:70]}")  # fmt: skip


@trace.command()
@click.argument("run_id", metavar="RUN")
@_PARENT
def show(run_id: str, out: Path) -> None:
    """Show how an answer came about: program, calls, results, times."""
    from swath.trace.reading import find_run
    from swath.trace.show import show as shown

    click.echo(shown(find_run(run_id, out)))


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
    click.echo(_json(found.to_json()) if as_json else harmless_lines(found.text))


@trace.command()
@click.argument("run_id", metavar="RUN")
@_PARENT
@click.option("--geojson", type=FILE, required=True, help="File to write the counted objects to.")
def export(run_id: str, out: Path, geojson: Path) -> None:
    """Write the objects that an answer counted."""
    from swath.agent.replay import export as export_run
    from swath.trace.reading import find_run

    click.echo(export_run(find_run(run_id, out), geojson))


@swath.command()
@click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Parent of the run folders.")
def demo(out: Path) -> int:
    """Ask six real questions about a real GeoTIFF that ships with swath."""
    from swath.agent.demo import QUESTIONS, demo_answers

    click.echo("A Landsat 7 scene of Olinda, Brazil (USGS, public domain): 349 x 352 pixels of 28.5 m, six bands.\n")
    failed = 0
    for number, answer in enumerate(demo_answers(out), start=1):
        click.echo(f"{number}/{len(QUESTIONS)} {answer.question}")
        _print_answer(answer)
        failed += answer.status != "answered"
        click.echo("")
    click.echo(f"Next: swath trace show RUN, where RUN is the start of a run's name in {out}.")
    return 1 if failed else 0


@swath.command()
def doctor() -> int:
    """Check the installation: libraries, sandbox, what is registered."""
    from swath.agent.doctor import examine

    healthy = True
    for name, fine, finding in examine():
        healthy &= fine
        click.echo(f"{'ok  ' if fine else 'FAIL'}  {name:<12} {finding}")
    return 0 if healthy else 1
