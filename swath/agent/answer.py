"""From a measurement to an answer that people read."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from swath.agent.desk import Desk
from swath.agent.execution import Reply
from swath.agent.mask_answer import summary_of
from swath.agent.measure import Measured
from swath.agent.objects import as_regions
from swath.agent.planner import Judgement, Program
from swath.agent.units import SHOWN
from swath.raster.remote import shown
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site
from swath.types import Answer, Interval, ObjectsSummary, Status

OF_KIND = {"count": "count", "percent": "percent", "boxes": "px", "point": "px"}
SHOWN_PLACES = 5
"""Boxes or points that a sentence names."""


def build(desk: Desk, status: Status, reason: str | None) -> Answer:
    """The answer of a question that has been worked on.

    Args:
        desk: everything that was found out.
        status: how it ended.
        reason: why there is no value, where there is none.
    """
    request = desk.request
    base = Answer(
        status=status,
        question=request.question,
        image=shown(request.image),
        reason=reason,
        text=reason or "",
        crs=None if desk.raster is None else desk.raster.grid.crs_name,
        program=None if desk.program is None else desk.program.source,
        reading=None if desk.program is None else desk.program.reading,
        planner=desk.planner.name,
        segmenter=None if desk.backend is None else desk.backend.name,
        seconds=time.perf_counter() - desk.started,
    )
    if status == "answered" and desk.judgement is not None:
        return judged_answer(base, desk.judgement)
    if status != "answered" or desk.measured is None or desk.program is None:
        return base
    return measured_answer(base, desk.measured, desk.program)


def judged_answer(base: Answer, judgement: Judgement) -> Answer:
    """An answer that nobody measured, marked as such.

    Args:
        base: question, image, planner.
        judgement: what was said.
    """
    shown = with_unit(judgement.value, None)
    return replace(
        base,
        answer=judgement.value,
        kind=judgement.kind,
        text=f"{shown}: {judgement.marked}",
        warnings=(judgement.marked,),
        segmenter=None,
    )


def measured_answer(base: Answer, measured: Measured, program: Program) -> Answer:
    """An answer with its value, unit, interval, warnings and evidence.

    Args:
        base: question, image, planner, segmenter.
        measured: what was measured.
        program: what measured it, and how it reads the question.
    """
    outcome = measured.outcome
    reply = outcome.reply
    value = _plain(reply.value)
    unit = reply.unit or OF_KIND.get(reply.kind)
    return replace(
        base,
        answer=value,
        kind=reply.kind,
        unit=unit,
        text=_text(value, unit, measured.interval, program.reading),
        interval=measured.interval,
        method=_method(outcome.site),
        warnings=_warnings(measured, program),
        counted=_objects(reply),
        mask=summary_of(reply),
    )


def _plain(value: Any) -> Any:
    """Truth values as people say them, handles by name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mask | Regions):
        return value.name
    if isinstance(value, list):
        return [_plain(item) if isinstance(item, Mask | Regions) else item for item in value]
    return value


def _text(value: Any, unit: str | None, interval: Interval | None, reading: str) -> str:
    shown = with_unit(value, unit)
    if interval is not None and isinstance(value, int | float) and interval.low != interval.high:
        shown += f" ({number(interval.low)} to {number(interval.high)})"
    return f"{shown}: {reading}" if reading else shown


def with_unit(value: Any, unit: str | None) -> str:
    """A value as people read it: "3.344 ha", "13", "yes"."""
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        return _places(value)
    if isinstance(value, list):
        return ", ".join(with_unit(item, None) for item in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{number(value)} {SHOWN.get(unit or '', unit or '')}".rstrip()


def _places(rows: list[list[float]]) -> str:
    """Boxes or points: "(12, 2, 18.5, 8), (30, 2, 36, 8) and 10 more"."""
    shown = ", ".join(f"({', '.join(f'{value:.6g}' for value in row)})" for row in rows[:SHOWN_PLACES])
    return f"{shown} and {len(rows) - SHOWN_PLACES} more" if len(rows) > SHOWN_PLACES else shown


def number(value: float) -> str:
    """Four significant digits, all digits before the point, thousands apart."""
    if value == int(value):
        return f"{int(value):,}"
    magnitude = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if magnitude:
        return f"{value:,.{max(4 - magnitude, 0)}f}"
    return f"{value:.4g}"


def _method(site: Site) -> str:
    ground = site.raster.grid.ground
    sources = [found.method for found in site.segmentations.values() if found.method]
    heights = [] if site.heights is None else site.heights.methods
    return "; ".join([ground.method if ground is not None else "in pixels", *sources, *heights])


def _warnings(measured: Measured, program: Program) -> tuple[str, ...]:
    site = measured.outcome.site
    found = dict.fromkeys(program.notes)
    clash = site.raster.grid.stated_clash
    if clash:
        found[clash] = None
    found |= dict.fromkeys(site.raster.warnings)
    found |= dict.fromkeys(() if site.clip is None else site.clip.notes)
    found |= site.warnings
    if measured.close_call:
        found["The answer is a close call: within the interval of the measurements it would turn out otherwise."] = None
    return tuple(found)


def _objects(reply: Reply) -> ObjectsSummary | None:
    if reply.objects is None:
        return None
    return ObjectsSummary(len(as_regions(reply.objects)))
