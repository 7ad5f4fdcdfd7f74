"""What a map needs beside the picture: a scale bar and an arrow to the north."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, floor, log10

import numpy as np
from affine import Affine

from swath.raster.geodesy import horizontal, jacobian
from swath.raster.grid import Grid
from swath.raster.ground import NoGround

UP_WITHIN_DEGREES = 2.0
"""An arrow is drawn where north is off "up" by more: grid convergence within a UTM zone seldom reaches it."""


@dataclass(frozen=True)
class ScaleBar:
    """A bar of a round length.

    Attributes:
        length_px: its length in picture pixels.
        label: its length in words.
    """

    length_px: float
    label: str


def scale_bar(grid: Grid, picture_px_per_pixel: float, longest_px: float) -> ScaleBar:
    """The longest bar of a round length (1, 2 or 5 times a power of ten) that fits.

    Args:
        grid: the image's grid; without a ground size the bar counts pixels.
        picture_px_per_pixel: picture pixels per image pixel along a row.
        longest_px: room for it, in picture pixels.
    """
    ground = grid.ground
    unit_m = 1.0 if ground is None else ground.size_xy_m[0]
    per_px = unit_m / picture_px_per_pixel
    length = round_down(longest_px * per_px)
    if ground is None:
        length = max(length, 1.0)
        return ScaleBar(length / per_px, f"{length:,.0f} pixel{'s' if length > 1 else ''}")
    return ScaleBar(length / per_px, length_words(length))


def round_down(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** floor(log10(value))
    step = next(step for step in (5, 2, 1) if step * power <= value * (1 + 1e-9))
    return step * power


def length_words(metres: float) -> str:
    """A length as maps write it."""
    if metres >= 1000:
        return f"{metres / 1000:,.0f} km"
    if metres >= 1:
        return f"{metres:.0f} m"
    return f"{metres * 100:.0f} cm" if metres >= 0.01 else f"{metres * 1000:.3g} mm"


def north_turn_degrees(grid: Grid) -> float | None:
    """How far true north is turned clockwise from "up" in the picture, at the image's centre.

    None where north is up, or nobody knows where it is.
    """
    if grid.crs is None or grid.affine == Affine.identity():
        return None
    try:
        rows, cols = (np.array([size / 2]) for size in grid.shape)
        centre = jacobian(grid.affine, horizontal(grid.crs), rows, cols)
    except NoGround:
        return None
    right, down = float(centre.right[0]), float(centre.down[0])
    steps = np.array([[np.sin(right), np.sin(down)], [np.cos(right), np.cos(down)]])
    if not np.isfinite(steps).all() or abs(np.linalg.det(steps)) < 1e-6:
        return None
    # Steps right and down whose sum points north; lengths of pixels on the ground weigh what the eye sees.
    towards = np.linalg.solve(steps, [0.0, 1.0]) / np.array([centre.x[0], centre.y[0]])
    turn = degrees(atan2(towards[0], -towards[1]))
    return turn if abs(turn) > UP_WITHIN_DEGREES else None
