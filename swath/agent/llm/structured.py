"""The structured way: a plan of named steps as JSON of a schema, by structured output or as a tool call."""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from swath.agent.execution import surface
from swath.agent.llm.code import LONGEST_REASON, Code, declined
from swath.agent.llm.exchange import Function, Schema, Shape
from swath.agent.llm.offered import always, families, offered
from swath.agent.llm.plans import plan_of
from swath.agent.llm.ways import Task
from swath.agent.llm.wording import LONGEST_NAME, MOST_NAMES, quoted
from swath.agent.planner import Program
from swath.agent.units import DIMENSIONS
from swath.errors import ProgramRejected
from swath.prompts import Prompt, render
from swath.tools.handles import Mask, Regions
from swath.tools.registry import Tool
from swath.types import KINDS

_FENCE = re.compile(r"\A\s*```(?:json)?|```\s*\Z")
NAME = "plan"
PURPOSE = "Hand over the plan that measures the answer."
CLASS_NAME = "class_name"
STEP = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,30}$"}
"""The name of a step."""


class Structured:
    """The way `structured`."""

    name = "structured"
    longest_reply = 1_500

    def __init__(self, *, small: bool = False, as_call: bool = False) -> None:
        """Choose the length of the prompt, and between a tool call and structured output.

        Args:
            small: tools without what they mean, for small models.
            as_call: for servers that know tool calls but no schemas.
        """
        self._small = small
        self._as_call = as_call

    def system(self) -> Prompt:
        """The rules; the tools are in the schema too, but their meaning is not."""
        name = "structured_system_small.md" if self._small else "structured_system.md"
        return render(name, families=families(always(), short=self._small))

    def question(self, task: Task) -> Prompt:
        """Plans of questions like it, scene, question, and what was wrong with the last plan."""
        return Code(small=self._small, spelt=plan_of).question(task)

    def shape(self, task: Task) -> Shape:
        """The schema of a plan: the classes are those of the scene, where these can be listed."""
        classes = task.scene.classes
        listed = len(classes) <= MOST_NAMES and all(len(name) <= LONGEST_NAME for name in classes)
        tools = tuple(tool.name for tool in offered(task.given.beside))
        schema = plan_schema(tools, classes if listed else (), every=not self._small)
        return Function(NAME, PURPOSE, schema) if self._as_call else Schema(NAME, schema)

    def program(self, text: str, task: Task) -> Program:
        """The program of a plan.

        Raises:
            ProgramRejected: the reply is no such plan.
            Refused: the model says that the question cannot be measured.
        """
        plan = parsed(text)
        if plan.get("cannot"):
            raise declined(str(plan["cannot"]))
        try:
            lines = [_step(step) for step in plan["steps"]]
            source = "\n".join((*lines, _reply(plan["answer"]))) + "\n"
        except (KeyError, TypeError, ValueError, SyntaxError, AttributeError) as fault:
            raise ProgramRejected([f"The plan is not of its schema: {fault}."], text) from None
        reading = quoted(str(plan.get("measures") or task.given.question), LONGEST_REASON)
        return Program(source, reading, task.given.notes, task.given.gsd_m)


def parsed(text: str) -> dict[str, Any]:
    """The JSON object that a reply is.

    Raises:
        ProgramRejected: it is none.
    """
    try:
        plan = json.loads(_FENCE.sub("", text))
    except (ValueError, RecursionError):
        raise ProgramRejected(["The reply is not JSON: send JSON alone."], text) from None
    if not isinstance(plan, dict):
        raise ProgramRejected(["The reply is not a JSON object."], text)
    return plan


