"""How objects lie to each other: next to, on one side of, between, inside, surrounded by; each needs no ground size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.errors import ToolError
from swath.raster.tiled import PixelSet
from swath.tools.handles import BoolImage, LabelImage, Mask, Regions
from swath.tools.masks import compass
from swath.tools.patches import Patches
from swath.tools.places import centroids_xy, on_plane
from swath.tools.rectangles import bounds_px, corners_px
from swath.tools.regions import all_components
from swath.tools.registry import tool
from swath.tools.runs import Runs
from swath.tools.site import Site

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Geometries = NDArray[np.object_]
Side = Literal["left", "right", "above", "below", "north", "south", "east", "west"]

DIRECTIONS = {"above": "up", "below": "down", "left": "left", "right": "right"}
MOST_PAIRS = 10_000
HELD_SHARE = 0.9
"""Share of an object's pixels that must lie in what it is inside of: outlines are seldom drawn to the pixel."""

SECTORS, ENOUGH_SECTORS = 16, 12
REACH = 2.0
"""How far around an object its surroundings go, from its centroid, in lengths of its oriented box."""

SLACK = 1 + 1e-9


@tool(measures=True)
def next_to(site: Site, regions: Regions, target: Mask | Regions) -> Regions:
    """The regions next to an object: the gap is at most the length of the smaller of the two.

    The gap is that between their oriented boxes; length is the long side; the smaller is the one with the shorter long
    side. A region is not next to itself.

    Args:
        site: the image.
        regions: where to choose.
        target: next to any object of it.
    """
    others = _objects(target)
    mine, theirs = _boxes(regions), _boxes(others)
    my_length, their_length = _lengths(regions), _lengths(others)
    i, j = shapely.STRtree(theirs).query(mine, predicate="dwithin", distance=my_length * SLACK)
    close = shapely.distance(mine[i], theirs[j]) <= np.minimum(my_length[i], their_length[j]) * SLACK
    found = np.zeros(len(regions), dtype=bool)
    found[i[close & ~_same(regions, others, i, j)]] = True
    return regions.take(found, f"{regions.name} next to {target.name}")


@tool(measures=True)
def on_side(site: Site, regions: Regions, target: Mask | Regions, *, side: Side) -> Regions:
    """The regions on one side of an object, however far: left of, right of, above or below it.

    The centroid lies beyond the object's upright box on that side, and from centroid to centroid it is farther in that
    direction than across it (within 45 degrees).

    Args:
        site: the image.
        regions: where to choose.
        target: on the side of any object of it.
        side: as seen in the image, or the image direction nearest to a compass direction.
    """
    direction = DIRECTIONS.get(side) or compass(regions.grid)[side]
    others = _objects(target)
    points, centres, boxes = centroids_xy(regions), centroids_xy(others), bounds_px(others)
    axis, sign = (0 if direction in ("left", "right") else 1), (-1 if direction in ("left", "up") else 1)
    edges = boxes[:, axis] if sign < 0 else boxes[:, axis + 2]
    found = np.zeros(len(regions), dtype=bool)
    for centre, edge in zip(centres, edges, strict=True):
        away = np.abs(on_plane(points - centre, regions.grid))
        found |= (sign * (points[:, axis] - edge) > 0) & (away[:, axis] * SLACK >= away[:, 1 - axis])
    return regions.take(found, f"{regions.name} {_of(side)} {target.name}")


@tool(measures=True)
def between(site: Site, regions: Regions, a: Mask | Regions, b: Mask | Regions) -> Regions:
    """The regions between two things: the centroid lies in the hull around both oriented boxes and in neither box.

    Args:
        site: the image.
        regions: where to choose.
        a: the one; any object of it.
        b: the other; may be the same set, then two different objects of it are meant.

    Raises:
        ToolError: there are too many pairs.
    """
    first, second = _objects(a), _objects(b)
    if len(first) * len(second) > MOST_PAIRS:
        raise ToolError(
            f"between: {len(first)} {a.name} and {len(second)} {b.name} are more than {MOST_PAIRS:,} pairs: choose "
            "among them first."
        )
    points = shapely.points(centroids_xy(regions))
    boxes_a, boxes_b = _pixel_boxes(first), _pixel_boxes(second)
    held_a, held_b = (shapely.covers(boxes[:, None], points) for boxes in (boxes_a, boxes_b))
    found = np.zeros(len(regions), dtype=bool)
    for i, j in product(range(len(first)), range(len(second))):
        if not _same(first, second, np.array([i]), np.array([j]))[0]:
            hull = shapely.convex_hull(shapely.union(boxes_a[i], boxes_b[j]))
            shapely.prepare(hull)
            found |= shapely.covers(hull, points) & ~held_a[i] & ~held_b[j]
    return regions.take(found, f"{regions.name} between {a.name} and {b.name}")


