"""Planners that write no program: a model looks at the image, or only reads the question; a bar for measuring.

What they say is marked as judged: no number of theirs has a method, an interval or objects behind it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from swath.agent.judged import judgement
from swath.agent.llm import wording
from swath.agent.llm.client import Client
from swath.agent.llm.code import declined
from swath.agent.llm.exchange import Ask
from swath.agent.llm.given import LONGEST_QUESTION
from swath.agent.llm.pictures import LONGEST_SIDE_PX, message_of
from swath.agent.llm.planner import model_settings, open_client
from swath.agent.llm.roles import describes
from swath.agent.planner import Feedback, Judgement, PlannerOptions, Program, Scene, Usage
from swath.errors import Refused
from swath.prompts import Prompt, render
from swath.raster.reader import Raster
from swath.raster.stretch import display

LONGEST_REPLY = 400
_POINTS = re.compile(
    r"^\W*(the|an?|locate|box)\b(?!.*(\?|\b(how|what|which|number|area|percentage|share|count)\b))", re.I | re.S
)
"""A sentence that describes one thing and asks nothing, as benchmarks have them."""


class _Judging:
    """What both have in common."""

    name = ""

    def __init__(self, options: PlannerOptions) -> None:
        """Find out which model is meant; nothing is sent yet.

        Raises:
            InputError: no model is named, or the configuration cannot be used.
        """
        self._settings = model_settings(options)
        self._prompts: dict[str, str] = {}
        self._client: Client | None = None

    def usage(self) -> Usage:
        """What has been asked for the present question, for the run's record."""
        calls = () if self._client is None else tuple(self._client.calls)
        return Usage(self._settings.model, dict(self._prompts), calls)

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """There is no program.

        Raises:
            Refused: always.
        """
        raise Refused(f"The planner {self.name} writes no program. Next: ask it with swath ask or swath bench run.")

    def judge(self, question: str, raster: Raster) -> Judgement:
        """Ask the model straight away.

        Args:
            question: as typed.
            raster: the image.

        Raises:
            Refused: the question is too long, or the model declines.
            ModelError: the model cannot be asked.
            BudgetExceeded: the question has used up what it may cost.
        """
        if len(question) > LONGEST_QUESTION:
            raise Refused(f"The question has {len(question)} characters; ask in at most {LONGEST_QUESTION}.")
        prompt = self._prompt(wording.quoted(question, 2 * len(question) + 3))
        self._prompts = {prompt.name: prompt.version}
        self._client = Client(self._client.settings) if self._client else open_client(self._settings)
        received = self._client.ask(Ask((self._message(prompt.text, raster),), None, LONGEST_REPLY, self.name))
        if received.refusal:
            raise declined(received.refusal)
        return judgement(received.text, self.name)

    def _prompt(self, question: str) -> Prompt:
        raise NotImplementedError

    def _message(self, text: str, raster: Raster) -> Mapping[str, Any]:
        raise NotImplementedError


class Look(_Judging):
    """The planner `look`: image and question go straight to a vision model."""

    name = "look"

    def _prompt(self, question: str) -> Prompt:
        return render("look.md", question=question, form=form_of(question))

    def _message(self, text: str, raster: Raster) -> Mapping[str, Any]:
        picture, _ = display(raster, LONGEST_SIDE_PX)
        return message_of(text, picture)


class Blind(_Judging):
    """The planner `blind`: the question alone."""

    name = "blind"

    def _prompt(self, question: str) -> Prompt:
        return render("blind.md", question=question, form=form_of(question))

    def _message(self, text: str, raster: Raster) -> Mapping[str, Any]:
        return {"role": "user", "content": text}


def form_of(question: str) -> str:
    """What may answer a question: "caption", "box", as benchmarks write boxes, or "phrase"."""
    if describes(question):
        return "caption"
    return "box" if _POINTS.match(question) else "phrase"
