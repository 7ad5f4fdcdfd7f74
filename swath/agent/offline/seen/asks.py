"""From the parse tree to what is asked: numbers, words, yes or no, boxes, masks, lists."""
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
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen.things import ALL_OF_IT, ANYTHING, Conditions, Said, SeenThings, sign_of, steps_in
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
    return None if not found or found[0] == ALL_OF_IT else found[0]


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
    """Numbers, and yes or no."""

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
                return self._field("height", [*children, ALL_OF_IT])
            return self._field("elevation", children)
        if thing.pronoun == ANYTHING.pronoun and thing.steps == (s.Ranked("height"),):
            return s.Field("height", ALL_OF_IT, "max")  # "the highest object" is the highest cell
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
        a, b = _two(children)
        absolute = has(children, "HEIGHTDIFFERENCE", "DIFFERENCE")
        turned = has(children, "SHORTER", "LOWERWORD")
        return s.HeightDifference(b, a, absolute) if turned else s.HeightDifference(a, b, absolute)

    def difference_turned(self, children: list[Any]) -> s.HeightDifference:
        found = self.difference(children)
        return s.HeightDifference(found.b, found.a, found.absolute)

    def times(self, children: list[Any]) -> q.Ratio:
        a, b = _two(children)
        found = q.Ratio(_height_of(a), _height_of(b))
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
        return q.Area(ALL_OF_IT.having(*conditions_in(children)))

    def area_above(self, children: list[Any]) -> q.Area:
        return q.Area(ALL_OF_IT.having(s.Between("unclear", *bounds(sign_of(children), values(children, "QLEN")[0]))))

    def area_within(self, children: list[Any]) -> q.Area:
        low, high = values(children, "QLEN")
        return q.Area(ALL_OF_IT.having(s.Between("unclear", m.Bound(low, True), m.Bound(high, True))))

    def share(self, children: list[Any]) -> q.Share:
        thing = things(children)[0]
        return q.Share(thing)

    share_image = share

    def share_of(self, children: list[Any]) -> q.Share:
        thing = things(children)[0]
        if thing == ALL_OF_IT:
            return self.share_where(children)
        return q.Share(thing.having(*conditions_in(children)), thing, by_count=thing.countable)

    def share_where(self, children: list[Any]) -> q.Share:
        return q.Share(ALL_OF_IT.having(*conditions_in(children)))

    # ------------------------------------------------------------------ yes or no
    def exists(self, children: list[Any]) -> q.Exists:
        return q.Exists(many(things(children)[0]).having(*conditions_in(children)))

    def is_tall(self, children: list[Any]) -> q.Claim:
        thing = things(children)[0]
        steps = conditions_in(children)
        if thing == ALL_OF_IT:
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
        measure = next(child for child in children if isinstance(child, q.SeenMeasure))
        return q.Compared(measure, sign_of(children), amount)

    def side_of_stat(self, children: list[Any]) -> Any:
        stat = next((child for child in children if isinstance(child, Stat)), None)
        return children[-1] if stat is None else s.Field("height", many(things(children)[0]), stat.name, stat.percent)

    def is_times(self, children: list[Any]) -> q.Compared:
        left, right = (child for child in children if isinstance(child, m.Thing | s.Place | s.Field))
        operator = next((child for child in children if isinstance(child, str) and not isinstance(child, Token)), ">=")
        factor = values(children, "TIMESNUM")[0]
        other = right if isinstance(right, s.Field) else _height_of(right)
        return q.Compared(_height_of(left), operator, q.Times(factor, other))  # type: ignore[arg-type]

    def is_coloured(self, children: list[Any]) -> s.InColour:
        return s.InColour()

    def is_flat(self, children: list[Any]) -> s.Flat:
        return s.Flat(of(children), next((child for child in children if isinstance(child, m.Amount)), None))

    def is_taller(self, children: list[Any]) -> q.Compared:
        a, b = _two(children)
        return q.Compared(_height_of(a), sign_of(children), _height_of(b))

    def is_straight(self, children: list[Any]) -> s.LooksLike:
        return s.LooksLike("course", things(children)[0], "straight")

    def is_curved(self, children: list[Any]) -> s.LooksLike:
        return s.LooksLike("course", things(children)[0], "curved")

    def is_laid_out(self, children: list[Any]) -> s.LooksLike:
        return s.LooksLike("distribution", things(children)[0], values(children, "LAYOUT")[0])

    def is_settled(self, children: list[Any]) -> s.LooksLike:
        return s.LooksLike("settlement", None, values(children, "SETTLEMENT")[0])

    def is_directed(self, children: list[Any]) -> s.LooksLike:
        return s.LooksLike("direction", things(children)[0], values(children, "DIRECTION")[0])


