"""Annotated objects as classes: which file is one of a data set's, and what of its objects lies in the image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import shapely

from swath.errors import InputError
from swath.raster.local_files import file_of
from swath.raster.reader import Raster
from swath.segment import vector_file
from swath.segment.annotated.coco import is_coco, read_coco
from swath.segment.annotated.dota import is_dota, read_dota
from swath.segment.annotated.objects import Annotated, Annotations
from swath.segment.annotated.voc import is_voc, read_voc
from swath.segment.annotated.vrsbench import is_vrsbench, read_vrsbench
from swath.segment.legend import clean_name
from swath.segment.outlines import in_pixels
from swath.segment.protocol import Feature
from swath.segment.vector import VectorClasses

SUFFIXES = frozenset({".txt", ".json", ".xml"})
_GEOJSON = ('"FeatureCollection"', '"Feature"')

Reader = Callable[[Path, Raster], Annotations]


def reader_of(path: Path) -> Reader | None:
    """Who reads an annotation file; None where it is none.

    Raises:
        InputError: a file that by its ending may be one is missing or not readable.
    """
    if path.suffix.lower() not in SUFFIXES:
        return None
    text = file_of(str(path)).read_text(encoding="utf-8-sig", errors="replace")
    if any(word in text for word in _GEOJSON):
        return None
    readers: tuple[tuple[Callable[[Path, str], bool], Reader], ...] = (
        (is_dota, read_dota),
        (is_coco, read_coco),
        (is_vrsbench, read_vrsbench),
        (is_voc, read_voc),
    )
    return next((read for is_such, read in readers if is_such(path, text)), None)


def annotated_classes(path: Path, read: Reader, image: Raster, *, single: str | None = None) -> VectorClasses:
    """Annotated objects on an image, classes by category, every object with an identity of its own.

    Args:
        path: an annotation file.
        read: who reads it.
        image: the image that it belongs to.
        single: name of the one class that all objects are; None for the file's own.

    Raises:
        InputError: the file cannot be used, or all its objects lie outside the image.
    """
    found = read(path, image)
    one = clean_name(single) if single else None
    objects, outlines, notes = _placed(found, path.name, image)
    features: dict[str, list[Feature]] = {}
    for own, outline in zip(objects, outlines, strict=True):
        features.setdefault(one or own.class_name, []).append(Feature(own.id, outline, own.score))
    names = (one,) if one else found.names
    return VectorClasses(
        names,
        image,
        {name: tuple(drawn) for name, drawn in features.items()},
        (),
        f"{path.name}, {found.form} annotations",
        (*found.warnings, *notes),
        {
            "path": str(path),
            "sha256": vector_file.sha256_of(path),
            "format": found.form,
            "objects": len(objects),
            "classes": list(names),
        },
    )


def _placed(found: Annotations, name: str, image: Raster) -> tuple[list[Annotated], list[shapely.Geometry], list[str]]:
    """The objects with a place in the image, what of each lies in it, and sentences about the others."""
    flat = [own.outline.area == 0 for own in found.objects]
    solid = [own for own, is_flat in zip(found.objects, flat, strict=True) if not is_flat]
    geometries = np.empty(len(solid), dtype=object)
    geometries[:] = [own.outline for own in solid]
    placed = in_pixels(geometries, None, image.grid)
    outside = len(solid) - len(placed.index)
    if outside == len(solid) > 0:
        x0, y0, x1, y1 = shapely.total_bounds(geometries)
        raise InputError(
            f"All {outside} objects of {name} lie outside {image.path.name}, which has {image.shape[1]} x "
            f"{image.shape[0]} pixels: they cover x {x0:.9g} to {x1:.9g}, y {y0:.9g} to {y1:.9g}. "
            "Next: give the annotations of this image."
        )
    notes = []
    if any(flat):
        notes.append(f"{sum(flat)} objects of {name} have a box without area and were left out.")
    if outside:
        notes.append(f"{outside} objects of {name} lie outside {image.path.name} and were left out.")
    return [solid[i] for i in placed.index.tolist()], placed.outlines.tolist(), notes
