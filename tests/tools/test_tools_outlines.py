"""Areas and outlines against scikit-image's contours, shapely and pyproj."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measured_sites import AFFINES, ROUND_GRIDS, blobs, disc, geographic, planar
from rasterio.features import shapes
from skimage.measure import find_contours

from swath.raster.grid import Grid
from swath.tools import blocks
from swath.tools.kernels import mask_area_m2, object_outlines_m, outline_m, outline_px
from swath.tools.labelling import component_runs, instance_runs

ALL = np.ones((60, 80), dtype=bool)
VALID = ALL.copy()
VALID[:, 31:35] = VALID[40:43, 50:] = False


@pytest.fixture(autouse=True)
def thin_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 7)


def contour_m(pixels: np.ndarray, valid: np.ndarray, grid: Grid) -> float:
    """Length of scikit-image's contours, each vertex placed on the ground by the affine or by geodesics."""
    total = 0.0
    for line in find_contours(pixels.astype(float), 0.5, fully_connected="high", mask=valid):
        x, y = grid.affine @ (line[:, 1] + 0.5, line[:, 0] + 0.5)
        if grid.crs is not None and grid.crs.is_projected and grid.crs.utm_zone:
            total += np.hypot(np.diff(x), np.diff(y)).sum()
        else:
            lon, lat = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True).transform(x, y)
            total += pyproj.Geod(ellps="WGS84").line_length(lon, lat)
    return float(total)


@pytest.mark.parametrize("name", sorted(AFFINES))
@pytest.mark.parametrize("valid", [ALL, VALID], ids=["all valid", "void"])
def test_outlines_are_the_contours_of_scikit_image(name: str, valid: np.ndarray) -> None:
    pixels = blobs() & valid
    assert outline_m(pixels, valid, planar(name).require_ground()) == pytest.approx(
        contour_m(pixels, valid, planar(name)), rel=1e-9
    )


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_outlines_on_round_grids_are_geodesics_along_the_contours(name: str) -> None:
    grid = ROUND_GRIDS[name]()
    pixels = blobs() & VALID
    assert outline_m(pixels, VALID, grid.require_ground()) == pytest.approx(contour_m(pixels, VALID, grid), rel=1e-6)


@settings(max_examples=150)
@given(pixels=arrays(bool, st.tuples(st.integers(1, 14), st.integers(1, 14))))
def test_outlines_of_any_pixels(pixels: Any) -> None:
    grid = planar("sheared", pixels.shape)
    valid = np.ones(pixels.shape, dtype=bool)
    lines = min(pixels.shape) >= 2  # scikit-image has no contour of one row
    expected = contour_m(pixels, valid, grid) if lines else 0.0
    assert outline_m(pixels, valid, grid.require_ground()) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", sorted(AFFINES))
@pytest.mark.parametrize("connectivity", [4, 8])
def test_each_object_has_its_own_contour(name: str, connectivity: int) -> None:
    grid, objects = planar(name), component_runs(blobs() & VALID, connectivity)
    labels = objects.labels()
    expected = [contour_m(labels == i, VALID, grid) for i in range(1, objects.count + 1)]
    assert np.allclose(object_outlines_m(objects, VALID, grid.require_ground()), expected, rtol=1e-9)


def test_objects_that_touch_have_whole_outlines() -> None:
    ids = np.zeros((60, 80), dtype=np.int32)
    ids[10:20, 10:20], ids[10:20, 20:35], ids[20:30, 20:22] = 4, 9, 2
    grid, objects = planar("not square"), instance_runs(ids, ids > 0)
    expected = [contour_m(ids == value, ALL, grid) for value in (2, 4, 9)]
    assert np.allclose(object_outlines_m(objects, ALL, grid.require_ground()), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["square", "sheared"])
