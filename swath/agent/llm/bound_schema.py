"""The rules of the bound way as a JSON Schema, for servers without GBNF grammars, and its JSON read back.

    {"tool": "count", "regions": {"tool": "near", "regions": ..., "target": "water", "distance": "max_distance=50 m"}}

The JSON stands for an expression of the same language, which the same compiler takes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from swath.agent.llm.bound_forms import Call, Choice, Form, Group, Infix, Ref, Rules, Text, Whole, reachable
from swath.agent.llm.expression import operations

Json = Mapping[str, Any]
CANNOT, EXPRESSION = "cannot", "expression"
SIGNS = ("+", "-", ">", ">=", "<", "<=", "==", "and", "or")
_PLACES = {"percent": ("part", "whole")}
_DEEPEST = 40


def schema(rules: Rules) -> dict[str, Any]:
    """A strict schema: every property is required, what may be left out is null."""
    needed = reachable(rules, "answer")  # some servers mind others
    reason = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    wanted = {"anyOf": [{"$ref": "#/$defs/answer"}, {"type": "null"}]}
    return {
        **_strict({CANNOT: reason, EXPRESSION: wanted}),
        "$defs": {name: _any([_schema(form) for form in rules[name]]) for name in needed},
    }


def _schema(form: Form) -> dict[str, Any]:
    match form:
        case Ref(rule):
            return {"$ref": f"#/$defs/{rule}"}
        case Text(values):
            return {"type": "string", "enum": list(values)}
        case Whole(values):
            return {"type": "integer", "enum": list(values)}
        case Call(tool, places, groups):
            inputs = {name: _schema(place) for name, place in places}
            return _strict({"tool": _enum(tool), **inputs, **{group.name: _group(group) for group in groups}})
        case Infix(left, signs, right, optional):
            whole = _strict(
                {"left": _schema(left), "sign": _enum(*(sign.strip() for sign in signs)), "right": _schema(right)}
            )
            return _any([_schema(left), whole]) if optional else whole
        case Choice(yes, test, no):
            return _strict({"if": _schema(test), "then": _schema(yes), "else": _schema(no)})
    raise TypeError(form)


def _group(group: Group) -> dict[str, Any]:
    """Its only argument by its own name, or one text with the name and the value of the one that is chosen."""
    first, value = group.options[0]
    if first == group.name and len(group.options) == 1:
        made = _schema(value)
    else:
        texts = [f"{name}={one}" for name, text in group.options if isinstance(text, Text) for one in text.values]
        made = _enum(*texts)
    return made if group.required else _any([made, {"type": "null"}])


def _any(options: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return dict(options[0]) if len(options) == 1 else {"anyOf": list(options)}


def _enum(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _strict(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def expression_of(value: Any, depth: int = 0) -> str:
    """The expression that JSON of the schema stands for.

    Raises:
        ValueError: it is no such JSON.
    """
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    match value:
        case bool():
            pass
        case str() | int():
            return repr(value)
        case {"left": left, "sign": sign, "right": right} if sign in SIGNS:
            return f"{expression_of(left, depth + 1)} {sign} {expression_of(right, depth + 1)}"
        case {"if": test, "then": yes, "else": no}:
            return " ".join((expression_of(yes), "if", expression_of(test, depth + 1), "else", expression_of(no)))
        case {"tool": str(tool), **given} if tool in _PLACES or tool in operations():
            return f"{tool}({', '.join(_passed(tool, {str(name): part for name, part in given.items()}, depth))})"
    raise ValueError(f"{str(value)[:60]} has no meaning there")


def _passed(tool: str, given: Json, depth: int) -> list[str]:
    places = _PLACES.get(tool) or tuple(place.short for place in operations()[tool].places)
    missing = [name for name in places if name not in given]
    if missing:
        raise ValueError(f"{tool} lacks {missing[0]}")
    said = [expression_of(given[name], depth + 1) for name in places]
    for name, value in given.items():
        if name in places or value is None:
            continue
        bound, sign, amount = value.partition("=") if isinstance(value, str) else ("", "", "")
        name, value = (bound, amount) if sign else (name, value)
        if not name.isidentifier():
            raise ValueError(f"{name[:40]!r} is no argument")
        said.append(f"{name}={expression_of(value, depth + 1)}")
    return said


def json_of(expression: str) -> Json:
    """JSON that stands for an expression, for worked examples.

    Args:
        expression: an expression of the language, or "cannot: reason".
    """
    if expression.startswith("cannot:"):
        return {CANNOT: expression.removeprefix("cannot:").strip(), EXPRESSION: None}
    return {CANNOT: None, EXPRESSION: _json(ast.parse(expression, mode="eval").body)}


def _json(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return {"left": _json(left), "sign": _SPELT[type(op)], "right": _json(right)}
        case ast.BinOp(left=left, op=op, right=right):
            return {"left": _json(left), "sign": _SPELT[type(op)], "right": _json(right)}
        case ast.Call(func=ast.Name(id=tool), args=args, keywords=keywords):
            places = _PLACES.get(tool) or tuple(place.short for place in operations()[tool].places)
            passed = {name: _json(arg) for name, arg in zip(places, args, strict=True)}
            return {"tool": tool, **passed, **dict(_keyword(tool, keyword) for keyword in keywords)}
    raise ValueError(f"{ast.unparse(node)} has no JSON")


_SPELT: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "=="
}  # fmt: skip


def _keyword(tool: str, keyword: ast.keyword) -> tuple[str, Any]:
    """An argument, in the group of its side where it is a bound."""
    name = keyword.arg or ""
    side = next((item.side for item in operations()[tool].arguments if item.short == name), "")
    value = _json(keyword.value)
    return (side, f"{name}={value}") if side else (name, value)
