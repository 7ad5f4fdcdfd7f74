"""Words for what went wrong inside the sandbox: hints that a planner can act on, without paths of the host."""

from __future__ import annotations

import re

MAX_MESSAGE = 300

_QUOTED_PATH = re.compile(
    r"""(?P<quote>['"])(?:file://)?(?:/|[A-Za-z]:[\\/])[^'"\n]*?(?P<name>[^'"\n\\/]*)(?P=quote)"""
)
_BARE_PATH = re.compile(
    r"(?:file://|(?<![\w/:.)\]}]))(?:/|\b[A-Za-z]:[\\/])(?:[^\s'\"\\/:;,]+[\\/])*(?P<name>[^\s'\"\\/:;,]+)"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")

_ADVICE: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"cannot suspend"),
        "a tool cannot be called inside key=, map, filter, max(key=...) or a text template: collect its values first "
        "with a comprehension, such as [area_m2(r) for r in each(regions)]",
    ),
    (re.compile(r"yet support yield"), "yield is not available: build a list with a comprehension"),
    (re.compile(r"yet support the 'del'"), "del is not available and not needed: leave it out"),
    (re.compile(r"class inheritance"), "classes cannot inherit here: write plain assignments, loops and tool calls"),
    (re.compile(r"yet support"), "this construct is not available: write plain assignments, loops and tool calls"),
    (re.compile(r"'Regions' has no len"), "the number of regions is count(regions)"),
    (re.compile(r"'Regions' object is not (iterable|subscriptable)"), "go through regions with each(regions)"),
    (
        re.compile(r"'(Mask|Regions)'"),
        "masks and regions are handles: pass them to tools, such as area_m2(mask) or count(regions)",
    ),
    (re.compile(r"ZeroDivisionError"), "test that the divisor is not 0 first and say what the answer is then"),
    (re.compile(r"RecursionError"), "use a loop"),
    (re.compile(r"too deeply nested"), "split the expression over several assignments"),
)


def without_paths(message: str) -> str:
    """A message in which every absolute path of the host is cut down to its last name."""
    cut = _QUOTED_PATH.sub(lambda match: f"{match['quote']}{match['name']}{match['quote']}", message)
    return _BARE_PATH.sub(lambda match: match["name"], cut)


def plain_text(text: str) -> str:
    """Text that cannot steer a terminal: control characters and direction marks are cut out, line feeds stay."""
    return "\n".join(_CONTROL.sub("", line) for line in text.replace("\t", "    ").split("\n"))


def one_line(message: str) -> str:
    """A message fit for a hint: one line, no control characters, at most `MAX_MESSAGE` characters."""
    line = _CONTROL.sub(" ", message).strip()
    return line if len(line) <= MAX_MESSAGE else line[:MAX_MESSAGE] + "..."


def explained(line: int | None, error: str) -> str:
    """One sentence on an error that a program raised: the line, the error, what to write instead."""
    place = f"Line {line}: " if line else ""
    said = one_line(error).rstrip(".")
    advice = next((advice for pattern, advice in _ADVICE if pattern.search(error)), None)
    return f"{place}{said}: {advice}." if advice else f"{place}{said}."
