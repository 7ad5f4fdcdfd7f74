"""Writes the steps and measures of the second grammar, on the writer of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.program import Writer
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen import question as sq
from swath.agent.offline.unsettled import Unsettled
from swath.agent.offline.variables import plain

_OF_OBJECTS = (s.Look, s.InCell, s.Related, s.Ranked, s.Only, m.Size, m.Touching, m.Pick, m.Overlapping)
"""Steps that keep or drop whole objects."""
_FIELDS = {"height": ("height_mask", "m"), "elevation": ("elevation_mask", "m"), "slope": ("slope_mask", "deg")}
_KNOWN = {
    "height": "with_height({})", "elevation": "located_in({}, elevation_mask())",
    "slope": "located_in({}, slope_mask())", "flood": "overlapping({}, elevation_mask())",
}  # fmt: skip
"""The objects of which it is known whether they lie so high, so steep, below a level."""
_REGION_TOOLS = (
    "with_height(", "tallest(", "lowest(", "nth_tallest(", "nth(", "extreme(", "only(", "of_colour(", "of_shape(",
    "of_size(", "in_cell(", "next_to(", "on_side(", "between(", "inside(", "surrounded_by(", "coloured_like(",
    "longest(", "sort_by_", "nearest_to_",
)  # fmt: skip


@dataclass
class SeenWriter(Writer):
    """Lines of a program, with heights, looks and places."""

    # ------------------------------------------------------------------ things
    def by_objects(self, thing: m.Thing) -> bool:
        """Whether a thing is whole objects, of which nothing is cut off."""
        if thing.everything:
            return False
        return thing.objects or any(isinstance(step, _OF_OBJECTS) for step in thing.steps)

    def mask(self, thing: m.Thing) -> str:
        """The pixels of a thing."""
        if self.by_objects(thing):
            return self.let(f"{_short(thing)}_pixels", f"mask_of({self.regions(thing)})")
        if thing.everything and thing.steps:
            first, *others = thing.steps
            mask = self._everywhere(first)
            return self._narrowed_mask(mask, thing, others)
        return super().mask(thing)

    def extent(self, thing: m.Thing) -> str:
        """A thing as regions where it is objects, as a mask otherwise."""
        return self.regions(thing) if self.by_objects(thing) else self.mask(thing)

    def shown(self, thing: m.Thing) -> str:
        """What a claim is about, to be shown with its answer."""
        return self.extent(thing)

    def _everywhere(self, step: Any) -> str:
        """The pixels of the whole image that a step keeps."""
        if isinstance(step, s.Between):
            tool, unit = _FIELDS[step.field]
            return self.let(f"{step.field}_range", f"{tool}({self._range(step, unit)})")
        if isinstance(step, s.Flooded):
            return self.let("under_water", f"flood_mask(water_level_m={plain(step.level.value)})")
        if isinstance(step, m.InPart):
            return self.part(step.part)
        if isinstance(step, m.Not):
            return self.let("other_land", f"complement({self._everywhere(step.step)})")
        return super()._mask_step(self.let("everything", "whole_image()"), m.Thing(everything=True), step)

    def _mask_step(self, mask: str, thing: m.Thing, step: m.Step) -> str:
        if isinstance(step, s.Between | s.Flooded):
            return self.let(f"{_short(thing)}_there", f"intersection({mask}, {self._everywhere(step)})")
        if isinstance(step, m.SeenStep):
            raise Unsettled("It asks for objects of something that is no object. Next: name a class of objects.")
        return super()._mask_step(mask, thing, step)

    def _region_step(self, regions: str, thing: m.Thing, step: m.Step) -> str:
        if not isinstance(step, m.SeenStep):
            return super()._region_step(regions, thing, step)
        name = _short(thing)
        if isinstance(step, s.Between):
            return self._in_range(regions, name, step)
        if isinstance(step, s.Flooded):
            return self.let(f"flooded_{name}", f"overlapping({regions}, {self._everywhere(step)})")
        if isinstance(step, s.Look):
            return self._look(regions, thing, step)
        if isinstance(step, s.InCell):
            return self.let(f"{name}_in_{step.cell}", f'in_cell({regions}, cell="{step.cell}")')
        if isinstance(step, s.Known):
            return self.let(f"{name}_of_known_{step.field}", _KNOWN[step.field].format(regions))
        if isinstance(step, s.Only):
            return self.let(f"the_{name}", f"only({regions})")
        if isinstance(step, s.Related):
            return self._related(regions, thing, step)
        if isinstance(step, s.Ranked):
            return self._ranked(regions, thing, step)
        raise TypeError(f"no program for {type(step).__name__}")

    def _in_range(self, regions: str, name: str, step: s.Between) -> str:
        if step.field == "height":
            return self.let(f"{name}_of_height", f"with_height({regions}, {self._range(step, 'm')})")
        return self.let(f"{name}_by_{step.field}", f"located_in({regions}, {self._everywhere(step)})")

    def _range(self, step: s.Between, unit: str) -> str:
        arguments = []
        for bound, exclusive, inclusive in ((step.low, "larger_than", "min"), (step.high, "smaller_than", "max")):
            if bound is not None:
                arguments.append(f"{inclusive if bound.inclusive else exclusive}_{unit}={self._limit(bound.limit)}")
        return ", ".join(arguments)

    def _look(self, regions: str, thing: m.Thing, step: s.Look) -> str:
        among = ""
        if step.what == "size":
            every = self.regions(replace(thing, steps=()))
            among = "" if every == regions else f", among={every}"
        return self.let(f"{step.word}_{_short(thing)}", f'of_{step.what}({regions}, {step.what}="{step.word}"{among})')

    def _related(self, regions: str, thing: m.Thing, step: s.Related) -> str:
        name = _short(thing)
        if step.how in ("alone", "not next"):
            others = self.extent(step.targets[0]) if step.targets else self.regions(replace(thing, steps=()))
            beside = self.let(f"{name}_in_company", f"next_to({regions}, {others})")
            return self.let(f"{name}_alone", f"exclude({regions}, {beside})")
        targets = ", ".join(self.extent(target) for target in step.targets)
        if step.how == "colour" and step.targets[0].classes == thing.classes:
            regions = self.let(f"other_{name}", f"exclude({regions}, {targets})")
        side = f', side="{step.side}"' if step.side else ""
        label = f"{name}_{step.side or step.how}_{_short(step.targets[0])}"
        return self.let(label, f"{s.RELATIONS[step.how][0]}({regions}, {targets}{side})")

    # ------------------------------------------------------------------ ranks
    def _ranked(self, regions: str, thing: m.Thing, step: s.Ranked) -> str:
        name, number = _short(thing), "" if step.n == 1 else f", n={step.n}"
        if step.by == "area" and step.nth and step.most:
            return self.let(f"{name}_number_{step.n}", f"nth_largest({regions}, n={step.n})")
        if step.by == "height" and step.nth and step.most:
            return self.let(f"{name}_number_{step.n}", f"nth_tallest({regions}, n={step.n})")
        label, call = self._order(regions, thing, step, number)
        first = self.let(label, call)
        return self.let(f"{name}_number_{step.n}", f"nth({first}, n={step.n})") if step.nth and step.n > 1 else first

    def _order(self, regions: str, thing: m.Thing, step: s.Ranked, number: str) -> tuple[str, str]:
        """The name and the call of the first n of an order."""
        name = _short(thing)
        simple = {("area", True): "largest", ("area", False): "smallest", ("height", True): "tallest",
                  ("height", False): "lowest", ("length", True): "longest"}  # fmt: skip
        if (step.by, step.most) in simple:
            tool = simple[step.by, step.most]
            return f"{tool}_{name}", f"{tool}({regions}{number})"
        if step.by == "side":
            return f"{step.where}_most_{name}", f'extreme({regions}, side="{step.where}"{number})'
        if step.by == "corner":
            return f"{name}_at_corner", f'nearest_to_corner({regions}, corner="{step.where}"{number})'
        if step.by in ("edge", "centre"):
            return f"{name}_at_{step.by}", f"nearest_to_{step.by}({regions}{number})"
        if step.target is None:
            raise TypeError(f"no program for a rank by {step.by}")
        target = self.extent(step.target)
        if step.target.classes == thing.classes:
            regions = self.let(f"other_{name}", f"exclude({regions}, {target})")
        return f"{step.by}_{name}", f"{step.by}({regions}, {target}{number})"

    # ------------------------------------------------------------------ numbers
    def _other_value(self, measure: q.Measure) -> str:
        if isinstance(measure, s.At):
            tool = "height_at_m" if measure.above_ground else "elevation_m"
            return f"{tool}({place(measure.place)})"
        if isinstance(measure, s.HeightDifference):
            return self._height_difference(measure)
        if isinstance(measure, s.Field):
            return self._field(measure)
        return super()._other_value(measure)

    def _height_difference(self, measure: s.HeightDifference) -> str:
        if isinstance(measure.a, s.Place) and isinstance(measure.b, s.Place):
            found = f"elevation_m({place(measure.a)}) - elevation_m({place(measure.b)})"
        else:
            found = f"height_difference_m({self._side(measure.a)}, {self._side(measure.b)})"
        return f"abs({found})" if measure.absolute else found

    def _side(self, side: m.Thing | s.Place) -> str:
        return self.extent(side) if isinstance(side, m.Thing) else ""

    def _field(self, measure: s.Field) -> str:
        tool = s.FIELDS[measure.what][0]
        arguments = [] if measure.of is None else [self.extent(measure.of)]
        if measure.among:
            tool, arguments = "region_height_statistic_m", [*arguments, f'among="{measure.among}"']
        if measure.what in ("tri", "tpi", "roughness"):
            arguments.append(f'index="{measure.what}"')
        if measure.level is not None:
            name = "max_slope_deg" if measure.what == "flat" else "water_level_m"
            arguments.append(f"{name}={plain(measure.level.value)}")
        if measure.statistic:
            arguments.append(f'statistic="{measure.statistic}"')
        if measure.percent is not None:
            arguments.append(f"percent={plain(measure.percent)}")
        return f"{tool}({', '.join(arguments)})"

    # ------------------------------------------------------------------ yes or no
    def claim(self, claim: q.Claim) -> str:
        """A claim as an expression that is True or False."""
        if isinstance(claim, sq.InColour):
            return "has_true_colour()"
        if isinstance(claim, sq.LooksLike):
            return f'{self.word(claim.what, claim.of)} == "{claim.word}"'
        return super().claim(claim)

    def word(self, what: str, of: m.Thing | None) -> str:
        """An expression that is a word for a thing or for the image."""
        tool = sq.NAMES[what][0]
        if of is None:
            return f"{tool}({self.let('everything', 'whole_image()')})" if what == "colour" else f"{tool}()"
        if what == "size":
            return f"{tool}({self.regions(of)}, among={self.regions(replace(of, steps=()))})"
        return f"{tool}({self.extent(of) if what == 'colour' else self.regions(of)})"

    def _is_regions(self, name: str) -> bool:
        expression = next(expression for expression, variable in self._names.items() if variable == name)
        return expression.startswith(_REGION_TOOLS) or super()._is_regions(name)


def place(of: s.Place) -> str:
    """A place as arguments.

    Raises:
        Unsettled: a pixel has no whole numbers.
    """
    if of.kind == "lonlat":
        return f"lon_deg={plain(of.first)}, lat_deg={plain(of.second)}"
    if of.kind == "map":
        return f"x={plain(of.first)}, y={plain(of.second)}"
    column, row = pixel(of)
    return f"row_px={row}, column_px={column}"


def pixel(of: s.Place) -> tuple[int, int]:
    """Column and row of a pixel.

    Raises:
        Unsettled: it is no pixel, or has no whole numbers.
    """
    if of.kind != "pixel":
        raise Unsettled("A line goes from pixel to pixel. Next: give columns and rows.")
    if any(number != number.to_integral_value() for number in (of.first, of.second)):
        raise Unsettled("Columns and rows are whole numbers.")
    return int(of.first), int(of.second)


def names_of(things: Sequence[m.Thing]) -> str:
    """What things are called, for a variable."""
    return "_".join(_short(thing) for thing in things)


def _short(thing: m.Thing) -> str:
    words = [name for word in thing.classes for name in word.names] or ["land"]
    return "_".join(words[:2])
