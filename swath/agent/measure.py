"""One program measured on one site, with the interval of its answer.

The interval comes from running the program again with each doubt moved to its ends: outlines by half a pixel,
distances by a pixel, thresholds to where they could be argued. The deviations are added, which overstates rather than
understates. See design/measure.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from swath.agent.execution import Execution, Outcome, run_program
from swath.agent.sandbox import Limits, Sandbox
from swath.errors import BudgetExceeded, PlanError, Refused
from swath.tools.adjusted import check_adjusted
from swath.tools.site import SAMPLE, Nudge, Site
from swath.types import Interval

NUMERIC = ("count", "quantity", "percent", "boolean")
MOST_CLASS_SETS = 6
"""Outlines moved one set of classes at a time; programs that measure more sets move all of the rest together."""


@dataclass(frozen=True)
class Measured:
    """A program's outcome and how far its value could lie elsewhere.

    Attributes:
        outcome: the measurement itself.
        interval: None where the value is not a number or nothing about it is in doubt.
        close_call: whether a yes/no or a category would turn out otherwise under some doubt.
    """

    outcome: Outcome
    interval: Interval | None
    close_call: bool


def measure(
    source: str, site: Site, sandbox: Sandbox, limits: Limits | None = None, execution: Execution | None = None
) -> Measured:
    """Run a program, then again under each doubt.

    Args:
        source: a checked program.
        site: what it measures.
        sandbox: an open sandbox.
        limits: budgets of each run.
        execution: where the first run is recorded.

    Raises:
        PlanError: the program is at fault.
        Refused: it cannot be measured from this image.
    """
    outcome = run_program(source, site, sandbox, limits, execution)
    check_adjusted(outcome.site)
    value = outcome.reply.value
    if outcome.reply.kind == "category":
        rivals = [rival for _, rival in _rivals(source, outcome, sandbox, limits)]
        return Measured(outcome, None, any(rival != value for rival in rivals))
    if outcome.reply.kind not in NUMERIC or not isinstance(value, int | float):
        return Measured(outcome, None, close_call=False)
    interval = _interval(float(value), outcome, list(_rivals(source, outcome, sandbox, limits)))
    close_call = outcome.reply.kind == "boolean" and interval is not None and interval.low != interval.high
    return Measured(outcome, interval, close_call)


def _nudges(site: Site) -> Iterator[tuple[str, Nudge]]:
    """Every doubt that touched the measurement, moved to each of its ends."""
    class_sets = sorted(site.measured_classes, key=sorted)
    for classes in class_sets[:MOST_CLASS_SETS]:
        yield "boundary", Nudge(boundary=-1, classes=classes)
        yield "boundary", Nudge(boundary=1, classes=classes)
    if "proximity" in site.doubts:
        yield "proximity", Nudge(proximity_px=-1)
        yield "proximity", Nudge(proximity_px=1)
    if "outline" in site.doubts:
        yield "outline", Nudge(outline=-1)
        yield "outline", Nudge(outline=1)
    for doubt in sorted({"vertical accuracy", "sampling"} & site.doubts):
        yield doubt, Nudge(height=-1)
        yield doubt, Nudge(height=1)
    if SAMPLE in site.doubts:
        yield SAMPLE, Nudge(sample=-1)
        yield SAMPLE, Nudge(sample=1)
    if "segmentation" in site.doubts:
        yield "segmentation", Nudge(threshold=-1)
        yield "segmentation", Nudge(threshold=1)


def _rivals(
    source: str, outcome: Outcome, sandbox: Sandbox, limits: Limits | None
) -> Iterator[tuple[tuple[str, frozenset[str]], object]]:
    """What the program answers under each doubt; a doubt under which it has no answer is left out."""
    for doubt, nudge in _nudges(outcome.site):
        site = outcome.site.nudged(nudge)
        try:
            rival = run_program(source, site, sandbox, limits).reply.value
        except BudgetExceeded:
            raise
        except (PlanError, Refused):
            continue
        yield (doubt, nudge.classes), rival


def _interval(
    value: float, outcome: Outcome, rivals: list[tuple[tuple[str, frozenset[str]], object]]
) -> Interval | None:
    below: dict[tuple[str, frozenset[str]], float] = {}
    above: dict[tuple[str, frozenset[str]], float] = {}
    for source_of_doubt, rival in rivals:
        if isinstance(rival, int | float):
            below[source_of_doubt] = max(below.get(source_of_doubt, 0.0), value - float(rival))
            above[source_of_doubt] = max(above.get(source_of_doubt, 0.0), float(rival) - value)
    if not below:
        return None
    ceiling = {"percent": 100.0, "boolean": 1.0}.get(outcome.reply.kind, float("inf"))
    signed = value < 0 or any(isinstance(rival, int | float) and rival < 0 for _, rival in rivals)
    floor = -float("inf") if signed else 0.0  # only differences go below nothing
    low, high = max(value - sum(below.values()), floor), min(value + sum(above.values()), ceiling)
    covers = tuple(sorted({doubt for doubt, _ in below}))
    return Interval(low, high, covers)
