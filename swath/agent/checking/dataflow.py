"""Whether what a program replies depends, by data or by control, on a measurement.

A walk over the program in the order in which it runs keeps, per name, whether its value may depend on a call of a
measuring tool. Branches are joined by "or", loops are walked until nothing changes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from swath.agent.checking.replies import is_reply
from swath.agent.checking.surface import Tools, tool_called

Names = dict[str, bool]


def depends_on_measurement(source: str, tools: Tools) -> bool:
    """Whether every reply's value depends on at least one call of a tool with `measures`.

    Args:
        source: a program that passed `check`.
        tools: what it may call.
    """
    flow = _Flow(tools)
    tree = ast.parse(source)
    flow.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    flow.block(tree.body, {}, under=False)
    return bool(flow.replies) and all(flow.replies.values())


class _Flow:
    """The walk; `replies` holds, per reply, whether its value may depend on a measurement."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.functions: dict[str, ast.FunctionDef] = {}
        self.replies: dict[int, bool] = {}
        self._open: set[str] = set()

    def block(self, body: Sequence[ast.stmt], names: Names, under: bool) -> None:
        """Walk statements; `under` says whether a measured condition decides that they run at all."""
        for statement in body:
            self._statement(statement, names, under)

    def _statement(self, node: ast.stmt, names: Names, under: bool) -> None:
        if isinstance(node, ast.If):
            self._branch(node, names, under)
        elif isinstance(node, ast.For | ast.While):
            self._loop(node, names, under)
        elif isinstance(node, ast.Try):
            self._try(node, names, under)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._assign(node, names, under)
        elif isinstance(node, ast.Expr) and is_reply(node.value):
            measured = under or self._reply_measured(node.value, names)
            self.replies[id(node)] = self.replies.get(id(node), False) or measured
        elif isinstance(node, ast.Expr):
            self._mutation(node.value, names, under)

    def _branch(self, node: ast.If, names: Names, under: bool) -> None:
        under = self._measured(node.test, names) or under
        other = dict(names)
        self.block(node.body, names, under)
        self.block(node.orelse, other, under)
        _join(names, other)

    def _loop(self, node: ast.For | ast.While, names: Names, under: bool) -> None:
        while True:
            before = dict(names)
            decides = self._measured(node.iter if isinstance(node, ast.For) else node.test, names)
            if isinstance(node, ast.For):
                _set(node.target, decides or under, names)
            inner = dict(names)
            self.block(node.body, inner, under or decides)
            _join(names, inner)
            if names == before:
                break
        self.block(node.orelse, names, under)

    def _try(self, node: ast.Try, names: Names, under: bool) -> None:
        before = dict(names)
        self.block(node.body, names, under)
        self.block(node.orelse, names, under)
        for handler in node.handlers:
            other = dict(before)
            _join(other, names)
            self.block(handler.body, other, under)
            _join(names, other)
        self.block(node.finalbody, names, under)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, names: Names, under: bool) -> None:
        if node.value is None:
            return
        measured = under or self._measured(node.value, names)
        if isinstance(node, ast.AugAssign):
            measured = measured or self._measured(node.target, names)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for part, value in zip(target.elts, node.value.elts, strict=False):
                    _set(part, under or self._measured(value, names), names)
            else:
                _set(target, measured, names)

    def _mutation(self, node: ast.expr, names: Names, under: bool) -> None:
        """`values.append(count(x))` makes `values` depend on the count."""
        self._measured(node, names)  # it may hold a `name := value`
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if under or any(self._measured(value, names) for value in given):
                _set(node.func.value, True, names)

    def _reply_measured(self, node: ast.expr, names: Names) -> bool:
        if not isinstance(node, ast.Call):
            return False
        value = next((k.value for k in node.keywords if k.arg == "value"), node.args[0] if node.args else None)
        return value is not None and self._measured(value, names)

    def _measured(self, node: ast.AST, names: Names) -> bool:
        """Whether any part of an expression may depend on a measurement."""
        tool = tool_called(node, self.tools)
        if tool is not None and tool.measures:
            return True
        if isinstance(node, ast.Name):
            return names.get(node.id, False)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node, names)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and self._function_measures(node.func.id):
            return True
        if isinstance(node, ast.NamedExpr):
            names[node.target.id] = self._measured(node.value, names)
        return any(self._measured(child, names) for child in ast.iter_child_nodes(node))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, names: Names) -> bool:
        inner = dict(names)
        measured = False
        for part in node.generators:
            source = self._measured(part.iter, inner)
            _set(part.target, source, inner)
            measured = measured or source or any(self._measured(test, inner) for test in part.ifs)
        items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return measured or any(self._measured(item, inner) for item in items)

    def _function_measures(self, name: str) -> bool:
        """Whether a function of the program calls a measuring tool itself; its arguments are the caller's matter."""
        function = self.functions.get(name)
        if function is None or name in self._open:
            return False
        self._open.add(name)
        try:
            return any(self._measured(statement, {}) for statement in function.body)
        finally:
            self._open.discard(name)


def _set(target: ast.AST, measured: bool, names: Names) -> None:
    """Give a target its mark; part of a list or dict can only add to the mark of the whole."""
    if isinstance(target, ast.Name):
        names[target.id] = measured
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            _set(part, measured, names)
    elif isinstance(target, ast.Starred | ast.Subscript | ast.Attribute):
        held = target.value
        if isinstance(held, ast.Name):
            names[held.id] = names.get(held.id, False) or measured
        elif measured:
            _set(held, measured, names)


def _join(names: Names, other: Names) -> None:
    for name, measured in other.items():
        names[name] = names.get(name, False) or measured
