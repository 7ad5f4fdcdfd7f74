"""Colours of things: the dominant one, shares, regions and pixels of a colour; by `swath.tools.colours`, no model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.reader import Raster
from swath.tools.blocks import row_blocks
from swath.tools.colours import TERMS, UNNAMED, Colour, names_of
from swath.tools.handles import Mask, Regions
from swath.tools.registry import tool
from swath.tools.runs import Runs
from swath.tools.site import Site

ByteImage = NDArray[np.uint8]
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
        Refused: the image has no true colour, or a region has no pixel with a known colour.
    """
    found = _dominant(site, regions).tolist()
    if UNNAMED in found:
        which = f"{regions.name} number {found.index(UNNAMED) + 1}"
        raise Refused(f"{which} has no known colour: there red, green and blue are nodata.")
    return [TERMS[index] for index in found]


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
def coloured_like(site: Site, regions: Regions, target: Mask | Regions) -> Regions:
    """The regions that have the dominant colour of something else; see `dominant_colour`.

    Args:
        site: the image.
        regions: where to choose.
        target: whose colour; of several regions that of all their pixels together.

    Raises:
        Refused: the image has no true colour, or there is no target.
    """
    colour = int(_counts(site, target).argmax())
    return regions.take(_dominant(site, regions) == colour, f"{TERMS[colour]} {regions.name} like {target.name}")


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
    return mask.derived(_named(site, np.asarray(mask.pixels)) == TERMS.index(colour), f"{colour} {mask.name}")


@tool(measures=True)
def has_true_colour(site: Site) -> bool:
    """Whether colours can be named: the bands for red, green and blue are known and hold 8-bit values."""
    return _why_no_colour(site.raster) is None


def _counts(site: Site, of: Mask | Regions) -> IntArray:
    """(11,) pixels of each term.

    Raises:
        Refused: the image has no true colour, or no pixel of it has a colour.
    """
    pixels = np.asarray(site.mask_of(of).pixels)
    counts = np.bincount(_named(site, pixels)[pixels], minlength=UNNAMED + 1)[: len(TERMS)]
    if not counts.any():
        raise Refused(f"There is no {of.name} in the image, so that it has no colour.")
    return counts


def _dominant(site: Site, regions: Regions) -> IntArray:
    """(n,) index of the term that most pixels of each region have."""
    named = _named(site, np.asarray(site.mask_of(regions).pixels))
    return regions.measured(lambda runs: _most_frequent(named, runs))


def colours_of_objects(raster: Raster, runs: Runs) -> list[Colour | None]:
    """(n,) colour that most pixels of each object have; None where none is known, as in an image in tiles."""
    if _why_no_colour(raster) is not None or raster.in_tiles:
        return [None] * runs.count
    found = _most_frequent(_terms(raster, runs.pixels()), runs).tolist()
    return [None if index == UNNAMED else TERMS[index] for index in found]


def _most_frequent(named: ByteImage, runs: Runs) -> IntArray:
    """(n,) index of the term that most pixels of each object have; `UNNAMED` where none has one."""
    counts = runs.tally(np.minimum(named, len(TERMS)), len(TERMS) + 1)[:, : len(TERMS)]
    return np.where(counts.any(axis=1), counts.argmax(axis=1), UNNAMED)


def _named(site: Site, pixels: NDArray[np.bool_]) -> ByteImage:
    """The same as `_terms`; says how colours are named.

    Raises:
        Refused: the image has no true colour; the message says what would help.
    """
    why = _why_no_colour(site.raster)
    if why is not None:
        raise Refused(f"Colours cannot be named: {why}")
    site.warn(
        "Colours are eleven basic terms, named pixel by pixel from the 8-bit red, green and blue values as they are."
    )
    return _terms(site.raster, pixels)


def _terms(raster: Raster, pixels: NDArray[np.bool_]) -> ByteImage:
    """(rows, columns) indices into `TERMS` of some pixels, `UNNAMED` elsewhere and where no band has a value.

    A band that alone is nodata counts as it is stored: where nodata is 0, pure red is no gap.
    """
    named = np.full(pixels.shape, UNNAMED, dtype=np.uint8)
    columns = np.flatnonzero(pixels.any(axis=0))
    bands = [raster.band(role).index for role in TRUE_COLOUR]
    for rows in row_blocks(len(pixels)):
        if not pixels[rows].any():
            continue
        cols = slice(int(columns[0]), int(columns[-1]) + 1)
        read = raster.read(*bands, rows=rows, cols=cols)
        wanted = pixels[rows, cols] & ~np.ma.getmaskarray(read.data).all(axis=0)
        named[rows, cols][wanted] = names_of(read.data.data.transpose(1, 2, 0)[wanted])
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
