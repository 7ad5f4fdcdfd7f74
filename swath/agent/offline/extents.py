"""Writes the lines that find things: their pixels and their regions, narrowed down step by step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.unsettled import Unsettled
from swath.agent.offline.variables import Lines, plain, plural, quoted, thing_name

_REGION_STEPS = (m.Pick, m.Touching, m.Overlapping, m.Whole)
_PIXEL_STEPS = (m.Near, m.InPart, m.Inside, m.Not, m.EitherOf)


@dataclass
class ExtentWriter(Lines, ABC):
    """Lines of a program that find things: their pixels and their regions."""

    @abstractmethod
    def value(self, measure: q.Measure) -> str:
        """A measure as an expression, in SI units; limits may be measured themselves."""

    # ------------------------------------------------------------------ things
    def mask(self, thing: m.Thing) -> str:
        """The pixels of a thing."""
        last = _last(thing.steps, _REGION_STEPS)
        if last is not None:
            regions = self.regions(replace(thing, steps=thing.steps[: last + 1]))
            mask = self.let(f"{thing_name(thing)}_pixels", f"mask_of({regions})")
            return self._narrowed_mask(mask, thing, thing.steps[last + 1 :])
        sizes = [step for step in thing.steps if isinstance(step, m.Size)]
        others = tuple(step for step in thing.steps if not isinstance(step, m.Size))
        if not sizes:
            return self._narrowed_mask(self._base(thing), thing, others)
        regions = self.regions(replace(thing, steps=tuple(sizes)))
        mask = self.let(f"{thing_name(thing)}_pixels", f"mask_of({regions})") if others else regions
        return self._narrowed_mask(mask, thing, others)

    def _base(self, thing: m.Thing) -> str:
        if thing.everything:
            return self.let("everything", "whole_image()")
        masks = [self._class(name) for word in thing.classes for name in word.names]
        joined = masks[0]
        for mask in masks[1:]:
            joined = self.let(thing_name(thing), f"union({joined}, {mask})")
        if thing.inverted:
            joined = self.let(f"not_{thing_name(thing)}", f"complement({joined})")
        for word in thing.without:
            for name in word.names:
                joined = self.let(f"{thing_name(thing)}_only", f"difference({joined}, {self._class(name)})")
        if thing.also:
            both = f"intersection({joined}, {self._base(m.Thing(thing.also))})"
            joined = self.let(f"{thing_name(thing)}_and_{thing_name(m.Thing(thing.also))}", both)
        return joined

    def _class(self, name: str) -> str:
        return self.let(name, f"segment({quoted(name)})")

    def _narrowed_mask(self, mask: str, thing: m.Thing, steps: Sequence[m.Step]) -> str:
        for step in steps:
            mask = self._mask_step(mask, thing, step)
        return mask

    def _mask_step(self, mask: str, thing: m.Thing, step: m.Step) -> str:
        name = thing_name(thing)
        if isinstance(step, m.Near):
            target = self.extent(step.target)
            for call, argument, value in self._distances(step):
                tool = "within" if call == "near" else "beyond"
                label = f"{name}_{'near' if call == 'near' else 'far_from'}_{thing_name(step.target)}"
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
        return self.let(f"{part}_part", f"image_part(part={quoted(part)})")

    def regions(self, thing: m.Thing) -> str:
        """The regions of a thing."""
        count = next((i for i, step in enumerate(thing.steps) if not isinstance(step, m.Size)), len(thing.steps))
        sizes = self._sizes([step for step in thing.steps[:count] if isinstance(step, m.Size)])
        name = plural(thing_name(thing))
        singles = [replace(thing, classes=(word,), steps=()) for word in thing.classes]
        if thing.inverted or thing.everything or len(singles) == 1:
            singles = [replace(thing, steps=())]
        found = [
            self.let(
                plural(thing_name(single)) if len(singles) > 1 else name, f"components({self._base(single)}{sizes})"
            )
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
        name = thing_name(thing)
        if isinstance(step, m.Size):
            return self.let(f"sized_{name}", f"filter_regions({regions}{self._sizes([step])})")
        if isinstance(step, m.Pick):
            return self._picked(regions, thing, step)
        if isinstance(step, m.Near):
            target = self.extent(step.target)
            for call, argument, value in self._distances(step):
                label = f"{call if call == 'near' else 'far'}_{plural(name)}"
                regions = self.let(label, f"{call}({regions}, {target}, {argument}={value})")
            return regions
        if isinstance(step, m.Touching):
            return self.let(f"touching_{plural(name)}", f"touching({regions}, {self.extent(step.target)})")
        if isinstance(step, m.Overlapping):
            return self._overlapping(regions, thing, step)
        if isinstance(step, m.InPart):
            return self.let(f"{step.part}_{plural(name)}", f"located_in({regions}, {self.part(step.part)})")
        if isinstance(step, m.Inside):
            return self.let(f"{plural(name)}_inside", f"located_in({regions}, {self.mask(step.target)})")
        if isinstance(step, m.Not | m.EitherOf):
            return self._combined(regions, thing, step)
        raise TypeError(f"no program for {type(step).__name__}")

    def _overlapping(self, regions: str, thing: m.Thing, step: m.Overlapping) -> str:
        found = self.let(f"overlapping_{thing_name(thing)}", f"overlapping({regions}, {self.extent(step.target)})")
        return self.let(f"{thing_name(thing)}_alone", f"exclude({regions}, {found})") if step.absent else found

    def _combined(self, regions: str, thing: m.Thing, step: m.Not | m.EitherOf) -> str:
        name = plural(thing_name(thing))
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
        name = thing_name(thing)
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
