"""Two dates: a question is read over plain class names, and each thing of its meaning is then given its date.

Things named one by one are objects: a new building is one of the later date that shares no pixel with a building of
the earlier one, and a lost one the reverse. Anything else is an area: forest that is lost is what is forest before and
not after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.pieces import Piece, renamed
from swath.agent.offline.trees import before_pick, rebuilt
from swath.agent.offline.unsettled import Unsettled
from swath.segment.dates import DATES

_BEFORE, _AFTER = DATES
_OTHER = {_BEFORE: _AFTER, _AFTER: _BEFORE}
_DATE_OF = {"lost": _BEFORE, "kept": _BEFORE, "gained": _AFTER}
_OF_OBJECTS = (q.Count, q.AreaStatistic, q.Density, q.Spacing)
_UNTIL = ("IN", "AT", "DO", "WITHIN")


@dataclass(frozen=True)
class Dates:
    """The classes of a scene without their dates.

    Attributes:
        dated: classes that are known before and after; empty where the scene is of one date.
        plain: all class names as a question uses them.
    """

    dated: frozenset[str]
    plain: tuple[str, ...]

    @classmethod
    def of(cls, classes: tuple[str, ...]) -> Dates:
        """Find pairs such as "water before", "water after"."""
        names = {date: [n.removesuffix(f" {date}") for n in classes if n.endswith(f" {date}")] for date in DATES}
        dated = frozenset(names[_BEFORE]) & frozenset(names[_AFTER])
        plain = [next((n for n in dated if name in (f"{n} {_BEFORE}", f"{n} {_AFTER}")), name) for name in classes]
        return cls(dated, tuple(dict.fromkeys(plain)))


def years_as_dates(pieces: Sequence[Piece]) -> tuple[list[Piece], tuple[str, ...]]:
    """Years read as the dates: of two the earlier is "before"; one alone is where something changed since or from.

    Raises:
        Unsettled: a single year says neither of the dates.
    """
    years = {int(piece.value.value): piece for piece in pieces if _is_year(piece)}
    if not years:
        return list(pieces), ()
    if len(years) > 2:
        raise Unsettled("It names more than two years; there are two dates.")
    changes = any(piece.kind in ("CHANGED", "GREW", "BECAME", "CONVERTED", "SINCE") for piece in pieces)
    links = [before.kind for before, piece in pairwise(pieces) if _is_year(piece)]
    if len(years) == 1 and (not changes or set(links) & set(_UNTIL)):
        raise Unsettled('Which of the two dates this year is, is not known; say "before" or "after".')
    dates = dict(zip(sorted(years), DATES, strict=False))
    found = [renamed(p, "DATE", dates[int(p.value.value)]) if _is_year(p) else p for p in pieces]
    return found, tuple(f'{year} is taken as the date "{date}".' for year, date in dates.items())


def _is_year(piece: Piece) -> bool:
    return piece.kind == "NUM" and piece.text.isdigit() and 1900 <= int(piece.text) <= 2100


@dataclass
class Dater:
    """Gives every thing of a meaning its date.

    Attributes:
        dates: of the scene.
        notes: what was chosen, for people.
    """

    dates: Dates
    notes: list[str] = field(default_factory=list)

    def dated(self, answer: Any) -> Any:
        """The meaning over the classes of the two dates.

        Raises:
            Unsettled: a thing is of two dates, or has changed in a way that has no meaning.
        """
        return self._dated(answer, objects=False)

    def _dated(self, node: Any, *, objects: bool) -> Any:
        if isinstance(node, q.Share) and isinstance(node.whole, m.Thing):
            date = self._date_of(node.part.steps)
            part = self._thing(node.part, date, objects=node.by_count)
            return replace(node, part=part, whole=self._thing(node.whole, date, objects=node.by_count))
        if isinstance(node, m.Thing):
            return self._thing(node, self._date_of(node.steps), objects=objects or (node.countable and not node.areal))
        if isinstance(node, _OF_OBJECTS) or (isinstance(node, q.Share) and node.by_count):
            objects = True
        return self._inside(node, objects=objects)

    def _inside(self, node: Any, *, objects: bool) -> Any:
        """The parts of a node, each on its own."""
        return rebuilt(node, lambda part: None if part is node else self._dated(part, objects=objects))

    def _date_of(self, steps: Sequence[Any]) -> str:
        """The date of a thing; the later where its words say none."""
        changed = {date for step in steps if not isinstance(step, m.Dated) for date in [_date_said(step)] if date}
        found = changed or {step.date for step in steps if isinstance(step, m.Dated)}
        if changed == {_AFTER} and m.Dated(_BEFORE) in steps:
            found = set(DATES)
        if len(found) > 1:
            raise Unsettled("It puts one thing at two dates at once.")
        if not found and not any(isinstance(step, m.Changed) for step in steps):
            self.notes.append('Where no date is said, "after" is taken.')
        return next(iter(found), _AFTER)

    def _thing(self, thing: m.Thing, date: str, *, objects: bool) -> m.Thing:
        changes = [step for step in thing.steps if isinstance(step, m.Changed | m.Turned)]
        steps = tuple(
            rebuilt(step, lambda part: self._target(part, date))
            for step in thing.steps
            if not isinstance(step, m.Changed | m.Turned | m.Dated)
        )
        plain = replace(thing, steps=steps)
        dated = replace(plain, classes=self._words(thing.classes, date), without=self._words(thing.without, date))
        if thing.everything and changes:
            return self._everything(plain, changes)
        for change in changes:
            dated = self._changed(dated, plain, change, objects=objects)
        return dated

    def _changed(self, dated: m.Thing, plain: m.Thing, change: m.Changed | m.Turned, *, objects: bool) -> m.Thing:
        """A thing narrowed to what of it has changed."""
        if plain.inverted or (isinstance(change, m.Changed) and change.how not in _DATE_OF):
            raise Unsettled("It does not say whether it was lost, gained or kept.")
        date = _date_said(change) or _AFTER
        words = plain.classes if isinstance(change, m.Changed) else change.classes
        others = self._words(words, _OTHER[date])
        gone = isinstance(change, m.Changed) and change.how != "kept"
        if objects:
            sizes = tuple(step for step in dated.steps if isinstance(step, m.Size))
            rest = tuple(step for step in dated.steps if not isinstance(step, m.Size))
            return replace(dated, steps=(*sizes, m.Overlapping(m.Thing(others), absent=gone), *rest))
        return replace(dated, without=(*dated.without, *others)) if gone else replace(dated, also=others)

    def _everything(self, plain: m.Thing, changes: Sequence[m.Changed | m.Turned]) -> m.Thing:
        """The image where it changed, or did not: where a class is, or is not, the same on both dates."""
        how = {change.how if isinstance(change, m.Changed) else "" for change in changes}
        if how not in ({"changed"}, {"kept"}):
            raise Unsettled("It does not say what was lost or gained.")
        words = [m.ClassWord((name,), name) for name in self.dates.plain if name in self.dates.dated]
        kept = [
            m.Thing(self._words((word,), _BEFORE), also=self._words((word,), _AFTER))
            for word in words
        ]  # fmt: skip
        same = m.EitherOf(tuple((m.Inside(thing),) for thing in kept), said="of the same class before and after")
        return before_pick(plain, same if how == {"kept"} else m.Not(same))

    def _target(self, part: Any, date: str) -> Any:
        """What a thing is near to or in: at the date of that thing, unless its words say another."""
        if isinstance(part, m.Dated | m.Changed | m.Turned):
            raise Unsettled("It is not clear which of two dates, or of two changes, is meant.")
        if not isinstance(part, m.Thing):
            return None
        own = {said for step in part.steps for said in [_date_said(step)] if said}
        return self._thing(part, next(iter(own), date), objects=part.countable and not part.areal)

    def _words(self, words: Sequence[m.ClassWord], date: str) -> tuple[m.ClassWord, ...]:
        return tuple(replace(word, names=tuple(self._name(name, date) for name in word.names)) for word in words)

    def _name(self, name: str, date: str) -> str:
        return f"{name} {date}" if name in self.dates.dated else name


def _date_said(step: Any) -> str | None:
    """The date that a step puts a thing at."""
    if isinstance(step, m.Dated):
        return step.date
    if isinstance(step, m.Changed):
        return _DATE_OF.get(step.how)
    return (_AFTER if step.back else _BEFORE) if isinstance(step, m.Turned) else None
