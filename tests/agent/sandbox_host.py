"""What tests of the sandbox put in the place of the real tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swath.agent.sandbox import Call

TOOLS = ("segment", "each", "count", "area_m2", "reply")


class Mask:
    """A stand-in for the real handle."""

    def __init__(self, pixels: int = 4) -> None:
        self.pixels = np.zeros(pixels, dtype=bool)


class Host:
    """Answers calls by a table and remembers them."""

    def __init__(self, **tools: Callable[..., Any]) -> None:
        self.tools: dict[str, Callable[..., Any]] = {
            "segment": lambda name: Mask(),
            "each": lambda of: [Mask(), Mask(), Mask()],
            "count": lambda of: 3,
            "area_m2": lambda of: 12.5,
            "reply": lambda value, **more: None,
        } | tools
        self.calls: list[Call] = []

    def __call__(self, call: Call) -> Any:
        self.calls.append(call)
        return self.tools[call.name](*call.args, **call.kwargs)
