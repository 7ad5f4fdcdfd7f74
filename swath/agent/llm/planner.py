"""The planner `llm`: a language model writes the program; everything that can be certain stays outside of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from swath.agent.llm.bound import Bound
from swath.agent.llm.client import Client
from swath.agent.llm.code import Code, declined
from swath.agent.llm.exchange import Ask
from swath.agent.llm.given import given
from swath.agent.llm.settings import CONFIG, Settings, settings
from swath.agent.llm.structured import Structured
from swath.agent.llm.ways import Task, Way
from swath.agent.planner import Feedback, PlannerOptions, Program, Scene, Usage
from swath.errors import InputError, ProgramRejected

WAYS: Mapping[str, Callable[[], Way]] = {"code": Code, "structured": Structured, "bound": Bound}
"""Name of a way to what makes it."""


class LlmPlanner:
    """Has a program written by the model that the configuration, the environment or an argument names."""

    name = "llm"

    def __init__(self, options: PlannerOptions) -> None:
        """Find out which model is meant; nothing is sent yet.

        Raises:
            InputError: no model is named, or the configuration cannot be used.
        """
        found = settings(options.model, options.base_url)
        if found is None:
            raise InputError(
                "No language model is named. Next: give --model (and --base-url for a server of your own), or set "
                f"SWATH_MODEL, or write them under [llm] in the file that {CONFIG} names."
            )
        self._settings: Settings = found
        self._prompts: dict[str, str] = {}

    @cached_property
    def client(self) -> Client:
        """What asks the model; made on first use."""
        return Client(self._settings)

    def usage(self) -> Usage:
        """What has been asked so far, for the run's record."""
        return Usage(self._settings.model, dict(self._prompts), tuple(self.client.calls))

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Have a program written.

        Raises:
            Refused: the model says that the question cannot be measured here.
            ProgramRejected: its reply stands for no program, or leaves out a quantity of the question.
            ModelError: the model cannot be asked.
            BudgetExceeded: the question has used up what it may cost.
        """
        task = Task(given(question, scene.classes), scene, feedback)
        way = self._way()
        received = self.client.ask(self._asked(way, task))
        if received.refusal:
            raise declined(received.refusal)
        program = way.program(received.text, task)
        _check_amounts(program.source, task)
        return program

    def _way(self) -> Way:
        name = self._settings.way
        return WAYS["code" if name == "auto" else name]()

    def _asked(self, way: Way, task: Task) -> Ask:
        system, asked = way.system(), way.question(task)
        self._prompts |= {prompt.name: prompt.version for prompt in (system, asked)}
        messages = ({"role": "system", "content": system.text}, {"role": "user", "content": asked.text})
        purpose = "plan" if task.feedback is None else "repair"
        return Ask(messages, way.shape(task), self._settings.max_output_tokens, purpose)


def _check_amounts(source: str, task: Task) -> None:
    try:
        unused = task.given.unused(source)
    except SyntaxError:
        return  # the checker words it better
    if unused:
        raise ProgramRejected([f"The program does not use the question's {' and '.join(unused)}."], source)
