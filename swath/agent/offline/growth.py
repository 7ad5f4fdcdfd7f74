"""One measure at two dates: how much it grew, whether it did, which class did most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import GrewAsked, GrewMost, TurnedAsked
from swath.agent.offline.trees import STEPS, before_pick, rebuilt, things_in
from swath.agent.offline.unsettled import Unsettled

_DIRECTIONS: dict[str, Literal["up", "down"]] = {"lost": "down", "gained": "up"}


def grown(asked: GrewAsked, measure: Any) -> q.Measure | q.Claim | q.Choice:
    """What is asked of a measure's growth.

    Args:
        asked: how it is asked.
        measure: what grew, without a date.

    Raises:
        Unsettled: it is bound to one date.
    """
    direction = asked.direction
    for thing in things_in(measure):
        for step in thing.steps:
            if isinstance(step, m.Changed) and direction == "net" and step.how in _DIRECTIONS:
                direction = _DIRECTIONS[step.how]  # "net forest loss"
            elif isinstance(step, m.Changed | m.Turned) or step == m.Dated("before"):
                raise Unsettled("It asks for the growth of what is itself of one date, or of a change.")
    after, before = at_date(measure, "after"), at_date(measure, "before")
    if asked.either:
        rise, fall = q.Difference(after, before), q.Difference(before, after)
        return q.Choice(("grew", "shrank"), (rise, fall))
    if asked.claim:
        signs: dict[str, q.Operator] = {"up": ">", "down": "<", "net": "=="}
        claim = q.Compared(after, signs[direction], before)
        return q.Denied(claim) if direction == "net" else claim
    if asked.percent:
        return q.Growth(after, before, down=direction == "down")
    return q.Difference(before, after) if direction == "down" else q.Difference(after, before)


def at_date(measure: Any, date: str) -> Any:
    """A measure with all its things at one date."""

    def changed(part: Any) -> Any:
        if isinstance(part, m.Thing):
            kept = tuple(step for step in part.steps if not isinstance(step, m.Changed | m.Dated))
            return before_pick(replace(part, steps=kept), m.Dated(date))
        return part if isinstance(part, STEPS) else None

    return rebuilt(measure, changed)


def grew_most(asked: GrewMost, classes: Sequence[str]) -> q.Choice:
    """Which of all classes grew, shrank, or lost most."""
    areas = [q.Area(m.Thing((m.ClassWord((name,), name),))) for name in classes]
    if asked.changed:
        measures = [q.Area(area.thing.having(m.Changed(asked.changed))) for area in areas]
        said = f"class of which most area was {asked.changed}"
        return q.Choice(tuple(classes), tuple(measures), some=True, said=said)
    signs = [(at_date(area, "after"), at_date(area, "before")) for area in areas]
    if asked.direction == "down":
        signs = [(before, after) for after, before in signs]
    differences = [q.Difference(one, other, absolute=asked.direction == "net") for one, other in signs]
    verb = {"up": "grew", "down": "shrank"}.get(asked.direction, "changed")
    return q.Choice(tuple(classes), tuple(differences), some=True, said=f"class whose area {verb} most")


def turned(asked: TurnedAsked, classes: Sequence[str]) -> q.Choice:
    """Which other class most of a thing turned into, or was before."""
    thing = replace(asked.thing, steps=tuple(step for step in asked.thing.steps if not isinstance(step, m.Changed)))
    own = {name for word in thing.classes for name in word.names}
    others = tuple(name for name in classes if name not in own)
    if not own or not others:
        raise Unsettled("It does not say of which class.")
    step = [m.Turned((m.ClassWord((name,), name),), asked.back) for name in others]
    measures = tuple(q.Area(replace(thing.having(one), areal=True)) for one in step)
    of = " and ".join(name for word in thing.classes for name in word.names)
    said = f"class that most of the {of} {'was before' if asked.back else 'turned into'}"
    return q.Choice(others, measures, some=True, said=said)
