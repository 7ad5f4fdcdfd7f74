"""From the parse tree to the meaning: choices, lists, and the question as a whole."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import Bare, ChoiceAsked, Dominant, Parsed, RankAsked, SideAsked
from swath.agent.offline.changes import ChangeReader
from swath.agent.offline.children import has, piece, steps, things, values
from swath.agent.offline.meaning import THEY
from swath.agent.offline.ratios import Others, operands_in
from swath.agent.offline.unsettled import Unsettled


class AnswerReader(ChangeReader):
    """Choices, lists, and the question as a whole."""

    def start(self, children: list[Any]) -> Parsed:
        leads, core, _, tails = children
        return Parsed(leads, core, tails)

    def _all(self, children: list[Any]) -> tuple[Any, ...]:
        found: list[Any] = []
        for child in children:
            found += child if isinstance(child, tuple) else [child]
        return tuple(child for child in found if child is not None)

    leads_ = tails_ = _all

    def others(self, children: list[Any]) -> Others:
        listed = {child.type for child in children if has([child], "AND", "OR", "COMMA")}
        listed |= {mark for child in children if isinstance(child, Others) for mark in child.listed}
        return Others(operands_in(children), frozenset(listed))

    def choice_most(self, children: list[Any]) -> ChoiceAsked:
        return ChoiceAsked(_options(children), most=True, more=has(children, "MORE", "MOST"))

    def choice_least(self, children: list[Any]) -> ChoiceAsked:
        return ChoiceAsked(_options(children), most=False, more=has(children, "LESS", "LEAST"))

    def dominant(self, children: list[Any]) -> Dominant:
        return Dominant(most=True)

    def rarest(self, children: list[Any]) -> Dominant:
        return Dominant(most=False)

    def ranked(self, children: list[Any]) -> RankAsked:
        asked = next((child for child in children if isinstance(child, RankAsked)), None)
        if asked is not None:
            return asked
        order = [child.type for child in children if has([child], "LARGEST", "SMALLEST", "MOST", "LEAST")]
        upwards = order[:1] in (["SMALLEST"], ["LEAST"]) or values(children, "ORDER") == ["up"]
        return RankAsked(most=not upwards)

    def ranked_nth(self, children: list[Any]) -> RankAsked:
        place = values(children, "NTH")[0]
        return RankAsked(True, place - 1, place)

    def rank_pick(self, children: list[Any]) -> RankAsked:
        most, numbers, nth = has(children, "LARGEST", "DOMINANT"), values(children, "NUM"), values(children, "NTH")
        if nth:
            return RankAsked(most, nth[0] - 1, nth[0])
        return RankAsked(most, 0, int(numbers[0].value))

    def side_most(self, children: list[Any]) -> SideAsked:
        word = next((piece(child).text for child in children if has([child], "SIDE")), "")
        operand, parts = operands_in(children)[0], tuple(values(children, "PART"))
        picks = (("LARGEST", m.Pick("largest")), ("SMALLEST", m.Pick("smallest")))
        for token, pick in picks:
            if not has(children, token) or not isinstance(operand, m.Thing):
                continue
            # "The largest building" is one; "the largest water area" and "the largest vegetation" are all of it.
            if operand.regions or any(word.single for word in operand.classes):
                one = replace(operand, regions=True).having(pick)
                return SideAsked(word, one, parts, most=True, located=True)
        return SideAsked(word, operand, parts, most=True)

    def side_least(self, children: list[Any]) -> SideAsked:
        asked = self.side_most(children)
        return asked if asked.located else replace(asked, most=False)

    side_most_of = side_first = side_most
    side_least_of = side_least

    def bare(self, children: list[Any]) -> Bare:
        return Bare(things(children)[0])

    def bare_where(self, children: list[Any]) -> Bare:
        return Bare(THEY.having(*steps(children)))

    def closer(self, children: list[Any]) -> ChoiceAsked:
        """Which of several things is nearest to one target: the target last."""
        *operands, target = operands_in(children)
        return _nearest_of(operands, target)

    def closer_first(self, children: list[Any]) -> ChoiceAsked:
        """The same with the target first."""
        target, *operands = operands_in(children)
        return _nearest_of(operands, target)

    def closer_to(self, children: list[Any]) -> ChoiceAsked:
        """Which of two targets one thing is nearest to."""
        thing, *targets = things(children)
        return ChoiceAsked(tuple(q.Distance(target, thing) for target in targets), most=False, more=False)

    def one(self, children: list[Any]) -> m.Thing:
        return m.Thing(tuple(values(children, "CLASS")))

    def picked_only(self, children: list[Any]) -> m.Thing:
        return self.picked(children)

    def areas_listed(self, children: list[Any]) -> q.Areas | q.Area:
        thing = things(children)[0]
        single = all(step.n == 1 or "nth" in step.which for step in thing.steps if isinstance(step, m.Pick))
        return q.Area(thing) if single else q.Areas(thing)

    def fragmentation(self, children: list[Any]) -> q.Fragmentation:
        return q.Fragmentation(things(children)[0])

    def present_classes(self, children: list[Any]) -> q.PresentClasses:
        return q.PresentClasses()

    def all_classes(self, children: list[Any]) -> q.PresentClasses:
        if not piece(children[0]).text.lower().startswith("all "):
            raise Unsettled("It names classes, and does not say what of them is asked.")
        return q.PresentClasses()

    def several(self, children: list[Any]) -> q.Several:
        return q.Several(operands_in(children))


def _options(children: Sequence[Any]) -> tuple[Any, ...]:
    """What there is to choose from: of "water, forest and fields" each one, of "water or forest and fields" two."""
    operands = operands_in(children)
    outer = {mark for child in children if isinstance(child, Others) for mark in child.listed}
    inner = {mark for operand in operands if isinstance(operand, m.Thing) for mark in operand.listed}
    if ("AND" in outer and "OR" in outer | inner) or {"AND", "OR"} <= inner:
        raise Unsettled('It is not clear what goes together: say "A or B", or ask for one sum after the other.')
    found: list[Any] = []
    for operand in operands:
        together = isinstance(operand, m.Thing) and "AND" in operand.listed and "OR" in outer
        apart = isinstance(operand, m.Thing) and len(operand.classes) > 1 and not together
        found += [replace(operand, classes=(word,)) for word in operand.classes] if apart else [operand]
    return tuple(found)


def _nearest_of(operands: Sequence[Any], target: Any) -> ChoiceAsked:
    """A choice by distance; only things have one."""
    if len(operands) < 2 or not all(isinstance(operand, m.Thing) for operand in (*operands, target)):
        raise Unsettled("It compares distances of something that has no place.")
    return ChoiceAsked(tuple(q.Distance(thing, target) for thing in operands), most=False, more=False)
