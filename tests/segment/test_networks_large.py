"""Networks on images that are held in tiles: what the same image gives as an array, or a refusal that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine

import swath
from swath.agent.replay import replay
from swath.agent.segmenting import write_class
from swath.testing.networks import colour_network
from swath.trace.events import Event
from swath.trace.reading import find_run

COLOURS = {"building": (220, 40, 200), "water": (20, 60, 100)}
HELD = 100_000
"""Pixels above which the image is held in tiles; its windows, and all that is read of it at once, are smaller."""


@pytest.fixture
def scene(tmp_path: Path) -> tuple[Path, str]:
    """An image of 560 x 400 pixels, more than one tile high, and a network that sees its colours."""
    random = np.random.default_rng(8)
    which = np.kron(random.integers(0, 2, (28, 20)), np.ones((20, 20), int))
    pixels = np.array(list(COLOURS.values()), np.uint8)[which]
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 5e5, 0, -0.5, 4e6)}
    with rasterio.open(
        tmp_path / "large.tif", "w", driver="GTiff", width=400, height=560, count=3, dtype="uint8",
        photometric="rgb", **place,
    ) as file:  # fmt: skip
        file.write(pixels.transpose(2, 0, 1))
    more = "[thresholds]\nstrict = 0.9\nlax = 0.1\n"
    return tmp_path / "large.tif", f"onnx:{colour_network(tmp_path, COLOURS, roofs='building', more=more)}"


@pytest.mark.parametrize("question", ["What percentage is water?", "What is the total building area in hectares?"])
def test_areas_are_those_of_the_same_image_as_an_array(scene: tuple[Path, str], tmp_path: Path, question: str) -> None:
    image, segmenter = scene
    options: dict[str, Any] = {"segmenter": segmenter, "out": tmp_path / "runs"}
    whole, tiled = swath.ask(image, question, **options), swath.ask(image, question, tiles_above_px=HELD, **options)
    assert whole.status == tiled.status == "answered", tiled.reason
    assert tiled.answer == pytest.approx(whole.answer)
    assert tiled.interval == whole.interval
    assert replay(find_run(str(tiled.run), tmp_path)).same


def test_counts_of_objects_told_apart_by_pixel_are_the_same(scene: tuple[Path, str], tmp_path: Path) -> None:
    image, segmenter = scene
    options: dict[str, Any] = {"segmenter": segmenter, "out": tmp_path / "runs"}
    question = "How many buildings are there?"
    whole, tiled = swath.ask(image, question, **options), swath.ask(image, question, tiles_above_px=HELD, **options)
    assert whole.status == tiled.status == "answered", tiled.reason
    assert tiled.answer == whole.answer > 1


def test_objects_that_an_area_cuts_are_named_the_same(scene: tuple[Path, str], tmp_path: Path) -> None:
    image, segmenter = scene
    ring = [[500_022.0, 3_999_988.0], [500_101.0, 3_999_988.0], [500_101.0, 3_999_905.0], [500_022.0, 3_999_988.0]]
    shape = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}
    area = tmp_path / "area.geojson"
    area.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": [shape]}), encoding="utf-8")
    options: dict[str, Any] = {"segmenter": segmenter, "out": tmp_path / "runs", "aoi": area}
    question = "How many buildings are there?"
    whole, tiled = swath.ask(image, question, **options), swath.ask(image, question, tiles_above_px=HELD, **options)
    assert tiled.answer == whole.answer
    (cut,) = [warning for warning in whole.warnings if "are cut by the border" in warning]
    assert cut in tiled.warnings


def test_tiles_are_told_to_whoever_listens(scene: tuple[Path, str], tmp_path: Path) -> None:
    image, segmenter = scene
    heard: list[Event] = []
    swath.ask(image, "What percentage is water?", segmenter=segmenter, out=tmp_path / "runs", listen=heard.append)
    tiles = [event for event in heard if event.kind == "tiles"]
    total = tiles[0].detail["total"]
    assert total > 10
    assert [event.detail["done"] for event in tiles] == list(range(1, total + 1))
    assert tiles[0].name == f"tile 1 of {total}"


def test_segment_writes_an_image_that_is_held_in_tiles(scene: tuple[Path, str], tmp_path: Path) -> None:
    image, segmenter = scene
    masks = []
    for above in (2**25, HELD):
        output = tmp_path / f"{above}.tif"
        said = write_class(image, "water", output, None, segmenter=segmenter, tiles_above_px=above)
        assert said.startswith("water: ")
        with rasterio.open(output) as file:
            masks.append(file.read(1))
    assert np.array_equal(*masks)
    assert masks[0].any()
