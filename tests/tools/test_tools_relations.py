"""Relations between objects against their definitions, worked out object by object on other ways."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.spatial
import shapely
from affine import Affine
from measured_sites import SHAPE, blobs, call, disc, planar, site_on

from swath.errors import ToolError
from swath.raster.grid import Grid
from swath.tools.site import Site

GRIDS = {"pixels": Grid(Affine.identity(), SHAPE, None)} | {
    name: planar(name) for name in ("square", "not square", "rotated")
}
CARS, PONDS = blobs(seed=21, share=0.08), blobs(seed=22, share=0.06)


def scene(name: str) -> tuple[Site, Any, Any]:
    site = site_on(GRIDS[name], {"car": CARS, "pond": PONDS})
    cars, ponds = (call(site, "components", call(site, "segment", own), min_px=6) for own in ("car", "pond"))
    assert len(cars) > 15 and len(ponds) > 8
    return site, cars, ponds


def boxes(site: Site, regions: Any) -> list[tuple[float, ...]]:
    return [tuple(box) for box in call(site, "boxes_px", regions)]


def pixels(site: Site, regions: Any) -> list[np.ndarray[Any, Any]]:
    return [one.mask.pixels for one in call(site, "each", regions)]


def linear(name: str) -> Affine:
    affine = GRIDS[name].affine
    return Affine(affine.a, affine.b, 0, affine.d, affine.e, 0)


def ground_rectangle(affine: Affine, image: np.ndarray[Any, Any]) -> Any:
    """The rectangle of least area around an object's pixel corners, by shapely, on the ground."""
    rows, cols = np.nonzero(image)
    corners = {
        (c + i, r + j) for r, c in zip(rows.tolist(), cols.tolist(), strict=True) for i in (0, 1) for j in (0, 1)
    }
    return shapely.MultiPoint([affine @ corner for corner in corners]).minimum_rotated_rectangle


def long_side(rectangle: Any) -> float:
    x, y = rectangle.exterior.xy
    return max(math.hypot(x[k + 1] - x[k], y[k + 1] - y[k]) for k in range(4))


def centroid(image: np.ndarray[Any, Any]) -> tuple[float, float]:
    rows, cols = np.nonzero(image)
    return cols.mean() + 0.5, rows.mean() + 0.5


# Next to


@pytest.mark.parametrize("name", GRIDS)
def test_next_to_is_a_gap_of_at_most_the_length_of_the_smaller(name: str) -> None:
    site, cars, ponds = scene(name)
    mine, theirs = ([ground_rectangle(linear(name), image) for image in pixels(site, own)] for own in (cars, ponds))
    wanted = [
        box
        for box, car in zip(boxes(site, cars), mine, strict=True)
        if any(car.distance(pond) <= min(long_side(car), long_side(pond)) + 1e-9 for pond in theirs)
    ]
    assert boxes(site, call(site, "next_to", cars, ponds)) == wanted
    assert 0 < len(wanted) < len(cars)


def test_next_to_says_where_it_ends_and_nothing_is_next_to_itself() -> None:
    outlines = [
        shapely.box(5, 5, 9, 7),
        shapely.box(13, 5, 33, 15),
        shapely.box(13, 20, 17, 22),
        shapely.box(60, 40, 64, 42),
    ]
    site = site_on(GRIDS["pixels"], {"car": outlines})
    cars = call(site, "components", call(site, "segment", "car"))
    # 1 is 4 from 2, and 4 long; 3 is 5 below 2, and 4 long; 4 is alone
    assert boxes(site, call(site, "next_to", cars, cars)) == boxes(site, cars)[:2]
    assert boxes(site, call(site, "next_to", cars, call(site, "segment", "car"))) == boxes(site, cars)[:2]


def test_the_same_objects_found_twice_are_not_next_to_themselves_but_to_others() -> None:
    site, cars, _ = scene("square")
    again = call(site, "sort_by_area", call(site, "components", call(site, "segment", "car")))
    assert boxes(site, call(site, "next_to", cars, call(site, "common", again, cars))) == boxes(
        site, call(site, "next_to", cars, cars)
    )


# On one side

SIDES = {"left": (-1, 0), "right": (1, 0), "above": (0, -1), "below": (0, 1)}


