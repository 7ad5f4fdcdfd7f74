"""A run for a terminal: question, answer, what was measured, program, every step, and how to replay it."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from swath.trace.reading import OBJECTS_FILE, PICTURE_FILE, Run
from swath.trace.wording import call_words, harmless, harmless_lines, result_words, seconds_words

NARROWEST, WIDEST = 60, 140
STATUS_STYLES = {"answered": "bold green", "refused": "bold yellow", "failed": "bold red"}


def show(run: Run, *, width: int | None = None, colour: bool | None = None) -> str:
    """A run as text.

    Args:
        run: what to show.
        width: columns; None for the terminal's.
        colour: whether to use terminal colours; None where the output is a terminal and NO_COLOR is not set.

    Raises:
        InputError: a file of the run is missing or broken.
    """
    if colour is None:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    columns = width or min(max(shutil.get_terminal_size((100, 24)).columns, NARROWEST), WIDEST)
    out = io.StringIO()
    console = Console(
        file=out,
        width=columns,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    for part in _parts(run):
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _parts(run: Run) -> Iterator[RenderableType]:
    yield _heading(run)
    yield _indented(Text(f"\n{harmless(run.question)}", style="italic"))
    yield _indented(_answer(run.answer))
    yield _indented(_facts(run))
    warnings = [*run.answer.get("warnings", ()), *run.record.get("remarks", ())]
    if warnings:
        yield _title("Notes")
        yield _indented(Group(*(_hanging("!", str(warning), "yellow") for warning in warnings)))
    if run.program is not None:
        yield _title("Program")
        yield _indented(_source(run.program))
    if run.steps:
        yield _title("Steps")
        yield _indented(_steps(run))
    for number, (source, hints) in enumerate(run.drafts, start=1):
        yield _title(f"Rejected draft {number}")
        yield _indented(Group(_source(source), *(_hanging("x", hint, "red") for hint in hints)))
    yield _title("Again")
    yield _indented(Text(f"swath trace replay {run.id} --out {harmless(str(run.folder.parent))}", overflow="fold"))


def _heading(run: Run) -> Text:
    created = run.created.replace("T", " ").partition(".")[0]
    return Text.assemble(
        ("Run ", "bold"),
        (harmless(run.id), "bold"),
        "   ",
        (harmless(run.status), STATUS_STYLES.get(run.status, "bold")),
        (f"   {harmless(created)} UTC", "dim"),
    )


def _title(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))


def _hanging(sign: str, text: str, style: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(sign, style=style), Text(harmless(text)))
    return grid


def _answer(answer: Mapping[str, Any]) -> RenderableType:
    value, colon, reading = harmless(str(answer.get("text") or "")).partition(": ")
    if answer.get("status") != "answered":
        return Padding(Text(value + colon + reading), (1, 0))
    lines = [Text.assemble((value, "bold"), f"{colon}{reading}")]
    interval = answer.get("interval")
    if interval:
        covers = ", ".join(map(str, interval.get("covers", ()))) or "nothing"
        low, high = (_number(interval.get(end)) for end in ("low", "high"))
        lines.append(Text(harmless(f"interval {low} to {high}, considering {covers}"), "dim"))
    return Padding(Group(*lines), (1, 0))


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _facts(run: Run) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, value in _named_facts(run):
        grid.add_row(Text(name, style="dim"), Text(harmless(value)))
    return grid


def _named_facts(run: Run) -> Iterator[tuple[str, str]]:
    image, answer = run.record["image"], run.answer
    grid = image.get("grid") or {}
    rows, cols = grid.get("shape") or (None, None)
    size = f", {cols} x {rows} pixels" if rows else ""
    yield "image", f"{image.get('path')}{size}, {answer.get('crs') or 'no CRS'}"
    if grid:
        pixel = grid.get("pixel_size_m")
        known = f"{pixel['x']:.6g} x {pixel['y']:.6g} m" if pixel else f"no ground size: {grid.get('method')}"
        yield "pixel", known
    if answer.get("method"):
        yield "method", str(answer["method"])
    yield "planner", str(run.record.get("planner"))
    if answer.get("segmenter"):
        yield "classes", f"{answer['segmenter']}: {', '.join(run.record.get('classes') or ['no class'])}"
    objects = answer.get("objects")
    if objects:
        kept = f", in {OBJECTS_FILE}" if (run.folder / OBJECTS_FILE).exists() else ""
        yield "objects", f"{objects.get('count')} counted{kept}"
    if (run.folder / PICTURE_FILE).exists():
        yield "picture", str(run.folder / PICTURE_FILE)


def _source(program: str) -> Syntax:
    return Syntax(
        harmless_lines(program.rstrip("\n")),
        "python",
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        word_wrap=True,
    )


def _steps(run: Run) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("step", ratio=3, overflow="fold")
    table.add_column("result", ratio=3, overflow="fold")
    table.add_column("time", justify="right", no_wrap=True)
    for step in run.steps:
        graph = step.get("kind") != "tool"
        line = step.get("line")
        table.add_row(
            str(step.get("step", "")),
            "" if line is None else str(line),
            Text(call_words(step), style="dim" if graph else ""),
            _result(step, graph=graph),
            Text("cached" if step.get("cached") else seconds_words(step.get("seconds")), style="dim"),
        )
    return table


def _result(step: Mapping[str, Any], *, graph: bool) -> Text:
    if step.get("error"):
        return Text(harmless(str(step["error"])), style="red")
    # What the agent's own steps hand on (the scene, the hints) is shown above or not at all.
    return Text("" if graph else result_words(step.get("result")))