@tool(measures=True)
def inside(site: Site, regions: Regions, container: Mask | Regions) -> Regions:
    """The regions inside an object: at least 90 % of their pixels lie in it, its holes counting as part of it.

    Args:
        site: the image.
        regions: where to choose.
        container: inside any one object of it; a region is not inside itself.
    """
    others = _objects(container)
    members = list(_members(regions))
    found = np.zeros(len(regions), dtype=bool)
    tree = shapely.STRtree(shapely.box(*bounds_px(regions).T))
    for holder, (filled, y0, x0) in zip(_members(others), _filled(others), strict=True):
        window = shapely.box(x0, y0, x0 + filled.shape[1], y0 + filled.shape[0])
        for i in tree.query(window).tolist():
            source, index = members[i]
            if not found[i] and (source is not holder[0] or index != holder[1]):
                found[i] = _share_in(source.runs.of(np.array([index])), filled, y0, x0) >= HELD_SHARE
    return regions.take(found, f"{regions.name} inside {container.name}")


@tool(measures=True)
def surrounded_by(site: Site, regions: Regions, target: Mask | Regions) -> Regions:
    """The regions with a target around them: in at least 12 of 16 directions from the centroid there is some of it.

    Not farther from the centroid than twice the length of the region's oriented box; the region's own pixels do not
    count.

    Args:
        site: the image.
        regions: where to choose.
        target: what is around them.
    """
    pixels = site.mask_of(target).pixels
    centres, reaches = centroids_xy(regions), REACH * _lengths(regions)
    around = [
        _sectors(site, pixels, source.runs.of(np.array([index])), centre, reach) >= ENOUGH_SECTORS
        for (source, index), centre, reach in zip(_members(regions), centres, reaches, strict=True)
    ]
    return regions.take(np.array(around, dtype=bool), f"{regions.name} surrounded by {target.name}")


def _of(side: str) -> str:
    return side if side in ("above", "below") else f"{side} of"


def _objects(thing: Mask | Regions) -> Regions:
    return thing if isinstance(thing, Regions) else all_components(thing, 8)


def _same(a: Regions, b: Regions, i: NDArray[np.int64], j: NDArray[np.int64]) -> BoolArray:
    """Which pairs of positions mean one object."""
    sources_a, sources_b = (np.array([id(own) for own in regions.sources], dtype=np.int64) for regions in (a, b))
    return np.asarray((sources_a[a.which[i]] == sources_b[b.which[j]]) & (a.indices[i] == b.indices[j]), dtype=bool)


def _boxes(regions: Regions) -> Geometries:
    """(n,) oriented boxes on the plane of `on_plane`."""
    return _hulls(on_plane(corners_px(regions).reshape(-1, 2), regions.grid))


def _pixel_boxes(regions: Regions) -> Geometries:
    """(n,) oriented boxes in pixels."""
    return _hulls(corners_px(regions).reshape(-1, 2))


def _hulls(corners: FloatArray) -> Geometries:
    points = shapely.multipoints(corners, indices=np.arange(len(corners)) // 4) if len(corners) else []
    return np.asarray(shapely.convex_hull(points), dtype=object).reshape(-1)


def _lengths(regions: Regions) -> FloatArray:
    """(n,) long sides of the oriented boxes on the plane of `on_plane`."""
    corners = on_plane(corners_px(regions).reshape(-1, 2), regions.grid).reshape(-1, 4, 2)
    return np.asarray(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0))


def _filled(regions: Regions) -> Iterator[tuple[BoolImage, int, int]]:
    """Each object cut out by its box, holes filled: pixels, first row, first column."""
    from scipy.ndimage import binary_fill_holes  # 0.1 s to load

    for source, index in _members(regions):
        pixels, y0, x0 = source.runs.cut(index)
        yield np.asarray(binary_fill_holes(pixels), dtype=bool), y0, x0


def _members(regions: Regions) -> Iterator[tuple[LabelImage | Patches, int]]:
    """Each object's source and its index there, in order."""
    for which, index in zip(regions.which.tolist(), regions.indices.tolist(), strict=True):
        yield regions.sources[which], index


def _share_in(one: Runs, filled: BoolImage, y0: int, x0: int) -> float:
    """Share of an object's pixels that lie among those of a window of the image."""
    row, col = np.divmod(one.places, one.shape[1])
    row, col = row - y0, col - x0
    seen = (row >= 0) & (row < filled.shape[0]) & (col >= 0) & (col < filled.shape[1])
    return float(np.count_nonzero(filled[row[seen], col[seen]]) / len(row))


def _sectors(site: Site, pixels: PixelSet, one: Runs, centre: FloatArray, reach: float) -> int:
    """In how many of the directions from a point some pixel lies within reach that is not the object's own."""
    (size_x, size_y), area = site.ground_or_pixels.size_xy_m, site.ground_or_pixels.pixel_area_m2
    half = reach * np.array([size_y, size_x]) / area
    low, high = np.floor(centre - half).astype(int), np.ceil(centre + half).astype(int)
    cols, rows = (slice(max(start, 0), max(stop, 0)) for start, stop in zip(low, high, strict=True))
    row, col = np.nonzero(pixels[rows, cols] & (one.labels(rows, cols) == 0))
    away = on_plane(np.column_stack([col + cols.start, row + rows.start]) + 0.5 - centre, site.raster.grid)
    away = away[np.linalg.norm(away, axis=1) <= reach * SLACK]
    turns = np.arctan2(away[:, 1], away[:, 0]) / (2 * np.pi) % 1.0
    return len(np.unique(np.floor(turns * SECTORS).astype(int) % SECTORS))
