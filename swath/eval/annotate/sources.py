"""Images and what their annotations say is in them, whatever the format of the annotations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import shapely
from shapely.geometry.base import BaseGeometry

from swath.agent.ask import open_desk
from swath.agent.objects import counted_objects
from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.annotated.objects import class_name
from swath.segment.legend import clean_name
from swath.tools.referring import ground

IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
ANNOTATIONS = (".txt", ".xml", ".json", ".geojson", ".gpkg", ".png", ".tif", ".tiff")


@dataclass(frozen=True)
class SourceObject:
    """One annotated object of a source image.

    Attributes:
        id: the file's own identifier, or a running number.
        class_name: in words.
        outline: in pixels of the image, (0, 0) being its outer corner.
    """

    id: str
    class_name: str
    outline: BaseGeometry


@dataclass(frozen=True)
class Source:
    """A source image with its objects.

    Attributes:
        raster: the image.
        gsd_m: ground size of a pixel, None where it is unknown or not the same on both axes.
        objects: in the file's order, class by class.
        notes: sentences for people: what was left out, and why.
    """

    raster: Raster
    gsd_m: float | None
    objects: tuple[SourceObject, ...]
    notes: tuple[str, ...]


def pairs(images: Path, boxes: Path) -> list[tuple[Path, Path]]:
    """Each image with the file that annotates it.

    Args:
        images: folder of images.
        boxes: one file for all images (COCO, GeoJSON, GeoPackage), or a folder with one file for each, of its name.

    Raises:
        InputError: a folder or file is missing or empty, or an annotation file has no image.
    """
    if not images.is_dir():
        raise InputError(f"There is no folder {images} of images. Next: check --images.")
    found = {path.stem: path for path in sorted(images.iterdir()) if path.suffix.lower() in IMAGES}
    if not found:
        raise InputError(f"{images} holds no image ({', '.join(IMAGES)}). Next: check --images.")
    if boxes.is_file():
        return [(image, boxes) for image in found.values()]
    if not boxes.is_dir():
        raise InputError(f"There is no file or folder {boxes} of annotations. Next: check --boxes.")
    kept = [path for path in sorted(boxes.iterdir()) if path.suffix.lower() in ANNOTATIONS and path.stem != "legend"]
    if not kept:
        raise InputError(f"{boxes} holds no annotations ({', '.join(ANNOTATIONS)}). Next: check --boxes.")
    alone = [path for path in kept if path.stem not in found]
    if alone:
        raise InputError(
            f"{alone[0]} has no image {alone[0].stem}.* in {images}"
            + (f", nor have {len(alone) - 1} others" if len(alone) > 1 else "")
            + ". Next: add the images, or move the annotations away."
        )
    return [(found[path.stem], path) for path in kept]


VRSBENCH = "vrsbench"
"""Name of the file of classes that ships: DOTA-v2's 18 and DIOR's 20 become VRSBench's 26."""


def read_merging(file: Path | None) -> Mapping[str, str] | None:
    """Which class becomes which: a JSON object of names, "" to drop a class; None to keep classes as they are.

    Args:
        file: the file, or "vrsbench" for the one that ships.

    Raises:
        InputError: the file cannot be read or is no such object.
    """
    if file is None:
        return None
    try:
        shipped = files("swath.eval.annotate") / "vrsbench_classes.json"
        found = json.loads((shipped if str(file) == VRSBENCH else file).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as JSON ({type(error).__name__}). Next: check --classes.") from None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found.values()):
        raise InputError(f"{file} is no JSON object of class name to class name. Next: check --classes.")
    return {class_name(raw): class_name(merged) if merged else "" for raw, merged in found.items()}


def read_source(
    image: Path,
    boxes: Path,
    *,
    legend: Path | None = None,
    label_class: str | None = None,
    gsd_m: float | None = None,
    merging: Mapping[str, str] | None = None,
) -> Source:
    """An image and its objects.

    Args:
        image: the image.
        boxes: its annotations.
        legend: names of the values of label maps.
        label_class: class of a vector file without a class column.
        gsd_m: ground size in metres of a pixel, where the image states none.
        merging: which class becomes which, see `read_merging`.

    Raises:
        InputError: a file cannot be used, or a class is missing from the merging.
    """
    desk = open_desk(image, "", program="", labels=boxes, legend=legend, label_class=label_class, gsd_m=gsd_m)
    site = desk.open()
    objects: list[SourceObject] = []
    for name in site.backend.classes():
        merged = name if merging is None else merging.get(clean_name(name), merging.get(class_name(name)))
        regions = ground(site, name)
        if merged is None and len(regions):
            raise InputError(
                f'{boxes} has the class "{name}", which the file of classes does not name. '
                'Next: add it there, with "" to leave it out.'
            )
        if merged:
            table = counted_objects(regions, site)
            objects += [
                SourceObject(str(own), merged, outline)
                for own, outline in zip(table.ids, table.shapes, strict=True)
                if outline.area > 0
            ]
    square = site.raster.grid.ground
    sides = None if square is None else square.size_xy_m
    even = sides is not None and abs(sides[0] / sides[1] - 1) < 0.01
    return Source(site.raster, sides[0] if sides and even else None, tuple(objects), tuple(site.warnings))


def corners_of(outline: BaseGeometry) -> tuple[float, ...]:
    """Four corners of an object, x and y of each: its own where it has four, else of the least rectangle around it."""
    ring = list(shapely.get_exterior_ring(outline).coords)[:-1] if outline.geom_type == "Polygon" else []
    if len(ring) != 4:
        box = shapely.minimum_rotated_rectangle(outline)
        ring = list(box.exterior.coords)[:-1]
    return tuple(float(value) for point in ring for value in point[:2])
