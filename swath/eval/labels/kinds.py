"""The types of question on SQuID's card, each as a measurement with the classes that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swath.eval.labels.query import Measure

CLASS_NAMES = {
    "building": ("building", "buildings", "rooftop", "rooftops", "house", "houses"),
    "urban": ("urban", "urban area", "urban land", "built-up", "built-up area"),
    "road": ("road", "roads", "street", "streets"),
    "water": ("water", "water body", "water bodies"),
    "vegetation": ("vegetation", "greenery", "plants"),
    "forest": ("forest", "forest land", "tree", "trees", "woodland"),
    "agriculture": ("agriculture", "agricultural land", "agriculture land", "cropland", "farmland"),
    "barren": ("land", "barren", "barren land", "bare land", "bare soil", "bare ground"),
}
"""Names that legends give to the classes that some types, and the files of wordings, are about."""

REST = ("background", "other", "others", "unknown", "clutter", "unclassified", "not vegetation")
"""Names that say only what a pixel is not: nobody asks about them."""


@dataclass(frozen=True)
class Kind:
    """A type of question.

    Attributes:
        type: its name on the card.
        tier: its level of difficulty on the card.
        measure: what is measured.
        names: keys of CLASS_NAMES that it may be about, the preferred first; empty for any class.
        others: likewise for the class it is near to or compared with; None where there is none.
        near: whether it is asked within a distance of that class.
        whole: whether a patch near enough counts whole.
    """

    type: str
    tier: str
    measure: Measure
    names: tuple[str, ...] = ()
    others: tuple[str, ...] | None = None
    near: bool = False
    whole: bool = False

    @property
    def in_unit_of_area(self) -> bool:
        """Whether the answer is an area."""
        return self.measure in ("area", "mean_area")


BUILDING, URBAN, WATER = ("building",), ("urban", "building"), ("water",)
PLANTS, CROPS = ("forest", "vegetation"), ("agriculture", "vegetation")

KINDS = (
    Kind("percentage", "1", "share"),
    Kind("count", "1", "count"),
    Kind("size", "1", "largest_share"),
    Kind("total_area", "1", "area"),
    Kind("binary_comparison", "1", "more_area", others=()),
    Kind("binary_presence", "1", "any"),
    Kind("binary_threshold", "1", "covers"),
    Kind("binary_multiple", "1", "several"),
    Kind("proximity_percentage", "2", "share", others=(), near=True),
    Kind("proximity_area", "2", "area", others=(), near=True),
    Kind("binary_proximity", "2", "any", others=(), near=True, whole=True),
    Kind("building_proximity", "2", "count", BUILDING, others=(), near=True, whole=True),
    Kind("building_flood_risk", "2", "count", BUILDING, WATER, near=True, whole=True),
    Kind("building_fire_risk", "2", "count", BUILDING, PLANTS, near=True, whole=True),
    Kind("connectivity", "2", "count"),
    Kind("fragmentation", "2", "pieces"),
    Kind("power_calculation", "2", "power", BUILDING),
    Kind("complex_multi_condition", "3", "area", others=(), near=True),
    Kind("complex_urban_flood_risk", "3", "area", URBAN, WATER, near=True),
    Kind("complex_urban_fire_risk", "3", "area", URBAN, PLANTS, near=True),
    Kind("complex_agriculture_water_access", "3", "area", CROPS, WATER, near=True),
    Kind("complex_vegetation_water_access", "3", "area", PLANTS, WATER, near=True),
    Kind("complex_size_filter", "3", "area", others=(), near=True, whole=True),
    Kind("complex_average", "3", "mean_area", others=(), near=True, whole=True),
)


def class_key(name: str) -> str | None:
    """The key of CLASS_NAMES under which a legend's name stands; None for any other class."""
    return next((key for key, names in CLASS_NAMES.items() if name in names), None)


def askable(names: Sequence[str]) -> tuple[str, ...]:
    """The classes of a legend that somebody would ask about."""
    return tuple(name for name in names if name not in REST)


def fitting(keys: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The classes that a type may be about: all if `keys` is empty, else those of the first key that a legend has."""
    if not keys:
        return tuple(names)
    for key in keys:
        if found := tuple(name for name in names if class_key(name) == key):
            return found
    return ()
