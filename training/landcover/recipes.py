"""How the network is trained: the recipe of the weights that ship, and the one to try next (design/landcover.md)."""

from __future__ import annotations

from dataclasses import dataclass

Halves = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Recipe:
    """What a training is made of.

    Attributes:
        steps: planned; the rate falls to nothing at the last.
        size_px: side of the crops.
        halves: sources of the crops of odd and even batches, by half; each half is worked by one thread. A source that
            is left out gives its place to the others.
        by_class: share of the crops of fully labelled images that are put on a pixel of a class drawn first.
        doubt: how little the loss minds pixels that it cannot explain: 0 is cross-entropy, 1 the mean absolute error.
        border: weight of the loss of borders between roofs.
        every: steps between two looks at the validation groups.
    """

    steps: int
    size_px: int
    halves: Halves
    by_class: float
    doubt: float
    border: float
    every: int


_HALVES: Halves = (
    ("dubai", "dubai", "hot", "naip", "neon"),
    ("dubai", "dubai", "dubai", "hot", "hot"),
    ("dubai", "dubai", "hot", "naip", "neon"),
    ("dubai", "dubai", "hot", "hot", "neon"),
)
RECIPES = {
    "first": Recipe(1000, 224, _HALVES, by_class=0.5, doubt=0.0, border=0.5, every=100),
    "second": Recipe(3000, 256, _HALVES, by_class=0.25, doubt=0.3, border=1.0, every=200),
}
