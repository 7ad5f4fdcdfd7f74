"""Acceptable ranges for measured truths: SQuID's rules, chosen by what is measured, not by words."""

from __future__ import annotations

from typing import Literal

from swath.eval.squid.ranges import FIT_SHARE, PERCENT_POINTS, PROXIMITY_POINTS, Range, count_range, points_range

Measure = Literal["percent", "proximity_percent", "count", "amount"]

POINTS = {"percent": PERCENT_POINTS, "proximity_percent": PROXIMITY_POINTS}


def acceptable_range(measure: Measure, truth: float) -> tuple[str, Range] | None:
    """The name of the rule and the range (low, high), both inclusive; None for a truth of zero, which has none.

    Args:
        measure: what was measured; the card has no rule for amounts (areas, powers), whose shipped ranges are 2.25 %.
        truth: the true number.
    """
    if truth == 0:
        return None
    if measure == "count":
        return "card", count_range(truth)
    if measure == "amount":
        return "squid-fit", (truth * (1 - FIT_SHARE), truth * (1 + FIT_SHARE))
    return "card", points_range(truth, POINTS[measure])