@pytest.mark.parametrize("name", ["pixels", "square", "not square"])
@pytest.mark.parametrize("side", SIDES)
def test_on_a_side_is_beyond_the_box_and_within_45_degrees(name: str, side: str) -> None:
    site, cars, ponds = scene(name)
    ponds = call(site, "largest", ponds, n=3)
    dx, dy = SIDES[side]
    wide, high = (1, 1) if name == "pixels" else GRIDS[name].require_ground().size_xy_m
    wanted = []
    for box, car in zip(boxes(site, cars), pixels(site, cars), strict=True):
        x, y = centroid(car)
        for (x0, y0, x1, y1), pond in zip(boxes(site, ponds), pixels(site, ponds), strict=True):
            px, py = centroid(pond)
            beyond = {"left": x < x0, "right": x > x1, "above": y < y0, "below": y > y1}[side]
            along, across = (dx * (x - px) * wide + dy * (y - py) * high), (dy * (x - px) * wide + dx * (y - py) * high)
            if beyond and along >= abs(across):
                wanted.append(box)
                break
    assert boxes(site, call(site, "on_side", cars, ponds, side=side)) == wanted
    assert wanted


def test_compass_sides_follow_the_grid() -> None:
    site, cars, ponds = scene("square")
    for compass, side in (("north", "above"), ("east", "right")):
        assert boxes(site, call(site, "on_side", cars, ponds, side=compass)) == boxes(
            site, call(site, "on_side", cars, ponds, side=side)
        )
    site = site_on(planar("south-up"), {"car": CARS, "pond": PONDS})
    cars, ponds = (call(site, "components", call(site, "segment", own)) for own in ("car", "pond"))
    assert boxes(site, call(site, "on_side", cars, ponds, side="north")) == boxes(
        site, call(site, "on_side", cars, ponds, side="below")
    )


# Between


def test_between_is_in_the_hull_of_both_and_in_neither() -> None:
    site, cars, ponds = scene("pixels")
    a, b = call(site, "extreme", ponds, side="left", n=2), call(site, "extreme", ponds, side="right", n=2)
    identity = Affine.identity()
    rectangles = [[ground_rectangle(identity, image) for image in pixels(site, own)] for own in (a, b)]
    wanted = []
    for box, car in zip(boxes(site, cars), pixels(site, cars), strict=True):
        point = centroid(car)
        for one in rectangles[0]:
            for other in rectangles[1]:
                corners = np.array([*one.exterior.coords, *other.exterior.coords])
                held = scipy.spatial.Delaunay(corners).find_simplex(point) >= 0
                if held and not one.covers(shapely.Point(point)) and not other.covers(shapely.Point(point)):
                    wanted.append(box)
    wanted = list(dict.fromkeys(wanted))
    assert boxes(site, call(site, "between", cars, a, b)) == wanted
    assert boxes(site, call(site, "between", cars, b, a)) == wanted
    assert 0 < len(wanted) < len(cars)


def test_between_two_of_a_set_means_different_ones() -> None:
    row = [shapely.box(x, 20, x + 6, 26) for x in (5, 30, 60)]
    site = site_on(GRIDS["pixels"], {"pond": row})
    ponds = call(site, "components", call(site, "segment", "pond"))
    assert boxes(site, call(site, "between", ponds, ponds, ponds)) == [(30, 20, 36, 26)]
    one = call(site, "largest", ponds)
    assert len(call(site, "between", ponds, one, one)) == 0


def test_between_too_many_pairs_is_a_hint() -> None:
    grid = Grid(Affine.identity(), (210, 210), None)
    dots = np.zeros((210, 210), dtype=bool)
    dots[::2, ::2] = True
    site = site_on(grid, {"pond": dots})
    ponds = call(site, "components", call(site, "segment", "pond"))
    with pytest.raises(ToolError, match="are more than 10,000 pairs: choose among them first"):
        call(site, "between", ponds, ponds, ponds)


# Inside


