"""Runs and counts of the tiles of class rasters, against their pixels."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swath.errors import InputError
from swath.segment import code_runs
from swath.segment.code_runs import CodeRuns, side_by_side
from swath.segment.codes import FIRST_CLASS, LAST_CODE, Coding, tallied, whole_numbers
from swath.tools.labelling import value_runs

CODING = Coding(("a", "b"), {1: FIRST_CLASS, 2: FIRST_CLASS + 1, 7: FIRST_CLASS}, lambda bands: bands[0])


def painting(kind: str, shape: tuple[int, int], seed: int) -> np.ma.MaskedArray[Any, Any]:
    """(1, rows, columns): runs of some length, as bytes, masked bytes or 16 bits."""
    random = np.random.default_rng(seed)
    values = np.repeat(random.choice([0, 1, 2, 7], (shape[0], shape[1])), 4, axis=1)[:, : shape[1]]
    if kind == "noise":
        values = random.choice([0, 1, 2, 7], shape)
    data = values.astype(np.uint16 if kind == "16 bits" else np.uint8)[None]
    return np.ma.MaskedArray(data, mask=random.random(data.shape) < 0.1 if kind == "masked" else np.ma.nomask)


@given(
    kind=st.sampled_from(["bytes", "masked", "16 bits", "noise"]),
    shape=st.tuples(st.integers(1, 20), st.integers(1, 60)),
    width=st.integers(1, 25),
    seed=st.integers(0, 99),
    dense=st.sampled_from([1 / 16, 1.0]),
    wide=st.booleans(),
)
def test_strips_say_what_their_pixels_say(
    kind: str, shape: tuple[int, int], width: int, seed: int, dense: float, wide: bool
) -> None:
    image, (rows, cols) = painting(kind, shape, seed), shape
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_runs, "MOST_PER_PX", dense)
        for counted_first in (False, True):
            runs = CodeRuns(cols, width, lambda r, c: image[:, r, c], CODING, bytes_only=wide and kind != "16 bits")
            for top in range(0, rows, 6):
                strip = slice(top, min(top + 6, rows))
                windows = [(strip, slice(left, min(left + width, cols))) for left in range(0, cols, width)]
                if counted_first:
                    found = runs.tallies(windows)
                    assert [dict(zip(*map(np.ndarray.tolist, tally), strict=True)) for tally in found] == [
                        dict(zip(*map(np.ndarray.tolist, tallied(image[0][window])), strict=True)) for window in windows
                    ]
                codes = CODING.codes(image[0][strip])
                for first, last in ((FIRST_CLASS, FIRST_CLASS), (FIRST_CLASS, LAST_CODE), (0, 1)):
                    said = runs.between(strip, first, last)
                    if said is None:
                        assert dense < 1
                        continue
                    start, stop = value_runs((codes >= first) & (codes <= last), top)
                    assert (said.start.tolist(), said.stop.tolist()) == (start.tolist(), stop.tolist())


def reader(asked: list[slice]) -> CodeRuns:
    image = painting("bytes", (60, 40), 1)

    def bands(rows: slice, cols: slice) -> np.ma.MaskedArray[Any, Any]:
        asked.append(rows)
        return image[:, rows, cols]

    return CodeRuns(40, 16, bands, CODING, bytes_only=True)


def test_a_strip_is_read_once_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_runs, "MOST_PER_PX", 1)
    asked: list[slice] = []
    runs, strips = reader(asked), [slice(top, top + 6) for top in range(0, 60, 6)]
    for _ in range(3):
        for strip in strips:
            runs.between(strip, FIRST_CLASS, FIRST_CLASS)
    assert len(asked) == 10
    monkeypatch.setattr(code_runs, "KEPT_BYTES", 1)
    asked.clear()
    runs = reader(asked)
    for strip in strips[:2] * 2:
        runs.between(strip, FIRST_CLASS, FIRST_CLASS)
    assert len(asked) == 4


def test_another_process_begins_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_runs, "MOST_PER_PX", 1)
    runs = CodeRuns(40, 16, lambda rows, cols: painting("bytes", (60, 40), 1)[:, rows, cols], CODING, bytes_only=True)
    before = cloudpickle.dumps(runs)
    runs.between(slice(0, 6), FIRST_CLASS, FIRST_CLASS)
    assert cloudpickle.dumps(runs) == before
    again = pickle.loads(before).between(slice(0, 6), FIRST_CLASS, FIRST_CLASS)
    assert again.start.tolist() == runs.between(slice(0, 6), FIRST_CLASS, FIRST_CLASS).start.tolist()  # type: ignore[union-attr]


def test_a_window_that_cannot_be_read_is_named() -> None:
    def bands(rows: slice, cols: slice) -> np.ma.MaskedArray[Any, Any]:
        if cols.start <= 20 < cols.stop:
            raise InputError(f"columns {cols.start} to {cols.stop - 1} cannot be read")
        return painting("bytes", (4, 40), 1)[:, rows, cols]

    rows = slice(0, 4)
    with pytest.raises(InputError, match="columns 16 to 31 cannot be read"):
        side_by_side(bands, [(rows, slice(0, 16)), (rows, slice(16, 32)), (rows, slice(32, 40))])


@pytest.mark.parametrize("kind", ["uint8", "uint16", "float64", "colours"])
def test_a_strip_takes_little_room_whatever_it_is_made_of(kind: str) -> None:
    rows, cols, width = 128, 8192, 512
    bands, dtype = (3, "uint8") if kind == "colours" else (1, kind)
    image = np.ma.MaskedArray(np.repeat(np.arange(bands * rows * cols // 64) % 3, 64).astype(dtype))
    image = image.reshape(bands, rows, cols)
    coding = replace(CODING, values=lambda read: read.astype(np.int64).sum(axis=0) if kind == "colours" else read[0])
    if kind == "float64":
        coding = replace(CODING, values=lambda read: whole_numbers(read[0], "a.tif"))

    runs = CodeRuns(cols, width, lambda r, c: image[:, r, c].copy(), coding, bytes_only=kind == "uint8")
    windows = [(slice(0, rows), slice(left, left + width)) for left in range(0, cols, width)]
    tracemalloc.start()
    try:
        runs.tallies(windows)
        runs.between(slice(0, rows), FIRST_CLASS, FIRST_CLASS)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 6 * rows * cols
