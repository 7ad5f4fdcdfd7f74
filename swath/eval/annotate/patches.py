"""Source images cut into patches, with what of each object lies in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import shapely
from PIL import Image
from shapely.geometry import mapping
from shapely.geometry.base import BaseGeometry

from swath.errors import InputError
from swath.eval.annotate.sources import Source, SourceObject, corners_of
from swath.raster.stretch import display

SIZE_PX, OVERLAP_PX = 512, 0
LEAST_VISIBLE = 0.5
"""Share of an object's area that must lie in a patch for the object to be one of the patch's."""

MOST_PIXELS = 200_000_000
"""Larger source images are refused: a picture of one is held in memory while it is cut."""


@dataclass(frozen=True)
class Cut:
    """How images are cut.

    Attributes:
        size_px: width and height of a patch; images smaller than that are one patch of their own size.
        overlap_px: columns and rows that neighbours share.
        least_visible: share of an object's area that must lie in a patch.
    """

    size_px: int = SIZE_PX
    overlap_px: int = OVERLAP_PX
    least_visible: float = LEAST_VISIBLE

    def __post_init__(self) -> None:
        """Refuse what cuts nothing.

        Raises:
            InputError: a number is out of its range.
        """
        if not 16 <= self.size_px <= 4096:
            raise InputError(f"A patch of {self.size_px} pixels is not from 16 to 4096 wide. Next: change --size.")
        if not 0 <= self.overlap_px < self.size_px:
            raise InputError(
                f"Patches of {self.size_px} pixels cannot overlap by {self.overlap_px}. Next: change --overlap."
            )
        if not 0 < self.least_visible <= 1:
            raise InputError(f"--visible {self.least_visible:g} is no share above 0 and at most 1. Next: change it.")


@dataclass(frozen=True)
class PatchObject:
    """An object of a patch.

    Attributes:
        id: running number in the patch, from 0.
        class_name: in words.
        corners: x and y of four corners, in pixels of the patch.
        outline: what of it lies in the patch, in pixels of the patch.
        source_id: its identifier in the source.
        visible: share of its area that lies in the patch.
    """

    id: int
    class_name: str
    corners: tuple[float, ...]
    outline: BaseGeometry
    source_id: str
    visible: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """x_min, y_min, x_max, y_max of what lies in the patch, in pixels."""
        x0, y0, x1, y1 = self.outline.bounds
        return x0, y0, x1, y1


@dataclass(frozen=True)
class Patch:
    """A piece of a source image.

    Attributes:
        name: name without ending, also of its files.
        source: name of the source image.
        offset: column and row of its outer corner in the source.
        size: width and height in pixels.
        gsd_m: ground size of a pixel, None where unknown.
        objects: what lies in it.
    """

    name: str
    source: str
    offset: tuple[int, int]
    size: tuple[int, int]
    gsd_m: float | None
    objects: tuple[PatchObject, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready, outlines as well-known text with every digit."""
        objects = [
            {**asdict(own), "outline": shapely.to_wkt(own.outline, rounding_precision=-1)} for own in self.objects
        ]
        return {**asdict(self), "objects": objects}

    @classmethod
    def of_json(cls, found: dict[str, Any]) -> Patch:
        """A patch that `to_json` wrote."""
        objects = tuple(
            PatchObject(**{**own, "corners": tuple(own["corners"]), "outline": shapely.from_wkt(own["outline"])})
            for own in found["objects"]
        )
        return cls(**{**found, "offset": tuple(found["offset"]), "size": tuple(found["size"]), "objects": objects})


def cut(source: Source, how: Cut, images: Path) -> Iterator[Patch]:
    """Write the patches of a source that hold objects, as PNGs.

    Args:
        source: image and objects.
        how: sizes.
        images: folder to write the PNGs to.

    Raises:
        InputError: the image is too large, or a file cannot be written.
    """
    rows, cols = source.raster.shape
    if rows * cols > MOST_PIXELS:
        raise InputError(
            f"{source.raster.path.name} has {rows * cols:,} pixels, of which {MOST_PIXELS:,} can be cut at once. "
            "Next: cut it in parts beforehand, for example with gdal_translate -srcwin."
        )
    tree = shapely.STRtree([own.outline for own in source.objects])
    picture = None
    for number, (x, y, width, height) in enumerate(windows(cols, rows, how)):
        frame = shapely.box(x, y, x + width, y + height)
        near = [source.objects[i] for i in sorted(tree.query(frame).tolist())]
        objects = _inside(near, frame, (x, y), how.least_visible)
        if not objects:
            continue
        if picture is None:
            picture, _ = display(source.raster)
        name = f"{source.raster.path.stem}_{number:04d}"
        patch = Patch(name, source.raster.path.name, (x, y), (width, height), source.gsd_m, objects)
        Image.fromarray(picture[y : y + height, x : x + width]).save(images / f"{name}.png")
        yield patch


def windows(width: int, height: int, how: Cut) -> list[tuple[int, int, int, int]]:
    """x, y, width, height of every patch in reading order; the last of a row or column is moved back to the edge."""
    across, down = _starts(width, how), _starts(height, how)
    size = (min(width, how.size_px), min(height, how.size_px))
    return [(x, y, *size) for y in down for x in across]


def _starts(length: int, how: Cut) -> list[int]:
    last = max(0, length - how.size_px)
    return sorted({*range(0, last, how.size_px - how.overlap_px), last})


def _inside(
    objects: list[SourceObject], frame: BaseGeometry, offset: tuple[int, int], least: float
) -> tuple[PatchObject, ...]:
    found: list[PatchObject] = []
    for own in objects:
        part = shapely.intersection(own.outline, frame)
        visible = part.area / own.outline.area
        if visible < least or part.area == 0:
            continue
        outline = shapely.transform(part, lambda xy: xy - offset)
        whole = shapely.transform(own.outline, lambda xy: xy - offset)
        corners = corners_of(whole if visible == 1 else outline)
        found.append(PatchObject(len(found), own.class_name, corners, outline, own.id, round(visible, 4)))
    return tuple(found)


def write_detections(patch: Patch, names: Iterable[str], file: Path) -> None:
    """Write the objects of a patch as GeoJSON in its pixels, which `--labels` takes: perfect detections.

    Class and identity are written, and nothing that answers a question. A class without objects is named by a feature
    without a place, so that there are known to be none.

    Args:
        patch: the patch.
        names: every class of the data set.
        file: what to write.
    """
    placed = [(str(own.id), own.class_name, mapping(own.outline)) for own in patch.objects]
    absent = set(names) - {own.class_name for own in patch.objects}
    features = [
        {"type": "Feature", "properties": {"id": own, "class": name}, "geometry": geometry}
        for own, name, geometry in [*placed, *(("", name, None) for name in sorted(absent))]
    ]
    text = json.dumps({"type": "FeatureCollection", "crs": None, "features": features})
    file.write_text(text, encoding="utf-8")
