"""A program as a plan of named steps, for the worked examples of the structured way."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from swath.agent.execution import surface


def plan_of(program: str) -> str | None:
    """The plan that a program spells, as JSON on one line; None where it is more than steps and an answer.

    Args:
        program: a comment that says what is measured, assignments, at last `reply`; or "cannot: reason".
    """
    if program.startswith("cannot: "):
        plan: dict[str, Any] = {"cannot": program.removeprefix("cannot: "), "measures": "", "steps": [], "answer": None}
        return _line(plan)
    steps = _Steps()
    *assignments, last = ast.parse(program).body
    try:
        for statement in assignments:
            if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
                return None
            steps.named(statement.targets[0].id, statement.value)
        answer = _answer(last, steps)
    except _NoStep:
        return None
    measures = program.lstrip("# ").partition("\n")[0]
    return _line({"cannot": None, "measures": measures, "steps": steps.made, "answer": answer})


class _NoStep(Exception):
    """An expression that steps do not say."""


@dataclass
class _Steps:
    """Steps so far; calls within calls are lifted out and named a, b, c."""

    made: list[dict[str, Any]] = field(default_factory=list)
    names: Iterator[str] = field(default_factory=lambda: iter(ascii_lowercase))

    def named(self, name: str, value: ast.expr) -> None:
        if not isinstance(value, ast.Call):
            raise _NoStep
        self.made.append({"name": name, **self._called(value)})

    def lifted(self, value: ast.expr) -> str:
        """The expression with its calls as names of steps."""
        return ast.unparse(_Lift(self).visit(value))

    def step(self, call: ast.Call) -> str:
        called = self._called(call)
        name = next(self.names)
        self.made.append({"name": name, **called})
        return name

    def _called(self, call: ast.Call) -> dict[str, Any]:
        if not isinstance(call.func, ast.Name):
            raise _NoStep
        tool = call.func.id
        if tool not in surface():
            raise _NoStep
        parameters = list(surface()[tool].signature.parameters)
        given = dict(zip(parameters, call.args, strict=False))
        given |= {str(word.arg): word.value for word in call.keywords}
        return {"tool": tool, "arguments": {name: self._argument(value) for name, value in given.items()}}

    def _argument(self, value: ast.expr) -> Any:
        if isinstance(value, ast.Call):
            return self.step(value)
        if isinstance(value, ast.Name):
            return value.id
        try:
            return ast.literal_eval(value)
        except ValueError:
            raise _NoStep from None


class _Lift(ast.NodeTransformer):
    """Puts the name of a step in the place of each call."""

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Name(self._steps.step(node))


def _answer(last: ast.stmt, steps: _Steps) -> dict[str, Any]:
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and last.value.args):
        raise _NoStep
    call = last.value
    given = {str(word.arg): word.value for word in call.keywords}
    value = steps.lifted(call.args[0])
    told = {name: ast.literal_eval(given[name]) if name in given else None for name in ("kind", "unit")}
    objects = given.get("objects")
    return {"value": value, **told, "objects": None if objects is None else steps.lifted(objects)}


def _line(plan: dict[str, Any]) -> str:
    return json.dumps(plan, separators=(",", ":"))
