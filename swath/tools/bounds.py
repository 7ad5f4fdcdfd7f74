"""Bounds on what is chosen: the pairs `larger_than` and `smaller_than`, exclusive, `min` and `max`, inclusive."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.tools.discs import SLACK

MORE_LESS = ("more", "less")
"""How heights, elevations and slopes are compared in words."""


def between(
    values: NDArray[np.floating[Any]],
    larger_than: float | None,
    minimum: float | None,
    smaller_than: float | None,
    maximum: float | None,
) -> NDArray[np.bool_]:
    """Where values of any shape keep to bounds: the larger/smaller pair is exclusive, the min/max pair inclusive.

    Inclusive bounds have a relative slack of 1e-9, exclusive ones lose it, so that an area that equals the bound in
    exact arithmetic is treated so in floating point.
    """
    keep = np.ones(values.shape, dtype=bool)
    if larger_than is not None:
        keep &= values > larger_than + SLACK * abs(larger_than)
    if minimum is not None:
        keep &= values >= minimum - SLACK * abs(minimum)
    if smaller_than is not None:
        keep &= values < smaller_than - SLACK * abs(smaller_than)
    if maximum is not None:
        keep &= values <= maximum + SLACK * abs(maximum)
    return keep


def bound_words(
    larger_than: float | None,
    minimum: float | None,
    smaller_than: float | None,
    maximum: float | None,
    *,
    unit: str,
    beyond: tuple[str, str] = ("larger", "smaller"),
) -> str:
    """Bounds as a person would say them: "larger than 100 m2 and at most 500 m2"; `beyond` are the words for sides."""
    pairs = (
        (f"{beyond[0]} than", larger_than),
        ("at least", minimum),
        (f"{beyond[1]} than", smaller_than),
        ("at most", maximum),
    )
    return " and ".join(f"{word} {bound:g} {unit}" for word, bound in pairs if bound is not None)
