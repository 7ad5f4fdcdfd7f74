"""Runs a program's calls on a site and keeps a record of each: the host's side of the sandbox."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swath.agent.sandbox import Call, Limits, RunResult, Sandbox
from swath.errors import PlanError, ProgramFailed, SwathError, ToolError
from swath.tools.handles import Mask, Regions
from swath.tools.registry import Tool, describe, tools
from swath.tools.site import Site
from swath.trace.events import Event, tell
from swath.types import KINDS, Kind

HANDLES = (Mask, Regions)
SHOWN_ITEMS = 20
"""Items of a list that a step's summary shows; a list of all areas may have thousands."""


@dataclass(frozen=True)
class Reply:
    """What a program answered.

    Attributes:
        value: a number, truth value, text or list.
        kind: what kind of answer it is.
        unit: the unit that `value` is in.
        objects: the regions or mask that stand behind it.
        line: line of the program.
    """

    value: Any
    kind: Kind
    unit: str | None = None
    objects: Mask | Regions | None = None
    line: int = 0


@dataclass(frozen=True)
class Step:
    """One line of steps.jsonl.

    Attributes:
        name: tool or graph node.
        arguments: JSON-ready; handles as "#3".
        result: JSON-ready summary.
        line: source line of the program, None for graph nodes.
        seconds: wall time.
        error: the error's sentence, None where it went well.
        cached: whether the same call had been computed before.
        kind: "tool" or "graph".
    """

    name: str
    arguments: Mapping[str, Any]
    result: Any
    line: int | None
    seconds: float
    error: str | None = None
    cached: bool = False
    kind: str = "tool"