def _step(step: Mapping[str, Any]) -> str:
    name, tool = _name(step["name"]), step["tool"]
    if tool not in surface() or tool == "reply":
        raise ValueError(f"there is no tool {str(tool)[:40]}")
    parameters, arguments = surface()[tool].signature.parameters, step["arguments"]
    unknown = set(arguments) - set(parameters)
    if unknown:
        raise ValueError(f"{tool} takes no {min(unknown)[:40]}")
    parts = []
    for key, parameter in parameters.items():
        value = arguments.get(key)
        if value is not None:
            shown = _name(value) if _takes_step(surface()[tool], key, value) else repr(value)
            parts.append(f"{key}={shown}" if parameter.kind is parameter.KEYWORD_ONLY else shown)
    return f"{name} = {tool}({', '.join(parts)})"


def _reply(answer: Mapping[str, Any]) -> str:
    value = str(answer["value"])
    ast.parse(value, mode="eval")
    given = [value, f"kind={answer['kind']!r}"]
    if answer.get("unit"):
        given.append(f"unit={answer['unit']!r}")
    if answer.get("objects"):
        given.append(f"objects={_name(answer['objects'])}")
    return f"reply({', '.join(given)})"


def _name(value: Any) -> str:
    if not (isinstance(value, str) and value.isidentifier() and not keyword.iskeyword(value)):
        raise ValueError(f"{str(value)[:40]!r} is not the name of a step")
    return value


def _takes_step(tool: Tool, key: str, value: Any) -> bool:
    """Whether an argument is the name of a step: a handle, or a number that was measured."""
    return _is_handle(tool, key) or (_is_number(tool, key) and isinstance(value, str))


def _is_handle(tool: Tool, key: str) -> bool:
    annotation = str(tool.signature.parameters[key].annotation)
    return any(part in annotation for part in (Mask.__name__, Regions.__name__))


def _is_number(tool: Tool, key: str) -> bool:
    rule = tool.schema["parameters"]["properties"][key]
    return "number" in {kind.get("type") for kind in rule.get("anyOf", [rule])}


@lru_cache(maxsize=16)
def plan_schema(tools: tuple[str, ...], classes: tuple[str, ...] = (), *, every: bool = True) -> dict[str, Any]:
    """JSON Schema of a plan.

    Args:
        tools: names of the tools that its steps may call.
        classes: names that may be segmented; empty for any text.
        every: whether every property is required, what may be left out being null, as strict structured output wants
            it; else what is not needed is left out, which is shorter.
    """
    steps = [_step_schema(surface()[name], classes, every=every) for name in tools]
    text = {"type": "string"}
    maybe = {"type": ["string", "null"]}
    answer = _object(
        {
            "value": text,
            "kind": {"type": "string", "enum": list(KINDS)},
            "unit": {"anyOf": [{"type": "string", "enum": list(DIMENSIONS)}, {"type": "null"}]},
            "objects": {"anyOf": [STEP, {"type": "null"}]},
        }
    )
    plan = {
        "cannot": maybe,
        "measures": text,
        "steps": {"type": "array", "items": {"anyOf": steps}},
        "answer": {"anyOf": [answer, {"type": "null"}]},
    }
    return _object(plan)


def _step_schema(tool: Tool, classes: tuple[str, ...], *, every: bool) -> dict[str, Any]:
    wanted = tool.schema["parameters"]
    rules = {name: _argument(tool, name, classes) for name in wanted["properties"]}
    needed = [name for name in rules if every or name in wanted["required"]]
    if every:
        rules = {
            name: rule if name in wanted["required"] else {"anyOf": [rule, {"type": "null"}]}
            for name, rule in rules.items()
        }
    return _object({"name": STEP, "tool": {"type": "string", "enum": [tool.name]}, "arguments": _object(rules, needed)})


def _argument(tool: Tool, name: str, classes: tuple[str, ...]) -> Any:
    if _is_handle(tool, name):
        return STEP
    if name == CLASS_NAME and classes:
        return {"type": "string", "enum": list(classes)}
    rule = tool.schema["parameters"]["properties"][name]
    return {"anyOf": [{"type": "number"}, STEP]} if _is_number(tool, name) else rule


def _object(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }
