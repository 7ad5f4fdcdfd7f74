"""Colours of things: the dominant one, shares, regions and pixels of a colour; by `swath.tools.colours`, no model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.reader import Raster
from swath.tools.colours import TERMS, UNNAMED, Colour, names_of
from swath.tools.handles import Mask, Regions
from swath.tools.registry import tool
from swath.tools.runs import row_blocks
from swath.tools.site import Site

IntArray = NDArray[np.int64]
TRUE_COLOUR = ("red", "green", "blue")


@tool(measures=True)
def dominant_colour(site: Site, of: Mask | Regions) -> str:
    """The colour that most pixels have, one of the eleven basic colour terms.

    black, white, grey, red, orange, yellow, green, blue, purple, pink, brown (Berlin and Kay 1969). Each pixel has the
    term of the nearest named colour of ISCC-NBS and of the xkcd colour survey in OKLab. Of equals the first in this
    list. Only from 8-bit red, green and blue bands as they are, never from a stretched picture.

    Args:
        site: the image.
        of: whose pixels; all regions together.

    Raises:
        Refused: the image has no true colour, or there is nothing.
    """
    return TERMS[int(_counts(site, of).argmax())]


@tool(measures=True)
def region_colours(site: Site, regions: Regions) -> list[str]:
    """The dominant colour of every region, in order; see `dominant_colour`.

    Raises:
        Refused: the image has no true colour.
    """
    return [TERMS[index] for index in _dominant(site, regions).tolist()]


@tool(measures=True)
def colours_of(site: Site, of: Mask | Regions, *, min_percent: float = 10.0) -> list[str]:
    """The colours that a thing has, the most frequent first; see `dominant_colour`.

    Args:
        site: the image.
        of: whose pixels.
        min_percent: least share of its pixels that a colour must have to be named.

    Raises:
        Refused: the image has no true colour, or there is nothing.
    """
    counts = _counts(site, of)
    order = np.argsort(-counts, kind="stable")
    return [
        TERMS[index] for index in order.tolist() if counts[index] and counts[index] >= min_percent / 100 * counts.sum()
    ]


@tool(measures=True)
def colour_share_percent(site: Site, of: Mask | Regions, *, colour: Colour) -> float:
    """What share of a thing's pixels has a colour, in percent; see `dominant_colour`.

    Args:
        site: the image.
        of: whose pixels.
        colour: which one.

    Raises:
        Refused: the image has no true colour, or there is nothing.
    """
    counts = _counts(site, of)
    return float(100.0 * counts[TERMS.index(colour)] / counts.sum())


@tool(measures=True)
def of_colour(site: Site, regions: Regions, *, colour: Colour) -> Regions:
    """The regions whose dominant colour is this one; see `dominant_colour`.

    Args:
        site: the image.
        regions: where to choose.
        colour: which one.

    Raises:
        Refused: the image has no true colour.
    """
    return regions.take(_dominant(site, regions) == TERMS.index(colour), f"{colour} {regions.name}")


@tool(measures=True)
def pixels_of_colour(site: Site, of: Mask | Regions, *, colour: Colour) -> Mask:
    """The pixels of a thing that have a colour; see `dominant_colour`.

    Args:
        site: the image.
        of: whose pixels.
        colour: which one.

    Raises:
        Refused: the image has no true colour.
    """
    mask = site.mask_of(of)
    window = _window(mask.pixels)
    pixels = np.zeros_like(mask.pixels)
    pixels[window] = mask.pixels[window] & (_named(site, window) == TERMS.index(colour))
    return mask.derived(pixels, f"{colour} {mask.name}")


@tool(measures=True)
def has_true_colour(site: Site) -> bool:
    """Whether colours can be named: the bands for red, green and blue are known and hold 8-bit values."""
    return _why_no_colour(site.raster) is None


def _counts(site: Site, of: Mask | Regions) -> IntArray:
    """(11,) pixels of each term.

    Raises:
        Refused: the image has no true colour, or no pixel of it has a colour.
    """
    mask = site.mask_of(of)
    window = _window(mask.pixels)
    counts = np.bincount(_named(site, window)[mask.pixels[window]], minlength=UNNAMED + 1)[: len(TERMS)]
    if not counts.any():
        raise Refused(f"There is no {of.name} in the image, so that it has no colour.")
    return counts


def _dominant(site: Site, regions: Regions) -> IntArray:
    """(n,) index of the term that most pixels of each region have."""
    window = _window(site.mask_of(regions).pixels)
    named, width = _named(site, window), regions.grid.shape[1]
    found = np.zeros(len(regions), dtype=np.int64)
    for position in range(len(regions)):
        source, index = regions.sources[regions.which[position]], regions.indices[position]
        row, col = np.divmod(source.runs.of(np.array([index])).places, width)
        terms = named[row - window[0].start, col - window[1].start]
        found[position] = np.bincount(terms, minlength=UNNAMED + 1)[: len(TERMS)].argmax()
    return found


def _window(pixels: NDArray[np.bool_]) -> tuple[slice, slice]:
    """Rows and columns that hold all of some pixels; nothing where there are none."""
    rows, cols = (np.flatnonzero(pixels.any(axis=axis)) for axis in (1, 0))
    return (slice(rows[0], rows[-1] + 1), slice(cols[0], cols[-1] + 1)) if len(rows) else (slice(0, 0), slice(0, 0))


def _named(site: Site, window: tuple[slice, slice]) -> NDArray[np.uint8]:
    """Indices into `TERMS` of the pixels of a window, `UNNAMED` where a band has no value.

    Raises:
        Refused: the image has no true colour; the message says what would help.
    """
    why = _why_no_colour(site.raster)
    if why is not None:
        raise Refused(f"Colours cannot be named: {why}")
    site.warn(
        "Colours are eleven basic terms, named pixel by pixel from the 8-bit red, green and blue values as they are."
    )
    rows, cols = window
    named = np.full((rows.stop - rows.start, cols.stop - cols.start), UNNAMED, dtype=np.uint8)
    bands = [site.raster.band(role).index for role in TRUE_COLOUR]
    for block in row_blocks(len(named)):
        read = site.raster.read(*bands, rows=slice(rows.start + block.start, rows.start + block.stop), cols=cols)
        known = ~np.ma.getmaskarray(read.data).any(axis=0)
        named[block][known] = names_of(read.data.data.transpose(1, 2, 0)[known])
    return named


def _why_no_colour(raster: Raster) -> str | None:
    """Why pixels have no true colour and what would help, None where they have one."""
    if raster.palette() is not None:
        return (
            f"{raster.path.name} is a class raster, whose colours are those of its colour table. "
            "Next: ask about the image that it was made from, and give this file with --labels."
        )
    if not raster.has(*TRUE_COLOUR):
        known = ", ".join(f"{band.role}={band.index}" for band in raster.bands if band.role) or "none"
        return (
            f"the bands for red, green and blue of {raster.path.name} are not all known (known: {known}). "
            "Next: state them with --bands red=N,green=N,blue=N, where the image has them."
        )
    kinds = {raster.band(role).dtype for role in TRUE_COLOUR}
    if kinds != {"uint8"}:
        return (
            f"the bands of {raster.path.name} hold {', '.join(sorted(kinds))} values, whose look depends on a stretch "
            "that somebody has to choose. Next: make an 8-bit true-colour picture of it, such as with "
            "gdal_translate -ot Byte -scale, and ask about that."
        )
    return None
