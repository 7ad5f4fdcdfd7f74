"""Writes the program of a question: one line per step, every name said once, one reply at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from keyword import iskeyword

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.unsettled import Unsettled

_USED_NAMES = (
    "segment union intersection difference complement whole_image image_part components filter_regions located_in "
    "count largest smallest nth_largest sort_by_area merge exclude common mask_of each region_areas_m2 "
    "area_statistic_m2 area_statistic_px area_m2 area_px share_percent perimeter_m within beyond near farther "
    "touching overlapping distance_m distances_m distance_statistic_m neighbour_distance_statistic_m nearest "
    "farthest density_per_km2 fragmentation orientation_deg shape_statistic solar_power_kw image_area_m2 "
    "image_size_px pixel_size_m band_count valid_percent convert ratio reply abs float int len list max min "
    "options best option ties ranked answer found name round sum sorted str compass facing cells cell heights "
    "height with_height tallest lowest nth_tallest nth extreme only in_cell next_to on_side between inside "
    "surrounded_by longest of_colour of_shape of_size coloured_like boxes_px dominant_colour shape_of "
    "direction_of course_of size_of distribution rural_or_urban main_scene ground"
)
RESERVED = frozenset(_USED_NAMES.split())
"""Names that a program calls or that its last lines use, so that no class takes them."""
_REGION_STEPS = (m.Pick, m.Touching, m.Overlapping, m.Whole)
_CLAIMED_OF_OBJECTS = (m.Near, m.Not, m.EitherOf)
_PIXEL_STEPS = (m.Near, m.InPart, m.Inside, m.Not, m.EitherOf)


@dataclass
class Writer:
    """Lines of a program.

    Attributes:
        by_pixels: areas that are only compared with one another are counted in pixels, since no ground size is known.
        lines: the program so far.
    """

    by_pixels: bool = False
    lines: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def let(self, name: str, expression: str) -> str:
        """The variable that holds an expression; the same one each time."""
        if expression not in self._names:
            wanted = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "thing"
            wanted = wanted if wanted[0].isalpha() and not iskeyword(wanted) else f"class_{wanted}"
            taken = RESERVED | set(self._names.values())
            unique = next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, 1000))) if n not in taken)
            self._names[expression] = unique
            self.lines.append(f"{unique} = {expression}")
        return self._names[expression]

    # ------------------------------------------------------------------ things
    def mask(self, thing: m.Thing) -> str:
        """The pixels of a thing."""
        last = _last(thing.steps, _REGION_STEPS)
        if last is not None:
            regions = self.regions(replace(thing, steps=thing.steps[: last + 1]))
            mask = self.let(f"{_name(thing)}_pixels", f"mask_of({regions})")
            return self._narrowed_mask(mask, thing, thing.steps[last + 1 :])
        sizes = [step for step in thing.steps if isinstance(step, m.Size)]
        others = tuple(step for step in thing.steps if not isinstance(step, m.Size))
        if not sizes:
            return self._narrowed_mask(self._base(thing), thing, others)
        regions = self.regions(replace(thing, steps=tuple(sizes)))
        mask = self.let(f"{_name(thing)}_pixels", f"mask_of({regions})") if others else regions
        return self._narrowed_mask(mask, thing, others)

    def _base(self, thing: m.Thing) -> str:
        if thing.everything:
            return self.let("everything", "whole_image()")
        masks = [self._class(name) for word in thing.classes for name in word.names]
        joined = masks[0]
        for mask in masks[1:]:
            joined = self.let(_name(thing), f"union({joined}, {mask})")
        if thing.inverted:
            joined = self.let(f"not_{_name(thing)}", f"complement({joined})")
        for word in thing.without:
            for name in word.names:
                joined = self.let(f"{_name(thing)}_only", f"difference({joined}, {self._class(name)})")
        if thing.also:
            both = f"intersection({joined}, {self._base(m.Thing(thing.also))})"
            joined = self.let(f"{_name(thing)}_and_{_name(m.Thing(thing.also))}", both)
        return joined

    def _class(self, name: str) -> str:
        return self.let(name, f"segment({_quoted(name)})")

    def _narrowed_mask(self, mask: str, thing: m.Thing, steps: Sequence[m.Step]) -> str:
        for step in steps:
            mask = self._mask_step(mask, thing, step)
        return mask

    def _mask_step(self, mask: str, thing: m.Thing, step: m.Step) -> str:
        name = _name(thing)
        if isinstance(step, m.Near):
            target = self.extent(step.target)
            for call, argument, value in self._distances(step):
                tool = "within" if call == "near" else "beyond"
                label = f"{name}_{'near' if call == 'near' else 'far_from'}_{_name(step.target)}"
                mask = self.let(label, f"{tool}({mask}, {target}, {argument}={value})")
            return mask
        if isinstance(step, m.InPart):
            return self.let(f"{name}_{step.part}", f"intersection({mask}, {self.part(step.part)})")
        if isinstance(step, m.Inside):
            return self.let(f"{name}_inside", f"intersection({mask}, {self.mask(step.target)})")
        if isinstance(step, m.Not):
            flipped = _flipped(step.step)
            if flipped is not None:
                return self._mask_step(mask, thing, flipped)
            return self.let(f"other_{name}", f"difference({mask}, {self._mask_step(mask, thing, step.step)})")
        if isinstance(step, m.EitherOf):
            first, *others = [self._narrowed_mask(mask, thing, option) for option in step.options]
            for other in others:
                first = self.let(f"{name}_either", f"union({first}, {other})")
            return first
        regions = self._region_step(self.let(f"{name}_regions", f"components({mask})"), thing, step)
        return self.let(f"{name}_kept", f"mask_of({regions})")

    def part(self, part: str) -> str:
        """A half or a quadrant of the image."""
        return self.let(f"{part}_part", f"image_part(part={_quoted(part)})")

    def regions(self, thing: m.Thing) -> str:
        """The regions of a thing."""
        count = next((i for i, step in enumerate(thing.steps) if not isinstance(step, m.Size)), len(thing.steps))
        sizes = self._sizes([step for step in thing.steps[:count] if isinstance(step, m.Size)])
        name = _plural(_name(thing))
        singles = [replace(thing, classes=(word,), steps=()) for word in thing.classes]
        if thing.inverted or thing.everything or len(singles) == 1:
            singles = [replace(thing, steps=())]
        found = [
            self.let(_plural(_name(single)) if len(singles) > 1 else name, f"components({self._base(single)}{sizes})")
            for single in singles
        ]
        regions = found[0]
        for other in found[1:]:
            regions = self.let(name, f"merge({regions}, {other})")
        for step in thing.steps[count:]:
            if isinstance(step, m.Whole):
                continue
            regions = self._region_step(regions, thing, step)
        return regions

    def _region_step(self, regions: str, thing: m.Thing, step: m.Step) -> str:
        name = _name(thing)
        if isinstance(step, m.Size):
            return self.let(f"sized_{name}", f"filter_regions({regions}{self._sizes([step])})")
        if isinstance(step, m.Pick):
            return self._picked(regions, thing, step)
        if isinstance(step, m.Near):
            target = self.extent(step.target)
            for call, argument, value in self._distances(step):
                label = f"{call if call == 'near' else 'far'}_{_plural(name)}"
                regions = self.let(label, f"{call}({regions}, {target}, {argument}={value})")
            return regions
        if isinstance(step, m.Touching):
            return self.let(f"touching_{_plural(name)}", f"touching({regions}, {self.extent(step.target)})")
        if isinstance(step, m.Overlapping):
            return self._overlapping(regions, thing, step)
        if isinstance(step, m.InPart):
            return self.let(f"{step.part}_{_plural(name)}", f"located_in({regions}, {self.part(step.part)})")
        if isinstance(step, m.Inside):
            return self.let(f"{_plural(name)}_inside", f"located_in({regions}, {self.mask(step.target)})")
        if isinstance(step, m.Not | m.EitherOf):
            return self._combined(regions, thing, step)
        raise TypeError(f"no program for {type(step).__name__}")

    def _overlapping(self, regions: str, thing: m.Thing, step: m.Overlapping) -> str:
        found = self.let(f"overlapping_{_name(thing)}", f"overlapping({regions}, {self.extent(step.target)})")
        return self.let(f"{_name(thing)}_alone", f"exclude({regions}, {found})") if step.absent else found

    def _combined(self, regions: str, thing: m.Thing, step: m.Not | m.EitherOf) -> str:
        name = _plural(_name(thing))
        if isinstance(step, m.Not):
            flipped = _flipped(step.step)
            if flipped is not None:
                return self._region_step(regions, thing, flipped)
            return self.let(f"other_{name}", f"exclude({regions}, {self._region_step(regions, thing, step.step)})")
        kept = ""
        for option in step.options:
            narrowed = regions
            for one in option:
                narrowed = self._region_step(narrowed, thing, one)
            kept = self.let(f"either_{name}", f"merge({kept}, {narrowed})") if kept else narrowed
        return kept

    def _picked(self, regions: str, thing: m.Thing, pick: m.Pick) -> str:
        name = _name(thing)
        if pick.target is not None:
            return self.let(f"{pick.which}_{name}", f"{pick.which}({regions}, {self.extent(pick.target)})")
        if pick.which == "nth largest":
            return self.let(f"{name}_number_{pick.n}", f"nth_largest({regions}, n={pick.n})")
        if pick.which == "nth smallest" and pick.n > 1:
            few, fewer = (self.let(f"smallest_{n}", f"smallest({regions}, n={n})") for n in (pick.n, pick.n - 1))
            return self.let(f"{name}_number_{pick.n}_from_below", f"exclude({few}, {fewer})")
        tool = "smallest" if "smallest" in pick.which else "largest"
        number = f", n={pick.n}" if pick.n != 1 else ""
        return self.let(f"{tool}_{name}", f"{tool}({regions}{number})")

    def extent(self, thing: m.Thing) -> str:
        """A thing as regions where it was named by its regions, as a mask otherwise; for areas and as a target."""
        last = _last(thing.steps, _REGION_STEPS)
        tail = thing.steps if last is None else thing.steps[last + 1 :]
        by_regions = last is not None or any(isinstance(step, m.Size) for step in thing.steps)
        if by_regions and not any(isinstance(step, _PIXEL_STEPS) for step in tail):
            return self.regions(thing)
        return self.mask(thing)

    # ------------------------------------------------------------------ limits
    def _sizes(self, sizes: Sequence[m.Size]) -> str:
        """Sizes as arguments; of two limits on the same side the stricter one."""
        arguments: dict[tuple[str, str], tuple[str, str]] = {}
        for size in sizes:
            for side, bound in (("lower", size.low), ("upper", size.high)):
                if bound is None:
                    continue
                unit = bound.limit.unit if isinstance(bound.limit, m.Amount) else "m2"
                name, value = _ARGUMENTS[side, bound.inclusive], self._limit(bound.limit)
                before = arguments.get((side, unit))
                arguments[side, unit] = (name, value) if before is None else _stricter(side, before, (name, value))
        return "".join(f", {name}_{unit}={value}" for (_, unit), (name, value) in arguments.items())

    def _limit(self, limit: m.Amount | q.Measure) -> str:
        if isinstance(limit, m.Amount):
            return plain(limit.value)
        return self.let("limit", self.value(limit))

    def _distances(self, near: m.Near) -> list[tuple[str, str, str]]:
        """Calls for both ends of a distance: tool for regions, argument, value."""
        found: list[tuple[str, str, str]] = []
        if near.high is not None:
            argument = "max_distance_m" if near.high.inclusive else "smaller_than_m"
            found.append(("near", argument, self._limit(near.high.limit)))
        if near.low is not None:
            argument = "min_distance_m" if near.low.inclusive else "larger_than_m"
            found.append(("farther", argument, self._limit(near.low.limit)))
        return found

    # ------------------------------------------------------------------ numbers
    def value(self, measure: q.Measure) -> str:
        """A measure as an expression, in SI units."""
        if isinstance(measure, q.Count):
            return f"count({self.regions(measure.thing)})"
        if isinstance(measure, q.Area):
            tool = "area_px" if measure.in_pixels or self.by_pixels else "area_m2"
            return f"{tool}({self.extent(measure.thing)})"
        if isinstance(measure, q.Share):
            return self._share(measure)
        if isinstance(measure, q.AreaStatistic):
            unit = "px" if measure.in_pixels or self.by_pixels else "m2"
            return f"area_statistic_{unit}({self.regions(measure.thing)}, statistic={_quoted(measure.statistic)})"
        if isinstance(measure, q.Perimeter):
            return f"perimeter_m({self.extent(measure.thing)})"
        if isinstance(measure, q.Distance):
            return self._distance(measure)
        return self._other_value(measure)

    def _other_value(self, measure: q.Measure) -> str:
        if isinstance(measure, q.Density):
            whole = f", of={self.mask(measure.whole)}" if measure.whole else ""
            return f"density_per_km2({self.regions(measure.thing)}{whole})"
        if isinstance(measure, q.Spacing):
            statistic = _quoted(measure.statistic)
            return f"neighbour_distance_statistic_m({self.regions(measure.thing)}, statistic={statistic})"
        if isinstance(measure, q.Power):
            return self._power(measure)
        if isinstance(measure, q.ImageFact):
            return image_fact(measure.name)[0]
        if isinstance(measure, q.Times):
            return f"{plain(measure.factor)} * {self.named(measure.of)}"
        if isinstance(measure, q.Growth):
            after, before = self.named(measure.after), self.named(measure.before)
            change = f"{before} - {after}" if measure.down else f"{after} - {before}"
            return f"100 * ratio({change}, {before})"
        if isinstance(measure, q.Ratio):
            return f"ratio({self.named(measure.a)}, {self.named(measure.b)})"
        if isinstance(measure, q.Difference):
            difference = f"{self.named(measure.a)} - {self.named(measure.b)}"
            return f"abs({difference})" if measure.absolute else difference
        raise TypeError(f"no program for {type(measure).__name__}")

    def named(self, measure: q.Measure) -> str:
        """A measure as a variable."""
        return self.let(_measure_name(measure), self.value(measure))

    def _share(self, share: q.Share) -> str:
        if share.by_count and isinstance(share.whole, m.Thing):
            part, whole = self.regions(share.part), self.regions(share.whole)
            return f"100 * ratio(count({part}), count({whole}))"
        if share.whole is None:
            return f"share_percent({self.extent(share.part)})"
        whole = self.part(share.whole.part) if isinstance(share.whole, m.InPart) else self.mask(share.whole)
        return f"share_percent({self.mask(share.part)}, of={whole})"

    def _distance(self, distance: q.Distance) -> str:
        b = self.extent(distance.b)
        if distance.statistic is not None:
            statistic = _quoted(distance.statistic)
            return f"distance_statistic_m({self.regions(distance.a)}, {b}, statistic={statistic})"
        return f"distance_m({self.extent(distance.a)}, {b})"

    def _power(self, power: q.Power) -> str:
        constants = ""
        if power.irradiance is not None:
            constants += f", irradiance_w_per_m2={plain(power.irradiance)}"
        if power.efficiency is not None:
            constants += f", efficiency={plain(power.efficiency)}"
        return f"solar_power_kw({self.extent(power.thing)}{constants})"

    # ------------------------------------------------------------------ yes or no
    def claim(self, claim: q.Claim) -> str:
        """A claim as an expression that is True or False."""
        if isinstance(claim, q.Exists):
            extent = self.shown(claim.thing)
            return f"count({extent}) > 0" if self._is_regions(extent) else f"area_px({extent}) > 0"
        if isinstance(claim, q.Compared):
            left = self.named(claim.left)
            right = plain(claim.right.value) if isinstance(claim.right, m.Amount) else self.named(claim.right)
            return f"{left} {claim.operator} {right}"
        if isinstance(claim, q.Connected):
            return f'fragmentation({self.regions(claim.thing)}) == "connected"'
        if isinstance(claim, q.Denied):
            return f"not ({self.claim(claim.claim)})"
        if isinstance(claim, q.SeenClaim):
            raise TypeError(f"no program for {type(claim).__name__}")
        word = " and " if isinstance(claim, q.AllOf) else " or "
        return word.join(f"({self.claim(one)})" for one in claim.claims)

    def shown(self, thing: m.Thing) -> str:
        """What a claim is about, to be shown with its answer: objects where it is about objects."""
        return self.regions(thing) if _of_objects(thing) else self.extent(thing)

    def _is_regions(self, name: str) -> bool:
        expression = next(expression for expression, variable in self._names.items() if variable == name)
        return expression.startswith(_REGION_TOOLS)


_REGION_TOOLS = (
    "components(", "filter_regions(", "largest(", "smallest(", "nth_largest(", "nearest(", "farthest(", "near(",
    "farther(", "touching(", "overlapping(", "located_in(", "merge(", "exclude(",
)  # fmt: skip

IMAGE_FACTS: dict[str, tuple[str, str, str]] = {
    "area": ("image_area_m2()", "m2", "area of the image (its valid pixels)"),
    "pixel size": ("pixel_size_m()", "m", "ground size of a pixel"),
    "bands": ("band_count()", "count", "bands of the image"),
    "width": ('image_size_px(axis="width") * pixel_size_m()', "m", "width of the image on the ground"),
    "height": ('image_size_px(axis="height") * pixel_size_m()', "m", "height of the image on the ground"),
    "width px": ('image_size_px(axis="width")', "px", "width of the image"),
    "height px": ('image_size_px(axis="height")', "px", "height of the image"),
    "valid": ("valid_percent()", "percent", "share of the image that is valid"),
    "nodata": ("100 - valid_percent()", "percent", "share of the image that is not valid"),
}
"""What each fact about the image is: expression, unit, words."""


def image_fact(name: str) -> tuple[str, str, str]:
    """Expression, unit and words of a fact about the image.

    Raises:
        Unsettled: there is no such fact.
    """
    if name not in IMAGE_FACTS:
        raise Unsettled("What it asks about the image has no such unit. Next: ask for no unit.")
    return IMAGE_FACTS[name]


def _of_objects(thing: m.Thing) -> bool:
    """Whether a claim is about objects that fulfil all of its steps, each as a whole."""
    return thing.objects and any(isinstance(step, _CLAIMED_OF_OBJECTS) for step in thing.steps)


def plain(value: Decimal) -> str:
    """A number as Python would write it, without zeros that say nothing."""
    if value == value.to_integral_value():
        return str(int(value))
    return repr(float(value))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _name(thing: m.Thing) -> str:
    words = [name for word in thing.classes for name in word.names] or ["land"]
    return re.sub(r"\W+", "_", " ".join(words[:2]).lower()).strip("_") or "thing"


def _plural(name: str) -> str:
    return f"{name}_regions"


def _measure_name(measure: q.Measure) -> str:
    thing = getattr(measure, "thing", None) or getattr(measure, "part", None)
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(measure).__name__).lower()
    return f"{_name(thing)}_{kind}" if isinstance(thing, m.Thing) else kind


def _last(steps: Sequence[m.Step], kinds: tuple[type, ...]) -> int | None:
    return next((i for i in range(len(steps) - 1, -1, -1) if isinstance(steps[i], kinds)), None)


def _flipped(step: m.Step) -> m.Step | None:
    """The opposite of a step where a step can say it."""
    if isinstance(step, m.Not):
        return step.step
    if not isinstance(step, m.Near | m.Size) or (step.low is not None and step.high is not None):
        return None
    low = None if step.high is None else m.Bound(step.high.limit, not step.high.inclusive)
    high = None if step.low is None else m.Bound(step.low.limit, not step.low.inclusive)
    return replace(step, low=low, high=high)


_ARGUMENTS = {
    ("lower", True): "min",
    ("lower", False): "larger_than",
    ("upper", True): "max",
    ("upper", False): "smaller_than",
}


def _stricter(side: str, one: tuple[str, str], other: tuple[str, str]) -> tuple[str, str]:
    """The stricter of two limits; at the same value the exclusive one."""
    try:
        key = [(float(value), name in ("larger_than", "smaller_than")) for name, value in (one, other)]
    except ValueError:
        raise Unsettled("It limits a size twice, once by what is measured. Next: ask with one limit.") from None
    if side == "upper":
        key = [(-value, exclusive) for value, exclusive in key]
    return one if key[0] >= key[1] else other
