"""The surface that terrain is measured on, and masks of its pixels."""

from __future__ import annotations

from typing import Literal

from swath.errors import Refused
from swath.raster.height_raster import HeightRaster
from swath.raster.heights import STATE_TERRAIN
from swath.raster.tiled import PixelSet
from swath.tools.handles import Known, Mask
from swath.tools.site import Site

Ground = Literal["auto", "dem", "dtm", "dsm"]


def surface_of(site: Site, surface: Ground, *, absolute: bool = False) -> HeightRaster:
    """The surface to measure on; says which it is and what is not known of it.

    Raises:
        Refused: no raster of heights was given, or not this one.
    """
    if site.heights is None:
        raise Refused(f"Elevations cannot be measured: no raster of heights is given. Next: {STATE_TERRAIN}.")
    found = site.heights.surface(surface)
    for note in found.notes:
        site.warn(note)
    if found.surface == "dsm":
        site.warn(f"Measured on the first surface, {found.name}: roofs and trees are part of it.")
    if absolute:
        datum = found.vertical.datum
        if datum is None:
            site.warn(f"{found.name} states no vertical datum: its elevations compare with each other only.")
        else:
            site.warn(f"Elevations are counted from {datum}.")
    return found


def masked(site: Site, keep: PixelSet, known: PixelSet, field: str, name: str) -> Mask:
    """The valid pixels that are kept and whose height, slope ... is known at all."""
    gaps = None if known.all() else Known(known, field)
    return Mask(keep & known & site.valid, site.valid, site.raster.grid, name, known=gaps)
