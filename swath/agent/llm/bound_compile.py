"""From one expression of the bound way to a program in plain Python on the tools' surface."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from swath.agent.llm.expression import BARE, Argument, Operation, label, operations
from swath.agent.llm.given import Given
from swath.agent.offline.meaning import Amount
from swath.agent.units import DIMENSIONS as UNIT_DIMENSIONS
from swath.errors import ProgramRejected

NOT_ONE = "The reply is no expression of the tools: {why}."
PERCENT = "percent"
COMPARISONS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq)


@dataclass(frozen=True)
class _Value:
    """A part that has been compiled: its Python, its type, its unit, and what was counted or measured in it."""

    code: str
    type: str
    unit: str = ""
    objects: str | None = None


def compiled(text: str, given: Given, classes: Mapping[str, tuple[str, ...]]) -> str:
    """The program of an expression.

    Args:
        text: the expression.
        given: the question, whose quantities and unit it uses.
        classes: each name that may be written to the legend's names that it means.

    Raises:
        ProgramRejected: it is no expression of the language.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramRejected([NOT_ONE.format(why="it cannot be parsed")], text) from None
    compiler = _Compiler({label(amount): amount for amount in given.amounts}, classes, text)
    value = compiler.value(tree)
    asked = UNIT_DIMENSIONS.get(given.unit or "")
    if value.type == "number" and asked in _ASKED and UNIT_DIMENSIONS.get(value.unit) != asked:
        raise ProgramRejected([f"The question asks for {given.unit}, but this gives {value.unit}."], text)
    return "\n".join((*compiler.lines, _reply(value, given.unit))) + "\n"


def _reply(value: _Value, asked: str | None) -> str:
    code, unit, kind = value.code, value.unit, "quantity"
    if value.type == "truth":
        return f'reply({code}, kind="boolean"{_objects(value)})'
    if value.type == "name":
        return f'reply({code}, kind="category"{_objects(value)})'
    same = asked is not None and UNIT_DIMENSIONS.get(asked) == UNIT_DIMENSIONS.get(unit)
    if asked is not None and same and asked != unit:
        code, unit = f'convert({code}, from_unit="{unit}", to_unit="{asked}")', asked
    kind = {"count": "count", PERCENT: "percent"}.get(unit, "quantity")
    return f'reply({code}, kind="{kind}", unit="{unit}"{_objects(value)})'


def _objects(value: _Value) -> str:
    return f", objects={value.objects}" if value.objects else ""


