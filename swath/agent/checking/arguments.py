"""Holds every call of a tool against the tool's signature: names, units, types, allowed values, bounds."""

from __future__ import annotations

import ast
import difflib
import inspect
from typing import Any, Literal, get_args, get_origin

from swath.agent.checking.inference import Inference, Listed, Parts, described, fits, handles_in, parts_of
from swath.agent.checking.surface import Faults, ToolLike, Tools, did_you_mean, quoted, tool_called

# What one of a unit is in the unit of the same dimension that tools take.
TO_M2 = {
    "m2": 1.0,
    "sqm": 1.0,
    "ha": 1e4,
    "hectare": 1e4,
    "hectares": 1e4,
    "km2": 1e6,
    "sqkm": 1e6,
    "acre": 4046.8564224,
    "acres": 4046.8564224,
    "sqft": 0.09290304,
    "ft2": 0.09290304,
    "sqyd": 0.83612736,
    "sqmi": 2589988.110336,
}
TO_M = {
    "m": 1.0,
    "meters": 1.0,
    "metres": 1.0,
    "km": 1e3,
    "cm": 0.01,
    "ft": 0.3048,
    "feet": 0.3048,
    "yd": 0.9144,
    "yards": 0.9144,
    "mi": 1609.344,
    "miles": 1609.344,
}
UNITS: tuple[tuple[str, str, dict[str, float]], ...] = (("m2", "areas", TO_M2), ("m", "lengths", TO_M))
PIXELS = ("px", "pixel", "pixels")
LOWER, UPPER = ("larger_than", "min"), ("smaller_than", "max")
_SAID_AS = {
    "larger_than": ("greater_than", "more_than", "bigger_than", "over", "above", "gt", "exceeding", "larger"),
    "smaller_than": ("less_than", "fewer_than", "under", "below", "lt", "smaller"),
    "min": ("at_least", "minimum", "gte", "from", "min_area", "min_size"),
    "max": ("at_most", "maximum", "lte", "up_to", "max_area", "max_size"),
    "max_distance": ("within", "distance", "radius", "buffer", "dist", "max_dist", "threshold", "max"),
    "min_distance": ("min_dist", "beyond", "farther_than", "further_than", "min"),
}


def check_arguments(tree: ast.Module, tools: Tools, inference: Inference, faults: Faults) -> None:
    """Note every argument that a tool would not take."""
    for node in ast.walk(tree):
        tool = tool_called(node, tools)
        if tool is not None and isinstance(node, ast.Call):
            _Checked(node, tool, tools, inference, faults).check()


