"""One program for many images: a question is planned once for every scene that differs."""

from __future__ import annotations

import json
from dataclasses import asdict

from swath.agent.planner import Feedback, Planner, Program, Scene
from swath.batch.pool import Once
from swath.errors import Refused


class PlannedOnce:
    """A planner that is asked once for each question, scene and rejected draft, among all processes."""

    def __init__(self, planner: Planner, once: Once) -> None:
        self.name = planner.name
        self._planner = planner
        self._once = once

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """What the planner said when this was first asked.

        Raises:
            Refused: it refused.
        """
        asked = [question, asdict(scene), None if feedback is None else asdict(feedback)]
        said = self._once(json.dumps(asked), lambda: self._said(question, scene, feedback))
        if isinstance(said, Program):
            return said
        raise Refused(said)

    def _said(self, question: str, scene: Scene, feedback: Feedback | None) -> Program | str:
        try:
            return self._planner.plan(question, scene, feedback)
        except Refused as refusal:
            return str(refusal)
