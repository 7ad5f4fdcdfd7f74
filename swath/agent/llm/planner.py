"""The planner `llm`: a language model writes the program; everything that can be certain stays outside of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from swath.agent.eyes import LONGEST_QUESTION, Box, Eyes, looking, window
from swath.agent.llm import wording
from swath.agent.llm.bound import Bound
from swath.agent.llm.client import Client
from swath.agent.llm.code import Code, declined
from swath.agent.llm.exchange import Ask, Call
from swath.agent.llm.given import given
from swath.agent.llm.held import faults
from swath.agent.llm.local import check_file, is_local, served
from swath.agent.llm.pictures import LONGEST_SIDE_PX, crop, message_of
from swath.agent.llm.prices import prices_of
from swath.agent.llm.remembered import manner_of
from swath.agent.llm.settings import CONFIG, Settings, settings
from swath.agent.llm.structured import Structured
from swath.agent.llm.ways import Task, Way
from swath.agent.planner import Feedback, PlannerOptions, Program, Scene, Usage
from swath.errors import CutOff, InputError, ProgramRejected
from swath.prompts import render
from swath.raster.reader import Raster

WAYS: Mapping[str, Callable[..., Way]] = {
    "code": Code, "structured": Structured, "tools": partial(Structured, as_call=True), "bound": Bound,
    "bound-json": partial(Bound, as_json=True),
}  # fmt: skip
"""Name of a way to what makes it; each takes `small`, whether the short prompt is wanted."""

OTHER = {"code": "bound", "structured": "bound", "tools": "bound", "bound": "code", "bound-json": "code"}
"""The unlike way that is tried where a model repeats what does not work; small models are no better at it."""

LONGEST_JUDGEMENT = 200
MOST_HINTS = 3
_LINE = re.compile(r"Line \d+")


def model_settings(options: PlannerOptions) -> Settings:
    """The model that the configuration, the environment or an argument names.

    Raises:
        InputError: none is named, the configuration cannot be used, the file that it names is no model, or a budget of
            money cannot be kept.
    """
    found = settings(options.model, options.base_url)
    if found is None:
        raise InputError(
            "No language model is named. Next: give --model (and --base-url for a server of your own), or set "
            f"SWATH_MODEL, or write them under [llm] in the file that {CONFIG} names."
        )
    for one in (found, found.rival):
        if one is not None:
            _check(one)
    return found


def _check(model: Settings) -> None:
    if is_local(model):
        check_file(model)
    elif model.budget.dollars is not None and prices_of(model) is None:
        raise InputError(
            f"A budget of {model.budget.dollars:g} dollars needs prices, and those of {model.model} are not known. "
            "Next: write prices = [in, cached, out] under [llm], in dollars for a million tokens."
        )


def open_client(found: Settings, spent: Callable[[], Sequence[Call]] = tuple) -> Client:
    """What asks a model; one that is a file is loaded for it.

    Args:
        found: the model.
        spent: calls that others have made for the same question, which its budget counts.

    Raises:
        InputError: the file cannot be loaded.
    """
    return Client(served(found) if is_local(found) else found, spent=spent)


class LlmPlanner:
    """Has a program written by the model that the configuration, the environment or an argument names."""

    name = "llm"

    def __init__(
        self,
        options: PlannerOptions,
        *,
        way: str | None = None,
        found: Settings | None = None,
        spent: Callable[[], Sequence[Call]] = tuple,
    ) -> None:
        """Find out which model is meant; nothing is sent yet.

        Args:
            options: what a person said about who plans.
            way: one of `WAYS`, in place of what is configured, remembered or usual.
            found: the model, in place of the one that is configured.
            spent: calls that a planner beside it has made for the same question, which the budget counts.

        Raises:
            InputError: no model is named, or the configuration cannot be used.
        """
        self._settings, self._spent = found or model_settings(options), spent
        manner = manner_of(self._settings)
        self._small = manner.profile == "small"
        if options.look and not manner.vision:
            raise InputError(
                f"{self._settings.model} is not known to take pictures, which --look needs. "
                "Next: run swath llm check, or set vision = true under [llm]."
            )
        self._look = options.look
        self._usual = way or ("code" if self._look else manner.way)
        self._other = None if self._small and self._usual.startswith("bound") else OTHER[self._usual]
        self._way = self._usual
        self._rejected: list[Feedback] = []
        self.eyes: Eyes | None = self._see if self._look else None
        self._prompts: dict[str, str] = {}
        self._client: Client | None = None

    @property
    def settings(self) -> Settings:
        """The model."""
        return self._settings

    @property
    def usual_way(self) -> str:
        """Name of the way in which a question is planned at first."""
        return self._usual

    def usage(self) -> Usage:
        """What has been asked for the present question, for the run's record."""
        calls = () if self._client is None else tuple(self._client.calls)
        return Usage(self._settings.model, dict(self._prompts), calls)

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Have a program written; a model that repeats a mistake is asked in another way.

        Raises:
            Refused: the model says that the question cannot be measured here.
            ProgramRejected: its reply stands for no program, or leaves out a quantity of the question.
            ModelError: the model cannot be asked.
            BudgetExceeded: the question has used up what it may cost.
        """
        task = Task(given(question, scene.classes), scene, feedback, looking(self._see) if self._look else {})
        self._take(feedback)
        way = self._way
        try:
            program = self._written(task)
            repeated = self._knows(program.source)
        except ProgramRejected as fault:
            if way != self._usual or not self._knows(fault.source):
                raise
            program, repeated = Program(fault.source, question), True
        if not repeated or way != self._usual or self._other is None:
            return program  # the graph ends a question whose program is repeated
        self._way = self._other
        return self._written(task)

    def _take(self, feedback: Feedback | None) -> None:
        """Begin a question, or remember a draft that did not work: the same mistake twice calls for another way."""
        if feedback is None:
            self._way, self._rejected, self._prompts = self._usual, [], {}
            if self._client is not None:
                self._client = Client(self._client.settings, spent=self._spent)
            return
        if self._rejected and _faults(self._rejected[-1]) == _faults(feedback) and self._other is not None:
            self._way = self._other
        self._rejected.append(feedback)

    def _knows(self, source: str) -> bool:
        return any(source == rejected.source for rejected in self._rejected)

    def _written(self, task: Task) -> Program:
        way = WAYS[self._way](small=self._small)
        try:
            received = self._opened().ask(self._asked(way, task))
        except CutOff as fault:
            raise ProgramRejected(
                [f"The reply was longer than {way.longest_reply} tokens: write less."], fault.text
            ) from None
        if received.refusal:
            raise declined(received.refusal)
        program = way.program(received.text, task)
        _check_held(program.source, task)
        return replace(program, source=program.source.rstrip() + "\n")

    def _see(self, raster: Raster, question: str, box: Box) -> str:
        """Ask the model about a part of the image.

        Raises:
            ModelError: it cannot be asked.
        """
        prompt = render("look.md", question=wording.quoted(question, LONGEST_QUESTION), form="phrase")
        self._prompts |= {prompt.name: prompt.version}
        message = message_of(prompt.text, crop(raster, *window(box, raster.shape), LONGEST_SIDE_PX))
        received = self._opened().ask(Ask((message,), None, LONGEST_JUDGEMENT, "look"))
        return wording.quoted((received.text or received.refusal).strip(), LONGEST_JUDGEMENT)

    def _opened(self) -> Client:
        if self._client is None:
            self._client = open_client(self._settings, self._spent)
        return self._client

    def _asked(self, way: Way, task: Task) -> Ask:
        system, asked = way.system(), way.question(task)
        self._prompts |= {prompt.name: prompt.version for prompt in (system, asked)}
        messages = ({"role": "system", "content": system.text}, {"role": "user", "content": asked.text})
        purpose = "plan" if task.feedback is None else "repair"
        longest = min(self._settings.max_output_tokens, way.longest_reply)
        return Ask(messages, way.shape(task), longest, purpose)


def _faults(feedback: Feedback) -> tuple[str, ...]:
    """What was wrong, wherever it stood."""
    return tuple(_LINE.sub("", hint) for hint in feedback.hints)


def _check_held(source: str, task: Task) -> None:
    try:
        found = faults(source, task.given)
    except SyntaxError:
        return  # the checker words it better
    if found:
        raise ProgramRejected(found[:MOST_HINTS], source)