@dataclass
class _Compiler:
    amounts: Mapping[str, Amount]
    classes: Mapping[str, tuple[str, ...]]
    text: str
    lines: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def value(self, node: ast.expr) -> _Value:
        """Compile a part that gives a number, a truth or a name."""
        match node:
            case ast.BoolOp():
                parts = [self.value(part) for part in node.values]
                if any(part.type != "truth" for part in parts):
                    raise self._wrong("and, or join comparisons")
                word = " and " if isinstance(node.op, ast.And) else " or "
                return _Value(word.join(f"({part.code})" for part in parts), "truth", objects=parts[0].objects)
            case ast.Compare(ops=[op], comparators=[other]) if isinstance(op, COMPARISONS):
                return self._comparison(node.left, op, other)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                left, right = self._alike(node.left, node.right)
                sign = "+" if isinstance(node.op, ast.Add) else "-"
                return _Value(f"{left.code} {sign} {right.code}", "number", left.unit)
            case ast.IfExp():
                return self._choice(node)
            case ast.Call(func=ast.Name(id="percent"), args=[part, whole], keywords=[]):
                first, second = self._alike(part, whole)
                return _Value(f"100 * ratio({first.code}, {second.code})", "number", PERCENT, first.objects)
            case ast.Call(func=ast.Name(id=name)) if name in operations():
                return self._call(operations()[name], node)
        raise self._wrong(f"{ast.unparse(node)[:60]} has no meaning there")

    def _number(self, node: ast.expr) -> _Value:
        found = self.value(node)
        if found.type != "number":
            raise self._wrong(f"{ast.unparse(node)[:60]} is no number")
        return found

    def _alike(self, one: ast.expr, other: ast.expr) -> tuple[_Value, _Value]:
        """Two numbers of one unit."""
        first, second = self._number(one), self._number(other)
        if first.unit != second.unit:
            raise self._wrong(f"{first.unit} and {second.unit} do not go together in {ast.unparse(one)[:60]}")
        if first.code == second.code:
            raise self._wrong(f"{ast.unparse(one)[:60]} is there twice")
        return first, second

    def _comparison(self, left: ast.expr, op: ast.cmpop, other: ast.expr) -> _Value:
        sign = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "=="}[type(op)]
        match other:
            case ast.Constant(value=bare) if bare in (0, 1):
                measured, limit = self._number(left), str(bare)
            case ast.Constant(value=str(said)):
                measured = self._number(left)
                limit = self._amount(said, measured.unit)
            case _:
                measured, second = self._alike(left, other)
                limit = second.code
        return _Value(f"{measured.code} {sign} {limit}", "truth", objects=measured.objects)

    def _choice(self, node: ast.IfExp) -> _Value:
        match node:
            case ast.IfExp(body=ast.Constant(value=str(yes)), orelse=ast.Constant(value=str(no))):
                test = self.value(node.test)
                if test.type == "truth" and yes in self.classes and no in self.classes:
                    return _Value(f"{yes!r} if {test.code} else {no!r}", "name")
        raise self._wrong("a choice is between two classes")

    def _call(self, operation: Operation, node: ast.Call) -> _Value:
        places = operation.places
        if len(node.args) != len(places):
            raise self._wrong(f"{operation.tool.name} takes {len(places)} things in their places")
        if [argument.kind for argument in places] == ["number", "number"]:
            self._alike(*node.args)
        inputs = [self._input(argument, part) for argument, part in zip(places, node.args, strict=True)]
        given = inputs + [self._keyword(operation, keyword) for keyword in node.keywords]
        code = f"{operation.tool.name}({', '.join(given)})"
        self._check_sense(operation.tool.name, given)
        if operation.returns in ("mask", "regions"):
            return _Value(self._named(code), operation.returns)
        handles = [part for argument, part in zip(places, inputs, strict=True) if argument.kind in _HANDLES]
        return _Value(code, operation.returns, operation.unit, handles[0] if handles else None)

    def _check_sense(self, name: str, given: Sequence[str]) -> None:
        """Small models like to take a part of itself, and what is near a thing and at the same time far from it."""
        if name == "share_percent" and len(given) > 1 and given[1] == f"of={given[0]}":
            raise self._wrong("a share of itself is always 100 percent")
        if len(given) > 1 and given[0] == given[1]:
            raise self._wrong(f"{name} of a thing and itself says nothing")
        if len(given) > 1 and given[1] in self._chosen_from(given[0]):
            raise self._wrong(f"{name} of a part of a thing and the whole thing says nothing")
        if name in ("beyond", "farther"):
            inner = next((code for code, step in self._names.items() if step == given[0]), "")
            close = inner.startswith(("within(", "near("))
            if close and f", {given[1]}, " in inner and inner.rpartition("=")[2] == f"{given[-1].rpartition('=')[2]})":
                raise self._wrong("nothing is within a distance of a thing and beyond the same distance of it")

    def _chosen_from(self, name: str) -> set[str]:
        """The steps that one was chosen from: all of it lies in them."""
        steps, found = {step: code for code, step in self._names.items()}, set[str]()
        while name in steps:
            tool, _, rest = steps[name].partition("(")
            name = rest.partition(",")[0].rstrip(")") if tool in operations() and operations()[tool].chooses else ""
            found |= {name} - {""}
        return found

    def _input(self, argument: Argument, node: ast.expr) -> str:
        if argument.kind == "number":
            return self._number(node).code
        if isinstance(node, ast.Constant):
            if argument.kind == "regions":
                raise self._wrong(f"{node.value!r} is pixels, not objects: write components({node.value!r})")
            return self._class(node.value)
        found = self.value(node)
        if found.type not in _HANDLES or (argument.kind != "either" and found.type != argument.kind):
            raise self._wrong(f"{ast.unparse(node)[:60]} is not {argument.kind}")
        return found.code

    def _keyword(self, operation: Operation, keyword: ast.keyword) -> str:
        fitting = [item for item in operation.arguments if item.keyword and item.short == keyword.arg]
        if not fitting:
            raise self._wrong(f"{operation.tool.name} takes no {keyword.arg}")
        value = keyword.value
        if fitting[0].kind in _HANDLES:
            return f"{fitting[0].name}={self._input(fitting[0], value)}"
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str | int):
            raise self._wrong(f"{keyword.arg} is no plain value")
        if fitting[0].kind in ("choice", "number"):
            return f"{fitting[0].name}={value.value!r}"
        for argument in fitting:
            amount = self.amounts.get(str(value.value))
            if amount is not None and amount.unit == (argument.unit or PERCENT):
                share = argument.kind == "share"
                return f"{argument.name}={_plain(amount, 100 if share else 1)}"
        raise self._wrong(f'"{value.value}" is no {keyword.arg} of the question')

    def _amount(self, said: str, unit: str) -> str:
        amount = self.amounts.get(said)
        fits = amount is not None and (amount.unit == unit or (amount.unit == "" and unit in BARE))
        if amount is None or not fits:
            raise self._wrong(f'"{said}" is nothing to compare {unit} with')
        return _plain(amount)

    def _class(self, name: object) -> str:
        if not isinstance(name, str) or name not in self.classes:
            raise self._wrong(f"{name!r} is no class of the question")
        parts = [self._named(f"segment({legend!r})") for legend in self.classes[name]]
        while len(parts) > 1:
            parts = [self._named(f"union({parts[0]}, {parts[1]})"), *parts[2:]]
        return parts[0]

    def _named(self, code: str) -> str:
        """A line of its own for every mask and region set, each written once."""
        if code not in self._names:
            self._names[code] = f"step_{len(self._names) + 1}"
            self.lines.append(f"{self._names[code]} = {code}")
        return self._names[code]

    def _wrong(self, why: str) -> ProgramRejected:
        return ProgramRejected([NOT_ONE.format(why=why)], self.text)


_ASKED = ("area", "length", "volume", "power", "share")
_HANDLES = ("mask", "regions", "either")


def _plain(amount: Amount, divisor: int = 1) -> str:
    return f"{(amount.value / divisor).normalize():f}"
