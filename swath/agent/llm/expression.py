"""The expression language of the bound way: the tools' own names, with classes and quantities as texts.

    count(near(components("building", larger_than="0.1 ha"), "water", max_distance="50 m"))

It is derived from the tool registry: a text where a mask is wanted is a class; an argument with a unit in its name
loses it and takes a quantity of the question; tools that take or return lists are left out.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from swath.agent.execution import surface
from swath.agent.offline.amounts import units
from swath.agent.offline.meaning import Amount
from swath.tools.handles import Mask, Regions
from swath.tools.registry import Tool

Type = Literal["mask", "regions", "either", "number", "name"]

LEFT_OUT = ("reply", "convert", "segment", "filter_regions", "sort_by_area")
"""Tools that the compiler calls by itself, and such as say nothing that `components` and `largest` do not."""

DIMENSIONS = {"_m2": "m2", "_m": "m", "_px": "px", "_deg": "deg"}
"""Ending of an argument to the unit of the quantities that it takes."""

SIDES = {"larger_than": "low", "min": "low", "smaller_than": "high", "max": "high"}
"""Beginning of a bound's name to the end of a range that it sets."""

SHARES = ("efficiency",)
"""Arguments that take a percentage as a share of one."""

BARE = ("count", "ratio")
"""Units of numbers that bare numbers of the question are compared with."""


@dataclass(frozen=True)
class Argument:
    """An argument of a tool as the expression language has it.

    Attributes:
        name: the tool's own name of it.
        short: without its unit.
        kind: "mask", "regions" or "either"; "number" for n; "choice"; "bound" for a quantity; "share".
        unit: "m", "m2", "px" or "deg" for a bound.
        choices: texts of a choice.
        required: whether it has to be given.
        keyword: whether it is passed by name.
    """

    name: str
    short: str
    kind: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    required: bool = True
    keyword: bool = False

    @property
    def side(self) -> str:
        """The end of a range that a bound sets, "low" or "high"; "" for anything else."""
        if self.kind != "bound" or self.required:
            return ""
        return next((side for beginning, side in SIDES.items() if self.short.startswith(beginning)), "")


@dataclass(frozen=True)
class Operation:
    """A tool as the expression language has it.

    Attributes:
        tool: the tool.
        returns: what it gives.
        arguments: what it takes, in order.
    """

    tool: Tool
    returns: Type
    arguments: tuple[Argument, ...]

    @property
    def places(self) -> tuple[Argument, ...]:
        """What is passed without its name, things that a tool may do without included."""
        return tuple(argument for argument in self.arguments if not argument.keyword)

    @property
    def chooses(self) -> bool:
        """Whether what it gives lies in the first thing that it takes, whole objects or parts of it."""
        kinds = [argument.kind for argument in self.places]
        return (
            bool(kinds) and (self.returns == "regions" or self.tool.family == "proximity") and self.tool.name != "merge"
        )

    @property
    def needs_bound(self) -> bool:
        """Whether it does nothing without one: it chooses from what it is given, or from the whole image."""
        kinds = [argument.kind for argument in self.places]
        chooses = self.returns in ("mask", "regions") and (not kinds or kinds[0] in (self.returns, "either"))
        return chooses and any(argument.side for argument in self.arguments)

    @property
    def unit(self) -> str:
        """Unit of the number that it gives, by the ending of its name."""
        name = self.tool.name
        endings = {"_m2": "m2", "_m3": "m3", "_m": "m", "_px": "px", "_percent": "percent", "_kw": "kW", "_deg": "deg",
                   "_per_km2": "per km2"}  # fmt: skip
        longest = max((ending for ending in endings if name.endswith(ending)), key=len, default=None)
        if longest is not None:
            return endings[longest]
        return "count" if "count" in name else "ratio"


@lru_cache(maxsize=1)
def operations() -> Mapping[str, Operation]:
    """Every tool that fits into an expression, by name."""
    found = {name: _operation(tool) for name, tool in surface().items() if name not in LEFT_OUT}
    return types.MappingProxyType({name: made for name, made in found.items() if made is not None})


def label(amount: Amount) -> str:
    """A quantity as expressions spell it: "0.1 ha", "50 m", "30 percent", "15 deg", "3"."""
    if not amount.key:
        return f"{amount.value.normalize():f} {amount.unit}".rstrip()
    return f"{(amount.value / units()[amount.key].size).normalize():f} {amount.key}"


def _operation(tool: Tool) -> Operation | None:
    returns = _type(tool.signature.return_annotation)
    made = [_argument(parameter) for parameter in tool.signature.parameters.values()]
    arguments = [argument for argument in made if argument is not None]
    lacking = any(
        argument is None and parameter.default is parameter.empty
        for argument, parameter in zip(made, tool.signature.parameters.values(), strict=True)
    )
    return None if returns is None or lacking else Operation(tool, returns, tuple(arguments))


def _type(annotation: Any) -> Type | None:
    parts = {part for part in _parts(annotation) if part is not type(None)}
    if parts == {Mask, Regions}:
        return "either"
    simple: dict[Any, Type] = {Mask: "mask", Regions: "regions", int: "number", float: "number", str: "name"}
    return simple.get(next(iter(parts))) if len(parts) == 1 else None


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _argument(parameter: inspect.Parameter) -> Argument | None:
    name, annotation = parameter.name, parameter.annotation
    common: dict[str, Any] = {
        "required": parameter.default is parameter.empty,
        "keyword": parameter.kind is parameter.KEYWORD_ONLY,
    }
    if get_origin(annotation) is Literal:
        choices = tuple(value for value in get_args(annotation) if isinstance(value, str))
        return Argument(name, name, "choice", choices=choices, **common) if choices else None
    kind = _type(annotation)
    if kind in ("mask", "regions", "either"):
        return Argument(name, name, kind, **common)
    if kind != "number":
        return None
    for ending, unit in DIMENSIONS.items():
        if name.endswith(ending) and not name.endswith("_per" + ending):
            return Argument(name, name.removesuffix(ending), "bound", unit, **common)
    if name in SHARES:
        return Argument(name, name, "share", **common)
    return Argument(name, name, "number", **common) if name in ("n", "a", "b") else None
