"""Words for forms: round, square, elongated; large or small for its class; where a thing points; straight or curved."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused, ToolError
from swath.raster.geodesy import NoGround, horizontal, jacobian
from swath.raster.grid import Grid
from swath.tools.courses import bends, lengths
from swath.tools.handles import Regions, covered_area
from swath.tools.kernels import pixel_ground
from swath.tools.rectangles import corners_px, sides
from swath.tools.regions import sizes_of
from swath.tools.registry import tool
from swath.tools.shapes import axes, has_direction
from swath.tools.site import Site, require_area

FloatArray = NDArray[np.float64]
Form = Literal["elongation", "rectangularity", "circularity"]
FormWord = Literal["round", "elongated", "square", "rectangular", "irregular"]

ROUND, RECTANGULAR, ELONGATED, SQUARE = 0.97, 0.85, 3.0, 1.2
"""Least circularity of "round": a disc has 1, a square 0.955, an ellipse of 1.28 to 1 this. Least share of the oriented
box of "rectangular". Length to width from which things are "elongated", and up to which rectangles are "square"."""

FEW_PX = 50
"""A disc of pixels is round from 49 pixels on, whichever way it falls; smaller ones may come out irregular."""

STRAIGHT = 0.05
"""Largest bend of "straight": that of an arc of 23 degrees."""

SLENDER = 2.0
"""Least length along the middle, in mean widths, of what has a course at all."""

UNLIKE = 1.5
"""Largest to smallest area from which sizes are told apart at all."""

DIRECTIONS = ("north-south", "northeast-southwest", "east-west", "northwest-southeast")


@tool(measures=True)
def form_of_shape(site: Site, region: Regions, *, form: Form) -> float:
    """How elongated, rectangular or circular a region is, on the ground where the pixel size is known.

    Args:
        site: the image.
        region: one region.
        form: elongation = length / width of the oriented box, from 1 on; rectangularity = area / area of the oriented
            box, at most 1 (Rosin 1999); circularity = area / (2 pi x sum of the second moments about both axes, in
            units of area), 1 for a disc, 0.955 for a square (Zunic, Hirota and Rosin 2010).

    Raises:
        ToolError: not exactly one region.
        Refused: lines or points, which have no form.
    """
    _one("form_of_shape", region)
    return float(_forms(region)[form][0])


@tool(measures=True)
def shape_of(site: Site, region: Regions) -> str:
    """The shape of a region in a word: "round", "elongated", "square", "rectangular" or "irregular".

    The first that fits: round from a circularity of 0.97 on; elongated where length / width is 3 or more; rectangular
    from a rectangularity of 0.85 on, and then square up to a length / width of 1.2; else irregular. See
    `form_of_shape`.

    Args:
        site: the image.
        region: one region.

    Raises:
        ToolError: not exactly one region.
        Refused: lines or points, which have no shape.
    """
    _one("shape_of", region)
    return _words(site, region)[0]


@tool(measures=True)
def of_shape(site: Site, regions: Regions, *, shape: FormWord) -> Regions:
    """The regions of a shape; see `shape_of`.

    Args:
        site: the image.
        regions: where to choose.
        shape: which one.

    Raises:
        Refused: lines or points, which have no shape.
    """
    return regions.take(
        np.array([word == shape for word in _words(site, regions)], dtype=bool), f"{shape} {regions.name}"
    )


@tool(measures=True)
def size_of(site: Site, region: Regions, *, among: Regions) -> str:
    """The size of a region against others of its class: "large", "small", or "alike" where all are about one size.

    Large above the geometric mean of the least and the largest area, else small; alike where the largest is less than
    1.5 times the smallest.

    Args:
        site: the image.
        region: one region.
        among: the objects that set the scale, such as all of its class in the image.

    Raises:
        ToolError: not exactly one region.
        Refused: there is nothing to compare with.
    """
    _one("size_of", region)
    if not len(among):
        raise Refused(f"There are no {among.name} in the image to compare with.")
    return str(_sizes(region, among)[0])


@tool(measures=True)
def of_size(site: Site, regions: Regions, *, size: Literal["large", "small"], among: Regions | None = None) -> Regions:
    """The large or the small ones of some regions; see `size_of`. Where all are alike, none is large or small.

    Args:
        site: the image.
        regions: where to choose.
        size: which ones.
        among: the objects that set the scale, such as all of the class; `regions` themselves if left out.
    """
    return regions.take(_sizes(regions, regions if among is None else among) == size, f"{size} {regions.name}")


@tool(measures=True)
def azimuth_deg(site: Site, region: Regions) -> float:
    """Direction of a region's long axis in degrees clockwise from true north, 0 to 180.

    The axis is that of the largest second moment on the ground. North is that of the grid's CRS at the region's
    centroid; where nothing says where north is, up is taken for it, with a warning.

    Args:
        site: the image.
        region: one region.

    Raises:
        ToolError: not exactly one region.
        Refused: the region has no long axis.
    """
    _one("azimuth_deg", region)
    long, short, clockwise = axes(region).T
    if not has_direction(long, short)[0]:
        raise Refused(f"{region.name} is as wide as it is long, so that it has no direction.")
    return float((_up_deg(site, region) + _handedness(region) * clockwise[0]) % 180.0 % 180.0)


@tool(measures=True)
def direction_of(site: Site, region: Regions) -> str:
    """The direction of a region in words: "north-south", "northeast-southwest", "east-west" or "northwest-southeast".

    The one nearest to `azimuth_deg`.

    Args:
        site: the image.
        region: one region.

    Raises:
        ToolError: not exactly one region.
        Refused: the region has no long axis.
    """
    return DIRECTIONS[round(azimuth_deg(site, region) / 45.0) % 4]


@tool(measures=True)
def course_of(site: Site, region: Regions) -> str:
    """Whether a road, a river or another band is "straight" or "curved".

    Straight where no point of its middle line is farther from the line between its ends than 0.05 times their distance
    (an arc of 23 degrees). The middle line is the longest way through the region's skeleton (Zhang and Suen 1984), a
    mean width shorter at each end; of a network it is the longest way through it.

    Args:
        site: the image.
        region: one region.

    Raises:
        ToolError: not exactly one region.
        Refused: the region is no band: its middle line is shorter than two mean widths.
    """
    _one("course_of", region)
    length, width = lengths(region)
    if length < SLENDER * width:
        raise Refused(f"{region.name} is no band: it is less than twice as long as wide, and has no course.")
    return "straight" if bends(region) <= STRAIGHT else "curved"


def _one(tool_name: str, region: Regions) -> None:
    if len(region) != 1:
        raise ToolError(f"{tool_name} takes one region, not {len(region)}: use largest() or each() first.")


def _sizes(regions: Regions, among: Regions) -> NDArray[np.object_]:
    """(n,) "large", "small" or "alike": each region against the areas of some objects."""
    scale = sizes_of(among)
    if not len(scale) or scale.max() < UNLIKE * scale.min():
        return np.full(len(regions), "alike", dtype=object)
    middle = np.sqrt(scale.min() * scale.max())
    return np.where(sizes_of(regions) > middle, "large", "small").astype(object)


def _forms(regions: Regions) -> dict[str, FloatArray]:
    """(n,) of each form."""
    require_area(regions)
    ground = regions.grid.ground or pixel_ground(regions.grid.shape)
    each = [regions.take([k], regions.name) for k in range(len(regions))]
    areas = np.array([covered_area(one, ground) for one in each])
    pixel_areas = regions.measured(lambda runs: runs.areas_m2(ground))
    length, width = sides(corners_px(regions), regions.grid).T
    long, short, _ = axes(regions).T
    return {
        "elongation": length / width,
        "rectangularity": np.minimum(areas / (length * width), 1.0),
        "circularity": np.minimum(pixel_areas / (2 * np.pi * (long**2 + short**2)), 1.0),
    }


def _words(site: Site, regions: Regions) -> list[FormWord]:
    few = int(np.count_nonzero(regions.column("sizes_px") < FEW_PX))
    if few:
        site.warn(
            f"Shapes of regions of less than {FEW_PX} pixels, {few} of {len(regions)} here, depend on how pixels fall."
        )
    forms = _forms(regions)
    triples = zip(forms["elongation"], forms["rectangularity"], forms["circularity"], strict=True)
    return [_word(*triple) for triple in triples]


def _word(elongation: float, rectangularity: float, circularity: float) -> FormWord:
    if circularity >= ROUND:
        return "round"
    if elongation >= ELONGATED:
        return "elongated"
    if rectangularity < RECTANGULAR:
        return "irregular"
    return "square" if elongation <= SQUARE else "rectangular"


def _steps(region: Regions) -> tuple[float, float] | None:
    """Azimuths in degrees of a step right and a step down at a region's centroid; None where north is not known."""
    grid: Grid = region.grid
    if grid.crs is None:
        return None
    row, col = (np.array([value + 0.5]) for value in region.column("centroids_yx")[0])
    try:
        found = jacobian(grid.affine, horizontal(grid.crs), row, col)
    except NoGround:
        return None
    right, down = float(np.degrees(found.right[0])), float(np.degrees(found.down[0]))
    return None if np.isnan(right + down) else (right, down)


def _up_deg(site: Site, region: Regions) -> float:
    """Azimuth of the image's up at a region's centroid, in degrees."""
    steps = _steps(region)
    if steps is None:
        site.warn("Nothing in the image says where north is: up is taken for north.")
        return 0.0
    return steps[1] + 180.0


def _handedness(region: Regions) -> int:
    """1 where clockwise in the image is clockwise on the ground, -1 where the image shows it as from below."""
    steps = _steps(region)
    return -1 if steps is not None and np.sin(np.radians(steps[1] - steps[0])) < 0 else 1
