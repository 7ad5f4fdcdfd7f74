"""From the parse tree to what is asked: yes or no."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.children import things, values
from swath.agent.offline.meaning import EVERYTHING
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen import question as sq
from swath.agent.offline.seen.children import Said, sign_of
from swath.agent.offline.seen.numbers import SeenNumbers, Stat, Unclear, conditions_in, height_of, many, of, two_of
from swath.agent.offline.unsettled import Unsettled


class SeenClaims(SeenNumbers):
    """Yes or no."""

    def exists(self, children: list[Any]) -> q.Exists:
        return q.Exists(many(things(children)[0]).having(*conditions_in(children)))

    def is_tall(self, children: list[Any]) -> q.Claim:
        thing = things(children)[0]
        steps = conditions_in(children)
        if thing == EVERYTHING:
            raise Unsettled("It could mean any of it or all of it; ask how much of it is so.")
        if thing.countable and not _single(thing):
            raise Unsettled('It could mean any of them or all of them; say "is any" or "are all".')
        return q.Exists(thing.having(*steps))

    def all_are(self, children: list[Any]) -> q.Claim:
        thing = things(children)[0]
        steps = conditions_in(children)
        if len(steps) != 2:
            raise Unsettled("It asks for two things of all of them. Next: ask for one after the other.")
        return q.AllOf((q.Exists(thing), q.Denied(q.Exists(thing.having(Said(), m.Not(steps[1]))))))

    def number_(self, children: list[Any]) -> Any:
        return children[0]

    def compared(self, children: list[Any]) -> q.Compared:
        amount = values(children, "QLEN", "QDEG")[0]
        measure: Any = next(child for child in children if isinstance(child, q.SeenMeasure | Unclear))
        return q.Compared(measure, sign_of(children), amount)

    def side_of_stat(self, children: list[Any]) -> Any:
        stat = next((child for child in children if isinstance(child, Stat)), None)
        return children[-1] if stat is None else s.Field("height", many(things(children)[0]), stat.name, stat.percent)

    def is_times(self, children: list[Any]) -> q.Compared:
        sides = [child for child in children if isinstance(child, m.Thing | s.Place | s.Field)]
        left, right = (side if isinstance(side, s.Field) else height_of(side) for side in sides)
        read = (child for child in children if isinstance(child, str) and not isinstance(child, Token))
        operator: Any = next(read, ">=")
        return q.Compared(left, operator, q.Times(values(children, "TIMESNUM")[0], right))

    def is_coloured(self, children: list[Any]) -> sq.InColour:
        return sq.InColour()

    def is_flat(self, children: list[Any]) -> sq.Flat:
        return sq.Flat(of(children), next((child for child in children if isinstance(child, m.Amount)), None))

    def is_taller(self, children: list[Any]) -> q.Compared:
        a, b = two_of(children)
        return q.Compared(height_of(a), sign_of(children), height_of(b))

    def is_straight(self, children: list[Any]) -> sq.LooksLike:
        return sq.LooksLike("course", things(children)[0], "straight")

    def is_curved(self, children: list[Any]) -> sq.LooksLike:
        return sq.LooksLike("course", things(children)[0], "curved")

    def is_laid_out(self, children: list[Any]) -> sq.LooksLike:
        return sq.LooksLike("distribution", things(children)[0], values(children, "LAYOUT")[0])

    def is_settled(self, children: list[Any]) -> sq.LooksLike:
        return sq.LooksLike("settlement", None, values(children, "SETTLEMENT")[0])

    def is_directed(self, children: list[Any]) -> sq.LooksLike:
        return sq.LooksLike("direction", things(children)[0], values(children, "DIRECTION")[0])


def _single(thing: m.Thing) -> bool:
    ranks = (step for step in thing.steps if isinstance(step, s.Ranked))
    return s.Only() in thing.steps or any(rank.n == 1 or rank.nth for rank in ranks)
