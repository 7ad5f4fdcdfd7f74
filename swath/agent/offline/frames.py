"""A question by its parts: one thing, what is asked of it and what it has to fulfil, in whatever order they stand.

Where the grammar's sentences do not cover a question, its rule `frame` may. Word order says nothing then, so that all
that could hang together in two ways is refused: two things, two measurements, conditions on either side of a share.
"""
# ruff: noqa: D102 -- a method reads the rule of its name in grammar.lark, which says what it is

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lark import Token

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.answers import AnswerReader
from swath.agent.offline.asks import AreaOrNumber, Bare, ChoiceAsked, Parsed, ShareAsked
from swath.agent.offline.children import has, piece, steps, things, values
from swath.agent.offline.clauses import Assumption
from swath.agent.offline.naming import as_objects
from swath.agent.offline.trees import before_pick
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary

_ASKING = (
    "HOWMANY", "HOWMUCH", "AREA", "TOTAL", "AUNIT", "STATISTIC", "PERCENT", "ISTHERE", "HOWBIG", "PERIMETER",
    "POWER", "PUNIT",
)  # fmt: skip
_UNCLEAR = "It is not clear what goes together."
_COPULAS = ("is", "are", "be", "come", "comes", "remain", "remains")
_MOST = ("LARGER", "LARGEST", "MORE", "MOST", "DOMINANT")
_LEAST = ("SMALLER", "SMALLEST", "LESS", "LEAST", "RAREST")
_WET = ("water", "lake", "pond", "river", "sea")


class FrameReader(AnswerReader):
    """A question by its parts, or by any rule of the grammar."""

    def frame(self, children: list[Any]) -> Parsed:
        if has(children[-1:], "BE") and piece(children[-1]).text.lower().split()[0] not in _COPULAS:
            raise Unsettled(_UNCLEAR)  # "By how much did the forest grow?"
        spelled_out = any(isinstance(child, m.Thing) and child.areal for child in children)
        children = [_without_noun_of_a_limit(child, children[at + 1 : at + 2]) for at, child in enumerate(children)]
        subject = _subject(children)
        _check_risks(children)
        measured = _measured(children, subject)
        if isinstance(measured, Bare) and spelled_out:
            raise Unsettled("It does not say what to measure: a size alone is a limit.")
        return Parsed((), measured, ())

    def contest(self, children: list[Any]) -> Parsed:
        """Which of several classes has most."""
        most, least = (has(children, *words) for words in (_MOST, _LEAST))
        rivals = [thing for thing in things(children) if thing.classes]
        marks = {child.type for child in children if has([child], "AND", "OR")}
        marks |= {mark for thing in rivals for mark in thing.listed if mark != "COMMA"}
        options = tuple(replace(thing, classes=(word,)) for thing in rivals for word in thing.classes)
        plain = all(not (thing.steps or thing.inverted or thing.without or thing.vague) for thing in rivals)
        if not has(children, "WHICH") or most == least or len(options) < 2 or len(marks) > 1 or not plain:
            raise Unsettled(_UNCLEAR)
        if len({word.names for option in options for word in option.classes}) < len(options):
            raise Unsettled(_UNCLEAR)
        by_area = has(children, "AREA", "COVER", "COVERAGE", "LARGER", "LARGEST", "SMALLER", "SMALLEST")
        return Parsed((), ChoiceAsked(options, most, more=not by_area), ())

    def subject(self, children: list[Any]) -> m.Thing:
        return things(children)[0]

    def frame_or(self, children: list[Any]) -> tuple[Any, ...]:
        return self.conds_or(children)

    def frame_having(self, children: list[Any]) -> Any:
        return self.having_near(children)

    def inside_sized(self, children: list[Any]) -> Any:
        """In "patches larger than 1 ha" the patches are those of the thing itself."""
        return steps(children)

    def zone(self, children: list[Any]) -> Any:
        return self.near(children)


def _subject(children: Sequence[Any]) -> m.Thing:
    """The one thing that is named, once or several times."""
    named = [thing for thing in things(children) if thing.classes]
    if any(thing.steps for thing in things(children) if not thing.classes):
        raise Unsettled(_UNCLEAR)  # "the largest of them"
    if not named or len({(thing.classes and _names(thing), thing.inverted) for thing in named}) > 1:
        raise Unsettled(_UNCLEAR)
    if len(named) > 1 and any(thing.picked for thing in named):
        raise Unsettled(_UNCLEAR)
    first = named[0]
    vague = next((thing.vague for thing in named if thing.vague), first.vague)
    regions = any(thing.regions for thing in named) or has(children, "REGION")
    return replace(first, regions=regions, areal=any(thing.areal for thing in named) and not regions, vague=vague)


