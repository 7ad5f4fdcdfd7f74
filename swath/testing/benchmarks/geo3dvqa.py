"""A tiny folder in the layout of Geo3DVQA's public file: one question of each category about one image."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine

from swath.raster.grid import Grid
from swath.raster.write import write_array

FILE = "svf_combined_example.jsonl"
IMAGE = "duisburg/338_5698_rgb.tif"
SIDE_PX = 100
WEST_M, EAST_M = 30.0, 60.0
"""Elevation of the western and of the eastern half of the image."""

_CHOOSE = "\nPlease choose from:\nRegion A\nRegion B"
_REGIONS = "\nA: [xmin=10%, ymin=10%, xmax=40%, ymax=40%]\nB: [xmin=60%, ymin=10%, xmax=90%, ymax=40%]"
_LANDS = (
    "others, forest, water, agricultural, residential, grassland, railways, roads, commercial, bare_soil, buildings"
)

SHORT: list[tuple[str, str, str]] = [
    ("height_average", "Calculate the mean elevation within the area [10%, 10%, 40%, 40%]. Answer format: X m", "30 m"),
    ("highest_region", f"Where can you find the highest mean elevation?{_REGIONS}{_CHOOSE}", "Region B"),
    ("hard_pixel", "What is the regional average SVF value at [10%, 10%, 40%, 40%]? Answer format: X.X", "0.8"),
    ("hard_ranking", f"List these regions from most to least sky-visible.{_REGIONS}", "Region B, Region A"),
    ("sun_exposure", f"Where is solar exposure highest?{_REGIONS}{_CHOOSE}", "Region A"),
    ("openness_assessment", f"Where is the most expansive open space?{_REGIONS}{_CHOOSE}", "Region B"),
    ("regional_svf_variability", f"Which region shows the lowest standard deviation?{_REGIONS}{_CHOOSE}", "Region A"),
    ("sky_visibility", "Where can you see most of the sky?\n(89.7%, 20.6%)\n(81.7%, 37.0%)", "(81.7%, 37.0%)"),
    ("urban_density", f"Which area is the most crowded?{_REGIONS}{_CHOOSE}", "Region A"),
    (
        "visibility_range",
        "Where is the view widest?\nPoint (75.3%, 41.8%)\nPoint (1.9%, 46.7%)",
        "Point (75.3%, 41.8%)",
    ),
    ("landcover_type", f"What land covers are there? Choose from: {_LANDS}", "forest, roads, bare_soil, buildings"),
    ("land_use", f"Which 3 uses dominate? Choose from: {_LANDS}", "residential, bare_soil, buildings"),
]
"""Category, question and answer of each of the twelve categories with a short answer."""

OPEN = ("urban_development_application", "renewable_energy_installation", "landscape_analysis", "water_accumulation")


def write_geo3dvqa(folder: Path) -> Path:
    """Write the questions, an image whose eastern half lies higher, and its surface model.

    The open questions are numbered from 1 again, as in the public file.

    Args:
        folder: where to write; it is made if need be.

    Returns:
        The folder.
    """
    image = folder / IMAGE
    image.parent.mkdir(parents=True, exist_ok=True)
    shape = (SIDE_PX, SIDE_PX)
    grid = Grid(Affine(1, 0, 338_000, 0, -1, 5_698_000), shape, pyproj.CRS(25832))
    elevation = np.full(shape, WEST_M, dtype=np.float32)
    elevation[:, SIDE_PX // 2 :] = EAST_M
    write_array(image.with_name("338_5698_dem.tif"), elevation, grid)
    write_array(image, np.repeat(elevation[None].astype(np.uint8), 3, axis=0), grid)
    rows = [_short(number, *asked) for number, asked in enumerate(SHORT, start=1)]
    rows += [_open(number, category) for number, category in enumerate(OPEN, start=1)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / FILE).write_text(lines, encoding="utf-8")
    return folder


def _short(number: int, category: str, question: str, answer: str) -> dict[str, Any]:
    row: dict[str, Any] = {"question_id": number, "image": IMAGE, "answer": answer, "text": question}
    row |= {"category": category, "phase": "mixed_hr0.3"}
    return row | ({"choices": ["Region A", "Region B"]} if _CHOOSE in question else {})


def _open(number: int, category: str) -> dict[str, Any]:
    answer = "<OBSERVATION>Elevation ranges from 30 m to 60 m.</OBSERVATION><CONCLUSION>Build in the east.</CONCLUSION>"
    return {
        "scene_id": "duisburg_338_5698_dem", "question_id": number, "text": f"Q: {category}?", "answer": answer,
        "category": category, "difficulty": "medium", "dataset_type": "test", "image": IMAGE,
    }  # fmt: skip
