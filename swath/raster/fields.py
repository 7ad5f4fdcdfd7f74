"""Numbers by pixel of images that are too large for one array: windows of them, computed when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.held import Tiles, refuse_whole
from swath.raster.tiled import BoolImage, PixelSet, TiledPixels, tiled

Numbers: TypeAlias = "NDArray[np.floating[Any]]"
Window = Callable[[slice, slice], Numbers]

MOST_CELLS = 2**24
"""Numbers that are looked at together, of an image that is held in tiles: sorting them takes half a gigabyte."""


@dataclass(frozen=True, eq=False)
class TiledField:
    """A number for each pixel, NaN where it is unknown; stands where a (rows, columns) array of them would.

    Attributes:
        shape: (rows, columns) of the image.
        tiles: how sets of its pixels are held.
        window: from rows and columns to the numbers there.
        dtype: their type.
    """

    shape: tuple[int, int]
    tiles: Tiles
    window: Window
    dtype: Any = np.float32

    def where(self, holds: Callable[[Numbers], BoolImage]) -> TiledPixels:
        """The pixels whose numbers something holds for."""
        window = self.window
        return tiled(self.shape, self.tiles, lambda rows, cols: holds(window(rows, cols)))

    def __ge__(self, least: float) -> TiledPixels:
        return self.where(lambda values: values >= least)

    def __getitem__(self, key: Any) -> Any:
        """A window, rows of all columns, one pixel, or pixels given by their rows and columns."""
        parts = key if isinstance(key, tuple) else (key, slice(None))
        if all(isinstance(part, slice) for part in parts):
            return self.window(*(slice(*part.indices(size)[:2]) for part, size in zip(parts, self.shape, strict=True)))
        rows, cols = (np.asarray(part) for part in parts)
        found = [
            self.window(slice(row, row + 1), slice(col, col + 1))[0, 0]
            for row, col in zip(rows.ravel().tolist(), cols.ravel().tolist(), strict=True)
        ]
        return np.array(found).reshape(rows.shape)[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        refuse_whole(self.shape)


Field: TypeAlias = "Numbers | TiledField"
"""A number for each pixel, as an array or window by window."""


def pixels_where(field: Field, holds: Callable[[Numbers], BoolImage]) -> PixelSet:
    """The pixels whose numbers something holds for."""
    return field.where(holds) if isinstance(field, TiledField) else holds(field)


def numbers_of(field: Field, pixels: PixelSet, name: str) -> Numbers:
    """(k,) the numbers of the pixels of a set.

    Args:
        field: a number for each pixel.
        pixels: which.
        name: what they are, for people.

    Raises:
        Refused: they are too many, of an image that is held in tiles.
    """
    if not isinstance(field, TiledField):
        found: Numbers = field[pixels]
        return found
    if not isinstance(pixels, TiledPixels):
        raise TypeError("an array of pixels beside a field in tiles")
    count = pixels.sum()
    if count > MOST_CELLS:
        raise Refused(
            f"{name}: {count:,} pixels are more than the {MOST_CELLS:,} whose heights are looked at together in an "
            "image that is held in tiles. Next: ask about single objects, or an area of interest."
        )
    parts = [field.window(rows, cols)[inside] for rows, cols, inside in pixels.tiled_parts()]
    return np.concatenate([np.zeros(0, dtype=field.dtype), *parts])
