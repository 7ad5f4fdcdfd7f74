"""Marks on an image: filled pixels and outlined objects, in colours that colour-blind people tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

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

    def fill(self, pixels: BoolImage, colour: Colour, opacity: float) -> None:
        """Tint image pixels; where the picture is smaller, by the share of each picture pixel that they cover."""
        height, width = self.image.shape[:2]
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
        for shape in shapes:
            rings = [self._points(ring) for ring in _rings(shape)]
            if rings:
                cv2.fillPoly(stencil, rings, 255, cv2.LINE_AA, FRACTION_BITS)
        self._blend(stencil.astype(np.float32) / 255 * opacity, colour)

    def outline(self, shapes: Shapes, colour: Colour, width: int, *, opacity: float = 1.0) -> None:
        """Draw outlines of shapes given in image pixel coordinates, each on a dark casing; points become dots."""
        lines = [self._points(line) for shape in shapes for line in _rings(shape, lines=True)]
        dots = [self._points(shapely.get_coordinates(shape)) for shape in shapes if shapely.get_dimensions(shape) == 0]
        for tone, thickness, strength in ((CASING, width + 2, 0.6 * opacity), (colour, width, opacity)):
            canvas = self.image.copy()
            if lines:
                cv2.polylines(canvas, lines, False, tone, thickness, cv2.LINE_AA, FRACTION_BITS)
            for x, y in (spot for dot in dots for spot in dot[:, 0].tolist()):
                cv2.circle(canvas, (x, y), (thickness + 1) << FRACTION_BITS, tone, -1, cv2.LINE_AA, FRACTION_BITS)
            cv2.addWeighted(canvas, strength, self.image, 1 - strength, 0, dst=self.image)

    def _points(self, xy: NDArray[np.float64]) -> NDArray[np.int32]:
        """Picture coordinates as cv2 takes them: pixel centres are whole numbers, fractions in 1/16."""
        placed = xy[:, :2] * np.array(self.scale) - 0.5
        points: NDArray[np.int32] = np.rint(placed * (1 << FRACTION_BITS)).astype(np.int32).reshape(-1, 1, 2)
        return points


def _rings(shape: Any, *, lines: bool = False) -> list[NDArray[np.float64]]:
    """Coordinates of the rings of polygons; with `lines`, of line strings too."""
    found = []
    for part in shapely.get_parts(shape):
        if shapely.get_dimensions(part) == 2:
            found += [shapely.get_coordinates(ring) for ring in shapely.get_rings(part)]
        elif lines and shapely.get_dimensions(part) == 1:
            found.append(shapely.get_coordinates(part))
    return found


def line_width(shapes: Shapes, scale: tuple[float, float]) -> int:
    """1 to 3 picture pixels: thin where objects are many or small, so that their insides stay visible."""
    if len(shapes) == 0:
        return 1
    x0, y0, x1, y1 = shapely.bounds(shapes).T
    side_px = float(np.median(np.maximum((x1 - x0) * scale[0], (y1 - y0) * scale[1])))
    return 1 if side_px < 14 or len(shapes) > 2000 else 2 if side_px < 120 or len(shapes) > 40 else 3


def class_colours(classes: Sequence[str]) -> dict[str, Colour]:
    """A colour for each class: a familiar one where it has one, no two the same while colours last."""
    chosen: dict[str, Colour] = {}
    for name in classes:
        wanted = OF_CLASS.get(name)
        free = [colour for colour in CONTEXT if colour not in chosen.values()]
        chosen[name] = wanted if wanted in free else (free or CONTEXT)[0]
    return chosen
