"""Marks on an image: filled pixels and outlined objects, in colours that colour-blind people tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from swath.raster.tiled import PixelSet, TiledPixels

Colour = tuple[int, int, int]
Shapes = NDArray[np.object_]
ByteImage = NDArray[np.uint8]
BoolImage = NDArray[np.bool_]

# Okabe and Ito's palette, "Color Universal Design" (2008), with its orange made stronger for outlines.
COUNTED: Colour = (255, 165, 0)
DROPPED: Colour = (240, 240, 240)
CASING: Colour = (20, 20, 20)
CONTEXT: tuple[Colour, ...] = ((86, 180, 233), (0, 158, 115), (204, 121, 167), (240, 228, 66), (0, 114, 178))
OF_CLASS: dict[str, Colour] = {
    "water": (86, 180, 233),
    "vegetation": (0, 158, 115),
    "tree": (0, 158, 115),
    "forest": (0, 158, 115),
    "road": (204, 121, 167),
    "building": (240, 228, 66),
}

WIDEST = 3
MOST_INK = 0.16
"""Share of a ring's inside that the ring itself may take."""

LINEAR_RING = 2
"""Shapely's number of the type."""

FRACTION_BITS = 4
"""cv2 draws at 1/16 pixel: outlines of small objects must not be rounded to whole pixels."""


@dataclass(frozen=True)
class View:
    """How image pixels become picture pixels.

    Attributes:
        image: uint8 (height, width, 3) picture; drawn upon.
        scale: picture pixels per image pixel along x and y.
    """

    image: ByteImage
    scale: tuple[float, float]

    def fill(self, pixels: PixelSet, colour: Colour, opacity: float) -> None:
        """Tint image pixels; where the picture is smaller, by the share of each picture pixel that they cover."""
        height, width = self.image.shape[:2]
        if isinstance(pixels, TiledPixels):
            self._blend(_shares(pixels, height, width) * opacity, colour)
            return
        shrinking = pixels.shape[0] > height or pixels.shape[1] > width
        method = cv2.INTER_AREA if shrinking else cv2.INTER_NEAREST
        share = cv2.resize(pixels.astype(np.float32), (width, height), interpolation=method)
        self._blend(np.asarray(share) * opacity, colour)

    def _blend(self, share: NDArray[Any], colour: Colour) -> None:
        covered = share > 0
        weight = share[covered][:, None].astype(np.float32)
        self.image[covered] = np.rint(self.image[covered] * (1 - weight) + np.array(colour, dtype=np.float32) * weight)

    def fill_shapes(self, shapes: Shapes, colour: Colour, opacity: float) -> None:
        """Tint the inside of polygons given in image pixel coordinates; overlaps are not darker."""
        stencil = np.zeros(self.image.shape[:2], dtype=np.uint8)
        polygons = shapely.get_parts(shapes)
        polygons = polygons[shapely.get_dimensions(polygons) == 2]
        rings, owners = shapely.get_rings(polygons, return_index=True)
        for _, own in groupby(zip(owners.tolist(), self._points(rings), strict=True), key=lambda pair: pair[0]):
            cv2.fillPoly(stencil, [points for _, points in own], 255, cv2.LINE_AA, FRACTION_BITS)
        self._blend(stencil.astype(np.float32) / 255 * opacity, colour)

    def outline(self, shapes: Shapes, colour: Colour, widest: int, *, opacity: float = 1.0) -> None:
        """Draw outlines of shapes given in image pixel coordinates, each on a dark casing; points become dots."""
        parts = shapely.get_parts(shapes)
        dimensions = shapely.get_dimensions(parts)
        lines = np.concatenate([shapely.get_rings(parts[dimensions == 2]), parts[dimensions == 1]])
        widths = np.minimum(line_widths(lines, self.scale), widest)
        grouped = {int(width): self._points(lines[widths == width]) for width in np.unique(widths)}
        dots = [tuple(spot) for points in self._points(parts[dimensions == 0]) for spot in points[:, 0].tolist()]
        for tone, wider, strength in ((CASING, 2, 0.6 * opacity), (colour, 0, opacity)):
            canvas = self.image.copy()
            for width, points in grouped.items():
                cv2.polylines(canvas, points, False, tone, width + wider, cv2.LINE_AA, FRACTION_BITS)
            for dot in dots:
                cv2.circle(canvas, dot, (3 + wider) << FRACTION_BITS, tone, -1, cv2.LINE_AA, FRACTION_BITS)
            cv2.addWeighted(canvas, strength, self.image, 1 - strength, 0, dst=self.image)

    def _points(self, lines: Shapes) -> list[NDArray[np.int32]]:
        """Picture coordinates of each line as cv2 takes them: whole numbers at pixel centres, fractions in 1/16."""
        if len(lines) == 0:
            return []
        xy, owner = shapely.get_coordinates(lines, return_index=True)
        placed = xy * np.array(self.scale) - 0.5
        points = np.rint(placed * (1 << FRACTION_BITS)).astype(np.int32).reshape(-1, 1, 2)
        return np.split(points, np.searchsorted(owner, np.arange(1, len(lines))))


def _shares(pixels: TiledPixels, height: int, width: int) -> NDArray[np.float32]:
    """(height, width) share of the image pixels that fall on each picture pixel by their upper left corners."""
    down = np.arange(pixels.shape[0]) * height // pixels.shape[0]
    across = np.arange(pixels.shape[1]) * width // pixels.shape[1]
    found = np.zeros((height, width), dtype=np.int64)
    for rows, cols, block in pixels.tiled_parts():
        edges = np.flatnonzero(np.diff(across[cols], prepend=-1))
        sums = np.add.reduceat(block.view(np.uint8), edges, axis=1, dtype=np.int32)
        np.add.at(found, (down[rows][:, None], across[cols][edges][None]), sums)
    sizes = np.bincount(down, minlength=height)[:, None] * np.bincount(across, minlength=width)[None]
    return np.asarray(found / np.maximum(sizes, 1), dtype=np.float32)


def line_widths(lines: Shapes, scale: tuple[float, float]) -> NDArray[np.int64]:
    """(n,) 1 to `WIDEST` picture pixels: as wide as leaves what a ring encloses visible, 2 for lines that are no ring.

    Roads and frayed ponds are mostly outline; a lake is not.
    """
    rings = shapely.get_type_id(lines) == LINEAR_RING
    widths = np.full(len(lines), 2, dtype=np.int64)
    inside_px = shapely.area(shapely.polygons(lines[rings])) * scale[0] * scale[1]
    along_px = shapely.length(lines[rings]) * (scale[0] + scale[1]) / 2
    widths[rings] = np.clip(MOST_INK * inside_px // np.maximum(along_px, 1e-9), 1, WIDEST)
    return widths


def class_colours(classes: Sequence[str]) -> dict[str, Colour]:
    """A colour for each class: a familiar one where it has one, no two the same while colours last."""
    chosen: dict[str, Colour] = {}
    for name in classes:
        wanted = OF_CLASS.get(name)
        free = [colour for colour in CONTEXT if colour not in chosen.values()]
        chosen[name] = wanted if wanted in free else (free or CONTEXT)[0]
    return chosen
