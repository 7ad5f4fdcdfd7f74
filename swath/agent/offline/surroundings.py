"""Applies the clauses around a question: sizes, places, dates and constants that limit what it is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from swath.agent.offline import asks as a
from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.clauses import Assumption, Filter, Restated, Span, Where, Without
from swath.agent.offline.trees import OF_DATES, STEPS, before_pick, parts_in, rebuilt
from swath.agent.offline.unsettled import Unsettled


@dataclass
class Surroundings:
    """Applies the clauses around one question to what it asks.

    Attributes:
        classes: the scene's classes.
        unit: key of the unit asked for.
        by: "number" or "area", where the question says which.
        notes: what was chosen, for people.
    """

    classes: tuple[str, ...]
    unit: str | None
    by: str | None = None
    notes: list[str] = field(default_factory=list)

    def surrounded(self, core: Any, named: Any) -> Any:
        """What is asked, with one clause around it applied.

        Raises:
            Unsettled: the clause is about something else than what is asked.
        """
        if isinstance(named, Filter):
            only = named.only.classes if named.only and named.only.classes else None
            return self._applied(core, lambda thing: before_pick(thing, *named.sizes), only, targets=False)
        if isinstance(named, Restated):
            sizes = named.thing.steps
            return self._applied(core, lambda thing: before_pick(thing, *sizes), named.thing.classes, targets=True)
        if isinstance(named, m.Dated):
            return self._at_date(core, named)
        if isinstance(named, Span):
            _check_span(core, named)
        if isinstance(named, Without):
            return self._without(core, named)
        if isinstance(named, Where):
            return self._applied(core, lambda thing: before_pick(thing, *named.steps), None, targets=False)
        if isinstance(named, m.InPart):
            return self._placed(core, named)
        if isinstance(named, Assumption):
            return self._assumed(core, named)
        return core

    def _at_date(self, core: Any, date: m.Dated) -> Any:
        """A date said before or after the question, for everything whose own date is not said."""

        def changed(thing: m.Thing) -> m.Thing:
            return thing if any(isinstance(step, OF_DATES) for step in thing.steps) else before_pick(thing, date)

        if isinstance(core, q.PresentClasses):
            return replace(core, date=date.date)
        return self._applied(core, changed, None, targets=False)

    def _applied(
        self,
        core: Any,
        change: Callable[[m.Thing], m.Thing],
        only: tuple[m.ClassWord, ...] | None,
        *,
        targets: bool,
    ) -> Any:
        applied: list[m.Thing] = []

        def changed(part: Any) -> Any:
            if not isinstance(part, m.Thing):
                return part if isinstance(part, STEPS) and not targets else None
            mine = only is None or bool(names_in(part.classes) & names_in(only))
            if targets:
                part = replace(part, steps=tuple(rebuilt(step, changed) for step in part.steps))
            if mine:
                applied.append(part)
            return change(part) if mine else part

        result = rebuilt(core, changed)
        if not applied:
            raise Unsettled("It limits the size of something that it does not measure.")
        return result

    def _without(self, core: Any, left_out: Without) -> Any:
        """A share of the image less some classes; a class among the others."""
        if isinstance(core, a.ComparedAsked) and len(core.operands) == 1:
            return replace(core, operands=(self._without(core.operands[0], left_out),))
        if isinstance(core, a.Dominant | a.RankAsked):
            return replace(core, without=tuple(sorted(names_in(left_out.words))))
        share = core if isinstance(core, a.ShareAsked) else None
        place = core.whole if isinstance(core, q.Share) and isinstance(core.whole, m.InPart) else None
        if share is None and place is None:
            raise Unsettled("It leaves a class out of what is no share of the image.")
        part = share.part if share else core.part
        if names_in(part.classes) & names_in(left_out.words) or part.inverted:
            raise Unsettled("It asks for the share of a class that it leaves out.")
        self.notes.append("The percentage is of what remains without what is left out.")
        whole = m.Thing(left_out.words, (place,) if place else (), inverted=True)
        return q.Share(whole.having(m.Inside(part)), whole)

    def _placed(self, core: Any, place: m.InPart) -> Any:
        def changed(part: Any) -> Any:
            if isinstance(part, a.ShareAsked):
                if part.of_image:
                    self.notes.append(f"The percentage is of the {place.part} part, not of the whole image.")
                return q.Share(before_pick(part.part, place), place)
            if isinstance(part, q.ImageFact):
                raise Unsettled("Facts about the image are about the whole image.")
            if isinstance(part, m.Thing):
                return before_pick(part, place)
            return part if isinstance(part, STEPS) else None

        return rebuilt(core, changed)

    def _assumed(self, core: Any, assumption: Assumption) -> Any:
        def changed(part: Any) -> Any:
            if isinstance(part, q.Power):
                return replace(
                    part,
                    irradiance=assumption.irradiance or part.irradiance,
                    efficiency=assumption.efficiency or part.efficiency,
                )
            return None

        if isinstance(core, a.Bare) and self.unit in ("W", "kW", "MW", "GW"):
            core = q.Power(core.thing)
        if not any(isinstance(part, q.Power) for part in parts_in(core)):
            raise Unsettled("It gives constants of solar power, but asks for something else.")
        return rebuilt(core, changed)


def _check_span(core: Any, span: Span) -> None:
    """Both dates, or the earlier one, are named beside a change and beside nothing else."""
    changes = any(isinstance(part, (*OF_DATES, a.GrewAsked, a.GrewMost, a.TurnedAsked)) for part in parts_in(core))
    if not changes or len(set(span.dates)) < len(span.dates) or span.dates == ("after",):
        raise Unsettled("It names dates, but not what is to be compared between them.")


def names_in(words: Sequence[m.ClassWord]) -> set[str]:
    """All names that class words stand for."""
    return {name for word in words for name in word.names}
