"""What `--agree` opens: a planner with a rival that plans in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from swath.agent.eyes import Eyes
from swath.agent.llm.exchange import Call
from swath.agent.llm.planner import OTHER, LlmPlanner, model_settings
from swath.agent.planner import Feedback, Planner, PlannerOptions, Program, Scene, Usage
from swath.agent.planners import GRAMMAR, eyes_of, open_planner, usage_of
from swath.errors import Refused


class Agreeing:
    """A planner with a rival of another kind.

    The grammar has the model as its rival; the model has the grammar, where that covers the question, else a second
    model, where the configuration names one, else its own other way.

    Attributes:
        name: name of the planner that wrote the program.
    """

    def __init__(self, name: str, options: PlannerOptions) -> None:
        """Open the planner of a name, and the model that is needed beside it.

        Raises:
            InputError: no planner has this name, or no language model is named.
        """
        options = replace(options, agree=False)
        model_settings(options)
        self._first = open_planner(name, options)
        self._options = options
        self._rival: _Unlike | None = None
        self.name = self._first.name

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """As the planner itself; see there for what it raises."""
        if feedback is None:
            self._rival = None
        program = self._first.plan(question, scene, feedback)
        self.name = self._first.name
        return program

    @property
    def eyes(self) -> Eyes | None:
        """Those of the planner that wrote the program."""
        return eyes_of(self._first)

    def rival(self) -> Planner:
        """A planner of another kind than the one that wrote the program."""
        if self._rival is None:
            self._rival = _Unlike(self._first.name, self._options, self._spent)
        return self._rival

    def _spent(self) -> tuple[Any, ...]:
        """The calls of the planner itself: both have one budget."""
        used = usage_of(self._first)
        return used.calls if used else ()

    def usage(self) -> Usage | None:
        """What both have used of a language model."""
        used = [found for found in (usage_of(self._first), self._rival and usage_of(self._rival)) if found]
        if len(used) < 2:
            return used[0] if used else None
        first, second = used
        return Usage(first.model, {**first.prompts, **second.prompts}, (*first.calls, *second.calls))


class _Unlike:
    """Plans in another way than a planner that is given by name.

    Attributes:
        name: the way that it took.
    """

    def __init__(self, avoided: str, options: PlannerOptions, spent: Callable[[], Sequence[Call]]) -> None:
        self._model = model = LlmPlanner(options, spent=spent)
        self._named = model.usual_way
        if avoided != GRAMMAR and model.settings.rival is not None:
            self._model = LlmPlanner(options, found=model.settings.rival, spent=spent)
            self._named = model.settings.rival.model
        elif avoided != GRAMMAR:
            self._model = LlmPlanner(options, way=OTHER[model.usual_way], spent=spent)
            self._named = self._model.usual_way
        self._grammar = None if avoided == GRAMMAR else open_planner(GRAMMAR, options)
        self._by_grammar = self._grammar is not None
        self.name = GRAMMAR if self._by_grammar else self._model.name

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        if self._grammar is not None and self._by_grammar:
            try:
                return self._grammar.plan(question, scene, feedback)
            except Refused:
                self._by_grammar = False
                self.name = f"{self._model.name} ({self._named})"
                feedback = None
        return self._model.plan(question, scene, feedback)

    def usage(self) -> Usage | None:
        return None if self._by_grammar else self._model.usage()

    @property
    def eyes(self) -> Eyes | None:
        """Those of the model, where that wrote the program."""
        return None if self._by_grammar else self._model.eyes
