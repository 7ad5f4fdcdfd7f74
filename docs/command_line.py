"""Writes docs/command-line.md from the commands themselves; run by `make docs`, held against them by a test."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
from click.testing import CliRunner

from swath.agent.planners import planner_names
from swath.cli import swath
from swath.eval.cases import benchmark_names
from swath.segment.registry import backend_names

HEAD = """# Command line

Exit status: 0 answered; 3 refused, it cannot be measured from this image; 2 wrong usage or unreadable input; 1 anything
else. A run is named by its folder or by the start of its id. This page is made from the commands (`make docs`).
"""


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command as words, groups before their members."""
    yield words
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for words in commands(swath):
        name = " ".join(("swath", *words))
        text = CliRunner().invoke(swath, [*words, "--help"], prog_name="swath").output
        parts.append(f"## {name}\n\n```console\n$ {name} --help\n{text.rstrip()}\n```\n")
    for what, names in (
        ("Segmenters", backend_names()),
        ("Planners", planner_names()),
        ("Benchmarks", benchmark_names()),
    ):
        parts.append(f"{what} that are installed: {', '.join(f'`{name}`' for name in names)}.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
