"""Heights that are not as they should be, through the whole path: each a right answer or one clear sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import rasterio
from affine import Affine
from numpy.typing import NDArray
from run_scenes import NORTH_UP, UTM, Scene, painted, write_image

from swath.errors import InputError
from swath.trace.reading import load_run

SHAPE = (40, 60)
HOUSE = painted(SHAPE, (10, 8, 30, 24))
GROUND_M, ROOF_M = 62.0, 9.0
HEIGHT = (
    'h = segment("building")\nreply(height_statistic_m(h, statistic="median"), kind="quantity", unit="m", objects=h)'
)
ELEVATION = 'reply(elevation_statistic_m(statistic="median"), kind="quantity", unit="m")'
SLOPE = 'reply(slope_statistic_deg(statistic="median"), kind="quantity", unit="deg")'
RELIEF = 'reply(relief_m(), kind="quantity", unit="m")'
TALL = 'm = height_mask(larger_than_m=5)\nreply(m, kind="mask")'
Surfaces = dict[str, Path]


def write(
    path: Path, heights: NDArray[Any], unit: str | None = "m", affine: Affine = NORTH_UP, crs: Any = UTM, **more: Any
) -> Path:
    profile = {"driver": "GTiff", "height": heights.shape[0], "width": heights.shape[1], "count": 1}
    with rasterio.open(path, "w", **profile, dtype=heights.dtype, crs=crs, transform=affine, **more) as file:
        file.write(heights, 1)
        if unit is not None:
            file.units = (unit,)
    return path


def ground(shape: tuple[int, int] = SHAPE) -> NDArray[Any]:
    return np.full(shape, GROUND_M, dtype=np.float32)


def roofs() -> NDArray[Any]:
    return np.where(HOUSE, GROUND_M + ROOF_M, GROUND_M).astype(np.float32)


def pair(folder: Path, dsm: NDArray[Any], dtm: NDArray[Any] | None = None, **dsm_how: Any) -> Surfaces:
    flat = ground() if dtm is None else dtm
    return {"dsm": write(folder / "dsm.tif", dsm, **dsm_how), "dtm": write(folder / "dtm.tif", flat)}


def with_gaps(folder: Path) -> Surfaces:
    dsm = roofs()
    dsm[8:16, 10:30] = np.nan  # half of the house
    return pair(folder, dsm)


def in_degrees(folder: Path) -> Surfaces:
    """A DEM in longitude and latitude that rises 0.1 m per metre towards true north."""
    inverse = pyproj.Transformer.from_crs(UTM, 4326, always_xy=True)
    lon, lat = inverse.transform(500_060, 4_999_960)
    affine = Affine(2e-5, 0, lon - 2e-3, 0, -2e-5, lat + 2e-3)
    rows = np.arange(200, dtype=np.float64)[:, None] + np.zeros((1, 200))
    metres = pyproj.Geod(ellps="WGS84").inv(lon, lat, lon, lat + 1e-3)[2] / 1e-3 * 2e-5
    return {"dem": write(folder / "dem.tif", 500 - 0.1 * metres * rows, affine=affine, crs="EPSG:4326")}


RIGHT: dict[str, tuple[Callable[[Path], Surfaces], str, float, str]] = {
    "feet and metres": (
        lambda folder: pair(folder, roofs() / np.float32(0.3048), unit="ft"), HEIGHT, ROOF_M, "",
    ),
    "half of the house unknown": (
        with_gaps, HEIGHT, ROOF_M, "building: 50 % of the pixels have no known height; the others count.",
    ),
    "constant, above ground": (lambda folder: pair(folder, ground()), HEIGHT, 0.0, ""),
    "constant, relief": (lambda folder: {"dem": write(folder / "dem.tif", ground())}, RELIEF, 0.0, ""),
    "constant, slope": (lambda folder: {"dem": write(folder / "dem.tif", ground())}, SLOPE, 0.0, ""),
    "one cell over all of the image": (
        lambda folder: {"dem": write(folder / "dem.tif", ground((1, 1)), affine=NORTH_UP @ Affine.scale(60))},
        ELEVATION, GROUND_M, "",
    ),
    "degrees": (in_degrees, SLOPE, float(np.degrees(np.arctan(0.1))), ""),
    "a unit that nobody states": (
        lambda folder: {"dem": write(folder / "dem.tif", ground(), unit=None)},
        ELEVATION, GROUND_M, "dem.tif states no vertical unit: its heights were taken as metres.",
    ),
    "gaps that are not declared": (
        lambda folder: {"dem": write(folder / "dem.tif", np.where(HOUSE, np.float32(-9999), ground()))},
        ELEVATION, GROUND_M, "320 cells of dem.tif hold -9999 undeclared; they were taken as nodata.",
    ),
}  # fmt: skip

REFUSED: dict[str, tuple[Callable[[Path], Surfaces], str, str]] = {
    "all nodata": (
        lambda folder: pair(folder, ground() * 0 - 9999, nodata=-9999), HEIGHT,
        "No cell of dsm.tif under the image holds a height: all are nodata. Next: give another file as --dsm.",
    ),
    "all NaN": (
        lambda folder: {"dem": write(folder / "dem.tif", ground() * np.nan)}, RELIEF,
        "No cell of dem.tif under the image holds a height: all are nodata. Next: give another file as --dem.",
    ),
    "no height under the house": (
        lambda folder: pair(folder, np.where(HOUSE, np.float32(np.nan), ground())), HEIGHT,
        "No pixel of building has a known height. Next: give heights that cover it.",
    ),
    "constant, facing": (
        lambda folder: {"dem": write(folder / "dem.tif", ground())},
        'reply(aspect_deg(), kind="quantity", unit="deg")',
        "No pixel of the image has a known aspect. Next: give heights that cover it.",
    ),
    "one cell, slope": (
        lambda folder: {"dem": write(folder / "dem.tif", ground((1, 1)), affine=NORTH_UP @ Affine.scale(60))}, SLOPE,
        "No cell of dem.tif has a height on all its eight sides, so that no slope can be measured. "
        "Next: give a larger raster, or one with fewer gaps.",
    ),
    "feet beside a silent file": (
        lambda folder: pair(folder, roofs(), unit="ft") | {"dtm": write(folder / "dtm.tif", ground(), unit=None)}, TALL,
        "dsm.tif is in ft, dtm.tif states no vertical unit: whether both are in one unit is not known. "
        "Next: say it with --vertical-unit.",
    ),
    "two silent files, one in feet": (
        lambda folder: {"dsm": write(folder / "dsm.tif", (ground() + 100) / np.float32(0.3048), unit=None),
                        "dtm": write(folder / "dtm.tif", ground() + 100, unit=None)}, HEIGHT,
        "dsm.tif is nowhere near dtm.tif: most of it lies 369 m above it. Next: check the vertical units "
        "(--vertical-unit ft, where files state none) and datums of the heights.",
    ),
    "a first surface alone": (
        lambda folder: {"dsm": write(folder / "dsm.tif", roofs())}, HEIGHT,
        "Heights above ground need a first surface and bare earth; --dsm is given. "
        "Next: give --ndsm FILE, or --dsm FILE and --dtm FILE.",
    ),
    "none": (
        lambda folder: {}, TALL,
        "Heights cannot be measured: no raster of heights is given. "
        "Next: give --ndsm FILE, or --dsm FILE and --dtm FILE.",
    ),
}  # fmt: skip

UNUSABLE: dict[str, tuple[Callable[[Path], Surfaces], str]] = {
    "another place": (
        lambda folder: {"dem": write(folder / "dem.tif", ground(), affine=NORTH_UP @ Affine.translation(5000, 0))},
        r"^The heights do not overlap the image: dem\.tif covers x 510000 to 510120.*Next: give heights of the same",
    ),
    "no CRS, another shape": (
        lambda folder: {"dem": write(folder / "dem.tif", ground((10, 10)), crs=None)},
        r"^dem\.tif names no CRS.*Next: give heights of the image's shape, or files",
    ),
    "degrees as values": (
        lambda folder: {"dem": write(folder / "dem.tif", ground(), unit="degree")},
        r'^dem\.tif states its values in "degree", which is no unit of height that is known\. Next: give a raster of ',
    ),
    "a picture": (
        lambda folder: {"dem": write_image(folder / "dem.tif", SHAPE)},
        r"^dem\.tif holds 3 bands, but a terrain \(DEM\) is one band of numbers\. Next: give a raster of heights as ",
    ),
    "no file": (lambda folder: {"dem": folder / "dem.tif"}, r"dem\.tif"),
}  # fmt: skip


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch, write_image(tmp_path / "i.tif", SHAPE), {"building": HOUSE})


@pytest.mark.parametrize("case", RIGHT)
def test_right_all_the_same(scene: Scene, tmp_path: Path, case: str) -> None:
    surfaces, program, expected, note = RIGHT[case]
    _, answer = scene.ask(program, keep="light", **surfaces(tmp_path))
    assert answer.status == "answered", answer.reason
    assert answer.answer == pytest.approx(expected, abs=2e-4)
    assert not note or note in answer.warnings


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(scene: Scene, tmp_path: Path, case: str) -> None:
    surfaces, program, reason = REFUSED[case]
    _, answer = scene.ask(program, keep="light", **surfaces(tmp_path))
    assert (answer.status, answer.answer, answer.reason) == ("refused", None, reason)


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_files_are_named(scene: Scene, tmp_path: Path, case: str) -> None:
    surfaces, reason = UNUSABLE[case]
    with pytest.raises(InputError, match=reason):
        scene.ask(RELIEF, **surfaces(tmp_path))


def test_one_pixel_is_an_image_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    single = Scene(tmp_path, monkeypatch, write_image(tmp_path / "i.tif", (1, 1)), {"building": np.ones((1, 1), bool)})
    surfaces = {
        "dsm": write(tmp_path / "dsm.tif", ground((1, 1)) + 7),
        "dtm": write(tmp_path / "dtm.tif", ground((1, 1))),
    }
    _, answer = single.ask(HEIGHT, **surfaces)
    assert (answer.answer, answer.status) == (7.0, "answered")
    assert answer.interval is None
    assert "Of a single cell nobody can say how sure it is. Next: state it with --vertical-accuracy." in answer.warnings
    _, answer = single.ask(HEIGHT, vertical_accuracy_m=0.5, **surfaces)
    assert answer.interval is not None
    assert (answer.interval.low, answer.interval.high) == (6.5, 7.5)


def test_the_interval_and_what_it_covers_are_in_text_json_and_run(scene: Scene, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    surfaces = pair(tmp_path, roofs() + rng.normal(0, 0.5, SHAPE).astype(np.float32))
    heights = (roofs() - ground())[HOUSE]
    for options, covers in (({}, "sampling"), ({"vertical_accuracy_m": 0.4}, "vertical accuracy")):
        folder, answer = scene.ask(HEIGHT, **surfaces, **options)
        low, high = (answer.interval.low, answer.interval.high) if answer.interval else (0.0, 0.0)
        assert low < answer.answer < high
        assert abs(answer.answer - np.median(heights)) < 0.2
        if options:
            assert (answer.answer - low, high - answer.answer) == pytest.approx((0.4, 0.4))
        else:  # 1.96 binomial standard errors in ranks of 320 normal cells: about 1.96 * 1.25 * 0.5 / sqrt(320)
            assert (high - low) / 2 == pytest.approx(1.96 * 1.2533 * 0.5 / np.sqrt(320), rel=0.35)
        assert answer.text.startswith(f"{answer.answer:.4g} m ({low:.4g} to {high:.4g})")
        assert answer.interval is not None
        assert answer.interval.covers == (covers,)
        assert load_run(folder).record["answer"]["interval"] == {"low": low, "high": high, "covers": [covers]}
