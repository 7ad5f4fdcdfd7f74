"""A planner that says what it was told to say."""

from __future__ import annotations

from collections.abc import Sequence

from swath.agent.planner import Feedback, Program, Scene
from swath.errors import Refused


class ScriptedPlanner:
    """Hands out programs in order, whatever is asked; an error in their place is raised.

    Attributes:
        asked: the question, scene and feedback of every call, in order.
    """

    name = "scripted"

    def __init__(self, *drafts: Program | str | Exception) -> None:
        self._drafts: list[Program | str | Exception] = list(drafts)
        self.asked: list[tuple[str, Scene, Feedback | None]] = []

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """The next draft.

        Raises:
            Refused: the script has come to its end.
        """
        self.asked.append((question, scene, feedback))
        if not self._drafts:
            raise Refused("The script of this planner has no further program.")
        draft = self._drafts.pop(0)
        if isinstance(draft, Exception):
            raise draft
        return Program(draft, question) if isinstance(draft, str) else draft

    @property
    def feedback(self) -> Sequence[tuple[str, ...]]:
        """The hints that came with every call but the first."""
        return [heard.hints for _, _, heard in self.asked if heard is not None]
