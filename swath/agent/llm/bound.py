"""The bound way, for small models: one expression of the question's own classes and quantities.

It is held by a GBNF grammar, or where a server has none by a JSON Schema of the same rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from swath.agent.llm import wording
from swath.agent.llm.bound_compile import compiled
from swath.agent.llm.bound_grammar import grammar
from swath.agent.llm.bound_rules import rules_of
from swath.agent.llm.bound_schema import CANNOT, EXPRESSION, expression_of, json_of, schema
from swath.agent.llm.code import declined
from swath.agent.llm.exchange import Grammar, Schema, Shape
from swath.agent.llm.expression import Operation, label, operations
from swath.agent.llm.offered import always, further
from swath.agent.llm.roles import TEXT
from swath.agent.llm.structured import parsed
from swath.agent.llm.ways import Task
from swath.agent.planner import Program
from swath.errors import ProgramRejected, Refused
from swath.prompts import Prompt, render
from swath.prompts.examples import examples
from swath.tools.registry import Tool

SKIPPED_AS_JSON = 2
"""JSON is so long that the small profile shows every other worked example only."""
_SPACES = re.compile(r"\s+")


class Bound:
    """The ways `bound` and `bound-json`."""

    name = "bound"

    def __init__(self, *, small: bool = True, as_json: bool = False) -> None:
        """Choose the length of the prompt, and between a grammar and a schema.

        Args:
            small: with the short worked examples, for small models, or with all.
            as_json: for servers that know schemas but no grammars.
        """
        self._small = small
        self._as_json = as_json
        self.longest_reply = 400 if as_json else 160

    def system(self) -> Prompt:
        """What the expression language can say, and worked examples; constant, so that its prefix is kept."""
        shown = [example for example in examples() if example.expression and (example.short or not self._small)]
        if self._as_json:
            shown = shown[:: SKIPPED_AS_JSON if self._small else 1]
        said = [(example.question, self._spelt(example.expression)) for example in shown]
        return render("bound_system.md", operations=_signatures(always()), examples=said, as_json=self._as_json)

    def _spelt(self, expression: str) -> str:
        return json.dumps(json_of(expression), separators=(",", ":")) if self._as_json else expression

    def question(self, task: Task) -> Prompt:
        """Classes, quantities, the question, and what was wrong with the last expression."""
        feedback = None
        if task.feedback is not None:
            feedback = [wording.quoted(hint, 300) for hint in task.feedback.hints]
        return render(
            "bound_question.md",
            classes=wording.names(tuple(_classes(task))),
            operations=_signatures(further(task.given.beside)),
            quantities=", ".join(f'"{label(amount)}"' for amount in task.given.amounts) or "none",
            question=wording.quoted(task.given.question, 2 * len(task.given.question) + 3),
            feedback=feedback,
        )

    def shape(self, task: Task) -> Shape:
        """The grammar or the schema of this question.

        Raises:
            Refused: it asks for a text, which no expression is.
        """
        if TEXT in task.given.roles.answers:
            raise Refused(
                "A small model writes no descriptions. Next: ask with --planner offline, or a model that writes code."
            )
        rules = rules_of(task.given, _classes(task))
        return Schema("measurement", schema(rules)) if self._as_json else Grammar(grammar(rules))

    def program(self, text: str, task: Task) -> Program:
        """Compile the expression.

        Raises:
            ProgramRejected: it is no expression of the language.
            Refused: the model says that the question cannot be measured.
        """
        said = _from_json(text) if self._as_json else _SPACES.sub(" ", text).strip()
        if said.startswith("cannot:"):
            raise declined(said.removeprefix("cannot:").strip() or "no reason given")
        source = compiled(said, task.given, _classes(task))
        return Program(source, said, task.given.notes, task.given.gsd_m)


def _from_json(text: str) -> str:
    """The expression that a reply in JSON stands for."""
    found = parsed(text)
    if found.get(CANNOT):
        return f"cannot: {found[CANNOT]}"
    try:
        return expression_of(found.get(EXPRESSION))
    except ValueError as fault:
        raise ProgramRejected([f"The reply is not of its schema: {fault}."], text) from None


def _classes(task: Task) -> dict[str, tuple[str, ...]]:
    """Names that may be written: the question's own where it names classes, else the legend's."""
    named = {
        " or ".join(names) if len(names) <= 3 else wording.quoted(word, wording.LONGEST_NAME): names
        for word, names in task.given.classes
    }
    return named or {name: (name,) for name in task.scene.classes[: wording.MOST_NAMES]}


def _signatures(tools: Iterable[Tool]) -> list[tuple[str, str]]:
    """What gives masks, what gives regions, numbers, names: (what, the tools' signatures), none where there is none."""
    fitting = [operations()[tool.name] for tool in tools if tool.name in operations()]
    found = {operation.returns: "" for operation in fitting}
    return [
        (returns, ", ".join(_signature(operation) for operation in fitting if operation.returns == returns))
        for returns in found
    ]


def _signature(operation: Operation) -> str:
    shorts = dict.fromkeys(
        argument.short if not argument.keyword else f"{argument.short}=" for argument in operation.arguments
    )
    return f"{operation.tool.name}({', '.join(shorts)})"
