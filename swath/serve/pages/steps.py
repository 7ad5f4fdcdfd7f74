"""The steps of a run: a row for each, and a timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swath.serve.pages.layers import handle_number
from swath.trace.reading import Run
from swath.trace.wording import call_words, result_words, seconds_words

WIDTH = 1000.0
"""Of the timeline, in its own units."""

NARROWEST = 1.5
MOST_BARS = 1000


@dataclass(frozen=True)
class Row:
    """One step.

    Attributes:
        number: its line in steps.jsonl.
        graph: whether the agent did it, else the program called it.
        line: line of the program, None for steps of the agent.
        call: what was done, in words.
        result: what came out, in words.
        error: what went wrong, None where nothing did.
        time: in words.
        layer: index of the mask that it gave, None where it gave none.
    """

    number: int
    graph: bool
    line: int | None
    call: str
    result: str
    error: str | None
    time: str
    layer: int | None


@dataclass(frozen=True)
class Bar:
    """One step on the timeline.

    Attributes:
        number: the step.
        graph: whether the agent did it.
        x: where it begins.
        width: how long it took.
        words: what it was.
    """

    number: int
    graph: bool
    x: float
    width: float
    words: str


def step_rows(run: Run, layer_of: Mapping[int, int]) -> tuple[Row, ...]:
    """A row for each step of a run."""
    return tuple(_row(step, layer_of) for step in run.steps)


def _row(step: Mapping[str, Any], layer_of: Mapping[int, int]) -> Row:
    graph, result = step.get("kind") != "tool", step.get("result")
    handle = handle_number(result.get("handle")) if isinstance(result, Mapping) else None
    return Row(
        number=int(step["step"]),
        graph=graph,
        line=step.get("line"),
        call=call_words(step),
        # What the agent's own steps hand on (the scene, the hints) is shown elsewhere or not at all.
        result="" if graph else result_words(result),
        error=step.get("error"),
        time="known already" if step.get("cached") else seconds_words(step.get("seconds")),
        layer=None if handle is None else layer_of.get(handle),
    )


def timeline(run: Run) -> tuple[Bar, ...]:
    """The steps of the agent one after the other; the calls of the last attempt under the step that made them."""
    steps = run.steps[:MOST_BARS]
    total = sum(_seconds(step) for step in steps if step.get("kind") != "tool") or 1.0
    return tuple(_bars(steps, WIDTH / total))


def _bars(steps: tuple[dict[str, Any], ...], scale: float) -> Iterator[Bar]:
    agent = program = 0.0
    for step in steps:
        graph, seconds = step.get("kind") != "tool", _seconds(step)
        start = agent if graph else program
        words = f"{call_words(step)}, {seconds_words(seconds)}"
        width = max(seconds * scale, NARROWEST)
        yield Bar(int(step["step"]), graph, round(min(start * scale, WIDTH - width), 2), round(width, 2), words)
        if graph:
            program, agent = agent, agent + seconds
        else:
            program += seconds


def _seconds(step: Mapping[str, Any]) -> float:
    seconds = step.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0
