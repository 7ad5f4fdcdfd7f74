"""Runs a recorded program again, without any planner, and holds the answer against the recorded one.

A run that kept its masks is measured on these; any other has its classes found anew from the recorded inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from swath.agent.answer import build
from swath.agent.ask import GivenProgram, process_sandbox
from swath.agent.desk import Desk, heights_of
from swath.agent.execution import Execution
from swath.agent.eyes import remembered
from swath.agent.judged import judged_before
from swath.agent.measure import measure
from swath.agent.planner import Judgement, Program
from swath.agent.recorded import RecordedBackend
from swath.agent.request import Request
from swath.agent.run_description import step_lines
from swath.agent.verify import verify
from swath.errors import InputError, PlanError, Refused, VerificationFailed
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site
from swath.trace.reading import Run
from swath.trace.strict_json import json_ready, json_text
from swath.types import Answer

COMPARED = ("status", "answer", "kind", "unit", "text", "interval", "warnings", "method", "crs", "objects")
"""Fields of an answer that a replay must give again bit for bit; how long it took is not among them."""

PATHS = tuple(option.name for option in fields(Request) if option.type == "Path | None")
"""Options of `ask` that name a file."""


@dataclass(frozen=True)
class Replay:
    """A run that was measured again.

    Attributes:
        answer: what came out this time.
        differences: a sentence for each thing that is not as it was.
    """

    answer: Answer
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the answer is the recorded one, bit for bit."""
        return not self.differences


def replay(run: Run, *, resegment: bool = False, image: Path | None = None) -> Replay:
    """Run a recorded program again; where a model judged, take what it said from the record.

    Args:
        run: what to replay.
        resegment: find the classes anew even where the run kept its masks.
        image: the image, where it has moved.

    Raises:
        InputError: the run never had a program, or a file that it needs is missing or has changed.
    """
    said = judged_before(run)
    if said is not None:
        return _judged(run, said, image)
    desk = _desk(run, image)
    answer = replace(_measured(desk, run, resegment=resegment), planner=run.answer.get("planner"), run=str(run.folder))
    return Replay(answer, tuple(_differences(run, desk, answer)))


def _judged(run: Run, said: Judgement, image: Path | None) -> Replay:
    desk = Desk(_request(run, place_of_image(run, image)), GivenProgram("", ""), process_sandbox())
    desk.judgement = said
    desk.open()
    _check_image(desk, run)
    answer = replace(build(desk, "answered", None), planner=run.answer.get("planner"), run=str(run.folder))
    return Replay(answer, tuple(_differences(run, desk, answer)))


def measured_again(run: Run) -> tuple[Desk, Answer]:
    """The desk of a run whose program ran again on what it kept, and what came out: its masks and objects are there.

    Raises:
        InputError: the run never had a program, or a file that it needs is missing or has changed.
    """
    desk = _desk(run, None)
    return desk, _measured(desk, run, resegment=False)


def objects_again(run: Run) -> tuple[Mask | Regions, Site]:
    """What stood behind the answer of a run, measured again, and the site that it was measured on.

    Raises:
        InputError: the program names no objects, or cannot be run again.
    """
    desk, answer = measured_again(run)
    objects = None if desk.measured is None else desk.measured.outcome.reply.objects
    if objects is None:
        raise InputError(f"Run {run.id} cannot be measured again: {answer.reason or 'its reply names no objects'}")
    return objects, desk.opened()


def _desk(run: Run, image: Path | None) -> Desk:
    """A desk with the recorded request and the recorded program on it."""
    source = run.program
    if source is None:
        raise InputError(f"Run {run.id} never had a program: it was {run.status} before one was written.")
    recorded = run.answer.get("program")
    if recorded is not None and source != recorded:
        raise InputError(
            f"program.py of run {run.id} is not the program that gave its answer. "
            "Next: run an edited program with swath run."
        )
    reading = str(run.answer.get("reading") or "")
    desk = Desk(_request(run, place_of_image(run, image)), GivenProgram(source, reading), process_sandbox())
    desk.program = Program(source, reading, tuple(run.record["notes"]))
    return desk


def place_of_image(run: Run, moved: Path | None = None) -> Path:
    """Where the image is now.

    Raises:
        InputError: it is not where it was.
    """
    known = run.record["image"]
    places = [moved] if moved else [Path(str(known["resolved"] or known["path"])), placed(run, str(known["path"]))]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise InputError(
            f"The image of run {run.id} is not at {places[0]}. Next: put it back, or say where it is with --image FILE."
        )
    return found


def placed(run: Run, path: str) -> Path:
    """A path as it was typed where that still leads to the same file, else from the folder it was typed in."""
    there = Path(str(run.record["cwd"])) / path
    here = Path(path)
    return here if not there.exists() or (here.exists() and here.samefile(there)) else there


