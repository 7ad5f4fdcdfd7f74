"""Classes against all other classes: the dominant one, their order by area."""

from __future__ import annotations

from collections.abc import Sequence

from swath.agent.offline import asks as a
from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.unsettled import Unsettled


def dominates(asked: a.DominantAsked, classes: Sequence[str]) -> q.Claim:
    """Whether one class covers more than each of the others."""
    names = [name for word in asked.thing.classes for name in word.names]
    if len(names) != 1 or asked.thing.steps or asked.thing.inverted or asked.thing.without:
        raise Unsettled("It is not clear which one class is to be compared with all others.")
    areas = dict(zip(classes, _areas(m.Thing(everything=True), classes), strict=True))
    own = areas.pop(names[0])
    return q.AllOf(tuple(q.Compared(own, ">" if asked.most else "<", other) for other in areas.values()))


def dominant(asked: a.Dominant, classes: Sequence[str]) -> q.Choice:
    """The class with the largest, or smallest, area."""
    names = _names_without(asked, classes)
    return q.Choice(names, _areas(asked.within, names), asked.most, without=asked.without)


def ranked(asked: a.RankAsked, classes: Sequence[str]) -> q.Ranking:
    """Classes in the order of their area.

    Raises:
        Unsettled: there are not so many.
    """
    names = _names_without(asked, classes)
    if asked.last is not None and not 0 <= asked.first < asked.last <= len(names):
        raise Unsettled(f"There are {len(names)} classes.")
    areas = _areas(asked.within, names)
    return q.Ranking(names, areas, asked.most, asked.first, asked.last, asked.without)


def _names_without(asked: a.Dominant | a.RankAsked, classes: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in classes if name not in asked.without)


def _areas(within: m.Thing, names: Sequence[str]) -> tuple[q.Area, ...]:
    """The area of every class where something is asked."""
    return tuple(q.Area(m.Thing((m.ClassWord((name,), name),), within.steps)) for name in names)
