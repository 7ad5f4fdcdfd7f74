"""Tools are typed functions; their schema, checker stub and docs page are derived from them here."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from swath.errors import Refused, ToolError
from swath.raster.held import WholeImageNeeded
from swath.tools.adjusted import check_adjusting
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site

GROUP = "swath.tools"
"""Entry-point group: each entry names a module whose functions marked with `@tool` become tools."""

OPERANDS = ("a", "b", "value")
"""Plain numbers of arithmetic: they may be passed by position and may be negative."""

UNIT_SUFFIXES = ("_m", "_m2", "_m3", "_px", "_km2", "_deg", "_percent", "_kw", "_w_per_m2")
_MEASURE_WORDS = ("distance", "area", "length", "height", "perimeter", "size", "radius")
_MARK, _SIGNED = "__swath_tool__", "__swath_signed__"
Function = TypeVar("Function", bound=Callable[..., Any])


class MalformedTool(TypeError):
    """A function cannot be a tool as it is written; raised when it is registered, never when it is called."""


@dataclass(frozen=True)
class Tool:
    """A function that a program may call.

    Attributes:
        name: its name in programs.
        function: takes the `Site` first, then what the program passes.
        signature: what a program may pass, annotations resolved to types, without the site.
        measures: whether its result is a measurement of the image (as opposed to a selection or a conversion).
        family: name of the entry point that registers it ("regions", "proximity" ...).
        summary: first line of its docstring.
        details: the rest of its docstring.
        signed: names of numbers that may be negative.
    """

    name: str
    function: Callable[..., Any]
    signature: inspect.Signature
    measures: bool
    family: str
    summary: str
    details: str
    signed: tuple[str, ...] = OPERANDS

    def call(self, site: Site, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Check the arguments and call the function.

        Raises:
            ToolError: an argument is missing, unknown, of the wrong type or out of range; the hint names it.
            Refused: it cannot be measured from this image.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ToolError(f"{self.name}: {error}. It is {self.stub}.") from None
        for name, value in bound.arguments.items():
            self._check(name, value)
        check_adjusting(site, self.name)
        try:
            return self.function(site, *bound.args, **bound.kwargs)
        except WholeImageNeeded as why:
            raise Refused(f"{self.name} cannot be measured here: {why}") from None

    def _check(self, name: str, value: Any) -> None:
        annotation = self.signature.parameters[name].annotation
        if not _fits(value, annotation):
            raise ToolError(f"{self.name}: {name} must be {describe(annotation)}, not {_shown(value)}.")
        signed = name in self.signed
        if isinstance(value, int | float) and not isinstance(value, bool) and not _in_range(value, signed):
            range_ = "a finite number" if signed else "a finite number that is not negative"
            raise ToolError(f"{self.name}: {name} must be {range_}, not {value}.")

    @property
    def stub(self) -> str:
        """The tool as one line of Python: `near(regions: Regions, target: Mask | Regions, *, ...) -> Regions`."""
        parts: list[str] = []
        for parameter in self.signature.parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
            parts.append(f"{parameter.name}: {describe(parameter.annotation)}{default}")
        return f"{self.name}({', '.join(parts)}) -> {describe(self.signature.return_annotation)}"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments; handles are strings such as "#3"."""
        parameters = self.signature.parameters.values()
        return {
            "name": self.name,
            "description": self.summary,
            "parameters": {
                "type": "object",
                "properties": {p.name: _json_schema(p.annotation) for p in parameters},
                "required": [p.name for p in parameters if p.default is p.empty],
                "additionalProperties": False,
            },
            "returns": _json_schema(self.signature.return_annotation),
        }


