"""A whole question of an image that is held in tiles: the same answer, a run that holds the same, and its replay."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import shapely
from affine import Affine
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import swath
from swath.agent import outlines as drawing
from swath.agent.replay import replay
from swath.errors import InputError
from swath.tools.handles import LabelImage
from swath.tools.labelling import component_runs
from swath.trace.reading import load_run

SHAPE = (700, 2600)
LEGEND = {1: "ground", 2: "building", 3: "water", 0: "void"}
QUESTIONS = (
    "How many buildings are within 20 m of water?",
    "What percentage of the image is water?",
    "What is the total area of the buildings larger than 100 m2?",
    "How long is the shoreline of the water?",
    "How far is the largest building from the water?",
)


def town(path: Path, dtype: str = "uint8", times: int = 1, *, noisy: bool = False) -> Path:
    """Buildings and lakes that the seams of tiles of 512 x 2,048 pixels cut, with void in a corner.

    Repeated so many times in both directions; with specks of buildings, where they are to take room.
    """
    rng = np.random.default_rng(3)
    labels: NDArray[Any] = np.ones(SHAPE, dtype=dtype)
    for row, col in zip(rng.integers(0, SHAPE[0], 400), rng.integers(0, SHAPE[1], 400), strict=True):
        labels[row : row + rng.integers(5, 30), col : col + rng.integers(5, 30)] = 2
    labels[500:530, 2000:2100] = labels[100:300, 900:1100] = labels[600:, :50] = 3
    labels[:40, :60] = 0
    if noisy:
        labels[rng.random(SHAPE) < 0.2] = 2
    labels = np.tile(labels, (times, times))
    profile = {"driver": "GTiff", "height": labels.shape[0], "width": labels.shape[1], "count": 1, "dtype": dtype}
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000)}
    with rasterio.open(path, "w", **profile, **place, tiled=True, compress="deflate") as dataset:
        dataset.write(labels, 1)
    legend = path.with_suffix(".json")
    legend.write_text(json.dumps({str(value): name for value, name in LEGEND.items()}))
    return path


def asked(image: Path, question: str, out: Path, **options: Any) -> swath.Answer:
    return swath.ask(image, question, labels=image, legend=image.with_suffix(".json"), out=out, **options)


@pytest.mark.parametrize(
    ("question", "dtype"), [*((question, "uint8") for question in QUESTIONS), (QUESTIONS[0], "int32")]
)
def test_the_same_answer_and_run(tmp_path: Path, question: str, dtype: str) -> None:
    image = town(tmp_path / "town.tif", dtype)
    whole, tiled = (asked(image, question, tmp_path / name, tiles_above_px=limit)
                    for name, limit in (("whole", 10**9), ("tiled", 10**6)))  # fmt: skip
    assert whole.status == tiled.status == "answered"
    assert (whole.answer, whole.text, whole.interval, whole.warnings) == (
        tiled.answer, tiled.text, tiled.interval, tiled.warnings,
    )  # fmt: skip
    records = [json.loads((Path(answer.run or "") / "run.json").read_text()) for answer in (whole, tiled)]
    assert [record["image"]["held"] for record in records] == ["array", "tiles"]
    assert len(records[0]["masks"]) == len(records[1]["masks"])
    for one, other in zip(records[0]["masks"], records[1]["masks"], strict=True):
        with (rasterio.open(Path(whole.run or "") / one["file"]) as a,
              rasterio.open(Path(tiled.run or "") / other["file"]) as b):  # fmt: skip
            assert np.array_equal(a.read(1), b.read(1))
    assert (Path(tiled.run or "") / "overlay.png").stat().st_size > 10_000
    again = replay(load_run(Path(tiled.run or "")))
    assert again.answer.answer == tiled.answer
    assert again.differences == ()


def test_labels_of_another_grid_in_tiles(tmp_path: Path) -> None:
    labels = town(tmp_path / "labels.tif")
    image = tmp_path / "image.tif"
    profile = {"driver": "GTiff", "height": 600, "width": 1500, "count": 1, "dtype": "uint8", "crs": "EPSG:32633"}
    with rasterio.open(image, "w", **profile, transform=Affine(0.7, 0.1, 500_100, 0, -0.7, 4_999_990)) as dataset:
        dataset.write(np.full((600, 1500), 7, np.uint8), 1)
    options = {"labels": labels, "legend": labels.with_suffix(".json"), "keep": "light"}
    question = "How many buildings are within 20 m of water?"
    whole, tiled = (swath.ask(image, question, out=tmp_path / "runs", tiles_above_px=limit, **options)
                    for limit in (10**9, 10**5))  # fmt: skip
    assert (whole.answer, whole.interval, whole.warnings) == (tiled.answer, tiled.interval, tiled.warnings)
    assert whole.status == "answered"


@pytest.mark.parametrize("size", ["small", "large"])
def test_features_and_an_area_of_interest_in_tiles(tmp_path: Path, size: str) -> None:
    image = town(tmp_path / "town.tif")
    houses = [
        shapely.box(x, y, x + 9.7, y + 12.2)
        for x in range(500_010, 501_200, 37)
        for y in range(4_999_700, 4_999_990, 31)
    ]
    features = [{"type": "Feature", "properties": {}, "geometry": shapely.geometry.mapping(house)} for house in houses]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}
    small = shapely.box(500_100, 4_999_750, 500_400, 4_999_930).buffer(3)
    large = shapely.Polygon([(499_990, 4_999_990), (501_290, 4_999_940), (500_700, 4_999_651)])
    zone = {"small": small, "large": large}[size]
    area = [{"type": "Feature", "properties": {}, "geometry": shapely.geometry.mapping(zone)}]
    for name, drawn in (("house", features), ("aoi", area)):
        file = {"type": "FeatureCollection", "crs": crs, "features": drawn}
        (tmp_path / f"{name}.geojson").write_text(json.dumps(file))
    for question in ("How many houses are within 20 m of water?", "What share of the image do the houses cover?"):
        whole, tiled = (
            asked(image, question, tmp_path / "runs", tiles_above_px=limit, keep="light",
                  layers={"house": tmp_path / "house.geojson"}, aoi=tmp_path / "aoi.geojson")
            for limit in (10**9, 4 * 10**5)
        )  # fmt: skip
        assert whole.status == "answered"
        assert whole.answer == tiled.answer
        assert whole.warnings == tiled.warnings


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0.05, 0.9), strip_px=st.integers(1, 400))
def test_outlines_are_stitched_across_seams(seed: int, share: float, strip_px: int) -> None:
    pixels = np.random.default_rng(seed).random((23, 17)) < share
    source = LabelImage(component_runs(pixels, 8), None)  # type: ignore[arg-type]
    every = np.arange(source.runs.count)
    with pytest.MonkeyPatch.context() as patched:
        whole = drawing.outlines(source, every)
        patched.setattr(drawing, "STRIP_PX", strip_px)
        cut = drawing.outlines(source, every)
    assert shapely.is_valid(cut).all()
    assert shapely.equals(whole, cut).all()
    assert shapely.get_num_coordinates(whole).tolist() == shapely.get_num_coordinates(cut).tolist()


def test_a_tool_without_tiles_refuses(tmp_path: Path) -> None:
    image = town(tmp_path / "town.tif")
    program = 'roofs = segment("building")\nreply(dominant_colour(roofs), kind="category")'
    answer = asked(image, "What colour?", tmp_path / "runs", program=program, tiles_above_px=10**6)
    assert answer.status == "refused"
    assert answer.reason is not None


@pytest.mark.parametrize(
    "damage", ["bytes that are no deflate stream", "a stream that ends too soon", "beyond the end"]
)
def test_damage_in_one_tile_names_the_window(tmp_path: Path, damage: str) -> None:
    image = town(tmp_path / "town.tif")
    data = bytearray(image.read_bytes())
    with rasterio.open(image) as dataset:
        offset = int(dataset.get_tag_item("BLOCK_OFFSET_3_1", "TIFF", bidx=1))
    if damage == "beyond the end":
        place = data.index(offset.to_bytes(4, "little"))  # in the table of offsets
        data[place : place + 4] = (len(data) + 100).to_bytes(4, "little")
    else:
        junk = bytes(40) if damage == "bytes that are no deflate stream" else zlib.compress(b"too little").ljust(40)
        data[offset : offset + 40] = junk
    image.write_bytes(bytes(data))
    out = tmp_path / "runs"
    with pytest.raises(InputError) as caught:
        asked(image, QUESTIONS[0], out, tiles_above_px=10**6)
    said = f"Rows 0 to 511, columns 0 to 2047 of {image} cannot be read: the file is damaged or truncated there."
    assert str(caught.value) == f"{said} Next: fetch it again."
    assert not out.exists() or not list(out.iterdir())
