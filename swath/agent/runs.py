"""Writes the folder of a run: what was asked, what was measured and how, so that anyone can look, replay and score."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swath.agent.kept_masks import keep_masks
from swath.agent.leftovers import locked
from swath.agent.mask_answer import write_mask_answer
from swath.agent.object_files import write_objects
from swath.agent.objects import ObjectTable, considered_objects, counted_objects, too_many
from swath.agent.overlay.picture import Evidence, draw_overlay
from swath.agent.run_description import described, first_call_line, mask_in, step_lines
from swath.agent.run_record import RunRecord
from swath.errors import InputError
from swath.trace.reading import OBJECTS_FILE, PICTURE_FILE, PROGRAM_FILE, RUN_FILE, STEPS_FILE
from swath.trace.strict_json import json_text
from swath.types import Answer, ObjectsSummary

TICKS_PER_SECOND = 65536
"""The four hexadecimal digits of an id are its fraction of a second, so that ids sort by time."""

NO_EVIDENCE: Mapping[str, Any] = {
    "masks": (), "masks_left_out": 0, "valid": None, "clip": None, "segmentations": {}, "remarks": (),
}  # fmt: skip


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
            json_text(described(record, answer, folder.name, created, evidence), indent=1) + "\n", encoding="utf-8"
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
    return replace(answer, run=str(folder), counted=objects, mask=mask_in(folder, answer))


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