class _Checked:
    """One call of a tool."""

    def __init__(self, call: ast.Call, tool: ToolLike, tools: Tools, inference: Inference, faults: Faults) -> None:
        self.call = call
        self.tool = tool
        self.tools = tools
        self.inference = inference
        self.faults = faults
        self.parameters = tool.signature.parameters
        self.by_position = [p.name for p in self.parameters.values() if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        self.given: dict[str, ast.expr] = {}

    def check(self) -> None:
        """Bind the arguments, then look at each."""
        if any(isinstance(arg, ast.Starred) for arg in self.call.args) or any(
            k.arg is None for k in self.call.keywords
        ):
            self._fault("write the arguments of {tool} out, without * and **.")
            return
        self._bind_positional()
        unknown = self._bind_keywords()
        missing = [p.name for p in self.parameters.values() if p.default is p.empty and p.name not in self.given]
        if missing and not unknown:
            self._fault(f"{{tool}} also needs {' and '.join(missing)}: {self._usage()}.")
        for name, value in self.given.items():
            self._check_value(name, value)
        self._check_bounds()

    def _fault(self, sentence: str, node: ast.AST | None = None) -> None:
        self.faults.add(node or self.call, sentence.replace("{tool}", self.tool.name))

    def _usage(self) -> str:
        parts = list(self.by_position)
        named = [p for p in self.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        parts += [f"{p.name}=..." for p in named if p.default is p.empty]
        parts += ["..."] if any(p.default is not p.empty for p in named) else []
        return f"{self.tool.name}({', '.join(parts)})"

    def _bind_positional(self) -> None:
        for name, value in zip(self.by_position, self.call.args, strict=False):
            self.given[name] = value
        extra = self.call.args[len(self.by_position) :]
        named = [name for name in self.parameters if name not in self.by_position]
        if extra and named:
            self._fault(
                f"{{tool}} takes {_counted(len(self.by_position))} by position; name the others: {', '.join(named)}."
            )
        elif extra:
            self._fault(
                f"{{tool}} takes {_counted(len(self.by_position))}, not {len(self.call.args)}: {self._usage()}."
            )

    def _bind_keywords(self) -> bool:
        unknown = False
        for keyword in self.call.keywords:
            name = str(keyword.arg)
            if name in self.given:
                self._fault(f"{{tool}} is given {name} twice.", keyword.value)
            elif name in self.parameters:
                self.given[name] = keyword.value
            else:
                unknown = True
                self._fault(f"{{tool}} has no argument {name}{self._instead_of(name, keyword.value)}", keyword.value)
        return unknown

    def _instead_of(self, name: str, value: ast.expr) -> str:
        """What to write for an unknown argument: the unit that the tool takes, a like name, or the list of names."""
        free = [known for known in self.parameters if known not in self.given]
        stem, unit = _split_unit(name)
        for target, what, factors in UNITS:
            if unit in factors and (near := _like(stem, [known for known in free if known.endswith(f"_{target}")])):
                number = _number(value)
                amount = "..." if number is None else f"{number * factors[unit]:.12g}"
                return f": {what} are given in {target}: {near}={amount}."
        if near := _like(stem, free) or (free[0] if len(free) == 1 else ""):
            return f": did you mean {near}?"
        if free:
            return f"{did_you_mean(name, free) or ': it takes ' + ', '.join(self.parameters) + '.'}"
        return f": {self._usage()}."

    def _check_value(self, name: str, value: ast.expr) -> None:
        annotation = self.parameters[name].annotation
        options = _options(annotation)
        if isinstance(value, ast.Constant) and options and value.value not in options:
            near = did_you_mean(str(value.value), [str(option) for option in options if option is not None])
            self._fault(f"{{tool}}: {name} must be one of {quoted(options)}, not {value.value!r}{near or '.'}", value)
            return
        found = self.inference.of(value)
        if not fits(found, annotation):
            wanted = described(parts_of(annotation))
            given = "a number with a fraction" if found == frozenset({float}) else described(found)
            self._fault(f"{{tool}}: {name} must be {wanted}, not {given}{self._remedy(found, annotation)}.", value)

    def _remedy(self, found: Parts, annotation: Any) -> str:
        """How to turn what was given into what is wanted, where a tool does that."""
        wanted = {part.__name__ for part in parts_of(annotation) or () if isinstance(part, type)}
        given = [handle.__name__ for handle in handles_in(found)]
        remedies = (
            ("Regions" in wanted and given == ["Mask"], "components"),
            ("Mask" in wanted and given == ["Regions"], "mask_of"),
            (wanted & {"int", "float"} and given == ["Regions"], "count"),
            (wanted & {"int", "float"} and given == ["Mask"], "area_m2"),
            (wanted & {"Mask", "Regions"} and found == frozenset({str}), "segment"),
        )
        if any(isinstance(part, Listed) for part in found or ()) and wanted & {"Mask", "Regions"}:
            return ": go through the list and pass one at a time"
        return next((f": use {name}(...)" for applies, name in remedies if applies and name in self.tools), "")

    def _check_bounds(self) -> None:
        """Two lower or two upper bounds in one unit, or a lower bound above an upper one."""
        for side, word in ((LOWER, "a lower"), (UPPER, "an upper")):
            names: dict[str, list[str]] = {}
            for name in self.given:
                if name.startswith(side) and not _is_none(self.given[name]):
                    names.setdefault(_split_unit(name)[1], []).append(name)
            for twice in names.values():
                if len(twice) > 1:
                    self._fault(f"{' and '.join(twice)} of {{tool}} are both {word} bound: give only one.")
        for low in (name for name in self.given if name.startswith(LOWER)):
            for high in (name for name in self.given if name.startswith(UPPER)):
                self._check_order(low, high)

    def _check_order(self, low: str, high: str) -> None:
        if _split_unit(low)[1] != _split_unit(high)[1]:
            return
        lower, upper = _number(self.given[low]), _number(self.given[high])
        if lower is not None and upper is not None and lower > upper:
            self._fault(f"nothing satisfies both {low}={lower:.12g} and {high}={upper:.12g} of {{tool}}.")


def _counted(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}" if number else "no argument"


def _options(annotation: Any) -> tuple[Any, ...]:
    """All values that an annotation of literals (and None) allows; empty where it allows more."""
    parts = (annotation,) if get_origin(annotation) is Literal else get_args(annotation)
    if not parts or not any(get_origin(part) is Literal for part in parts):
        return ()
    if not all(get_origin(part) is Literal or part is type(None) for part in parts):
        return ()
    return tuple(value for part in parts for value in (get_args(part) if get_origin(part) is Literal else (None,)))


def _split_unit(name: str) -> tuple[str, str]:
    """An argument's name without its unit, and the unit: ("larger_than", "ha"); the unit may be empty."""
    stem, _, unit = name.rpartition("_")
    known = any(unit in factors for _, _, factors in UNITS) or unit in PIXELS
    return (stem, unit) if known else (name, "")


def _like(stem: str, names: list[str]) -> str:
    """The argument among some that a stem in other words means, else an empty text."""
    stems = {_split_unit(name)[0]: name for name in names}
    if stem in stems:
        return stems[stem]
    for ours, theirs in _SAID_AS.items():
        if stem in theirs and ours in stems:
            return stems[ours]
    near = difflib.get_close_matches(stem, stems, n=1, cutoff=0.75)
    return stems[near[0]] if near else ""


def _number(node: ast.expr) -> float | None:
    """The value of a written number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
