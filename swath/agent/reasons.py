"""Why a call dropped each object: what was measured of it, and the bound that this did not keep to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.tools.bounds import between
from swath.tools.cells import statistic_of_objects
from swath.tools.handles import LabelImage, Mask, Regions
from swath.tools.patches import Patches
from swath.tools.site import Site

Source = LabelImage | Patches
FloatArray = NDArray[np.float64]

BOUNDS = ("larger_than", "min", "smaller_than", "max")
"""Starts of the arguments that are bounds, in the order of `between`."""

NO_BOUNDS = [None] * len(BOUNDS)
SIZES = ("larger than", "at least", "smaller than", "at most")
LENGTHS = ("more than", "at least", "less than", "at most")


@dataclass(frozen=True)
class Measure:
    """What a call measured of each object, and the bounds it set.

    Attributes:
        words: of the value, with its place: "area {}".
        unit: of the value and of the bounds.
        values: (n,) what was measured; NaN or infinite where there is no such value.
        bounds: larger than, minimum, smaller than, maximum; None for none.
        of_bounds: the four in words.
        absent: said where there is no value.
    """

    words: str
    unit: str
    values: FloatArray
    bounds: Sequence[float | None]
    of_bounds: Sequence[str] = LENGTHS
    absent: str = "nothing is known of it"

    def failed(self) -> list[str | None]:
        """For each object the first bound that it does not keep to, in words."""
        found: list[str | None] = [None] * len(self.values)
        for place, bound in enumerate(self.bounds):
            if bound is None:
                continue
            alone: list[float | None] = [None] * len(self.bounds)
            alone[place] = bound
            for i in np.flatnonzero(~between(self.values, *alone)).tolist():
                found[i] = found[i] or self._said(float(self.values[i]), f"{self.of_bounds[place]} {number(bound)}")
        return found

    def _said(self, value: float, bound: str) -> str:
        if not np.isfinite(value):
            return self.absent
        return f"{self.words.format(f'{number(value)} {self.unit}')} is not {bound} {self.unit}"


def measured_reasons(
    tool: str,
    arguments: Mapping[str, Any],
    inputs: Sequence[Mask | Regions],
    source: Source,
    indices: NDArray[np.int64],
    site: Site,
) -> list[str] | None:
    """A reason for each object, None where the call did not choose by what is measured of one object alone.

    Args:
        tool: what was called.
        arguments: with what; handles by number.
        inputs: the handles that went in.
        source: where the objects come from.
        indices: (n,) which of them were dropped.
        site: what was measured.
    """
    reasons: list[str | None] = [None] * len(indices)
    try:
        for measure in _measures(tool, arguments, inputs, source, indices, site):
            reasons = [known or new for known, new in zip(reasons, measure.failed(), strict=True)]
    except Refused:
        return None
    return [str(reason) for reason in reasons] if all(reasons) else None


def _measures(
    tool: str,
    arguments: Mapping[str, Any],
    inputs: Sequence[Mask | Regions],
    source: Source,
    indices: NDArray[np.int64],
    site: Site,
) -> Iterator[Measure]:
    """What a call chose by; nothing where it set no bounds."""
    bounds = partial(_bounds, arguments)
    if tool in ("components", "filter_regions"):
        for unit, column in (("m2", "areas_m2"), ("px", "sizes_px")):
            limits = bounds(f"_{unit}")
            if limits != NO_BOUNDS:  # areas in m2 need a ground size
                yield Measure("area {}", unit, np.asarray(getattr(source, column), float)[indices], limits, SIZES)
    elif tool in ("near", "farther") and len(inputs) > 1:
        target = inputs[1]
        away = site.distances(site.mask_of(target)).lowest(source.runs.of(indices))
        said = [one if other is None else other for one, other in zip(bounds("_m"), bounds("_distance_m"), strict=True)]
        yield Measure(f"distance {{}} to {_plain(target.name)}", "m", away, said, absent=f"there is no {target.name}")
    elif tool == "with_height" and site.heights is not None:
        how = {name: arguments[name] for name in ("statistic", "percent") if name in arguments}
        heights = statistic_of_objects(site.heights.above_ground.heights, source.runs.of(indices), **how)
        yield Measure("height {}", "m", heights, bounds("_m"), absent="its height is not known")


def _bounds(arguments: Mapping[str, Any], suffix: str) -> list[float | None]:
    given = [arguments.get(f"{start}{suffix}") for start in BOUNDS]
    return [float(value) if isinstance(value, int | float) else None for value in given]


def _plain(name: str) -> str:
    """A name that `format` leaves as it is."""
    return name.replace("{", "{{").replace("}", "}}")


def number(value: float) -> str:
    """Six significant digits, all digits before the point: an area must not look like the bound that it missed."""
    return f"{value:,.0f}" if abs(value) >= 1e6 or value == round(value) else f"{value:,.6g}"
