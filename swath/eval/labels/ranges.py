"""Acceptable ranges by the rules of SQuID's card, and by the rule that its shipped areas fit."""

from __future__ import annotations

import math
from typing import Literal

Measure = Literal["percent", "proximity_percent", "count", "amount"]

POINTS = {"percent": 1.74, "proximity_percent": 2.25}
COUNT_SHARE = 0.19
FIT_SHARE = 0.0225


def acceptable_range(measure: Measure, truth: float) -> tuple[str, tuple[float, float]] | None:
    """The name of the rule and the range (low, high), both inclusive; None for a truth of zero, which has none.

    Args:
        measure: points for shares, a share of the count outward to whole numbers for counts; the card has no rule for
            amounts (areas, powers), whose shipped ranges are 2.25 % of the truth.
        truth: the true number.
    """
    if truth == 0:
        return None
    if measure == "count":
        margin = max(1.0, COUNT_SHARE * truth)
        return "card", (max(0, math.floor(truth - margin)), math.ceil(truth + margin))
    if measure == "amount":
        return "squid-fit", (truth * (1 - FIT_SHARE), truth * (1 + FIT_SHARE))
    margin = POINTS[measure]
    return "card", (max(0.0, truth - margin), min(100.0, truth + margin))
