"""What an area of interest leaves out, so that objects that its border cuts can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swath.raster.pixel_sets import by_window, whole_of, window_of_set
from swath.raster.tiled import PixelSet, TiledPixels
from swath.tools.kernels import grown
from swath.tools.patches import Patches

if TYPE_CHECKING:
    from swath.tools.handles import Mask, Regions
    from swath.tools.site import Site

SHOWN_IDS = 5


@dataclass(frozen=True, eq=False)
class Clip:
    """The area that a site is limited to.

    Attributes:
        name: what people call it: "the area of interest", "zone 7".
        beyond: (rows, columns) bool: pixels that would count, but lie outside it.
        notes: sentences about the area for people.
    """

    name: str
    beyond: PixelSet = field(repr=False)
    notes: tuple[str, ...] = ()


def warn_of_the_cut(site: Site, mask: Mask, regions: Regions) -> None:
    """Say how many objects go on beyond the border of the area of interest; only their part inside is measured.

    Of a class it is known what lies outside. Of a mask that was computed from several (an intersection, what is near
    something) it is not, so its objects that reach the border are named instead.

    Args:
        site: the image.
        mask: the pixels.
        regions: all objects of the mask.
    """
    clip = site.clip
    if clip is None or not len(regions):
        return
    plain = mask.classes == {mask.name}
    cut = _cut(site, clip.beyond, mask, regions) if plain else regions.touches(grown(clip.beyond))
    count = int(np.count_nonzero(cut))
    if not count:
        return
    named = _ids(regions, np.flatnonzero(cut))
    done = "are cut by" if plain else "reach"
    site.warn(
        f"{count} of {len(regions)} {mask.name} {done} the border of {clip.name}{named}: only what lies inside is "
        "measured."
    )


def _cut(site: Site, beyond: PixelSet, mask: Mask, regions: Regions) -> NDArray[np.bool_]:
    """(n,) bool: the objects of a class with pixels on both sides of the border."""
    source = regions.sources[0]
    if isinstance(source, Patches):
        return source.reaches(beyond)[regions.indices]
    found = site.segmented(mask.name)
    outside = found.mask & beyond
    if found.instance_ids is not None:
        return regions.touches(_of_objects(found.instance_ids, outside, mask.pixels))
    return regions.touches(grown(outside))


def _of_objects(ids: NDArray[np.int32], outside: PixelSet, pixels: PixelSet) -> PixelSet:
    """The pixels of a set that belong to objects with pixels in another."""
    parts = outside.tiled_parts() if isinstance(outside, TiledPixels) else [(*whole_of(outside), outside)]
    reaching = np.unique(
        np.concatenate([np.unique(ids[rows, cols][part]) for rows, cols, part in parts] or [ids[:0, 0]])
    )
    return by_window(pixels, lambda rows, cols: np.isin(ids[rows, cols], reaching) & window_of_set(pixels, rows, cols))


def _ids(regions: Regions, cut: NDArray[np.int64]) -> str:
    """The source's own identifiers where it has some; running numbers say nothing."""
    source = regions.sources[0]
    if not isinstance(source, Patches):
        return ""
    ids = [source.source_ids[i] for i in regions.indices[cut[:SHOWN_IDS]]]
    return f" (id {', '.join(ids)}{' ...' if len(cut) > SHOWN_IDS else ''})"
