"""The command `swath chat`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from swath.cli.options import FILE, PLANNER_OPTIONS, RUN_OPTIONS, SOURCE_OPTIONS, with_options
from swath.cli.printing import json_line, print_answer, progress
from swath.errors import InputError, SwathError
from swath.trace.wording import harmless

ENDS = ("/quit", "/exit", "/q")


@click.command()
@click.argument("image", type=FILE)
@with_options(*SOURCE_OPTIONS, *RUN_OPTIONS, *PLANNER_OPTIONS)
@click.option("--thread", metavar="NAME", help="Thread to go on with; by default the image's own.")
def chat(image: Path, thread: str | None, as_json: bool, **options: Any) -> int:
    """Ask questions about an IMAGE, one a line; follow-ups build on what was asked.

    "Those", "them" and "it" mean what the last answer was about. The thread is kept beside the runs: the next chat
    about the same image goes on with it. /program shows the last program, /quit ends.
    """
    try:
        from swath.agent.session import Session
    except ImportError:
        raise InputError("A chat keeps its thread with SQLite. Next: pip install 'swath[chat]'.") from None

    with Session(image, thread=thread, **options) as session:
        for turn in session.turns:
            click.echo(harmless(f"  earlier: {turn.question} -> {turn.text}"), err=True)
        if session.interrupted:
            click.echo(harmless(f"The last chat was cut off at: {session.interrupted}"), err=True)
        return _converse(session, as_json)


def _converse(session: Any, as_json: bool) -> int:
    shown_prompt = sys.stdin.isatty()
    while True:
        if shown_prompt:
            click.echo("? ", nl=False, err=True)
        line = sys.stdin.readline()
        question = line.strip()
        if not line or question in ENDS:
            return 0
        if question == "/program":
            turns = session.turns
            click.echo(turns[-1].source if turns else "There is no program yet.")
        elif question.startswith("/"):
            click.echo(harmless(f"There is no {question}. Next: /program, /quit, or a question."), err=True)
        elif question:
            _answer(session, question, as_json)


def _answer(session: Any, question: str, as_json: bool) -> None:
    """Answer one question; what goes wrong with it does not end the chat."""
    try:
        with progress(quiet=as_json) as listen:
            answer = session.ask(question, listen=listen)
    except KeyboardInterrupt:
        click.echo("That question was given up.", err=True)
    except SwathError as error:
        click.echo(f"swath: {harmless(str(error))}", err=True)
    else:
        click.echo(json_line(answer.to_json())) if as_json else print_answer(answer)
