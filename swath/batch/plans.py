"""One program for many images: a question is planned once for every scene that differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from swath.agent.eyes import Eyes
from swath.agent.planner import Feedback, Judgement, Planner, Program, Scene, Usage
from swath.agent.planners import eyes_of, judge_of, rival_of, usage_of
from swath.batch.pool import Once
from swath.errors import ModelError, Refused
from swath.raster.reader import Raster


class PlannedOnce:
    """A planner that is asked once for each question, scene and rejected draft, among all processes.

    Attributes:
        name: name of the planner, or of the one that it had asked when this was first asked.
        out_of_reach: whether a language model could not be asked, for a reason that may pass.
    """

    def __init__(self, planner: Planner, once: Once) -> None:
        self.name = planner.name
        self.out_of_reach = False
        self._planner = planner
        self._once = once

    def usage(self) -> Usage | None:
        """What has been used of a language model: nothing where a program was known."""
        return usage_of(self._planner)

    @property
    def judge(self) -> Callable[[str, Raster], Judgement] | None:
        """How the planner answers without a program: of every image anew."""
        return None if judge_of(self._planner) is None else self._judged

    @property
    def eyes(self) -> Eyes | None:
        """Those of the planner that wrote the program."""
        return eyes_of(self._planner)

    def rival(self) -> Planner | None:
        """The planner that has to come to the same; it is asked of every image."""
        return rival_of(self._planner)

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """What the planner said when this was first asked.

        Raises:
            Refused: it refused.
            ModelError: its model cannot be asked; the next question tries again.
        """
        asked = [question, asdict(scene), None if feedback is None else asdict(feedback)]
        said, self.name = self._once(json.dumps(asked), lambda: self._said(question, scene, feedback))
        if isinstance(said, Program):
            return said
        raise Refused(said)

    def _said(self, question: str, scene: Scene, feedback: Feedback | None) -> tuple[Program | str, str]:
        try:
            return self._planner.plan(question, scene, feedback), self._planner.name
        except Refused as refusal:
            return str(refusal), self._planner.name
        except ModelError:
            self.out_of_reach = True
            raise

    def _judged(self, question: str, raster: Raster) -> Judgement:
        judge = judge_of(self._planner)
        if judge is None:
            raise RuntimeError(f"the planner {self.name} does not judge")
        try:
            return judge(question, raster)
        except ModelError:
            self.out_of_reach = True
            raise
