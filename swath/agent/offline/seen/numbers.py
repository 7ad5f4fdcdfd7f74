"""From the parse tree to what is asked: heights, elevations, slopes, counts, areas and shares."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.children import bounds, has, piece, things, values
from swath.agent.offline.meaning import EVERYTHING
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen.children import ANYTHING, Conditions, Said, sign_of, steps_in
from swath.agent.offline.seen.things import SeenThings
from swath.agent.offline.unsettled import Unsettled


@dataclass(frozen=True)
class Unclear:
    """Height of a place, above ground or above the datum: the surfaces that are given decide."""

    place: s.Place


@dataclass(frozen=True)
class Stat:
    """A statistic that is asked for."""

    name: str
    percent: Decimal | None = None


def of(children: Sequence[Any]) -> m.Thing | None:
    """The thing among the children; None where it is the whole image."""
    found = things(children)
    return None if not found or found[0] == EVERYTHING else found[0]


def conditions_in(children: Sequence[Any]) -> tuple[Any, ...]:
    """What is said after the verb, as steps."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, Conditions):
            found += [m.Not(step) for step in child.steps] if child.denied else list(child.steps)
    if any(isinstance(child, Conditions) and child.denied and len(child.steps) > 1 for child in children):
        raise Unsettled("It denies two things at once. Next: ask for one of them.")
    return (Said(), *found) if found else ()


class SeenNumbers(SeenThings):
    """Numbers."""

    def ask(self, children: list[Any]) -> Any:
        return children[0]

    def start(self, children: list[Any]) -> Any:
        return next(child for child in children if child is not None and not isinstance(child, Token))

    def stat(self, children: list[Any]) -> Stat:
        for child in children:
            if child.type in ("PERCENTILE", "NTH", "NUM"):
                value = piece(child).value
                percent = Decimal(value.value if isinstance(value, m.Amount) else value)
                if not 0 <= percent <= 100:
                    raise Unsettled("Percentiles go from 0 to 100.")
                return Stat("percentile", percent)
        kind = children[0].type
        return Stat({"LARGEST": "max", "TALLEST": "max", "SMALLEST": "min"}.get(kind) or piece(children[0]).value)

    def _field(self, what: str, children: Sequence[Any], **more: Any) -> s.Field:
        stats = [child for child in children if isinstance(child, Stat)]
        stat = stats[0] if stats else Stat("")
        return s.Field(what, of(children), stat.name, stat.percent, **more)

    def height(self, children: list[Any]) -> s.Field:
        children = _attributive(children)
        thing = of(children)
        if thing is None:
            if has(children, "ABOVEGROUND") or has(children, "HEIGHT"):
                return self._field("height", [*children, EVERYTHING])
            return self._field("elevation", children)
        if thing.pronoun == ANYTHING.pronoun and thing.steps == (s.Ranked("height"),):
            return s.Field("height", EVERYTHING, "max")  # "the highest object" is the highest cell
        return self._field("height", children)

    def at(self, children: list[Any]) -> s.At:
        return s.At(values(children, "PLACE")[0])

    def ground_word(self, children: list[Any]) -> None:
        """The ground, at a place."""

    def at_above(self, children: list[Any]) -> s.At:
        return s.At(values(children, "PLACE")[0], above_ground=True)

    def at_unclear(self, children: list[Any]) -> Any:
        if has(children, "ABOVEGROUND"):
            return self.at_above(children)
        return Unclear(values(children, "PLACE")[0])

    def elevation(self, children: list[Any]) -> s.Field:
        return self._field("elevation", children)

    elevation_ground = elevation

    def highest_point(self, children: list[Any]) -> s.Field:
        return s.Field("elevation", None, "max")

    def lowest_point(self, children: list[Any]) -> s.Field:
        return s.Field("elevation", None, "min")

    def relief(self, children: list[Any]) -> s.Field:
        return s.Field("relief", of(children))

    def np_(self, children: list[Any]) -> m.Thing | None:
        return next(iter(things(children)), None)

    def slope(self, children: list[Any]) -> s.Field:
        return self._field("slope", children)

    def steepest(self, children: list[Any]) -> s.Field:
        return s.Field("slope", of(children), "max")

    def flat(self, children: list[Any]) -> s.Field:
        limit = next((child for child in children if isinstance(child, m.Amount)), None)
        return s.Field("flat", of(children), level=limit)

    def flat_limit(self, children: list[Any]) -> m.Amount:
        if not has(children, "UNDER", "FLATTER") and sign_of(children) not in ("<=", "<"):
            raise Unsettled("Flat is at most so many degrees.")
        found: m.Amount = values(children, "QDEG")[0]
        return found

    def aspect(self, children: list[Any]) -> s.Field:
        return s.Field("aspect", of(children))

    def rugged(self, children: list[Any]) -> s.Field:
        return self._field((*values(children, "RUGGED"), "tri")[0], children)

    def flood_depth(self, children: list[Any]) -> s.Field:
        if not any(isinstance(child, Stat) for child in children):
            raise Unsettled("It does not say which depth: the mean or the maximum of the flooded cells.")
        return self._field("depth", children, level=values(children, "QLEN")[0])

    def volume(self, children: list[Any]) -> s.Field:
        if of(children) is None:
            raise Unsettled("It does not say of what the volume is: name a class.")
        return s.Field("volume", of(children))

    def side_of(self, children: list[Any]) -> Any:
        places = values(children, "PLACE")
        if places:
            return places[0]
        named = things(children)
        return named[0] if named else ANYTHING.having(*steps_in(children))

    def difference_pair(self, children: list[Any]) -> s.HeightDifference:
        thing = things(children)[0]
        rank = next((step for step in thing.steps if isinstance(step, s.Ranked)), None)
        if rank is None or rank.n != 2 or rank.nth or thing.steps[-1] is not rank:
            raise Unsettled("It does not say which two are compared.")
        one, other = (replace(thing, steps=(*thing.steps[:-1], replace(rank, n=n, nth=True))) for n in (1, 2))
        return s.HeightDifference(one, other, absolute=True)

    def difference(self, children: list[Any]) -> s.HeightDifference:
        a, b = two_of(children)
        absolute = has(children, "HEIGHTDIFFERENCE", "DIFFERENCE")
        turned = has(children, "SHORTER", "LOWERWORD")
        return s.HeightDifference(b, a, absolute) if turned else s.HeightDifference(a, b, absolute)

    def difference_turned(self, children: list[Any]) -> s.HeightDifference:
        found = self.difference(children)
        return s.HeightDifference(found.b, found.a, found.absolute)

    def times(self, children: list[Any]) -> q.Ratio:
        a, b = two_of(children)
        found = q.Ratio(height_of(a), height_of(b))
        return q.Ratio(found.b, found.a) if has(children, "SHORTER", "LOWERWORD") else found

    def sides(self, children: list[Any]) -> s.Field:
        return s.Field("length" if has(children, "LENGTH") else "width", things(children)[0])

    def azimuth(self, children: list[Any]) -> s.Field:
        return s.Field("azimuth", things(children)[0])

    # ------------------------------------------------------------------ counts, areas, shares
    def count(self, children: list[Any]) -> q.Count:
        if things(children)[0].everything:
            raise Unsettled("It does not say what is to be counted.")
        return q.Count(many(things(children)[0]).having(*conditions_in(children)))

    def area(self, children: list[Any]) -> q.Area:
        return q.Area(things(children)[0].having(*conditions_in(children)))

    def area_where(self, children: list[Any]) -> q.Area:
        return q.Area(EVERYTHING.having(*conditions_in(children)))

    def area_above(self, children: list[Any]) -> q.Area:
        return q.Area(EVERYTHING.having(s.Between("unclear", *bounds(sign_of(children), values(children, "QLEN")[0]))))

    def area_within(self, children: list[Any]) -> q.Area:
        low, high = values(children, "QLEN")
        return q.Area(EVERYTHING.having(s.Between("unclear", m.Bound(low, True), m.Bound(high, True))))

    def share(self, children: list[Any]) -> q.Share:
        thing = things(children)[0]
        return q.Share(thing)

    share_image = share

    def share_of(self, children: list[Any]) -> q.Share:
        thing = things(children)[0]
        if thing == EVERYTHING:
            return self.share_where(children)
        return q.Share(thing.having(*conditions_in(children)), thing, by_count=thing.countable)

    def share_where(self, children: list[Any]) -> q.Share:
        return q.Share(EVERYTHING.having(*conditions_in(children)))


