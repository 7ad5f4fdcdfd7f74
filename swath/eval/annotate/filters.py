"""What no sentence of a data set may be: each filter with its name, under which what it drops is counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from swath.eval.annotate.statements import Statement

LONGEST_ANSWER = 3
"""Words of an answer."""

EXCUSES = (
    "not provided", "not specified", "unknown", "not available", "not mentioned", "not given", "cannot be determined",
    "unclear", "n/a", "unspecified", "no information", "not visible", "not clear",
)  # fmt: skip
"""Phrases with which a writer says nothing; VRSBench asks again where one occurs."""

_ORDINAL = re.compile(r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(st|nd|rd|th))\b", re.I)
_BACK = re.compile(
    r"\b(mentioned|aforementioned|described (above|earlier)|previous|previously|the same (one|object)|as above|"
    r"as stated|this object|that object|the latter|the former)\b",
    re.I,
)
_WORD = re.compile(r"[a-z0-9]+")


def excuse(statement: Statement) -> bool:
    """Whether it says that something is not known."""
    said = f"{statement.text} {statement.answer}".lower()
    return any(phrase in said for phrase in EXCUSES)


def ordinal(statement: Statement) -> bool:
    """Whether it counts through objects, which no picture numbers."""
    return _ORDINAL.search(statement.text) is not None


def looks_back(statement: Statement) -> bool:
    """Whether it leans on an earlier sentence."""
    return _BACK.search(statement.text) is not None


def answers_itself(statement: Statement) -> bool:
    """Whether a question holds its own answer, other than as one of two that it offers."""
    if statement.kind != "question" or statement.answer.lower() in ("yes", "no"):
        return False
    said, answer = _WORD.findall(statement.text.lower()), _WORD.findall(statement.answer.lower())
    if not answer or "or" in said:
        return False
    return any(said[i : i + len(answer)] == answer for i in range(len(said)))


def long_answer(statement: Statement) -> bool:
    """Whether an answer has more than three words."""
    return len(statement.answer.split()) > LONGEST_ANSWER


def empty(statement: Statement) -> bool:
    """Whether there is nothing said, or a question without an answer."""
    return not statement.text.strip() or (statement.kind == "question" and not statement.answer.strip())


FILTERS: Mapping[str, Callable[[Statement], bool]] = {
    "empty": empty,
    "excuse": excuse,
    "ordinal": ordinal,
    "looks back": looks_back,
    "answers itself": answers_itself,
    "long answer": long_answer,
}
"""In the order in which they are tried; duplicates come after all of them."""

DUPLICATE = "duplicate"


def dropped_by(statement: Statement) -> str | None:
    """Name of the first filter that a statement does not pass."""
    return next((name for name, catches in FILTERS.items() if catches(statement)), None)


def unlike(statements: Iterable[Statement]) -> tuple[list[Statement], list[Statement]]:
    """Statements without those that say what an earlier one of their kind says, and the latter."""
    seen: set[tuple[str, str]] = set()
    kept: list[Statement] = []
    dropped: list[Statement] = []
    for statement in statements:
        key = (statement.kind, " ".join(_WORD.findall(statement.text.lower())))
        (dropped if key in seen else kept).append(statement)
        seen.add(key)
    return kept, dropped
