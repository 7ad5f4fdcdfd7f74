"""The program of a run line by line, each with the calls that it made, and how rejected drafts were changed."""

from __future__ import annotations

import difflib
import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from swath.trace.reading import Run
from swath.trace.wording import harmless

SHOWN_CALLS = 6
"""Calls of one line that are linked one by one; a loop may make a thousand."""

Span = tuple[str, str]


@dataclass(frozen=True)
class Line:
    """One line of a program.

    Attributes:
        number: from 1 on.
        spans: (style, text) pieces that make it up; style is "word", "text", "number", "remark", "call" or empty.
        calls: numbers of the steps that it called.
    """

    number: int
    spans: tuple[Span, ...]
    calls: tuple[int, ...]

    @property
    def linked(self) -> tuple[int, ...]:
        """The first calls."""
        return self.calls[:SHOWN_CALLS]

    @property
    def further(self) -> int:
        """How many calls are not linked one by one."""
        return len(self.calls) - len(self.linked)


@dataclass(frozen=True)
class Draft:
    """A program that was rejected.

    Attributes:
        number: from 1 on.
        lines: the draft.
        hints: what was wrong with it.
        changes: (sign, text) lines of what the next program does otherwise; sign is "+", "-", " " or "@".
    """

    number: int
    lines: tuple[Line, ...]
    hints: tuple[str, ...]
    changes: tuple[Span, ...]


def program_lines(run: Run) -> tuple[Line, ...]:
    """The program that gave the answer, or the last one tried."""
    calls: dict[int, list[int]] = {}
    for step in run.steps:
        if step.get("kind") == "tool" and step.get("line") is not None:
            calls.setdefault(int(step["line"]), []).append(int(step["step"]))
    return _lines(run.program or "", {line: tuple(steps) for line, steps in calls.items()})


def drafts(run: Run) -> tuple[Draft, ...]:
    """The rejected drafts in order."""
    following = [*(source for source, _ in run.drafts), run.program or ""][1:]
    return tuple(
        Draft(number, _lines(source, {}), hints, tuple(changes(source, after)))
        for number, ((source, hints), after) in enumerate(zip(run.drafts, following, strict=True), start=1)
    )


def changes(before: str, after: str) -> Iterator[Span]:
    """Lines of a unified diff without its heading."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    for line in list(lines)[2:]:
        sign = line[:1] if line[:1] in "+-@" else " "
        yield sign, line if sign == "@" else line[1:]


def _lines(source: str, calls: dict[int, tuple[int, ...]]) -> tuple[Line, ...]:
    texts = source.rstrip("\n").split("\n") if source.strip() else []
    spans = _spans(source, texts)
    return tuple(Line(n, tuple(spans[n - 1]), calls.get(n, ())) for n in range(1, len(texts) + 1))


def _spans(source: str, texts: Sequence[str]) -> list[list[Span]]:
    """Pieces of each line by what they are; what cannot be read as Python stays plain."""
    marks: list[list[tuple[int, int, str]]] = [[] for _ in texts]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        tokens = []
    for token, after in pairwise(tokens):
        style = _style(token, after)
        if not style:
            continue
        for row in range(token.start[0], token.end[0] + 1):
            if row <= len(texts):
                start = token.start[1] if row == token.start[0] else 0
                end = token.end[1] if row == token.end[0] else len(texts[row - 1])
                marks[row - 1].append((start, end, style))
    return [list(_cut(text, own)) for text, own in zip(texts, marks, strict=True)]


def _style(token: tokenize.TokenInfo, after: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "word" if keyword.iskeyword(token.string) else "call" if after.string == "(" else ""
    if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
        return "text"
    return {tokenize.NUMBER: "number", tokenize.COMMENT: "remark"}.get(token.type, "")


def _cut(text: str, marks: Sequence[tuple[int, int, str]]) -> Iterator[Span]:
    at = 0
    for start, end, style in marks:
        if start > at:
            yield "", harmless(text[at:start])
        yield style, harmless(text[start:end])
        at = end
    if at < len(text):
        yield "", harmless(text[at:])