def _attributive(children: list[Any]) -> list[Any]:
    """In "the mean tree height" trees are meant, not one of them."""
    for at, child in enumerate(children[:-1]):
        after = children[at + 1]
        last = at + 1 == len(children) - 1 or isinstance(after, Stat)
        if isinstance(child, m.Thing) and isinstance(after, Token) and after.type == "HEIGHT" and last:
            return [*children[:at], many(child), *children[at + 1 :]]
    return children


def many(thing: m.Thing) -> m.Thing:
    """A thing of which there may be several, although one was named: "is there a ship?"."""
    words = tuple(replace(word, plural=word.plural or word.single, single=False) for word in thing.classes)
    return replace(thing, classes=words, regions=thing.regions or any(word.single for word in thing.classes))


def two_of(children: Sequence[Any]) -> list[Any]:
    """The two things or places among the children, both of the class that one of them has.

    Raises:
        Unsettled: there are not two.
    """
    found = [child for child in children if isinstance(child, m.Thing | s.Place)]
    if len(found) != 2:
        raise Unsettled("It does not name two things.")
    named = next((one.classes for one in reversed(found) if isinstance(one, m.Thing) and one.classes), ())
    return [_of_class(one, named) for one in found]


def _of_class(one: Any, named: tuple[m.ClassWord, ...]) -> Any:
    """In "the tallest and the lowest building" both are buildings."""
    nameless = isinstance(one, m.Thing) and one.pronoun == ANYTHING.pronoun
    return replace(one, classes=named, pronoun="") if nameless and named else one


def height_of(side: m.Thing | s.Place) -> q.SeenMeasure:
    """The height of a thing, or the elevation of a place."""
    return s.At(side) if isinstance(side, s.Place) else s.Field("height", side)
