"""Runs of pixels, against arrays of pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from swath.raster import stretches
from swath.raster.stretches import Stretches, changes, in_full, one_after_another, union, united, without

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 12))
images = SHAPES.flatmap(lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 3)))


def runs_of(pixels: np.ndarray) -> Stretches:
    """By hand, row by row."""
    found = [
        (row * pixels.shape[1] + first, row * pixels.shape[1] + last)
        for row, line in enumerate(pixels)
        for first in range(len(line))
        for last in range(first + 1, len(line) + 1)
        if line[first:last].all() and (first == 0 or not line[first - 1]) and (last == len(line) or not line[last])
    ]
    return Stretches(*np.array(found, dtype=np.int64).reshape(-1, 2).T)


def pixels_of(runs: Stretches, shape: tuple[int, int]) -> np.ndarray:
    flat = np.zeros(shape, dtype=bool).reshape(-1)
    for start, stop in zip(runs.start.tolist(), runs.stop.tolist(), strict=True):
        assert start // shape[1] == (stop - 1) // shape[1]
        flat[start:stop] = True
    return flat.reshape(shape)


def same(one: Stretches, other: Stretches) -> bool:
    return np.array_equal(one.start, other.start) and np.array_equal(one.stop, other.stop)


@given(images, st.integers(1, 13), st.integers(1, 40))
def test_a_run_begins_where_the_value_changes_and_at_every_tile(block: np.ndarray, width: int, at_a_time: int) -> None:
    expected = [
        row * block.shape[1] + col
        for row in range(block.shape[0])
        for col in range(block.shape[1])
        if col % width == 0 or block[row, col] != block[row, col - 1]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "BLOCK_PX", at_a_time)
        assert changes(block, width).tolist() == expected


@given(images, st.integers(1, 13))
def test_runs_that_touch_within_a_row_are_one(block: np.ndarray, width: int) -> None:
    begins = changes(block, width)
    ends = np.append(begins[1:], block.size)
    own = block.reshape(-1)[begins] > 1
    assert same(united(begins[own], ends[own], block.shape[1]), runs_of(block > 1))


@given(st.integers(1, 6), st.integers(1, 9), st.data())
def test_a_union_and_a_difference_are_those_of_pixels(rows: int, cols: int, data: st.DataObject) -> None:
    draw = arrays(bool, (rows, cols))
    several = [data.draw(draw) for _ in range(3)]
    parts = [runs_of(pixels) for pixels in several]
    order = data.draw(st.permutations(range(sum(len(part.start) for part in parts))))
    start, stop = (np.concatenate([getattr(part, end) for part in parts])[order] for end in ("start", "stop"))
    everything = union(start, stop, cols)
    assert same(everything, runs_of(np.logical_or.reduce(several)))
    assert same(without(parts[0], parts[1]), runs_of(several[0] & ~several[1]))
    below = without(parts[0], parts[0].moved(-cols))
    lowest = several[0].copy()
    lowest[:-1] &= ~several[0][1:]
    assert np.array_equal(pixels_of(below, (rows, cols)), lowest)


@given(st.integers(1, 6), st.integers(1, 9), st.data())
def test_what_meets_shares_a_pixel(rows: int, cols: int, data: st.DataObject) -> None:
    one, other = (data.draw(arrays(bool, (rows, cols))) for _ in range(2))
    runs = runs_of(one)
    met = runs_of(other).meet(runs.start, runs.stop)
    shares = [other.reshape(-1)[a:b].any() for a, b in zip(runs.start, runs.stop, strict=True)]
    assert met.tolist() == shares


@given(images, st.integers(0, 9), st.integers(0, 9))
def test_rows_are_cut_out_and_put_together(block: np.ndarray, first: int, last: int) -> None:
    runs, (rows, cols) = runs_of(block > 1), block.shape
    cuts = sorted((min(first, rows), min(last, rows)))
    parts = [runs.within(slice(a, b), cols) for a, b in zip((0, *cuts), (*cuts, rows), strict=True)]
    assert same(one_after_another(parts), runs)
    inside = pixels_of(parts[1], block.shape)
    assert not inside[: cuts[0]].any()
    assert not inside[cuts[1] :].any()
    assert same(
        in_full(slice(*cuts), cols), runs.within(slice(0, 0), cols) if cuts[0] == cuts[1] else _full(cuts, cols)
    )


def test_rows_that_lie_beyond_what_four_bytes_count_hold_none_of_what_they_count() -> None:
    runs = Stretches(np.array([5, 2**31 - 4], dtype=np.int32), np.array([9, 2**31 - 2], dtype=np.int32))
    found = one_after_another([runs.within(rows, 2**20) for rows in (slice(0, 2_000), slice(2_000, 2_100))])
    assert same(found, runs)
    assert not len(runs.within(slice(2_048, 2_100), 2**20).start)


def _full(cuts: list[int], cols: int) -> Stretches:
    rows = np.arange(*cuts)
    return Stretches(rows * cols, (rows + 1) * cols)
