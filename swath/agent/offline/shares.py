"""From the parse tree to the meaning: shares."""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.asks import ShareAsked
from swath.agent.offline.children import has, steps, things, values
from swath.agent.offline.meaning import EVERYTHING, THEY
from swath.agent.offline.steps import StepReader
from swath.agent.offline.unsettled import Unsettled


class ShareReader(StepReader):
    """Shares."""

    def share(self, children: list[Any]) -> ShareAsked | q.Share:
        thing = things(children)[0]
        within = next((step for step in thing.steps if isinstance(step, m.Inside)), None)
        if within is not None and class_names(within.target) == class_names(thing):
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
        if not said and (class_names(whole) == class_names(place) or whole.picked):
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


def class_names(thing: m.Thing) -> list[tuple[str, ...]]:
    """The names that each class word of a thing stands for."""
    return [word.names for word in thing.classes]


def share_from(part: m.Thing, whole: m.Thing) -> q.Share | ShareAsked:
    """The share that one thing has of another: by number where both are of the same objects."""
    if whole.everything and not whole.steps:
        return ShareAsked(part, of_image=True)
    same = [word.names for word in part.classes] == [word.names for word in whole.classes]
    if same and part.countable and whole.countable and not (part.picked or part.areal or whole.areal):
        return q.Share(part, whole, by_count=True)
    return q.Share(part if same else whole.having(m.Inside(part)), whole)
