"""Checks a reply against its own evidence before anybody sees it; a contradiction is a failure, never an answer."""

from __future__ import annotations

import math
from typing import Any

from swath.agent.execution import Outcome, Reply
from swath.agent.mask_answer import MOST_CLASSES, masks_of
from swath.agent.units import DIMENSIONS
from swath.errors import VerificationFailed
from swath.tools import kernels
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site

AREA_SLACK = 1.001
"""An area may exceed the image's by rounding, and a grown outline by the border; not by more."""

_AREA_M2 = {
    "m2": 1.0, "ha": 1e4, "km2": 1e6, "acre": 4046.8564224, "sqft": 0.09290304, "sqyd": 0.83612736,
    "sqmi": 2589988.110336, "cm2": 1e-4, "sqin": 6.4516e-4,
}  # fmt: skip


def verify(outcome: Outcome) -> None:
    """Hold a reply against its kind, its unit and its evidence.

    Raises:
        VerificationFailed: they contradict each other; the sentence says which two.
    """
    reply = outcome.reply
    checks = {
        "count": _count,
        "quantity": _quantity,
        "percent": _percent,
        "boolean": _boolean,
        "category": _named,
        "text": _named,
        "ranking": _listed,
        "boxes": _boxes,
        "point": _points,
        "mask": _masked,
    }
    checks[reply.kind](reply, outcome.site)


def _fail(reply: Reply, why: str) -> None:
    raise VerificationFailed(f"Line {reply.line}: the reply of kind {reply.kind} does not hold: {why}.")


def _number(reply: Reply) -> float:
    value = reply.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _fail(reply, f"its value must be a finite number, not {_short(value)}")
    return float(value)


def _count(reply: Reply, site: Site) -> None:
    value = _number(reply)
    if value < 0 or value != int(value):
        _fail(reply, f"a count is a whole number that is not negative, not {value:g}")
    if reply.unit not in (None, "count"):
        _fail(reply, f"a count has the unit count, not {reply.unit}")
    if isinstance(reply.objects, Regions) and len(reply.objects) != value:
        _fail(reply, f"it says {value:g} but its objects are {len(reply.objects)} {reply.objects.name}")


def _percent(reply: Reply, site: Site) -> None:
    value = _number(reply)
    if reply.unit not in (None, "percent"):
        _fail(reply, f"a percentage has the unit percent, not {reply.unit}")
    if not 0 <= value <= 100:
        _fail(reply, f"a share lies between 0 and 100 percent, not at {value:g}; a comparison is a ratio")


def _quantity(reply: Reply, site: Site) -> None:
    value = _number(reply)
    if reply.unit not in DIMENSIONS:
        _fail(reply, f"its unit must be one of {', '.join(DIMENSIONS)}, not {_short(reply.unit)}")
    dimension = DIMENSIONS[str(reply.unit)]
    if dimension == "share":
        _percent(reply, site)
    elif dimension == "area":
        image_m2 = kernels.mask_area_m2(site.valid, site.raster.grid.require_ground())
        if abs(value) * _AREA_M2[str(reply.unit)] > image_m2 * AREA_SLACK and not _overlapping(reply.objects):
            _fail(reply, f"{value:g} {reply.unit} is more than the whole image, {image_m2:g} m2")
    elif dimension == "length" and isinstance(reply.objects, Mask) and value < 0 and site.heights is None:
        _fail(reply, f"a length is not negative, {value:g}")


def _overlapping(objects: Mask | Regions | None) -> bool:
    """Outlines may overlap, so that their summed area may exceed the image."""
    return isinstance(objects, Regions) and any(hasattr(source, "features") for source in objects.sources)


def _boolean(reply: Reply, site: Site) -> None:
    if not isinstance(reply.value, bool):
        _fail(reply, f"its value must be True or False, not {_short(reply.value)}")


def _named(reply: Reply, site: Site) -> None:
    if not isinstance(reply.value, str) or not reply.value.strip():
        _fail(reply, f"its value must be a text, not {_short(reply.value)}")


def _listed(reply: Reply, site: Site) -> None:
    if not isinstance(reply.value, list):
        _fail(reply, f"its value must be a list, not {_short(reply.value)}")


def _boxes(reply: Reply, site: Site) -> None:
    _placed(reply, site, (4, 8), "boxes of four or eight")
    one_around_all = len(reply.value) == 1
    if isinstance(reply.objects, Regions) and len(reply.objects) != len(reply.value) and not one_around_all:
        _fail(reply, f"it holds {len(reply.value)} boxes but its objects are {len(reply.objects)} {reply.objects.name}")


def _points(reply: Reply, site: Site) -> None:
    _placed(reply, site, (2,), "points of two")


def _placed(reply: Reply, site: Site, lengths: tuple[int, ...], what: str) -> None:
    """Check that the value is a list of lists of numbers, such as the tools for boxes and points give."""
    _listed(reply, site)
    if reply.unit not in (None, "px"):
        _fail(reply, f"boxes and points have the unit px, not {reply.unit}")
    for row in reply.value:
        numbers = row if isinstance(row, list) else []
        if len(numbers) not in lengths or not all(isinstance(own, int | float) for own in numbers):
            _fail(reply, f"its value must be a list of {what} pixel coordinates, which {_short(row)} is not")


def _masked(reply: Reply, site: Site) -> None:
    found = masks_of(reply)
    if not 1 <= len(found) <= MOST_CLASSES:
        _fail(reply, f"it must come with a mask, or with up to {MOST_CLASSES}, as value or as objects")


def _short(value: Any) -> str:
    return f"{type(value).__name__} {str(value)[:40]!r}"
