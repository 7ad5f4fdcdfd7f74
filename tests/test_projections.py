"""One scene, stored on grids of every kind, answers the same questions alike.

The scene is drawn in metres on a plane that touches the ellipsoid at its centre (azimuthal equidistant) and painted
onto each grid by taking pixel centres back to that plane. The truths are closed forms and shapely's on that plane, so
that nothing of what is tested takes part in them. Drawn a thousand times larger, the same scene covers 400 km: there a
pixel's size changes over the image, and the plane still holds lengths to 0.02 %.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
from affine import Affine
from shapely import affinity

from swath.agent.desk import Desk
from swath.agent.execution import run_program
from swath.agent.request import Request
from swath.agent.sandbox import Sandbox
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.testing.planner import ScriptedPlanner
from swath.tools.kernels import longest_detour

FRAME = shapely.box(-200, -150, 200, 150)
POND = shapely.Point(-100, 60).buffer(45, quad_segs=256)
CANAL = shapely.box(-200, -95, 200, -75)
WOOD = shapely.Point(90, 60).buffer(60, quad_segs=256)
COPSE = shapely.Point(-130, -20).buffer(18, quad_segs=256)
LARGE_AT = [(-180, 125), (-60, 128), (-20, 80), (-15, 20), (20, 130), (-45, -20), (0, -30), (45, -38), (100, -50),
            (165, -40), (175, 0), (180, 125), (-150, -125), (-60, -120), (60, -115), (150, -130)]  # fmt: skip
SMALL_AT = [(-180, 20), (-165, 100), (-20, 50), (20, 10), (125, -10), (-95, -40), (-100, -120), (10, -125)]


def house(x: float, y: float, width: float, depth: float) -> shapely.Polygon:
    box = shapely.box(x - width / 2, y - depth / 2, x + width / 2, y + depth / 2)
    return affinity.rotate(box, 10 + 0.3 * x)


LARGE = [house(x, y, 20, 14) for x, y in LARGE_AT]
SMALL = [house(x, y, 7, 6) for x, y in SMALL_AT]
WATER = POND | CANAL
NEAR_M, SHADE_M = 30.0, 170.0

CLASSES = {1: [*LARGE, *SMALL], 2: [POND, CANAL], 3: [WOOD, COPSE]}
LEGEND = {"0": "void", "1": "building", "2": "water", "3": "vegetation", "4": "land"}


def programs(size: float) -> dict[str, str]:
    """The questions about a scene drawn `size` times larger, as programs."""
    big = f'components(segment("building"), larger_than_m2={100 * size**2})'
    near, shade = f"max_distance_m={NEAR_M * size}", f"max_distance_m={SHADE_M * size}"
    wood, water = 'segment("vegetation")', 'segment("water")'
    return {
        "large": f'reply(count({big}), kind="count", objects={big})',
        "near water": f'reply(count(near({big}, {water}, {near})), kind="count")',
        "far from water": f'reply(count(farther({big}, {water}, larger_than_m={NEAR_M * size})), kind="count")',
        "built m2": 'reply(area_m2(segment("building")), kind="quantity", unit="m2")',
        "green share": f'reply(share_percent({wood}), kind="percent", unit="percent")',
        "shaded m2": f'reply(area_m2(within({wood}, {water}, {shade})), kind="quantity", unit="m2")',
        "shore m": f'reply(perimeter_m({water}), kind="quantity", unit="m")',
        "gap m": f'reply(distance_m(largest(components({wood})), {water}), kind="quantity", unit="m")',
        "largest ha": f"a = area_m2(largest(components({wood})))\n"
        'reply(convert(a, from_unit="m2", to_unit="ha"), kind="quantity", unit="ha")',
        "density": f'reply(density_per_km2({big}), kind="quantity", unit="per km2")',
    }


POWER = {"built m2": 2, "shaded m2": 2, "shore m": 1, "gap m": 1, "largest ha": 2, "density": -2}
"""How a truth grows with the scene."""

TRUTHS = {
    "large": len(LARGE),
    "near water": sum(roof.distance(WATER) <= NEAR_M for roof in LARGE),
    "far from water": sum(roof.distance(WATER) > NEAR_M for roof in LARGE),
    "built m2": len(LARGE) * 20 * 14 + len(SMALL) * 7 * 6,
    "green share": 100 * np.pi * (60**2 + 18**2) / (400 * 300),
    "shaded m2": shapely.area(shapely.union_all([WOOD, COPSE]) & WATER.buffer(SHADE_M, quad_segs=256)),
    "shore m": 2 * np.pi * 45 + 2 * 400,
    "gap m": 75.0,  # from the wood's southern end to the canal
    "largest ha": np.pi * 60**2 / 1e4,
    "density": len(LARGE) / 0.12,
}


@dataclass(frozen=True)
class Place:
    """A grid: CRS, centre of the scene, steps of a column and a row in units of the CRS, size of the scene."""

    crs: Any
    lon: float
    lat: float
    column: tuple[float, float]
    row: tuple[float, float]
    size: float = 1.0

    @property
    def turn(self) -> Affine:
        return Affine(self.column[0], self.row[0], 0, self.column[1], self.row[1], 0)


NORWAY, NEW_YORK = (9.7, 60.1), (-73.9, 40.75)
COS, SIN = 0.5 * np.cos(np.radians(27)), 0.5 * np.sin(np.radians(27))
PLACES = {
    "UTM": Place(32632, *NORWAY, (0.5, 0), (0, -0.5)),
    "EPSG:4326": Place(4326, *NORWAY, (6e-6, 0), (0, -6e-6)),
    "EPSG:3857 at 60 degrees": Place(3857, *NORWAY, (1.0, 0), (0, -1.0)),
    "US feet": Place(2263, *NEW_YORK, (1.6, 0), (0, -1.6)),
    "kilometres": Place("+proj=utm +zone=32 +datum=WGS84 +units=km", *NORWAY, (5e-4, 0), (0, -5e-4)),
    "rotated": Place(32632, *NORWAY, (COS, SIN), (SIN, -COS)),
    "rotated degrees": Place(4326, *NORWAY, (6e-6, 2e-6), (5e-6, -4e-6)),
    "south-up": Place(32632, *NORWAY, (0.5, 0), (0, 0.5)),
    "not square": Place(32632, *NORWAY, (0.4, 0), (0, -0.6)),
    "sheared": Place(32632, *NORWAY, (0.5, 0.1), (0.2, -0.5)),
    "polar stereographic": Place(3995, *NORWAY, (0.5, 0), (0, -0.5)),
    "EPSG:4326, 400 km": Place(4326, *NORWAY, (6e-3, 0), (0, -6e-3), 1000),
    "EPSG:3857, 400 km": Place(3857, *NORWAY, (1000, 0), (0, -1000), 1000),
    "rotated degrees, 400 km": Place(4326, *NORWAY, (6e-3, 2e-3), (5e-3, -4e-3), 1000),
    "polar stereographic, 400 km": Place(3995, *NORWAY, (500, 0), (0, -500), 1000),
}


def grid_of(place: Place) -> Grid:
    """A grid around the scene, large enough that the frame lies inside."""
    crs = pyproj.CRS(place.crs)
    x, y = pyproj.Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True).transform(place.lon, place.lat)
    # Half sides in pixels by where the frame's corners fall.
    local = pyproj.Proj(f"+proj=aeqd +lat_0={place.lat} +lon_0={place.lon} +ellps=GRS80")
    lon, lat = local(*(place.size * np.array(shapely.segmentize(FRAME, 10).exterior.coords)).T, inverse=True)
    corners = np.array(pyproj.Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True).transform(lon, lat))
    halves = np.abs(np.array([~place.turn @ (cx - x, cy - y) for cx, cy in corners.T])).max(axis=0)
    cols, rows = (int(half) + 8 for half in halves)
    affine = Affine.translation(x, y) @ place.turn @ Affine.translation(-cols, -rows)
    return Grid(affine, (2 * rows, 2 * cols), crs)


def painted(grid: Grid, place: Place) -> np.ndarray:
    """The class of every pixel, by where its centre lies on the tangent plane."""
    rows, cols = np.indices(grid.shape)
    x, y = grid.affine @ (cols.ravel() + 0.5, rows.ravel() + 0.5)
    crs = grid.crs
    assert crs is not None
    lon, lat = pyproj.Transformer.from_crs(crs, crs.geodetic_crs, always_xy=True).transform(x, y)
    plane = pyproj.Proj(f"+proj=aeqd +lat_0={place.lat} +lon_0={place.lon} +ellps=GRS80")
    easting, northing = np.array(plane(lon, lat)) / place.size
    labels = np.where(shapely.contains_xy(FRAME, easting, northing), 4, 0).astype(np.uint8)
    for value, shapes in CLASSES.items():
        for shape in shapes:
            x0, y0, x1, y1 = shape.bounds
            near = np.flatnonzero((easting >= x0) & (easting <= x1) & (northing >= y0) & (northing <= y1))
            labels[near[shapely.contains_xy(shape, easting[near], northing[near])]] = value
    return labels.reshape(grid.shape)


def test_the_scene_is_not_on_the_brink() -> None:
    """No object touches another, no threshold is near, so that a pixel more or less decides nothing."""
    parts = [*LARGE, *SMALL, POND, CANAL, WOOD, COPSE]
    for index, part in enumerate(parts):
        assert FRAME.covers(part)
        assert all(part.distance(other) > 2 for other in parts[:index])
    for roof in LARGE:
        assert abs(roof.distance(WATER) - NEAR_M) > 2
        assert roof.area > 250
    assert all(roof.area < 50 for roof in SMALL)
    assert 0 < TRUTHS["near water"] < len(LARGE)
    wood_near = shapely.area(WOOD & WATER.buffer(SHADE_M))
    assert 0.5 * WOOD.area < wood_near < 0.97 * WOOD.area


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.fixture(scope="module", params=sorted(PLACES))
def measured(request: pytest.FixtureRequest, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Every value on one grid, as of a scene of size 1; a pixel's size; what marching squares may overstate."""
    place = PLACES[request.param]
    folder: Path = tmp_path_factory.mktemp("scene")
    grid = grid_of(place)
    write_array(folder / "scene.tif", painted(grid, place), grid, nodata=0)
    (folder / "legend.json").write_text(json.dumps(LEGEND), encoding="utf-8")
    asked = Request(folder / "scene.tif", "", labels=folder / "scene.tif", legend=folder / "legend.json")
    site = Desk(asked, ScriptedPlanner(), sandbox).open()
    values = {
        name: run_program(source, site, sandbox).reply.value / place.size ** POWER.get(name, 0)
        for name, source in programs(place.size).items()
    }
    pixel_m = max(site.raster.grid.require_ground().size_xy_m) / place.size
    return values, pixel_m, longest_detour(site.raster.grid.require_ground())


@pytest.mark.parametrize("name", ["large", "near water", "far from water"])
def test_counts_are_exact(measured: Any, name: str) -> None:
    assert measured[0][name] == TRUTHS[name]


@pytest.mark.parametrize("name", ["built m2", "green share", "shaded m2", "largest ha", "density"])
def test_areas_and_shares_agree_to_half_a_percent(measured: Any, name: str) -> None:
    assert measured[0][name] == pytest.approx(TRUTHS[name], rel=5e-3)


def test_a_distance_agrees_to_a_pixel_and_a_half(measured: Any) -> None:
    values, pixel_m, _ = measured
    assert values["gap m"] == pytest.approx(TRUTHS["gap m"], abs=1.5 * pixel_m)


def test_a_perimeter_is_overstated_by_no_more_than_marching_squares_do(measured: Any) -> None:
    values, _, detour = measured
    assert TRUTHS["shore m"] * 0.995 < values["shore m"] < TRUTHS["shore m"] * detour
