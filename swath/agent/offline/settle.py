"""Settles what the words left open: what is compared, what a share is of; and says so in notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from swath.agent.offline import asks as a
from swath.agent.offline import growth
from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.children import bounds
from swath.agent.offline.comparable import check_units, dimension, dimension_of_unit, like, size_claims, size_of_target
from swath.agent.offline.meaning import THEY
from swath.agent.offline.naming import Namer
from swath.agent.offline.ranking import dominant, dominates, ranked
from swath.agent.offline.sides import parts_called, parts_taken_off, place_name, places_of
from swath.agent.offline.trees import all_things_in, before_pick, parts_in, placed, rebuilt, things_in
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary

CLAIMS = (q.Exists, q.Compared, q.Connected, q.AllOf, q.AnyOf, q.Denied, q.Choice, q.Ranking, q.Fragmentation)


@dataclass
class Settler(Namer):
    """Settles one question."""

    def settle(self, parsed: a.Parsed) -> q.Question:
        """The question's meaning.

        Raises:
            Unsettled: something is left open that must not be guessed.
        """
        answer = self._in_unit(self._resolved(self.named(parsed)))
        notes = (*self.notes, *word_notes(answer))
        return q.Question(answer, self.unit, tuple(dict.fromkeys(notes)), self.classes)

    # ------------------------------------------------------------------ what is measured
    def _resolved(self, node: Any) -> Any:
        """The answer with every open choice made."""
        handlers: dict[type, Callable[[Any], Any]] = {
            a.ShareAsked: self._share, a.ComparedAsked: self._compared, a.RatioAsked: self._ratio,
            a.ChoiceAsked: self._choice, a.SideAsked: self._side,
            a.WhereAsked: self._where, a.Between: self._between, a.DensityAsked: self._density, a.Bare: self._bare,
            a.AreaOrNumber: self._area_or_number, a.GrewAsked: self._grew,
            a.Dominant: lambda asked: dominant(asked, self.classes),
            a.RankAsked: lambda asked: ranked(asked, self.classes),
            a.DominantAsked: lambda asked: dominates(asked, self.classes),
            a.GrewMost: lambda asked: growth.grew_most(asked, self.classes),
            a.TurnedAsked: lambda asked: growth.turned(asked, self.classes),
        }  # fmt: skip
        if type(node) in handlers:
            return handlers[type(node)](node)
        if isinstance(node, q.Exists):
            return self._exists(node.thing, denied=False)
        if isinstance(node, q.Denied) and isinstance(node.claim, q.Exists):
            return q.Denied(self._exists(node.claim.thing, denied=True))
        if isinstance(node, q.AllOf | q.AnyOf):
            return type(node)(tuple(self._resolved(claim) for claim in node.claims))
        if isinstance(node, q.Several):
            return q.Several(tuple(self._resolved(measure) for measure in node.measures))
        if isinstance(node, q.Compared):
            right = node.right if isinstance(node.right, m.Amount) else self._resolved(node.right)
            return q.Compared(self._resolved(node.left), node.operator, right)
        if isinstance(node, q.Share) and isinstance(node.whole, m.Thing):
            whole = node.whole
            by_count = node.by_count and whole.countable and not whole.areal and not whole.picked
            node = replace(node, by_count=by_count if self.by is None else self.by == "number")
            self._note_share(node)
        return node

    def _note_share(self, share: q.Share) -> None:
        if share.by_count:
            self.notes.append("The percentage is of their number, not of their area.")

    def _share(self, asked: a.ShareAsked) -> q.Share:
        if asked.rest:
            raise Unsettled("It does not say what is left out of what remains.")
        thing = asked.part
        if "IGNORE" in thing.listed and asked.of_image:
            left_out = " and ".join(word.word for word in thing.without)
            raise Unsettled(f'Of what {left_out} is left out is not clear; begin with it: "Excluding {left_out}, ...".')
        places = [step for step in thing.steps if isinstance(step, m.InPart)]
        others = [step for step in thing.steps if not isinstance(step, m.InPart | m.Pick | m.Whole)]
        sizes = [step for step in others if isinstance(step, m.Size)]
        if asked.of_image:
            if places:
                self.notes.append("The percentage is of the whole image.")
            return q.Share(thing)
        if others and not thing.picked:
            own = sizes if len(sizes) < len(others) else []
            whole = replace(thing, steps=(*own, *places))
            by_count = thing.countable and not thing.areal if self.by is None else self.by == "number"
            share = q.Share(thing, whole, by_count)
            if not share.by_count:
                self.notes.append('The percentage is of that class; say "of the image" for the image\'s share.')
            self._note_share(share)
            return share
        return q.Share(thing, places[0] if places and not thing.picked else None)

    def _compared(self, asked: a.ComparedAsked) -> q.Claim:
        if asked.amount is not None:
            thing, amount = asked.operands[0], asked.amount
            if isinstance(thing, m.Thing) and amount.unit in ("m2", "px"):
                if "ANY" in thing.listed and not thing.areal:
                    size = m.Size(*bounds(asked.operator, amount))
                    return self._exists(before_pick(thing, size), denied=False)
                of_target = size_of_target(thing, m.Size(*bounds(asked.operator, amount)))
                if of_target is not None:
                    return self._exists(of_target, denied=False)
            return q.Compared(self._against(asked.operands[0], asked.amount), asked.operator, asked.amount)
        left, right = self._alike(asked.operands, more=asked.more)
        if asked.factor is not None:
            right = q.Times(asked.factor, right)
        return q.Compared(left, asked.operator, right)

    def _against(self, operand: Any, amount: m.Amount) -> Any:
        """The measure of an operand that an amount can be held against."""
        if isinstance(operand, a.AreaOrNumber) and amount.unit in ("m2", "px"):
            operand = operand.thing  # "do all the buildings together cover more than 500 m2?"
        if not isinstance(operand, m.Thing):
            measure = self._resolved(operand)
            if isinstance(measure, q.Area) and amount.unit == "percent":
                return q.Share(measure.thing)
            check_units(measure, amount)
            return measure
        if amount.unit == "m2":
            return q.Area(operand)
        if amount.unit == "px":
            return q.Area(operand, in_pixels=True)
        if amount.unit == "percent":
            return self._share(a.ShareAsked(operand, of_image=True))
        if amount.unit == "":
            return q.Count(operand)
        raise Unsettled(f"It does not say what of it is to be compared with {amount.said}.")

    def _alike(self, operands: Sequence[Any], *, more: bool) -> list[Any]:
        """Operands measured in the same way, a part of the image said at the end for all of them."""
        if not operands:
            raise Unsettled("It does not say what is to be compared.")
        operands = self._alike_placed(operands)
        measures = [self._resolved(operand) for operand in operands if not isinstance(operand, m.Thing)]
        things = [operand for operand in operands if isinstance(operand, m.Thing)]
        if not measures:
            kind = self._kind_of(things, more=more)
            return [kind(thing) for thing in operands]
        sample = measures[0]
        found = iter(measures)
        alike = [next(found) if not isinstance(operand, m.Thing) else like(sample, operand) for operand in operands]
        if len({dimension(measure) for measure in alike}) > 1:
            raise Unsettled("It compares different kinds of measurements.")
        return alike

    def _alike_placed(self, operands: Sequence[Any]) -> list[Any]:
        places = [[step for thing in things_in(operand) for step in places_of(thing)] for operand in operands]
        if not places[-1] or any(places[:-1]):
            return list(operands)
        self.notes.append("All that is compared is taken in that part of the image.")
        return [*(placed(operand, places[-1][0].part) for operand in operands[:-1]), operands[-1]]

    def _kind_of(self, things: Sequence[m.Thing], *, more: bool) -> type[q.Count] | type[q.Area]:
        by_number = all(thing.countable and not thing.areal and not thing.picked for thing in things)
        if self.by == "number":
            return q.Count
        if self.by == "area":
            return q.Area
        if more and by_number:
            self.notes.append('They are compared by number; say "area" to compare their areas.')
            return q.Count
        if any(thing.countable and not thing.areal and not thing.picked for thing in things):
            self.notes.append("They are compared by area.")
        return q.Area

    def _ratio(self, asked: a.RatioAsked) -> q.Ratio | q.Difference:
        if not asked.difference and [type(one) for one in asked.operands] == [q.Area, q.Count]:
            return q.Ratio(*asked.operands)  # "vegetation area divided by the number of buildings"
        left, right = self._alike(asked.operands, more=asked.more)
        if self.unit == "percent" and asked.difference:
            left, right = (q.Share(one.thing) if isinstance(one, q.Area) else one for one in (left, right))
        return q.Difference(left, right, asked.absolute) if asked.difference else q.Ratio(left, right)

    def _choice(self, asked: a.ChoiceAsked) -> q.Choice:
        measures = self._alike(asked.operands, more=asked.more)
        things = [next(things_in(measure), THEY) for measure in measures]
        if not all(thing.classes for thing in things):
            raise Unsettled("It compares something that is no class.")
        names = tuple(" and ".join(name for word in thing.classes for name in word.names) for thing in things)
        if len(set(names)) < len(names):
            names = tuple(place_name(thing) or name for thing, name in zip(things, names, strict=True))
        if len(set(names)) < len(names):
            raise Unsettled("What it compares has the same name.")
        return q.Choice(names, tuple(measures), asked.most)

    def _side(self, asked: a.SideAsked) -> q.Choice:
        operand, named = parts_taken_off(asked.operand)
        if named and asked.parts:
            raise Unsettled("It is not clear which parts of the image are to be compared.")
        parts = named or asked.parts or parts_called(asked.word)
        if asked.located:
            if not operand.classes or not isinstance(next(reversed(operand.steps), None), m.Pick):
                raise Unsettled("It asks where several things are. Next: ask about one of them, such as the largest.")
            inside = tuple(self._resolved(q.Count(operand.having(m.InPart(part)))) for part in parts)
            said = f"where the {operand.steps[-1].which} {operand.classes[0].word} is"
            return q.Choice(tuple(parts), inside, most=True, said=said)
        if isinstance(operand, m.Thing):
            operand = self._kind_of([operand], more=True)(operand)
        measures = tuple(placed(operand, part) for part in parts)
        return q.Choice(tuple(parts), tuple(self._resolved(measure) for measure in measures), asked.most)

    def _grew(self, asked: a.GrewAsked) -> Any:
        operand = asked.operand
        if not isinstance(operand, m.Thing):
            measure = self._resolved(operand)
        elif asked.points:
            measure = q.Share(operand)
        else:
            by_area = dimension_of_unit(self.unit or "") in ("area", "pixels")
            measure = q.Area(operand) if by_area else self._kind_of([operand], more=True)(operand)
        percent = asked.percent or (self.unit == "percent" and not asked.points)
        return growth.grown(replace(asked, percent=percent), measure)

    def _exists(self, thing: m.Thing, *, denied: bool) -> q.Claim:
        """Of "a road and a building" each has to be there; of "no road and no building" neither."""
        if len(thing.classes) < 2 or thing.inverted or thing.picked:
            return q.Exists(thing)
        if {"AND", "OR"} <= thing.listed:
            raise Unsettled("It is not clear what goes together: ask for one after the other.")
        if thing.steps:
            self.notes.append("The condition is taken for each of them.")
        claims = tuple(q.Exists(replace(thing, classes=(word,))) for word in thing.classes)
        return q.AnyOf(claims) if denied or "OR" in thing.listed else q.AllOf(claims)

    def _where(self, asked: a.WhereAsked) -> q.Claim:
        sizes = [step for step in asked.conditions if isinstance(step, m.Size)]
        thing = asked.thing
        if sizes and "ANY" in thing.listed and not thing.areal:
            return self._exists(before_pick(thing, *asked.conditions), denied=False)
        if sizes and (len(sizes) < len(asked.conditions) or (thing.countable and not thing.picked)):
            raise Unsettled('It could mean any of them or all of them; say "is any" or "are all".')
        of_target = size_of_target(thing, sizes[0]) if len(sizes) == 1 else None
        if of_target is not None:
            return self._exists(of_target, denied=False)
        if sizes:
            claims = [claim for size in sizes for claim in size_claims(thing, size)]
            return claims[0] if len(claims) == 1 else q.AllOf(tuple(claims))
        far = asked.conditions[0] if len(asked.conditions) == 1 else None
        if isinstance(far, m.Near) and far.low and not far.high and not thing.objects and not thing.steps:
            return q.Compared(q.Distance(thing, far.target), ">=" if far.low.inclusive else ">", far.low.limit)
        if not thing.picked:
            self.notes.append("Yes where it holds of any part of it.")
        return self._exists(thing.having(*asked.conditions), denied=False)

    def _area_or_number(self, asked: a.AreaOrNumber) -> q.Area | q.Count:
        if self.unit is not None:
            return q.Area(asked.thing)
        self.notes.append("Their number is counted; name a unit for their area.")
        return q.Count(asked.thing)

    def _bare(self, asked: a.Bare) -> q.Area | q.Count | q.Power:
        sized = any(isinstance(step, m.Size) for step in asked.thing.steps)
        if dimension_of_unit(self.unit or "") == "power":
            return q.Power(asked.thing)
        if dimension_of_unit(self.unit or "") in ("area", "pixels", "share") or (asked.thing.areal and not sized):
            return q.Area(asked.thing)
        if asked.thing.countable and asked.thing.steps and not asked.thing.picked and self.unit is None:
            self.notes.append("Their number is counted, as nothing else is asked.")
            return q.Count(asked.thing)
        raise Unsettled("It does not say what to measure: a number, an area, a share, a distance.")

    def _between(self, asked: a.Between) -> q.AllOf:
        return q.AllOf((self._compared(asked.low), self._compared(asked.high)))

    def _density(self, asked: a.DensityAsked) -> q.Density:
        if asked.per is not None:
            self.unit = f"per {asked.per}"
        density = asked.density
        places = tuple(places_of(density.thing))
        if density.whole is None and places:
            return replace(density, whole=m.Thing(everything=True, steps=places))
        return density

    # ------------------------------------------------------------------ the unit asked for
    def _in_unit(self, answer: Any) -> Any:
        if self.unit is not None and isinstance(answer, CLAIMS):
            raise Unsettled("It asks for a unit, but for yes or no.")
        if isinstance(answer, q.Ratio) and dimension_of_unit(self.unit or "") == "area" and _is_plain_ratio(answer):
            self.unit = None  # "for every hectare of A how many hectares of B"
        if self.unit == "percent" and isinstance(answer, q.Area):
            return self._share(a.ShareAsked(answer.thing, of_image=False))
        if self.unit is not None and isinstance(answer, q.Share) and dimension_of_unit(self.unit) in ("area", "pixels"):
            if answer.by_count:
                raise Unsettled("It asks for a share of their number in a unit of area. Next: ask for one of them.")
            answer = q.Area(answer.part)
            self.notes = [note for note in self.notes if not note.startswith("The percentage")]
        if self.unit == "px":
            answer = rebuilt(answer, _in_pixels)
            if isinstance(answer, q.ImageFact):
                answer = q.ImageFact(f"{answer.name} px")
        return answer


def word_notes(answer: Any) -> list[str]:
    """A note for every class that was named by another word."""
    words = [word for thing in all_things_in(answer) for word in (*thing.classes, *thing.without)]
    return [
        f'"{word.word}" is read as {" and ".join(word.names)}.'
        for word in words
        if not any(vocabulary.spelt(word.word, (name,)) for name in word.names)
    ]


def check_shares(answer: Any) -> None:
    """Refuse the share that all of the image, or of a part of it, has in itself: "is land at least half of it?".

    Raises:
        Unsettled: it is asked for.
    """
    for share in parts_in(answer):
        if isinstance(share, q.Share) and share.part.everything and not set(share.part.steps) - {share.whole}:
            raise Unsettled("It does not say what the share is of: name a class.")


def _is_plain_ratio(answer: q.Ratio) -> bool:
    return isinstance(answer.a, q.Area) and isinstance(answer.b, q.Area)


def _in_pixels(node: Any) -> Any:
    if isinstance(node, q.Area | q.AreaStatistic):
        return replace(node, in_pixels=True)
    return node if isinstance(node, m.Thing) else None
