"""The commands of `swath bench`, and `swath score`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swath.cli.options import FILE, PLANNER_OPTIONS, dask_option, with_options
from swath.cli.printing import json_line
from swath.cli.running import bar, print_counts
from swath.trace.wording import harmless, harmless_lines

if TYPE_CHECKING:
    from swath.agent.planner import PlannerOptions

DATA = click.option("--data", type=FILE, required=True, help="Folder of the benchmark's files.")
CASES = (
    click.option("--only", multiple=True, metavar="TYPE", help="Only questions of this type; may be repeated."),
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N cases."),
)
JUDGE = (
    click.option("--judge", metavar="MODEL", help="Language model, or a .gguf file, that judges open answers."),
    click.option("--judge-url", metavar="URL", help="OpenAI-compatible server that has the judge."),
)
TYPES = ("number", "binary", "categorical", "box", "oriented", "mask", "caption", "vqa")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def bench() -> None:
    """Run benchmarks: ask, score, compare, report.

    \b
    swath bench make --labels masks/ --legend legend.json --gsd 0.5 --out town
    swath bench run labels --data town --segmenter labels --out runs/town
    swath bench report runs/town
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"


@bench.command()
@click.argument("name")
@DATA
@with_options(*PLANNER_OPTIONS)
@click.option("--segmenter", default="auto", show_default=True, metavar="NAME",
              help="Who finds the classes; labels: the true ones.")  # fmt: skip
@click.option("--baseline", "predictor", type=click.Choice(["majority", "always-yes"]),
              help="Answer without looking, instead of planning.")  # fmt: skip
@click.option("--labels-dir", type=FILE, help="Folder of true label maps, named as the images.")
@click.option("--oracle", type=click.Choice(["segmenter", "planner", "both"]),
              help="Run again with true classes, reference programs, all four ways.")  # fmt: skip