def _request(run: Run, image: Path) -> Request:
    inputs = {name: value for name, value in run.record["inputs"].items() if value is not None}
    unknown = sorted(set(inputs) - {option.name for option in fields(Request)})
    if unknown:
        raise InputError(f"Run {run.id} used options that this swath does not know: {', '.join(unknown)}.")
    inputs |= {name: placed(run, inputs[name]) for name in PATHS if name in inputs}
    inputs["layers"] = {name: placed(run, path) for name, path in inputs.get("layers", {}).items()}
    return Request(image, run.question, **inputs)


def _measured(desk: Desk, run: Run, *, resegment: bool) -> Answer:
    try:
        _open(desk, run, resegment=resegment)
        program, site = desk.program, desk.opened()
        if program is None:
            raise RuntimeError("the desk of a replay has no program")
        desk.execution = Execution(site, further=remembered(run))
        desk.measured = measure(program.source, site, desk.sandbox, desk.limits, desk.execution)
        verify(desk.measured.outcome)
    except Refused as refusal:
        return build(desk, "refused", str(refusal))
    except (PlanError, VerificationFailed) as fault:
        return build(desk, "failed", str(fault))
    return build(desk, "answered", None)


def _open(desk: Desk, run: Run, *, resegment: bool) -> None:
    """Open the image, and the recorded masks or the recorded inputs."""
    if run.record["valid"] is None or resegment:
        desk.open()
    else:
        request = desk.request
        raster = request.opened_image()
        backend = RecordedBackend(run, raster.shape, raster.tiles)
        desk.raster, desk.backend = raster, backend
        heights = heights_of(request, raster)
        desk.site = Site(
            raster,
            backend,
            backend.known(),
            clip=backend.clip(),
            heights=heights,
            errors=backend.errors(),
            vocabulary=backend.vocabulary,
        )
    _check_image(desk, run)
    stated = (run.record["image"]["grid"] or {}).get("stated_gsd_m")
    if stated is not None and desk.request.gsd_m is None:
        desk.state_gsd(stated)


def _check_image(desk: Desk, run: Run) -> None:
    recorded, raster = run.record["image"]["sha256"], desk.opened().raster
    if recorded is not None and raster.sha256 != recorded:
        raise InputError(
            f"{raster.path} is not the image of run {run.id}: its SHA-256 begins with {str(raster.sha256)[:12]}, "
            f"not {recorded[:12]}. Next: put the image back, or ask the question again."
        )


def _differences(run: Run, desk: Desk, answer: Answer) -> Iterator[str]:
    then, now = run.answer, json_ready(answer.to_json())
    for name in COMPARED:
        before, after = then.get(name), now.get(name)
        if name == "objects":
            before, after = (None if value is None else value["count"] for value in (before, after))
        if name == "text" and answer.status != "answered":
            continue
        if json_text(before) != json_text(after):
            yield f"{name}: {_short(before)} then, {_short(after)} now"
    # The sentence about repeated drafts goes around the reason of the last one.
    if answer.status == then["status"] != "answered" and str(answer.reason) not in str(then.get("reason")):
        yield f"reason: {_short(then.get('reason'))} then, {_short(answer.reason)} now"
    yield from _different_steps(run, desk)
    if desk.backend is not None and _fingerprints(run.record["segmenter"]) != _fingerprints(desk.backend.describe()):
        yield "the files that the classes come from have changed since"
    heights = desk.site.heights if desk.site is not None else None
    if _fingerprints(run.record.get("heights")) != _fingerprints(None if heights is None else heights.describe()):
        yield "the files that the heights come from have changed since"


def _short(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= 200 else f"{text[:200]} ..."


def _different_steps(run: Run, desk: Desk) -> Iterator[str]:
    """The first call that was made otherwise, or that gave something else."""
    then = [step for step in run.steps if step.get("kind") == "tool"]
    now = step_lines((), desk.execution.ledger.steps if desk.execution else ())
    for before, after in zip(then, json_ready(now), strict=False):
        for name in ("name", "arguments", "result", "line", "error"):
            if json_text(before.get(name)) != json_text(after[name]):
                step, tool = before["step"], before["name"]
                yield f"step {step} ({tool}), {name}: {_short(before.get(name))} then, {_short(after[name])} now"
                return
    if len(then) != len(now):
        yield f"calls: {len(then)} then, {len(now)} now"


def _fingerprints(record: Any) -> list[str]:
    """Every SHA-256 in a segmenter's description, in order."""
    if isinstance(record, Mapping):
        own = [str(value) for name, value in record.items() if str(name).endswith("sha256") and value]
        return own + [found for value in record.values() for found in _fingerprints(value)]
    if isinstance(record, list | tuple):
        return [found for value in record for found in _fingerprints(value)]
    return []
