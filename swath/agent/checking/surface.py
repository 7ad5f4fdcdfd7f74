"""What the checker needs to know of a tool, and where it writes down what it finds."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import Protocol


class ToolLike(Protocol):
    """The part of a tool that a program's text can be held against."""

    @property
    def name(self) -> str:
        """Its name in programs."""

    @property
    def signature(self) -> inspect.Signature:
        """What a program may pass; annotations are types."""

    @property
    def measures(self) -> bool:
        """Whether its result is a measurement of the image."""


Tools = Mapping[str, ToolLike]

MAX_HINTS = 12


class Faults:
    """The faults of one program, one sentence each."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], None] = {}

    def add(self, node: ast.AST | int, sentence: str) -> None:
        """Note a fault at a node or a line; saying it twice counts once."""
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        self._found[line, f"Line {line}: {sentence}"] = None

    def hints(self) -> list[str]:
        """All of them in the order of lines, at most `MAX_HINTS`."""
        return [hint for _, hint in sorted(self._found)[:MAX_HINTS]]


def tool_called(node: ast.AST, tools: Tools) -> ToolLike | None:
    """The tool that an expression calls, None if it is no call of a tool."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return tools.get(node.func.id)
    return None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause ": did you mean x?" for the nearest known name, else an empty text."""
    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f": did you mean {near[0]}?" if near else ""


def quoted(options: Iterable[object]) -> str:
    """Options as a program's author would write them."""
    return ", ".join(repr(option) for option in options)
