"""What stands behind the colon of a metric's name."""

from __future__ import annotations

from collections.abc import Sequence

from swath.errors import InputError

OFFICIAL = "official-"


def one_of(metric: str, rule: str, rules: Sequence[str]) -> str:
    """A rule that a metric has.

    Raises:
        InputError: it has none of this name.
    """
    if rule not in rules:
        raise InputError(f'The metric {metric} has no rule "{rule}". Next: choose one of {", ".join(rules)}.')
    return rule


def threshold(metric: str, rule: str) -> tuple[float, bool]:
    """The least IoU that is right, and whether it is computed as the benchmark's own code does ("official-0.5").

    Raises:
        InputError: it is no number above 0 and at most 1.
    """
    official = rule.startswith(OFFICIAL)
    try:
        tau = float(rule.removeprefix(OFFICIAL))
    except ValueError:
        tau = 0.0
    if not 0 < tau <= 1:
        raise InputError(f'The metric {metric} has no rule "{rule}". Next: give an IoU such as 0.5 or official-0.5.')
    return tau, official
