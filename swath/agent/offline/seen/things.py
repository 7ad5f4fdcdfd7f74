"""From the parse tree to things: classes with their looks, places, relations and heights."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from lark import Token, Transformer

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.children import bounds, has, piece, things, values
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.unsettled import Unsettled

ALL_OF_IT = m.Thing(everything=True)
ANYTHING = m.Thing(pronoun="same", regions=True)
"""Objects whose class was named before: "the largest one"."""
NEIGHBOUR = m.Thing(pronoun="they", regions=True)
"""Objects of the class of what they are near to."""
_OPERATORS: dict[str, q.Operator] = {
    "OVER": ">", "UNDER": "<", "ATLEAST": ">=", "ATMOST": "<=", "TALLER": ">", "SHORTER": "<", "NOTTALLER": "<=",
    "NOTSHORTER": ">=", "STEEPER": ">", "FLATTER": "<", "MORE": ">", "LARGER": ">", "LESS": "<", "SMALLER": "<",
}  # fmt: skip
_ORDER: tuple[tuple[type, ...], ...] = (
    (m.Size,), (s.Look,), (m.InPart, s.InCell), (m.Near, m.Touching, s.Related), (s.Just,),
    (s.Between, s.Flooded, m.Not), (s.Ranked,), (s.Only,),
)  # fmt: skip
"""What narrows a thing down applies in this order: ranks and the count of one come last."""
_OPPOSITE = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}


@dataclass(frozen=True)
class Placed:
    """Where something is in the image, as it was named; a cell or a part, as the question is about one or many."""

    part: str
    text: str


@dataclass(frozen=True)
class Middle:
    """In the middle of the image, or in one of its corners."""

    corner: str = ""


@dataclass(frozen=True)
class Conditions:
    """What is said of a thing after the verb."""

    steps: tuple[Any, ...]
    denied: bool = False


@dataclass(frozen=True)
class Said(m.SeenStep):
    """What comes after it is said of the thing, and is not what tells it from others."""


@dataclass(frozen=True)
class Noun:
    """The classes of a thing, its article not yet heard."""

    thing: m.Thing
    listed: str = ""


OPEN = (Placed, Middle)


@dataclass(frozen=True)
class By:
    """By what the largest or smallest is meant: "height" or "area"."""

    field: str


STEPS = (m.SeenStep, m.Size, m.Near, m.Touching, m.InPart, m.Not, Placed, Middle)


def steps_in(children: Sequence[Any]) -> tuple[Any, ...]:
    """The steps among the children, lists of them opened."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, tuple):
            found += steps_in(child)
        elif isinstance(child, STEPS):
            found.append(child)
    return tuple(found)


def sign_of(children: Sequence[Any]) -> q.Operator:
    """The comparison among the children, a token or one read before."""
    for child in children:
        if isinstance(child, Token) and child.type in _OPERATORS:
            return _OPERATORS[child.type]
        if isinstance(child, str) and child in _OPERATORS.values():
            return child  # type: ignore[return-value]
    raise Unsettled("It is not clear what is compared.")