def _without_noun_of_a_limit(child: Any, after: Sequence[Any]) -> Any:
    """In "buildings (area > 100 m2)" the area is that of the limit."""
    of_a_limit = isinstance(child, m.Thing) and child.areal and _is_limit(after)
    return replace(child, areal=False) if of_a_limit else child


def _is_limit(children: Sequence[Any]) -> bool:
    """Whether the next child is a size, and nothing else."""
    conditions = steps([child for child in children if not isinstance(child, m.Thing)])
    return bool(conditions) and isinstance(conditions[0], m.Size)


def _names(thing: m.Thing) -> frozenset[str]:
    taken_off = {f"-{name}" for word in thing.without for name in word.names}
    return frozenset({name for word in thing.classes for name in word.names} | taken_off)


def _check_risks(children: Sequence[Any]) -> None:
    """A risk has to be said by a distance, and by that of its own source."""
    near = [step for step in steps(children) if isinstance(step, m.Near)]
    for child in children:
        if isinstance(child, Token) and child.type == "RISK":
            told = piece(child)
            if not near:
                raise Unsettled(f'"{told.text}" needs a distance, such as "within 100 m of".')
            wet = all(vocabulary.concept_of(word.word) in _WET for step in near for word in step.target.classes)
            if told.value != "any" and wet != (told.value in ("flood", "water access")):
                raise Unsettled("It says what is at risk, but asks for something else.")


def _measured(children: Sequence[Any], subject: m.Thing) -> Any:
    asked = _asked(children)
    if asked & {"PERCENT"}:
        return _share(children, subject, asked)
    thing = _narrowed(subject, children)
    if has(children, "BIGGISH", "SMALLISH") and not any(isinstance(step, m.Size) for step in thing.steps):
        raise Unsettled('"Large" and "small" need a limit, such as "larger than 100 m2".')
    if asked & {"POWER", "PUNIT"}:
        return _power(children, thing, asked)
    if has(children, "GENERATE", "PANELLED", "ASSUMING") or any(isinstance(child, Assumption) for child in children):
        raise Unsettled(_UNCLEAR)
    return _number(children, thing, asked)


def _power(children: Sequence[Any], thing: m.Thing, asked: set[str]) -> q.Power:
    _only(asked, "POWER", "PUNIT", "HOWMUCH", "TOTAL", "HOWBIG")
    assumed = [child for child in children if isinstance(child, Assumption)]
    irradiance = next((one.irradiance for one in assumed if one.irradiance is not None), None)
    efficiency = next((one.efficiency for one in assumed if one.efficiency is not None), None)
    return q.Power(thing, irradiance, efficiency)


def _number(children: Sequence[Any], thing: m.Thing, asked: set[str]) -> Any:
    if asked & {"STATISTIC"}:
        _only(asked, "STATISTIC", "AREA", "HOWBIG", "AUNIT")
        return q.AreaStatistic(thing, values(children, "STATISTIC")[0])
    if asked & {"PERIMETER"}:
        _only(asked, "PERIMETER", "TOTAL")
        return q.Perimeter(thing)
    if asked & {"HOWMANY"}:
        _only(asked, "HOWMANY", "TOTAL", "ISTHERE")
        return q.Count(thing)
    if asked & {"AREA", "AUNIT", "HOWMUCH", "HOWBIG", "TOTAL"}:
        _only(asked, "AREA", "AUNIT", "HOWMUCH", "HOWBIG", "TOTAL", "ISTHERE")
        return _area(asked, _whole_where_twice(children, thing))
    if asked:
        if has(children, "ALL") or thing.picked or has(children, "WHICH"):
            raise Unsettled(_UNCLEAR)
        return q.Exists(thing)
    if has(children, "BE", "DO", "WHICH", "ALL", "COVER", "HAVE", "AREA"):
        raise Unsettled("It does not say what to measure.")
    return Bare(_whole_where_twice(children, thing))


