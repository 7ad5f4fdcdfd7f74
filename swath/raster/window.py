"""A window of a grid that measures exactly as the whole does.

`Grid.window` measures the ground anew around the window's own centre, as for an image of its own. Here every pixel
keeps the size and the place that it has in the whole, so that a part of an image gives the numbers of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swath.raster.grid import Direction, Grid
from swath.raster.ground import Ground

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class WindowGround(Ground):
    """The ground under a window.

    Attributes:
        whole: the ground under the whole grid.
        first_row: its row at which the window begins.
        first_col: its column at which the window begins.
    """

    whole: Ground = field(repr=False)
    first_row: int
    first_col: int

    def area_m2(self, row_slice: slice) -> FloatArray:
        """Area in m2 of each pixel of some rows of the window; see `Ground.area_m2`."""
        if self.uniform:
            return self.whole.area_m2(row_slice)
        start, stop, step = row_slice.indices(self.shape[0])
        rows = self.whole.area_m2(slice(start + self.first_row, stop + self.first_row, step))
        return rows[:, self.first_col : self.first_col + self.shape[1]]

    def positions_m(self, rows: FloatArray, cols: FloatArray) -> FloatArray:
        """Ground positions of pixels of the window, in the frame of the whole; see `Ground.positions_m`."""
        return self.whole.positions_m(np.asarray(rows) + self.first_row, np.asarray(cols) + self.first_col)


@dataclass(frozen=True, kw_only=True)
class WindowGrid(Grid):
    """The grid of a window.

    Attributes:
        whole: the grid that it is a window of.
        first_row: its row at which the window begins.
        first_col: its column at which the window begins.
    """

    whole: Grid = field(repr=False)
    first_row: int
    first_col: int

    @cached_property
    def _from_file(self) -> Ground | str:
        return self.whole._from_file

    @cached_property
    def ground(self) -> Ground | None:
        """The ground under the window; None where that of the whole is not known."""
        whole = self.whole
        if self.stated_gsd_m != whole.stated_gsd_m:
            whole = replace(whole, stated_gsd_m=self.stated_gsd_m)
        if whole.ground is None:
            return None
        known = {name.name: getattr(whole.ground, name.name) for name in fields(Ground)}
        place = {"whole": whole.ground, "first_row": self.first_row, "first_col": self.first_col}
        return WindowGround(**known | {"shape": self.shape, "affine": self.affine} | place)

    @cached_property
    def north(self) -> Direction:
        """The image direction nearest to true north at the centre of the whole."""
        return self.whole.north


def window_of(grid: Grid, rows: slice, cols: slice) -> WindowGrid:
    """A window of a grid; the slices lie inside its shape and have no step."""
    own = grid.window(rows, cols)
    return WindowGrid(
        affine=own.affine,
        shape=own.shape,
        crs=own.crs,
        no_ground_reason=own.no_ground_reason,
        stated_gsd_m=own.stated_gsd_m,
        whole=grid,
        first_row=rows.start,
        first_col=cols.start,
    )
