"""From the parse tree to the meaning: what is true or false."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import Between, ComparedAsked, DominantAsked, ShareAsked, WhereAsked
from swath.agent.offline.children import has, operator, piece, steps, things, values
from swath.agent.offline.meaning import THEY
from swath.agent.offline.parts import QUADRANTS
from swath.agent.offline.ratios import RatioReader, here_and_there, operands_in
from swath.agent.offline.shares import share_from
from swath.agent.offline.steps import has_operator
from swath.agent.offline.trees import placed, rebuilt
from swath.agent.offline.unsettled import Unsettled


class ClaimReader(RatioReader):
    """Yes or no."""

    def exists(self, children: list[Any]) -> q.Exists:
        places = (m.InPart(part) for part in values(children, "PART"))
        return q.Exists(things(children)[0].having(*steps(children), *places))

    def exists_there(self, children: list[Any]) -> q.Exists:
        return self.exists(children)

    def exists_where(self, children: list[Any]) -> WhereAsked:
        return WhereAsked(things(children)[0], steps(children))

    def nearest_claim(self, children: list[Any]) -> q.Compared:
        """How far the nearest of a class is; further than a limit means that none is nearer."""
        near = next((child for child in children if isinstance(child, m.Near)), None)
        bound = (near.low or near.high) if near else None
        if near is None or bound is None or (near.low and near.high):
            raise Unsettled("It is not clear from what the nearest one is measured.")
        sign: q.Operator = (">=" if bound.inclusive else ">") if near.low else ("<=" if bound.inclusive else "<")
        return q.Compared(q.Distance(things(children)[0], near.target), sign, bound.limit)

    def nearest_to_claim(self, children: list[Any]) -> q.Compared:
        thing, *targets = things(children)
        if len(targets) != 1:
            raise Unsettled("It asks how near the nearest one is to several at once: ask for one after the other.")
        sign: q.Operator = "<=" if has(children, "WITHIN") else "<" if has(children, "CLOSER") else ">"
        limit = values(children, "QLEN")[0]
        return q.Compared(q.Distance(thing, targets[0]), operator(children) if has_operator(children) else sign, limit)

    def exists_everywhere(self, children: list[Any]) -> q.AllOf:
        """In every quadrant; which halves "both halves" are is not said."""
        word = next(piece(child).text.lower() for child in children if has([child], "SIDE"))
        if not word.split()[-1].startswith(("quadrant", "quarter", "corner")):
            raise Unsettled("It does not say which parts of the image: ask for one half after the other.")
        thing = things(children)[0].having(*steps(children))
        return q.AllOf(tuple(q.Exists(thing.having(m.InPart(part))) for part in QUADRANTS))

    def exists_they(self, children: list[Any]) -> q.Exists:
        return q.Exists(THEY.having(*steps(children)))

    def alone(self, children: list[Any]) -> q.Exists:
        return q.Exists(things(children)[0].having(*steps(children)))

    def alone_not(self, children: list[Any]) -> q.Denied:
        return q.Denied(self.alone(children))

    def exists_all(self, children: list[Any]) -> q.AllOf:
        return q.AllOf(_claims(children))

    def exists_any(self, children: list[Any]) -> q.AnyOf:
        return q.AnyOf(_claims(children))

    def absent(self, children: list[Any]) -> q.Denied:
        return q.Denied(self.exists(children))

    def absent_all(self, children: list[Any]) -> q.AllOf:
        return q.AllOf(tuple(q.Denied(claim) for claim in _claims(children)))

    def for_all(self, children: list[Any]) -> q.Compared | WhereAsked:
        thing = things(children)[0]
        conditions = steps(children)
        kept = thing.having(*conditions)
        if not thing.objects and all(isinstance(step, m.Size) for step in conditions):
            return WhereAsked(thing, conditions)
        if thing.countable or all(word.single for word in thing.classes):
            return q.Compared(q.Count(kept), "==", q.Count(thing))
        return q.Compared(q.Area(kept, in_pixels=True), "==", q.Area(thing, in_pixels=True))

    def for_most(self, children: list[Any]) -> q.Compared:
        return q.Compared(self.share_of(children), ">", m.Amount(Decimal(50), "percent"))

    def compared(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), operator(children))

    def compared_where(self, children: list[Any]) -> ComparedAsked:
        """One measure here and there: "the share of water in the west greater than in the east"."""
        return replace(self._here_than_there(children), operator=operator(children))

    def _here_than_there(self, children: list[Any]) -> ComparedAsked:
        here = operands_in(children)[0]
        there = steps([child for child in children if not isinstance(child, Token)])
        other = rebuilt(here, lambda part: replace(part, steps=there) if isinstance(part, m.Thing) else None)
        return ComparedAsked((here, other), ">")

    def larger_where(self, children: list[Any]) -> ComparedAsked:
        return replace(self._here_than_there(children), operator=">")

    def smaller_where(self, children: list[Any]) -> ComparedAsked:
        return replace(self._here_than_there(children), operator="<")

    def more(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), ">", more=True)

    def less(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), "<", more=True)

    def more_where(self, children: list[Any]) -> ComparedAsked:
        return self._where(children, ">")

    def less_where(self, children: list[Any]) -> ComparedAsked:
        return self._where(children, "<")

    def _where(self, children: list[Any], sign: q.Operator) -> ComparedAsked:
        """Such as "more water in the north than in the south"."""
        return ComparedAsked(here_and_there(children), sign, more=True)

    def more_parts(self, children: list[Any]) -> ComparedAsked:
        return self._parts(children, ">")

    def less_parts(self, children: list[Any]) -> ComparedAsked:
        return self._parts(children, "<")

    def _parts(self, children: list[Any], sign: q.Operator) -> ComparedAsked:
        """One measure in two parts: "does the north have more water than the south"."""
        operand = operands_in(children)[0]
        here, there = values(children, "PART")
        return ComparedAsked((placed(operand, here), placed(operand, there)), sign, more=True)

    def outnumbers(self, children: list[Any]) -> q.Compared:
        a, b = operands_in(children)
        if not (isinstance(a, m.Thing) and isinstance(b, m.Thing)):
            raise Unsettled("It compares the numbers of what are no things.")
        return q.Compared(q.Count(a), ">", q.Count(b))

    def at_least(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), ">=", more=True)

    def times(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), ">=", factor=values(children, "TIMESNUM")[0], more=True)

    def times_op(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), operator(children), factor=values(children, "TIMESNUM")[0])

    def compared_amount(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), operator(children), _amount(children))

    def compared_at_least(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(operands_in(children), ">=", _amount(children))

    def compared_between(self, children: list[Any]) -> Between:
        low, high = [child for child in children if isinstance(child, m.Amount)]
        operands = operands_in(children)
        return Between(ComparedAsked(operands, ">=", low), ComparedAsked(operands, "<=", high))

    def amount(self, children: list[Any]) -> m.Amount:
        value: m.Amount = piece(children[0]).value
        return value

    def counted(self, children: list[Any]) -> q.Compared:
        return self._counted(children, operator(children), values(children, "NUM")[0])

    def counted_at_least(self, children: list[Any]) -> q.Compared:
        return self._counted(children, ">=", values(children, "NUM")[0])

    def counted_exactly(self, children: list[Any]) -> q.Compared:
        return self._counted(children, "==", values(children, "NUM")[0])

    def counted_between(self, children: list[Any]) -> q.AllOf:
        low, high = values(children, "NUM")
        return q.AllOf((self._counted(children, ">=", low), self._counted(children, "<=", high)))

    def counted_range(self, children: list[Any]) -> q.AllOf:
        at = next(i for i, child in enumerate(children) if isinstance(child, Token) and child.type == "AND")
        low, high = values(children, "NUM")
        rest = [child for child in children if isinstance(child, m.Thing | tuple)]
        first = self._counted(rest, operator(children[:at]), low)
        return q.AllOf((first, self._counted(rest, operator(children[at:]), high)))

    def counted_several(self, children: list[Any]) -> q.Compared:
        return self._counted(children, ">", m.Amount(Decimal(1), ""))

    def counted_single(self, children: list[Any]) -> q.Compared:
        return self._counted(children, "==", m.Amount(Decimal(1), ""))

    def _counted(self, children: list[Any], sign: q.Operator, number: m.Amount) -> q.Compared:
        return q.Compared(q.Count(things(children)[0].having(*steps(children))), sign, number)

    def area_claim(self, children: list[Any]) -> q.Compared:
        area = q.Area(things(children)[0].having(*steps(children)))
        return q.Compared(area, operator(children), values(children, "QAREA")[0])

    def share_claim(self, children: list[Any]) -> ComparedAsked:
        share = ShareAsked(things(children)[0], of_image=has(children, "IMAGE"))
        return ComparedAsked((share,), operator(children), values(children, "QPCT")[0])

    def share_claim_at_least(self, children: list[Any]) -> ComparedAsked:
        share = ShareAsked(things(children)[0], of_image=has(children, "IMAGE"))
        return ComparedAsked((share,), ">=", values(children, "QPCT")[0])

    def share_part_claim(self, children: list[Any]) -> q.Compared:
        return q.Compared(self.share_part(children), operator(children), values(children, "QPCT")[0])

    def share_of_claim(self, children: list[Any]) -> q.Compared:
        return q.Compared(self.share_of(children), operator(children), values(children, "QPCT")[0])

    def share_of_at_least(self, children: list[Any]) -> q.Compared:
        return q.Compared(self.share_of(children), ">=", values(children, "QPCT")[0])

    def share_from_claim(self, children: list[Any]) -> q.Compared | ComparedAsked:
        part, whole = things(children)
        sign, limit = operator(children), values(children, "QPCT")[0]
        share = share_from(part, whole)
        return ComparedAsked((share,), sign, limit) if isinstance(share, ShareAsked) else q.Compared(share, sign, limit)

    def dominates(self, children: list[Any]) -> DominantAsked:
        return DominantAsked(things(children)[0], most=True)

    def scarcest(self, children: list[Any]) -> DominantAsked:
        return DominantAsked(things(children)[0], most=False)

    def pieces_claim(self, children: list[Any]) -> q.Compared:
        return self._counted(children, operator(children), values(children, "NUM")[0])

    def mostly(self, children: list[Any]) -> ComparedAsked:
        share = ShareAsked(things(children)[0], of_image=True)
        return ComparedAsked((share,), ">", m.Amount(Decimal(50), "percent"))

    def area_claim_there(self, children: list[Any]) -> q.Compared:
        return self.area_claim(children)

    def power_claim(self, children: list[Any]) -> q.Compared:
        return q.Compared(q.Power(things(children)[0]), operator(children), values(children, "QPOW")[0])

    def connected(self, children: list[Any]) -> q.Connected:
        return q.Connected(things(children)[0])

    def connected_they(self, children: list[Any]) -> q.Connected:
        return q.Connected(THEY)

    def fragmented(self, children: list[Any]) -> q.Denied:
        return q.Denied(q.Connected(things(children)[0]))


def _amount(children: Sequence[Any]) -> m.Amount:
    return next(child for child in children if isinstance(child, m.Amount))


def _claims(children: Sequence[Any]) -> tuple[q.Claim, ...]:
    return tuple(child for child in children if isinstance(child, q.Exists | q.Denied))
