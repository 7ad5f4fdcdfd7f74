"""How commands print: answers, JSON, the step at work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from swath.trace.events import Listener, nobody
from swath.trace.strict_json import json_text
from swath.trace.wording import harmless


def print_answer(answer: Any) -> None:
    """An answer for people."""
    if answer.status != "answered":
        click.echo(f"{answer.status}: {harmless(answer.reason or '')}", err=True)
    else:
        click.echo(click.style(harmless(answer.text), bold=True))
        if answer.interval is not None and answer.interval.low != answer.interval.high:
            click.echo(f"  the interval covers: {', '.join(answer.interval.covers)}")
        if answer.method is not None:
            click.echo(f"  measured {harmless(answer.method)}")
    for warning in answer.warnings:
        click.echo(f"  note: {harmless(warning)}")
    if answer.mask is not None and answer.mask.path is not None:
        click.echo(harmless(f"  mask: {answer.mask.path}   picture: {answer.mask.picture}"))
    if answer.run:
        picture = Path(answer.run) / "overlay.png"
        click.echo(harmless(f"  run: {answer.run}" + (f"   picture: {picture}" if picture.exists() else "")))


def json_line(value: Any) -> str:
    """A value as one line of strict JSON."""
    text = json_text(value)
    # Control and formatting characters that JSON would let through, but no terminal should see.
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Listener]:
    """The step or tool at work, on a terminal only."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield nobody
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda event: None if event.kind == "end" else status.update(f"{event.name} ...")
