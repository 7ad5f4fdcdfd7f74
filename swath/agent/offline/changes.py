"""From the parse tree to the meaning: what changed between two dates."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import ComparedAsked, GrewAsked, GrewMost, TurnedAsked
from swath.agent.offline.children import operator, things, values
from swath.agent.offline.claims import ClaimReader
from swath.agent.offline.clauses import Span
from swath.agent.offline.growth import at_date
from swath.agent.offline.ratios import operands_in
from swath.agent.offline.things import Classes
from swath.agent.offline.unsettled import Unsettled


class ChangeReader(ClaimReader):
    """Lost, gained, kept, turned into; growth."""

    def date(self, children: list[Any]) -> m.Dated:
        return m.Dated(values(children, "DATE")[0])

    def span(self, children: list[Any]) -> Span:
        return Span(tuple(values(children, "DATE")))

    def change(self, children: list[Any]) -> m.Changed:
        return m.Changed(values(children, "CHANGED")[0])

    def target_dated(self, children: list[Any]) -> m.Thing:
        return self.target(children).having(self.date(children))

    def several_dates(self, children: list[Any]) -> q.Several:
        """One number at both dates, in the order in which they are named."""
        measure = operands_in(children)[0]
        dates = values(children, "DATE")
        if dates[0] == dates[1]:
            raise Unsettled("It names one date twice.")
        return q.Several(tuple(at_date(measure, date) for date in dates))

    def turned_into(self, children: list[Any]) -> m.Turned:
        return m.Turned(_classes(children))

    def turned_from(self, children: list[Any]) -> m.Turned:
        return m.Turned(_classes(children), back=True)

    def pred_turned(self, children: list[Any]) -> tuple[m.Turned, ...]:
        return (m.Turned(_classes(children), back=values(children, "DATE")[0] == "before"),)

    def base_changed(self, children: list[Any]) -> m.Thing:
        return self.base(children).having(self.change(children))

    def base_changed_regions(self, children: list[Any]) -> m.Thing:
        return self.base_regions(children).having(self.change(children))

    def base_dated(self, children: list[Any]) -> m.Thing:
        return self.base(children).having(self.date(children))

    def area_turned(self, children: list[Any]) -> q.Area:
        if values(children, "CHANGED") not in ([], ["changed"]):
            raise Unsettled("It names what was lost or gained, and what it turned into.")
        return q.Area(things(children)[0].having(m.Turned(_classes(children))))

    # ------------------------------------------------------------------ growth
    def grown_by(self, children: list[Any]) -> GrewAsked:
        return GrewAsked(operands_in(children)[0], _direction(children))

    def grown_net(self, children: list[Any]) -> GrewAsked | q.Area:
        """How much something changed; of "lost" and "gained" only that side."""
        operand, how = operands_in(children)[0], values(children, "CHANGED")[0]
        if how == "changed":
            return GrewAsked(operand, "net")
        if isinstance(operand, m.Thing):
            return q.Area(operand.having(m.Changed(how)))
        raise Unsettled("It does not say what was lost or gained.")

    def grown_larger(self, children: list[Any]) -> GrewAsked:
        return GrewAsked(operands_in(children)[0], _against(children, "up"))

    def grown_smaller(self, children: list[Any]) -> GrewAsked:
        return GrewAsked(operands_in(children)[0], _against(children, "down"))

    def grown_percent(self, children: list[Any]) -> GrewAsked:
        return replace(self.grown_by(children), percent=True)

    def grown_points(self, children: list[Any]) -> GrewAsked:
        return replace(self.grown_by(children), points=True)

    # ------------------------------------------------------------------ yes or no
    def grew(self, children: list[Any]) -> GrewAsked:
        return replace(self.grown_by(children), claim=True)

    def larger_than_before(self, children: list[Any]) -> GrewAsked:
        return replace(self.grown_larger(children), claim=True)

    def smaller_than_before(self, children: list[Any]) -> GrewAsked:
        return replace(self.grown_smaller(children), claim=True)

    def grew_amount(self, children: list[Any]) -> ComparedAsked:
        amount = next(child for child in children if isinstance(child, m.Amount))
        grown = replace(self.grown_by(children), percent=amount.unit == "percent")
        return ComparedAsked((grown,), operator(children), amount)

    # ------------------------------------------------------------------ one of several
    def grew_or_shrank(self, children: list[Any]) -> GrewAsked:
        if set(values(children, "GREW")) != {"up", "down"}:
            raise Unsettled("It asks for one of two that are the same.")
        return replace(self.grown_by(children), either=True)

    def grew_most(self, children: list[Any]) -> GrewMost:
        return GrewMost(_direction(children))

    def changed_most(self, children: list[Any]) -> GrewMost:
        how = values(children, "CHANGED")[0]
        if how == "changed":
            return GrewMost("net")
        return GrewMost("", how)

    def turned_most(self, children: list[Any]) -> TurnedAsked:
        return TurnedAsked(things(children)[0], back=False)

    def turned_from_most(self, children: list[Any]) -> TurnedAsked:
        return TurnedAsked(things(children)[0], back=True)


def _classes(children: Sequence[Any]) -> tuple[m.ClassWord, ...]:
    listed = next(child for child in children if isinstance(child, Classes))
    if listed.without:
        raise Unsettled("It takes a class off what something turned into.")
    return listed.words


def _direction(children: Sequence[Any]) -> Any:
    """The direction of the words; "net" beside another is only emphasis."""
    said = values(children, "GREW")
    return next((direction for direction in said if direction != "net"), "net")


def _against(children: Sequence[Any], direction: str) -> Any:
    """The direction of "larger than before"; the reverse of "larger than after"."""
    if values(children, "DATE")[-1] == "before":
        return direction
    return {"up": "down", "down": "up"}[direction]
