"""Asking: one question, one image, one answer, one run folder."""

from __future__ import annotations

import atexit
import time
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from swath.agent.desk import Desk
from swath.agent.graph import GIVEN, asked, check, plan, read, work
from swath.agent.planner import Feedback, Planner, PlannerOptions, Program, Scene
from swath.agent.planners import open_planner, usage_of
from swath.agent.request import Request
from swath.agent.resuming import resumable
from swath.agent.run_record import RunRecord
from swath.agent.runs import write_run
from swath.agent.sandbox import Limits, Sandbox
from swath.raster.remote import known_as
from swath.trace.events import Listener
from swath.trace.reading import PROGRAM_FILE
from swath.types import Answer

PATHS = ("labels", "legend", "confusion", "aoi", "before", "after", "dsm", "dtm", "ndsm", "dem", "out")
"""Options that name one file or folder."""


class GivenProgram:
    """A planner that hands on a program that somebody wrote: `swath run`, replays, tests."""

    name = GIVEN

    def __init__(self, source: str, reading: str) -> None:
        self._program = Program(source, reading)

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """The program as given, whatever the question."""
        return self._program


@lru_cache(maxsize=1)
def process_sandbox() -> Sandbox:
    """The sandbox that this process shares, opened on first use and closed when the process ends.

    Raises:
        SandboxUnavailable: no isolated worker can be started.
    """
    sandbox = Sandbox()
    sandbox.__enter__()
    atexit.register(sandbox.__exit__, None, None, None)
    return sandbox


def ask(
    image: str | Path,
    question: str,
    *,
    planner: str | Planner = "auto",
    program: str | None = None,
    limits: Limits | None = None,
    listen: Listener | None = None,
    dask: str | None = None,
    **options: Any,
) -> Answer:
    """Ask a question about an image and get a measured answer.

        swath.ask("harbour.tif", "How many buildings are within 50 m of water?", labels="classes.tif")

    Args:
        image: a raster that GDAL reads.
        question: in words.
        planner: name of a registered planner, or one of your own.
        program: a program to run instead of planning one.
        limits: budgets of the program.
        listen: told of every graph step and tool call as it happens.
        dask: address of a Dask scheduler whose workers go through the tiles of a large image.
        options: the other fields of `swath.agent.desk.Request`: labels, legend, label_class, layers, aoi, segmenter,
            bands, thresholds, confusion, gsd_m, dsm, dtm, ndsm, dem, vertical_accuracy_m, vertical_unit,
            tiles_above_px, out, keep.

    Returns:
        The answer; `status` says whether it was answered, refused or failed.

    Raises:
        InputError: a file or an option cannot be used.
    """
    desk = open_desk(image, question, planner=planner, program=program, **options)
    desk.limits = limits or desk.limits
    desk.listen = listen or desk.listen
    with resumable(desk.request, dask):
        return answered(desk)


def answered(desk: Desk) -> Answer:
    """Work on the question of a desk and keep its run.

    Raises:
        InputError: a file or an option cannot be used.
    """
    return keep_run(desk, work(desk))


def keep_run(desk: Desk, answer: Answer) -> Answer:
    """Write the run of a desk whose question has been worked on; the answer then names its folder.

    The runs of unlike ways are written first, so that a refusal can name them.

    Raises:
        InputError: the folder cannot be written.
    """
    started = time.perf_counter()
    for rival in desk.rivals:
        if rival.answer is not None:
            kept, _ = write_run(_record(rival, rival.answer), desk.request.out)
            if answer.status == "refused" and rival.program is not None:
                reason = f"{answer.reason} {rival.answer.planner}: {kept / PROGRAM_FILE}."
                answer = replace(answer, reason=reason, text=reason)
    _, answer = write_run(_record(desk, answer), desk.request.out)
    return replace(answer, seconds=answer.seconds + time.perf_counter() - started)


def plan_only(image: str | Path, question: str, *, planner: str | Planner = "auto", **options: Any) -> Program:
    """Read the image, write a program for the question and check it, without running it.

    Raises:
        Refused: the question is not understood, or cannot be measured from this image.
        ProgramRejected: the planner's draft has faults.
        InputError: a file or an option cannot be used.
    """
    desk = open_desk(image, question, planner=planner, **options)
    state = asked(question)
    for node in (read, plan, check):
        state.update(node(state, desk))  # type: ignore[typeddict-item]  # a node gives some of the keys
    if desk.program is None:
        raise RuntimeError("the planner returned nothing")
    return desk.program


def open_desk(
    image: str | Path,
    question: str,
    *,
    planner: str | Planner = "auto",
    program: str | None = None,
    **options: Any,
) -> Desk:
    """A desk on which one question can be worked on; arguments as for `ask`.

    Raises:
        InputError: there is no such planner.
    """
    paths: dict[str, Any] = {key: known_as(options.pop(key)) for key in PATHS if options.get(key) is not None}
    layers = {name: known_as(path) for name, path in dict(options.pop("layers", None) or {}).items()}
    given = {key: value for key, value in options.items() if value is not None}
    request = Request(known_as(image), question, layers=layers, **paths, **given)
    if program is not None:
        return Desk(request, GivenProgram(program, question), process_sandbox())
    if isinstance(planner, str):
        said = PlannerOptions(request.model, request.base_url, request.look, request.agree)
        planner = open_planner(planner, said)
    return Desk(request, planner, process_sandbox())


def _record(desk: Desk, answer: Answer) -> RunRecord:
    return RunRecord(
        answer=answer,
        outcome=None if desk.measured is None else desk.measured.outcome,
        graph_steps=tuple(desk.graph_steps),
        tool_steps=() if desk.execution is None else tuple(desk.execution.ledger.steps),
        program=None if desk.program is None else desk.program.source,
        drafts=tuple(desk.drafts),
        raster=desk.raster,
        site=desk.site,
        inputs=desk.request.inputs(),
        planner=desk.planner.name,
        segmenter={} if desk.backend is None else desk.backend.describe(),
        hardening=tuple(desk.sandbox.hardening),
        limits=asdict(desk.limits),
        timings=desk.timings,
        keep=desk.request.keep,
        notes=() if desk.program is None else desk.program.notes,
        usage=usage_of(desk.planner),
    )
