"""From the parse tree to things: classes with their looks, places, relations and heights."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline.children import bounds, has, piece, things, values
from swath.agent.offline.meaning import EVERYTHING
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen.children import (
    ANYTHING,
    NEIGHBOUR,
    By,
    Conditions,
    Middle,
    Noun,
    Placed,
    ordered,
    sign_of,
    steps_in,
)
from swath.agent.offline.seen.limits import SeenLimits
from swath.agent.offline.unsettled import Unsettled


class SeenThings(SeenLimits):
    """Things, and what narrows them down."""

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
        return Noun(EVERYTHING)

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

    # ------------------------------------------------------------------ what is said after the verb
    def cond_not(self, children: list[Any]) -> m.Not:
        return m.Not(steps_in(children)[0])

    def cond_list(self, children: list[Any]) -> Conditions:
        if any(isinstance(child, Conditions) and child.denied for child in children):
            raise Unsettled("It denies one of two things, or both. Next: ask for one of them.")
        before = [step for child in children if isinstance(child, Conditions) for step in child.steps]
        return Conditions((*before, *steps_in(children)))

    cond_list_plain = cond_list

    def cond_denied(self, children: list[Any]) -> Conditions:
        return Conditions(tuple(steps_in(children)), denied=True)


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
