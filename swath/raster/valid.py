"""Which pixels count: nodata, mask bands, alpha, and never NaN or infinity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rasterio.windows import Window

from swath.errors import InputError

WINDOW_PX = 2**24
"""Pixels looked at in one go: 16 M, so that a window of eight float32 bands stays near 0.5 GB."""

MAX_PX = 2**32
"""A boolean image of more pixels is refused: it would take over 4 GB."""

BoolImage = NDArray[np.bool_]


def windows(dataset: Any) -> Iterator[Window]:
    """Full-width windows from top to bottom, whole blocks high, of about `WINDOW_PX` pixels."""
    rows, cols = dataset.height, dataset.width
    block = dataset.block_shapes[0][0]
    step = max(1, WINDOW_PX // (cols * block)) * block
    for top in range(0, rows, step):
        yield Window(0, top, cols, min(step, rows - top))


def finite(array: NDArray[Any]) -> BoolImage:
    """Where values are numbers: false at NaN and infinity."""
    if array.dtype.kind in "fc":
        return np.isfinite(array)
    return np.ones(array.shape, dtype=bool)


def band_masks(dataset: Any, indexes: list[int], window: Window) -> BoolImage:
    """(band, y, x) bool: what each band declares valid."""
    return np.asarray(dataset.read_masks(indexes, window=window) > 0)


def valid_in(dataset: Any, data_bands: list[int], window: Window) -> BoolImage:
    """(y, x) bool of a window: some band is declared valid and holds a number."""
    declared = np.asarray(dataset.dataset_mask(window=window) > 0)
    floats = [index for index in data_bands if np.dtype(_numpy_name(dataset.dtypes[index - 1])).kind in "fc"]
    if len(floats) < len(data_bands) or not declared.any():
        return declared
    known = np.zeros(declared.shape, dtype=bool)
    for index in floats:
        known |= finite(dataset.read(index, window=window)) & band_masks(dataset, [index], window)[0]
        if known.all():
            break
    return declared & known


def _numpy_name(dtype: str) -> str:
    return "complex64" if dtype.startswith("complex_") else dtype


def valid_pixels(dataset: Any, data_bands: list[int]) -> BoolImage:
    """(rows, columns) bool of a whole dataset, read window by window.

    Raises:
        InputError: the image has more than `MAX_PX` pixels.
    """
    if dataset.height * dataset.width > MAX_PX:
        raise InputError(
            f"{dataset.name} has {dataset.height} x {dataset.width} pixels, too many to measure at once. "
            "Next: cut out a part."
        )
    valid = np.empty((dataset.height, dataset.width), dtype=bool)
    for window in windows(dataset):
        valid[window.row_off : window.row_off + window.height] = valid_in(dataset, data_bands, window)
    return valid
