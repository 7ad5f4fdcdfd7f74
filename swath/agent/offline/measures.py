"""From the parse tree to the meaning: numbers."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import AreaOrNumber, DensityAsked, Per
from swath.agent.offline.children import has, piece, steps, things, values
from swath.agent.offline.meaning import AREA, ELIDED, SAME, THEY
from swath.agent.offline.shares import ShareReader, class_names
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary


class NumberReader(ShareReader):
    """Numbers of one thing, distances, facts about the image."""

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
        if any(class_names(other) != class_names(first) or other.steps for other in others):
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


FARTHEST = m.Pick("farthest")
"""Marks "the farthest building" in a question for a distance, whose target is the other thing."""


def _statistic(children: Sequence[Any]) -> q.Statistic:
    """The statistic named; "typical" alone is the mean."""
    statistic: q.Statistic = next(iter(values(children, "STATISTIC")), "mean")
    return statistic


def _without_farthest(thing: m.Thing) -> m.Thing:
    return replace(thing, steps=tuple(step for step in thing.steps if step != FARTHEST))


def _per(children: Sequence[Any]) -> str | None:
    return next((child.unit for child in children if isinstance(child, Per)), None)
