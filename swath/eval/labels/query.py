"""What a question asks, apart from its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Measure = Literal[
    "share", "count", "largest_share", "area", "mean_area", "power", "any", "several", "more_area", "covers", "pieces"
]

M2_BY_UNIT = {"ha": 1e4, "m2": 1.0, "km2": 1e6, "acre": 4046.8564224}
"""Square metres of the units that an area is asked in."""

IRRADIANCE_W_PER_M2, EFFICIENCY = 1000.0, 0.2
"""What the conventions assume of solar panels where a question does not say."""


@dataclass(frozen=True)
class Query:
    """A question as a measurement.

    Attributes:
        measure: share (percent of the image), count, largest_share (percent of the image that the largest patch
            covers), area, mean_area (of patches), power (kW of solar panels), any (yes/no), several (yes/no: two or
            more), more_area (yes/no: than `other`), covers (yes/no: more than `percent` of the image), pieces
            (connected or fragmented).
        name: the class that is measured.
        other: the class that it is near to, or compared with.
        min_m2: patches from this area on are kept; above it where `above`.
        max_m2: patches up to this area are kept, inclusive.
        above: whether a patch of exactly `min_m2` is left out.
        distance_m: how near to `other`, inclusive; None where nothing need be near.
        whole: whether a patch with its nearest pixel within the distance counts whole, or only its pixels within it.
        percent: threshold of `covers`.
        efficiency: share of light that panels turn into power.
        unit: unit of an area.
    """

    measure: Measure
    name: str
    other: str | None = None
    min_m2: float | None = None
    max_m2: float | None = None
    above: bool = True
    distance_m: float | None = None
    whole: bool = False
    percent: float | None = None
    efficiency: float = EFFICIENCY
    unit: str = "ha"

    @property
    def sized(self) -> bool:
        """Whether patches are chosen by their size."""
        return self.min_m2 is not None or self.max_m2 is not None

    @property
    def reply_unit(self) -> str | None:
        """Unit of the answer, None for yes, no and names."""
        units = {"share": "percent", "largest_share": "percent", "count": "count", "power": "kW"}
        return self.unit if self.measure in ("area", "mean_area") else units.get(self.measure)
