"""Classes, set operations, halves and quadrants on grids that lie every way."""

from __future__ import annotations

import itertools

import numpy as np
import pyproj
import pytest
import shapely
from affine import Affine
from measured_sites import SHAPE, blobs, call, disc, planar, polar, site_on

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.masks import PARTS, compass

A, B = blobs(seed=1), disc(SHAPE, 30, 40, 18)
VALID = blobs(seed=9, share=0.8)
SITE = site_on(planar("square"), {"building": A, "water": B}, VALID)
ROWS, COLS = np.indices(SHAPE)


def pixels(name: str, *args: object, **kwargs: object) -> np.ndarray:
    return call(SITE, name, *args, **kwargs).pixels


def test_sets_of_pixels_are_those_of_boolean_algebra_on_valid_pixels() -> None:
    a, b = call(SITE, "segment", "building"), call(SITE, "segment", "water")
    assert np.array_equal(a.pixels, A & VALID)
    assert np.array_equal(pixels("union", a, b), (A | B) & VALID)
    assert np.array_equal(pixels("intersection", a, b), A & B & VALID)
    assert np.array_equal(pixels("difference", a, b), A & ~B & VALID)
    assert np.array_equal(pixels("complement", a), ~A & VALID)
    assert np.array_equal(pixels("whole_image"), VALID)


def test_regions_are_taken_as_their_pixels() -> None:
    a, b = call(SITE, "segment", "building"), call(SITE, "segment", "water")
    big = call(SITE, "components", a, min_px=20)
    assert np.array_equal(pixels("intersection", big, b), call(SITE, "mask_of", big).pixels & B)
    assert np.array_equal(pixels("complement", call(SITE, "components", a)), ~A & VALID)


def test_a_mask_knows_the_classes_it_was_made_from() -> None:
    a, b = call(SITE, "segment", "building"), call(SITE, "segment", "water")
    assert call(SITE, "difference", a, b).classes == {"building", "water"}
    assert call(SITE, "complement", a).classes == {"building"}
    assert call(SITE, "whole_image").classes == frozenset()
    assert call(SITE, "union", a, b) is call(SITE, "union", a, b)


def test_people_s_words_name_classes_and_others_are_refused() -> None:
    assert call(SITE, "segment", "houses") is call(SITE, "segment", "building")
    with pytest.raises(
        Refused, match=r'^"unicorn" cannot be measured: the source of classes \(painted\) knows building'
    ):
        call(SITE, "segment", "unicorn")


def test_halves_and_quadrants_are_the_image_s_own() -> None:
    top, left = ROWS < 30, COLS < 40
    expected = {"top": top, "bottom": ~top, "left": left, "right": ~left,
                "top-left": top & left, "top-right": top & ~left,
                "bottom-left": ~top & left, "bottom-right": ~top & ~left}  # fmt: skip
    for part, where in expected.items():
        assert np.array_equal(pixels("image_part", part=part), where & VALID)


