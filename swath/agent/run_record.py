"""Everything that a run leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swath.agent.execution import Outcome, Step
from swath.agent.planner import Usage
from swath.agent.request import Keep
from swath.raster.reader import Raster
from swath.tools.site import Site
from swath.types import Answer


@dataclass(frozen=True)
class RunRecord:
    """Everything that a run leaves behind.

    Attributes:
        answer: what is told to the person.
        outcome: the program that ran to its end; None where none did.
        graph_steps: read, plan, check, run, verify, answer, in order, repeated where a draft was repaired.
        tool_steps: the calls of the last attempt, also of one that failed.
        program: the program that produced the answer, or the last one tried.
        drafts: rejected programs, each with its hints.
        raster: the image; None where it could not be opened.
        site: what was measured; None where it never came to that.
        inputs: the options of `ask` that say what the pixels and classes are, JSON-ready.
        planner: name of the planner.
        segmenter: what the segmenter says of itself.
        hardening: what the operating system adds to the sandbox.
        limits: what the program was allowed to use.
        timings: seconds by phase.
        keep: "light" keeps the texts, "full" masks, objects and picture too, "wrong" those only unless answered.
        notes: what the planner says of its reading; the answer's warnings begin with these.
        usage: what was asked of a language model; None where none was.
    """

    answer: Answer
    outcome: Outcome | None
    graph_steps: Sequence[Step]
    tool_steps: Sequence[Step]
    program: str | None
    drafts: Sequence[tuple[str, Sequence[str]]]
    raster: Raster | None
    site: Site | None
    inputs: Mapping[str, Any]
    planner: str
    segmenter: Mapping[str, Any]
    hardening: Sequence[str] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    keep: Keep = "full"
    notes: Sequence[str] = ()
    usage: Usage | None = None

    @property
    def keeps_evidence(self) -> bool:
        """Whether masks, objects and the picture are kept."""
        return self.keep == "full" or (self.keep == "wrong" and self.answer.status != "answered")
