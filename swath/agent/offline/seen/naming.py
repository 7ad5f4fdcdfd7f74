"""Settles which things are meant: which cell or part of the image, one or many, the class of "the largest one"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen.children import ANYTHING, NEIGHBOUR, Middle, Placed, Said
from swath.agent.offline.unsettled import Unsettled
from swath.agent.planner import Scene
from swath.segment import vocabulary

_HALVES = ("half", "quadrant", "quarter", "halves", "sector")
_SIDES = ("up", "right", "down", "left")
_EDGES = ("top", "right", "bottom", "left")
_STUFF = ("water", "wetland", "vegetation", "grass", "urban", "impervious", "barren", "sand", "rock", "snow", "cloud",
          "shadow", "burned", "other", "sea", "agriculture", "built_up", "paddy")  # fmt: skip
_LAND_WORDS = ("forest", "woods", "wood", "woodland", "canopy", "tree cover", "tree canopy", "forested", "wooded")


@dataclass
class Namer:
    """Settles which things a question about a scene means."""

    scene: Scene
    notes: list[str] = field(default_factory=list)
    pointed: bool = False

    def settled_thing(self, node: Any) -> Any:
        """A thing with its places and targets settled; what is no thing is looked into."""
        return self.thing(node) if isinstance(node, m.Thing) else None

    def thing(self, thing: m.Thing, head: m.Thing | None = None, *, target: bool = False) -> m.Thing:
        """A thing with its places settled; one alone where the words mean one.

        Args:
            thing: as it was named.
            head: the thing that was named first, whose class "the largest one" has.
            target: whether something else is placed by it, so that it may be any of several.
        """
        if thing.pronoun == NEIGHBOUR.pronoun:
            thing = _like_target(thing)
        if thing.pronoun == ANYTHING.pronoun:
            thing = _of_head(thing, head)
        single = is_single(thing)
        at = thing.steps.index(Said()) if Said() in thing.steps else len(thing.steps)
        said = self._crossed(thing.steps[:at])
        steps = [found for step in said for found in self._step(step, thing, single=single)]
        ranked = any(isinstance(step, s.Ranked) for step in steps)
        first = any(isinstance(step, s.Ranked) and (step.n == 1 or step.nth) for step in steps)
        if self.pointed and first and not target:
            steps.append(s.Only(first=True))  # of none there is no first
        if single and not target and not ranked and s.Only() not in steps and thing.classes:
            steps.append(s.Only())
        steps = sorted(dict.fromkeys(_without_twins(steps, thing)), key=_place)
        steps += [found for step in thing.steps[at + 1 :] for found in self._step(step, thing, single=False)]
        return replace(thing, steps=tuple(steps))

    def _step(self, step: Any, thing: m.Thing, *, single: bool) -> list[Any]:
        if isinstance(step, Placed):
            return [self._place(step)]
        if isinstance(step, Middle):
            return self._middle(step, single=single)
        if isinstance(step, s.Related):
            return [replace(step, targets=tuple(self.thing(one, thing, target=True) for one in step.targets))]
        if isinstance(step, s.Just):
            target = self.thing(step.target, thing, target=True)
            beside = s.Related("side", (target,), step.side)
            return [beside, s.Ranked("nearest", target=target)] if single else [beside]
        if isinstance(step, s.Ranked) and step.target is not None:
            return [replace(step, target=self.thing(step.target, thing, target=True))]
        if isinstance(step, m.Near | m.Touching):
            if step.target.classes == thing.classes and not step.target.steps:
                raise Unsettled("It measures the distance of a class from itself. Next: name another class.")
            return [replace(step, target=self.thing(step.target, thing, target=True))]
        if isinstance(step, s.Between):
            return [self._limited(self._with_field(step), thing)]
        if isinstance(step, m.Not):
            return [_flipped(inner) for inner in self._step(step.step, thing, single=single)]
        return [step]

    def _crossed(self, steps: Sequence[Any]) -> list[Any]:
        """Of an object "at the bottom, in the middle" the cell in the middle of the bottom is meant."""
        edge = next((step for step in steps if isinstance(step, Placed) and self._cell(step.part) in _EDGES), None)
        if not self.pointed or edge is None or Middle() not in steps:
            return list(steps)
        side = self._cell(edge.part)
        cell = f"{side}-centre" if side in ("top", "bottom") else f"centre-{side}"
        others = [step for step in steps if step not in (edge, Middle())]
        self.notes.append(f'"{edge.text}, in the middle" is the {cell} of the image cut into three rows and columns.')
        return [s.InCell(cell, edge.part), *others]

    def _with_field(self, step: s.Between) -> s.Between:
        """Of "the area above 20 m" the surfaces that are given tell what is meant."""
        if step.field != "unclear":
            return step
        return replace(step, field="height" if self.above_ground_alone() else "elevation")

    def _limited(self, step: s.Between, thing: m.Thing) -> s.Between:
        """A range whose end is another thing's height."""
        ends = []
        for bound in (step.low, step.high):
            if bound is not None and isinstance(bound.limit, s.Field) and bound.limit.of is not None:
                other = self.thing(bound.limit.of, thing)
                bound = m.Bound(replace(bound.limit, of=other), bound.inclusive)
            ends.append(bound)
        return replace(step, low=ends[0], high=ends[1])

    def _place(self, placed: Placed) -> Any:
        half = any(word in placed.text.split() for word in _HALVES)
        third = "third" in placed.text.split()
        if half or not (self.pointed or third or "centre" in placed.part):
            return m.InPart(placed.part)
        cell = self._cell(placed.part)
        if not third:
            self.notes.append(f'"{placed.text}" is the {cell} of the image cut into three rows and columns.')
        return s.InCell(cell, placed.part)

    def _cell(self, part: str) -> str:
        """The cell of a place; of compass names by where north is."""
        turn = _SIDES.index(self.scene.north)
        turned = {name: _EDGES[(at + turn) % 4] for at, name in enumerate(("north", "east", "south", "west"))}
        sides = [turned.get(word, word) for word in part.split("-")]
        if len(sides) == 1 or "centre" in sides:
            return "-".join(sides)
        down, across = (sides[0], sides[1]) if sides[0] in ("top", "bottom") else (sides[1], sides[0])
        return f"{down}-{across}"

    def _middle(self, middle: Middle, *, single: bool) -> list[Any]:
        if middle.corner and not (self.pointed and single):
            return [s.InCell(middle.corner, middle.corner) if self.pointed else m.InPart(middle.corner)]
        if middle.corner:  # a corner is no ninth of the image; what is meant is nearest to it, in its quarter
            self.notes.append(f"Of several in the {middle.corner} quarter the one nearest to the corner is meant.")
            return [m.InPart(middle.corner), s.Ranked("corner", middle.corner)]
        if not single:
            return [s.InCell("centre")]
        self.notes.append("Of several in the centre the one nearest to it is meant.")
        return [s.InCell("centre"), s.Ranked("centre")]

    def above_ground_alone(self) -> bool:
        """Whether "height" is that above ground, by the surfaces that are given.

        Raises:
            Unsettled: they allow both.
        """
        given = set(self.scene.heights)
        above = "ndsm" in given or {"dsm", "dtm"} <= given
        if above and given & {"dem", "dtm", "dsm"}:
            raise Unsettled('"Height" may be that above ground or the elevation: say which.')
        return above


