"""Which parts of Python a program may use, and which names exist."""

from __future__ import annotations

import ast

from swath.agent.checking.inference import Inference, Listed, handles_in
from swath.agent.checking.surface import Faults, Tools, did_you_mean, tool_called

BUILTINS = frozenset({
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "frozenset", "int", "isinstance", "len",
    "list", "max", "min", "pow", "print", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum",
    "tuple", "zip", "filter", "map", "Exception", "ValueError", "TypeError", "KeyError", "IndexError",
    "ZeroDivisionError", "ArithmeticError", "OverflowError", "RuntimeError",
})  # fmt: skip
METHODS = frozenset({
    "append", "extend", "insert", "pop", "remove", "sort", "reverse", "index", "join", "split", "strip", "lstrip",
    "rstrip", "lower", "upper", "title", "capitalize", "replace", "startswith", "endswith", "items", "keys",
    "values", "get", "add", "update", "setdefault", "copy", "union", "intersection", "difference",
    "isdigit",
})  # fmt: skip
STATEMENTS = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Expr,
    ast.If,
    ast.For,
    ast.While,
    ast.Break,
    ast.Continue,
    ast.Pass,
    ast.FunctionDef,
    ast.Return,
    ast.Try,
    ast.Raise,
    ast.Assert,
)
REFUSED: dict[type[ast.AST], str] = {
    ast.Import: "import is not available: use the tools and plain Python",
    ast.ImportFrom: "import is not available: use the tools and plain Python",
    ast.ClassDef: "class is not available: use assignments, lists and functions",
    ast.Delete: "del is not available and not needed: leave it out",
    ast.With: "with is not available: there is nothing to open here",
    ast.AsyncWith: "async is not available: call tools directly",
    ast.AsyncFor: "async is not available: call tools directly",
    ast.AsyncFunctionDef: "async is not available: call tools directly",
    ast.Await: "await is not available: call tools directly",
    ast.Global: "global is not available: give the value to a function and return it",
    ast.Nonlocal: "nonlocal is not available: give the value to a function and return it",
    ast.Yield: "yield is not available: build a list with a comprehension",
    ast.YieldFrom: "yield is not available: build a list with a comprehension",
    ast.Match: "match is not available: use if and elif",
}
UNAVAILABLE = frozenset({
    "exec", "eval", "compile", "open", "input", "globals", "locals", "vars", "dir", "getattr", "setattr", "delattr",
    "hasattr", "breakpoint", "exit", "quit", "help", "memoryview", "object", "super", "type", "id", "hash",
    "callable", "classmethod", "staticmethod", "property",
})  # fmt: skip
_OPERATORS: dict[type[ast.AST], str] = {
    ast.BitAnd: "intersection",
    ast.BitOr: "union",
    ast.Sub: "difference",
    ast.Invert: "complement",
}


def check_constructs(tree: ast.Module, tools: Tools, inference: Inference, faults: Faults) -> None:
    """Note every construct, name, attribute and use of a handle that the sandbox or the tools would not take."""
    known = _bound_names(tree, tools, faults) | BUILTINS
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        _check_kind(node, faults)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            _check_name(node, known, id(node) in called, tools, faults)
        elif isinstance(node, ast.Attribute):
            _check_attribute(node, tools, inference, faults)
        elif isinstance(node, ast.Lambda):
            _check_lambda(node, tools, faults)
        else:
            _check_handle_use(node, tools, inference, faults)


def _check_kind(node: ast.AST, faults: Faults) -> None:
    if type(node) in REFUSED:
        faults.add(node, f"{REFUSED[type(node)]}.")
    elif isinstance(node, ast.stmt) and not isinstance(node, STATEMENTS):
        faults.add(node, f"{type(node).__name__} is not available: use assignments, loops, conditions and tool calls.")
    elif isinstance(node, ast.FunctionDef) and node.decorator_list:
        faults.add(node, "decorators are not available: write a plain function.")


