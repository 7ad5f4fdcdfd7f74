"""From the parse tree to the meaning, second half: what is asked of the things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline.reader import (
    ELIDED,
    EVERYTHING,
    SAME,
    THEY,
    StepReader,
    Unclear,
    bounds,
    has,
    operator,
    piece,
    steps,
    things,
    values,
)


@dataclass(frozen=True)
class Parsed:
    """A question as read, before what was left open is settled."""

    leads: tuple[Any, ...]
    core: Any
    tails: tuple[Any, ...]


@dataclass(frozen=True)
class ShareAsked:
    """A share whose whole depends on the words around it.

    Attributes:
        part: what it is the share of, with all its steps.
        of_image: whether the image was named as the whole.
    """

    part: m.Thing
    of_image: bool


@dataclass(frozen=True)
class SideAsked:
    """Which half or quadrant has most."""

    word: str
    operand: Any
    parts: tuple[str, ...]
    most: bool


@dataclass(frozen=True)
class Dominant:
    """The class that covers most, or least."""

    most: bool


@dataclass(frozen=True)
class ChoiceAsked:
    """Which of several operands is most (or least); `more` where the word was "more", not "larger"."""

    operands: tuple[Any, ...]
    most: bool
    more: bool


@dataclass(frozen=True)
class ComparedAsked:
    """Two operands, or one and an amount, whose measure is still to be chosen."""

    operands: tuple[Any, ...]
    operator: m.Operator
    amount: m.Amount | None = None
    factor: Decimal | None = None
    more: bool = False


@dataclass(frozen=True)
class RatioAsked:
    """A ratio or a difference of two operands whose measure is still to be chosen."""

    operands: tuple[Any, ...]
    difference: bool = False
    more: bool = False
    absolute: bool = False


@dataclass(frozen=True)
class WhereAsked:
    """ "is the forest within 50 m of water", "is the largest lake larger than 2 ha"."""

    thing: m.Thing
    conditions: tuple[Any, ...]


class NumberReader(StepReader):
    """Numbers."""

    def count(self, children: list[Any]) -> m.Count:
        return m.Count(things(children)[0].having(*steps(children)))

    def count_they(self, children: list[Any]) -> m.Count:
        return m.Count((THEY if has(children, "THEY") else ELIDED).having(*steps(children)))

    def area(self, children: list[Any]) -> m.Area:
        return m.Area(things(children)[0].having(*steps(children)))

    def how_big(self, children: list[Any]) -> m.Area:
        thing = things(children)[0].having(*steps(children))
        if thing.countable and not thing.picked:
            raise Unclear("Their size could be all of it together or the average; ask for the total or for the average.")
        return m.Area(thing)

    def area_only(self, children: list[Any]) -> m.Area:
        return m.Area(things(children)[0])

    def area_where(self, children: list[Any]) -> m.Area:
        return m.Area(replace(EVERYTHING, areal=True).having(*steps(children)))

    def area_they(self, children: list[Any]) -> m.Area:
        return m.Area(THEY.having(*steps(children)))

    def share(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(things(children)[0], of_image=has(children, "IMAGE"))

    def share_there(self, children: list[Any]) -> m.Share:
        there = steps(children)
        return m.Share(things(children)[0].having(*there), EVERYTHING.having(*there))

    def share_image(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(things(children)[0], of_image=True)

    def share_where(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(EVERYTHING.having(*steps(children)), of_image=True)

    def share_part(self, children: list[Any]) -> m.Share:
        part = m.InPart(values(children, "PART")[0])
        return m.Share(things(children)[0].having(part), part)

    def share_of(self, children: list[Any]) -> m.Share:
        whole = things(children)[0]
        by_count = whole.countable and not whole.areal and not whole.picked
        return m.Share(whole.having(*steps(children)), whole, by_count)

    def share_in(self, children: list[Any]) -> m.Share:
        whole, place = things(children)
        return m.Share(whole.having(m.Inside(place)), whole)

    def share_they(self, children: list[Any]) -> m.Share:
        return m.Share(THEY.having(*steps(children)), THEY, by_count=not has(children, "AREA"))

    def stat(self, children: list[Any]) -> m.AreaStatistic:
        return m.AreaStatistic(things(children)[0], values(children, "STATISTIC")[0])

    def stat_they(self, children: list[Any]) -> m.AreaStatistic:
        return m.AreaStatistic(SAME, values(children, "STATISTIC")[0])

    def perimeter(self, children: list[Any]) -> m.Perimeter:
        return m.Perimeter(next(iter(things(children)), THEY))

    def distance(self, children: list[Any]) -> m.Distance:
        a, b = things(children)
        statistic = next(iter(values(children, "STATISTIC")), None)
        for thing, other in ((a, b), (b, a)):
            if any(isinstance(step, _Farthest) for step in thing.steps):
                return m.Distance(_without_farthest(thing), _without_farthest(other), "max")
        return m.Distance(a, b, statistic)

    def distance_they(self, children: list[Any]) -> m.Distance:
        return m.Distance(THEY, things(children)[0], next(iter(values(children, "STATISTIC")), None))

    def distance_max(self, children: list[Any]) -> m.Distance:
        return m.Distance(*things(children), "max")

    def distance_pair(self, children: list[Any]) -> m.Distance:
        thing = self.picked(children)
        *before, pick = thing.steps
        one, two = ("nth smallest", "nth smallest") if pick.which == "smallest" else ("nth largest", "nth largest")
        base = replace(thing, steps=tuple(before))
        return m.Distance(base.having(m.Pick(one, 1)), base.having(m.Pick(two, 2)))

    def place_thing(self, children: list[Any]) -> m.Thing:
        return things(children)[0]

    def place_farthest(self, children: list[Any]) -> m.Thing:
        thing = things(children)[0]
        return replace(thing, steps=(*thing.steps, _Farthest()))

    def per(self, children: list[Any]) -> Per:
        return Per(values(children, "AUNIT")[0].key)

    def density(self, children: list[Any]) -> Any:
        return DensityAsked(m.Density(things(children)[0]), _per(children))

    def density_of(self, children: list[Any]) -> Any:
        thing, whole = things(children)
        return DensityAsked(m.Density(thing, whole), _per(children))

    def power(self, children: list[Any]) -> m.Power:
        return m.Power(things(children)[0])

    def power_plain(self, children: list[Any]) -> m.Power:
        return m.Power(THEY)

    def image_area(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("area")

    def image_resolution(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("pixel size")

    def image_bands(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("bands")

    def image_width(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("width")

    def image_height(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("height")

    def image_valid(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("valid")

    def image_nodata(self, children: list[Any]) -> m.ImageFact:
        return m.ImageFact("nodata")

    def operand(self, children: list[Any]) -> Any:
        return children[0]

    def ratio(self, children: list[Any]) -> RatioAsked:
        return RatioAsked(_operands(children), more=has(children, "MORE", "RATIO"))

    def ratio_turned(self, children: list[Any]) -> RatioAsked:
        a, b = _operands(children)
        return RatioAsked((b, a), more=has(children, "LESS"))

    def ratio_areas(self, children: list[Any]) -> m.Ratio:
        a, b = things(children)
        return m.Ratio(m.Area(a), m.Area(b))

    def ratio_counts(self, children: list[Any]) -> m.Ratio:
        a, b = things(children)
        return m.Ratio(m.Count(a), m.Count(b))

    def ratio_counts_turned(self, children: list[Any]) -> m.Ratio:
        a, b = things(children)
        return m.Ratio(m.Count(b), m.Count(a))

    def ratio_per_count(self, children: list[Any]) -> m.Ratio:
        a, b = things(children)
        return m.Ratio(m.Area(a), m.Count(b))

    def ratio_per_count_turned(self, children: list[Any]) -> m.Ratio:
        a, b = things(children)
        return m.Ratio(m.Area(b), m.Count(a))

    def difference(self, children: list[Any]) -> RatioAsked:
        absolute = has(children, "DIFFERENCE")
        return RatioAsked(_operands(children), difference=True, more=has(children, "MORE"), absolute=absolute)

    def difference_turned(self, children: list[Any]) -> RatioAsked:
        a, b = _operands(children)
        return RatioAsked((b, a), difference=True, more=has(children, "LESS"))

    def difference_shares(self, children: list[Any]) -> m.Difference:
        a, b = (_as_share(operand) for operand in _operands(children))
        return m.Difference(a, b)

    def difference_counts(self, children: list[Any]) -> RatioAsked:
        a, b = things(children)
        return RatioAsked((m.Count(a), m.Count(b)), difference=True)

    def difference_where(self, children: list[Any]) -> RatioAsked:
        return RatioAsked(_both(children), difference=True, more=True)

    def difference_counts_turned(self, children: list[Any]) -> RatioAsked:
        a, b = things(children)
        return RatioAsked((m.Count(b), m.Count(a)), difference=True)


@dataclass(frozen=True)
class Per:
    """ "per hectare"."""

    unit: str


@dataclass(frozen=True)
class DensityAsked:
    """A density and the unit of area that it is per."""

    density: m.Density
    per: str | None


@dataclass(frozen=True)
class _Farthest:
    """ "the farthest building", said in a question for a distance."""


def _without_farthest(thing: m.Thing) -> m.Thing:
    return replace(thing, steps=tuple(step for step in thing.steps if not isinstance(step, _Farthest)))


def _per(children: Sequence[Any]) -> str | None:
    return next((child.unit for child in children if isinstance(child, Per)), None)


MEASURES = (
    m.Count, m.Area, m.Share, m.AreaStatistic, m.Perimeter, m.Distance, m.Density, m.Power, m.ImageFact, m.Ratio,
    m.Difference, m.Times, ShareAsked, RatioAsked, DensityAsked,
)  # fmt: skip


def _operands(children: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    for child in children:
        if isinstance(child, (m.Thing, *MEASURES)):
            found.append(child)
        elif isinstance(child, Others):
            found += child.operands
    return tuple(found)


def _both(children: Sequence[Any]) -> tuple[m.Thing, m.Thing]:
    """A thing here and the same thing there."""
    thing = things(children)[0]
    *first, second = [child for child in children if not isinstance(child, Token | m.Thing) and steps([child])]
    return thing.having(*steps(first)), replace(thing, steps=steps([second]))


@dataclass(frozen=True)
class Others:
    """The further operands of a choice."""

    operands: tuple[Any, ...]


class ClaimReader(NumberReader):
    """Yes or no."""

    def exists(self, children: list[Any]) -> m.Exists:
        return m.Exists(things(children)[0].having(*steps(children)))

    def exists_where(self, children: list[Any]) -> WhereAsked:
        return WhereAsked(things(children)[0], steps(children))

    def exists_they(self, children: list[Any]) -> m.Exists:
        return m.Exists(THEY.having(*steps(children)))

    def alone(self, children: list[Any]) -> m.Exists:
        return m.Exists(things(children)[0].having(*steps(children)))

    def alone_not(self, children: list[Any]) -> m.Denied:
        return m.Denied(self.alone(children))

    def exists_all(self, children: list[Any]) -> m.AllOf:
        return m.AllOf(_claims(children))

    def exists_any(self, children: list[Any]) -> m.AnyOf:
        return m.AnyOf(_claims(children))

    def absent(self, children: list[Any]) -> m.Denied:
        return m.Denied(self.exists(children))

    def absent_all(self, children: list[Any]) -> m.AllOf:
        return m.AllOf(tuple(m.Denied(claim) for claim in _claims(children)))

    def for_all(self, children: list[Any]) -> m.Compared:
        thing = things(children)[0]
        kept = thing.having(*steps(children))
        if thing.countable or all(word.single for word in thing.classes):
            return m.Compared(m.Count(kept), "==", m.Count(thing))
        return m.Compared(m.Area(kept, in_pixels=True), "==", m.Area(thing, in_pixels=True))

    def for_most(self, children: list[Any]) -> m.Compared:
        return m.Compared(self.share_of(children), ">", m.Amount(Decimal(50), "percent"))

    def compared(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), operator(children))

    def more(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), ">", more=True)

    def less(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), "<", more=True)

    def more_where(self, children: list[Any]) -> ComparedAsked:
        return self._where(children, ">")

    def less_where(self, children: list[Any]) -> ComparedAsked:
        return self._where(children, "<")

    def _where(self, children: list[Any], sign: m.Operator) -> ComparedAsked:
        """ "more water in the north than in the south"."""
        return ComparedAsked(_both(children), sign, more=True)

    def at_least(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), ">=", more=True)

    def times(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), ">=", factor=values(children, "TIMESNUM")[0], more=True)

    def times_op(self, children: list[Any]) -> ComparedAsked:
        signs = [bounds_of for bounds_of in [operator(children)]]
        return ComparedAsked(_operands(children), signs[0], factor=values(children, "TIMESNUM")[0])

    def compared_amount(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), operator(children), _amount(children))

    def compared_at_least(self, children: list[Any]) -> ComparedAsked:
        return ComparedAsked(_operands(children), ">=", _amount(children))

    def compared_between(self, children: list[Any]) -> Between:
        low, high = [child for child in children if isinstance(child, m.Amount)]
        operands = _operands(children)
        return Between(ComparedAsked(operands, ">=", low), ComparedAsked(operands, "<=", high))

    def amount(self, children: list[Any]) -> m.Amount:
        value: m.Amount = piece(children[0]).value
        return value

    def counted(self, children: list[Any]) -> m.Compared:
        return self._counted(children, operator(children), values(children, "NUM")[0])

    def counted_at_least(self, children: list[Any]) -> m.Compared:
        return self._counted(children, ">=", values(children, "NUM")[0])

    def counted_exactly(self, children: list[Any]) -> m.Compared:
        return self._counted(children, "==", values(children, "NUM")[0])

    def counted_between(self, children: list[Any]) -> m.AllOf:
        low, high = values(children, "NUM")
        return m.AllOf((self._counted(children, ">=", low), self._counted(children, "<=", high)))

    def counted_range(self, children: list[Any]) -> m.AllOf:
        at = next(i for i, child in enumerate(children) if isinstance(child, Token) and child.type == "AND")
        low, high = values(children, "NUM")
        rest = [child for child in children if isinstance(child, m.Thing | tuple)]
        first = self._counted(rest, operator(children[:at]), low)
        return m.AllOf((first, self._counted(rest, operator(children[at:]), high)))

    def counted_several(self, children: list[Any]) -> m.Compared:
        return self._counted(children, ">", m.Amount(Decimal(1), ""))

    def counted_single(self, children: list[Any]) -> m.Compared:
        return self._counted(children, "==", m.Amount(Decimal(1), ""))

    def _counted(self, children: list[Any], sign: m.Operator, number: m.Amount) -> m.Compared:
        return m.Compared(m.Count(things(children)[0].having(*steps(children))), sign, number)

    def area_claim(self, children: list[Any]) -> m.Compared:
        area = m.Area(things(children)[0].having(*steps(children)))
        return m.Compared(area, operator(children), values(children, "QAREA")[0])

    def share_claim(self, children: list[Any]) -> ComparedAsked:
        share = ShareAsked(things(children)[0], of_image=has(children, "IMAGE"))
        return ComparedAsked((share,), operator(children), values(children, "QPCT")[0])

    def share_claim_at_least(self, children: list[Any]) -> ComparedAsked:
        share = ShareAsked(things(children)[0], of_image=has(children, "IMAGE"))
        return ComparedAsked((share,), ">=", values(children, "QPCT")[0])

    def share_part_claim(self, children: list[Any]) -> m.Compared:
        return m.Compared(self.share_part(children), operator(children), values(children, "QPCT")[0])

    def share_of_claim(self, children: list[Any]) -> m.Compared:
        return m.Compared(self.share_of(children), operator(children), values(children, "QPCT")[0])

    def mostly(self, children: list[Any]) -> ComparedAsked:
        share = ShareAsked(things(children)[0], of_image=True)
        return ComparedAsked((share,), ">", m.Amount(Decimal(50), "percent"))

    def area_claim_there(self, children: list[Any]) -> m.Compared:
        return self.area_claim(children)

    def power_claim(self, children: list[Any]) -> m.Compared:
        return m.Compared(m.Power(things(children)[0]), operator(children), values(children, "QPOW")[0])

    def connected(self, children: list[Any]) -> m.Connected:
        return m.Connected(things(children)[0])

    def fragmented(self, children: list[Any]) -> m.Denied:
        return m.Denied(m.Connected(things(children)[0]))


@dataclass(frozen=True)
class Bare:
    """A thing and nothing else; the unit asked for says what is measured."""

    thing: m.Thing


@dataclass(frozen=True)
class Between:
    """Both ends of a range."""

    low: ComparedAsked
    high: ComparedAsked


def _amount(children: Sequence[Any]) -> m.Amount:
    return next(child for child in children if isinstance(child, m.Amount))


def _claims(children: Sequence[Any]) -> tuple[m.Claim, ...]:
    return tuple(child for child in children if isinstance(child, m.Exists | m.Denied))


def _as_share(operand: Any) -> m.Share:
    """An operand as a share of the image."""
    thing = operand.thing if isinstance(operand, m.Area) else operand
    if not isinstance(thing, m.Thing):
        raise Unclear("It asks for percentage points between things that are no shares.")
    return m.Share(thing)


def _nearest_of(operands: Sequence[Any], target: Any) -> ChoiceAsked:
    """A choice by distance; only things have one."""
    if not all(isinstance(operand, m.Thing) for operand in (*operands, target)):
        raise Unclear("It compares distances of something that has no place.")
    return ChoiceAsked(tuple(m.Distance(thing, target) for thing in operands), most=False, more=False)


class AnswerReader(ClaimReader):
    """Choices, lists, and the question as a whole."""

    def start(self, children: list[Any]) -> Parsed:
        leads, core, tails = children
        return Parsed(leads, core, tails)

    def _all(self, children: list[Any]) -> tuple[Any, ...]:
        found: list[Any] = []
        for child in children:
            found += child if isinstance(child, tuple) else [child]
        return tuple(child for child in found if child is not None)

    leads_ = tails_ = _all

    def others(self, children: list[Any]) -> Others:
        return Others(_operands(children))

    def choice_most(self, children: list[Any]) -> ChoiceAsked:
        return ChoiceAsked(_operands(children), most=True, more=has(children, "MORE", "MOST"))

    def choice_least(self, children: list[Any]) -> ChoiceAsked:
        return ChoiceAsked(_operands(children), most=False, more=has(children, "LESS", "LEAST"))

    def dominant(self, children: list[Any]) -> Dominant:
        return Dominant(most=True)

    def rarest(self, children: list[Any]) -> Dominant:
        return Dominant(most=False)

    def side_most(self, children: list[Any]) -> SideAsked:
        word = next((piece(child).text for child in children if has([child], "SIDE")), "")
        return SideAsked(word, _operands(children)[0], tuple(values(children, "PART")), most=True)

    def side_least(self, children: list[Any]) -> SideAsked:
        return replace(self.side_most(children), most=False)

    side_most_of = side_first = side_most
    side_least_of = side_least

    def bare(self, children: list[Any]) -> Bare:
        return Bare(things(children)[0])

    def closer(self, children: list[Any]) -> ChoiceAsked:
        """Which of several things is nearest to one target: the target last."""
        *operands, target = _operands(children)
        return _nearest_of(operands, target)

    def closer_first(self, children: list[Any]) -> ChoiceAsked:
        """The same with the target first."""
        target, *operands = _operands(children)
        return _nearest_of(operands, target)

    def closer_to(self, children: list[Any]) -> ChoiceAsked:
        """Which of two targets one thing is nearest to."""
        thing, *targets = things(children)
        return ChoiceAsked(tuple(m.Distance(target, thing) for target in targets), most=False, more=False)

    def one(self, children: list[Any]) -> m.Thing:
        return m.Thing(tuple(values(children, "CLASS")))

    def picked_only(self, children: list[Any]) -> m.Thing:
        return self.picked(children)

    def areas_listed(self, children: list[Any]) -> m.Areas:
        return m.Areas(things(children)[0])

    def fragmentation(self, children: list[Any]) -> m.Fragmentation:
        return m.Fragmentation(things(children)[0])

    def present_classes(self, children: list[Any]) -> m.PresentClasses:
        return m.PresentClasses()

    def several(self, children: list[Any]) -> m.Several:
        return m.Several(_operands(children))


__all__ = ["AnswerReader", "bounds"]
