"""The area of interest: what lies outside is treated as not there."""

from __future__ import annotations

from pathlib import Path

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.protocol import BoolImage
from swath.segment.vector import read_vector

NAME = "area of interest"


def area_of_interest(path: Path, raster: Raster) -> BoolImage:
    """The pixels whose centre lies inside any polygon of a vector file.

    Args:
        path: vector file in any CRS.
        raster: the image.

    Returns:
        (rows, columns) bool on the raster's grid.

    Raises:
        InputError: the file cannot be used, holds no polygon, or lies elsewhere.
    """
    found = read_vector(path, raster, single=NAME).segment(NAME)
    if not found.areal:
        raise InputError(f"{path.name} draws lines or points, which enclose nothing. Next: give polygons for --aoi.")
    return found.mask