class SeenReader(SeenNumbers):
    """Words, boxes, masks and lists."""

    def colour_of(self, children: list[Any]) -> s.Named:
        return s.Named("colour", of(children))

    def _thing_named(self, what: str, children: Sequence[Any]) -> s.Named:
        if of(children) is None:
            raise Unsettled("It does not say of what: name a class.")
        return s.Named(what, of(children))

    def shape_of(self, children: list[Any]) -> s.Named:
        return self._thing_named("shape", children)

    def course_of(self, children: list[Any]) -> s.Named:
        return self._thing_named("course", children)

    def layouts(self, children: list[Any]) -> None:
        """The words that there are to choose from; the measurement has its own."""

    def layout_of(self, children: list[Any]) -> s.Named:
        return self._thing_named("distribution", children)

    def directions(self, children: list[Any]) -> None:
        """The words that there are to choose from."""

    def direction_of(self, children: list[Any]) -> s.Named:
        return self._thing_named("direction", children)

    def size_of(self, children: list[Any]) -> s.Named:
        return self._thing_named("size", children)

    def cell_of(self, children: list[Any]) -> s.Named:
        return self._thing_named("cell", children)

    def settlement(self, children: list[Any]) -> s.Named:
        return s.Named("settlement")

    def main_scene(self, children: list[Any]) -> s.Named:
        return s.Named("scene")

    def facing(self, children: list[Any]) -> s.Named:
        return s.Named("facing", of(children))

    def boxes(self, children: list[Any]) -> s.Boxes:
        return s.Boxes(things(children)[0].having(*conditions_in(children)))

    def boxes_ranked(self, children: list[Any]) -> s.Boxes:
        return s.Boxes(things(children)[0].having(*steps_in(children)))

    def oriented_boxes(self, children: list[Any]) -> s.Boxes:
        return s.Boxes(things(children)[0], oriented=True)

    def more_np(self, children: list[Any]) -> m.Thing:
        return things(children)[0]

    def masks(self, children: list[Any]) -> s.Masks:
        return s.Masks(tuple(one for thing in things(children) for one in _apart(thing)))

    def mask_flooded(self, children: list[Any]) -> s.Masks:
        return s.Masks((ALL_OF_IT.having(s.Flooded(values(children, "QLEN")[0])),))

    def mask_where(self, children: list[Any]) -> s.Masks:
        return s.Masks((ALL_OF_IT.having(*conditions_in(children)),))

    def heights_ranked(self, children: list[Any]) -> s.Heights:
        return s.Heights(things(children)[0], ordered=True)

    def heights_listed(self, children: list[Any]) -> s.Heights:
        return s.Heights(things(children)[0])

    def higher(self, children: list[Any]) -> s.Higher:
        return s.Higher(tuple(_two(children)), most=has(children, "HIGHERWORD", "TALLEST"))

    def one_of_two(self, children: list[Any]) -> s.OneOfTwo:
        token = next(child for child in children if has([child], *_MORE))
        by, most = _MORE[token.type]
        if token.type in ("BIGGISH", "SMALLISH") and not piece(token).text.lower().endswith("r"):
            raise Unsettled("It does not compare. Next: ask which is the larger or the largest.")
        facets = {"HEIGHT": "height", "LENGTH": "length"}
        by = next((facets[child.type] for child in children if has([child], *facets)), by)
        return s.OneOfTwo(many(things(children)[0]), by, most)

    def stat_(self, children: list[Any]) -> Stat | None:
        return children[0] if children else None

    def which_part(self, children: list[Any]) -> s.PartWith:
        steep = has(children, "SLOPE", "STEEPERWORD", "STEEPEST")
        thing = of(children)
        what = "slope" if steep else "height" if thing is not None and not has(children, "ELEVATION") else "elevation"
        parts = [str(value) for value in values(children, "PART")]
        if not parts and has(children, "WHICHHALF"):
            raise Unsettled("It does not say which halves: the northern or southern one, the left or right one.")
        least = has(children, "LOWERWORD", "SMALLISH", "LOWEST", "SMALLEST")
        field = self._field(what, [child for child in children if not isinstance(child, m.Thing)])
        named = None if thing is None else many(thing)
        return s.PartWith(tuple(parts or _QUADRANTS), replace(field, of=named), not least)

    def profile(self, children: list[Any]) -> s.Profile:
        return s.Profile(*values(children, "PLACE"))

    def caption(self, children: list[Any]) -> s.Caption:
        return s.Caption(next((int(number) for number in values(children, "BRIEFLY")), None))


_MORE = {
    "HIGHERWORD": ("height", True), "LOWERWORD": ("height", False), "BIGGISH": ("area", True),
    "SMALLISH": ("area", False), "LONGERWORD": ("length", True),
}  # fmt: skip
_QUADRANTS = ("top-left", "top-right", "bottom-left", "bottom-right")


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


def _two(children: Sequence[Any]) -> list[Any]:
    found = [child for child in children if isinstance(child, m.Thing | s.Place)]
    if len(found) != 2:
        raise Unsettled("It does not name two things.")
    named = next((one.classes for one in reversed(found) if isinstance(one, m.Thing) and one.classes), ())
    return [_of_class(one, named) for one in found]


def _of_class(one: Any, named: tuple[m.ClassWord, ...]) -> Any:
    """In "the tallest and the lowest building" both are buildings."""
    nameless = isinstance(one, m.Thing) and one.pronoun == ANYTHING.pronoun
    return replace(one, classes=named, pronoun="") if nameless and named else one


def _height_of(side: m.Thing | s.Place) -> q.SeenMeasure:
    return s.At(side) if isinstance(side, s.Place) else s.Field("height", side)


def _single(thing: m.Thing) -> bool:
    ranks = (step for step in thing.steps if isinstance(step, s.Ranked))
    return s.Only() in thing.steps or any(rank.n == 1 or rank.nth for rank in ranks)


def _apart(thing: m.Thing) -> list[m.Thing]:
    """Of "water and roads" each one, of "water, roads in the north" it is not clear."""
    if len(thing.classes) < 2:
        return [thing]
    if steps_in(thing.steps):
        raise Unsettled("It is not clear whether the condition is for each of them. Next: ask for one after the other.")
    return [m.Thing((word,)) for word in thing.classes]