def ordered(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Steps in the order in which they apply.

    Raises:
        Unsettled: two of them pick, so that the order decides.
    """
    if sum(isinstance(step, s.Ranked) for step in steps) > 1:
        raise Unsettled("It ranks twice, so that it is not clear what comes first. Next: ask with one rank.")
    found = [step for kinds in _ORDER for step in steps if isinstance(step, kinds)]
    found += [step for step in steps if step not in found and not isinstance(step, OPEN)]
    return (*(step for step in steps if isinstance(step, OPEN)), *found)


class SeenThings(Transformer[Token, Any]):
    """Things, and what narrows them down."""

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        """Every rule that leaves a node has a method; a rule without one would lose what it holds."""
        raise NotImplementedError(f"no method reads the rule {data}")

    def _nothing(self, children: list[Any]) -> None:
        """An article, or a word that only introduces."""

    _open_ = _close_ = _nothing

    # ------------------------------------------------------------------ things
    def np(self, children: list[Any]) -> m.Thing:
        if isinstance(children[0], m.Thing):
            return children[0]
        noun = next(child for child in children if isinstance(child, Noun))
        thing = replace(noun.thing, steps=_ranked_by(ordered(steps_in(children)), children))
        last = [child for child in children if not isinstance(child, Token)][-1]
        if isinstance(last, Placed) and any(_to_one(step) for step in thing.steps):
            raise Unsettled(
                f'It is not clear what is in the {last.text}: say the place first, as in "the {last.text} one next to".'
            )
        return thing

    def z_np(self, children: list[Any]) -> m.Thing:
        """Chinese puts what narrows a thing down before it."""
        return next(child for child in children if isinstance(child, Noun)).thing.having(*steps_in(children))

    def np_only(self, children: list[Any]) -> m.Thing:
        return self.np(children)

    def np_from_side(self, children: list[Any]) -> m.Thing:
        side = next(child for child in children if isinstance(child, s.Ranked))
        return self.np(
            [child if child is not side else replace(side, n=values(children, "NTH")[0]) for child in children]
        )

    def np_first_beside(self, children: list[Any]) -> m.Thing:
        related = next(child for child in children if isinstance(child, s.Related))
        rank = s.Ranked("nearest", n=values(children, "NTH")[0], nth=True, target=related.targets[0])
        return self.np([*children, rank])

    def pre(self, children: list[Any]) -> Any:
        return children[0]

    def post(self, children: list[Any]) -> Any:
        return next(child for child in children if not isinstance(child, Token))

    cond = post

    def noun(self, children: list[Any]) -> Noun:
        return next(child for child in children if isinstance(child, Noun))

    def objects(self, children: list[Any]) -> Noun:
        return Noun(ANYTHING)

    def neighbour(self, children: list[Any]) -> Noun:
        return Noun(NEIGHBOUR)

    def everything(self, children: list[Any]) -> Noun:
        return Noun(ALL_OF_IT)

    def classes(self, children: list[Any]) -> Noun:
        before = next((child for child in children if isinstance(child, Noun)), None)
        words = (*(before.thing.classes if before else ()), *values(children, "CLASS"))
        listed = "OR" if has(children, "OR") else "AND" if has(children, "AND", "COMMA") else ""
        if before and before.listed and listed and before.listed != listed:
            raise Unsettled("It is not clear what goes together: ask for one after the other.")
        return Noun(m.Thing(tuple(words)), (before.listed if before else "") or listed)

    def noun_of_target(self, children: list[Any]) -> Noun:
        return next(
            (child for child in children if isinstance(child, Noun)), Noun(m.Thing(tuple(values(children, "CLASS"))))
        )

    classes_or = classes

    def target(self, children: list[Any]) -> m.Thing:
        return self.np(children)

    def target_same(self, children: list[Any]) -> m.Thing:
        return ANYTHING.having(*steps_in(children))

    target_extreme = target_same

    # ------------------------------------------------------------------ looks and ranks
    def colour(self, children: list[Any]) -> s.Look:
        return s.Look("colour", values(children, "COLOUR")[0])

    def shape_word(self, children: list[Any]) -> s.Look:
        return s.Look("shape", values(children, "SHAPE")[0])

    def size_word(self, children: list[Any]) -> s.Look:
        return s.Look("size", "small" if has(children, "SMALLISH") else "large")

    def only(self, children: list[Any]) -> s.Only:
        return s.Only()

    def alone(self, children: list[Any]) -> s.Related:
        return s.Related("alone")

    def alone_with(self, children: list[Any]) -> s.Related:
        targets = tuple(things(children))
        return s.Related("not next", targets) if targets else s.Related("alone")

    def superlative(self, children: list[Any]) -> s.Ranked:
        kinds = {"LARGEST": "area", "SMALLEST": "area", "TALLEST": "height", "LOWEST": "height", "LONGEST": "length"}
        by = next(kinds[child.type] for child in children if isinstance(child, Token) and child.type in kinds)
        most = not has(children, "SMALLEST", "LOWEST")
        nth, number = values(children, "NTH"), values(children, "NUM")
        if nth:
            return s.Ranked(by, most=most, n=nth[0], nth=True)
        return s.Ranked(by, most=most, n=_whole(number[0].value) if number else 1)

    def by_rank(self, children: list[Any]) -> s.Ranked:
        said = has(children, "LARGEST", "SMALLEST", "TALLEST", "LOWEST", "LONGEST")
        by = "TALLEST" if has(children, "BYHEIGHT") else "LARGEST"
        return self.superlative(children if said else [*children, Token(by, "")])

    def extreme(self, children: list[Any]) -> s.Ranked:
        nth = values(children, "NTH")
        return s.Ranked("side", values(children, "EXTREME")[0], n=nth[0] if nth else 1, nth=bool(nth))

    def at_extreme(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("side", values(children, "EXTREME", "PART", "CELL")[0])

    def from_side(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("side", values(children, "PART", "CELL")[0], nth=True)

    def by_most(self, children: list[Any]) -> s.Ranked:
        rank: s.Ranked = next(child for child in children if isinstance(child, s.Ranked))
        facets = {"HEIGHT": "height", "LENGTH": "length"}
        by = next((facets[child.type] for child in children if has([child], *facets)), rank.by)
        if by == "length" and not rank.most:
            raise Unsettled("Of lengths the longest is told, not the shortest. Next: ask for the smallest.")
        return replace(rank, by=by)

    def by_longest(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("length")

    def by_said(self, children: list[Any]) -> By:
        return By("height" if has(children, "BYHEIGHT") else "area")

    # ------------------------------------------------------------------ places
    def cell(self, children: list[Any]) -> Any:
        token = piece(children[-1])
        return Placed(token.value, token.text.lower())

    def cond_cell(self, children: list[Any]) -> Any:
        return self.cell([child for child in children if has([child], "PART", "CELL")])

    def at_side(self, children: list[Any]) -> Placed:
        said = piece(next(child for child in children if has([child], "SIDEOF")))
        return Placed({"above": "top", "below": "bottom"}.get(said.value, said.value), said.text.lower())

    def corner(self, children: list[Any]) -> Middle:
        return Middle(values(children, "CORNER")[0])

    def centre(self, children: list[Any]) -> Middle:
        return Middle()

    def closest_corner(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("corner", values(children, "CORNER")[0])

    def closest_side(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("side", values(children, "CELL", "PART")[0])

    def closest_edge(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("edge")

    def closest_centre(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("centre")

    # ------------------------------------------------------------------ relations
    def closest(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("nearest", target=things(children)[0])

    def farthest_from(self, children: list[Any]) -> s.Ranked:
        return s.Ranked("farthest", target=things(children)[0])

    def beside(self, children: list[Any]) -> s.Related:
        return s.Related("next", tuple(things(children)))

    def side_rel(self, children: list[Any]) -> s.Related:
        return s.Related("side", tuple(things(children)), values(children, "SIDEOF")[0])

    def side_just(self, children: list[Any]) -> s.Just:
        return s.Just(things(children)[0], values(children, "JUSTSIDE")[0])

    def target_others(self, children: list[Any]) -> m.Thing:
        return ANYTHING

    def between(self, children: list[Any]) -> s.Related:
        return s.Related("between", tuple(things(children)))

    def between_two(self, children: list[Any]) -> s.Related:
        target = things(children)[0]
        return s.Related("between", (target, target))

    def inside(self, children: list[Any]) -> s.Related:
        return s.Related("inside", tuple(things(children)))

    def around(self, children: list[Any]) -> s.Related:
        return s.Related("around", tuple(things(children)))

    def alike(self, children: list[Any]) -> s.Related:
        return s.Related("colour", tuple(things(children)))

    def touching(self, children: list[Any]) -> m.Touching:
        return m.Touching(things(children)[0])

    def near(self, children: list[Any]) -> m.Near:
        return m.Near(things(children)[0], high=m.Bound(values(children, "QLEN")[0], True))

    def near_closer(self, children: list[Any]) -> m.Near:
        return m.Near(things(children)[0], high=m.Bound(values(children, "QLEN")[0], False))

    def near_beyond(self, children: list[Any]) -> m.Near:
        return m.Near(things(children)[0], low=m.Bound(values(children, "QLEN")[0], False))

    def near_op(self, children: list[Any]) -> m.Near:
        low, high = bounds(sign_of(children), values(children, "QLEN")[0])
        return m.Near(things(children)[0], low, high)

    def near_vague(self, children: list[Any]) -> Any:
        raise Unsettled('"Near" names no distance: say within how many metres, or ask for the nearest, or for next to.')

    # ------------------------------------------------------------------ sizes and heights
    def op(self, children: list[Any]) -> q.Operator:
        return sign_of(children)

    def size(self, children: list[Any]) -> m.Size:
        return m.Size(*bounds(sign_of(children), values(children, "QAREA", "QPX")[0]))

    def size_between(self, children: list[Any]) -> m.Size:
        low, high = values(children, "QAREA")
        return m.Size(m.Bound(low, True), m.Bound(high, True))

    def size_at_least(self, children: list[Any]) -> m.Size:
        return m.Size(m.Bound(values(children, "QAREA")[0], True))

    def size_at_most(self, children: list[Any]) -> m.Size:
        return m.Size(high=m.Bound(values(children, "QAREA")[0], True))

    def tall(self, children: list[Any]) -> s.Between:
        return s.Between("height", *bounds(sign_of(children), values(children, "QLEN")[0]))

    def tall_at_least(self, children: list[Any]) -> s.Between:
        return s.Between("height", m.Bound(values(children, "QLEN")[0], True))

    def tall_at_most(self, children: list[Any]) -> s.Between:
        return s.Between("height", high=m.Bound(values(children, "QLEN")[0], True))

    def tall_between(self, children: list[Any]) -> s.Between:
        return self._between("height", values(children, "QLEN"))

    def _between(self, field: Literal["height", "elevation", "slope"], amounts: Sequence[m.Amount]) -> s.Between:
        low, high = sorted(amounts, key=lambda amount: amount.value)
        return s.Between(field, m.Bound(low, True), m.Bound(high, True))

    def tall_than(self, children: list[Any]) -> s.Between:
        limit = s.Field("height", things(children)[0])
        return s.Between("height", *bounds(sign_of(children), limit))

    def raised(self, children: list[Any]) -> s.Between:
        return s.Between("elevation", *bounds(sign_of(children), values(children, "QLEN")[0]))

    def raised_between(self, children: list[Any]) -> s.Between:
        return self._between("elevation", values(children, "QLEN"))

    def steep(self, children: list[Any]) -> s.Between:
        limit = values(children, "QDEG", "QPCT")[0]
        percent = limit.value if limit.unit == "percent" else None
        return s.Between("slope", *bounds(sign_of(children), degrees(limit)), percent)

    def steep_at_least(self, children: list[Any]) -> s.Between:
        return s.Between("slope", m.Bound(values(children, "QDEG")[0], True))

    def steep_between(self, children: list[Any]) -> s.Between:
        return self._between("slope", values(children, "QDEG"))

    def flooded(self, children: list[Any]) -> s.Flooded:
        return s.Flooded(values(children, "QLEN")[0])

    def no_unit(self, children: list[Any]) -> Any:
        number = values(children, "NUM")[0].said
        raise Unsettled(f"Say the unit of {number}, such as {number} m.")

    def storeys(self, children: list[Any]) -> Any:
        raise Unsettled(
            "It counts storeys, which a raster of heights does not show. Next: ask with a height in metres."
        )

    def cond_not(self, children: list[Any]) -> m.Not:
        return m.Not(steps_in(children)[0])

    # ------------------------------------------------------------------ what is said after the verb
    def cond_list(self, children: list[Any]) -> Conditions:
        if any(isinstance(child, Conditions) and child.denied for child in children):
            raise Unsettled("It denies one of two things, or both. Next: ask for one of them.")
        before = [step for child in children if isinstance(child, Conditions) for step in child.steps]
        return Conditions((*before, *steps_in(children)))

    cond_list_plain = cond_list

    def cond_denied(self, children: list[Any]) -> Conditions:
        return Conditions(tuple(steps_in(children)), denied=True)


def degrees(amount: m.Amount) -> m.Amount:
    """A slope in degrees; of one in percent the angle."""
    if amount.unit != "percent":
        return amount
    angle = Decimal(math.degrees(math.atan(float(amount.value) / 100))).quantize(Decimal("1e-9"))
    return m.Amount(angle, "deg", f"{amount.said} (that of {amount.value.normalize():f} %)")


def _to_one(step: Any) -> bool:
    """Whether what follows may be about the other thing that the step names."""
    return isinstance(step, s.Related | m.Touching) or (isinstance(step, s.Ranked) and step.target is not None)


def _ranked_by(steps: tuple[Any, ...], children: Sequence[Any]) -> tuple[Any, ...]:
    """Steps, of which a rank is by what is said: "the largest by height".

    Raises:
        Unsettled: nothing is ranked, or by something else.
    """
    said = next((child.field for child in children if isinstance(child, By)), None)
    if said is None:
        return steps
    ranks = [step for step in steps if isinstance(step, s.Ranked)]
    if len(ranks) != 1 or ranks[0].by not in ("area", said):
        raise Unsettled(f"It does not say what is ranked by {said}.")
    return tuple(replace(step, by=said) if step is ranks[0] else step for step in steps)


def _whole(number: Decimal) -> int:
    if number != number.to_integral_value() or not 1 <= number <= 1000:
        raise Unsettled("Of ranks there are whole numbers from 1 on.")
    return int(number)
