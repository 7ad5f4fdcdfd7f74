"""A raster's grid as one value: affine, shape and CRS never part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pyproj
from affine import Affine

from swath.errors import InputError, Refused
from swath.raster.geodesy import NoGround, horizontal, jacobian
from swath.raster.ground import Ground, crs_name, measure_ground

Direction = Literal["up", "right", "down", "left"]
DIRECTIONS: tuple[Direction, ...] = ("up", "right", "down", "left")

STATE_THE_GSD = 'state the ground size of a pixel with --gsd METRES, or in the question: "(GSD: 0.5m)"'


GSD_RANGE_M = (1e-6, 1e7)
"""Ground sizes of a pixel that a person may state: a thousandth of a millimetre to a quarter of the earth."""

SMALLEST_USUAL_M = 1e-3
"""A smaller pixel in a georeferenced file is rather a wrong CRS: degrees in a file that says UTM."""


def check_stated_size(gsd_m: float) -> None:
    """Check a ground size that a person typed.

    Raises:
        InputError: it is not a number, or no pixel can have it.
    """
    if not GSD_RANGE_M[0] <= gsd_m <= GSD_RANGE_M[1]:
        raise InputError(
            f"A ground size of {gsd_m:g} m is not possible. Next: state a number of metres "
            f"from {GSD_RANGE_M[0]:g} to {GSD_RANGE_M[1]:g}."
        )


@dataclass(frozen=True)
class Grid:
    """Where pixels lie.

    Attributes:
        affine: pixel (column, row) to CRS coordinates, (0, 0) being the outer corner of the first pixel.
        shape: (rows, columns).
        crs: coordinate reference system, None where the file names none.
        no_ground_reason: why no ground size can be known although a CRS may be there (bad ground control points ...).
        stated_gsd_m: the ground size of a pixel that a person typed; it wins over the file's.
    """

    affine: Affine
    shape: tuple[int, int]
    crs: pyproj.CRS | None = None
    no_ground_reason: str | None = None
    stated_gsd_m: float | None = None

    @cached_property
    def _from_file(self) -> Ground | str:
        if self.no_ground_reason is not None:
            return self.no_ground_reason
        if self.crs is None:
            return "the file names no CRS"
        try:
            return measure_ground(self.affine, self.shape, self.crs)
        except NoGround as why:
            return str(why)

    @cached_property
    def ground(self) -> Ground | None:
        """The ground under the grid; None where nothing in the file and nobody says how large a pixel is."""
        own = self._from_file
        if self.stated_gsd_m is None:
            return own if isinstance(own, Ground) else None
        if isinstance(own, Ground):
            factor = self.stated_gsd_m / (sum(own.size_xy_m) / 2)
            column, row = _times(factor, own.column_m), _times(factor, own.row_m)
            return replace(own, column_m=column, row_m=row, scale=factor, method=self._stated_method)
        column, row = (self.affine.a, -self.affine.d), (self.affine.b, -self.affine.e)
        mean = (np.hypot(*column) + np.hypot(*row)) / 2
        if not self._shows_shape:
            column, row, mean = (1.0, 0.0), (0.0, 1.0), 1.0
        factor = self.stated_gsd_m / float(mean)
        return Ground(_times(factor, column), _times(factor, row), self._stated_method, self.affine, self.shape)

    @property
    def _shows_shape(self) -> bool:
        """Whether the affine tells the ratio of a pixel's sides although its unit is unknown; degrees do not."""
        degrees = self.crs is not None and self.crs.is_geographic
        flat = self.affine.a * self.affine.e == self.affine.b * self.affine.d
        return not (degrees or flat or self.affine == Affine.identity())

    @property
    def _stated_method(self) -> str:
        return f"from the stated pixel size of {self.stated_gsd_m:g} m"

    @property
    def why_no_ground(self) -> str | None:
        """Why no ground size is known, None where one is."""
        own = self._from_file
        return own if self.ground is None and isinstance(own, str) else None

    def require_ground(self) -> Ground:
        """The ground under the grid.

        Raises:
            Refused: no ground size is known; the message says how to state one.
        """
        if self.ground is None:
            raise Refused(f"Metres cannot be measured: {self.why_no_ground}. Next: {STATE_THE_GSD}.")
        return self.ground

    @property
    def stated_clash(self) -> str | None:
        """A sentence where a typed pixel size is not the file's (by more than 1 %), or stands for unequal sides."""
        if self.stated_gsd_m is None:
            return None
        own, notes = self._from_file, []
        if isinstance(own, Ground):
            x, y = own.size_xy_m
            if abs(self.stated_gsd_m / ((x + y) / 2) - 1) > 0.01:
                notes.append(
                    f"The stated pixel size of {self.stated_gsd_m:g} m was used, "
                    f"although the file's georeferencing says {x:.4g} x {y:.4g} m."
                )
        x, y = self.require_ground().size_xy_m
        if abs(x / y - 1) > 0.001:
            notes.append(f"The pixels are not square; {self.stated_gsd_m:g} m was taken as the mean of both sides.")
        return " ".join(notes) or None

    @property
    def crs_name(self) -> str | None:
        """Short name of the CRS, None without one."""
        return None if self.crs is None else crs_name(self.crs)

    @cached_property
    def north(self) -> Direction:
        """The image direction nearest to true north at the centre; "up" where nothing says otherwise."""
        if self.crs is None or self.affine == Affine.identity():
            return "up"
        rows, cols = (np.array([size / 2]) for size in self.shape)
        try:
            centre = jacobian(self.affine, horizontal(self.crs), rows, cols)
        except NoGround:
            return "up"
        right, down = float(np.cos(centre.right[0])), float(np.cos(centre.down[0]))
        towards: dict[Direction, float] = {"up": -down, "right": right, "down": down, "left": -right}
        return "up" if np.isnan(right + down) else max(towards, key=lambda name: towards[name])

    def window(self, rows: slice, cols: slice) -> Grid:
        """The grid of a window; the slices lie inside the shape and have no step."""
        affine = self.affine @ Affine.translation(cols.start, rows.start)
        return replace(self, affine=affine, shape=(rows.stop - rows.start, cols.stop - cols.start))


def _times(factor: float, step: tuple[float, float]) -> tuple[float, float]:
    return factor * step[0], factor * step[1]
