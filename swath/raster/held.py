"""When an image is held in tiles instead of in one array, and what is said where an array is needed all the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from swath.errors import Refused


class WholeImageNeeded(Refused):
    """Something wants all pixels of an image at once that is held in tiles."""


@dataclass(frozen=True)
class Tiles:
    """When and how an image is held in tiles.

    Attributes:
        above_px: images of more pixels than this are; smaller ones are plain arrays.
        shape: (rows, columns) of a tile.
    """

    above_px: int = 2**25
    shape: tuple[int, int] = (512, 2048)

    def hold(self, shape: tuple[int, int]) -> bool:
        """Whether an image of a shape is held in tiles."""
        return shape[0] * shape[1] > self.above_px


USUAL_TILES = Tiles()
"""Of images that questions are asked about."""

IN_ARRAYS = Tiles(above_px=2**62)
"""Of images that are read by somebody who wants arrays, whatever their size."""


def refuse_whole(shape: tuple[int, int]) -> NoReturn:
    """Refuse to make one array of an image that is held in tiles.

    Raises:
        WholeImageNeeded: always.
    """
    raise WholeImageNeeded(
        f"an image of {shape[0]:,} x {shape[1]:,} pixels is measured tile by tile, and this needs all of them at once. "
        "Next: ask about a part of it that is cut out."
    )
