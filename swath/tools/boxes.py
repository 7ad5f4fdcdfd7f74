"""Boxes: upright and oriented ones of objects, their length and width, places as points."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused, ToolError
from swath.tools.handles import Mask, Regions
from swath.tools.rectangles import bounds_px, corners_px, sides
from swath.tools.regions import Statistic, all_components, positive, statistic_of
from swath.tools.registry import tool
from swath.tools.site import Site

Side = Literal["length", "width"]
SIDES: tuple[Side, ...] = ("length", "width")
DECIMALS = 3
"""Of a pixel: outlines that went through a CRS are off by less."""


@tool(measures=True)
def boxes_px(site: Site, regions: Regions) -> list[list[float]]:
    """Upright box of every region, [x_min, y_min, x_max, y_max] in pixels, in order; for kind "boxes".

    Half-open, x to the right and y down from the image's outer corner; exact where the source has outlines.
    """
    return _listed(bounds_px(regions))


@tool(measures=True)
def box_px(site: Site, of: Mask | Regions) -> list[float]:
    """The one upright box around a mask or around all regions, [x_min, y_min, x_max, y_max] in pixels.

    Raises:
        Refused: there is nothing.
    """
    bounds = bounds_px(of if isinstance(of, Regions) else all_components(of, 8))
    if not len(bounds):
        raise Refused(f"There is no {of.name} in the image, so that it has no box.")
    return _listed(np.concatenate([bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)])[None])[0]


@tool(measures=True)
def oriented_boxes_px(site: Site, regions: Regions) -> list[list[float]]:
    """Oriented box of every region: its four corners, [x1, y1, x2, y2, x3, y3, x4, y4] in pixels; for kind "boxes".

    The rectangle of least area on the ground (in the image where no pixel size is known), corners clockwise from the
    top-left-most.
    """
    return _listed(corners_px(regions).reshape(-1, 8))


@tool(measures=True)
def points_px(site: Site, regions: Regions) -> list[list[float]]:
    """Centroid of every region, [x, y] in pixels from the image's outer corner, in order; for kind "point"."""
    return _listed(regions.column("centroids_yx")[:, ::-1] + 0.5)


@tool(measures=True)
def length_m(site: Site, region: Regions) -> float:
    """Long side in metres of the oriented box of one region.

    Raises:
        ToolError: not exactly one region.
    """
    return _of_one(site, region, "length")


@tool(measures=True)
def width_m(site: Site, region: Regions) -> float:
    """Short side in metres of the oriented box of one region.

    Raises:
        ToolError: not exactly one region.
    """
    return _of_one(site, region, "width")


@tool(measures=True)
def sides_m(site: Site, regions: Regions, *, side: Side) -> list[float]:
    """Long or short side in metres of the oriented box of every region, in order.

    Args:
        site: the image.
        regions: whose boxes.
        side: "length" is the long one, "width" the short one.
    """
    return [float(value) for value in _sides_m(site, regions, side)]


@tool(measures=True)
def side_statistic_m(site: Site, regions: Regions, *, side: Side, statistic: Statistic) -> float:
    """Mean, median, largest ... of the regions' lengths or widths in metres.

    Args:
        site: the image.
        regions: whose boxes.
        side: "length" is the long one, "width" the short one.
        statistic: which number for many.

    Raises:
        Refused: there are no regions.
    """
    return statistic_of(_sides_m(site, regions, side), statistic, regions.name)


@tool(measures=True)
def longest(site: Site, regions: Regions, *, n: int = 1) -> Regions:
    """The n regions with the longest oriented boxes, longest first; needs no ground size.

    Args:
        site: the image.
        regions: where to choose.
        n: how many, at least 1.
    """
    return regions.take(_by_length(regions)[: positive(n)], f"longest {regions.name}")


@tool(measures=True)
def sort_by_length(site: Site, regions: Regions, *, descending: bool = True) -> Regions:
    """The regions ordered by the length of their oriented boxes; needs no ground size.

    Args:
        site: the image.
        regions: what to order.
        descending: longest first.
    """
    return regions.take(_by_length(regions, descending=descending), f"{regions.name} by length")


def _by_length(regions: Regions, *, descending: bool = True) -> NDArray[np.int64]:
    """Positions in the order of length; of regions alike to a millionth the one that came first stays first."""
    lengths = np.round(sides(corners_px(regions), regions.grid)[:, 0], 6)
    return np.argsort(-lengths if descending else lengths, kind="stable")


def _sides_m(site: Site, regions: Regions, side: Side) -> NDArray[np.float64]:
    """(n,) sides in metres under the present doubt: each of the two ends moves by half a pixel."""
    regions.grid.require_ground()
    found = sides(corners_px(regions), regions.grid)[:, SIDES.index(side)]
    shift = site.boundary_shift(regions.classes)
    return np.asarray(np.maximum(found + 2 * shift * site.half_pixel_m, 0.0)) if shift else found


def _of_one(site: Site, region: Regions, side: Side) -> float:
    if len(region) != 1:
        raise ToolError(
            f"{side}_m takes one region, not {len(region)}: use largest() or each() first, or side_statistic_m()."
        )
    return float(_sides_m(site, region, side)[0])


def _listed(numbers: NDArray[np.float64]) -> list[list[float]]:
    """Rows of floats; adding 0 turns -0.0 into 0.0."""
    rows: list[list[float]] = (np.round(numbers, DECIMALS) + 0.0).tolist()
    return rows
