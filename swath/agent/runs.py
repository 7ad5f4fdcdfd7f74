"""Writes the folder of a run: what was asked, what was measured and how, so that anyone can look, replay and score."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from swath.agent.execution import Outcome, Step
from swath.agent.kept_masks import keep_masks, sha256_of
from swath.agent.leftovers import locked
from swath.agent.mask_answer import write_mask_answer
from swath.agent.object_files import write_objects
from swath.agent.objects import ObjectTable, considered_objects, counted_objects, too_many
from swath.agent.overlay.picture import Evidence, draw_overlay
from swath.agent.planner import Usage
from swath.agent.sandbox import SEED
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.reader import Raster
from swath.raster.remote import is_remote, shown
from swath.tools.site import Site
from swath.trace.reading import (
    MASK_FILE,
    MASK_PICTURE,
    OBJECTS_FILE,
    PICTURE_FILE,
    PROGRAM_FILE,
    RUN_FILE,
    SCHEMA_VERSION,
    STEPS_FILE,
)
from swath.trace.strict_json import json_text
from swath.types import Answer, MaskSummary, ObjectsSummary

CONVENTIONS = "swath/1"
"""The meanings of "within", "larger than", "region" ... that the tools of this version follow."""

TICKS_PER_SECOND = 65536
"""The four hexadecimal digits of an id are its fraction of a second, so that ids sort by time."""

NO_EVIDENCE: Mapping[str, Any] = {
    "masks": (), "masks_left_out": 0, "valid": None, "clip": None, "segmentations": {}, "remarks": (),
}  # fmt: skip

Keep = Literal["light", "wrong", "full"]


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


def write_run(record: RunRecord, out: Path) -> tuple[Path, Answer]:
    """Keep a run.

    Args:
        record: what to keep.
        out: parent folder; made where it is not there.

    Returns:
        The run's folder, and the answer that names it and the file of its objects.

    Raises:
        InputError: the folder cannot be written; nothing is left of a run that could not be kept whole.
    """
    with _new_folder(out) as (partial, folder, created):
        _write_texts(partial, record)
        _write_mask_answer(partial, record)
        evidence = _write_evidence(partial, record) if record.keeps_evidence else dict(NO_EVIDENCE)
        answer = _located(record.answer, partial, folder)
        (partial / RUN_FILE).write_text(
            json_text(_described(record, answer, folder.name, created, evidence), indent=1) + "\n", encoding="utf-8"
        )
    return folder, replace(answer, warnings=(*answer.warnings, *evidence["remarks"]))


def _write_mask_answer(folder: Path, record: RunRecord) -> None:
    """The map that an answer of kind mask is: kept in any run, since it is the answer."""
    if record.answer.mask is not None and record.outcome is not None and record.site is not None:
        write_mask_answer(folder, record.outcome.reply, record.site.raster.grid)


def _located(answer: Answer, partial: Path, folder: Path) -> Answer:
    """The answer with the paths of its run and its files, as they will be once the folder has its name."""
    objects = answer.counted
    if objects is not None and (partial / OBJECTS_FILE).exists():
        objects = ObjectsSummary(objects.count, str(folder / OBJECTS_FILE))
    return replace(answer, run=str(folder), counted=objects, mask=_mask_in(folder, answer))


def _mask_in(folder: Path, answer: Answer) -> MaskSummary | None:
    if answer.mask is None:
        return None
    return replace(answer.mask, path=str(folder / MASK_FILE), picture=str(folder / MASK_PICTURE))


def _write_evidence(folder: Path, record: RunRecord) -> dict[str, Any]:
    """Masks, objects and the picture; what run.json says of them."""
    if record.site is None:
        return dict(NO_EVIDENCE)
    outcome, raster = record.outcome, record.site.raster
    kept = keep_masks(folder, record.site, None if outcome is None else outcome.ledger)
    counted = considered = ObjectTable()
    if outcome is not None and outcome.reply.objects is not None:
        counted = counted_objects(outcome.reply.objects, record.site)
        considered = considered_objects(outcome, first_call_line(record.graph_steps))
        write_objects(folder / OBJECTS_FILE, counted, considered, raster.grid)
    evidence = Evidence(counted, considered, outcome, record.site)
    draw_overlay(folder / PICTURE_FILE, record.answer, raster, evidence)
    remark = too_many(counted, considered)
    return {**kept, "remarks": [remark] if remark else []}


@contextmanager
def _new_folder(out: Path) -> Iterator[tuple[Path, Path, datetime]]:
    """A hidden folder to write into, and the name that it takes once all is written."""
    partial: Path | None = None
    try:
        out.mkdir(parents=True, exist_ok=True)
        partial, folder, created = _reserved(out)
        with locked(partial):
            yield partial, folder, created
            partial.rename(folder)
    except OSError as error:
        _drop(partial)
        raise InputError(_unwritable(out, error)) from error
    except BaseException:
        _drop(partial)
        raise


def _reserved(out: Path) -> tuple[Path, Path, datetime]:
    created = datetime.now(UTC)
    tick = created.microsecond * TICKS_PER_SECOND // 1_000_000
    for step in range(TICKS_PER_SECOND):
        name = f"{created:%Y%m%d-%H%M%S}-{(tick + step) % TICKS_PER_SECOND:04x}"
        partial, folder = out / f".{name}.partial", out / name
        try:
            partial.mkdir()
        except FileExistsError:
            continue
        # Whoever had this name may have finished in between: a finished run is never replaced.
        if not folder.exists():
            return partial, folder, created
        partial.rmdir()
    raise FileExistsError(errno.EEXIST, "every name of this second is taken", str(out))


def _drop(partial: Path | None) -> None:
    if partial is not None:
        shutil.rmtree(partial, ignore_errors=True)


def _unwritable(out: Path, error: OSError) -> str:
    why = (error.strerror or str(error)).lower()
    return f"The run cannot be kept in {out}: {why}. Next: name another folder with --out, or make room there."


def _write_texts(folder: Path, record: RunRecord) -> None:
    if record.program is not None:
        (folder / PROGRAM_FILE).write_text(record.program, encoding="utf-8")
    for number, (source, _) in enumerate(record.drafts, start=1):
        (folder / f"program.{number}.py").write_text(source, encoding="utf-8")
    lines = [json_text(line) for line in step_lines(record.graph_steps, record.tool_steps)]
    (folder / STEPS_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def step_lines(graph_steps: Sequence[Step], tool_steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The lines of steps.jsonl: the calls of the last attempt follow the graph step "run" that made them."""
    before = first_call_line(graph_steps) - 1
    ordered = [*graph_steps[:before], *tool_steps, *graph_steps[before:]]
    return [_step_line(number, step) for number, step in enumerate(ordered, start=1)]