@with_options(*JUDGE, *CASES)
@click.option("--keep", type=click.Choice(["light", "wrong", "full"]), default="wrong", show_default=True,
              help="Run folders hold texts; masks, objects, picture too unless right; always.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@dask_option("Ask on")
@click.option("--resume", is_flag=True, help="Go on with the run in --out.")
@click.option("--out", type=FILE, required=True, help="Folder of the results.")
def run(name: str, data: Path, out: Path, **options: Any) -> int:
    """Ask every case of the benchmark NAME and score the answers.

    A line of each case is in results.jsonl as soon as it is finished, so that a run may be killed at any moment and
    goes on with --resume. A case that breaks is such a line, too, and is asked again by --resume.

    \b
    swath bench run squid --data squid/ --labels-dir masks/ --oracle both --out r
    swath bench run labels --data town --baseline majority --out r0

    Exit status: 0 the run came to its end, 1 some cases broke, 2 wrong usage, 130 interrupted.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    if options["dask"] is not None and options["jobs"] > 1:
        raise click.UsageError("--jobs and --dask both say where to work. Next: give one of the two.")
    from swath.agent.planner import PlannerOptions
    from swath.eval.runner.run import run as run_all

    said = PlannerOptions(*(options.pop(name) for name in ("model", "base_url", "look", "agree")))
    options["judge"] = _judge(options["judge"], options.pop("judge_url"))
    command = shlex.join(["swath", *sys.argv[1:]])
    try:
        with bar() as listen:
            progress = run_all(name, data, out, planner_options=said, command=command, listen=listen, **options)
    except KeyboardInterrupt:
        click.echo(f"Interrupted: the lines so far are in {out}. Next: go on with --resume.", err=True)
        return 130
    return print_counts(progress, out)


def _judge(model: str | None, url: str | None) -> PlannerOptions | None:
    """The judge that is named; an address alone names none."""
    from swath.agent.planner import PlannerOptions

    if model is None and url is not None:
        raise click.UsageError("--judge-url says where, but no --judge says which model. Next: name it.")
    return None if model is None else PlannerOptions(model, url)


@bench.command("score")
@click.argument("name")
@DATA
@click.option("--predictions", type=FILE, required=True, help="JSON lines or CSV: id, answer[, unit].")
@with_options(*JUDGE, *CASES)
@click.option("--out", type=FILE, help="Folder to write results to, as `bench run` does.")
@JSON
def score_all(name: str, data: Path, predictions: Path, out: Path | None, as_json: bool, **options: Any) -> int:
    """Score somebody else's predictions for the benchmark NAME.

    A case without a prediction counts as failed, an empty answer as refused. A bare number is taken in the unit of the
    truth.

    \b
    swath bench score squid --data squid/ --predictions theirs.jsonl --out theirs

    Exit status: 0 scored, 2 wrong usage or unreadable input.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.eval.runner.run import score_predictions

    options["judge"] = _judge(options["judge"], options.pop("judge_url"))
    command = shlex.join(["swath", *sys.argv[1:]])
    progress = score_predictions(name, data, predictions, out, command=command, **options)
    if as_json:
        click.echo(json_line(progress.verdicts["plain"]))
        return 0
    return print_counts(progress, out)


@bench.command()
@click.option("--labels", type=FILE, required=True, help="Folder of label maps.")
@click.option("--legend", type=FILE, help="JSON object of label value to class name.")
@click.option("--images", type=FILE, help="Folder of images of the same names; else the maps are the images.")
@click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel, where files have none.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed makes the same questions.")
@click.option("--per-image", type=click.IntRange(min=1), default=20, show_default=True, help="Questions of each map.")
@click.option("--wordings", type=FILE, help="File of wordings in place of the package's own.")
@click.option("--only", "types", multiple=True, metavar="TYPE", help="Only this type; may be repeated.")
@click.option("--out", type=FILE, required=True, help="Folder of the benchmark to make.")
def make(labels: Path, legend: Path | None, out: Path, types: tuple[str, ...], **options: Any) -> None:
    """Make a benchmark out of a folder of label maps: its results are a self-test.

    \b
    swath bench make --labels masks/ --legend legend.json --gsd 0.5 --out town
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.eval.labels.make import make as make_all

    made = make_all(labels, legend, out, types=types or None, **options)
    for name, number in sorted(made.types.items()):
        click.echo(f"{number:>6}  {name}")
    click.echo(f"{made.folder}: {made.cases} questions about {made.maps} maps, {made.borderline} of them borderline")
    click.echo(f"Next: swath bench run labels --data {made.folder} --segmenter labels --out RESULTS")


@bench.command()
@click.argument("folders", nargs=-1, required=True, type=FILE, metavar="DIR [DIR]")
@JSON
@click.option("--html", type=FILE, help="File for the page, in place of report.html in the first DIR.")
@click.option("--markdown", type=FILE, help="File for the Markdown, in place of report.md in the first DIR.")
def report(folders: tuple[Path, ...], as_json: bool, html: Path | None, markdown: Path | None) -> None:
    """Report on a run, or compare two of the same cases question by question.

    \b
    swath bench report runs/town
    swath bench report runs/llm runs/offline
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.eval.report.write import report as report_on

    found = report_on(folders)
    for path, text in (
        (html or folders[0] / "report.html", found.html),
        (markdown or folders[0] / "report.md", found.markdown),
        (folders[0] / "report.json", json_line(found.to_json()) + "\n"),
    ):
        path.write_text(text, encoding="utf-8")
    click.echo(json_line(found.to_json()) if as_json else harmless_lines(found.terminal))


@bench.command()
@click.argument("file", type=FILE)
@JSON
def agree(file: Path, as_json: bool) -> None:
    """How far the annotators of a FILE of raw answers agree (CSV or JSON lines: item, annotator, answer).

    \b
    swath bench agree annotations.csv
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.eval.squid.agreement import agree as agreement_of

    found = agreement_of(file)
    if as_json:
        click.echo(json_line(found.to_json()))
        return
    head, rows = found.table()
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        click.echo(harmless("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()))


@click.command()
@click.argument("answer")
@click.option("--truth", "truths", multiple=True, required=True, help="The truth; of captions each reference.")
@click.option("--type", "type_", type=click.Choice(TYPES), required=True, help="What kind of question it answers.")
@click.option("--unit", help="Unit of the truth.")
@click.option("--tolerance", type=float, default=0.0, show_default=True, help="Share of the truth that may be missed.")
@click.option("--metric", metavar="NAME[:RULE]", help="Metric in place of the type's own.")
@JSON
def score(answer: str, as_json: bool, **options: Any) -> int:
    """Score one ANSWER against its truth.

    \b
    swath score --truth 3.2 --type number --unit ha --tolerance 0.05 "about 3.3 ha"
    swath score --truth yes --type binary True
    swath score --truth "[10, 20, 30, 40]" --type box "[12, 20, 30, 41]"

    Exit status: 0 right, 1 not right, 2 wrong usage.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.eval.runner.single import judge

    found = judge(answer=answer, **options)
    shown = "" if found.value is None else f" ({found.metric} {found.value:.4g})"
    click.echo(json_line(found.to_json()) if as_json else harmless(f"{found.verdict}{shown}: {found.why}"))
    return 0 if found.verdict == "right" else 1
