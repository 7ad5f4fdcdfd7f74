"""What a referring expression means, worked out from the annotation files alone, without swath.

Trees are boxes of a COCO file; houses are footprints of a GeoJSON file, measured in UTM. An expression's `truth` is
Python over these plain objects; every relation is written down here a second time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import rasterio
import rasterio.transform
import shapely

UTM_OF_BANEPA = 32645


@dataclass(frozen=True, eq=False)
class Thing:
    """One object.

    Attributes:
        x0: left, with y0, x1, y1 its upright box in pixels.
        x: centroid, with y in pixels.
        area: in m2.
        corners: (4, 2) of its oriented box, in pixels.
        metres: its oriented box in metres, y down.
        centre: (x, y) of its centroid in metres, y down.
        outline: in pixels.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    x: float
    y: float
    area: float
    corners: Any = field(repr=False)
    metres: Any = field(repr=False)
    centre: tuple[float, float] = field(repr=False)
    outline: Any = field(repr=False)

    @property
    def box(self) -> list[float]:
        return [self.x0, self.y0, self.x1, self.y1]

    @property
    def length(self) -> float:
        x, y = self.metres.exterior.xy
        return max(math.hypot(x[k + 1] - x[k], y[k + 1] - y[k]) for k in range(4))


@dataclass(frozen=True, eq=False)
class Plot:
    """The objects of one image.

    Attributes:
        image: the raster.
        options: what `swath.ask` is given with it.
        width: columns.
        height: rows.
        things: its objects.
    """

    image: Path
    options: dict[str, Any]
    width: int
    height: int
    things: tuple[Thing, ...]


def images(data: Path, kind: str) -> list[str]:
    """Names of the images of a data set that have objects."""
    folder = data / {"trees": "trees_neon", "houses": "buildings_hot"}[kind] / "images"
    return [path.stem for path in sorted(folder.glob("*.tif")) if len(plot(data, kind, path.stem).things) > 1]


@lru_cache(maxsize=128)
def plot(data: Path, kind: str, name: str) -> Plot:
    return (_trees if kind == "trees" else _houses)(data, name)


@lru_cache(maxsize=2)
def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _footprints(path: Path) -> list[Any]:
    return [shapely.geometry.shape(feature["geometry"]) for feature in _read(path)["features"]]


def _trees(data: Path, name: str) -> Plot:
    file = data / "trees_neon" / "trees_coco.json"
    found = _read(file)
    (image,) = [own for own in found["images"] if Path(own["file_name"]).stem == name]
    things = []
    for own in found["annotations"]:
        if own["image_id"] == image["id"]:
            x, y, w, h = own["bbox"]
            outline = shapely.box(max(x, 0), max(y, 0), min(x + w, image["width"]), min(y + h, image["height"]))
            things.append(_thing(outline, shapely.affinity.scale(outline, *[image["gsd_m"]] * 2, origin=(0, 0))))
    path = data / "trees_neon" / image["file_name"]
    return Plot(path, {"labels": file}, image["width"], image["height"], tuple(things))


def _houses(data: Path, name: str) -> Plot:
    file = data / "buildings_hot" / "labels.geojson"
    path = data / "buildings_hot" / "images" / f"{name}.tif"
    with rasterio.open(path) as image:
        affine, width, height = image.transform, image.width, image.height
    to_utm = pyproj.Transformer.from_crs(4326, UTM_OF_BANEPA, always_xy=True)
    frame = shapely.box(0, 0, width, height)
    things = []
    for lonlat in _footprints(file):
        if not shapely.box(*rasterio.transform.array_bounds(height, width, affine)).intersects(lonlat):
            continue
        outline = shapely.transform(lonlat, lambda xy: np.column_stack(~affine @ tuple(xy.T))).buffer(0) & frame
        if outline.area and _holds_a_centre(outline):

            def metres(xy: Any) -> Any:
                east, north = to_utm.transform(*(affine @ tuple(xy.T)))
                return np.column_stack([east, -np.asarray(north)])

            things.append(_thing(outline, shapely.transform(outline, metres), metres, affine, to_utm))
    options = {"labels": file, "label_class": "building"}
    return Plot(path, options, width, height, tuple(things))


def _holds_a_centre(outline: Any) -> bool:
    """Whether a pixel's centre lies inside: what the image's border leaves less of is not in the image."""
    x0, y0, x1, y1 = (int(bound) for bound in outline.bounds)
    y, x = np.mgrid[y0 : y1 + 1, x0 : x1 + 1] + 0.5
    return bool(shapely.contains_xy(outline, x, y).any())


def _thing(outline: Any, on_ground: Any, metres: Any = None, affine: Any = None, to_utm: Any = None) -> Thing:
    rectangle = on_ground.minimum_rotated_rectangle
    corners = np.array(rectangle.exterior.coords)[:4]
    if metres is None:
        corners = corners / math.sqrt(on_ground.area / outline.area)
    else:
        lon, lat = to_utm.transform(corners[:, 0], -corners[:, 1], direction="INVERSE")
        corners = np.column_stack(~affine @ (np.asarray(lon), np.asarray(lat)))
    middle, centre = outline.centroid, on_ground.centroid
    return Thing(
        *outline.bounds, middle.x, middle.y, on_ground.area, corners, rectangle, (centre.x, centre.y), outline
    )  # fmt: skip


# What the words mean


def gap(a: Thing, b: Thing) -> float:
    return float(a.metres.distance(b.metres))


def apart(a: Thing, b: Thing) -> float:
    """Between outlines, in pixels (square ones, nearly)."""
    return float(a.outline.distance(b.outline))


def beside(a: Thing, b: Thing) -> bool:
    return a is not b and gap(a, b) <= min(a.length, b.length) * (1 + 1e-9)