@dataclass
class Ledger:
    """The calls of one run of a program, in order, and the handles they gave.

    Attributes:
        steps: one per call.
        handles: every mask and region set that a tool returned, "#1" first.
        flows: per call, the handles that went in and the one that came out, for "dropped at step".
    """

    steps: list[Step] = field(default_factory=list)
    handles: list[Mask | Regions] = field(default_factory=list)
    flows: list[tuple[int, tuple[Mask | Regions, ...], Mask | Regions]] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)

    def shown(self, value: Any) -> Any:
        """A value as JSON: handles by number, long lists cut, infinities as text."""
        if isinstance(value, HANDLES):
            return f"#{self._number(value)}"
        if isinstance(value, list | tuple):
            items = [self.shown(item) for item in value[:SHOWN_ITEMS]]
            return items if len(value) <= SHOWN_ITEMS else [*items, f"... {len(value) - SHOWN_ITEMS} more"]
        if isinstance(value, dict):
            return {str(key): self.shown(item) for key, item in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return value

    def summary(self, value: Any) -> Any:
        """A result as JSON: what a handle holds, or the value itself."""
        if isinstance(value, Mask):
            return {"handle": self.shown(value), "mask": value.name, "pixels": value.size_px}
        if isinstance(value, Regions):
            return {"handle": self.shown(value), "regions": value.name, "count": len(value)}
        return self.shown(value)

    def number_of(self, handle: Mask | Regions) -> int | None:
        """The number of a handle, None if no tool returned it."""
        return self._numbers.get(id(handle))

    def _number(self, handle: Mask | Regions) -> int:
        if id(handle) not in self._numbers:
            self.handles.append(handle)
            self._numbers[id(handle)] = len(self.handles)
        return self._numbers[id(handle)]

    def add(self, step: Step, inputs: tuple[Any, ...], result: Any) -> None:
        """Record a call and what flowed through it."""
        self.steps.append(step)
        if isinstance(result, HANDLES):
            handles = tuple(value for value in inputs if isinstance(value, HANDLES))
            self.flows.append((len(self.steps) - 1, handles, result))


@dataclass(frozen=True)
class Outcome:
    """A program that ran to its end.

    Attributes:
        reply: what it answered.
        ledger: what it called.
        run: what the sandbox counted.
        site: the site it measured, with the warnings and doubts that its tools added.
    """

    reply: Reply
    ledger: Ledger
    run: RunResult
    site: Site


def reply(
    value: Any,
    *,
    kind: Kind,
    unit: str | None = None,
    objects: Mask | Regions | None = None,
) -> None:
    """Answer the question; every program ends with it, once.

    Args:
        value: the answer, already in `unit`.
        kind: what kind of answer it is.
        unit: unit of the value: "ha", "m2", "percent", "count", "ratio", "m" ...
        objects: the regions or the mask that stand behind the answer.
    """


def surface() -> Mapping[str, Tool]:
    """All that a program may call: the registered tools and `reply`."""
    hints = {"value": Any, "kind": Kind, "unit": str | None, "objects": Mask | Regions | None}
    parameters = [p.replace(annotation=hints[p.name]) for p in inspect.signature(reply).parameters.values()]
    signature = inspect.Signature(parameters, return_annotation=None)
    summary, details = inspect.cleandoc(reply.__doc__ or "").split("\n", 1)
    return {**tools(), "reply": Tool("reply", reply, signature, False, "reply", summary, details.strip())}


class Execution:
    """Executes the calls of one run of a program on a site."""

    def __init__(self, site: Site, further: Mapping[str, Tool] | None = None) -> None:
        """Begin with an empty ledger.

        Args:
            site: what is measured.
            further: tools beside the registered ones.
        """
        self.site = site
        self.ledger = Ledger()
        self.reply: Reply | None = None
        self._surface = {**surface(), **(further or {})}
        self._memo: dict[tuple[Any, ...], Any] = {}

    def __call__(self, call: Call) -> Any:
        """Execute one call; an identical call is computed once.

        Raises:
            ToolError: the tool cannot use what it was given.
            Refused: it cannot be measured from this image.
        """
        started = time.perf_counter()
        key = (call.name, _key(call.args), _key(call.kwargs))
        cached = key in self._memo
        try:
            result = self._memo[key] if cached else self._compute(call)
        except SwathError as error:
            self._record(call, None, started, error=str(error))
            raise
        self._memo[key] = result
        self._record(call, result, started, cached=cached)
        return result

    def _compute(self, call: Call) -> Any:
        if call.name == "reply":
            return self._take_reply(call)
        if self.reply is not None:
            raise ToolError(f"{call.name} is called after reply; reply must be the last call.")
        return self._surface[call.name].call(self.site, call.args, call.kwargs)

    def _take_reply(self, call: Call) -> None:
        if self.reply is not None:
            raise ToolError("reply is called twice; a program answers once.")
        signature = self._surface["reply"].signature
        try:
            arguments = signature.bind(*call.args, **call.kwargs).arguments
        except TypeError as error:
            raise ToolError(f"reply: {error}. It is {self._surface['reply'].stub}.") from None
        kind, unit, objects = arguments.get("kind"), arguments.get("unit"), arguments.get("objects")
        if kind not in KINDS:
            raise ToolError(f"reply: kind must be one of {', '.join(KINDS)}, not {kind!r}.")
        if unit is not None and not isinstance(unit, str):
            raise ToolError(f"reply: unit must be a text such as 'ha', not {describe(type(unit))}.")
        if objects is not None and not isinstance(objects, HANDLES):
            raise ToolError(f"reply: objects must be regions or a mask, not {describe(type(objects))}.")
        self.reply = Reply(arguments["value"], kind, unit, objects, call.line)

    def _record(
        self, call: Call, result: Any, started: float, *, cached: bool = False, error: str | None = None
    ) -> None:
        tool = self._surface[call.name]
        names = list(tool.signature.parameters)
        arguments = {**dict(zip(names, call.args, strict=False)), **call.kwargs}
        shown = {name: self.ledger.shown(value) for name, value in arguments.items()}
        summary = None if error else self.ledger.summary(result)
        step = Step(call.name, shown, summary, call.line, time.perf_counter() - started, error, cached)
        self.ledger.add(step, tuple(arguments.values()), result)
        detail = {"arguments": shown, "result": summary, "line": call.line, "error": error, "cached": cached}
        tell(Event("tool", call.name, step.seconds, detail))


def run_program(
    source: str, site: Site, sandbox: Sandbox, limits: Limits | None = None, execution: Execution | None = None
) -> Outcome:
    """Run a program on a site.

    Args:
        source: the program.
        site: what it measures.
        sandbox: an open sandbox.
        limits: budgets of the run.
        execution: where to record it; given by whoever wants the steps of a run that fails.

    Raises:
        PlanError: the program is at fault; the message is a hint.
        Refused: it cannot be measured from this image.
    """
    execution = execution or Execution(site)
    try:
        result = sandbox.run(source, execution, names=execution._surface.keys(), handle_types=HANDLES, limits=limits)
    except RecursionError:
        raise ProgramFailed("The program nests calls too deeply: split it into assignments.") from None
    if execution.reply is None:
        raise ProgramFailed("The program ended without a reply: end it with reply(value, kind=..., unit=...).")
    return Outcome(execution.reply, execution.ledger, result, site)


def _key(value: Any) -> Any:
    """A hashable stand-in: handles by identity, numbers by type and value."""
    if isinstance(value, HANDLES):
        return ("handle", id(value))
    if isinstance(value, list | tuple):
        return tuple(_key(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, _key(item)) for name, item in sorted(value.items()))
    return (type(value).__name__, value if value == value else "nan")


__all__ = ["HANDLES", "Execution", "Ledger", "Outcome", "PlanError", "Reply", "Step", "reply", "run_program", "surface"]
