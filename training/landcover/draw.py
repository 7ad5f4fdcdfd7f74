"""Which image a training crop comes from, and where in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.landcover.sources import BIT, Sample

PLACES_PER_IMAGE = 300


@dataclass(frozen=True)
class Place:
    """An image and, where a class was wanted, a pixel of it.

    Attributes:
        sample: the image.
        at_xy: (column, row) near which the crop lies; None for anywhere.
    """

    sample: Sample
    at_xy: tuple[int, int] | None = None


class Deck:
    """Draws images: every group of a source is as likely as another, whatever its size."""

    def __init__(self, samples: list[Sample], by_class: float) -> None:
        """Note where pixels of every class lie in fully labelled images.

        Args:
            samples: all images.
            by_class: share of the crops of fully labelled images that are put on a pixel of a class drawn first: water
                and vegetation are rare, and the mean over classes does not care how rare.
        """
        self._by_class = by_class
        random = np.random.default_rng(0)
        self._groups: dict[str, dict[str, list[Sample]]] = {}
        self._places: dict[str, dict[str, list[Place]]] = {}
        for sample in samples:
            self._groups.setdefault(sample.source, {}).setdefault(sample.group, []).append(sample)
            for name, bit in BIT.items() if sample.source == "dubai" else ():
                found = _some(sample.allowed == bit, random)
                mine = self._places.setdefault(sample.group, {}).setdefault(name, [])
                mine += [Place(sample, (int(col), int(row))) for row, col in found]

    def draw(self, source: str, random: np.random.Generator) -> Place:
        """One image of a source; now and then with a place in it."""
        groups = self._groups[source]
        group = list(groups)[random.integers(len(groups))]
        places = [found for found in self._places.get(group, {}).values() if found]
        if places and random.random() < self._by_class:
            mine = places[random.integers(len(places))]
            return mine[random.integers(len(mine))]
        return Place(groups[group][random.integers(len(groups[group]))])


def _some(mask: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.intp]:
    """(n, 2) rows and columns of at most `PLACES_PER_IMAGE` pixels of a mask."""
    all_of_them = np.argwhere(mask)
    return random.choice(all_of_them, min(PLACES_PER_IMAGE, len(all_of_them)), replace=False)
