"""Settles what the words left open: which cell or part, one or many, which height; and says so in notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen import question as sq
from swath.agent.offline.seen.naming import Namer
from swath.agent.offline.seen.numbers import Unclear
from swath.agent.offline.settle import word_notes
from swath.agent.offline.trees import rebuilt
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary

_ONE_BY_ONE = (sq.Boxes, sq.Named, sq.LooksLike, sq.OneOfTwo)
"""Answers about objects that are pointed at: their places are the nine cells of referring expressions."""
_BANDS = ("road", "railway", "river", "sea", "bridge")
"""What runs through an image: the box around it is no measure of its length or width."""
_OF_MANY = ("mean", "median", "min", "max", "std")


@dataclass
class Settler(Namer):
    """Settles one question about a scene."""

    def settle(self, asked: Any, unit: str | None) -> q.Question:
        """The question's meaning.

        Raises:
            Unsettled: something is left open that must not be guessed.
        """
        self.pointed = isinstance(asked, _ONE_BY_ONE) and getattr(asked, "what", "") not in ("distribution", "cell")
        answer = self._answer(rebuilt(asked, self.settled_thing))
        notes = (*self.notes, *word_notes(answer))
        return q.Question(answer, unit, tuple(dict.fromkeys(notes)), self.scene.classes)

    # ------------------------------------------------------------------ answers
    def _answer(self, asked: Any) -> Any:
        found = self._compared(asked) if isinstance(asked, q.Compared | q.Ratio | sq.Flat | sq.PartWith) else None
        if found is not None:
            return found
        if isinstance(asked, Unclear):
            return s.At(asked.place, above_ground=self.above_ground_alone())
        if isinstance(asked, s.Field):
            return self._field(asked)
        if isinstance(asked, sq.Higher):
            return self._higher(asked)
        if isinstance(asked, s.HeightDifference):
            _alike(asked.a, asked.b)
        if isinstance(asked, sq.Named) and asked.what == "cell" and (asked.of is None or not is_one(asked.of)):
            raise Unsettled("It asks where several things are. Next: ask about one of them, such as the largest.")
        if isinstance(asked, sq.Named) and asked.what in ("colour", "shape", "course", "direction", "size"):
            return self._one_of(asked)
        if isinstance(asked, q.Share) and asked.by_count:
            self.notes.append("The percentage is of their number, not of their area.")
            return _of_known(asked)
        return asked

    def _compared(self, asked: q.Compared | q.Ratio | sq.Flat | sq.PartWith) -> Any:
        """Two numbers held against each other."""
        if isinstance(asked, sq.Flat):
            return self._flat(asked)
        if isinstance(asked, sq.PartWith):
            return self._part_with(asked)
        if isinstance(asked, q.Ratio):
            return q.Ratio(self._answer(asked.a), self._answer(asked.b))
        left, right = self._answer(asked.left), asked.right
        if isinstance(right, q.Times):
            return q.Compared(left, asked.operator, q.Times(right.factor, self._answer(right.of)))
        right = right if isinstance(right, m.Amount) else self._answer(right)
        if isinstance(right, m.Amount) and right.unit != left.unit:
            raise Unsettled(f"{right.said} is not a limit for what is measured.")
        return q.Compared(left, asked.operator, right)

    def _one_of(self, named: sq.Named) -> sq.Named:
        thing = named.of
        if thing is None or named.what == "colour" or is_one(thing):
            return named
        if thing.countable:
            raise Unsettled("It is about several objects. Next: ask about one of them, such as the largest.")
        return replace(named, of=thing.having(s.Only()))

    def _field(self, asked: s.Field) -> s.Field:
        thing = asked.of
        if thing is None or asked.what not in ("height", "length", "width", "azimuth"):
            return asked
        one = is_one(thing)
        if asked.what != "height":
            if any(vocabulary.concept_of(word.word) in _BANDS for word in thing.classes):
                raise Unsettled("No length of what it names is measured, as a box around a band is no band.")
            if not one:
                raise Unsettled("It is about several objects. Next: ask about one of them, such as the largest.")
            return asked
        if not one and not asked.statistic and (thing.countable or thing.objects):
            self.notes.append("The question names no statistic: it is the median of their heights.")
            asked = replace(asked, statistic="median")
        if not one and (thing.countable or thing.objects) and asked.statistic in _OF_MANY:
            self.notes.append("Each object counts once, with its own height.")
            return replace(asked, statistic="", among=asked.statistic)
        return asked

    def _flat(self, asked: sq.Flat) -> q.Compared:
        """Flat is what has more flat ground than other ground."""
        if asked.of is not None and (asked.of.countable or asked.of.objects):
            raise Unsettled("Flat roofs or other flat things are not measured; flat ground is. Next: ask about it.")
        limit = asked.limit.said if asked.limit is not None else "5 degrees"
        self.notes.append(f"Flat is ground of which more than half has a slope of at most {limit}.")
        half = m.Amount(Decimal(50), "percent", "50 %")
        return q.Compared(s.Field("flat", asked.of, level=asked.limit), ">", half)

    def _part_with(self, asked: sq.PartWith) -> q.Choice:
        """One number for each part of the image: the mean where the question names no other."""
        field = asked.field if asked.field.statistic else replace(asked.field, statistic="mean")
        if field is not asked.field:
            self.notes.append("Compared are means, as the question names no other number.")
        whole = field.of or m.Thing(everything=True)
        measures = [self._field(replace(field, of=whole.having(m.InPart(part)))) for part in asked.parts]
        return q.Choice(asked.parts, tuple(measures), asked.most)

    def _higher(self, asked: sq.Higher) -> q.Choice:
        _alike(*asked.options)
        names: list[str] = []
        measures: list[q.Measure] = []
        for option in asked.options:
            if isinstance(option, s.Place):
                names.append(option.name or f"({option.first:f}, {option.second:f})")
                measures.append(s.At(option))
                continue
            names.append(" and ".join(word.word for word in option.classes))
            measures.append(self._field(s.Field("height", option)))
        if len(set(names)) < len(names):
            names = [_where(option) or name for option, name in zip(asked.options, names, strict=True)]
        if len(set(names)) < len(names):
            raise Unsettled("What it compares has the same name.")
        return q.Choice(tuple(names), tuple(measures), asked.most)


def is_one(thing: m.Thing) -> bool:
    """Whether a settled thing is one object."""
    return any(
        isinstance(step, s.Only) or (isinstance(step, s.Ranked) and (step.nth or step.n == 1)) for step in thing.steps
    )


def _of_known(share: q.Share) -> q.Share:
    """A share by number, of the objects of which it is known whether they lie so high, so steep, below a level."""
    if not isinstance(share.whole, m.Thing):
        return share
    before = share.whole.steps
    told = tuple(step for step in share.part.steps if step not in before)
    inner = [step.step if isinstance(step, m.Not) else step for step in told]
    known = [s.Known(step.field) for step in inner if isinstance(step, s.Between) and step.field != "unclear"]
    known += [s.Known("flood") for step in inner if isinstance(step, s.Flooded)]
    of_known = tuple(dict.fromkeys(known))
    part = replace(share.part, steps=(*before, *of_known, *told))
    return replace(share, part=part, whole=replace(share.whole, steps=(*before, *of_known)))


def _alike(*options: Any) -> None:
    if len({type(option) for option in options}) > 1:
        raise Unsettled("It compares a thing with a place. Next: ask for both heights.")


def _where(option: Any) -> str:
    steps: Sequence[Any] = getattr(option, "steps", ())
    for step in steps:
        if isinstance(step, m.InPart | s.InCell):
            return step.part
        if isinstance(step, s.Ranked) and step.by == "side":
            return step.where
        if isinstance(step, s.Look):
            return step.word
    return ""