@pytest.mark.parametrize("shape", [(60, 80), (7, 10), (2, 5), (3, 1)])
def test_outer_thirds_hold_the_pixels_whose_centre_lies_in_them(shape: tuple[int, int]) -> None:
    site = site_on(planar("square", shape), {"water": np.ones(shape, dtype=bool)})
    down, across = ((np.arange(size) + 0.5) / size for size in shape)
    expected = {"top": down[:, None] < 1 / 3, "bottom": down[:, None] >= 2 / 3,
                "left": across[None, :] < 1 / 3, "right": across[None, :] >= 2 / 3}  # fmt: skip
    for side, where in expected.items():
        found = call(site, "image_part", part=f"{side}-third").pixels
        assert np.array_equal(found, np.broadcast_to(where, shape))
    for side, same in (("north", "top"), ("south", "bottom"), ("west", "left"), ("east", "right")):
        found = call(site, "image_part", part=f"{side}-third").pixels
        assert np.array_equal(found, np.broadcast_to(expected[same], shape))


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (4, 1)])
def test_the_middle_row_of_an_odd_number_belongs_to_the_lower_half(shape: tuple[int, int]) -> None:
    site = site_on(planar("square", shape), {"water": np.ones(shape, dtype=bool)})
    top, bottom = (call(site, "image_part", part=part).size_px for part in ("top", "bottom"))
    assert (top, bottom) == (shape[0] // 2 * shape[1], (shape[0] - shape[0] // 2) * shape[1])
    left, right = (call(site, "image_part", part=part).size_px for part in ("left", "right"))
    assert (left, right) == (shape[1] // 2 * shape[0], (shape[1] - shape[1] // 2) * shape[0])


def lying(name: str) -> Grid:
    turn, size = Affine.translation(500_000, 5_000_000), Affine.scale(0.5, -0.5)
    grids = {
        "north-up": turn @ size,
        "south-up": turn @ Affine.scale(0.5, 0.5),
        "east-west mirrored": turn @ Affine.scale(-0.5, -0.5),
        "upside down": turn @ Affine.scale(-0.5, 0.5),
        "north to the right": turn @ Affine.rotation(-90) @ size,
        "north to the left": turn @ Affine.rotation(90) @ size,
        "transposed": turn @ Affine(0, -0.5, 0, -0.5, 0, 0),
        "turned by 20 degrees": turn @ Affine.rotation(20) @ size,
        "turned by 160 degrees": turn @ Affine.rotation(160) @ size,
    }
    return Grid(grids[name], SHAPE, planar("square").crs)


KROVAK = Grid(Affine(0, 0.5, 1_043_000, 0.5 * -1, 0, 743_000), SHAPE, pyproj.CRS.from_epsg(5513))
LIES = ["north-up", "south-up", "east-west mirrored", "upside down", "north to the right", "north to the left",
        "transposed", "turned by 20 degrees", "turned by 160 degrees"]  # fmt: skip


def on_map(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Longitude and latitude of every pixel."""
    x, y = grid.affine @ (COLS.ravel() + 0.5, ROWS.ravel() + 0.5)
    lon, lat = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True).transform(x, y)
    return np.asarray(lon).reshape(SHAPE), np.asarray(lat).reshape(SHAPE)


@pytest.mark.parametrize(
    "grid", [*(lying(name) for name in LIES), polar(), polar().window(slice(10, 70), slice(-700, -620)), KROVAK],
    ids=[*LIES, "polar at 45 east", "polar at 90 west", "axes south and west"],
)  # fmt: skip
def test_compass_parts_lie_where_the_map_says(grid: Grid) -> None:
    grid = Grid(grid.affine, SHAPE, grid.crs)
    site = site_on(grid, {"water": B})
    lon, lat = on_map(grid)
    part = {name: call(site, "image_part", part=name).pixels for name in PARTS}
    assert lat[part["north"]].mean() > lat[part["south"]].mean()
    assert lon[part["east"]].mean() > lon[part["west"]].mean()
    for vertical, horizontal in itertools.product(("north", "south"), ("east", "west")):
        assert np.array_equal(part[f"{vertical}-{horizontal}"], part[vertical] & part[horizontal])
    assert sorted(compass(grid).values()) == ["down", "left", "right", "up"]


def test_an_answer_says_where_north_is_if_not_up() -> None:
    for name, warned in (("north-up", False), ("south-up", True)):
        site = site_on(lying(name), {"water": B})
        call(site, "image_part", part="top-left")
        assert not site.warnings
        call(site, "image_part", part="north-west")
        assert bool(site.warnings) == warned
    assert list(site.warnings) == [
        "North is down in this image, so its north-west is not where a north-up map would have it."
    ]


def test_without_a_crs_north_is_up() -> None:
    for affine in (Affine.identity(), Affine.scale(0.5, -0.5)):
        assert compass(Grid(affine, SHAPE, None)) == {"north": "up", "east": "right", "south": "down", "west": "left"}


def test_a_part_is_one_of_those_there_are() -> None:
    with pytest.raises(ToolError, match="^image_part: part must be Literal\\['north', "):
        call(SITE, "image_part", part="centre")


def test_the_area_of_what_lies_outside_lines_is_not_guessed() -> None:
    site = site_on(planar("square"), {"wood": A, "road": [shapely.LineString([(0, 5.5), (70, 5.5)])]})
    outside = call(site, "difference", call(site, "segment", "wood"), call(site, "segment", "road"))
    with pytest.raises(Refused, match="draws lines or points"):
        call(site, "area_m2", outside)
    assert call(site, "area_px", outside) == (A & ((ROWS != 5) | (COLS >= 70))).sum()
