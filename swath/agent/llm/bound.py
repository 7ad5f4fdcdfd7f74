"""The bound way, for small models: one expression under a grammar of the question's own classes and quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable

from swath.agent.llm import wording
from swath.agent.llm.bound_compile import compiled
from swath.agent.llm.bound_grammar import grammar
from swath.agent.llm.code import declined
from swath.agent.llm.exchange import Grammar, Shape
from swath.agent.llm.expression import Operation, label, operations
from swath.agent.llm.offered import always, further
from swath.agent.llm.ways import Task
from swath.agent.planner import Program
from swath.prompts import Prompt, render
from swath.prompts.examples import examples
from swath.tools.registry import Tool

_SPACES = re.compile(r"\s+")


class Bound:
    """The way `bound`."""

    name = "bound"
    longest_reply = 160

    def __init__(self, *, small: bool = True) -> None:
        """Choose the length of the prompt: with the short worked examples, or with all."""
        self._small = small

    def system(self) -> Prompt:
        """What the expression language can say, and worked examples; constant, so that its prefix is kept."""
        shown = [example for example in examples() if example.short or not self._small]
        return render("bound_system.md", operations=_signatures(always()), examples=shown)

    def question(self, task: Task) -> Prompt:
        """Classes, quantities, the question, and what was wrong with the last expression."""
        feedback = None
        if task.feedback is not None:
            feedback = [wording.quoted(hint, 300) for hint in task.feedback.hints]
        return render(
            "bound_question.md",
            classes=wording.names(tuple(_classes(task))),
            operations=_signatures(further(task.given.question)),
            quantities=", ".join(f'"{label(amount)}"' for amount in task.given.amounts) or "none",
            question=wording.quoted(task.given.question, 2 * len(task.given.question) + 3),
            feedback=feedback,
        )

    def shape(self, task: Task) -> Shape:
        """The grammar of this question."""
        return Grammar(grammar(task.given, tuple(_classes(task))))

    def program(self, text: str, task: Task) -> Program:
        """Compile the expression.

        Raises:
            ProgramRejected: it is no expression of the language.
            Refused: the model says that the question cannot be measured.
        """
        said = _SPACES.sub(" ", text).strip()
        if said.startswith("cannot:"):
            raise declined(said.removeprefix("cannot:").strip() or "no reason given")
        source = compiled(said, task.given, _classes(task))
        return Program(source, said, task.given.notes, task.given.gsd_m)


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
