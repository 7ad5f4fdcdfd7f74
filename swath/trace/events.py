"""What happens while a question is worked on, for whoever listens: progress bars, pages, telemetry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        kind: "begin" or "end" of a graph step, or a "tool" call that came back.
        name: name of the step or tool.
        seconds: how long it took; 0 for a begin.
        detail: JSON-ready: what a step found, what a tool was given and gave.
    """

    kind: Literal["begin", "end", "tool"]
    name: str
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[Event], None]


def nobody(event: Event) -> None:
    """The listener where nobody listens."""
