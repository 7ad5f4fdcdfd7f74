"""How far an answer may lie from a SQuID truth: as shipped, by the card's rules, and where those fail.

Four rules, by name:

- `shipped`: the columns of the files.
- `card`: what the dataset card's code gives, right or wrong: +-1.74 points for percentages, +-2.25 points for any
  question "within N m of" something (both cut to 0..100), counts C -+ max(1, 0.19 C) rounded outward.
- `sane`: what is used where the card's code fails: hectares get a range relative to them instead of percentage points,
  and a truth of zero, for which the card has only string equality, gets what rounds to it.
- `squid-fit`: +-2.25 % of the truth, which reproduces the shipped hectares, where the card has no rule.

Source: the dataset card of SQuID and the rows of its public viewer; `docs/squid.md` lists where they disagree.
"""

from __future__ import annotations

import math

from swath.eval.squid.wording import COUNT, PERCENT, buffer_m

Range = tuple[float, float]

PERCENT_POINTS = 1.74
PROXIMITY_POINTS = 2.25
COUNT_SHARE = 0.19
FIT_SHARE = 0.0225
HALF_DIGIT = 0.005
"""Answers are shipped with two decimals."""

PREFERENCE = ("shipped", "sane", "card", "squid-fit")
"""The first rule that has a usable range for a case gives its headline."""


def count_range(truth: float) -> Range:
    """C -+ max(1, 0.19 C), rounded outward, not below zero: [4, 6] for 5 and [81, 119] for 100.

    The card's own examples say [4, 7] and [81, 120]. The shipped rows follow its code: 4 has [3, 5], not [3, 6].
    """
    margin = max(1.0, COUNT_SHARE * truth)
    return float(max(0, math.floor(truth - margin))), float(math.ceil(truth + margin))


def points_range(truth: float, points: float) -> Range:
    """Truth -+ percentage points, cut to 0..100."""
    return max(0.0, truth - points), min(100.0, truth + points)


def card_range(question: str, unit: str | None, truth: float) -> Range | None:
    """What the card's code gives, which may be inverted; None where it has no rule.

    Args:
        question: as shipped.
        unit: unit of the truth.
        truth: the answer.
    """
    if truth == 0:
        return None
    if unit == COUNT:
        return count_range(truth)
    if buffer_m(question) is not None:
        return points_range(truth, PROXIMITY_POINTS)
    return points_range(truth, PERCENT_POINTS) if unit == PERCENT else None


def derived_ranges(question: str, unit: str | None, truth: float) -> dict[str, Range]:
    """The ranges by rule that follow from a question and its truth, without the shipped columns.

    Args:
        question: as shipped.
        unit: unit of the truth.
        truth: the answer.

    Returns:
        `card` where the card's code has a rule, `sane` where that is wrong or missing for a zero, else `squid-fit`
        where the card has none.
    """
    found: dict[str, Range] = {}
    card = card_range(question, unit, truth)
    if card is not None:
        found["card"] = card
    if truth == 0:
        found["sane"] = (0.0, 0.0 if unit == COUNT else HALF_DIGIT)
    elif card is not None and unit not in (COUNT, PERCENT):
        found["sane"] = _relative(truth)
    elif card is None:
        found["squid-fit"] = _relative(truth)
    return found


def usable(limits: Range) -> bool:
    """Whether a range can hold anything at all."""
    return limits[0] <= limits[1]


def rules_in_order(ranges: dict[str, Range]) -> tuple[str, ...]:
    """The names of the rules of a case, the one that gives its headline first."""
    found = [name for name in PREFERENCE if name in ranges]
    return tuple(sorted(found, key=lambda name: not usable(ranges[name])))


def _relative(truth: float) -> Range:
    margin = FIT_SHARE * abs(truth)
    return truth - margin, truth + margin
