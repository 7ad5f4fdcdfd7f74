"""Settles who is meant: what pronouns and risks stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from swath.agent.offline import asks as a
from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.clauses import Context, Filter, Hazard, HeadedRisk, Panelled, Risk, Vague
from swath.agent.offline.meaning import THEY
from swath.agent.offline.surroundings import Surroundings, names_in
from swath.agent.offline.trees import all_things_in, parts_in, rebuilt, things_in
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary

_LIMITS = {"small": "smaller", "large": "larger"}
_WET = ("water", "lake", "pond", "river", "sea", "wetland", "swimming_pool")
_RISKS = {"flood": ("water",), "water access": ("water",), "fire": ("forest", "vegetation")}


@dataclass
class Namer(Surroundings):
    """Finds out what the things of one question are."""

    _first: m.Thing | None = None

    def named(self, parsed: a.Parsed) -> Any:
        """What is asked, with every thing named.

        Raises:
            Unsettled: a pronoun or a risk stands for nothing, or a distance is missing.
        """
        around = (*parsed.leads, *parsed.tails)
        subject = next((node.thing for node in reversed(around) if isinstance(node, Context)), None)
        subject = subject or next((node.only for node in around if isinstance(node, Filter) and node.only), None)
        subject = _settled_subject(subject)
        parsed = replace(parsed, core=_of_those_named(parsed.core, subject))
        for node in around:
            if isinstance(node, Hazard):
                parsed = replace(parsed, core=self._at_hazard(parsed.core, node.near))
        panelled = next((node for node in around if isinstance(node, Panelled)), None)
        if panelled is not None:
            parsed = replace(parsed, core=rebuilt(parsed.core, lambda part: self._on_panelled(part, panelled.share)))
        self._first = _settled_subject(next((thing for thing in things_in(parsed.core) if thing.classes), None))
        if HeadedRisk() in around and not any(isinstance(part, m.Near) for part in parts_in(parsed.core)):
            raise Unsettled('A risk needs a distance, such as "within 100 m of water".')
        core = self._named(parsed.core, subject)
        for node in around:
            core = self.surrounded(core, self._named(node, subject))
        self._check(core)
        return core

    def _check(self, core: Any) -> None:
        """Refuse what has no meaning: things without a name or a limit, shores without water."""
        for part in parts_in(core):
            if isinstance(part, q.Count | q.AreaStatistic | q.Density | q.Spacing) and _uncountable(part.thing):
                raise Unsettled("It does not say what is to be counted.")
            if isinstance(part, q.Perimeter) and part.shore:
                self._check_shore(part.thing)
        for thing in all_things_in(core):
            _check_places(thing)
            if any(isinstance(step, m.Near) and step.target == _bare(thing) for step in thing.steps):
                raise Unsettled("Nothing is further than 0 m from itself; distances to another class are measured.")
            if not thing.classes and not thing.everything:
                raise Unsettled("It does not say what is to be measured.")
            if thing.vague == "isolated":
                self.notes.append('"Isolated" is read as separate; say "further than 50 m from" for far from others.')
            elif thing.vague and not any(isinstance(step, m.Size) for step in thing.steps):
                raise Unsettled(f'"{thing.vague}" needs a limit, such as "{_LIMITS[thing.vague]} than 100 m2".')

    def _at_hazard(self, core: Any, near: m.Near) -> Any:
        """A risk as the nearness that was said to be meant by it."""
        water = set(vocabulary.matches("water", self.classes))
        wet = names_in(near.target.classes) <= water
        found = [part for part in parts_in(core) if isinstance(part, Vague) and part.risk]
        if not found or any(part.risk != "any" and (part.risk == "fire") == wet for part in found):
            raise Unsettled("It says what is at risk, but asks for something else.")
        return rebuilt(core, lambda part: near if isinstance(part, Vague) and part.risk else None)

    def _on_panelled(self, part: Any, share: Decimal) -> Any:
        """The panels of "if half of all roofs were covered with solar panels" are half of those roofs."""
        if not isinstance(part, q.Power):
            return None
        panels = set(vocabulary.matches("solar", self.classes))
        if part.thing.pronoun or (not part.thing.steps and names_in(part.thing.classes) <= panels):
            power = replace(part, thing=THEY)
            return power if share == 1 else q.Times(share, power)
        raise Unsettled("It is not clear what is to be covered with solar panels.")

    # ------------------------------------------------------------------ who is meant
    def _named(self, node: Any, subject: m.Thing | None) -> Any:
        """Pronouns and risks replaced by what they stand for."""
        if isinstance(node, q.Several):
            first = self._named(node.measures[0], subject)
            before = next(things_in(first), subject)
            others = [rebuilt(other, lambda part: _elided(part, before)) for other in node.measures[1:]]
            return q.Several((first, *(self._named(other, before) for other in others)))
        if isinstance(node, q.Power) and _is_they(node.thing) and subject is None:
            return q.Power(self._of_concept("solar", "solar panels"))
        if isinstance(node, q.Perimeter) and node.thing == THEY:
            return q.Perimeter(subject or self._of_concept("water"), node.shore)
        return rebuilt(node, lambda part: self._part_named(part, subject))

    def _part_named(self, part: Any, subject: m.Thing | None) -> Any:
        if isinstance(part, Vague):
            raise Unsettled(f'"{part.words}" needs a distance, such as "within 100 m of".')
        if isinstance(part, Risk):
            return m.Near(self._at_risk(part.kind), high=m.Bound(part.distance, True))
        if not isinstance(part, m.Thing):
            return None
        if part.pronoun == "area" and subject is None:
            part = replace(part, everything=True, pronoun="")
        if part.pronoun == "shore":
            return self._of_concept("water").having(*part.steps)
        if _is_they(part):
            if part.pronoun == "same" and self._first is not None:
                subject = subject or replace(self._first, steps=_before_picks(self._first.steps))
            if subject is None:
                raise Unsettled("It does not say what is to be measured.")
            subject = as_objects(subject)
            return replace(subject, steps=(*subject.steps, *self._steps_named(part.steps, subject, subject)))
        return replace(part, steps=self._steps_named(part.steps, replace(part, steps=()), subject))

    def _steps_named(self, steps: Sequence[Any], itself: m.Thing, subject: m.Thing | None) -> tuple[Any, ...]:
        """Steps with "they" as what was named before and "the average one" as one of the thing itself."""
        own = [rebuilt(step, lambda part: _same_as(part, itself)) for step in steps]
        other = self._first if self._first and self._first.classes != itself.classes else None
        return tuple(self._named(step, subject or other) for step in own)

    def _check_shore(self, thing: m.Thing) -> None:
        water = set(vocabulary.matches("water", self.classes))
        for word in thing.classes:
            wet = vocabulary.concept_of(word.word) in _WET or set(word.names) <= water
            if not wet:
                raise Unsettled(f'"{word.word}" has no shore; ask for its perimeter.')

    def _at_risk(self, kind: str) -> m.Thing:
        if kind not in _RISKS:
            raise Unsettled("It does not say what the risk is: say that of flood or of fire.")
        return self._of_concept(*_RISKS[kind])

    def _of_concept(self, *words: str) -> m.Thing:
        for word in words:
            names = vocabulary.matches(word, self.classes)
            if names:
                return m.Thing((m.ClassWord(names, names[0]),))
        raise Unsettled(f"The source of classes does not know {words[-1]}.")


def _of_those_named(core: Any, subject: m.Thing | None) -> Any:
    """A choice, or a share, of what was named before the question."""
    if subject is None or (subject.everything and not subject.steps):
        return core
    if isinstance(core, q.Area) and core.thing.classes and names_in(core.thing.classes) == names_in(subject.classes):
        raise Unsettled("It names the same thing twice.")  # "the roof area of the properties within 50 m"
    if isinstance(core, a.Dominant | a.RankAsked):
        if isinstance(core, a.RankAsked) or len(subject.classes) < 2 or subject.steps or subject.inverted:
            raise Unsettled("It names something, and asks for a class among all.")
        options = tuple(replace(subject, classes=(word,)) for word in subject.classes)
        return a.ChoiceAsked(options, core.most, more=False)
    if isinstance(core, a.ShareAsked) and core.implied and not core.part.pronoun:
        if names_in(subject.classes) & names_in(core.part.classes) and not subject.inverted:
            raise Unsettled("It asks for the share of a class in itself.")
        return q.Share(subject.having(m.Inside(core.part)), subject)
    return core


def _check_places(thing: m.Thing) -> None:
    """Refuse distances that are exact, and places of which one may be meant for what something is near to."""
    kinds = [type(step) for step in thing.steps if isinstance(step, m.Near | m.InPart)]
    if kinds[:1] == [m.InPart] == kinds[-1:] and m.Near in kinds:
        raise Unsettled("It is not clear which of the things each part of the image is said of.")
    parts = {step.part for step in thing.steps if isinstance(step, m.InPart)}
    if len(parts) > 1:
        raise Unsettled("It names several parts of the image; ask for one after the other.")
    for step in thing.steps:
        if isinstance(step, m.Near) and step.low and step.high and step.low.limit == step.high.limit:
            raise Unsettled("Nothing is measured at exactly one distance; say within or between.")


def _bare(thing: m.Thing) -> m.Thing:
    """All of a class, as a target would name it."""
    return replace(thing, steps=(), regions=True)


def _settled_subject(thing: m.Thing | None) -> m.Thing | None:
    """A thing that others may stand for; without its steps where these point elsewhere themselves."""
    if thing is None or not any(part.pronoun for part in all_things_in(thing.steps)):
        return thing
    return replace(thing, steps=())


def as_objects(subject: m.Thing) -> m.Thing:
    """What was found by a distance or a place, where it was named as objects: these are meant whole from then on."""
    narrowed = any(not isinstance(step, m.Size) for step in subject.steps)
    if narrowed and subject.objects and not isinstance(subject.steps[-1], m.Whole | m.Pick):
        return subject.having(m.Whole())
    return subject


def _uncountable(thing: m.Thing) -> bool:
    """The whole image, or what is left of it beside some objects, is not so many things."""
    return thing.everything or (thing.inverted and any(word.plural or word.single for word in thing.classes))


def _before_picks(steps: Sequence[Any]) -> tuple[Any, ...]:
    at = next((i for i, step in enumerate(steps) if isinstance(step, m.Pick)), len(steps))
    return tuple(steps[:at])


def _same_as(part: Any, itself: m.Thing) -> Any:
    if isinstance(part, m.Thing) and part.pronoun == "same":
        return replace(itself, steps=(*itself.steps, *part.steps))
    return None


def _elided(part: Any, before: m.Thing | None) -> Any:
    """The class just named, without what was said of it, for a class left out."""
    if isinstance(part, m.Thing) and part.pronoun == "elided" and before is not None:
        return replace(before, steps=part.steps)
    return None


def _is_they(thing: m.Thing) -> bool:
    return thing.pronoun != ""
