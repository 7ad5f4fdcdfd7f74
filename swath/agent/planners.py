"""Finds planners by name, ours and those of other packages alike; `auto` goes from the grammar to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from swath.agent.eyes import Eyes
from swath.agent.planner import Feedback, Judgement, Planner, PlannerOptions, Program, Scene, Usage
from swath.errors import InputError, Refused
from swath.raster.reader import Raster

GROUP = "swath.planners"
AUTO = "auto"
OPTIONAL = ("openai", "httpx2")
"""Packages of the extra `llm`."""
GRAMMAR, MODEL = "offline", "llm"


@lru_cache(maxsize=1)
def _entries() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def planner_names() -> tuple[str, ...]:
    """Names of all registered planners."""
    return tuple(sorted(_entries()))


def open_planner(name: str, options: PlannerOptions | None = None) -> Planner:
    """A planner by name.

    Args:
        name: one of `planner_names()`, or "auto".
        options: what a person said about who plans.

    Raises:
        InputError: no planner has this name, the message lists those that there are; or it cannot be set up.
    """
    options = options or PlannerOptions()
    if name != AUTO and name not in _entries():
        raise InputError(f'There is no planner "{name}". Next: choose one of {", ".join((AUTO, *planner_names()))}.')
    try:
        if options.agree:
            from swath.agent.llm.unlike import Agreeing

            return Agreeing(name, options)
        planner: Planner = Auto(options) if name == AUTO else _entries()[name].load()(options)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        raise InputError(f"Language models need the package {error.name}. Next: pip install 'swath[llm]'.") from None
    return planner


class Auto:
    """The grammar where it covers the question whole, else the model that is named, else the grammar's refusal.

    Attributes:
        name: name of the planner that was asked last.
    """

    def __init__(self, options: PlannerOptions) -> None:
        self.name = GRAMMAR
        self._options = options
        self._planner = open_planner(GRAMMAR, options)

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Write a program.

        Raises:
            Refused: neither can turn the question into measurements.
        """
        try:
            return self._planner.plan(question, scene, feedback)
        except Refused:
            if self.name != GRAMMAR or not self._names_a_model():
                raise
        self.name, self._planner = MODEL, open_planner(MODEL, self._options)
        return self._planner.plan(question, scene, feedback)

    def usage(self) -> Usage | None:
        """What the language model has used, None where none was asked."""
        return usage_of(self._planner)

    @property
    def eyes(self) -> Eyes | None:
        """Those of the planner that wrote the program."""
        return eyes_of(self._planner)

    def _names_a_model(self) -> bool:
        from swath.agent.llm.settings import settings

        return settings(self._options.model, self._options.base_url) is not None


def usage_of(planner: Planner) -> Usage | None:
    """What a planner has used of a language model, None where it asks none."""
    usage = getattr(planner, "usage", None)
    found: Usage | None = usage() if usage is not None else None
    return found


def judge_of(planner: Planner) -> Callable[[str, Raster], Judgement] | None:
    """How a planner answers without a program, None where it writes one."""
    judge: Callable[[str, Raster], Judgement] | None = getattr(planner, "judge", None)
    return judge


def rival_of(planner: Planner) -> Planner | None:
    """The planner of another kind whose measured answer has to be the same, None where none has to."""
    rival = getattr(planner, "rival", None)
    found: Planner | None = rival() if rival is not None else None
    return found


def eyes_of(planner: Planner) -> Eyes | None:
    """Who looks where a program of a planner asks to, None where nobody does."""
    eyes: Eyes | None = getattr(planner, "eyes", None)
    return eyes
