"""What kind of place the image shows, by published rules on the shares of classes."""

from __future__ import annotations

from functools import reduce
from operator import or_

from swath.errors import Refused
from swath.raster.ground import Ground
from swath.raster.tiled import PixelSet
from swath.segment.protocol import listed_classes
from swath.segment.vocabulary import concept_of
from swath.tools.handles import Mask, Regions
from swath.tools.kernels import mask_area_m2, pixel_ground
from swath.tools.registry import tool
from swath.tools.site import Site

BUILT = "urban or built-up land"
COVERS: dict[str, tuple[str, ...]] = {
    BUILT: (
        "building", "house", "warehouse", "urban", "built_up", "impervious", "road", "railway", "parking", "bridge",
        "runway", "tank", "solar", "swimming_pool",
    ),
    "agricultural land": ("agriculture", "orchard", "paddy"),
    "rangeland": ("grass", "shrub"),
    "forest": ("forest",),
    "vegetation": ("vegetation",),
    "water": ("water", "lake", "pond", "river", "sea"),
    "wetland": ("wetland",),
    "barren land": ("barren", "sand", "rock", "beach", "quarry"),
    "snow or ice": ("snow",),
}  # fmt: skip
"""The first level of Anderson's land use and land cover, and the concepts of the vocabulary that belong to each.
"vegetation" is for sources that do not divide it."""

URBAN_PERCENT = 30.0
"""Least share of built-up surfaces of "urban": that of the class of IGBP (at least 30 % impervious)."""


@tool(measures=True)
def rural_or_urban(site: Site) -> str:
    """Whether the image shows an "urban" or a "rural" place, by the share of built-up classes.

    Urban from 30 % of the valid area on, as IGBP's class of urban and built-up lands has it: buildings, roads, parking,
    railways and the like together. Area of which the source does not say whether it is built up may be either.

    Args:
        site: the image.

    Raises:
        Refused: the classes leave it open; the message says by how much.
    """
    shares, open_percent = _shares(site)
    built = shares.get(BUILT, 0.0)
    site.warn(
        f"Urban from {URBAN_PERCENT:g} % built-up surfaces on (IGBP): {built:.1f} % are built-up, "
        f"{open_percent:.1f} % are of no class that tells."
    )
    if built < URBAN_PERCENT <= built + open_percent:
        raise Refused(
            f"Whether this is rural or urban cannot be told: {built:.1f} % of the image are built-up, and "
            f"{open_percent:.1f} % are of no class that tells, while {URBAN_PERCENT:g} % decide. "
            "Next: give classes that cover the image, with --labels."
        )
    return "urban" if built >= URBAN_PERCENT else "rural"


@tool(measures=True)
def main_scene(site: Site) -> str:
    """What most of the image is, in the words of Anderson's first level of land use and land cover (1976).

    "urban or built-up land", "agricultural land", "rangeland", "forest", "water", "wetland", "barren land", "snow or
    ice", or "vegetation" where the source does not divide it: the one with the largest share of the valid area.

    Args:
        site: the image.

    Raises:
        Refused: more of the image than that is of no such class.
    """
    shares, open_percent = _shares(site)
    name = max(shares, key=lambda cover: shares[cover])
    told = ", ".join(f"{cover} {share:.1f} %" for cover, share in sorted(shares.items(), key=lambda item: -item[1]))
    site.warn(f"The main scene is the land cover with the largest share: {told}; of no class {open_percent:.1f} %.")
    if shares[name] <= open_percent:
        raise Refused(
            f"The main scene cannot be told: {open_percent:.1f} % of the image are of no class of land cover, more "
            f"than of any ({told}). Next: give classes that cover the image, with --labels."
        )
    return name


@tool()
def has_area(site: Site, of: Mask | Regions) -> bool:
    """Whether things have an area; lines and points have none."""
    return of.areal


def _shares(site: Site) -> tuple[dict[str, float], float]:
    """Percent of the valid area of each land cover, and of none; what is of two counts to the first of `COVERS`.

    Raises:
        Refused: the source knows no class of land cover, or there is no valid pixel.
    """
    ground = site.raster.grid.ground or pixel_ground(site.valid.shape)
    whole = mask_area_m2(site.valid, ground)
    known = site.backend.classes()
    of_cover = {cover: _classes(known, concepts) for cover, concepts in COVERS.items()}
    if not any(of_cover.values()) or not whole:
        raise Refused(
            f"The scene cannot be told: the source of classes ({site.backend.name}) knows no class of land cover"
            f"{' but ' + listed_classes(known) if known else ''}. Next: give such classes with --labels."
        )
    rest, shares = site.valid, dict[str, float]()
    for cover, names in of_cover.items():
        if names:
            shares[cover], rest = _taken(site, names, rest, ground, whole)
    return shares, 100.0 * mask_area_m2(rest, ground) / whole


def _classes(known: tuple[str, ...], concepts: tuple[str, ...]) -> list[str]:
    return [name for name in known if concept_of(name) in concepts]


def _taken(site: Site, names: list[str], rest: PixelSet, ground: Ground, whole: float) -> tuple[float, PixelSet]:
    """Percent of the area of some classes among what is left, and what is left after them."""
    found = [mask.pixels for mask in map(site.class_mask, names) if mask.areal]
    if not found:
        return 0.0, rest
    pixels = reduce(or_, found) & rest
    return 100.0 * mask_area_m2(pixels, ground) / whole, rest & ~pixels