def first_call_line(graph_steps: Sequence[Step]) -> int:
    """Number of the line of steps.jsonl that holds the first call of the last attempt."""
    runs = [number for number, step in enumerate(graph_steps, start=1) if step.name == "run"]
    return (runs[-1] if runs else len(graph_steps)) + 1


def _step_line(number: int, step: Step) -> dict[str, Any]:
    return {
        "step": number,
        "kind": step.kind,
        "name": step.name,
        "arguments": step.arguments,
        "result": step.result,
        "line": step.line,
        "seconds": round(step.seconds, 6),
        "error": step.error,
        "cached": step.cached,
    }


def _described(
    record: RunRecord, answer: Answer, name: str, created: datetime, evidence: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of run.json; paths inside the folder are relative to it, so that it can be moved."""
    objects = answer.counted
    if objects is not None and objects.path is not None:
        objects = ObjectsSummary(objects.count, Path(objects.path).name)
    return {
        "schema_version": SCHEMA_VERSION,
        "id": name,
        "created": created.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "swath": version("swath"),
        "question": answer.question,
        "image": _image(record),
        "inputs": record.inputs,
        "aoi": _aoi(record.inputs.get("aoi")),
        "heights": None if record.site is None or record.site.heights is None else record.site.heights.describe(),
        "errors": None if record.site is None or record.site.errors is None else record.site.errors.describe(),
        "cwd": str(Path.cwd()),
        "classes": None if record.site is None else record.site.backend.classes(),
        "planner": record.planner,
        **used(record.usage),
        "segmenter": record.segmenter,
        "conventions": CONVENTIONS,
        "seeds": {"program": SEED},
        "hardening": record.hardening,
        "limits": record.limits,
        "drafts": [
            {"file": f"program.{number}.py", "hints": hints} for number, (_, hints) in enumerate(record.drafts, start=1)
        ],
        "notes": record.notes,
        "answer": replace(answer, run=name, counted=objects, mask=_mask_in(Path(), answer)).to_json(),
        "status": answer.status,
        "timings": record.timings,
        "keep": record.keep,
        **evidence,
    }


def used(usage: Usage | None) -> dict[str, Any]:
    """What a language model was asked and what it cost, JSON-ready; the cost is None where a price is not known."""
    if usage is None:
        return {"model": None, "prompts": {}, "model_calls": [], "tokens": None, "cost": None}
    costs = [call.cost for call in usage.calls]
    return {
        "model": usage.model,
        "prompts": dict(usage.prompts),
        "model_calls": [asdict(call) for call in usage.calls],
        "tokens": {
            "in": sum(call.tokens_in or 0 for call in usage.calls),
            "cached": sum(call.tokens_cached for call in usage.calls),
            "out": sum(call.tokens_out or 0 for call in usage.calls),
        },
        "cost": None if None in costs else {"dollars": sum(cost for cost in costs if cost is not None)},
    }


def _aoi(path: str | None) -> dict[str, Any] | None:
    return None if path is None else {"path": path, "sha256": sha256_of(Path(path)) if Path(path).is_file() else None}


def _image(record: RunRecord) -> dict[str, Any]:
    raster = record.raster
    if raster is None:
        return {"path": record.answer.image, "resolved": None, "sha256": None, "held": None, "grid": None}
    return {
        "path": shown(raster.path),
        "resolved": shown(raster.path) if is_remote(raster.path) else os.fspath(raster.path.resolve()),
        "sha256": raster.sha256,
        "held": "tiles" if raster.in_tiles else "array",
        "grid": described_grid(raster.grid),
    }


def described_grid(grid: Grid) -> dict[str, Any]:
    """A grid as JSON: shape (rows, columns), affine (a, b, c, d, e, f), CRS as WKT, ground size."""
    ground = grid.ground
    return {
        "shape": grid.shape,
        "affine": tuple(grid.affine)[:6],
        "crs": None if grid.crs is None else grid.crs.to_wkt(),
        "pixel_size_m": None if ground is None else dict(zip("xy", ground.size_xy_m, strict=True)),
        "pixel_area_m2": None if ground is None else ground.pixel_area_m2,
        "method": grid.why_no_ground if ground is None else ground.method,
        "stated_gsd_m": grid.stated_gsd_m,
    }
