"""Which tools a model is told of: some with every question, others where the question has a word for them.

All tools together would take twice the prompt. What is always told stands in the constant part, which servers cache.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from itertools import groupby
from typing import Any, get_args, get_origin

from swath.agent.execution import surface
from swath.segment.vocabulary import fold
from swath.tools.handles import Mask, Regions
from swath.tools.registry import Tool

SHORTEST_WORD = 4
_WORD = re.compile(r"[a-z]+")
_SPELT = {frozenset({Mask}): "Mask", frozenset({Regions}): "Regions", frozenset({Mask, Regions}): "Area"}


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    text = resources.files("swath.prompts").joinpath("families.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def always() -> tuple[Tool, ...]:
    """The tools that every question may need, `reply` left out, by family."""
    families = _table()["always"]
    found = [tool for tool in surface().values() if tool.family in families]
    return tuple(sorted(found, key=lambda tool: families.index(tool.family)))


def further(question: str) -> tuple[Tool, ...]:
    """The tools of those other families that a question has a word for.

    Args:
        question: as typed.
    """
    words = frozenset(_WORD.findall(fold(question)))
    others = [tool for tool in surface().values() if tool.family not in (*_table()["always"], "reply")]
    wanted = {tool.family for tool in others if words & _words_of(tool)}
    return tuple(tool for tool in others if tool.family in wanted)


def _words_of(tool: Tool) -> frozenset[str]:
    return frozenset(_table()["words"].get(tool.family) or _telling(tool))


def _telling(tool: Tool) -> frozenset[str]:
    """The words of a tool's name that are neither short nor part of the names that every prompt lists."""
    usual = {word for other in always() for word in other.name.split("_")}
    return frozenset(word for word in tool.name.split("_") if len(word) >= SHORTEST_WORD) - usual


def offered(question: str) -> tuple[Tool, ...]:
    """Every tool that a program for a question may use."""
    return (*always(), *further(question))


def families(tools: Iterable[Tool], *, short: bool) -> list[tuple[str, list[str]]]:
    """Lines of a prompt by family: one a tool with its first sentence, or one for all of them without types."""
    grouped = [(name, list(members)) for name, members in groupby(tools, key=lambda tool: tool.family)]
    if short:
        return [(name, [", ".join(map(bare, members))]) for name, members in grouped]
    return [(name, [f"{typed(tool)}  # {tool.summary}" for tool in members]) for name, members in grouped]


def typed(tool: Tool) -> str:
    """A tool with its handles' types and its choices: near(regions: Regions, target: Area, *, max_distance_m=)."""
    parts, starred = [], False
    for item in tool.signature.parameters.values():
        if item.kind is item.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        kind = _kind(item.annotation)
        default = "" if item.default is item.empty else "=" if item.default is None else f"={item.default!r}"
        parts.append(f"{item.name}: {kind}{default}" if kind else f"{item.name}{default}")
    returns = _kind(tool.signature.return_annotation) or getattr(tool.signature.return_annotation, "__name__", "list")
    return f"{tool.name}({', '.join(parts)}) -> {returns}"


def bare(tool: Tool) -> str:
    """A tool without types: near(regions, target, max_distance_m=, smaller_than_m=)."""
    parameters = tool.signature.parameters.values()
    shown = (f"{item.name}=" if item.kind is item.KEYWORD_ONLY else item.name for item in parameters)
    return f"{tool.name}({', '.join(shown)})"


def _kind(annotation: Any) -> str:
    """Handles by name, choices by their values, nothing for numbers, whose unit is in the argument's name."""
    choices = get_args(annotation) if get_origin(annotation) is not None else (annotation,)
    handles = frozenset(part for part in choices if part in (Mask, Regions))
    if handles:
        return _SPELT[handles] if get_origin(annotation) is not list else f"list[{_SPELT[handles]}]"
    texts = [part for part in choices if isinstance(part, str)]
    return "|".join(f'"{text}"' for text in texts)
