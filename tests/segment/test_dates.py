"""Two dates of one place: what is gained, lost and kept, by labels of each date and on grids of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine

import swath
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.write import write_array

PIXEL_M = 0.5


def painted(path: Path, classes: np.ndarray[Any, np.dtype[np.uint8]], pixel_m: float = PIXEL_M) -> Path:
    grid = Grid(Affine(pixel_m, 0, 500_000, 0, -pixel_m, 5_000_000), classes.shape, pyproj.CRS(32631))
    write_array(path, classes, grid)
    return path


@pytest.fixture
def dates(tmp_path: Path) -> dict[str, Any]:
    """Two houses before; one of them and a new, larger one after. The later map has pixels of half the size."""
    before = np.full((40, 60), 2, dtype=np.uint8)
    before[5:15, 5:15] = 1
    before[25:35, 5:15] = 1
    after = np.full((40, 60), 2, dtype=np.uint8)
    after[5:15, 5:15] = 1
    after[10:30, 30:50] = 1
    (tmp_path / "legend.json").write_text(json.dumps({"1": "building", "2": "grass"}), encoding="utf-8")
    return {
        "image": painted(tmp_path / "image.tif", before),
        "before": painted(tmp_path / "before.tif", before),
        "after": painted(tmp_path / "after.tif", after.repeat(2, axis=0).repeat(2, axis=1), PIXEL_M / 2),
        "legend": tmp_path / "legend.json",
        "out": tmp_path / "runs",
        "keep": "light",
    }


@pytest.mark.parametrize(
    ("expression", "pixels"),
    [
        ('area_m2(difference(segment("building after"), segment("building before")))', 400),
        ('area_m2(difference(segment("building before"), segment("building after")))', 100),
        ('area_m2(intersection(segment("building before"), segment("building after")))', 100),
        ('area_m2(segment("building after")) - area_m2(segment("building before"))', 300),
        ('area_m2(intersection(segment("building before"), segment("grass after")))', 100),
    ],
    ids=["gained", "lost", "unchanged", "net", "from building to grass"],
)
def test_what_changed(dates: dict[str, Any], expression: str, pixels: int) -> None:
    answer = swath.ask(question="?", program=f'reply({expression}, kind="quantity", unit="m2")', **dates)
    assert answer.answer == pytest.approx(pixels * PIXEL_M**2), answer.reason


def test_a_net_loss_is_negative(dates: dict[str, Any]) -> None:
    net = 'area_m2(segment("grass after")) - area_m2(segment("grass before"))'
    answer = swath.ask(question="?", program=f'reply({net}, kind="quantity", unit="m2")', **dates)
    assert answer.answer == pytest.approx(-300 * PIXEL_M**2)
    assert answer.interval is not None
    assert answer.interval.low < answer.answer < answer.interval.high


def test_one_date_alone_is_no_comparison(dates: dict[str, Any]) -> None:
    del dates["after"]
    with pytest.raises(InputError, match="give both --before FILE and --after FILE"):
        swath.ask(question="?", program="", **dates)


def test_dates_of_another_place_are_named(dates: dict[str, Any], tmp_path: Path) -> None:
    far = Grid(Affine(1, 0, 700_000, 0, -1, 5_000_000), (9, 9), pyproj.CRS(32631))
    write_array(tmp_path / "far.tif", np.ones((9, 9), dtype=np.uint8), far)
    with pytest.raises(InputError, match="do not overlap"):
        swath.ask(question="?", program="", **(dates | {"after": tmp_path / "far.tif"}))


def test_images_of_two_dates_go_through_the_segmenter(tmp_path: Path) -> None:
    scene = Path(swath.__file__).parent / "data" / "olinda_l7.tif"
    bands = {"blue": 1, "green": 2, "red": 3, "nir": 4, "swir1": 5, "swir2": 6}
    kept = 'share_percent(segment("water after"), of=segment("water before"))'
    answer = swath.ask(
        scene,
        "?",
        program=f'reply({kept}, kind="percent", unit="percent")',
        before=scene,
        after=scene,
        bands=bands,
        out=tmp_path,
        keep="light",
    )
    assert answer.answer == 100.0
    assert answer.segmenter == "two dates"