def test_inside_is_nine_tenths_of_the_pixels_in_one_object_with_its_holes() -> None:
    rng = np.random.default_rng(2)
    ring = disc(SHAPE, 30, 30, 22) & ~disc(SHAPE, 30, 30, 15)
    dots = np.zeros(SHAPE, dtype=bool)
    for row, col in rng.integers(3, [55, 70], (70, 2)):
        dots[row : row + rng.integers(2, 6), col : col + rng.integers(2, 6)] = True
    site = site_on(GRIDS["pixels"], {"car": dots, "pond": ring | blobs(seed=2, share=0.02)})
    cars, ponds = (call(site, "components", call(site, "segment", own)) for own in ("car", "pond"))
    wanted = []
    for box, car in zip(boxes(site, cars), pixels(site, cars), strict=True):
        for pond in pixels(site, ponds):
            outside, _ = scipy.ndimage.label(np.pad(~pond, 1, constant_values=True))  # 4-connected, one with the border
            filled = (outside != outside[0, 0])[1:-1, 1:-1]
            if (car & filled).sum() >= 0.9 * car.sum():
                wanted.append(box)
                break
    assert boxes(site, call(site, "inside", cars, ponds)) == wanted
    assert 3 < len(wanted) < len(cars) - 3


def test_boxes_may_lie_inside_boxes_and_none_inside_itself() -> None:
    site = site_on(GRIDS["pixels"], {"car": [shapely.box(10, 10, 14, 12), shapely.box(5, 5, 40, 40)]})
    cars = call(site, "components", call(site, "segment", "car"))
    assert boxes(site, call(site, "inside", cars, cars)) == [(10, 10, 14, 12)]


# Surrounded


@pytest.mark.parametrize("name", GRIDS)
def test_surrounded_is_a_target_in_three_of_four_directions_within_twice_the_length(name: str) -> None:
    site = site_on(GRIDS[name], {"car": CARS, "pond": blobs(seed=9, share=0.25)})
    cars = call(site, "components", call(site, "segment", "car"), min_px=6)
    ponds = call(site, "segment", "pond")
    places = np.argwhere(ponds.pixels)
    affine = linear(name)
    size = GRIDS[name].ground.size_xy_m if name in ("square", "not square") else None
    wanted = []
    for box, car in zip(boxes(site, cars), pixels(site, cars), strict=True):
        x, y = centroid(car)
        reach = 2 * long_side(ground_rectangle(affine, car))
        found = set()
        for row, col in places.tolist():
            dx, dy = col + 0.5 - x, row + 0.5 - y
            east, south = (
                (dx * size[0], dy * size[1])
                if size
                else (dx * abs(complex(affine.a, affine.d)), dy * abs(complex(affine.a, affine.d)))
            )
            if not car[row, col] and math.hypot(east, south) <= reach + 1e-9:
                found.add(math.floor(math.atan2(south, east) % (2 * math.pi) / (2 * math.pi / 16)) % 16)
        if len(found) >= 12:
            wanted.append(box)
    assert boxes(site, call(site, "surrounded_by", cars, ponds)) == wanted
    assert 0 < len(wanted) < len(cars)


def test_relations_to_nothing_hold_for_nothing() -> None:
    site = site_on(GRIDS["pixels"], {"car": CARS, "pond": np.zeros(SHAPE, dtype=bool)})
    cars, pond = call(site, "components", call(site, "segment", "car")), call(site, "segment", "pond")
    none = call(site, "components", pond)
    for tool, options in (("next_to", {}), ("on_side", {"side": "left"}), ("inside", {}), ("surrounded_by", {})):
        assert len(call(site, tool, cars, pond, **options)) == 0
        assert len(call(site, tool, none, cars, **options)) == 0
    assert len(call(site, "between", cars, pond, cars)) == len(call(site, "between", none, cars, pond)) == 0


def test_lines_and_points_have_relations_too() -> None:
    road, post = shapely.LineString([(10, 10), (10, 50)]), shapely.Point(12, 30)
    site = site_on(GRIDS["pixels"], {"road": [road], "post": [post], "car": [shapely.box(12.5, 20, 16.5, 22)]})
    road_, post_, car = (call(site, "components", call(site, "segment", own)) for own in ("road", "post", "car"))
    assert len(call(site, "next_to", car, road_)) == 1
    assert len(call(site, "next_to", post_, road_)) == 0  # a point has no length, so that it is next to what it touches
    assert len(call(site, "on_side", post_, road_, side="right")) == 1
    assert len(call(site, "on_side", road_, post_, side="left")) == 1
