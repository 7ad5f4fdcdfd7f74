"""What a SQuID question says about itself: its type's tier and unit, its ground pixel size, the width of its buffer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

COUNT, PERCENT, HECTARES, KILOWATTS = "count", "percent", "ha", "kW"


@dataclass(frozen=True)
class QuestionType:
    """One of the benchmark's types.

    Attributes:
        tier: its level of difficulty, "1" to "3".
        unit: unit of its answers where the question states none; None for answers without one.
        on_card: whether the dataset card lists it.
    """

    tier: str
    unit: str | None
    on_card: bool = True


TYPES: Mapping[str, QuestionType] = {
    "percentage": QuestionType("1", PERCENT),
    "count": QuestionType("1", COUNT),
    "size": QuestionType("1", PERCENT),
    "total_area": QuestionType("1", HECTARES),
    "binary_comparison": QuestionType("1", None),
    "binary_presence": QuestionType("1", None),
    "binary_threshold": QuestionType("1", None),
    "binary_multiple": QuestionType("1", None),
    "proximity_percentage": QuestionType("2", PERCENT),
    "proximity_area": QuestionType("2", HECTARES),
    "binary_proximity": QuestionType("2", None),
    "building_proximity": QuestionType("2", COUNT),
    "building_flood_risk": QuestionType("2", COUNT),
    "building_fire_risk": QuestionType("2", COUNT),
    "connectivity": QuestionType("2", COUNT),
    "fragmentation": QuestionType("2", None),
    "power_calculation": QuestionType("2", KILOWATTS),
    "complex_multi_condition": QuestionType("3", HECTARES),
    "complex_urban_flood_risk": QuestionType("3", HECTARES),
    "complex_urban_fire_risk": QuestionType("3", HECTARES),
    "complex_agriculture_water_access": QuestionType("3", HECTARES),
    "complex_size_filter": QuestionType("3", HECTARES),
    "complex_average": QuestionType("3", HECTARES),
    "complex_vegetation_water_access": QuestionType("3", HECTARES, on_card=False),
}
"""The card announces 24 types and lists 23; the one that it leaves out is in the files."""

_NUMBER = r"(\d+(?:\.\d+)?)"
_GSD = re.compile(rf"\(\s*GSD\s*[:=]\s*{_NUMBER}\s*m\b[^)]*\)", re.IGNORECASE)
_WITHIN = re.compile(rf"within\s+{_NUMBER}\s*m\s+of\b", re.IGNORECASE)
# The first that fits names the unit: a share of regions "larger than 1 hectare" is still a share.
_UNITS = (
    (PERCENT, re.compile(r"\bpercent(age)?\b|\bin\s*\(?\s*%", re.IGNORECASE)),
    ("MW", re.compile(r"\(?\bin\s+(MW|megawatts?)\b", re.IGNORECASE)),
    (KILOWATTS, re.compile(r"\bin\s+(kW|kilowatts?)\b", re.IGNORECASE)),
    ("W", re.compile(r"\bin\s+(W|watts?)\b", re.IGNORECASE)),
    (HECTARES, re.compile(r"\bin\s+(ha|hectares?)\b", re.IGNORECASE)),
    ("m2", re.compile(r"\bin\s+(m2|m²|sq(uare)?\s*m(et(er|re)s?)?)(?!\w)", re.IGNORECASE)),
    ("km2", re.compile(r"\bin\s+(km2|km²|square\s+kilomet(er|re)s?)(?!\w)", re.IGNORECASE)),
    (COUNT, re.compile(r"\bhow\s+many\b", re.IGNORECASE)),
)


def unit_of(question: str, type_name: str) -> str | None:
    """The unit of a numeric answer: as the question states it, else that of its type, else None.

    Args:
        question: as shipped.
        type_name: the row's type, known or not.
    """
    for unit, pattern in _UNITS:
        if pattern.search(question):
            return unit
    return TYPES[type_name].unit if type_name in TYPES else None


def stated_gsd_m(question: str) -> float | None:
    """The ground pixel size in metres of the phrase "(GSD: 0.5m)", None where there is none."""
    found = _GSD.search(question)
    return None if found is None else float(found.group(1))


def buffer_m(question: str) -> float | None:
    """The distance in metres of the words "within 200m of", None where there are none."""
    found = _WITHIN.search(question)
    return None if found is None else float(found.group(1))