def _whole_where_twice(children: Sequence[Any], thing: m.Thing) -> m.Thing:
    """In "the roof area of the properties within 50 m" it is the whole roofs of these."""
    named = [child for child in things(children) if child.classes]
    narrowed = any(not isinstance(step, m.Size) for step in thing.steps) and m.Whole() not in thing.steps
    twice = any(one.areal for one in named) and any(one.objects for one in named)
    return replace(thing, areal=False).having(m.Whole()) if twice and narrowed else thing


def _area(asked: set[str], thing: m.Thing) -> Any:
    if "HOWBIG" in asked and thing.countable and not thing.picked:
        raise Unsettled("Their size could be all of it together or the average; ask for the total or for the average.")
    if not asked & {"AREA", "AUNIT", "HOWBIG"} and thing.countable and not thing.areal:
        return AreaOrNumber(thing)
    return q.Area(thing)


def _asked(children: Sequence[Any]) -> set[str]:
    """What is asked; in "how many hectares" it is no number of things, in "area > 1 ha" no area."""
    found = set()
    for at, child in enumerate(children):
        of_a_unit = has([child], "HOWMANY") and has(children[at + 1 : at + 2], "AUNIT", "PUNIT")
        of_a_limit = has([child], "AREA") and _is_limit(children[at + 1 : at + 2])
        if has([child], *_ASKING) and not (of_a_unit or of_a_limit):
            found.add(child.type)
    return found


def _only(asked: set[str], *allowed: str) -> None:
    if not asked <= set(allowed):
        raise Unsettled("It asks for two measurements at once.")


def _narrowed(thing: m.Thing, children: Sequence[Any]) -> m.Thing:
    """The thing with every condition; what was said before a "they" is whole objects."""
    they = [at for at, child in enumerate(children) if has([child], "THEY") or _is_they(child)]
    named = [at for at, child in enumerate(children) if isinstance(child, m.Thing) and child.classes]
    if any(at < named[0] for at in they):
        raise Unsettled(_UNCLEAR)
    cut = they[0] if they else 0
    before = _with(thing, children[:cut])
    return _with(as_objects(before) if before.steps else before, children[cut:])


def _is_image(child: Any) -> bool:
    return isinstance(child, m.Thing) and child.everything


def _is_they(child: Any) -> bool:
    return isinstance(child, m.Thing) and bool(child.pronoun)


def _with(thing: m.Thing, children: Sequence[Any]) -> m.Thing:
    conditions = list(steps([child for child in children if not isinstance(child, m.Thing)]))
    parts = {step.part for step in (*thing.steps, *conditions) if isinstance(step, m.InPart)}
    if len(parts) > 1:
        raise Unsettled(_UNCLEAR)
    sizes = [step for step in conditions if isinstance(step, m.Size)]
    others = [step for step in conditions if not isinstance(step, m.Size | m.Whole)]
    narrowed = before_pick(before_pick(thing, *others), *sizes)
    return narrowed.having(m.Whole()) if m.Whole() in conditions and thing.objects else narrowed


def _share(children: Sequence[Any], subject: m.Thing, asked: set[str]) -> Any:
    """A share of the image, or that which fulfils what is said after the share, or after its verb."""
    _only(asked, "PERCENT", "AREA")
    thing = replace(subject, areal=True, regions=False) if "AREA" in asked else subject
    at = next(at for at, child in enumerate(children) if has([child], "PERCENT"))
    named = next(at for at, child in enumerate(children) if isinstance(child, m.Thing) and child.classes)
    images = [i for i, child in enumerate(children) if has([child], "IMAGE") or _is_image(child)]
    if images:
        if images != [at + 1]:
            raise Unsettled(_UNCLEAR)
        return ShareAsked(_narrowed(thing, children), of_image=True)
    conditions = steps([child for child in children if not isinstance(child, m.Thing)])
    if conditions and all(isinstance(step, m.InPart) for step in conditions):
        return ShareAsked(_narrowed(thing, children), of_image=False)
    verbs = [i for i, child in enumerate(children) if has([child], "BE", "DO") and i > max(at, named)]
    cut = at if named < at else (verbs[0] if verbs else len(children))
    whole, part = _narrowed(thing, children[:cut]), children[cut:]
    if not steps([child for child in part if not isinstance(child, m.Thing)]):
        raise Unsettled("It does not say what it is a share of.")
    by_count = whole.countable and not whole.areal and not whole.picked
    return q.Share(_with(whole, part), whole, by_count)
