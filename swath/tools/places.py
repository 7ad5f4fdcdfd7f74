"""Where objects are in the image: nine cells, the outermost ones, nearest to an edge, a corner, the centre."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import ToolError
from swath.raster.grid import Direction, Grid
from swath.tools.handles import Regions
from swath.tools.masks import compass
from swath.tools.rectangles import bounds_px
from swath.tools.regions import positive
from swath.tools.registry import tool
from swath.tools.shapes import upright_steps_m
from swath.tools.site import Site

FloatArray = NDArray[np.float64]
Cell = Literal[
    "top-left", "top-centre", "top-right", "centre-left", "centre", "centre-right",
    "bottom-left", "bottom-centre", "bottom-right", "top", "bottom", "left", "right",
]  # fmt: skip
Side = Literal["top", "bottom", "left", "right", "north", "south", "east", "west"]
Corner = Literal["top-left", "top-right", "bottom-left", "bottom-right"]

THIRDS = {"left": (0, 0), "centre": (1, 0), "right": (2, 0), "top": (0, 1), "bottom": (2, 1)}
"""Name to the number of a third and whether it counts columns (0) or rows (1)."""

ROWS, COLUMNS = ("top", "centre", "bottom"), ("left", "centre", "right")
DIRECTIONS: dict[str, Direction] = {"top": "up", "bottom": "down", "left": "left", "right": "right"}
SAME_PX = 1e-6


@tool(measures=True)
def in_cell(site: Site, regions: Regions, *, cell: Cell) -> Regions:
    """The regions whose centroid lies in a cell of the image cut into three rows and three columns.

    Args:
        site: the image.
        regions: where to choose.
        cell: "top-left" and the like is one of the nine cells, "centre" the one in the middle; "top", "bottom", "left"
            and "right" are the three cells along that edge.
    """
    x, y = _thirds(regions)
    if cell == "centre":
        inside = (x == 1) & (y == 1)
    elif "-" not in cell:
        third, of_rows = THIRDS[cell]
        inside = (y if of_rows else x) == third
    else:
        row, column = cell.split("-")
        inside = (y == (1 if row == "centre" else THIRDS[row][0])) & (x == THIRDS[column][0])
    return regions.take(inside, f"{regions.name} in the {cell} of the image")


@tool(measures=True)
def cell_of(site: Site, region: Regions) -> str:
    """The cell of the image that holds a region's centroid: "top-left", "top-centre" ... "centre" ... "bottom-right".

    The image is cut into three rows and three columns, as for `in_cell`.

    Args:
        site: the image.
        region: one region.

    Raises:
        ToolError: not exactly one region.
    """
    if len(region) != 1:
        raise ToolError(f"cell_of takes one region, not {len(region)}: use largest() or each() first.")
    x, y = (int(third[0]) for third in _thirds(region))
    return "centre" if x == y == 1 else f"{ROWS[y]}-{COLUMNS[x]}"


@tool(measures=True)
def extreme(site: Site, regions: Regions, *, side: Side, n: int = 1) -> Regions:
    """The n outermost regions on a side, outermost first: "left" gives the left-most.

    By the edge of the upright box that faces the side; of equals the one whose centroid is farther out.

    Args:
        site: the image.
        regions: where to choose.
        side: a side of the image, or the one nearest to a compass direction.
        n: how many, at least 1; all of them give the regions in order.
    """
    outward = _outward(regions, _direction(regions.grid, side))
    order = np.lexsort((-outward[:, 1], -outward[:, 0]))
    return regions.take(order[: positive(n)], f"{side}-most {regions.name}")


@tool(measures=True)
def nearest_to_edge(site: Site, regions: Regions, *, n: int = 1) -> Regions:
    """The n regions whose upright boxes are nearest to any edge of the image, nearest first; needs no ground size.

    Args:
        site: the image.
        regions: where to choose.
        n: how many, at least 1.
    """
    left, top, right, bottom = _gaps_px(regions)
    size_x, size_y = site.ground_or_pixels.size_xy_m
    area = site.ground_or_pixels.pixel_area_m2
    across, down = area / size_y, area / size_x  # at right angles to the edges, also where the grid is sheared
    gaps = np.minimum.reduce([left * across, right * across, top * down, bottom * down])
    return _ranked(regions, gaps, n, "the edge")


@tool(measures=True)
def nearest_to_corner(site: Site, regions: Regions, *, corner: Corner, n: int = 1) -> Regions:
    """The n regions whose upright boxes are nearest to a corner of the image, nearest first; needs no ground size.

    Args:
        site: the image.
        regions: where to choose.
        corner: which one.
        n: how many, at least 1.
    """
    left, top, right, bottom = _gaps_px(regions)
    x, y = -left if "left" in corner else right, -top if "top" in corner else bottom
    gaps = np.linalg.norm(on_plane(np.column_stack([x, y]), regions.grid), axis=1)
    return _ranked(regions, gaps, n, f"the {corner} corner")


@tool(measures=True)
def nearest_to_centre(site: Site, regions: Regions, *, n: int = 1) -> Regions:
    """The n regions whose centroids are nearest to the centre of the image, nearest first; needs no ground size.

    Args:
        site: the image.
        regions: where to choose.
        n: how many, at least 1.
    """
    rows, cols = regions.grid.shape
    away = centroids_xy(regions) - np.array([cols / 2, rows / 2])
    return _ranked(regions, np.linalg.norm(on_plane(away, regions.grid), axis=1), n, "the centre")


def centroids_xy(regions: Regions) -> FloatArray:
    """(n, 2) centroids, x and y in pixels from the image's outer corner."""
    return np.asarray(regions.column("centroids_yx")[:, ::-1] + 0.5, dtype=float)


def on_plane(xy: FloatArray, grid: Grid) -> FloatArray:
    """(n, 2) pixel offsets as metres to the right and down, by the ground size at the image's centre, or as pixels."""
    if grid.ground is None:
        return xy
    rows, cols = (np.array([size / 2 - 0.5]) for size in grid.shape)
    across, slant, down = (float(step[0]) for step in upright_steps_m(grid.ground, rows, cols))
    return np.column_stack([across * xy[:, 0], slant * xy[:, 0] + down * xy[:, 1]])


def _thirds(regions: Regions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) which third of the columns and of the rows holds each centroid: 0, 1 or 2."""
    rows, cols = regions.grid.shape
    x, y = np.floor(3 * centroids_xy(regions) / np.array([cols, rows])).astype(np.int64).clip(0, 2).T
    return x, y


def _direction(grid: Grid, side: str) -> Direction:
    return DIRECTIONS.get(side) or compass(grid)[side]


def _outward(regions: Regions, direction: Direction) -> FloatArray:
    """(n, 2) how far out the facing edge and the centroid lie in a direction of the image, in pixels."""
    x0, y0, x1, y1 = bounds_px(regions).T
    x, y = centroids_xy(regions).T
    found = {"up": (-y0, -y), "down": (y1, y), "left": (-x0, -x), "right": (x1, x)}[direction]
    return np.asarray(np.round(np.column_stack(found) / SAME_PX))


def _gaps_px(regions: Regions) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Gaps between upright boxes and the left, upper, right and lower edge of the image."""
    rows, cols = regions.grid.shape
    x0, y0, x1, y1 = bounds_px(regions).T
    return x0, y0, cols - x1, rows - y1


def _ranked(regions: Regions, gaps: FloatArray, n: int, what: str) -> Regions:
    order = np.argsort(np.round(gaps, 6), kind="stable")
    return regions.take(order[: positive(n)], f"{regions.name} nearest to {what}")
