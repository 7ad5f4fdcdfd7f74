"""Worked examples for prompts: a question, its program, the same as one expression."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources


@dataclass(frozen=True)
class Example:
    """A worked example.

    Attributes:
        question: as a person would ask it.
        program: free code, or one line "cannot: ...".
        expression: the same as one expression of the bound way; "" where that says no such thing.
        short: whether the small prompt shows it.
    """

    question: str
    program: str
    expression: str
    short: bool = False


@lru_cache(maxsize=1)
def examples() -> tuple[Example, ...]:
    """All worked examples, in the order of the file."""
    text = resources.files("swath.prompts").joinpath("examples.toml").read_text(encoding="utf-8")
    return tuple(
        Example(item["question"], item["program"].strip("\n"), item.get("expression", ""), item.get("short", False))
        for item in tomllib.loads(text)["example"]
    )
