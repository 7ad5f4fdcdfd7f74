"""A tiny folder in the layout of the benchmark `geoheight`, with heights known in closed form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine

from swath.raster.grid import Grid
from swath.raster.write import write_array, write_mask

SHAPE = (40, 60)
PIXEL_M = 0.5
TALL_M, LOW_M, TREE_M, GROUND_M = 20.0, 8.0, 5.0, -2.0
"""Heights above ground of two buildings and a tree, and the level of the ground, which is below the datum."""


def write_geoheight(folder: Path) -> Path:
    """Write an image, its DSM, DTM and nDSM, label and mask rasters, and eight questions of all kinds and levels.

    A building of 10 x 10 pixels is 20 m tall, one of 10 x 20 pixels 8 m, a tree of 6 x 6 pixels 5 m on flat ground.

    Args:
        folder: where to write; it is made if need be.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    grid = Grid(Affine(PIXEL_M, 0, 400_000, 0, -PIXEL_M, 5_700_000), SHAPE, pyproj.CRS(32632))
    classes = np.full(SHAPE, 3, dtype=np.uint8)
    height = np.zeros(SHAPE, dtype=np.float32)
    for rows, cols, metres, code in (
        (slice(5, 15), slice(5, 15), TALL_M, 1),
        (slice(5, 15), slice(30, 50), LOW_M, 1),
        (slice(25, 31), slice(10, 16), TREE_M, 2),
    ):
        height[rows, cols], classes[rows, cols] = metres, code
    write_array(folder / "image.tif", np.repeat(classes[None] * 60, 3, axis=0), grid)
    write_array(folder / "ndsm.tif", height, grid)
    write_array(folder / "dsm.tif", height + np.float32(GROUND_M), grid)
    write_array(folder / "dtm.tif", np.full(SHAPE, GROUND_M, dtype=np.float32), grid)
    write_array(folder / "labels.tif", classes, grid)
    (folder / "legend.json").write_text(json.dumps({"1": "building", "2": "tree", "3": "ground"}), encoding="utf-8")
    write_mask(folder / "buildings.tif", (classes == 1) & (height > 10), grid)
    write_mask(folder / "trees.tif", classes == 2, grid)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _rows())
    (folder / "geoheight.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _rows() -> list[dict[str, Any]]:
    metres: dict[str, Any] = {"type": "number", "unit": "m"}
    rows: list[dict[str, Any]] = [
        {"level": "pixel", "task": "elevation", "question": "What is the elevation at pixel (20, 20)?",
         "answer": GROUND_M, "split": "plus"} | metres,
        {"level": "pixel", "task": "relative height", "question": "How high above ground is pixel (20, 20)?",
         "answer": 0, "tolerance_abs": 0.5} | metres,
        {"level": "object", "task": "object height", "question": "How tall is the tallest building?",
         "answer": TALL_M, "object": "building"} | metres,
        {"level": "object", "task": "taller of two", "type": "name", "answer": "the western building",
         "question": "Which of the two buildings is taller?", "aliases": ["western", "left"], "object": "building"},
        {"level": "object", "task": "height mask", "type": "mask", "mask": "buildings.tif", "object": "building",
         "question": "Segment the buildings taller than 10 m."},
        {"level": "object", "task": "height mask", "type": "mask", "mask": "trees.tif", "object": "tree",
         "question": "Mask the trees."},
        {"level": "scene", "task": "flatness", "type": "yes/no", "answer": "yes", "split": "plus",
         "question": "Is the terrain flat?"},
        {"level": "reasoning", "task": "flood", "type": "text",
         "question": "What happens if the water rises to 1 m – and why?",
         "answer": "The ground is flooded, since it lies 2 m below the datum; all roofs stay dry."},
    ]  # fmt: skip
    shared: dict[str, Any] = {
        "image": "image.tif",
        "dsm": "dsm.tif",
        "dtm": "dtm.tif",
        "ndsm": "ndsm.tif",
        "gsd_m": PIXEL_M,
    }
    known = {"labels": "labels.tif", "legend": "legend.json"}
    return [{"id": f"H{i}"} | shared | known | row for i, row in enumerate(rows, start=1)]
