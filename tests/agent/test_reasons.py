"""Why an object was dropped, held against sizes and distances that are known by construction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyogrio
import pytest
from affine import Affine
from run_scenes import UTM, Scene, painted, write_image

from swath.agent.reasons import number
from swath.raster.grid import Grid
from swath.raster.write import write_array

SHAPE = (40, 60)
# 144 m2 and 16 m2 on pixels of 2 m; the water lies west of column 5.
HOUSES = painted(SHAPE, (12, 2, 18, 8), (20, 10, 22, 12))
WATER = painted(SHAPE, (0, 0, 5, 40))


def reasons(scene: Scene, line: str, **options: object) -> list[str]:
    """Why each object was dropped, in the order of the file."""
    program = f'h = components(segment("building"))\n{line}\nreply(count(k), kind="count", objects=k)\n'
    folder, _ = scene.ask(program, **options)
    meta, _, _, columns = pyogrio.raw.read(folder / "objects.gpkg", layer="considered")
    return list(map(str, columns[meta["fields"].tolist().index("reason")]))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    image = write_image(tmp_path / "town.tif", SHAPE)
    return Scene(tmp_path, monkeypatch, image, {"building": HOUSES, "water": WATER, "road": np.zeros(SHAPE, bool)})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("k = filter_regions(h, larger_than_m2=100)", ["filter_regions: area 16 m2 is not larger than 100 m2"]),
        ("k = filter_regions(h, larger_than_m2=16)", ["filter_regions: area 16 m2 is not larger than 16 m2"]),
        ("k = filter_regions(h, smaller_than_m2=144)", ["filter_regions: area 144 m2 is not smaller than 144 m2"]),
        ("k = filter_regions(h, min_m2=16.5)", ["filter_regions: area 16 m2 is not at least 16.5 m2"]),
        (
            "k = filter_regions(h, min_px=5, max_m2=100)",
            ["filter_regions: area 144 m2 is not at most 100 m2", "filter_regions: area 4 px is not at least 5 px"],
        ),
        # Columns 12 and 20 are 8 and 16 pixels, 16 m and 32 m, from column 4.
        ('k = near(h, segment("water"), max_distance_m=16)', ["near: distance 32 m to water is not at most 16 m"]),
        ('k = near(h, segment("water"), smaller_than_m=0)', [
            "near: distance 16 m to water is not less than 0 m", "near: distance 32 m to water is not less than 0 m",
        ]),
        (
            'k = farther(h, segment("water"), larger_than_m=16)',
            ["farther: distance 16 m to water is not more than 16 m"],
        ),
        ('k = near(h, segment("road"), max_distance_m=16)', ["near: there is no road"] * 2),
    ],
)  # fmt: skip
def test_reason_says_what_was_measured_and_what_was_asked(scene: Scene, line: str, said: list[str]) -> None:
    assert reasons(scene, line) == said


def test_height_is_that_of_the_statistic_that_was_asked(scene: Scene, tmp_path: Path) -> None:
    heights = np.zeros(SHAPE, dtype=np.float32)
    heights[2:8, 12:18] = 12
    heights[10:12, 20:22] = 3
    heights[10, 20] = 4
    write_array(tmp_path / "ndsm.tif", heights, Grid(Affine(2, 0, 500_000, 0, -2, 5_000_000), SHAPE, UTM))
    line = 'k = with_height(h, larger_than_m=10, statistic="max")'
    assert reasons(scene, line, ndsm=tmp_path / "ndsm.tif") == ["with_height: height 4 m is not more than 10 m"]


def test_numbers_keep_the_digits_that_tell_them_from_a_bound() -> None:
    shown = [number(value) for value in (16.0, 812.25, 19_999.6, 15_943_712.5, 0.25)]
    assert shown == ["16", "812.25", "19,999.6", "15,943,712", "0.25"]
