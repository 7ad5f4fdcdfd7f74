"""Writes the program of a question: one line per step, every name said once, one reply at the end."""

from __future__ import annotations

from dataclasses import dataclass

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.extents import ExtentWriter
from swath.agent.offline.image_facts import image_fact
from swath.agent.offline.variables import measure_name, plain, quoted

_CLAIMED_OF_OBJECTS = (m.Near, m.Not, m.EitherOf)


@dataclass
class Writer(ExtentWriter):
    """Lines of a program.

    Attributes:
        by_pixels: areas that are only compared with one another are counted in pixels, since no ground size is known.
    """

    by_pixels: bool = False

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
            return f"area_statistic_{unit}({self.regions(measure.thing)}, statistic={quoted(measure.statistic)})"
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
            statistic = quoted(measure.statistic)
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
        return self.let(measure_name(measure), self.value(measure))

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
            statistic = quoted(distance.statistic)
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


def _of_objects(thing: m.Thing) -> bool:
    """Whether a claim is about objects that fulfil all of its steps, each as a whole."""
    return thing.objects and any(isinstance(step, _CLAIMED_OF_OBJECTS) for step in thing.steps)
