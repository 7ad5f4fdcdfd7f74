"""The second route: polygons and k-d trees against closed forms, brute force and the reference programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import label

from swath.errors import InputError
from swath.eval.labels.landscape import UNNAMED, VOID, Landscape, read_landscape
from swath.eval.labels.query import Query
from swath.eval.labels.ranges import acceptable_range
from swath.eval.labels.truth import truth
from swath.segment.legend import read_legend

NAMES = ("building", "water", "grass")


def scattered(seed: int, shape: tuple[int, int] = (60, 80), step: tuple[float, float] = (0.5, 0.5)) -> Landscape:
    """Noise of three classes and void: patches of all shapes that touch at sides, at corners and around holes."""
    codes = np.random.default_rng(seed).choice([VOID, 0, 1, 2], size=shape, p=[0.05, 0.35, 0.25, 0.35])
    return Landscape(NAMES, codes.astype(np.int16), step)


@pytest.mark.parametrize("seed", range(5))
def test_patches_are_the_eight_connected_components(seed: int) -> None:
    land = scattered(seed)
    numbered, count = label(land.pixels("building"), np.ones((3, 3)))
    patches = land.patches("building")
    assert sorted(patches.areas_px) == sorted(np.bincount(numbered.ravel())[1:])
    assert len({(a, b) for a, b in zip(numbered.ravel(), patches.numbers.ravel(), strict=True)}) == count + 1


def test_distances_are_those_to_the_nearest_pixel_centre() -> None:
    land = scattered(7, (20, 25), step=(0.5, 0.8))
    own, target = (np.argwhere(land.pixels(name)) * (0.8, 0.5) for name in ("building", "water"))
    brute = np.linalg.norm(own[:, None] - target[None], axis=2).min(axis=1)
    np.testing.assert_allclose(land.distances_m("building", "water"), brute, rtol=1e-12)
    number_of = land.patches("building").numbers[land.pixels("building")]
    for number, nearest in enumerate(land.patch_distances_m("building", "water")):
        assert nearest == pytest.approx(brute[number_of == number].min(), rel=1e-12)


def painted() -> Landscape:
    """Two houses of 4 x 5 and 3 x 3 pixels of 2 m in grass: the larger 3, the other 11 columns right of a canal."""
    codes = np.full((20, 30), 2, dtype=np.int16)
    codes[:, 0:4] = 1
    codes[2:6, 6:11] = 0
    codes[10:13, 14:17] = 0
    codes[19] = VOID
    return Landscape(NAMES, codes, (2.0, 2.0))


CASES = [
    (Query("share", "building"), 100 * 29 / 570),
    (Query("count", "building"), 2),
    (Query("count", "building", min_m2=36.0), 1),
    (Query("count", "building", min_m2=36.0, above=False), 2),
    (Query("count", "building", min_m2=30.0, max_m2=80.0), 2),
    (Query("count", "building", max_m2=79.0), 1),
    (Query("largest_share", "building"), 100 * 20 / 570),
    (Query("area", "building", unit="m2"), 116.0),
    (Query("area", "building"), 0.0116),
    (Query("power", "building", min_m2=40.0, efficiency=0.25), 80 * 1000 * 0.25 / 1000),
    (Query("mean_area", "building", "water", distance_m=22.0, whole=True, unit="m2"), 58.0),
    (Query("mean_area", "building", "water", distance_m=1.0, whole=True, unit="m2"), 0.0),
    (Query("count", "building", "water", distance_m=6.0, whole=True), 1),
    (Query("count", "building", "water", distance_m=5.9, whole=True), 0),
    (Query("area", "building", "water", distance_m=8.0, unit="m2"), 2 * 4 * 4.0),
    (Query("area", "building", "water", distance_m=8.0, whole=True, unit="m2"), 80.0),
    (Query("any", "building", min_m2=79.0), "yes"),
    (Query("any", "building", min_m2=80.0), "no"),
    (Query("several", "building"), "yes"),
    (Query("several", "building", min_m2=36.0), "no"),
    (Query("more_area", "water", "building"), "yes"),
    (Query("more_area", "building", "water"), "no"),
    (Query("covers", "building", percent=5.0), "yes"),
    (Query("covers", "building", percent=6.0), "no"),
    (Query("pieces", "building"), "fragmented"),
    (Query("pieces", "building", min_m2=40.0), "connected"),
    (Query("pieces", "building", min_m2=400.0), "absent"),
]


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_truths_by_hand(query: Query, expected: float | str) -> None:
    answer = truth(painted(), query)
    assert answer == (expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-12))


def test_moved_thresholds_show_what_hangs_on_a_pixel() -> None:
    query = Query("count", "building", "water", min_m2=20.0, distance_m=6.0, whole=True)
    assert [truth(painted(), query, step) for step in (-1, 0, 1)] == [0, 1, 1]
    assert [truth(painted(), replace(query, min_m2=34.0, distance_m=30.0), step) for step in (-1, 0, 1)] == [2, 2, 1]


def test_what_a_buffer_swallows() -> None:
    assert painted().coverage("water", 1000) == 1.0
    assert painted().coverage("water", 1.0) < 0.5
    assert Landscape(NAMES, np.zeros((9, 9), np.int16), (1.0, 1.0)).coverage("water", 1000) == 0.0


def test_a_map_is_read_as_its_legend_says(tmp_path: Path, village: Any) -> None:
    legend = tmp_path / "legend.json"
    legend.write_text(json.dumps({"1": "building", "2": "water"}), encoding="utf-8")
    land = read_landscape(village.image, read_legend(legend), None)
    assert (land.names, land.step_xy_m, land.stated_gsd_m) == (("building", "water"), (0.5, 0.5), None)
    assert land.valid_px == village.valid_px
    assert (land.codes == UNNAMED).any()  # the grass, which this legend does not name
    assert len(land.patches("building").areas_px) == village.houses


def test_a_map_without_ground_needs_one(tmp_path: Path) -> None:
    Image.fromarray(np.eye(8, dtype=np.uint8)).save(tmp_path / "a.png")
    legend = tmp_path / "legend.json"
    legend.write_text('{"1": "building"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"no georeference\. Next: state the ground size of its pixels with --gsd"):
        read_landscape(tmp_path / "a.png", read_legend(legend), None)
    assert read_landscape(tmp_path / "a.png", read_legend(legend), 0.3).stated_gsd_m == 0.3


@pytest.mark.parametrize(
    ("measure", "value", "rule", "limits"),
    [
        ("percent", 10.0, "card", (8.26, 11.74)),
        ("percent", 99.0, "card", (97.26, 100.0)),
        ("proximity_percent", 10.0, "card", (7.75, 12.25)),
        ("count", 5, "card", (4, 6)),
        ("count", 7, "card", (5, 9)),
        ("count", 100, "card", (81, 119)),
        ("amount", 200.0, "squid-fit", (195.5, 204.5)),
    ],
)
def test_ranges_by_what_is_measured(measure: str, value: float, rule: str, limits: tuple[float, float]) -> None:
    found = acceptable_range(measure, value)  # type: ignore[arg-type]
    assert found is not None
    assert found[0] == rule
    assert found[1] == pytest.approx(limits)


def test_zero_has_no_range() -> None:
    assert acceptable_range("percent", 0) is None
