"""The annotation files of VRSBench, one per image: as rows of the three tasks, and as perfect detections."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shapely

from swath.segment.annotated.objects import class_name
from swath.segment.annotated.vrsbench import read_annotation
from swath.segment.boxes import cells_of, corners_px, official_text
from swath.segment.rows import Row

TASKS = ("caption", "ref", "vqa")
CAPTION_QUESTION = "Describe the image in detail"


def rows_of(folder: Path, task: str) -> Iterator[Row]:
    """The rows that the official evaluation file would hold, made of the annotations as its authors made it.

    Args:
        folder: one JSON file per image.
        task: one of `TASKS`.

    Returns:
        Rows with the keys of the official files; their ids are the image's name and the number within the image.

    Raises:
        InputError: a file is no such annotation.
    """
    make = {"caption": _captions, "ref": _references, "vqa": _questions}[task]
    for file in sorted(folder.glob("*.json")):
        yield from make(read_annotation(file))


def _captions(annotation: Row) -> Iterator[Row]:
    image = annotation.text("image")
    values = {"image_id": image, "question": CAPTION_QUESTION, "ground_truth": annotation.text("caption")}
    yield Row(annotation.file, annotation.place, values | {"question_id": Path(image).stem, "type": "caption"})


def _references(annotation: Row) -> Iterator[Row]:
    image = annotation.text("image")
    for item in annotation.objects("objects"):
        corners = item.numbers("obj_corner", 8)
        values = {
            "image_id": image,
            "question": item.text("referring_sentence"),
            "ground_truth": official_text(cells_of(corners)),
            "question_id": f"{Path(image).stem}:{item.identity('obj_id')}",
            "type": "ref",
            "unique": item.flag("is_unique"),
            "obj_corner": corners,
            "obj_cls": item.text("obj_cls"),
            "size_group": item.text("obj_size", ""),
        }
        yield Row(item.file, item.place, values)


def _questions(annotation: Row) -> Iterator[Row]:
    image = annotation.text("image")
    for item in annotation.objects("qa_pairs"):
        values = {
            "image_id": image,
            "question": item.text("question"),
            "ground_truth": item.text("answer"),
            "question_id": f"{Path(image).stem}:{item.identity('ques_id')}",
            "type": item.text("type"),
        }
        yield Row(item.file, item.place, values)


def write_detections(annotation: Row, width: int, height: int, file: Path) -> bool:
    """Write an image's annotated objects as a GeoJSON file of oriented boxes in pixel coordinates.

    `swath ask --labels` takes it for an image without a CRS: the boxes then are the perfect detections of a run.
    Objects whose box has no area cover no pixel and are left out. Nothing but class and id is written, since the rest
    would answer the question.

    Args:
        annotation: the image's annotations.
        width: columns of the image.
        height: rows of the image.
        file: what to write; its folder is made if need be.

    Returns:
        Whether there was any object to write.

    Raises:
        InputError: an object has no class, no id or no corners.
    """
    features = [made for item in annotation.objects("objects") if (made := _feature(item, width, height))]
    if not features:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"type": "FeatureCollection", "crs": None, "features": features})
    partial = file.with_name(f"{file.name}.{os.getpid()}")  # several processes may list the cases at once
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
    return True


def _feature(item: Row, width: int, height: int) -> dict[str, Any] | None:
    xy = corners_px(item.numbers("obj_corner", 8), width, height)
    ring = [xy[i : i + 2] for i in (0, 2, 4, 6, 0)]
    frame = shapely.box(0, 0, width, height)
    if shapely.Polygon(ring).convex_hull.intersection(frame).area == 0:
        return None
    properties = {"id": item.identity("obj_id"), "class": class_name(item.text("obj_cls"))}
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
