"""Holds a program against what is certain of its question: quantities, classes, comparisons, kind of answer.

It finds no right program; it finds programs that leave out or turn round something that the question says.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator

from swath.agent.llm.given import Given
from swath.agent.llm.roles import LOW, NAME, TEXT, TRUTH
from swath.agent.offline.amounts import units
from swath.agent.offline.meaning import Amount
from swath.agent.units import DIMENSIONS

_SAME = 1e-6
_KINDS = {TRUTH: "boolean", NAME: "category", TEXT: "text", "count": "count", "percent": "percent"}
_WANTED = {
    TRUTH: 'a yes or no: a comparison, kind="boolean"',
    NAME: 'a name: kind="category"',
    TEXT: 'a text of measured facts: kind="text"',
    "count": 'a number of objects: count(...), kind="count"',
    "percent": 'a percentage: kind="percent"',
    "m2": "an area", "m": "a length", "m3": "a volume", "kW": "a power", "px": "pixels",
}  # fmt: skip
_SI = {
    "area": "m2",
    "length": "m",
    "volume": "m3",
    "power": "kW",
    "share": "percent",
    "pixels": "px",
    "number": "count",
}


def faults(source: str, given: Given) -> list[str]:
    """What a program leaves out of its question or turns round, as sentences.

    Args:
        source: a program.
        given: the question.

    Raises:
        SyntaxError: it cannot be parsed.
    """
    tree = ast.parse(source)
    numbers = tuple(_numbers(tree))
    left_out = [amount.said for amount in given.amounts if not _occurs(amount, numbers)]
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    left_out += [f'"{word}"' for word, names in given.classes if not texts & set(names)]
    found = [f"The program does not use the question's {' and '.join(dict.fromkeys(left_out))}."] if left_out else []
    return [*found, *_turned(tree, given), *_kind(tree, given)]


def _numbers(tree: ast.AST) -> Iterator[float]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            yield float(node.value)


def _occurs(amount: Amount, numbers: Iterable[float]) -> bool:
    """In SI units, as typed before a conversion, or a percentage as a share of one."""
    value = float(amount.value)
    typed = float(amount.value / units()[amount.key].size) if amount.key else value
    accepted = [value, typed, value / 100] if amount.unit == "percent" else [value, typed]
    return any(math.isclose(number, other, rel_tol=_SAME) for number in numbers for other in accepted)


def _turned(tree: ast.AST, given: Given) -> Iterator[str]:
    """Bounds that are passed as the opposite bound."""
    bounds = [bound for sizes in given.roles.sizes.values() for bound in sizes]
    if given.roles.reach is not None:
        bounds.append((given.roles.reach.bound, given.roles.reach.amount))
    passed = [
        (keyword.arg, tuple(_numbers(keyword.value)))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg is not None
    ]
    for bound, amount in bounds:
        names = [name for name, numbers in passed if name.endswith(f"_{amount.unit}") and _occurs(amount, numbers)]
        if names and all(_low(name) != _low(bound) for name in names):
            yield f"The question's {amount.said} is {bound}_{amount.unit}=, not {names[0]}=."


def _low(name: str) -> bool:
    return name.startswith(LOW)


def _kind(tree: ast.AST, given: Given) -> Iterator[str]:
    """A reply of a kind or of a dimension that the question does not ask for."""
    wanted = given.roles.answers
    for node in ast.walk(tree):
        if not (wanted and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reply"):
            continue
        said = {item.arg: item.value.value for item in node.keywords if isinstance(item.value, ast.Constant)}
        kind, unit = said.get("kind"), said.get("unit")
        measured = _SI.get(DIMENSIONS.get(str(unit), ""), str(unit))
        if kind is None or wanted & {measured} or any(_KINDS.get(one) == kind for one in wanted):
            continue
        if NAME in wanted and kind in ("text", "ranking"):
            continue
        yield f"The question asks for {' or '.join(_WANTED.get(one, one) for one in sorted(wanted))}."
