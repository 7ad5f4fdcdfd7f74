"""Which pixels count: nodata, mask bands, alpha, transparent colours, and never NaN or infinity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rasterio.enums import ColorInterp, MaskFlags
from rasterio.windows import Window

from swath.errors import InputError
from swath.raster.bands import Band
from swath.raster.source import quietly

WINDOW_PX = 2**23
"""Pixels looked at in one go: 8 M, so that a window of eight float32 bands stays near 0.25 GB."""

MAX_PX = 2**32
"""A boolean image of more pixels is refused: it would take over 4 GB."""

READ_WHOLE_SAMPLES = 25_000_000
"""An image of no more samples is read once in full to see that it can be; of a larger one, blocks are tried."""

BoolImage = NDArray[np.bool_]
Shape = tuple[int, int]


@dataclass(frozen=True)
class Rules:
    """How a raster says which of its pixels are data.

    Attributes:
        data: the bands that are not alpha.
        alpha: the alpha band, None without one.
        by_nodata: compare with nodata by hand, since GDAL's mask would be another: an alpha band beside nodata, or an
            alpha band that a person or a description calls something else.
        transparent: values of band 1 whose colour has alpha 0.
    """

    data: tuple[Band, ...]
    alpha: Band | None
    by_nodata: bool
    transparent: tuple[int, ...] = ()

    @property
    def reads_values(self) -> bool:
        """Whether deciding needs the pixel values of the data bands."""
        return self.by_nodata or any(is_real(band) or band.nodata is not None for band in self.data)


def rules_of(bands: Sequence[Band], transparent: Sequence[int] = ()) -> Rules:
    """The rules of a raster with some bands."""
    alpha = next((band for band in bands if band.role == "alpha"), None)
    data = tuple(band for band in bands if band is not alpha) or tuple(bands)
    overruled = any(band.colorinterp == "alpha" and band is not alpha for band in bands)
    shadowed = alpha is not None and any(band.nodata is not None for band in data)
    return Rules(data, alpha, overruled or shadowed, tuple(transparent))


def is_real(band: Band) -> bool:
    """Whether a band may hold NaN or infinity."""
    return band.dtype.startswith(("float", "complex"))


def finite(array: NDArray[Any]) -> BoolImage:
    """Where values are numbers: false at NaN and infinity."""
    if array.dtype.kind in "fc":
        numbers: BoolImage = np.isfinite(array)
        return numbers
    return np.ones(array.shape, dtype=bool)


def windows(dataset: Any) -> Iterator[Window]:
    """Windows of whole blocks that cover a dataset from top to bottom, each of about `WINDOW_PX` pixels."""
    block_rows, block_cols = dataset.block_shapes[0]
    cols = min(dataset.width, max(1, WINDOW_PX // (block_rows * block_cols)) * block_cols)
    rows = max(1, WINDOW_PX // (cols * block_rows)) * block_rows
    for top in range(0, dataset.height, rows):
        for left in range(0, dataset.width, cols):
            yield Window(left, top, min(cols, dataset.width - left), min(rows, dataset.height - top))


def declared(dataset: Any, window: Window, shape: Shape | None = None) -> BoolImage:
    """(y, x) bool of a window: what the file itself declares valid, in at least one band (GDAL's dataset mask).

    Args:
        dataset: an open dataset.
        window: where.
        shape: (rows, columns) to decimate to, None for the window's own.
    """
    # Only then does rasterio warn, and only one thread at a time may silence it.
    shadowed = dataset.nodata is not None and ColorInterp.alpha in dataset.colorinterp
    with quietly() if shadowed else nullcontext():
        mask: NDArray[np.uint8] = dataset.dataset_mask(window=window, out_shape=shape)
    known: BoolImage = mask != 0
    return known


def known_in_bands(
    dataset: Any, bands: Sequence[Band], rules: Rules, values: NDArray[Any], window: Window, shape: Shape | None = None
) -> BoolImage:
    """(band, y, x) bool: where each band is declared valid and holds a number.

    Args:
        dataset: an open dataset.
        bands: which bands.
        rules: of the raster.
        values: (band, y, x), the bands' values in the window.
        window: where.
        shape: (rows, columns) to decimate to, None for the window's own.
    """
    if rules.by_nodata:
        pairs = zip(values, bands, strict=True)
        return finite(values) & np.stack([_differs(plane, band.nodata) for plane, band in pairs])
    out_shape = None if shape is None else (len(bands), *shape)
    masks: NDArray[np.uint8] = dataset.read_masks([band.index for band in bands], window=window, out_shape=out_shape)
    known: BoolImage = finite(values) & (masks != 0)
    return known


def _differs(plane: NDArray[Any], nodata: float | None) -> BoolImage:
    if nodata is None or np.isnan(nodata):
        return np.ones(plane.shape, dtype=bool)
    stored = plane.dtype.type(nodata) if plane.dtype.kind == "f" else nodata
    differs: BoolImage = plane != stored
    return differs


def measurable(dataset: Any, rules: Rules, window: Window, shape: Shape | None = None) -> BoolImage:
    """(y, x) bool of a window: what counts as a pixel.

    Some data band is declared valid and holds a number, alpha is not 0, the colour is not transparent.
    """
    if rules.by_nodata or any(is_real(band) for band in rules.data):
        valid = _any_band(dataset, rules, window, shape)
    else:
        valid = declared(dataset, window, shape)
    if rules.alpha is not None:
        valid &= np.not_equal(dataset.read(rules.alpha.index, window=window, out_shape=shape), 0)
    if rules.transparent:
        valid &= ~np.isin(dataset.read(1, window=window, out_shape=shape), rules.transparent, kind="table")
    return valid


def _any_band(dataset: Any, rules: Rules, window: Window, shape: Shape | None) -> BoolImage:
    valid = np.zeros(shape or (window.height, window.width), dtype=bool)
    out_shape = None if shape is None else (1, *shape)
    for band in rules.data:
        values = dataset.read([band.index], window=window, out_shape=out_shape)
        valid |= known_in_bands(dataset, [band], rules, values, window, shape)[0]
        if valid.all():
            break
    return valid


def valid_pixels(dataset: Any, rules: Rules) -> BoolImage:
    """(rows, columns) bool of a whole dataset, read window by window.

    Raises:
        InputError: the image has more than `MAX_PX` pixels.
    """
    rows, cols = dataset.height, dataset.width
    if rows * cols > MAX_PX:
        raise InputError(
            f"{dataset.name} has {rows} x {cols} pixels, too many to measure at once. Next: cut out a part of it."
        )
    if all_valid(dataset, rules):
        return np.ones((rows, cols), dtype=bool)
    valid = np.empty((rows, cols), dtype=bool)
    for window in windows(dataset):
        valid[window.toslices()] = measurable(dataset, rules, window)
    return valid


def all_valid(dataset: Any, rules: Rules) -> bool:
    """Whether a dataset says by its header alone that every pixel counts; then it is tried whether it can be read."""
    if rules.reads_values:
        return False
    try_pixels(dataset)
    undeclared = all(flags == [MaskFlags.all_valid] for flags in dataset.mask_flag_enums)
    return undeclared and rules.alpha is None and not rules.transparent


def try_pixels(dataset: Any) -> None:
    """Read an image of up to `READ_WHOLE_SAMPLES` in full, of a larger or remote one its corners and its centre.

    Raises:
        RasterioIOError: the pixels cannot be read.
    """
    rows, cols = dataset.height, dataset.width
    if rows * cols * dataset.count <= READ_WHOLE_SAMPLES and not dataset.name.startswith("/vsi"):
        for window in windows(dataset):
            dataset.read(window=window)
        return
    for index in {1, dataset.count}:
        for row, col in ((0, 0), (0, cols - 1), (rows // 2, cols // 2), (rows - 1, 0), (rows - 1, cols - 1)):
            dataset.read(index, window=Window(col, row, 1, 1))
