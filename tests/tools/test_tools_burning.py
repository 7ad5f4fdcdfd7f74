"""Outlines as pixels against rasterio's burning."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from rasterio.features import rasterize

from swath.tools.burning import burned

SHAPE = (30, 40)
FRAME = shapely.box(0, 0, 40, 30)


def geometries(*shapes: shapely.Geometry) -> np.ndarray:
    outlines = np.empty(len(shapes), dtype=object)
    outlines[:] = shapes
    return outlines


def one_by_one(outlines: np.ndarray, *, touched: bool) -> list[np.ndarray]:
    return [rasterize([shape], out_shape=SHAPE, dtype="uint8", all_touched=touched) > 0 for shape in outlines]


@pytest.mark.parametrize("seed", range(20))
def test_polygons_are_filled_as_by_rasterio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outlines = []
    for _ in range(6):
        polygon = shapely.make_valid(shapely.Polygon(rng.uniform(-4, 44, (rng.integers(3, 9), 2))))
        hole = shapely.Point(rng.uniform(5, 25, 2)).buffer(rng.uniform(1, 5))
        clipped = shapely.intersection(polygon.difference(hole), FRAME)
        outlines += [clipped] if clipped.area > 3 else []
    found = burned(geometries(*outlines), SHAPE, areal=True)
    for index, expected in enumerate(one_by_one(geometries(*outlines), touched=False)):
        if expected.any():
            assert np.array_equal(found.of(np.array([index])).pixels(), expected)


@pytest.mark.parametrize("seed", range(20))
def test_lines_and_points_take_every_pixel_they_touch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = [shapely.LineString(rng.uniform(-4, 44, (rng.integers(2, 6), 2))) for _ in range(4)]
    several = shapely.MultiLineString([rng.uniform(2, 28, (3, 2)), rng.uniform(2, 28, (2, 2))])
    outlines = geometries(*(shapely.intersection(line, FRAME) for line in lines), several,
                          shapely.Point(rng.uniform(0, 30, 2)), shapely.box(3.3, 4.2, 9.7, 8.1))  # fmt: skip
    found = burned(outlines, SHAPE, areal=False)
    kept = np.flatnonzero(~shapely.is_empty(outlines))
    for index, expected in zip(kept, one_by_one(outlines[kept], touched=True), strict=True):
        assert np.array_equal(found.of(np.array([index])).pixels(), expected)


def test_an_object_between_pixel_centres_keeps_its_pixel() -> None:
    outlines = geometries(shapely.box(5.6, 7.6, 5.9, 7.9), shapely.box(39.8, 29.8, 40, 30))
    found = burned(outlines, SHAPE, areal=True)
    assert found.sizes_px.tolist() == [1, 1]
    assert found.boxes.tolist() == [[5, 7, 6, 8], [39, 29, 40, 30]]


def test_objects_that_overlap_keep_their_pixels() -> None:
    outlines = geometries(shapely.box(2, 2, 12, 12), shapely.box(7, 2, 17, 12))
    found = burned(outlines, SHAPE, areal=True)
    assert found.sizes_px.tolist() == [100, 100]
    assert found.pixels().sum() == 150


def test_an_empty_outline_has_no_pixel() -> None:
    found = burned(geometries(shapely.Polygon(), shapely.box(0, 0, 40, 30)), SHAPE, areal=True)
    assert found.sizes_px.tolist() == [0, 1200]
    assert burned(geometries(), SHAPE, areal=True).count == 0
    assert burned(geometries(), SHAPE, areal=False).count == 0


def test_a_point_on_the_far_border_belongs_to_the_last_pixel() -> None:
    assert burned(geometries(shapely.Point(40, 30)), SHAPE, areal=False).boxes.tolist() == [[39, 29, 40, 30]]


def test_a_line_without_a_length_keeps_its_pixel() -> None:
    outlines = geometries(shapely.LineString([(5.2, 7.7), (5.2, 7.7)]))
    assert burned(outlines, SHAPE, areal=False).boxes.tolist() == [[5, 7, 6, 8]]
