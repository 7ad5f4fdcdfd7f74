"""Areas, shares, outlines, shapes, densities, solar power, units."""

from __future__ import annotations

import numpy as np

from swath.errors import Refused, ToolError
from swath.raster.ground import Ground
from swath.raster.pixel_sets import number_of
from swath.raster.tiled import PixelSet
from swath.tools import kernels
from swath.tools.adjusted import adjusted_share
from swath.tools.cells import warn_of_gaps
from swath.tools.handles import Known, Mask, Regions, covered_area
from swath.tools.regions import Statistic, statistic_of
from swath.tools.registry import tool
from swath.tools.shapes import SHAPES, Shape, axes, has_direction
from swath.tools.site import Site, doubted_area_m2, require_area
from swath.tools.units import converted


@tool(measures=True)
def area_m2(site: Site, of: Mask | Regions) -> float:
    """True ground area in m2; 0 where there is nothing."""
    if site.errors is not None:
        ground = site.raster.grid.require_ground()
        return adjusted_share(site, of, ground) * kernels.mask_area_m2(site.valid, ground)
    _say_unknown(site, of)
    return doubted_area_m2(site, of)


@tool(measures=True)
def area_px(site: Site, of: Mask | Regions) -> int:
    """Number of pixels; needs no ground size."""
    _say_unknown(site, of)
    return site.mask_of(of).size_px


@tool(measures=True)
def share_percent(site: Site, part: Mask | Regions, *, of: Mask | Regions | None = None) -> float:
    """What share a part has, in percent of the valid pixels of the image or of another mask.

    Ground is compared with ground; where all pixels are alike they are counted, so that no ground size is needed.
    Only pixels of the part that lie in `of` count. Of a part by height, slope or aspect only pixels where these are
    known count, in the numerator and in the denominator.

    Args:
        site: the image.
        part: the numerator.
        of: the denominator; the whole image (inside the area of interest) if left out.

    Raises:
        Refused: the denominator is empty, or nothing in it is known.
    """
    require_area(part)
    if site.errors is not None:
        if of is not None:
            raise Refused(
                "An error matrix corrects shares of the whole image, not of a class. Next: leave --confusion out."
            )
        return 100.0 * adjusted_share(site, part, _weights(site))
    whole = None if of is None else site.mask_of(of)
    weights, known = _weights(site), site.mask_of(part).known
    within = site.valid if whole is None else whole.pixels
    if known is not None:
        within = _known_part(site, within, known, "the image" if whole is None else whole.name)
    denominator = kernels.mask_area_m2(within, weights)
    if not denominator:
        name = "valid pixel" if whole is None else whole.name
        raise Refused(f"There is no {name} in the image, so that a share of it has no value.")
    pixels = site.mask_of(part).pixels
    if whole is None and known is None:
        weight = covered_area(part, weights)
    else:
        pixels = pixels & within
        weight = kernels.mask_area_m2(pixels, weights)
    direction = site.boundary_shift(part.classes)
    if direction:
        counting = site.valid if known is None else site.valid & known.pixels
        weight += direction * kernels.outline_m(pixels, counting, weights) * sum(weights.size_xy_m) / 4
    return float(min(max(100.0 * weight / denominator, 0.0), 100.0))


def _known_part(site: Site, pixels: PixelSet, known: Known, name: str) -> PixelSet:
    """The pixels of which something is known; says which share of them is not.

    Raises:
        Refused: nothing is known of any of them.
    """
    total, kept = number_of(pixels), pixels & known.pixels
    missing = total - number_of(kept)
    if total and missing == total:
        raise Refused(f"No pixel of {name} has a known {known.field}. Next: give heights that cover it.")
    warn_of_gaps(site, name, missing, total, f"pixels have no known {known.field}; the others count")
    return kept


def _say_unknown(site: Site, of: Mask | Regions) -> None:
    """Say of which share of the image it is unknown whether it belongs to what is measured."""
    known = site.mask_of(of).known
    if known is not None:
        total = number_of(site.valid)
        missing = total - number_of(site.valid & known.pixels)
        warn_of_gaps(site, "the image", missing, total, f"pixels have no known {known.field} and are left out")


def _weights(site: Site) -> Ground:
    """The ground by which pixels are weighted: where all are alike each counts as 1, so that shares are exact."""
    ground = site.raster.grid.ground
    return ground if ground is not None and not ground.uniform else kernels.pixel_ground(site.valid.shape)


@tool(measures=True)
def perimeter_m(site: Site, of: Mask | Regions) -> float:
    """Length in metres of the outline; the shoreline where `of` is water.

    By marching squares at half level (the contour that scikit-image's `find_contours` draws), on the ground; the image
    border and edges to void are not counted.
    """
    require_area(of)
    site.warn("Outlines are measured by marching squares at half level, without the image border and edges to void.")
    site.doubts.add("outline")
    length = float(of.column("outlines_m").sum()) if isinstance(of, Regions) else of.outline_m
    if site.nudge.outline < 0:
        return length / kernels.longest_detour(site.raster.grid.require_ground())
    return length + _cut_corners_m(site, of) if site.nudge.outline > 0 else length


