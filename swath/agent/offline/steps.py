"""From the parse tree to the meaning: sizes, distances, places."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.children import bounds, has, operator, piece, steps, values
from swath.agent.offline.clauses import Hazard, Risk, Told, Vague
from swath.agent.offline.meaning import SAME, SHORE, THEY
from swath.agent.offline.things import Classes, ThingReader
from swath.agent.offline.unsettled import Unsettled


class StepReader(ThingReader):
    """Sizes, distances, places."""

    def size(self, children: list[Any]) -> m.Size:
        return m.Size(*bounds(operator(children), values(children, "QAREA", "QPX")[0]))

    def size_between(self, children: list[Any]) -> m.Size:
        low, high = values(children, "QAREA", "QPX")
        return m.Size(m.Bound(low, True), m.Bound(high, True))

    def size_at_least(self, children: list[Any]) -> m.Size:
        return m.Size(low=m.Bound(values(children, "QAREA", "QPX")[0], True))

    def size_at_most(self, children: list[Any]) -> m.Size:
        return m.Size(high=m.Bound(values(children, "QAREA", "QPX")[0], True))

    def size_range(self, children: list[Any]) -> m.Size:
        return _range(children, "QAREA", "QPX")

    def size_by_times(self, children: list[Any]) -> m.Size:
        limit = next(child for child in children if isinstance(child, m.Thing | q.AreaStatistic))
        measure = q.Area(limit) if isinstance(limit, m.Thing) else limit
        times = q.Times(values(children, "TIMESNUM")[0], measure)
        return m.Size(*bounds(operator(children), times))

    def size_by(self, children: list[Any]) -> m.Size:
        limit = next(child for child in children if isinstance(child, m.Thing | q.AreaStatistic))
        return m.Size(*bounds(operator(children), q.Area(limit) if isinstance(limit, m.Thing) else limit))

    def size_by_mean(self, children: list[Any]) -> m.Size:
        mean = q.AreaStatistic(SAME, values(children, "STATISTIC")[0])
        factor = values(children, "TIMESNUM")
        return m.Size(*bounds(operator(children), q.Times(factor[0], mean) if factor else mean))

    def near(self, children: list[Any]) -> Any:
        return self._near(children, "<=")

    near_turned = near_at_most = having_near = near

    def _near(self, children: list[Any], sign: q.Operator) -> Any:
        targets = [child for child in children if isinstance(child, m.Thing | tuple)] or [THEY]
        low, high = bounds(sign, values(children, "QLEN")[0])
        if isinstance(targets[0], tuple):
            return tuple(m.Near(target, low, high) for target in targets[0])
        return m.Near(targets[0], low, high)

    def near_op(self, children: list[Any]) -> Any:
        return self._near(children, operator(children))

    near_turned_op = near_op

    having_op = near_op

    def near_said(self, children: list[Any]) -> Any:
        """What "away from the water" means, said right after it; "it" is that water."""
        outer, said = children_in(children)
        return replace(said, target=outer) if said.target.pronoun else said

    def near_closer(self, children: list[Any]) -> Any:
        return self._near(children, "<")

    def near_beyond(self, children: list[Any]) -> Any:
        return self._near(children, ">")

    lacking_near = near_beyond

    def near_at_least(self, children: list[Any]) -> Any:
        return self._near(children, ">=")

    def near_between(self, children: list[Any]) -> Any:
        low, high = values(children, "QLEN")
        target = next(child for child in children if isinstance(child, m.Thing | tuple))
        targets = target if isinstance(target, tuple) else (target,)
        return tuple(m.Near(one, m.Bound(low, True), m.Bound(high, True)) for one in targets)

    def near_range(self, children: list[Any]) -> Any:
        size = _range(children, "QLEN")
        return _for_each(target_in(children), lambda one: m.Near(one, size.low, size.high))

    def near_ring(self, children: list[Any]) -> Any:
        low, high = values(children, "QLEN")
        inclusive = has(children, "WITHIN")
        bound = m.Bound(low, False), m.Bound(high, inclusive)
        return _for_each(target_in(children), lambda one: m.Near(one, *bound))

    near_ring_within = near_ring

    def near_or_touching(self, children: list[Any]) -> m.EitherOf:
        """Touching a thing, or near it."""
        target = target_in(children)
        if isinstance(target, tuple):
            raise Unsettled("It is not clear what goes together: name one thing to touch or be near to.")
        near = m.Near(target, high=m.Bound(values(children, "QLEN")[0], True))
        return m.EitherOf(((m.Touching(target),), (near,)))

    def near_vague(self, children: list[Any]) -> Vague:
        return Vague(piece(children[0]).text)

    def direction_from(self, children: list[Any]) -> Any:
        raise Unsettled(
            f'What lies "{piece(children[0]).text}" something is not measured; the halves and quarters of the image '
            "are, such as the northern half."
        )

    def having_on(self, children: list[Any]) -> Any:
        raise Unsettled('What one thing has of another needs a distance ("with water within 20 m"), or "touching".')

    def touching(self, children: list[Any]) -> Any:
        return _for_each(children[-1], m.Touching)

    def inside(self, children: list[Any]) -> Any:
        return _for_each(children[-1], m.Inside)

    def inside_sized(self, children: list[Any]) -> m.Inside:
        return m.Inside(SAME.having(*steps(children)))

    def place(self, children: list[Any]) -> m.InPart:
        return m.InPart(values(children, "PART")[0])

    def risk(self, children: list[Any]) -> Any:
        near = tuple(Told(step.target, step.low, step.high) for step in steps(children) if isinstance(step, m.Near))
        said = piece(children[0])
        return near if near else Vague(said.text, said.value)

    def risk_considered(self, children: list[Any]) -> tuple[Any, ...]:
        """What is said of the thing at risk once more; that it is the same thing is seen to in `lost.py`."""
        return steps(children)

    def risk_target(self, children: list[Any]) -> Any:
        return self._near(children, "<=")

    def risk_target_op(self, children: list[Any]) -> Any:
        return self._near(children, operator(children))

    def hazard(self, children: list[Any]) -> Hazard:
        near = self._near(children, "<=")
        if isinstance(near, tuple):
            raise Unsettled("It names several things as the source of one risk.")
        return Hazard(near)

    def told_risk(self, children: list[Any]) -> None:
        """What a distance indicates; the distance is what is measured."""

    def risk_within(self, children: list[Any]) -> Any:
        return Risk(piece(children[0]).value, values(children, "QLEN")[0])

    def target(self, children: list[Any]) -> m.Thing:
        words = next(child for child in children if isinstance(child, Classes))
        return m.Thing(words.words, regions=True).having(*steps(children))

    def target_picked(self, children: list[Any]) -> m.Thing:
        pick = next(child for child in children if isinstance(child, m.Pick))
        return self.target(children).having(pick)

    def target_all(self, children: list[Any]) -> tuple[m.Thing, ...]:
        words = next(child for child in children if isinstance(child, Classes))
        return tuple(m.Thing((word,), regions=True).having(*steps(children)) for word in words.words)

    def target_shore(self, children: list[Any]) -> m.Thing:
        return SHORE.having(*steps(children))

    def target_same(self, children: list[Any]) -> m.Thing:
        return SAME.having(*(child for child in children if isinstance(child, m.Pick)))

    def target_they(self, children: list[Any]) -> m.Thing:
        return THEY

    def target_sizes(self, children: list[Any]) -> tuple[Any, ...]:
        return steps(children)

    def classes_or(self, children: list[Any]) -> Classes:
        return self.classes(children)

    def classes_and(self, children: list[Any]) -> Classes:
        return self.classes(children)


def _for_each(target: Any, make: Any) -> Any:
    return tuple(make(one) for one in target) if isinstance(target, tuple) else make(target)


def target_in(children: list[Any]) -> Any:
    """What something is near to: a thing, or several that each are."""
    return next((child for child in children if isinstance(child, m.Thing | tuple)), THEY)


def has_operator(children: list[Any]) -> bool:
    """Whether a comparison is among the children."""
    try:
        operator(children)
    except StopIteration:
        return False
    return True


def _range(children: list[Any], *kinds: str) -> m.Size:
    """Both ends of "more than A but less than B", in either order.

    Raises:
        Unsettled: both limit the same side.
    """
    first, second = values(children, *kinds)
    at = next(i for i, child in enumerate(children) if has([child], *kinds))
    one, other = bounds(operator(children[:at]), first), bounds(operator(children[at + 1 :]), second)
    low, high = one[0] or other[0], one[1] or other[1]
    if (one[0] and other[0]) or (one[1] and other[1]) or not (low and high):
        raise Unsettled("It gives two limits on the same side.")
    return m.Size(low, high)


def children_in(children: list[Any]) -> tuple[m.Thing, m.Near]:
    """The thing and the step among the children."""
    thing = next((child for child in children if isinstance(child, m.Thing)), None)
    near = next((child for child in children if isinstance(child, m.Near)), None)
    if thing is None or near is None:
        raise Unsettled("It is not clear what the distance is from.")
    return thing, near
