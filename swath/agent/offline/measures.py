"""From the parse tree to the meaning: numbers."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import AreaOrNumber, DensityAsked, GrewAsked, Per, RatioAsked, ShareAsked
from swath.agent.offline.children import has, piece, steps, things, values
from swath.agent.offline.meaning import AREA, ELIDED, EVERYTHING, SAME, THEY
from swath.agent.offline.steps import StepReader
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary


class NumberReader(StepReader):
    """Numbers."""

    def count(self, children: list[Any]) -> q.Count:
        return q.Count(things(children)[0].having(*steps(children)))

    def count_they(self, children: list[Any]) -> q.Count:
        return q.Count((THEY if has(children, "THEY") else ELIDED).having(*steps(children)))

    def count_pieces(self, children: list[Any]) -> q.Count:
        return q.Count(things(children)[0])

    def area(self, children: list[Any]) -> q.Area | AreaOrNumber:
        thing = things(children)[0].having(*steps(children))
        whole_words = has(children, "HOWMUCH", "TOTAL") and not has(children, "AREA", "AUNIT", "COVER", "HOWBIG")
        return AreaOrNumber(thing) if whole_words and thing.countable and not thing.areal else q.Area(thing)

    def how_big(self, children: list[Any]) -> q.Area:
        thing = things(children)[0].having(*steps(children))
        if thing.countable and not thing.picked:
            raise Unsettled(
                "Their size could be all of it together or the average; ask for the total or for the average."
            )
        return q.Area(thing)

    def area_part(self, children: list[Any]) -> q.Area:
        return q.Area(things(children)[0].having(m.InPart(values(children, "PART")[0])))

    def area_only(self, children: list[Any]) -> q.Area:
        return q.Area(things(children)[0])

    def area_where(self, children: list[Any]) -> q.Area:
        where = steps(children)
        if not where or isinstance(where[0], m.Size):
            raise Unsettled("It does not say what to measure: a size alone is a limit.")
        return q.Area(AREA.having(*where))

    def area_they(self, children: list[Any]) -> q.Area:
        return q.Area(THEY.having(*steps(children)))

    def share(self, children: list[Any]) -> ShareAsked | q.Share:
        thing = things(children)[0]
        within = next((step for step in thing.steps if isinstance(step, m.Inside)), None)
        if within is not None and _class_names(within.target) == _class_names(thing):
            part = replace(thing, steps=tuple(step for step in thing.steps if step != within))
            if within.target.steps and not part.steps:  # "of the building area belongs to buildings over 150 m2"
                return share_from(within.target, part)
            return share_from(part, replace(within.target, regions=False))
        return ShareAsked(thing, of_image=has(children, "IMAGE"))

    def share_there(self, children: list[Any]) -> q.Share:
        there = steps(children)
        return q.Share(things(children)[0].having(*there), EVERYTHING.having(*there))

    def share_of_class(self, children: list[Any]) -> q.Share:
        part, whole = things(children)[0], self.base(children)
        names = [[word.names for word in thing.classes] for thing in (part, whole)]
        if names[0] != names[1] or part.picked:
            raise Unsettled("It asks for a percentage of something else; ask for a ratio.")
        return q.Share(part, whole, by_count=whole.countable)

    def share_image(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(things(children)[0], of_image=True)

    def share_implied(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(things(children)[0], of_image=True, implied=True)

    def share_where(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(EVERYTHING.having(*steps(children)), of_image=True)

    def share_part(self, children: list[Any]) -> q.Share:
        part = m.InPart(values(children, "PART")[0])
        return q.Share(things(children)[0].having(part), part)

    def share_of(self, children: list[Any]) -> q.Share:
        whole = things(children)[0]
        by_count = not whole.areal and (bool(whole.pronoun) or (whole.countable and not whole.picked))
        return q.Share(whole.having(*steps(children)), whole, by_count)

    def share_in_part(self, children: list[Any]) -> q.Share:
        """Of the class, not of the part: "the vegetation that lies in the north"."""
        return self.share_of([*children, m.InPart(values(children, "PART")[0])])

    def share_in(self, children: list[Any]) -> q.Share | ShareAsked:
        whole, place = things(children)
        if place.pronoun == "they":
            return q.Share(place, whole, by_count=whole.countable)
        said = has(children, "BE", "COVER", "DO", "HAVE", "REL", "ONLY", "UNDER")
        if not said and (_class_names(whole) == _class_names(place) or whole.picked):
            return share_from(whole, place)  # "the share of the largest building in the total building area"
        return q.Share(whole.having(m.Inside(place)), whole)

    def share_same(self, children: list[Any]) -> q.Share:
        """What the largest patch holds of all patches."""
        whole = things(children)[1] if things(children)[0].pronoun else things(children)[0]
        picked = next(thing for thing in things(children) if thing.pronoun)
        return q.Share(replace(whole, regions=True, areal=False).having(*picked.steps), whole)

    def share_from(self, children: list[Any]) -> q.Share | ShareAsked:
        part, whole = things(children)
        return share_from(part, whole)

    def share_largest(self, children: list[Any]) -> ShareAsked:
        """The share of the image that the largest patch has, which landscape ecology calls its index."""
        largest = replace(things(children)[0], regions=True, areal=False).having(m.Pick("largest"))
        return ShareAsked(largest, of_image=True)

    def share_rest(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(things(children)[0], of_image=True, rest=True)

    def share_context(self, children: list[Any]) -> ShareAsked:
        return ShareAsked(THEY, of_image=True)

    def share_they(self, children: list[Any]) -> q.Share:
        return q.Share(THEY.having(*steps(children)), THEY, by_count=not has(children, "AREA"))

    def stat(self, children: list[Any]) -> q.AreaStatistic:
        return q.AreaStatistic(things(children)[0], _statistic(children))

    def stat_max(self, children: list[Any]) -> q.AreaStatistic:
        return q.AreaStatistic(things(children)[0], "max")

    def stat_min(self, children: list[Any]) -> q.AreaStatistic:
        return q.AreaStatistic(things(children)[0], "min")

    def stat_they(self, children: list[Any]) -> q.AreaStatistic:
        return q.AreaStatistic(SAME, _statistic(children))

    def perimeter(self, children: list[Any]) -> q.Perimeter:
        return q.Perimeter(next(iter(things(children)), THEY), has(children, "SHORE"))

    def distance(self, children: list[Any]) -> q.Distance:
        a, b = things(children)
        statistic = _statistic(children) if has(children, "STATISTIC", "TYPICAL") else None
        for thing, other in ((a, b), (b, a)):
            if FARTHEST in thing.steps:
                return q.Distance(_without_farthest(thing), _without_farthest(other), "max")
        return q.Distance(a, b, statistic)

    def distance_they(self, children: list[Any]) -> q.Distance:
        return q.Distance(
            THEY, things(children)[0], _statistic(children) if has(children, "STATISTIC", "TYPICAL") else None
        )

    def distance_max(self, children: list[Any]) -> q.Distance:
        a, b = things(children)
        return q.Distance(a, b, "max")

    def distance_pair(self, children: list[Any]) -> q.Distance:
        thing = self.picked(children)
        base = replace(thing, steps=thing.steps[:-1])
        smallest = thing.steps[-1] == m.Pick("smallest", 2)
        which: Literal["nth smallest", "nth largest"] = "nth smallest" if smallest else "nth largest"
        return q.Distance(base.having(m.Pick(which, 1)), base.having(m.Pick(which, 2)))

    def extent(self, children: list[Any]) -> q.Measure:
        """Refused: a length or a width would need a centre line."""
        what = "width" if has(children, "WIDTH") else "length"
        raise Unsettled(f"No {what} of what it names is measured; its area and the length of its outline are.")

    def spacing(self, children: list[Any]) -> q.Spacing:
        """How far the objects of one kind are from one another: each to the nearest other one."""
        first, *others = things(children)
        if any(_class_names(other) != _class_names(first) or other.steps for other in others):
            raise Unsettled("It is not clear between which things the distance is asked.")
        said = next((piece(child).text.lower() for child in children if has([child], "DISTANCE")), "")
        shortest = has(children, "SMALLEST", "NEAREST") or said.startswith(("short", "small", "minim", "close", "near"))
        if shortest and not has(children, "STATISTIC", "TYPICAL"):
            return q.Spacing(first, "min")
        if not has(children, "STATISTIC", "TYPICAL"):
            raise Unsettled("Of many distances one has to be named: the average, the median or the smallest.")
        return q.Spacing(first, _statistic(children))

    def place_thing(self, children: list[Any]) -> m.Thing:
        return things(children)[0]

    def place_farthest(self, children: list[Any]) -> m.Thing:
        thing = things(children)[0]
        return thing.having(FARTHEST)

    def per(self, children: list[Any]) -> Per:
        return Per(values(children, "AUNIT")[0].key)

    def density(self, children: list[Any]) -> Any:
        return DensityAsked(q.Density(things(children)[0]), _per(children))

    def density_of(self, children: list[Any]) -> Any:
        thing, whole = things(children)
        return DensityAsked(q.Density(thing, whole), _per(children))

    def power(self, children: list[Any]) -> q.Power:
        return q.Power(things(children)[0])

    def power_share(self, children: list[Any]) -> q.Times:
        power = self.power(children)
        if any(vocabulary.concept_of(word.word) == "solar" for word in power.thing.classes):
            raise Unsettled("It is not clear whether the percentage is of the panels or their efficiency.")
        return q.Times(values(children, "QPCT")[0].value / 100, power)

    def power_plain(self, children: list[Any]) -> q.Power:
        return q.Power(THEY)

    def image_area(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("area")

    def image_resolution(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("pixel size")

    def image_bands(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("bands")

    def image_width(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("width")

    def image_height(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("height")

    def image_valid(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("valid")

    def image_nodata(self, children: list[Any]) -> q.ImageFact:
        return q.ImageFact("nodata")

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


FARTHEST = m.Pick("farthest")
"""Marks "the farthest building" in a question for a distance, whose target is the other thing."""


@dataclass(frozen=True)
class Others:
    """The further operands of a choice, and what stands before them: "AND", "OR", "COMMA"."""

    operands: tuple[Any, ...]
    listed: frozenset[str] = frozenset()


def _class_names(thing: m.Thing) -> list[tuple[str, ...]]:
    return [word.names for word in thing.classes]


def _statistic(children: Sequence[Any]) -> q.Statistic:
    """The statistic named; "typical" alone is the mean."""
    statistic: q.Statistic = next(iter(values(children, "STATISTIC")), "mean")
    return statistic


def _without_farthest(thing: m.Thing) -> m.Thing:
    return replace(thing, steps=tuple(step for step in thing.steps if step != FARTHEST))


def _per(children: Sequence[Any]) -> str | None:
    return next((child.unit for child in children if isinstance(child, Per)), None)


MEASURES = (
    q.Count, q.Area, q.Share, q.AreaStatistic, q.Perimeter, q.Distance, q.Spacing, q.Density, q.Power, q.ImageFact,
    q.Ratio, q.Difference, q.Growth, q.Times, GrewAsked, ShareAsked, RatioAsked, DensityAsked, AreaOrNumber,
)  # fmt: skip


def operands_in(children: Sequence[Any]) -> tuple[Any, ...]:
    """What is compared: things and measures, in order."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, (m.Thing, *MEASURES)):
            found.append(child)
        elif isinstance(child, Others):
            found += child.operands
    return tuple(found)


def share_from(part: m.Thing, whole: m.Thing) -> q.Share | ShareAsked:
    """The share that one thing has of another: by number where both are of the same objects."""
    if whole.everything and not whole.steps:
        return ShareAsked(part, of_image=True)
    same = [word.names for word in part.classes] == [word.names for word in whole.classes]
    if same and part.countable and whole.countable and not (part.picked or part.areal or whole.areal):
        return q.Share(part, whole, by_count=True)
    return q.Share(part if same else whole.having(m.Inside(part)), whole)


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