def is_single(thing: m.Thing) -> bool:
    """Whether the words mean one object: "the ship", "a hangar", "the tree"; not "ships", "water", "forest"."""
    if len(thing.classes) != 1 or thing.areal or thing.inverted:
        return False
    word = thing.classes[0]
    if not word.word.isascii() and vocabulary.fold(word.word)[:1] > "\u3400":  # Chinese has no plural
        return False
    if word.plural or vocabulary.fold(word.word) in _LAND_WORDS:
        return False
    concept = vocabulary.concept_of(word.word)
    plural = vocabulary.fold(word.word).endswith("s") and not vocabulary.fold(word.word).endswith("ss")
    return not plural and concept not in _STUFF


def _without_twins(steps: Sequence[Any], thing: m.Thing) -> list[Any]:
    """Steps, "free-standing, with no building next to it" said once."""
    own = (s.Related("not next", (m.Thing(thing.classes),)), s.Related("alone"))
    return [s.Related("alone") if step in own else step for step in steps]


def _of_head(thing: m.Thing, head: m.Thing | None) -> m.Thing:
    """A thing without a class: of the class named before, or all land where only the land is narrowed down."""
    if head is not None and head.classes:
        return replace(thing, classes=head.classes, pronoun="")
    of_land = all(isinstance(step, s.Flooded | Said) or getattr(step, "field", "") in _LAND for step in thing.steps)
    if head is not None or not thing.steps or not of_land:
        raise Unsettled("It does not say of which class the objects are.")
    return m.Thing(everything=True, steps=thing.steps)


def _like_target(thing: m.Thing) -> m.Thing:
    """Neighbours: of the class of what they are near to."""
    for step in thing.steps:
        targets = (step.target,) if isinstance(step, s.Ranked) else getattr(step, "targets", ())
        target = next(iter(targets), None)
        if target is not None and target.classes:
            one = tuple(replace(word, plural=False, single=True) for word in target.classes)
            return replace(thing, classes=one, pronoun="")
    raise Unsettled("It does not say of which class the neighbours are.")


_LAND = ("slope", "elevation")


def _place(step: Any) -> int:
    """Ranks come after everything that narrows down, the count of one last."""
    return 1 if isinstance(step, s.Ranked) else 2 if isinstance(step, s.Only) else 0


def _flipped(step: Any) -> Any:
    """The opposite of a step; of a range its other side, so that what is not known stays out."""
    if not isinstance(step, s.Between):
        return m.Not(step)
    if step.low is not None and step.high is not None:
        raise Unsettled("It denies a range. Next: ask for what is above it or for what is below it.")
    low = None if step.high is None else m.Bound(step.high.limit, not step.high.inclusive)
    high = None if step.low is None else m.Bound(step.low.limit, not step.low.inclusive)
    return replace(step, low=low, high=high)
