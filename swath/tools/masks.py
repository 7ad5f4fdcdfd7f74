"""Masks: classes, set operations, parts of the image."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from affine import Affine

from swath.errors import UnknownClass
from swath.raster.geodesy import NoGround, horizontal, jacobian
from swath.raster.grid import DIRECTIONS, Direction, Grid
from swath.raster.pixel_sets import by_window
from swath.raster.tiled import PixelSet
from swath.segment.protocol import listed_classes
from swath.segment.vocabulary import canonical
from swath.tools.handles import Mask, Regions
from swath.tools.registry import tool
from swath.tools.site import Site

Part = Literal[
    "north", "south", "east", "west", "north-east", "north-west", "south-east", "south-west",
    "top", "bottom", "left", "right", "top-left", "top-right", "bottom-left", "bottom-right",
    "north-third", "south-third", "east-third", "west-third", "top-third", "bottom-third", "left-third", "right-third",
]  # fmt: skip
_SIDES: dict[str, Direction] = {"top": "up", "bottom": "down", "left": "left", "right": "right"}


@tool(measures=True)
def segment(site: Site, class_name: str) -> Mask:
    """The pixels of a class, such as "building", "water" or a synonym of it.

    A class that the source knows but that is nowhere in the image is an empty mask.

    Args:
        site: the image and its source of classes.
        class_name: a class of the source, or a word that people use for it.

    Raises:
        UnknownClass: the source does not know the class; the message lists the ones that it knows.
    """
    known = site.backend.classes()
    name = canonical(class_name, known) if known else class_name  # a source without classes says why it has none
    if name is None:
        raise UnknownClass(
            f'"{class_name}" cannot be measured: the source of classes ({site.backend.name}) knows '
            f"{listed_classes(known)}. Next: ask about one of these, or add the class with --layer NAME=FILE."
        )
    return site.class_mask(name)


@tool()
def union(site: Site, a: Mask | Regions, b: Mask | Regions) -> Mask:
    """Pixels of either."""
    left, right = site.mask_of(a), site.mask_of(b)
    return site.derived(
        "union", (left, right), lambda: left.derived(left.pixels | right.pixels, f"{left.name} or {right.name}", right)
    )


@tool()
def intersection(site: Site, a: Mask | Regions, b: Mask | Regions) -> Mask:
    """Pixels of both."""
    left, right = site.mask_of(a), site.mask_of(b)
    name = f"{left.name} in {right.name}"
    return site.derived("intersection", (left, right), lambda: left.derived(left.pixels & right.pixels, name, right))


@tool()
def difference(site: Site, a: Mask | Regions, b: Mask | Regions) -> Mask:
    """Pixels of the first that are known not to be in the second."""
    left, right = site.mask_of(a), site.mask_of(b)
    name = f"{left.name} outside {right.name}"
    return site.derived("difference", (left, right), lambda: left.derived(left.pixels & _outside(right), name, right))


@tool()
def complement(site: Site, mask: Mask | Regions) -> Mask:
    """Valid pixels that are known not to be in the mask."""
    inside = site.mask_of(mask)
    return site.derived(
        "complement", (inside,), lambda: inside.derived(_outside(inside) & site.valid, f"not {inside.name}")
    )


def _outside(mask: Mask) -> PixelSet:
    """The pixels of which it is known that they are not in a mask."""
    return ~mask.pixels if mask.known is None else ~mask.pixels & mask.known.pixels


@tool()
def whole_image(site: Site) -> Mask:
    """All valid pixels: the whole image, or the area of interest where one is given."""
    return site.derived("whole", (site.raster,), lambda: Mask(site.valid, site.valid, site.raster.grid, "the image"))


@tool()
def image_part(site: Site, *, part: Part) -> Mask:
    """The valid pixels of a half, a quadrant or an outer third of the image.

    Rows above `rows // 2` are the top, columns left of `columns // 2` the left; a third holds the pixels whose centre
    lies in it. Compass names take the image direction nearest to true north as north.

    Args:
        site: the image.
        part: which half, quadrant or third.
    """
    grid = site.raster.grid
    if any(word in part for word in ("north", "south", "east", "west")) and grid.north != "up":
        site.warn(f"North is {grid.north} in this image, so its {part} is not where a north-up map would have it.")
    return site.derived(f"part {part}", (site.raster,), lambda: _part(site, part))


def _part(site: Site, part: Part) -> Mask:
    *sides, last = part.split("-")
    grid = site.raster.grid
    halves = [_third(grid, *sides)] if last == "third" else [_half(grid, side) for side in (*sides, last)]
    window = by_window(site.valid, lambda rows, cols: np.logical_and.reduce([half[rows, cols] for half in halves]))
    return Mask(window & site.valid, site.valid, site.raster.grid, f"the {part}", frame=window)


def compass(grid: Grid) -> dict[str, Direction]:
    """The image direction of each compass direction; mirrored grids have east to the left of north."""
    north = DIRECTIONS.index(grid.north)
    turn = -1 if _mirrored(grid) else 1
    return {name: DIRECTIONS[(north + turn * k) % 4] for k, name in enumerate(("north", "east", "south", "west"))}


def _mirrored(grid: Grid) -> bool:
    """Whether the image shows the ground as from below: true of south-up grids, and of axes that run south and west."""
    if grid.crs is None or grid.affine == Affine.identity():
        return False
    try:
        rows, cols = (np.array([size / 2]) for size in grid.shape)
        return bool(np.sin(jacobian(grid.affine, horizontal(grid.crs), rows, cols).angle[0]) < 0)
    except NoGround:
        return False


def _half(grid: Grid, side: str) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    direction = _SIDES.get(side) or compass(grid)[side]
    rows, cols = np.indices(grid.shape, sparse=True)
    halves = {
        "up": rows < grid.shape[0] // 2,
        "down": rows >= grid.shape[0] // 2,
        "left": cols < grid.shape[1] // 2,
        "right": cols >= grid.shape[1] // 2,
    }
    return np.broadcast_to(halves[direction], grid.shape)


def _third(grid: Grid, side: str) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    direction = _SIDES.get(side) or compass(grid)[side]
    rows, cols = np.indices(grid.shape, sparse=True)
    down, across = (6 * at + 3 for at in (rows, cols))  # six times the place of a pixel's centre
    height, width = grid.shape
    thirds = {
        "up": down < 2 * height,
        "down": down >= 4 * height,
        "left": across < 2 * width,
        "right": across >= 4 * width,
    }
    return np.broadcast_to(thirds[direction], grid.shape)


PARTS: tuple[str, ...] = get_args(Part)