def tool(*, measures: bool = False, signed: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Mark a function as a tool; it becomes one when the module's entry point is read.

    Args:
        measures: whether its result is a measurement of the image.
        signed: names of numbers that may be negative, such as elevations and longitudes; `OPERANDS` always may.
    """

    def mark(function: Function) -> Function:
        setattr(function, _MARK, measures)
        setattr(function, _SIGNED, signed)
        return function

    return mark


def make_tool(function: Callable[..., Any], family: str | None = None) -> Tool:
    """A `Tool` from a marked function.

    Args:
        function: typed, with a docstring.
        family: what it belongs to; its module if left out.

    Raises:
        MalformedTool: no docstring, a missing annotation, a first parameter that is not the site, a number that can be
            passed by position, or a length or area without its unit in the argument's name.
    """
    name = function.__name__
    lines = inspect.cleandoc(function.__doc__ or "").split("\n", 1)
    if not lines[0]:
        raise MalformedTool(f"Tool {name} has no docstring; its first line is what planners and people read.")
    hints = typing.get_type_hints(function)
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or hints.get(parameters[0].name) is not Site:
        raise MalformedTool(f"Tool {name} must take `site: Site` as its first parameter.")
    resolved = [_resolved(name, parameter, hints) for parameter in parameters[1:]]
    if "return" not in hints:
        raise MalformedTool(f"Tool {name} does not say what it returns.")
    signature = inspect.Signature(resolved, return_annotation=hints["return"])
    family = family or function.__module__.rpartition(".")[2]
    details = _without_site(lines[1]) if len(lines) > 1 else ""
    signed = (*OPERANDS, *getattr(function, _SIGNED, ()))
    return Tool(name, function, signature, getattr(function, _MARK, False), family, lines[0], details, signed)


def _without_site(details: str) -> str:
    """A docstring's details without the argument that programs never see."""
    kept = [line for line in details.strip().split("\n") if not line.startswith("    site: ")]
    if "Args:" in kept and not any(line.startswith("    ") for line in kept[kept.index("Args:") + 1 :][:1]):
        kept.remove("Args:")
    return "\n".join(kept).strip()


def _resolved(tool_name: str, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> inspect.Parameter:
    name = parameter.name
    if name not in hints:
        raise MalformedTool(f"Tool {tool_name}: parameter {name} has no type.")
    annotation = hints[name]
    numeric = any(part in (int, float) for part in _alternatives(annotation))
    if numeric and parameter.kind is not parameter.KEYWORD_ONLY and name not in OPERANDS:
        raise MalformedTool(f"Tool {tool_name}: number {name} must be keyword-only.")
    if numeric and any(word in name for word in _MEASURE_WORDS) and not name.endswith(UNIT_SUFFIXES):
        raise MalformedTool(f"Tool {tool_name}: {name} must end in its unit, one of {', '.join(UNIT_SUFFIXES)}.")
    return parameter.replace(annotation=annotation)


@lru_cache(maxsize=1)
def tools() -> Mapping[str, Tool]:
    """Every registered tool by name, in the order of families and files.

    Raises:
        MalformedTool: a registered function cannot be a tool, or two share a name.
    """
    found: dict[str, Tool] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        for item in vars(entry.load()).values():
            if not (callable(item) and hasattr(item, _MARK)):
                continue
            made = make_tool(item, entry.name)
            if made.name in found:
                raise MalformedTool(f"Two tools are called {made.name}: rename the one in {item.__module__}.")
            found[made.name] = made
    return types.MappingProxyType(found)


def describe(annotation: Any) -> str:
    """A type as a program's author would write it."""
    if get_origin(annotation) is Literal:
        return "Literal[" + ", ".join(repr(value) for value in get_args(annotation)) + "]"
    if get_origin(annotation) in (Union, types.UnionType):
        return " | ".join(describe(part) for part in get_args(annotation))
    if get_origin(annotation) is list:
        return f"list[{describe(get_args(annotation)[0])}]"
    if annotation is type(None):
        return "None"
    return getattr(annotation, "__name__", str(annotation))


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _fits(value: Any, annotation: Any) -> bool:
    for part in _alternatives(annotation):
        if part is Any:
            return True
        if get_origin(part) is Literal:
            if value in get_args(part):
                return True
        elif get_origin(part) is list:
            if isinstance(value, list) and all(_fits(item, get_args(part)[0]) for item in value):
                return True
        elif part in (int, float):
            if isinstance(value, (int, float) if part is float else int) and not isinstance(value, bool):
                return True
        elif isinstance(value, part):
            return True
    return False


def _in_range(value: float, signed: bool) -> bool:
    finite = value == value and abs(value) != float("inf")
    return finite and (value >= 0 or signed)


def _shown(value: Any) -> str:
    if isinstance(value, Mask | Regions):
        return f"{type(value).__name__} ({value.name})"
    return f"{type(value).__name__} {str(value)[:40]!r}"


def _json_schema(annotation: Any) -> dict[str, Any]:
    alternatives = _alternatives(annotation)
    if len(alternatives) > 1:
        return {"anyOf": [_json_schema(part) for part in alternatives]}
    if get_origin(annotation) is Literal:
        return {"enum": list(get_args(annotation))}
    if get_origin(annotation) is list:
        return {"type": "array", "items": _json_schema(get_args(annotation)[0])}
    plain = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
    if annotation in plain:
        return {"type": plain[annotation]}
    return {"type": "string", "pattern": "^#[0-9]+$", "description": describe(annotation)}