def side_of(side: str, a: Thing, b: Thing) -> bool:
    """Whether a lies left of, right of, above or below b."""
    beyond = {"left": a.x < b.x0, "right": a.x > b.x1, "above": a.y < b.y0, "below": a.y > b.y1}[side]
    dx, dy = a.centre[0] - b.centre[0], a.centre[1] - b.centre[1]
    along, across = (abs(dx), abs(dy)) if side in ("left", "right") else (abs(dy), abs(dx))
    return beyond and along * (1 + 1e-9) >= across


def amid(c: Thing, a: Thing, b: Thing) -> bool:
    """Whether c lies between a and b."""
    point = shapely.Point(c.x, c.y)
    one, other = (shapely.Polygon(own.corners) for own in (a, b))
    return bool(one.union(other).convex_hull.covers(point) and not one.covers(point) and not other.covers(point))


def large(things: Sequence[Thing]) -> list[Thing]:
    return _of_size(things, lambda area, middle: area > middle)


def small(things: Sequence[Thing]) -> list[Thing]:
    return _of_size(things, lambda area, middle: area < middle)


def _of_size(things: Sequence[Thing], fits: Callable[[float, float], bool]) -> list[Thing]:
    least, most = min(own.area for own in things), max(own.area for own in things)
    return [own for own in things if fits(own.area, math.sqrt(least * most))] if most >= 1.5 * least else []


@lru_cache(maxsize=4)
def _covers(scene: Plot) -> Any:
    """(n, rows, columns) bool: which pixel centres lie in which thing."""
    places = np.mgrid[: scene.height, : scene.width] + 0.5
    return np.array([shapely.contains_xy(own.outline, places[1], places[0]) for own in scene.things])


def ringed(a: Thing, scene: Plot) -> bool:
    """Whether other things lie around one in 12 of 16 directions, within twice its length from its middle."""
    covers, index = _covers(scene), scene.things.index(a)
    rows, cols = np.nonzero(np.delete(covers, index, axis=0).any(axis=0) & ~covers[index])
    scale = a.length / max(math.dist(a.corners[0], a.corners[1]), math.dist(a.corners[1], a.corners[2]))
    dx, dy = (cols + 0.5 - a.x) * scale, (rows + 0.5 - a.y) * scale
    found = np.hypot(dx, dy) <= 2 * a.length
    turns = np.arctan2(dy[found], dx[found]) % (2 * np.pi) / (2 * np.pi)
    return len(set(np.floor(turns * 16).astype(int).tolist())) >= 12


def one(things: Sequence[Thing]) -> Thing | None:
    """The only one of some things, None where it is not the only one."""
    return things[0] if len(things) == 1 else None


TOO_CLOSE = 1.5
"""Pixels, metres or square metres: of two things that differ by less, nobody can say which comes first."""


def least(things: Iterable[Thing], key: Callable[[Thing], float]) -> Thing | None:
    return place(things, 1, key)


def most(things: Iterable[Thing], key: Callable[[Thing], float]) -> Thing | None:
    return place(things, 1, lambda own: -key(own))


def place(things: Iterable[Thing], n: int, key: Callable[[Thing], float]) -> Thing | None:
    """The nth from 1 on; None where there are fewer, or another comes too close to its rank."""
    order = sorted(things, key=key)
    steps = [key(later) - key(earlier) for earlier, later in pairwise(order)]
    if len(order) < n or any(step < TOO_CLOSE for step in steps[max(n - 2, 0) : n]):
        return None
    return order[n - 1]


def first(things: Iterable[Thing], n: int, key: Callable[[Thing], float]) -> list[Thing]:
    """The first n; none where the next one comes too close."""
    order = sorted(things, key=key)
    return [] if len(order) > n and key(order[n]) - key(order[n - 1]) < TOO_CLOSE else order[:n]


WORDS = (gap, apart, beside, side_of, amid, large, small, one, place, first, least, most)


def meant(truth: str, scene: Plot, *, oriented: bool = False) -> Thing | None:
    """The object that an expression means; None where it means none or several, or its oriented box is not one."""
    found = _found(truth, scene)
    return None if found is None or (oriented and not _one_rectangle(found)) else found


def _one_rectangle(thing: Thing) -> bool:
    """Whether no unlike rectangle is as small (within 3 %) as that of least area: a triangle has three of them."""
    hull = thing.outline.convex_hull
    least_one = shapely.Polygon(thing.corners)
    for (x0, y0), (x1, y1) in pairwise(hull.exterior.coords):
        degrees = math.degrees(math.atan2(y1 - y0, x1 - x0))
        upright = shapely.affinity.rotate(hull, -degrees, origin=(0, 0)).envelope
        other = shapely.affinity.rotate(upright, degrees, origin=(0, 0))
        alike = other.intersection(least_one).area / other.union(least_one).area
        if other.area < 1.03 * least_one.area and alike < 0.9:
            return False
    return True


def _found(truth: str, scene: Plot) -> Thing | None:
    things = list(scene.things)
    words: dict[str, Any] = {function.__name__: function for function in WORDS} | {
        "t": things, "W": scene.width, "H": scene.height, "hypot": math.hypot, "ringed": lambda a: ringed(a, scene),
        "area": lambda own: own.area, "x0": lambda own: own.x0, "y0": lambda own: own.y0,
        "right": lambda own: -own.x1, "bottom": lambda own: -own.y1,
        "big": most(things, lambda own: own.area), "tiny": least(things, lambda own: own.area),
    }  # fmt: skip
    if any(name in truth and words[name] is None for name in ("big", "tiny")):
        return None
    found = eval(truth, words)
    return found if isinstance(found, Thing) else None
