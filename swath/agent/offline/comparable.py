"""What can be compared: the kinds and units of measures, and the claims that a size makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.amounts import units
from swath.agent.offline.unsettled import Unsettled

UNIT_OF: dict[type, tuple[str, ...]] = {
    q.Area: ("m2", "px"), q.AreaStatistic: ("m2", "px"), q.Count: ("",), q.Share: ("percent",), q.Perimeter: ("m",),
    q.Distance: ("m",), q.Spacing: ("m",), q.Power: ("kW",), q.Ratio: ("",), q.Density: ("",), q.Growth: ("percent",),
}  # fmt: skip
"""Units of the amounts that a measure can be held against."""


def like(sample: Any, thing: m.Thing) -> Any:
    """A thing measured as something else was."""
    if isinstance(sample, q.Count):
        return q.Count(thing)
    if isinstance(sample, q.Area | q.AreaStatistic):
        return q.Area(thing, sample.in_pixels)
    if isinstance(sample, q.Share):
        return q.Share(thing, sample.whole)
    if isinstance(sample, q.Perimeter):
        return q.Perimeter(thing)
    raise Unsettled("It compares different kinds of measurements.")


def size_claims(thing: m.Thing, size: m.Size) -> list[q.Compared]:
    """A size as claims about an area."""
    claims: list[q.Compared] = []
    signs: tuple[tuple[m.Bound | None, q.Operator, q.Operator], ...] = ((size.low, ">=", ">"), (size.high, "<=", "<"))
    for bound, inclusive, exclusive in signs:
        if bound is not None:
            in_pixels = isinstance(bound.limit, m.Amount) and bound.limit.unit == "px"
            sign = inclusive if bound.inclusive else exclusive
            claims.append(q.Compared(q.Area(thing, in_pixels), sign, bound.limit))
    return claims


def size_of_target(thing: m.Thing, size: m.Size) -> m.Thing | None:
    """In "is the road within 5 m of any building larger than 300 m2" the size is that of the objects named last."""
    last = thing.steps[-1] if thing.steps else None
    if not isinstance(last, m.Near | m.Touching | m.Inside) or last.target.areal or not last.target.classes:
        return None
    if not all(word.plural or word.single for word in last.target.classes):
        return None
    return replace(thing, steps=(*thing.steps[:-1], replace(last, target=last.target.having(size))))


def dimension(measure: Any) -> str:
    """What has to be the same of two measures that are compared."""
    if isinstance(measure, q.Times):
        return dimension(measure.of)
    units = UNIT_OF.get(type(measure))
    return units[0] if units else type(measure).__name__


def dimension_of_unit(key: str) -> str:
    """The dimension of a unit by its key; empty where there is no such unit."""
    return units()[key].dimension if key in units() else ""


def check_units(measure: Any, amount: m.Amount) -> None:
    """Refuse what cannot be compared, such as a distance with hectares."""
    measure = measure.a if isinstance(measure, q.Difference) else measure
    if amount.unit not in UNIT_OF.get(type(measure), (amount.unit,)):
        raise Unsettled(f"{amount.said} is not a limit for what is measured.")
