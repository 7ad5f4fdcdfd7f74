"""Pixels of outlines: against every centre asked one by one, against GDAL, and in how they share the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from rasterio.features import rasterize

from swath.segment import burn as burning
from swath.segment.burn import burn, runs

SHAPE = (40, 50)
ROWS, COLS = np.mgrid[:40, :50]


def painted(polygons: list[Any]) -> list[np.ndarray[Any, Any]]:
    """One mask per polygon, from its runs."""
    found = runs(polygons, SHAPE)
    masks = [np.zeros(SHAPE, dtype=bool) for _ in polygons]
    for outline, row, start, stop in zip(found.outline, found.row, found.start, found.stop, strict=True):
        masks[outline][row, start:stop] = True
    return masks


_coordinate = st.floats(-20, 70).map(lambda value: round(value, 3))
_ring = st.lists(st.tuples(_coordinate, _coordinate), min_size=3, max_size=9)


@settings(max_examples=60, deadline=None)
@given(rings=st.lists(_ring, min_size=1, max_size=4))
def test_runs_are_the_centres_inside(rings: list[Any]) -> None:
    """Self-crossing rings, made valid, give holes and several parts."""
    shapes = [shapely.make_valid(shapely.Polygon(ring)) for ring in rings]
    polygons = [shape for shape in shapes if shape.geom_type in ("Polygon", "MultiPolygon") and not shape.is_empty]
    for polygon, mask in zip(polygons, painted(polygons), strict=True):
        near = shapely.distance(polygon.boundary, shapely.points(COLS + 0.5, ROWS + 0.5)) < 1e-6
        inside = shapely.contains_xy(polygon, COLS + 0.5, ROWS + 0.5)
        assert np.array_equal(mask | near, inside | near)
        gdal = rasterize([polygon], out_shape=SHAPE) > 0
        assert np.array_equal(mask | near, gdal | near)
    assert [mask.sum() for mask in painted(polygons)] == runs(polygons, SHAPE).sizes_px(len(polygons)).tolist()


@settings(max_examples=30, deadline=None)
@given(step=st.integers(1, 6), seed=st.integers(0, 999))
def test_polygons_that_share_edges_share_the_plane(step: int, seed: int) -> None:
    """Half-pixel corners put many centres on edges: each belongs to exactly one quadrangle."""
    rng = np.random.default_rng(seed)
    xs, ys = np.arange(-2, 56, step + 1), np.arange(-2, 46, step + 1)
    corners = np.stack(np.meshgrid(xs, ys), axis=-1) + rng.integers(0, 2, (len(ys), len(xs), 2)) / 2
    quads = [
        shapely.Polygon([corners[i, j], corners[i, j + 1], corners[i + 1, j + 1], corners[i + 1, j]])
        for i in range(len(ys) - 1)
        for j in range(len(xs) - 1)
    ]
    assert (np.sum(painted(quads), axis=0) == 1).all()


def test_a_hole_is_left_out() -> None:
    ring = shapely.difference(shapely.box(2, 2, 20, 20), shapely.box(5, 5, 9, 11))
    assert painted([ring])[0].sum() == 18 * 18 - 4 * 6


def test_what_lies_outside_is_cut_off() -> None:
    assert painted([shapely.box(-100, -100, 100, 100)])[0].all()
    assert not painted([shapely.box(60, 50, 70, 60)])[0].any()
    assert runs([], SHAPE).sizes_px(0).tolist() == []


def test_an_object_smaller_than_a_pixel_keeps_the_pixel_that_holds_it() -> None:
    speck = shapely.box(3.6, 7.6, 3.9, 7.9)
    assert not painted([speck])[0].any()
    assert np.argwhere(burn([speck, shapely.box(10, 10, 12, 12)], SHAPE, areal=True)).tolist() == [
        *([7, 3], [10, 10], [10, 11], [11, 10], [11, 11]),
    ]


@pytest.mark.parametrize("chunk", [1, 7, 100, 10_000])
def test_masks_do_not_depend_on_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(chunk)
    boxes = [shapely.box(x, y, x + w, y + h) for x, y, w, h in rng.uniform(1, 30, (25, 4))]
    expected = np.any(painted(boxes), axis=0)
    monkeypatch.setattr(burning, "CHUNK_PX", chunk)
    assert np.array_equal(burn(boxes, SHAPE, areal=True), expected)


def test_lines_and_points_cover_what_they_touch() -> None:
    mask = burn([shapely.LineString([(0.5, 3.5), (6.5, 3.5)]), shapely.Point(9.2, 8.9)], SHAPE, areal=False)
    assert np.argwhere(mask).tolist() == [*([3, col] for col in range(7)), [8, 9]]
    assert not burn([], SHAPE, areal=False).any()
