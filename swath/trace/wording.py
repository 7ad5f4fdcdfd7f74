"""Steps and values of a run in words; text from files and questions made harmless for terminals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from swath.trace.strict_json import json_text

REPLACEMENT = "�"
BLANKS = "\n\r\t\xa0\u2007\u2009\u202f\u3000"
LONGEST_VALUE = 160
FORMULA = ("=", "+", "-", "@", "\t", "\r")
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?")
UNNAMED = frozenset({"class_name", "value"})
"""Arguments that programs write without their name although they are no handles."""


def harmless(text: str) -> str:
    """One line of text that no terminal obeys: control and formatting characters become a visible sign."""
    return "".join(letter if letter.isprintable() else " " if letter in BLANKS else REPLACEMENT for letter in text)


def harmless_lines(text: str) -> str:
    """The same for text of several lines, which stay lines."""
    return "\n".join(harmless(line.expandtabs(4)) for line in text.split("\n"))


def call_words(step: Mapping[str, Any]) -> str:
    """A call as one would write it: near(#2, #3, max_distance_m=50)."""
    shown: list[str] = []
    bare = 0
    for name, value in dict(step.get("arguments") or {}).items():
        handle = isinstance(value, str) and value.startswith("#") and value[1:].isdigit()
        words = str(value) if handle else value_words(value)
        leading = len(shown) == bare and (handle or name in UNNAMED)
        bare += leading
        shown.append(words if leading else f"{name}={words}")
    return harmless(f"{step.get('name')}({', '.join(shown)})" if step.get("kind") == "tool" else str(step.get("name")))


def result_words(result: Any) -> str:
    """What a call gave: what a mask or a set of regions holds, or the value itself."""
    if isinstance(result, Mapping) and "mask" in result:
        return harmless(f"{result.get('handle')} {result['mask']}: {_whole(result.get('pixels'))} px")
    if isinstance(result, Mapping) and "regions" in result:
        count = result.get("count")
        return harmless(
            f"{result.get('handle')} {result['regions']}: {_whole(count)} region{'' if count == 1 else 's'}"
        )
    return "" if result is None else value_words(result)


def value_words(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = harmless(json_text(value))
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]} ..."


def cell_words(value: Any) -> Any:
    """A cell of a table that no spreadsheet takes for a formula: text that begins like one gets an apostrophe."""
    if not isinstance(value, str) or not value.startswith(FORMULA) or NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def seconds_words(seconds: Any) -> str:
    """A time with a unit that suits it."""
    if not isinstance(seconds, int | float):
        return ""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms" if seconds >= 0.001 else "<1 ms"


def _whole(number: Any) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)
