"""Classes from bands and heights above ground, of an image that is held in tiles: what arrays give, and its replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import swath
from swath.agent.replay import replay
from swath.trace.reading import load_run

SHAPE = (120, 180)
PLACE = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000)}
HELD = (10**9, 10**4)


def write(path: Path, bands: NDArray[Any], **more: Any) -> Path:
    profile = {"driver": "GTiff", "count": len(bands), "height": bands.shape[1], "width": bands.shape[2]}
    with rasterio.open(path, "w", **profile, dtype=bands.dtype, **{**PLACE, **more}) as dataset:
        dataset.write(bands)
    return path


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[int, int]], None]:
    from swath.agent import request
    from swath.raster.held import Tiles

    return lambda shape: monkeypatch.setattr(request, "USUAL_TILES", Tiles(2**25, shape))


def whole_and_tiled(image: Path, question: str, out: Path, **options: Any) -> swath.Answer:
    """The answer, which is the same of both, and replays."""
    whole, tiled = (swath.ask(image, question, out=out, tiles_above_px=limit, **options) for limit in HELD)
    assert whole.status == tiled.status
    assert (whole.answer, whole.text, whole.interval, whole.warnings, whole.reason) == (
        tiled.answer, tiled.text, tiled.interval, tiled.warnings, tiled.reason,
    )  # fmt: skip
    run = load_run(Path(tiled.run or ""))
    assert json.loads((Path(tiled.run or "") / "run.json").read_text())["image"]["held"] == "tiles"
    again = replay(run)
    assert again.answer.answer == tiled.answer
    assert again.differences == ()
    return tiled


@pytest.mark.parametrize("tiles", [(7, 11), (64, 200)])
@pytest.mark.parametrize("kind", ["digital numbers", "reflectances", "stated"])
def test_classes_from_bands(kind: str, tiles: tuple[int, int], tmp_path: Path, small_tiles: Any) -> None:
    small_tiles(tiles)
    rng = np.random.default_rng(1)
    wet = gaussian_filter(rng.random(SHAPE), 8) > 0.503
    green, nir = np.where(wet, 60, 70), np.where(wet, 12, 150)
    noisy = np.stack([band + rng.integers(-5, 6, SHAPE) for band in (green, nir)])
    bands: NDArray[Any] = noisy.astype(np.uint8)
    if kind == "reflectances":
        bands = (noisy / 400 + rng.random((2, *SHAPE)) * 1e-3).astype(np.float32)
        bands[:, :20, :30] = np.nan
    image = write(tmp_path / "image.tif", bands)
    options = {"bands": {"green": 1, "nir": 2}, **({"thresholds": {"NDWI": 0.05}} if kind == "stated" else {})}
    found = whole_and_tiled(image, "What percentage of the image is water?", tmp_path / "runs", **options)
    known = np.isfinite(bands.astype(float)).all(axis=0)
    assert found.answer == pytest.approx(100 * np.count_nonzero(wet & known) / np.count_nonzero(known), abs=0.5)


HEIGHTS = {
    "mask": 'reply(height_statistic_m(segment("building")), kind="quantity", unit="m")',
    "regions": 'reply(region_heights_m(components(segment("building"))), kind="ranking")',
    "tallest": 'tall = tallest(components(segment("building")), n=1)\n'
    'reply(height_statistic_m(tall, statistic="max"), kind="quantity", unit="m", objects=tall)',
    "share": 'reply(share_percent(height_mask(larger_than_m=5.0)), kind="percent")',
    "volume": 'reply(volume_m3(segment("building")), kind="quantity", unit="m3")',
    "place": 'reply(height_at_m(row_px=60, column_px=140), kind="quantity", unit="m")',
    "relief": 'reply(relief_m(), kind="quantity", unit="m")',
    "flood": 'reply(area_m2(flood_mask(water_level_m=101.0)), kind="quantity", unit="m2")',
    "profile": "reply(profile_m(from_row_px=50, from_column_px=3, to_row_px=70, to_column_px=90)[-1], "
    'kind="quantity", unit="m")',
}


@pytest.fixture
def hilly(tmp_path: Path) -> dict[str, Any]:
    """An image of labels with a DSM and a DTM that have declared and undeclared gaps; some of the DSM lies too low."""
    rng = np.random.default_rng(2)
    ground = (100 + 4 * gaussian_filter(rng.random(SHAPE), 20) + rng.random(SHAPE) * 0.05).astype(np.float32)
    labels = np.ones(SHAPE, dtype=np.uint8)
    surface = ground + rng.random(SHAPE).astype(np.float32) * 0.1
    for row, col in zip(rng.integers(0, 105, 20), rng.integers(0, 165, 20), strict=True):
        labels[row : row + 15, col : col + 15] = 2
        surface[row : row + 15, col : col + 15] = ground[row : row + 15, col : col + 15] + rng.integers(3, 30)
    surface[40:44, 60:120] -= np.float32(3)
    ground[10:14, 30:50] = -9999
    surface[100:105, 20:60] = -32768
    dsm = write(tmp_path / "dsm.tif", surface[None], nodata=-32768)
    dtm = write(tmp_path / "dtm.tif", ground[None])
    (tmp_path / "legend.json").write_text('{"1": "ground", "2": "building"}')
    image = write(tmp_path / "labels.tif", labels[None])
    return {"image": image, "labels": image, "legend": tmp_path / "legend.json", "dsm": dsm, "dtm": dtm}


@pytest.mark.parametrize("tiles", [(7, 11), (64, 200)])
@pytest.mark.parametrize("what", sorted(HEIGHTS))
def test_heights(what: str, tiles: tuple[int, int], hilly: dict[str, Any], tmp_path: Path, small_tiles: Any) -> None:
    small_tiles(tiles)
    found = whole_and_tiled(hilly.pop("image"), what, tmp_path / "runs", program=HEIGHTS[what], **hilly)
    assert found.status == "answered", found.reason


def test_objects_are_measured_some_at_a_time(
    hilly: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swath.tools.cells.MOST_CELLS", 500)
    whole_and_tiled(hilly.pop("image"), "how high", tmp_path / "runs", program=HEIGHTS["regions"], **hilly)


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ('reply(slope_statistic_deg(), kind="quantity", unit="deg")',
         "tile by tile, and this needs all of them at once"),
        ('reply(height_statistic_m(segment("ground")), kind="quantity", unit="m")',
         "pixels are more than the 1,000 whose heights are looked at together"),
    ],
)  # fmt: skip
def test_what_stays_refused_says_what_would_help(
    program: str, sentence: str, hilly: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swath.raster.fields.MOST_CELLS", 1000)
    found = swath.ask(hilly.pop("image"), "?", program=program, tiles_above_px=HELD[1], out=tmp_path, **hilly)
    assert found.status == "refused"
    assert sentence in (found.reason or "")
    assert "Next: " in (found.reason or "")


def test_heights_on_another_grid_are_refused_by_name(hilly: dict[str, Any], tmp_path: Path) -> None:
    coarse = np.full((1, 60, 90), 110, dtype=np.float32)
    hilly["dsm"] = write(tmp_path / "coarse.tif", coarse, transform=Affine(1, 0, 500_000, 0, -1, 5_000_000))
    program = HEIGHTS["mask"]
    found = swath.ask(hilly.pop("image"), "?", program=program, tiles_above_px=HELD[1], out=tmp_path, **hilly)
    assert found.status == "refused"
    assert (found.reason or "").startswith(
        "coarse.tif lies on another grid than the image, which is held in tiles. Next:"
    )