def test_whole_outlines_include_the_border_of_the_image(name: str) -> None:
    grid, objects = planar(name), component_runs(blobs(), 8)
    labels = np.pad(objects.labels(), 1)
    padded = Grid(grid.affine, (62, 82), grid.crs)
    expected = [contour_m(labels == i, labels >= 0, padded) for i in range(1, objects.count + 1)]
    assert np.allclose(object_outlines_m(objects, None, grid.require_ground()), expected, rtol=1e-9)


def test_outlines_of_objects_on_a_round_grid_sum_to_that_of_the_mask() -> None:
    grid, pixels = geographic(), blobs() & VALID
    each = object_outlines_m(component_runs(pixels, 8), VALID, grid.require_ground())
    assert each.sum() == pytest.approx(outline_m(pixels, VALID, grid.require_ground()), rel=1e-12)


def test_the_outline_of_a_rectangle_in_closed_form() -> None:
    pixels = np.zeros((60, 80), dtype=bool)
    pixels[10:20, 10:40] = True
    sides_px, corner_px = 2 * (30 + 10), np.sqrt(0.5)
    expected = 0.5 * (sides_px - 4 + 4 * corner_px)
    assert outline_m(pixels, ALL, planar("square").require_ground()) == pytest.approx(expected)
    assert outline_px(pixels, ALL) == pytest.approx(2 * expected)


def test_the_image_border_is_not_outline() -> None:
    pixels = np.zeros((60, 80), dtype=bool)
    pixels[:, :40] = True
    assert outline_m(pixels, ALL, planar("square").require_ground()) == pytest.approx(59 * 0.5)
    assert outline_m(ALL, ALL, planar("square").require_ground()) == 0.0
    assert outline_m(~ALL, ALL, planar("square").require_ground()) == 0.0


def polygon_area_m2(pixels: np.ndarray, grid: Grid) -> float:
    """Area of the pixels' own polygons: by shapely on the plane, by geodesics where edges are meridians."""
    total = 0.0
    for geometry, _ in shapes(pixels.astype(np.uint8), mask=pixels, transform=grid.affine, connectivity=4):
        polygon = shapely.segmentize(shapely.geometry.shape(geometry), abs(grid.affine.a) / 8)
        if grid.crs is not None and grid.crs.is_geographic:
            total += abs(
                pyproj.Geod(ellps="WGS84").geometry_area_perimeter(shapely.geometry.polygon.orient(polygon))[0]
            )
        else:
            total += polygon.area
    return total


@pytest.mark.parametrize("name", sorted(AFFINES))
def test_planar_areas_are_those_of_polygons(name: str) -> None:
    pixels, grid = blobs(), planar(name)
    assert mask_area_m2(pixels, grid.require_ground()) == pytest.approx(polygon_area_m2(pixels, grid), rel=1e-9)


@pytest.mark.parametrize("degrees", [0.01, 0.5])
def test_geographic_areas_are_those_of_geodesic_polygons(degrees: float) -> None:
    grid, pixels = geographic(degrees=degrees, lat=70.0), disc((60, 80), 30, 40, 22)
    area = mask_area_m2(pixels, grid.require_ground())
    assert area == pytest.approx(polygon_area_m2(pixels, grid), rel=2e-5)


@pytest.mark.parametrize("name", ["mercator", "polar"])
def test_areas_on_distorted_grids_are_those_of_geodesic_polygons(name: str) -> None:
    grid, pixels = ROUND_GRIDS[name](), disc((60, 80), 30, 40, 22)
    geod, total = pyproj.Geod(ellps="WGS84"), 0.0
    to_lonlat = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True)
    for geometry, _ in shapes(pixels.astype(np.uint8), mask=pixels, transform=grid.affine):
        ring = shapely.segmentize(shapely.geometry.shape(geometry), abs(grid.affine.a) / 8).exterior.coords
        total += abs(geod.polygon_area_perimeter(*to_lonlat.transform(*np.array(ring).T))[0])
    assert mask_area_m2(pixels, grid.require_ground()) == pytest.approx(total, rel=2e-5)
