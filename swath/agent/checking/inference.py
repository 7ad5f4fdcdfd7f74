"""What kind of value an expression has, as far as its text tells.

A type is a set of possible parts: `int`, `float`, `str`, `bool`, `NoneType`, `dict`, a handle's class, or `Listed`.
None means that nothing is known. Names are pooled over the whole program, which can only widen a type: a mismatch is
reported where no part of a type fits, so what is reported is certain.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from swath.agent.checking.surface import Tools, tool_called


@dataclass(frozen=True)
class Listed:
    """A list, tuple, set or range of items of one type."""

    items: frozenset[Any] | None


Parts = frozenset[Any] | None

NOTHING: frozenset[Any] = frozenset()
NUMBER: frozenset[Any] = frozenset({int, float})
PLAIN = (int, float, str, bool, dict, type(None))
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "a truth value",
    type(None): "None",
    dict: "a dict",
}
_RETURNS: dict[str, frozenset[Any]] = {
    "len": frozenset({int}),
    "int": frozenset({int}),
    "float": frozenset({float}),
    "str": frozenset({str}),
    "repr": frozenset({str}),
    "bool": frozenset({bool}),
    "any": frozenset({bool}),
    "all": frozenset({bool}),
    "isinstance": frozenset({bool}),
    "round": NUMBER,
    "abs": NUMBER,
    "sum": NUMBER,
    "range": frozenset({Listed(frozenset({int}))}),
}


def parts_of(annotation: Any) -> Parts:
    """The type that an annotation stands for."""
    if get_origin(annotation) in (Union, types.UnionType):
        return joined(*(parts_of(part) for part in get_args(annotation)))
    if get_origin(annotation) is Literal:
        return frozenset(type(value) for value in get_args(annotation))
    if get_origin(annotation) in (list, tuple, set):
        return frozenset({Listed(parts_of(get_args(annotation)[0]))})
    if annotation is None:
        return frozenset({type(None)})
    if not isinstance(annotation, type) or annotation in (Any, object, list, tuple, set):
        return None
    return frozenset({annotation})


def joined(*types_: Parts) -> Parts:
    """The type of a value that has one of several types."""
    known = [part for part in types_ if part is not None]
    return frozenset().union(*known) if len(known) == len(types_) else None


def fits(found: Parts, wanted: Any) -> bool:
    """Whether a value of a type may be passed where an annotation stands; unknown fits anywhere."""
    allowed = parts_of(wanted)
    if found is None or allowed is None or not found:
        return True
    return any(_part_fits(part, accepted) for part in found for accepted in allowed)


def _part_fits(part: Any, accepted: Any) -> bool:
    if isinstance(part, Listed) or isinstance(accepted, Listed):
        if not (isinstance(part, Listed) and isinstance(accepted, Listed)):
            return False
        if not part.items or not accepted.items:
            return True
        return any(_part_fits(item, other) for item in part.items for other in accepted.items)
    if accepted is float:
        return part in (int, float)
    return (
        isinstance(part, type)
        and isinstance(accepted, type)
        and (part is accepted or (accepted not in PLAIN and issubclass(part, accepted)))
    )


def handles_in(found: Parts) -> list[type]:
    """The handle classes, if a value can only be a handle; else none."""
    if not found or any(isinstance(part, Listed) or part in PLAIN for part in found):
        return []
    return sorted(found, key=lambda part: str(part.__name__))


def described(found: Parts) -> str:
    """A type in words."""
    parts = set(found or ())
    if float in parts:
        parts.discard(int)
    names = {_WORDS.get(part, "a list" if isinstance(part, Listed) else _named(part)) for part in parts}
    return " or ".join(sorted(names)) or "unknown"


def _named(part: object) -> str:
    name = str(getattr(part, "__name__", part)).lower()
    return name if name.endswith("s") else f"a {name}"


class Inference:
    """Types of a program's expressions."""

    def __init__(self, tree: ast.Module, tools: Tools) -> None:
        self._tools = tools
        self._bound: dict[str, list[ast.expr | Parts]] = {}
        self._known: dict[str, Parts] = {}
        self._open: set[str] = set()
        for node in ast.walk(tree):
            self._collect(node)

    def of(self, node: ast.expr) -> Parts:
        """The type of an expression, None if it cannot be told."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        return method(node) if method else None

    def _collect(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            left = ast.Name(node.target.id, ast.Load())
            self._bind(node.target, ast.BinOp(left, node.op, node.value))
        elif isinstance(node, ast.For | ast.comprehension):
            self._bind_items(node.target, node.iter)
        elif isinstance(node, ast.arg):
            self._bound.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.FunctionDef | ast.ExceptHandler) and node.name:
            self._bound.setdefault(node.name, []).append(None)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bound.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            if len(values) == len(target.elts):
                for part, item in zip(target.elts, values, strict=True):
                    self._bind(part, item)
            else:
                self._forget(target)

    def _bind_items(self, target: ast.expr, source: ast.expr) -> None:
        """Bind a loop's target to the items of what it goes through."""
        pairs = _paired(source)
        if isinstance(target, ast.Tuple | ast.List):
            for i, part in enumerate(target.elts):
                known = pairs[i] if i < len(pairs) else None
                if known is None:
                    self._forget(part)
                else:
                    self._bind_items(part, known)
        elif isinstance(target, ast.Name):
            item = ast.Subscript(source, ast.Constant(0), ast.Load())
            self._bound.setdefault(target.id, []).append(None if pairs else item)

    def _forget(self, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._bound.setdefault(node.id, []).append(None)

    # One method per kind of expression, found by its class's name.

    def _name(self, node: ast.Name) -> Parts:
        if node.id in self._known:
            return self._known[node.id]
        if node.id not in self._bound:
            return None
        if node.id in self._open:
            return NOTHING
        self._open.add(node.id)
        found = joined(
            *(value if not isinstance(value, ast.expr) else self.of(value) for value in self._bound[node.id])
        )
        self._open.discard(node.id)
        if not self._open:
            self._known[node.id] = found
        return found

    def _constant(self, node: ast.Constant) -> Parts:
        return frozenset({type(node.value)}) if isinstance(node.value, PLAIN) else None

    def _call(self, node: ast.Call) -> Parts:
        tool = tool_called(node, self._tools)
        if tool is not None:
            return parts_of(tool.signature.return_annotation)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("sorted", "list", "reversed", "tuple", "set") and node.args:
            return frozenset({Listed(self._items(node.args[0]))})
        if name in ("max", "min") and len(node.args) == 1 and not node.keywords:
            return self._items(node.args[0])
        return None if name in self._bound else _RETURNS.get(name)

    def _items(self, node: ast.expr) -> Parts:
        found = self.of(node)
        if not found:
            return found
        return joined(*(part.items if isinstance(part, Listed) else None for part in found))

    def _binop(self, node: ast.BinOp) -> Parts:
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None:
            return None
        if left | right <= NUMBER | {bool}:
            return frozenset({float}) if isinstance(node.op, ast.Div) else NUMBER
        return left if left == right and left <= {str} else None

    def _unaryop(self, node: ast.UnaryOp) -> Parts:
        return frozenset({bool}) if isinstance(node.op, ast.Not) else self.of(node.operand)

    def _compare(self, node: ast.Compare) -> Parts:
        return frozenset({bool})

    def _boolop(self, node: ast.BoolOp) -> Parts:
        return joined(*map(self.of, node.values))

    def _ifexp(self, node: ast.IfExp) -> Parts:
        return joined(self.of(node.body), self.of(node.orelse))

    def _joinedstr(self, node: ast.JoinedStr) -> Parts:
        return frozenset({str})

    def _namedexpr(self, node: ast.NamedExpr) -> Parts:
        return self.of(node.value)

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Parts:
        return frozenset({Listed(joined(*map(self.of, node.elts)))})

    _tuple = _list
    _set = _list

    def _dict(self, node: ast.Dict) -> Parts:
        return frozenset({dict})

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Parts:
        return frozenset({Listed(self.of(node.elt))})

    _generatorexp = _listcomp
    _setcomp = _listcomp

    def _subscript(self, node: ast.Subscript) -> Parts:
        return self.of(node.value) if isinstance(node.slice, ast.Slice) else self._items(node.value)


def _paired(source: ast.expr) -> list[ast.expr]:
    """What enumerate() or zip() goes through side by side, else nothing."""
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.args:
        if source.func.id == "zip":
            return source.args
        if source.func.id == "enumerate":
            return [ast.Call(ast.Name("range", ast.Load()), [], []), source.args[0]]
    return []
