"""A smaller relative of METEOR that says so in its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
"""Weights of the published measure (Banerjee and Lavie 2005)."""


def meteor_stem(said: Sequence[str], references: Sequence[Sequence[str]]) -> float | None:
    """METEOR of 2005 with the stages exact and stem, without synonyms: the best over the references.

    Words are matched from left to right, each with the reference word that continues the current chunk if there is such
    a one, else with the first that is free. It is not METEOR 1.5, and lower than it where synonyms are used.

    Returns:
        0 to 1; None where the package snowballstemmer is not installed.
    """
    stem = _stem()
    return None if stem is None else max(_one(said, reference, stem) for reference in references)


def _one(said: Sequence[str], reference: Sequence[str], stem: Callable[[str], str]) -> float:
    matches = _matches(said, reference)
    matches |= _matches([stem(word) for word in said], [stem(word) for word in reference], matches)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(said), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    chunks = sum(matches.get(at - 1) != place - 1 for at, place in matches.items())
    return float(mean * (1 - GAMMA * (chunks / len(matches)) ** BETA))


def _matches(said: Sequence[str], reference: Sequence[str], known: dict[int, int] | None = None) -> dict[int, int]:
    """Indices of equal words, beside those that are matched already."""
    found = dict(known or {})
    for at, word in enumerate(said):
        taken = set(found.values())
        free = [place for place, other in enumerate(reference) if other == word and place not in taken]
        if at not in found and free:
            following = found.get(at - 1, -2) + 1
            found[at] = following if following in free else free[0]
    return found


@lru_cache(maxsize=1)
def _stem() -> Callable[[str], str] | None:
    if find_spec("snowballstemmer") is None:
        return None
    import snowballstemmer

    # three quarters of the time of a whole set without the cache
    return lru_cache(maxsize=65536)(snowballstemmer.stemmer("english").stemWord)