def _cut_corners_m(site: Site, of: Mask | Regions) -> float:
    """By how much outlines may be too short: by what half a pixel of growth adds to each, 2 pi times that (Steiner).

    Marching squares cut each right angle of a pixel staircase by 0.29 pixels: of a rectangle 1.17 pixels in all.
    """
    objects = len(of) if isinstance(of, Regions) else len(of.objects(8).sizes_px)
    return float(2 * np.pi * site.half_pixel_m * objects)


@tool(measures=True)
def density_per_km2(site: Site, regions: Regions, *, of: Mask | None = None) -> float:
    """Regions per square kilometre of the image's valid area, or of a mask.

    Args:
        site: the image.
        regions: what is counted.
        of: the area they are related to.

    Raises:
        Refused: that area is empty.
    """
    ground = site.raster.grid.require_ground()
    area = kernels.mask_area_m2(site.valid if of is None else of.pixels, ground)
    if not area:
        raise Refused(f"There is no {'valid pixel' if of is None else of.name} in the image to relate a density to.")
    return len(regions) / (area / 1e6)


@tool(measures=True)
def fragmentation(site: Site, regions: Regions) -> str:
    """Whether a class is in one piece: "connected" for one region, "fragmented" for more, "absent" for none."""
    return "absent" if not len(regions) else "connected" if len(regions) == 1 else "fragmented"


@tool(measures=True)
def orientation_deg(site: Site, region: Regions) -> float:
    """Direction of a region's long axis in degrees clockwise from the image's up, 0 to 180.

    The direction of the largest second moment of the pixels (the `orientation` of scikit-image's `regionprops`), taken
    on the ground where the pixel size is known.

    Raises:
        ToolError: not exactly one region.
        Refused: the region has no long axis.
    """
    if len(region) != 1:
        raise ToolError(f"orientation_deg takes one region, not {len(region)}: use largest() or each() first.")
    found = axes(region)
    if not has_direction(found[:, 0], found[:, 1])[0]:
        raise Refused(f"{region.name} is as wide as it is long, so that it has no direction.")
    return float(found[0, 2])


@tool(measures=True)
def shape_statistic(site: Site, regions: Regions, *, shape: Shape, statistic: Statistic) -> float:
    """Statistic of a shape measure of the regions, on the ground where the pixel size is known.

    Args:
        site: the image.
        regions: whose shapes.
        shape: elongation = long axis / short axis of the ellipse with the same second moments, pixels being squares;
            solidity = area / area of the convex hull (scikit-image's `regionprops`); extent = area / area of the pixel
            box; compactness = 4 pi area / outline squared, at most 1, about 0.9 for a disc of pixels.
        statistic: which number for many.

    Raises:
        Refused: there are no regions.
    """
    return statistic_of(SHAPES[shape](regions), statistic, regions.name)


@tool(measures=True)
def solar_power_kw(
    site: Site, of: Mask | Regions, *, irradiance_w_per_m2: float = 1000.0, efficiency: float = 0.2
) -> float:
    """Peak power in kW of solar panels: area x irradiance x efficiency.

    Args:
        site: the image.
        of: the panels.
        irradiance_w_per_m2: 1000 W/m2 is the standard test condition.
        efficiency: share of light that becomes power, 0 to 1.
    """
    if not 0 <= efficiency <= 1:
        raise ToolError(f"efficiency is a share between 0 and 1, not {efficiency:g}.")
    site.warn(f"Solar power assumes {irradiance_w_per_m2:g} W/m2 and an efficiency of {efficiency:g}.")
    return doubted_area_m2(site, of) * irradiance_w_per_m2 * efficiency / 1000.0


@tool()
def ratio(site: Site, a: float, b: float) -> float:
    """One number divided by another.

    Args:
        site: the image.
        a: the numerator.
        b: the denominator.

    Raises:
        Refused: the denominator is 0.
    """
    if b == 0:
        raise Refused("There is nothing to compare with: the second quantity is 0, so that the ratio has no value.")
    return a / b


@tool()
def convert(site: Site, value: float, *, from_unit: str, to_unit: str) -> float:
    """A quantity in another unit of the same dimension.

    Args:
        site: the image.
        value: how much.
        from_unit: "m", "m2", "ha", "km2", "acre", "sqft", "sqyd", "ft", "yd", "mi", "km", "kW", "MW", "per km2" ...
        to_unit: likewise.

    Raises:
        ToolError: an unknown unit, or two of different dimensions.
    """
    try:
        return converted(value, from_unit, to_unit)
    except ValueError as error:
        raise ToolError(f"convert: {error}") from None
