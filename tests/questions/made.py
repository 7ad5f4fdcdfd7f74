"""Inputs that the questions need and nobody ships: legends with other names, boxes and plots as vector layers.

A path that begins with `made/` in seen.jsonl is written by `make` into a folder of the test's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

LEGENDS = {
    "forest": {"1": "building", "2": "barren land", "3": "road", "4": "forest", "5": "water"},
    "farm": {"1": "building", "2": "barren land", "3": "road", "4": "agricultural land", "5": "water"},
    "urban": {"1": "urban area", "2": "barren land", "3": "road", "4": "vegetation", "5": "water bodies"},
    "solar": {"1": "solar panel", "2": "bare ground", "3": "road", "4": "grass", "5": "water"},
}
"""The class ids of landcover_dubai under the names that other sources use."""

PLOTS = [  # (name, x0, y0, x1, y1) in pixels of a 1099 x 846 tile
    ("A1", 60, 60, 260, 200),
    ("A2", 320, 40, 420, 160),
    ("B1", 640, 260, 900, 460),
    ("B2", 940, 60, 1060, 180),
    ("C1", 90, 560, 210, 700),
    ("C2", 430, 640, 700, 800),
    ("C3", 760, 520, 840, 580),
]
HYDRANTS = [(150, 120), (400, 400), (520, 90), (700, 300), (820, 700), (1000, 120), (230, 760), (610, 610)]


def _collection(features: list[dict[str, Any]], crs: str | None) -> str:
    named = {"type": "name", "properties": {"name": crs}} if crs else None
    return json.dumps({"type": "FeatureCollection", "crs": named, "features": features})


def _feature(geometry: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _ring(x0: float, y0: float, x1: float, y1: float) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [[[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]]]}


def _legend(name: str, data: Path) -> str:
    return json.dumps({"0": "void"} | LEGENDS[name])


def _trees(name: str, data: Path) -> str:
    """The crown boxes of one NEON plot in its own CRS."""
    coco = json.loads((data / "trees_neon" / "trees_coco.json").read_text(encoding="utf-8"))
    image = next(i for i in coco["images"] if i["file_name"] == f"images/{name}.tif")
    size, _, left, _, _, top = image["transform"]
    boxes = [a["bbox"] for a in coco["annotations"] if a["image_id"] == image["id"]]
    rings = [
        _ring(left + size * x, top - size * y, left + size * (x + w), top - size * (y + h)) for x, y, w, h in boxes
    ]
    return _collection([_feature(r) for r in rings], f"urn:ogc:def:crs:EPSG::{image['crs'].split(':')[1]}")


def _plots(name: str, data: Path) -> str:
    return _collection([_feature(_ring(*corners), plot=plot) for plot, *corners in PLOTS], None)


def _hydrants(name: str, data: Path) -> str:
    return _collection([_feature({"type": "Point", "coordinates": [x + 0.5, y + 0.5]}) for x, y in HYDRANTS], None)


_MAKERS: dict[str, Callable[[str, Path], str]] = {
    "legend": _legend,
    "trees": _trees,
    "plots": _plots,
    "hydrants": _hydrants,
}


def make(path: str, data: Path, folder: Path) -> Path:
    """The file behind a path of a question: as it is in `data`, or written to `folder` where it begins with `made/`."""
    if not path.startswith("made/"):
        return data / path
    file = folder / path
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        kind, _, name = file.stem.partition("_")
        file.write_text(_MAKERS[kind](name, data), encoding="utf-8")
    return file


def options(row: dict[str, Any], data: Path, folder: Path) -> dict[str, Any]:
    """The options of a question as `swath.ask` takes them."""
    given: dict[str, Any] = {}
    for key, value in row["options"].items():
        if key == "layers":
            given[key] = {name: make(path, data, folder) for name, path in value.items()}
        else:
            given[key] = make(value, data, folder) if key in ("labels", "legend") else value
    return given
