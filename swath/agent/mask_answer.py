"""Answers that are masks: a map of class numbers that any GIS opens, and a picture of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from swath.agent.execution import Reply
from swath.agent.qgis_styles import write_mask_style
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.tiled import TiledPixels, part_of
from swath.raster.write import Part, write_classes
from swath.tools.handles import Mask, Regions
from swath.trace.reading import MASK_FILE, MASK_PICTURE
from swath.types import MaskSummary

MOST_CLASSES = 255
"""One byte a pixel, 0 being none of them."""

PICTURE_PX = 4096
"""Longest side of the picture of an image in tiles."""

COLOURS = (
    (255, 255, 255), (230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0),
    (204, 121, 167),
)  # fmt: skip
"""Of the classes in turn; after white those of Okabe and Ito, which colour-blind people tell apart."""


def masks_of(reply: Reply) -> list[Mask | Regions]:
    """The masks that a reply of kind mask is: its value, the items of its value, or its objects; else none."""
    found = reply.value if isinstance(reply.value, list) else [reply.value]
    if found and all(isinstance(item, Mask | Regions) for item in found):
        return found
    return [] if reply.objects is None else [reply.objects]


def class_map(masks: list[Mask | Regions]) -> NDArray[np.uint8]:
    """(rows, columns) 1 for pixels of the first mask, 2 for those of the second ..., 0 for the rest.

    A pixel of several masks belongs to the first of them.

    Args:
        masks: 1 to `MOST_CLASSES` of one image.
    """
    codes = np.zeros(masks[0].grid.shape, dtype=np.uint8)
    for code, mask in reversed(list(enumerate(masks, start=1))):
        # A copy of regions, so that their mask is not held for as long as they are.
        codes[(mask if isinstance(mask, Mask) else replace(mask).mask).pixels] = code
    return codes


def _class_parts(masks: list[Mask | Regions], valid: TiledPixels) -> Iterator[Part]:
    """The same of an image in tiles: the windows that are not all 0."""
    pixels = [(mask if isinstance(mask, Mask) else replace(mask).mask).pixels for mask in masks]
    for (rows, cols), _ in valid.counts():
        codes = np.zeros((rows.stop - rows.start, cols.stop - cols.start), dtype=np.uint8)
        for code, found in reversed(list(enumerate(pixels, start=1))):
            codes[part_of(found, rows, cols)] = code
        if codes.any():
            yield rows, cols, codes


def _thinned(parts: Iterable[Part], picture: NDArray[np.uint8], step: int) -> Iterator[Part]:
    """Windows as they are, of which every so many rows and columns are laid into a picture on the way."""
    for rows, cols, codes in parts:
        first = [-(-part.start // step) for part in (rows, cols)]
        seen = codes[first[0] * step - rows.start :: step, first[1] * step - cols.start :: step]
        picture[first[0] : first[0] + seen.shape[0], first[1] : first[1] + seen.shape[1]] = seen
        yield rows, cols, codes


def summary_of(reply: Reply) -> MaskSummary | None:
    """What is said of an answer of kind mask; None for others. Its files are named once they are written."""
    return MaskSummary(tuple(mask.name for mask in masks_of(reply))) if reply.kind == "mask" else None


def write_class_map(path: Path, masks: list[Mask | Regions], parts: NDArray[np.uint8] | Iterable[Part]) -> None:
    """Write a map of masks, 1 for the first, with their names and colours.

    Raises:
        InputError: the file cannot be written.
    """
    names, palette = ["", *(mask.name for mask in masks)], _palette(len(masks))
    write_classes(path, parts, masks[0].grid, names, palette)


def _palette(count: int) -> list[tuple[int, int, int]]:
    return [(0, 0, 0), *(COLOURS[k % len(COLOURS)] for k in range(count))]


def write_mask_answer(folder: Path, reply: Reply, grid: Grid) -> None:
    """Write the map and the picture of an answer of kind mask.

    Args:
        folder: the run's folder.
        reply: what was answered.
        grid: the image's grid.

    Raises:
        InputError: a file cannot be written.
    """
    masks = masks_of(reply)
    palette = _palette(len(masks))
    if isinstance(masks[0].valid, TiledPixels):
        step = -(-max(grid.shape) // PICTURE_PX)
        codes = np.zeros(tuple(-(-size // step) for size in grid.shape), dtype=np.uint8)
        parts = _thinned(_class_parts(masks, masks[0].valid), codes, step)
        write_class_map(folder / MASK_FILE, masks, parts)
    else:
        codes = class_map(masks)
        write_class_map(folder / MASK_FILE, masks, codes)
    names = {value: mask.name for value, mask in enumerate(masks, start=1)}
    write_mask_style(folder / MASK_FILE, names, dict(enumerate(palette)))
    picture = Image.fromarray(codes, mode="P")
    picture.putpalette([part for colour in palette for part in colour])
    try:
        picture.save(folder / MASK_PICTURE)
    except OSError as error:
        raise InputError(f"{folder / MASK_PICTURE} cannot be written. Next: check the folder and its space.") from error
