"""Places of objects in the image against every object's pixels, one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import shapely
from affine import Affine
from measured_sites import AFFINES, SHAPE, UTM, blobs, call, planar, site_on

from swath.errors import ToolError
from swath.raster.grid import Grid
from swath.tools.site import Site

UNKNOWN = Grid(Affine.identity(), SHAPE, None)
NINE = [f"{row}-{col}" for row, col in product(("top", "centre", "bottom"), ("left", "centre", "right"))]
NINE[4] = "centre"


def trees(site: Site) -> Any:
    return call(site, "components", call(site, "segment", "tree"))


def ids(site: Site, regions: Any) -> list[tuple[float, ...]]:
    """Objects told apart by their boxes, which differ in these scenes."""
    return [tuple(box) for box in call(site, "boxes_px", regions)]


def pixels_of(site: Site, regions: Any) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    return [np.nonzero(one.mask.pixels) for one in call(site, "each", regions)]


def ground_of(affine: Affine, x: float, y: float) -> tuple[float, float]:
    return affine.a * x + affine.b * y, affine.d * x + affine.e * y


def ground_box(affine: Affine, box: tuple[float, ...]) -> Any:
    x0, y0, x1, y1 = box
    return shapely.Polygon([ground_of(affine, x, y) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))])


def test_nine_cells_are_thirds_and_share_out_all_objects() -> None:
    site = site_on(UNKNOWN, {"tree": blobs(seed=5)})
    found = trees(site)
    total = 0
    for number, cell in enumerate(NINE):
        wanted = []
        for box, (rows, cols) in zip(ids(site, found), pixels_of(site, found), strict=True):
            row, col = int((rows.mean() + 0.5) // (SHAPE[0] / 3)), int((cols.mean() + 0.5) // (SHAPE[1] / 3))
            if (row, col) == divmod(number, 3):
                wanted.append(box)
        assert ids(site, call(site, "in_cell", found, cell=cell)) == wanted
        total += len(wanted)
    assert total == len(found) > 20


@pytest.mark.parametrize(
    ("cell", "of"),
    [
        ("top", ["top-left", "top-centre", "top-right"]),
        ("bottom", ["bottom-left", "bottom-centre", "bottom-right"]),
        ("left", ["top-left", "centre-left", "bottom-left"]),
        ("right", ["top-right", "centre-right", "bottom-right"]),
    ],
)
def test_an_edge_is_three_cells(cell: str, of: list[str]) -> None:
    site = site_on(UNKNOWN, {"tree": blobs(seed=6)})
    found = trees(site)
    three = {box for own in of for box in ids(site, call(site, "in_cell", found, cell=own))}
    assert set(ids(site, call(site, "in_cell", found, cell=cell))) == three


def test_a_centroid_on_the_line_belongs_to_the_later_cell() -> None:
    grid = Grid(Affine.identity(), (60, 90), None)
    site = site_on(grid, {"tree": [shapely.box(28, 18, 32, 22)]})  # around (30, 20)
    assert len(call(site, "in_cell", trees(site), cell="centre")) == 1


@pytest.mark.parametrize(
    ("side", "column", "sign"), [("left", 0, 1), ("top", 1, 1), ("right", 2, -1), ("bottom", 3, -1)]
)
def test_the_outermost_are_those_whose_facing_edge_is_farthest_out(side: str, column: int, sign: int) -> None:
    site = site_on(UNKNOWN, {"tree": blobs(seed=7)})
    found = trees(site)
    middles = [(cols.mean(), rows.mean()) for rows, cols in pixels_of(site, found)]
    order = sorted(
        zip(ids(site, found), middles, strict=True),
        key=lambda item: (sign * item[0][column], sign * item[1][column % 2]),
    )
    assert ids(site, call(site, "extreme", found, side=side, n=len(found))) == [box for box, _ in order]
    assert ids(site, call(site, "extreme", found, side=side)) == [order[0][0]]
    second = call(site, "nth", call(site, "extreme", found, side=side, n=2), n=2)
    assert ids(site, second) == [order[1][0]]
    assert len(call(site, "nth", found, n=len(found) + 1)) == 0


@pytest.mark.parametrize(
    ("name", "north", "east"),
    [("square", "top", "right"), ("south-up", "bottom", "right"), ("turned", "bottom", "left")],
)
def test_compass_sides_follow_the_grid(name: str, north: str, east: str) -> None:
    affines = AFFINES | {"turned": Affine(-0.5, 0, 500_000, 0, 0.5, 5_000_000)}
    site = site_on(Grid(affines[name], SHAPE, UTM), {"tree": blobs(seed=8)})
    found = trees(site)
    for compass, side in (("north", north), ("east", east)):
        assert ids(site, call(site, "extreme", found, side=compass, n=5)) == ids(
            site, call(site, "extreme", found, side=side, n=5)
        )


@pytest.mark.parametrize("name", ["pixels", "square", "not square", "sheared", "rotated"])
def test_nearest_to_edge_corner_and_centre_on_the_ground(name: str) -> None:
    affine = Affine.identity() if name == "pixels" else AFFINES[name]
    grid = UNKNOWN if name == "pixels" else planar(name)
    outlines = [
        shapely.box(x, y, x + w, y + h) for x, y, w, h in np.random.default_rng(4).uniform(1, 8, (25, 4)) * [8, 6, 1, 1]
    ]
    site = site_on(grid, {"tree": outlines})
    found = trees(site)
    boxes = [ground_box(affine, box) for box in ids(site, found)]
    rows, cols = SHAPE
    frame = ground_box(affine, (0, 0, cols, rows)).exterior
    wanted = np.argsort([box.distance(frame) for box in boxes], kind="stable")
    nearest = call(site, "nearest_to_edge", found, n=25)
    assert ids(site, nearest) == [ids(site, found)[k] for k in wanted]
    corners = {"top-left": (0, 0), "top-right": (cols, 0), "bottom-left": (0, rows), "bottom-right": (cols, rows)}
    for corner, place in corners.items():
        away = [box.distance(shapely.Point(ground_of(affine, *place))) for box in boxes]
        if name in ("sheared", "rotated"):  # there the nearest point of a box need not be its corner
            away = [
                np.hypot(
                    *ground_of(
                        affine, (x0 if place[0] == 0 else x1) - place[0], (y0 if place[1] == 0 else y1) - place[1]
                    )
                )
                for x0, y0, x1, y1 in ids(site, found)
            ]
        found_first = call(site, "nearest_to_corner", found, corner=corner, n=3)
        assert ids(site, found_first) == [ids(site, found)[k] for k in np.argsort(away, kind="stable")[:3]]
    middle = shapely.Point(ground_of(affine, cols / 2, rows / 2))
    away = [
        shapely.Point(ground_of(affine, (x0 + x1) / 2, (y0 + y1) / 2)).distance(middle)
        for x0, y0, x1, y1 in ids(site, found)
    ]
    inside = call(site, "nearest_to_centre", found, n=4)
    assert ids(site, inside) == [ids(site, found)[k] for k in np.argsort(away, kind="stable")[:4]]


def test_places_of_nothing_are_nothing() -> None:
    site = site_on(UNKNOWN, {"tree": np.zeros(SHAPE, dtype=bool)})
    none = trees(site)
    for tool, options in (
        ("in_cell", {"cell": "top-left"}), ("extreme", {"side": "left"}), ("nearest_to_edge", {}),
        ("nearest_to_corner", {"corner": "top-left"}), ("nearest_to_centre", {}), ("nth", {"n": 1}),
    ):  # fmt: skip
        assert len(call(site, tool, none, **options)) == 0


@pytest.mark.parametrize("name", AFFINES)
def test_the_cell_of_a_region_is_the_one_that_chooses_it(name: str) -> None:
    site = site_on(planar(name), {"tree": blobs(seed=5)})
    seen = set()
    for one in call(site, "each", trees(site)):
        cell = call(site, "cell_of", one)
        seen.add(cell)
        assert [len(call(site, "in_cell", one, cell=other)) for other in NINE] == [int(cell == other) for other in NINE]
    assert seen == set(NINE)
    with pytest.raises(ToolError, match=r"^cell_of takes one region, not \d+: use largest\(\) or each\(\) first\.$"):
        call(site, "cell_of", trees(site))
