"""Every way through a program must end in exactly one reply, of a kind and a unit that exist."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from typing import Literal

from swath.agent.checking.surface import Faults
from swath.agent.units import DIMENSIONS

REPLY = "reply"
UNITS_OF_KIND = {"count": ("count",), "percent": ("percent",), "boolean": (), "category": (), "text": ()}

WORDS_FOR_UNITS = {
    "hectare": "ha",
    "square metre": "m2",
    "square meter": "m2",
    "square kilometre": "km2",
    "square kilometer": "km2",
    "square foot": "sqft",
    "square feet": "sqft",
    "sq ft": "sqft",
    "square mile": "sqmi",
    "square yard": "sqyd",
    "m²": "m2",
    "km²": "km2",
    "metre": "m",
    "meter": "m",
    "kilometre": "km",
    "kilometer": "km",
    "feet": "ft",
    "foot": "ft",
    "yard": "yd",
    "mile": "mi",
    "%": "percent",
    "percentage": "percent",
    "cubic metre": "m3",
    "cubic meter": "m3",
    "m³": "m3",
    "kw": "kW",
    "kilowatt": "kW",
    "degree": "deg",
    "pixel": "px",
    "per km²": "per km2",
}

Ending = Literal["always", "sometimes", "never", "raises"]


def check_replies(tree: ast.Module, faults: Faults) -> None:
    """Note a reply that is missing, repeated, not last, out of reach, or of an impossible kind or unit."""
    calls = [node for node in ast.walk(tree) if is_reply(node)]
    if not calls:
        last = tree.body[-1].end_lineno or 1 if tree.body else 1
        faults.add(last, "the program has no reply: end it with reply(value, kind=..., unit=...).")
        return
    placed = _statements(tree.body)
    for call in calls:
        if id(call) not in placed:
            faults.add(call, "reply must stand on a line of its own, outside loops and functions.")
        else:
            _check_unit(call, faults)
    if all(id(call) in placed for call in calls) and _ending(tree.body, faults) == "sometimes":
        faults.add(calls[-1], "the program can end without a reply: give every if an else that replies.")


def is_reply(node: ast.AST) -> bool:
    """Whether a node is a call of `reply`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == REPLY


def _statements(body: Sequence[ast.stmt]) -> set[int]:
    """The calls of `reply` that are statements outside loops and functions."""
    found: set[int] = set()
    for statement in body:
        if isinstance(statement, ast.Expr) and is_reply(statement.value):
            found.add(id(statement.value))
        elif isinstance(statement, ast.If | ast.Try):
            for branch in _branches(statement):
                found |= _statements(branch)
    return found


def _branches(statement: ast.If | ast.Try) -> list[list[ast.stmt]]:
    """The ways through a statement; what always runs is part of each."""
    if isinstance(statement, ast.If):
        return [statement.body, statement.orelse]
    ways = [statement.body + statement.orelse, *(handler.body for handler in statement.handlers)]
    return [way + statement.finalbody for way in ways]


def _ending(body: Sequence[ast.stmt], faults: Faults) -> Ending:
    """Whether a block ends in a reply; statements that come after one are noted."""
    ending: Ending = "never"
    for statement in body:
        if ending == "always":
            faults.add(statement, "reply must be the last thing the program does: move this before it.")
            return ending
        found = _ending_of(statement, faults)
        if ending == "sometimes" and found in ("always", "sometimes"):
            faults.add(statement, "the program may reply twice: put this into the else of the condition above.")
        ending = found if found != "never" else ending
    return ending


def _ending_of(statement: ast.stmt, faults: Faults) -> Ending:
    if isinstance(statement, ast.Expr) and is_reply(statement.value):
        return "always"
    if isinstance(statement, ast.Raise):
        return "raises"
    if not isinstance(statement, ast.If | ast.Try):
        return "never"
    endings = {_ending(branch, faults) for branch in _branches(statement)}
    if len(endings) > 1:
        endings -= {"raises"}  # what ends in an error goes nowhere
    return endings.pop() if len(endings) == 1 else "sometimes"


def _check_unit(call: ast.AST, faults: Faults) -> None:
    if not isinstance(call, ast.Call):
        return
    given: dict[str | None, object] = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
    named = {keyword.arg for keyword in call.keywords}
    kind, unit = given.get("kind"), given.get("unit")
    if unit is not None and unit not in DIMENSIONS:
        near = _unit_meant(str(unit))
        instead = f"did you mean {near}?" if near else f"it is one of {', '.join(DIMENSIONS)}."
        faults.add(call, f"reply has no unit {unit!r}: {instead}")
        return
    if kind == "quantity" and unit is None and ("unit" in given or "unit" not in named):
        faults.add(call, 'a reply of kind "quantity" needs its unit, such as unit="m2".')
    allowed = UNITS_OF_KIND.get(str(kind))
    if allowed is not None and unit is not None and unit not in allowed:
        only = f'unit="{allowed[0]}" or none' if allowed else "no unit"
        faults.add(call, f'a reply of kind "{kind}" takes {only}, not {unit!r}: a number with a unit is a "quantity".')


def _unit_meant(word: str) -> str | None:
    """The unit that a word in another spelling means."""
    lower = word.lower().strip()
    if meant := WORDS_FOR_UNITS.get(lower) or WORDS_FOR_UNITS.get(lower.removesuffix("s")):
        return meant
    by_lower_case = {unit.lower(): unit for unit in DIMENSIONS}
    near = difflib.get_close_matches(lower, by_lower_case, n=1)
    return by_lower_case[near[0]] if near else None
