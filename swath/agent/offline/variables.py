"""Names for what a program computes: one line for each expression, the same name each time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from keyword import iskeyword

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q

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


@dataclass
class Lines:
    """The lines of a program, each of which gives a name to an expression.

    Attributes:
        lines: the program so far.
    """

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


def plain(value: Decimal) -> str:
    """A number as Python would write it, without zeros that say nothing."""
    if value == value.to_integral_value():
        return str(int(value))
    return repr(float(value))


def quoted(text: str) -> str:
    """A text as a literal of Python."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def thing_name(thing: m.Thing) -> str:
    """A name for a thing: its first classes."""
    words = [name for word in thing.classes for name in word.names] or ["land"]
    return re.sub(r"\W+", "_", " ".join(words[:2]).lower()).strip("_") or "thing"


def plural(name: str) -> str:
    """A name for the regions of what has a name."""
    return f"{name}_regions"


def measure_name(measure: q.Measure) -> str:
    """A name for a measure: what of which thing."""
    thing = getattr(measure, "thing", None) or getattr(measure, "part", None)
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(measure).__name__).lower()
    return f"{thing_name(thing)}_{kind}" if isinstance(thing, m.Thing) else kind