def _bound_names(tree: ast.Module, tools: Tools, faults: Faults) -> set[str]:
    """Every name that the program gives a value to; tools must keep theirs."""
    names: set[str] = set()
    for node in ast.walk(tree):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.ExceptHandler):
            name = node.name
        if name is None:
            continue
        names.add(name)
        if name in tools:
            taken = f"{name} is a tool and cannot be given another meaning: use another name, such as {name}_value"
            usage = f"{name}({', '.join(tools[name].signature.parameters)})"
            faults.add(node, f"{taken}, wherever this value is used; {usage} stays the call.")
        elif not name.isascii() or name.startswith("__"):
            faults.add(node, f"{name!a} cannot be a name here: use plain letters, digits and single underscores.")
    return names


def _check_name(node: ast.Name, known: set[str] | frozenset[str], called: bool, tools: Tools, faults: Faults) -> None:
    name = node.id
    if name in tools:
        if not called:
            faults.add(
                node,
                f"the tool {name} can only be called by its name, not passed on: collect values with a comprehension.",
            )
    elif name in UNAVAILABLE and name not in known:
        faults.add(node, f"{name} is not available: use the tools and plain Python.")
    elif name not in known:
        where = did_you_mean(name, sorted(tools) + sorted(known - BUILTINS) + sorted(BUILTINS))
        kind = "tool or function" if called else "name"
        faults.add(node, f"there is no {kind} {name if name.isascii() else ascii(name)}{where or '.'}")


def _check_attribute(node: ast.Attribute, tools: Tools, inference: Inference, faults: Faults) -> None:
    name = node.attr
    handles = handles_in(inference.of(node.value))
    if name.startswith("_"):
        faults.add(node, f"{name} cannot be reached: attributes that start with an underscore are not available.")
    elif handles:
        near = name if name in tools else ""
        how = f"write {near}(...)" if near else "pass it to a tool, such as area_m2(mask) or count(regions)"
        faults.add(node, f"a {handles[0].__name__} has no attributes ({name}): {how}.")
    elif name == "format":
        faults.add(node, 'format is not available: use an f-string such as f"{value:.1f}".')
    elif name not in METHODS:
        faults.add(node, f"there is no attribute {name} here: masks and regions have none, pass them to tools.")


def _check_lambda(node: ast.Lambda, tools: Tools, faults: Faults) -> None:
    for inner in ast.walk(node.body):
        tool = tool_called(inner, tools)
        if tool:
            faults.add(
                node, f"{tool.name} cannot be called inside a lambda: collect its values first with a comprehension."
            )


def _check_handle_use(node: ast.AST, tools: Tools, inference: Inference, faults: Faults) -> None:
    """Arithmetic, comparison, len() and loops over a handle: each has a tool of its own."""
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        handles = [name for operand in operands for name in handles_in(inference.of(operand))]
        if handles and not isinstance(node.op, ast.Not):
            tool = _OPERATORS.get(type(node.op), "")
            how = f"use {tool}(...)" if tool in tools else "measure it first, with area_m2 or count"
            faults.add(node, f"a {handles[0].__name__} cannot be calculated with: {how}.")
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        for operand in (node.left, *node.comparators):
            for handle in handles_in(inference.of(operand)):
                faults.add(node, f"a {handle.__name__} is not a number: measure it first, with area_m2 or count.")
    elif isinstance(node, ast.For | ast.comprehension):
        _check_iterated(node.iter, "go through regions with each(regions)", inference, faults)
    elif isinstance(node, ast.Subscript):
        _check_iterated(node.value, "single regions come from largest(regions), nth_largest or each", inference, faults)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        _check_iterated(node.args[0], "the number of regions is count(regions)", inference, faults)


def _check_iterated(node: ast.expr, how: str, inference: Inference, faults: Faults) -> None:
    found = inference.of(node)
    for handle in handles_in(found):
        faults.add(node, f"a {handle.__name__} is not a list: {how}.")
    if found and not any(isinstance(part, Listed) or part in (str, dict) for part in found) and not handles_in(found):
        faults.add(node, "this is a single value, not a list.")
