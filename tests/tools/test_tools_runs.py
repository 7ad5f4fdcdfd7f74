"""Objects as runs against label images of scipy and scikit-image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measured_sites import blobs, geographic, planar
from scipy import ndimage
from skimage.measure import regionprops

from swath.raster.held import Tiles
from swath.raster.tiled import tiled
from swath.tools import blocks, labelling, runs
from swath.tools.labelling import component_runs, instance_runs, mask_runs, value_runs
from swath.tools.runs import Runs, place_type, runs_of_pixels

STRUCTURE = {4: ndimage.generate_binary_structure(2, 1), 8: np.ones((3, 3))}
MASKS = arrays(bool, st.tuples(st.integers(1, 24), st.integers(1, 24)))


@pytest.fixture
def thin_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips of three rows, so that small images have many seams."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 3)
    monkeypatch.setattr(runs, "CHUNK_PX", 5)
    monkeypatch.setattr(runs, "CHUNK_RUNS", 3)


def same_partition(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two label images cut the image into the same pieces, whatever their numbers."""
    pairs = np.unique(np.column_stack([a.ravel(), b.ravel()]), axis=0)
    return bool(((a > 0) == (b > 0)).all()) and len(pairs) == len(np.unique(a)) == len(np.unique(b))


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.55, 0.8])
def test_components_are_those_of_scipy(connectivity: int, share: float) -> None:
    pixels = np.random.default_rng(7).random((700, 90)) < share
    expected, count = ndimage.label(pixels, STRUCTURE[connectivity])
    found = component_runs(pixels, connectivity)
    assert found.count == count
    assert same_partition(found.labels(), expected)


@pytest.mark.usefixtures("thin_strips")
@pytest.mark.parametrize("connectivity", [4, 8])
@settings(max_examples=200)
@given(pixels=MASKS, linked_per_px=st.sampled_from([0.0, 0.2, 1.0]))
def test_a_count_never_depends_on_strips(connectivity: int, pixels: np.ndarray[Any, Any], linked_per_px: float) -> None:
    expected, count = ndimage.label(pixels, STRUCTURE[connectivity])
    with pytest.MonkeyPatch.context() as patched:  # runs linked, pixels labelled, and both in one image
        patched.setattr(labelling, "LINKED_PER_PX", linked_per_px)
        found = component_runs(pixels, connectivity)
        first_seen = dict.fromkeys(found.labels()[pixels].tolist())
    assert list(first_seen) == list(range(1, count + 1))
    assert found.count == count
    assert same_partition(found.labels(), expected)
    assert np.array_equal(found.pixels(), pixels)


@pytest.mark.usefixtures("thin_strips")
def test_objects_are_numbered_in_reading_order() -> None:
    pixels = blobs((50, 60))
    labels = component_runs(pixels, 8).labels()
    first_seen = dict.fromkeys(labels[labels > 0].tolist())
    assert list(first_seen) == list(range(1, len(first_seen) + 1))


def test_a_snake_through_every_strip_is_one_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 2)
    pixels = np.zeros((81, 81), dtype=bool)
    pixels[::2] = True
    pixels[1::4, -1] = pixels[3::4, 0] = True
    assert component_runs(pixels, 4).count == 1


def test_combs_that_meet_at_the_last_seam_are_one_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 2)
    pixels = np.zeros((40, 200), dtype=bool)
    pixels[:, ::2] = True
    assert component_runs(pixels, 8).count == 100
    pixels[-1] = True
    assert component_runs(pixels, 8).count == 1


@pytest.mark.usefixtures("thin_strips")
@settings(max_examples=100)
@given(pixels=MASKS)
def test_sizes_boxes_and_centroids_are_those_of_regionprops(pixels: np.ndarray[Any, Any]) -> None:
    found = component_runs(pixels, 8)
    properties = regionprops(found.labels())
    assert found.sizes_px.tolist() == [p.num_pixels for p in properties]
    assert found.boxes.tolist() == [[p.bbox[1], p.bbox[0], p.bbox[3], p.bbox[2]] for p in properties]
    assert np.allclose(found.centroids_yx, [p.centroid for p in properties] or np.zeros((0, 2)), atol=1e-12)


def test_a_centroid_on_a_half_is_exactly_a_half() -> None:
    pixels = np.zeros((400, 400), dtype=bool)
    pixels[100:300, 17:318] = True
    assert component_runs(pixels, 8).centroids_yx.tolist() == [[199.5, 167.0]]


@settings(max_examples=60)
@given(ids=arrays(np.int32, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.integers(-1, 4)))
def test_instances_keep_their_pixels_though_they_touch(ids: np.ndarray[Any, Any]) -> None:
    found = instance_runs(ids, ids > 0)
    present = [value for value in np.unique(ids) if value > 0]
    assert found.count == len(present)
    assert found.sizes_px.tolist() == [int((ids == value).sum()) for value in present]
    assert np.array_equal(found.labels() > 0, ids > 0)


@settings(max_examples=60)
@given(pixels=MASKS)
def test_touches_and_minimum_over_objects(pixels: np.ndarray[Any, Any]) -> None:
    rng = np.random.default_rng(pixels.size)
    marked, field = rng.random(pixels.shape) < 0.2, rng.random(pixels.shape, dtype=np.float32)
    found = component_runs(pixels, 8)
    labels, index = found.labels(), np.arange(1, found.count + 1)
    assert found.touches(marked).tolist() == [bool(marked[labels == i].any()) for i in index]
    assert found.minimum(field).tolist() == [float(field[labels == i].min()) for i in index]


