"""From the parse tree to the meaning: ratios and differences, and what is compared."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import AreaOrNumber, DensityAsked, GrewAsked, RatioAsked, ShareAsked
from swath.agent.offline.children import has, steps, things
from swath.agent.offline.measures import NumberReader
from swath.agent.offline.unsettled import Unsettled


class RatioReader(NumberReader):
    """Ratios and differences of two numbers."""

    def operand(self, children: list[Any]) -> Any:
        return children[0]

    def ratio(self, children: list[Any]) -> RatioAsked:
        return RatioAsked(operands_in(children), more=has(children, "MORE", "RATIO"))

    def ratio_turned(self, children: list[Any]) -> RatioAsked:
        a, b = operands_in(children)
        return RatioAsked((b, a), more=has(children, "LESS"))

    def ratio_areas(self, children: list[Any]) -> q.Ratio:
        a, b = things(children)
        return q.Ratio(q.Area(a), q.Area(b))

    def ratio_counts(self, children: list[Any]) -> q.Ratio:
        a, b = things(children)
        return q.Ratio(_amount_of(a), _amount_of(b))

    def ratio_counts_turned(self, children: list[Any]) -> q.Ratio:
        a, b = things(children)
        return q.Ratio(_amount_of(b), _amount_of(a))

    def ratio_per_count(self, children: list[Any]) -> q.Ratio:
        a, b = things(children)
        return q.Ratio(q.Area(a), q.Count(b))

    def ratio_per_count_turned(self, children: list[Any]) -> q.Ratio:
        a, b = things(children)
        return q.Ratio(q.Area(b), q.Count(a))

    def difference(self, children: list[Any]) -> RatioAsked:
        absolute = has(children, "DIFFERENCE")
        return RatioAsked(operands_in(children), difference=True, more=has(children, "MORE"), absolute=absolute)

    def difference_turned(self, children: list[Any]) -> RatioAsked:
        a, b = operands_in(children)
        return RatioAsked((b, a), difference=True, more=has(children, "LESS"))

    def difference_shares(self, children: list[Any]) -> q.Difference:
        a, b = (_as_share(operand) for operand in operands_in(children))
        return q.Difference(a, b)

    def difference_between_shares(self, children: list[Any]) -> q.Difference:
        return replace(self.difference_shares(children), absolute=True)

    def difference_counts(self, children: list[Any]) -> RatioAsked:
        a, b = things(children)
        return RatioAsked((q.Count(a), q.Count(b)), difference=True)

    def difference_where(self, children: list[Any]) -> RatioAsked:
        return RatioAsked(here_and_there(children), difference=True, more=True)

    def difference_counts_turned(self, children: list[Any]) -> RatioAsked:
        a, b = things(children)
        return RatioAsked((q.Count(b), q.Count(a)), difference=True)


@dataclass(frozen=True)
class Others:
    """The further operands of a choice, and what stands before them: "AND", "OR", "COMMA"."""

    operands: tuple[Any, ...]
    listed: frozenset[str] = frozenset()


_MEASURES = (
    q.Count, q.Area, q.Share, q.AreaStatistic, q.Perimeter, q.Distance, q.Spacing, q.Density, q.Power, q.ImageFact,
    q.Ratio, q.Difference, q.Growth, q.Times, GrewAsked, ShareAsked, RatioAsked, DensityAsked, AreaOrNumber,
)  # fmt: skip


def operands_in(children: Sequence[Any]) -> tuple[Any, ...]:
    """What is compared: things and measures, in order."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, (m.Thing, *_MEASURES)):
            found.append(child)
        elif isinstance(child, Others):
            found += child.operands
    return tuple(found)


def here_and_there(children: Sequence[Any]) -> tuple[m.Thing, m.Thing]:
    """A thing here and the same thing there."""
    thing = things(children)[0]
    *first, second = [child for child in children if not isinstance(child, Token | m.Thing) and steps([child])]
    return thing.having(*steps(first)), replace(thing, steps=steps([second]))


def _amount_of(thing: m.Thing) -> q.Count | q.Area:
    """How much of a thing there is: the number of what is counted, the area of what is not."""
    single = bool(thing.classes) and all(word.single for word in thing.classes)
    return q.Count(thing) if (thing.countable or single) and not thing.areal else q.Area(thing)


def _as_share(operand: Any) -> q.Share:
    """An operand as a share of the image."""
    thing = operand.thing if isinstance(operand, q.Area) else operand
    thing = thing.part if isinstance(thing, ShareAsked) else thing
    if not isinstance(thing, m.Thing):
        raise Unsettled("It asks for percentage points between things that are no shares.")
    return q.Share(thing)
