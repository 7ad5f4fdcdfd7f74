"""Pictures for a page, of bounded size: the image, masks as layers over it, outlines of objects."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image

from swath.agent.overlay.marks import Colour
from swath.raster.reader import Raster
from swath.raster.stretch import display

LONGEST_SIDE_PX = 1600
"""Of the picture: about what a wide screen shows."""

LEVELS = 3
"""A pixel of a smaller mask is shown in so many strengths, by the share of it that the mask covers."""

OUTLINE_BYTES = 3_000_000
"""Of all outlines of a page together."""

UNITS = 4
"""Outlines are whole quarters of a picture pixel."""

BoolImage = NDArray[np.bool_]


def picture_size(shape: tuple[int, int], longest: int = LONGEST_SIDE_PX) -> tuple[int, int]:
    """(width, height) of the picture of an image of (rows, columns)."""
    factor = max(1.0, max(shape) / longest)
    return max(1, round(shape[1] / factor)), max(1, round(shape[0] / factor))


def image_uri(raster: Raster, longest: int = LONGEST_SIDE_PX) -> str:
    """The stretched image as a data URI: lossless where that is the smaller one, as it is of maps of classes."""
    pixels, _ = display(raster, longest)
    opened = Image.fromarray(pixels)
    jpeg, png = BytesIO(), BytesIO()
    opened.save(jpeg, "JPEG", quality=85, optimize=True)
    if pixels.size <= 3 * 512 * 512 or len(opened.getcolors(256) or ()) > 0:
        opened.save(png, "PNG", optimize=True)
    return _smaller(png.getvalue(), jpeg.getvalue())


def _smaller(png: bytes, jpeg: bytes) -> str:
    if png and len(png) <= max(len(jpeg), 200_000):
        return uri("png", png)
    return uri("jpeg", jpeg)


def mask_uri(pixels: BoolImage, colour: Colour, longest: int = LONGEST_SIDE_PX) -> str:
    """A mask as a data URI of one colour on nothing."""
    width, height = picture_size(pixels.shape, longest)
    levels = 1
    shown: NDArray[np.uint8] = pixels.astype(np.uint8)
    if (height, width) != pixels.shape:
        levels = LEVELS
        share = cv2.resize(shown * 255, (width, height), interpolation=cv2.INTER_AREA)
        # Rounded up, so that a house of a pixel is still there.
        shown = np.ceil(np.arange(256) * levels / 255).astype(np.uint8)[share]
    drawn = Image.fromarray(shown, "P")
    drawn.putpalette(bytes(colour) * (levels + 1))
    strengths = bytes(round(255 * level / levels) for level in range(levels + 1))
    out = BytesIO()
    drawn.save(out, "PNG", bits=1 if levels == 1 else 2, transparency=strengths)
    return uri("png", out.getvalue())


def uri(kind: str, content: bytes) -> str:
    """Bytes of a picture as a data URI."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def outline_paths(shapes: Sequence[Any] | NDArray[np.object_], scale: float) -> list[str]:
    """Outlines as SVG paths in quarters of a picture pixel; empty for points.

    Args:
        shapes: (n,) geometries in image pixels.
        scale: picture pixels per image pixel.
    """
    geometries = np.asarray(shapes, dtype=object)
    tolerance = 0.4 / scale if scale < 1 else 0.0
    paths = _paths(shapely.simplify(geometries, tolerance), scale)
    while sum(map(len, paths)) > OUTLINE_BYTES:
        tolerance = max(2 * tolerance, 0.5 / scale)
        geometries = shapely.simplify(geometries, tolerance)
        if tolerance * scale > 16:
            geometries = shapely.envelope(geometries)
        paths = _paths(geometries, scale)
        if tolerance * scale > 16:
            break
    return paths


def _paths(geometries: NDArray[np.object_], scale: float) -> list[str]:
    parts, owners = shapely.get_parts(geometries, return_index=True)
    lines = np.flatnonzero(shapely.get_dimensions(parts) == 1)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    pieces = np.concatenate([rings, parts[lines]])
    owner = np.concatenate([owners[of_part], owners[lines]])
    coordinates, which = shapely.get_coordinates(pieces, return_index=True)
    units = np.rint(coordinates * scale * UNITS).astype(np.int64)
    starts = np.searchsorted(which, np.arange(len(pieces) + 1))
    found = [""] * len(geometries)
    for k, own in enumerate(owner.tolist()):
        found[own] += _path(units[starts[k] : starts[k + 1]], closed=k < len(rings))
    return found


def _path(units: NDArray[np.int64], *, closed: bool) -> str:
    """One ring or line, its corners from one to the next; corners that fell together are one."""
    if len(units) == 0:
        return ""
    steps = np.diff(units, axis=0)
    steps = steps[steps.any(axis=1)]
    if closed:
        steps = steps[:-1]
    moves = " ".join(f"{x} {y}" for x, y in steps.tolist())
    return f"M{units[0][0]} {units[0][1]}l{moves}{'z' if closed else ''}" if moves else ""
