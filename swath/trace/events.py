"""What happens while a question is worked on, for whoever listens: progress bars, pages, telemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

QUESTION = "question"
"""Name of the step that holds all others of one question."""


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        kind: "begin" or "end" of a question or a step of the graph; a "tool" call or a "model" call that came back;
            "tiles" where a segmenter has come on, with "done" and "total" in its detail.
        name: name of the step, tool or model.
        seconds: how long it took; 0 for a begin.
        detail: JSON-ready: what a step found, what a tool was given and gave, what a model used up; never a key or
            a prompt.
    """

    kind: Literal["begin", "end", "tool", "model", "tiles"]
    name: str
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[Event], None]


def nobody(event: Event) -> None:
    """The listener where nobody listens."""


def everybody(*listeners: Listener) -> Listener:
    """One listener that tells several; those that are nobody are left out."""
    told = [listener for listener in listeners if listener is not nobody]

    def tell_all(event: Event) -> None:
        for listener in told:
            listener(event)

    return tell_all if told else nobody


_HEARS: ContextVar[Listener] = ContextVar("swath_listener", default=nobody)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """While this lasts, `tell` tells the listener; inside a question that is heard already, its listener goes on."""
    token = _HEARS.set(listener if _HEARS.get() is nobody else _HEARS.get())
    try:
        yield
    finally:
        _HEARS.reset(token)


def tell(event: Event) -> None:
    """Tell whoever listens to the question at work; for what is too deep down to be handed a listener."""
    _HEARS.get()(event)
