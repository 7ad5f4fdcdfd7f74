"""Maps of classes as metrics read them: pixels, and what their values are called; two maps are matched by names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError
from swath.raster.reader import open_raster
from swath.segment import vocabulary


@dataclass(frozen=True)
class ClassMap:
    """A map of values.

    Attributes:
        pixels: (y, x), 0 where there is no class or no data.
        names: value to name; empty where nothing names them.
    """

    pixels: NDArray[Any]
    names: Mapping[int, str] = field(default_factory=dict)

    @property
    def values(self) -> list[int]:
        """The values that occur, 0 left out."""
        return [int(value) for value in np.unique(self.pixels) if value]

    def called(self, value: int) -> str:
        """A value's name; the value where it has none."""
        return self.names.get(value, str(value))

    def of(self, values: list[int]) -> NDArray[np.bool_]:
        """The pixels of some values."""
        return np.isin(self.pixels, values)


def read_map(mask: Any, names: Mapping[int, str] | None = None) -> ClassMap:
    """A map from the path of a raster, whose category names are read, or from an array (y, x).

    Args:
        mask: the path or the array.
        names: of the values, where they are known from elsewhere.

    Raises:
        InputError: it is neither a raster nor an array of two axes.
    """
    if isinstance(mask, str | Path):
        raster = open_raster(mask)
        own = {value: name for value, name in raster.categories().items() if value and name.strip()}
        return ClassMap(raster.read(1).data[0].filled(0), names or own)
    array: NDArray[Any] = np.asarray(mask)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"{type(mask).__name__} is neither the path of a mask nor an array (y, x).")
    return ClassMap(np.nan_to_num(array), names or {})


def matched(truth: ClassMap, given: ClassMap) -> dict[str, tuple[list[int], list[int]]]:
    """Values of the truth and of the answer by class: by name where both name them, by value where neither does.

    An answer without names keeps the values that the truth gives its names to.

    Raises:
        InputError: the answer names its classes and the truth does not, so that equal values say nothing.
    """
    if given.names and not truth.names:
        theirs, ours = (", ".join(map(str, one)) for one in (given.names.values(), truth.values))
        raise InputError(f"its classes ({ours}) have no names, those of the answer do ({theirs}); name them")
    pairs = {truth.called(value): ([value], list[int]()) for value in truth.values}
    for value in given.values:
        name = given.called(value)
        fitting = _fitting(name, given, list(pairs)) if given.names else truth.called(value)
        pairs.setdefault(fitting or name, ([], []))[1].append(value)
    return dict(sorted(pairs.items()))


def _fitting(name: str, given: ClassMap, names: list[str]) -> str | None:
    """The truth's class that an answer's class is: one name, or one word, of it; "building over 5 m" is building."""
    same = [other for other in names if _same(name, other)]
    if same:
        return same[0]
    longer = [other for other in names if _narrows(name, other)]
    alone = [other for other in longer if sum(_narrows(own, other) for own in given.names.values()) == 1]
    return max(alone, key=len, default=None)


def _same(a: str, b: str) -> bool:
    if set(vocabulary.spellings(a)) & set(vocabulary.spellings(b)):
        return True
    concept = vocabulary.concept_of(a)
    return concept is not None and concept == vocabulary.concept_of(b)


def _narrows(name: str, wider: str) -> bool:
    """Whether a name is a wider one with a condition behind it."""
    return vocabulary.fold(name).startswith(f"{vocabulary.fold(wider)} ")
