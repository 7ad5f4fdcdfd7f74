"""Tiles without seams: what comes out does not depend on how the image was cut."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from swath.errors import SwathError
from swath.raster.room import let_go, room
from swath.segment.tiling import STRIP_PX, Axis, Tiling, blended, interpolated, strips

TILINGS = st.builds(
    Tiling,
    side_px=st.sampled_from([16, 24, 40, 64]),
    margin_px=st.integers(0, 3),
    ramp_px=st.integers(1, 6),
    multiple_px=st.just(8),
    offset_px=st.integers(0, 50),
)


def by_colour(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Two scores of each pixel by itself."""
    red = image[..., 0].astype(np.float32) / 255
    return np.stack([red, 1 - red])


def reader(image: NDArray[np.uint8]) -> Any:
    return lambda rows, cols: image[rows, cols]


@settings(max_examples=60)
@given(TILINGS, st.integers(1, 90), st.integers(1, 90), st.integers(0, 2**32 - 1))
def test_scores_of_single_pixels_are_the_same_for_every_tiling(tiling: Tiling, rows: int, cols: int, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (rows, cols, 3), dtype=np.uint8)
    found = blended((rows, cols), 2, reader(image), by_colour, tiling)
    assert np.array_equal(found, np.rint(by_colour(image) * 255).astype(np.uint8))


@settings(max_examples=30)
@given(TILINGS.filter(lambda tiling: tiling.margin_px >= 2), st.integers(30, 90))
def test_a_model_that_looks_no_farther_than_the_margin_sees_no_seam(tiling: Tiling, side: int) -> None:
    image = np.random.default_rng(side).integers(0, 256, (side, side, 3), dtype=np.uint8)

    def spread(part: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Mean of the pixels up to two away, wrong at a tile's edges, where zeros lie beyond."""
        padded = np.pad(part[..., 0] / np.float32(255), 2)
        rows, cols = part.shape[:2]
        shifted = [padded[i : i + rows, j : j + cols] for i in range(5) for j in range(5)]
        return np.mean(shifted, axis=0, dtype=np.float64)[None].astype(np.float32)

    whole = blended((side, side), 1, reader(image), spread, Tiling(128, 2, 4, 8))[:, : side - 2, : side - 2]
    cut = blended((side, side), 1, reader(image), spread, tiling)[:, : side - 2, : side - 2]
    # The last two rows and columns lie at the padding to a multiple, of which each tiling has its own.
    assert np.abs(whole.astype(int) - cut.astype(int)).max() <= 1


def test_the_margin_matters() -> None:
    image = np.full((80, 80, 3), 255, np.uint8)

    def dark_edges(part: NDArray[np.uint8]) -> NDArray[np.float32]:
        score = np.ones(part.shape[:2], np.float32)
        score[0], score[-1], score[:, 0], score[:, -1] = 0, 0, 0, 0
        return score[None]

    with_margin = blended((80, 80), 1, reader(image), dark_edges, Tiling(32, 2, 4, 8))[0]
    without = blended((80, 80), 1, reader(image), dark_edges, Tiling(32, 0, 4, 8))[0]
    assert (with_margin[1:-1, 1:-1] == 255).all()
    assert (without[1:-1, 1:-1] < 255).any()


@pytest.mark.parametrize("wrong", [np.nan, 1.5, -0.5])
def test_a_tile_without_numbers_fails_the_whole_image(wrong: float) -> None:
    image = np.zeros((70, 70, 3), np.uint8)
    image[60, 60] = 255

    def broken(part: NDArray[np.uint8]) -> NDArray[np.float32]:
        score = np.zeros(part.shape[:2], np.float32)
        score[part[..., 0] == 255] = wrong
        return score[None]

    with pytest.raises(SwathError, match="tile at row 38, column 38 are no numbers from 0 to 1, so the image is not"):
        blended((70, 70), 1, reader(image), broken, Tiling(32, 2, 4, 8))


def test_progress_counts_every_tile_once() -> None:
    told: list[tuple[int, int]] = []
    image = np.zeros((70, 50, 3), np.uint8)
    blended((70, 50), 2, reader(image), by_colour, Tiling(32, 2, 4, 8), lambda done, of: told.append((done, of)))
    assert told == [(i, len(told)) for i in range(1, len(told) + 1)]
    assert len(told) == 3 * 2


def test_a_tile_that_cannot_overlap_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot overlap by 64 px"):
        Tiling(64, 16, 32)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 59), st.integers(1, 30))
def test_windows_of_an_interpolation_fit_together(old: int, new: int, start: int, size: int) -> None:
    image = np.random.default_rng(old).random((old, old)).astype(np.float32)
    axes = Axis(old, new), Axis(old, new)
    whole = interpolated(image, axes, slice(0, new), slice(0, new))
    start = min(start, new - 1)
    part = slice(start, min(start + size, new))
    assert np.array_equal(interpolated(image, axes, part, part), whole[part, part])
    low, high, _ = axes[0].taps(part)
    cut = image[low[0] : high[-1] + 1, low[0] : high[-1] + 1]
    assert np.array_equal(interpolated(cut, axes, part, part, (int(low[0]), int(low[0]))), whole[part, part])


def test_interpolation_keeps_a_plane_a_plane() -> None:
    plane = np.arange(20, dtype=np.float32)[:, None] + np.zeros(20, np.float32)
    found = interpolated(plane, (Axis(20, 40), Axis(20, 20)), slice(2, 38), slice(0, 20))
    assert np.allclose(found[:, 0], (np.arange(2, 38) + 0.5) / 2 - 0.5)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * mmap.PAGESIZE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which Linux has")
def test_large_results_lie_in_a_file_and_leave_memory() -> None:
    small, large = room((10, 10), np.uint8), room((2**14, 2**14 + 1), np.uint8)
    assert small.base is None
    before = resident_bytes()
    large[::4096] = 7
    large[:4096] = 3
    full = resident_bytes()
    let_go(large[1:])
    let_go(small)
    assert full - before > 2**25
    assert resident_bytes() - before < 2**24
    assert (large[4095, 0], large[8192, 5], large[-1, -1]) == (3, 7, 0)


def test_strips_make_up_an_image() -> None:
    for rows, cols in ((1, 1), (5000, 3000), (7, 2**23)):
        parts = list(strips(rows, cols))
        assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
        assert parts[-1].stop == rows
        assert all((part.stop - part.start) * cols <= max(STRIP_PX, cols) for part in parts)