@pytest.mark.usefixtures("thin_strips")
@settings(max_examples=60)
@given(pixels=MASKS, seed=st.integers(0, 99))
def test_codes_are_tallied_by_object(pixels: np.ndarray[Any, Any], seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 4, pixels.shape).astype(np.uint8)
    labels, count = ndimage.label(pixels, STRUCTURE[8])
    expected = sorted(np.bincount(codes[labels == k + 1], minlength=4).tolist() for k in range(count))
    found = component_runs(pixels, 8).tally(codes, 4)
    assert found.shape == (count, 4)
    assert sorted(found.tolist()) == expected


def test_an_object_without_a_pixel_has_size_0_and_no_minimum() -> None:
    empty = runs_of_pixels(np.array([3, 4]), np.array([1, 1]), 3, (2, 5))
    assert empty.sizes_px.tolist() == [0, 2, 0]
    assert empty.boxes.tolist() == [[0, 0, 0, 0], [3, 0, 5, 1], [0, 0, 0, 0]]
    assert empty.minimum(np.ones((2, 5))).tolist() == [np.inf, 1.0, np.inf]
    assert np.isnan(empty.centroids_yx[0]).all()
    assert component_runs(np.zeros((4, 4), dtype=bool), 8).count == 0
    assert mask_runs(np.zeros((4, 4), dtype=bool)).sizes_px.tolist() == [0]


def test_objects_may_overlap() -> None:
    places = np.array([0, 1, 2, 1, 2, 3, 19])
    lapping = runs_of_pixels(places, np.array([0, 0, 0, 1, 1, 1, 1]), 2, (4, 5))
    assert lapping.sizes_px.tolist() == [3, 4]
    field = np.arange(20.0).reshape(4, 5)[::-1, ::-1].copy()
    assert lapping.minimum(field).tolist() == [17.0, 0.0]
    only_last = np.zeros((4, 5), dtype=bool)
    only_last[3, 4] = True
    assert lapping.touches(only_last).tolist() == [False, True]
    assert lapping.pixels().sum() == 5


def test_a_run_ends_with_its_row() -> None:
    wrapped = runs_of_pixels(np.array([4, 5, 6]), np.array([0, 0, 0]), 1, (2, 5))
    assert (wrapped.start.tolist(), wrapped.stop.tolist()) == ([4, 5], [5, 7])
    assert len(mask_runs(np.ones((3, 5), dtype=bool)).start) == 3


def test_some_objects_keep_the_order_they_were_asked_in() -> None:
    found = component_runs(blobs(), 8)
    chosen = np.array([5, 2, 9])
    part = found.of(chosen)
    assert part.sizes_px.tolist() == found.sizes_px[chosen].tolist()
    assert part.boxes.tolist() == found.boxes[chosen].tolist()
    assert np.array_equal(part.labels() == 2, found.labels() == 3)
    assert (np.diff(part.start) > 0).all()


def test_a_window_of_labels_and_an_object_cut_out() -> None:
    found = component_runs(blobs(), 8)
    labels = found.labels()
    assert np.array_equal(found.labels(slice(7, 31), slice(5, 50)), labels[7:31, 5:50])
    pixels, row, col = found.cut(4)
    assert np.array_equal(pixels, labels[row : row + pixels.shape[0], col : col + pixels.shape[1]] == 5)


def test_pixels_outside_of_what_is_valid_are_left_out() -> None:
    found, valid = component_runs(blobs(), 8), blobs(seed=5, share=0.6)
    assert np.array_equal(found.inside(valid).labels(), np.where(valid, found.labels(), 0))


@pytest.mark.usefixtures("thin_strips")
@pytest.mark.parametrize("grid", [planar("sheared"), geographic()])
def test_ground_areas_are_sums_of_pixel_areas(grid: Any) -> None:
    found = component_runs(blobs(), 8)
    per_pixel = np.broadcast_to(grid.ground.area_m2(slice(0, 60)), grid.shape)
    expected = ndimage.sum_labels(per_pixel, found.labels(), np.arange(1, found.count + 1))
    assert np.allclose(found.areas_m2(grid.ground), expected, rtol=1e-12)


def test_moments_are_those_of_squares() -> None:
    pixels = np.zeros((30, 30), dtype=bool)
    pixels[4:10, 3:15] = True
    pixels[20, 20] = True
    box, single = component_runs(pixels, 8).moments_xx_xy_yy
    assert np.allclose(box, [12**2 / 12, 0, 6**2 / 12])
    assert np.allclose(single, [1 / 12, 0, 1 / 12])


def test_images_above_two_thousand_million_pixels_count_in_eight_bytes() -> None:
    assert place_type(46_340, 46_340) is np.int32
    assert place_type(46_341, 46_341) is np.int64


def test_a_thing_in_a_corner_of_an_image_above_two_thousand_million_pixels() -> None:
    shape, tiles = (46_400, 46_400), Tiles(0, (100, 46_400))
    corner = np.zeros(tiles.shape, dtype=bool)
    corner[1:3, 3:6] = True
    counts = dict.fromkeys(((top, 0) for top in range(0, shape[0], 100)), 0)
    found = component_runs(tiled(shape, tiles, lambda rows, cols: corner).counted({**counts, (0, 0): 6}), 8)
    assert found.start.tolist() == [46_403, 2 * 46_400 + 3]
    assert found.count == 1
    assert not len(found.within(slice(46_300, 46_400)).start)


def test_the_last_rows_of_an_image_above_two_thousand_million_pixels_may_be_empty() -> None:
    first_row = 2**31 // 5 - 1  # the block ends above, its first row does not
    start, stop = value_runs(np.zeros((3, 5), dtype=bool), first_row)
    assert start.dtype == stop.dtype == np.int64


def test_memory_is_that_of_the_runs() -> None:
    found = component_runs(blobs(), 8)
    assert found.nbytes == 12 * len(found.start)
    assert isinstance(found, Runs)
    assert labelling.mask_runs(blobs()).count == 1
