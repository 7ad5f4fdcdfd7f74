"""Every sentence held against the objects once more before anybody sees it; what differs is flagged, never repaired."""

from __future__ import annotations

from dataclasses import replace

from swath.agent.planner import Planner
from swath.errors import PlanError, Refused
from swath.eval.annotate.measuring import Measured, Measuring
from swath.eval.annotate.questioning import in_words
from swath.eval.annotate.statements import Statement


def checked(statement: Statement, measuring: Measuring, planner: Planner) -> Statement:
    """A statement with its status: measured by its own program, and by what a planner makes of its words.

    Captions and quantities are confirmed by their programs alone. Referring sentences and questions are also read by
    the planner, which has not seen their programs: where it reads them, its measurement must be the same.

    Args:
        statement: with a program, or without one where a model wrote it.
        measuring: runs programs on its patch.
        planner: reads words.
    """
    own = measuring.run(statement.program) if statement.program and statement.kind != "caption" else None
    if own is not None and not _same(statement, own):
        return replace(statement, status="differs", note=_found(statement, own))
    if statement.kind in ("caption", "quantity"):
        return replace(statement, status="confirmed" if statement.program else "unread")
    read = _read(statement.text, measuring, planner)
    if read is None:
        return replace(statement, status="confirmed" if own is not None else "unread", note="read by no planner")
    if not _same(statement, read):
        return replace(statement, status="differs", note=_found(statement, read))
    return replace(statement, status="confirmed", note=f"read the same by {planner.name}")


def _read(text: str, measuring: Measuring, planner: Planner) -> Measured | None:
    """What a planner's program for some words gives; None where it does not take them, or cannot measure them."""
    try:
        program = planner.plan(text, measuring.scene, None)
    except (Refused, PlanError):
        return None
    measured = measuring.run(program.source)
    return None if measured.why is not None else measured


def _same(statement: Statement, found: Measured) -> bool:
    if statement.kind == "referring":
        return found.objects == tuple(map(str, statement.objects))
    if statement.kind == "quantity":
        low, high = statement.low, statement.high
        return found.value is not None and low is not None and high is not None and low <= found.value <= high
    return found.value is not None and in_words(found.value).lower() == statement.answer.lower()


def _found(statement: Statement, found: Measured) -> str:
    if found.why is not None:
        return found.why
    if statement.kind == "referring":
        return f"describes {', '.join(found.objects) or 'no object'}"
    return f"measured: {in_words(found.value)}"
