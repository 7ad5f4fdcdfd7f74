"""The training data: images with partial labels, and which group each belongs to.

A label is a set of classes that a pixel may be, as bits: a mask of buildings alone says of the rest "not a building".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import rasterio
import rasterio.features
from numpy.typing import NDArray
from rasterio.transform import from_bounds

CLASSES = ("building", "land", "road", "vegetation", "water")
BIT = {name: 1 << i for i, name in enumerate(CLASSES)}
DUBAI_BITS = np.array([0, BIT["building"], BIT["land"], BIT["road"], BIT["vegetation"], BIT["water"]], np.uint8)
NO_INSTANCE, UNKNOWN_INSTANCE = 0, -1

# Never read: neither by training nor by anything that chooses between models or thresholds.
TEST = {"dubai": ("group7",), "hot": ("386694",), "naip": ("santa_monica", "palm_springs"), "neon": ("TEAK",)}
VALIDATION = {"dubai": ("group2",), "hot": ("386693",), "naip": ("eureka",), "neon": ("OSBS",)}
LEFT_OUT = {"neon": ("SJER",)}  # its trees are incompletely annotated
NATURAL_WATER = ("palm_springs_2020_97", "long_beach_2018_99")

SCALES = {"dubai": (0.5, 2.0), "hot": (0.4, 1.4), "naip": (0.9, 2.0), "neon": (0.2, 1.3)}
"""Output pixels per source pixel, by source: 0.13 m chips are shown at 0.09 to 0.33 m, 0.6 m ones at 0.3 to 0.67 m,
0.1 m ones at 0.08 to 0.5 m; those of Dubai at half to twice the size that `Sample.scale` brings their group to."""
DUBAI_GSD_M = {"group1": 0.81, "group3": 0.95, "group4": 0.47, "group5": 0.67, "group6": 0.96}
"""Estimated by `training.landcover.ground_size` for the groups that are trained on."""
SHOWN_GSD_M = 0.7
"""Ground size about which all groups of Dubai are shown."""

SOLID = 0.85
"""Least share of its convex hull that a component fills to be taken for one roof rather than several."""
SMALLEST_ROOF_PX = 30


Wanted = Callable[[str], bool]


@dataclass(frozen=True)
class Sample:
    """One image and what is known of its pixels.

    Attributes:
        source: "dubai", "hot", "naip" or "neon".
        name: of the image file, without its ending.
        group: tile group, column, city or site; splits never cut one.
        image: (rows, columns, 3) uint8, RGB.
        allowed: (rows, columns) uint8, the classes that the pixel may be, as bits; 0 = nothing is known.
        instances: (rows, columns) int32 building ids, 0 = no building, -1 = not known.
        path: of the image file.
        footprints: count of the buildings, None where they are not told apart.
        scale: output pixels per pixel that bring its group's estimated ground size to `SHOWN_GSD_M`.
    """

    source: str
    name: str
    group: str
    image: NDArray[np.uint8]
    allowed: NDArray[np.uint8]
    instances: NDArray[np.int32]
    path: Path
    footprints: int | None = None
    scale: float = 1.0


def load(data: Path, split: str, sources: tuple[str, ...] = ("dubai", "hot", "naip", "neon")) -> list[Sample]:
    """The samples of one split.

    Args:
        data: folder of the manifest.
        split: "train", "validation" or "test".
        sources: which to read.
    """
    readers = {"dubai": _dubai, "hot": _hot, "naip": _naip, "neon": _neon}
    return [
        sample
        for source in sources
        for sample in readers[source](data, lambda group, source=source: _split_of(source, group) == split)
    ]


def _split_of(source: str, group: str) -> str:
    if group in TEST[source]:
        return "test"
    if group in VALIDATION[source]:
        return "validation"
    return "left out" if group in LEFT_OUT.get(source, ()) else "train"


def _dubai(data: Path, wanted: Wanted) -> list[Sample]:
    samples = []
    for path in sorted((data / "landcover_dubai" / "images").glob("*.jpg")):
        if not wanted(path.stem.split("_")[0]):
            continue
        mask = _gray(data / "landcover_dubai" / "masks" / f"{path.stem}.png")
        group, allowed = path.stem.split("_")[0], DUBAI_BITS[mask]
        scale = DUBAI_GSD_M.get(group, SHOWN_GSD_M) / SHOWN_GSD_M
        roofs = _solid_roofs(mask == 1)
        samples.append(Sample("dubai", path.stem, group, _rgb(path), allowed, roofs, path, scale=scale))
    return samples


def _hot(data: Path, wanted: Wanted) -> list[Sample]:
    folder = data / "buildings_hot"
    outlines: dict[str, list[dict[str, object]]] = {}
    for feature in json.loads((folder / "labels.geojson").read_text())["features"]:
        for chip in feature["properties"]["chips"]:
            outlines.setdefault(chip, []).append(feature["geometry"])
    samples = []
    for path in sorted((folder / "images").glob("*.tif")):
        if not wanted(path.stem.split("-")[1]):
            continue
        with rasterio.open(path) as file:
            image, bounds = np.ascontiguousarray(file.read([1, 2, 3]).transpose(1, 2, 0)), file.bounds
        with rasterio.open(folder / "masks" / path.name) as file:
            building = file.read(1) > 0
        shapes = [(shape, i) for i, shape in enumerate(outlines.get(path.stem, []), start=1)]
        grid = from_bounds(*bounds, building.shape[1], building.shape[0])
        ids = rasterio.features.rasterize(shapes, building.shape, transform=grid, dtype="int32")
        ids = np.where(building, np.where(ids > 0, ids, UNKNOWN_INSTANCE), NO_INSTANCE).astype(np.int32)
        others = BIT["land"] | BIT["road"] | BIT["vegetation"]
        allowed = np.where(building, BIT["building"], others).astype(np.uint8)
        count = len(np.unique(ids[ids > 0]))
        samples.append(Sample("hot", path.stem, path.stem.split("-")[1], image, allowed, ids, path, count))
    return samples


def _naip(data: Path, wanted: Wanted) -> list[Sample]:
    samples = []
    for path in sorted((data / "extra_naip_california" / "images").glob("*.tif")):
        if not wanted(path.stem.rsplit("_", 2)[0]):
            continue
        mask = _gray(data / "extra_naip_california" / "masks" / f"{path.stem}.png")
        image = _geotiff(path)
        others = np.full(mask.shape, BIT["building"] | BIT["land"] | BIT["road"], np.uint8)
        # Swimming pools are blue; natural water is known in two images only.
        blue = image[..., 2].astype(np.int16) > image[..., 0].astype(np.int16) + 12
        others[blue | (path.stem in NATURAL_WATER)] |= BIT["water"]
        allowed = np.select([mask == 1, mask == 0], [np.uint8(BIT["vegetation"]), others], np.uint8(0)).astype(np.uint8)
        unknown = np.where(mask == 0, UNKNOWN_INSTANCE, NO_INSTANCE).astype(np.int32)
        samples.append(Sample("naip", path.stem, path.stem.rsplit("_", 2)[0], image, allowed, unknown, path))
    return samples


def _neon(data: Path, wanted: Wanted) -> list[Sample]:
    folder = data / "trees_neon"
    table = json.loads((folder / "trees_coco.json").read_text())
    boxes: dict[int, list[list[float]]] = {}
    for tree in table["annotations"]:
        boxes.setdefault(tree["image_id"], []).append(tree["bbox"])
    samples = []
    for entry in table["images"]:
        if not wanted(entry["site"]):
            continue
        path = folder / entry["file_name"]
        image = _geotiff(path)
        allowed = np.full(image.shape[:2], BIT["land"] | BIT["vegetation"], np.uint8)
        for x, y, width, height in boxes.get(entry["id"], []):
            centre, axes = (round(x + width / 2), round(y + height / 2)), (round(width * 0.4), round(height * 0.4))
            cv2.ellipse(allowed, centre, axes, 0, 0, 360, BIT["vegetation"], -1)
        none = np.zeros(allowed.shape, np.int32)
        samples.append(Sample("neon", path.stem, entry["site"], image, allowed, none, path, 0))
    return samples


def _solid_roofs(building: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Components that look like one roof, by id; of the others it is not known how many they are."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(building.astype(np.uint8), connectivity=8)
    ids = np.zeros(count, np.int32)
    for i in range(1, count):
        x, y, width, height, area = stats[i]
        part = (labels[y : y + height, x : x + width] == i).astype(np.uint8)
        points = cv2.findNonZero(part)
        hull = cv2.contourArea(cv2.convexHull(points)) + (width + height) / 2
        ids[i] = i if area >= SMALLEST_ROOF_PX and area / max(hull, 1) >= SOLID else UNKNOWN_INSTANCE
    return ids[labels]


def _rgb(path: Path) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB), np.uint8)


def _gray(path: Path) -> NDArray[np.uint8]:
    return np.asarray(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), np.uint8)


def _geotiff(path: Path) -> NDArray[np.uint8]:
    with rasterio.open(path) as file:
        return np.ascontiguousarray(file.read([1, 2, 3]).transpose(1, 2, 0))
