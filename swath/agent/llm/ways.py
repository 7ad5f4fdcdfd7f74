"""The seam between the planner and its three ways to have a program written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from swath.agent.llm.exchange import Shape
from swath.agent.llm.given import Given
from swath.agent.planner import Feedback, Program, Scene
from swath.prompts import Prompt
from swath.tools.registry import Tool


@dataclass(frozen=True)
class Task:
    """A question with all that may be said to a model about it; no pixels.

    Attributes:
        given: the question and what is certain about it.
        scene: what is known of the image.
        feedback: the last draft that did not work, None at first.
        further: tools that this question has beside the registered ones; told of by the way `code` alone.
    """

    given: Given
    scene: Scene
    feedback: Feedback | None = None
    further: Mapping[str, Tool] = field(default_factory=dict)


class Way(Protocol):
    """How a model writes a program: what it is told, what its reply must look like, how that becomes a program."""

    name: str
    longest_reply: int
    """Tokens after which a reply is no longer what it should be: a small model can go on for ever."""

    def system(self) -> Prompt:
        """The long constant part of the prompt: the same for every question, for prefix caches."""

    def question(self, task: Task) -> Prompt:
        """The part that changes: scene, question, what is certain, what was wrong with the last draft."""

    def shape(self, task: Task) -> Shape:
        """What the reply must look like."""

    def program(self, text: str, task: Task) -> Program:
        """The program that a reply stands for.

        Raises:
            ProgramRejected: the reply stands for none; hints say why.
            Refused: the model says that the question cannot be measured.
        """
