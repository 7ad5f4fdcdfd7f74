"""Programs run over the objects of a patch: every sentence and every answer of a data set is one's result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from swath.agent.ask import open_desk, process_sandbox
from swath.agent.execution import run_program
from swath.agent.planner import Scene
from swath.errors import PlanError, Refused
from swath.tools.handles import Regions
from swath.tools.site import Site


@dataclass(frozen=True)
class Measured:
    """What a program gave.

    Attributes:
        value: its reply; None where it was refused or failed.
        objects: identifiers of the objects behind it.
        why: why there is no value.
    """

    value: Any = None
    objects: tuple[str, ...] = ()
    why: str | None = None


class Measuring:
    """Runs programs on one patch; the same program once.

    Attributes:
        site: the patch's image with its objects as classes.
        scene: what a planner may know of it.
    """

    def __init__(self, image: Path, detections: Path, gsd_m: float | None) -> None:
        """Open the patch.

        Raises:
            InputError: a file cannot be used.
        """
        desk = open_desk(image, "", program="", labels=detections, gsd_m=gsd_m)
        self.site: Site = desk.open()
        self.scene: Scene = desk.scene()
        self.run = lru_cache(maxsize=None)(self._run)

    def _run(self, program: str) -> Measured:
        try:
            outcome = run_program(program, self.site.again(), process_sandbox())
        except (Refused, PlanError) as error:
            return Measured(why=str(error))
        objects = outcome.reply.objects
        ids = tuple(map(str, objects.column("source_ids"))) if isinstance(objects, Regions) and len(objects) else ()
        return Measured(outcome.reply.value, ids)
