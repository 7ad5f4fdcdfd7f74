"""Codes of class rasters that are too large for one array: read window by window, with a summary of each tile.

Codes themselves are not kept: reading a compressed class raster again takes less time than packing and unpacking its
codes would. The summaries say in which tiles a class is, so that only those are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.raster.held import Tiles
from swath.raster.parallel import mapped
from swath.raster.placing import Placement
from swath.raster.reader import Raster, masked_windows
from swath.raster.tiled import BoolImage, TiledPixels, tiled
from swath.segment.align import onto_window
from swath.segment.code_runs import CodeRuns, tallies_of
from swath.segment.codes import FIRST_CLASS, VOID, Census, CodeImage, Coding
from swath.segment.summaries import Tally, Window, summaries


class TiledCodes:
    """Codes of an image that is held in tiles.

    Attributes:
        shape: (rows, columns) of the image.
        remembered: whether the labels were counted by an earlier question.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        tiles: Tiles,
        between: Callable[[slice, slice, int, int], BoolImage],
        tallies: Mapping[Any, Tally],
        *,
        remembered: bool,
        runs: CodeRuns | None = None,
    ) -> None:
        """Codes whose tiles have been counted.

        Args:
            shape: (rows, columns) of the image.
            tiles: how it is cut.
            between: from rows, columns and two codes to where the codes there lie between them, both included.
            tallies: what occurs in the tile that begins at a row and a column.
            remembered: whether the labels were counted by an earlier question.
            runs: of equal codes; None where only pixels say where a code is.
        """
        self.shape, self.remembered = shape, remembered
        self._between, self._tallies, self._runs = between, tallies, runs
        self._nothing = tiled(shape, tiles, lambda rows, cols: False)

    def between(self, first: int, last: int) -> TiledPixels:
        """Where codes lie between two, both included."""
        between = self._between  # not what has been counted: a pass over these pixels has one name

        def compute(rows: slice, cols: slice) -> BoolImage:
            return between(rows, cols, first, last)

        counts = {
            place: int(counts[(codes >= first) & (codes <= last)].sum())
            for place, (codes, counts) in self._tallies.items()
        }
        runs = self._runs
        found = self._nothing.derived(compute, None if runs is None else lambda rows: runs.between(rows, first, last))
        return found.counted(counts)


def tiled_codes(raster: Raster, image: Raster, coding: Coding, census: Census | None, where: Placement) -> TiledCodes:
    """Codes of a label raster on the grid of an image that is held in tiles.

    The labels are read once, to count them, unless an earlier question did.

    Args:
        raster: the labels.
        image: the image.
        coding: from values to codes.
        census: told of every value that occurs.
        where: how the labels lie under the image.

    Raises:
        InputError: the labels cannot be read, or are no classes.
    """
    bands = masked_windows(raster, *(band.index for band in raster.data_bands))

    def values_counted(strip: Sequence[Window]) -> list[Tally]:
        return tallies_of(bands, coding, strip)

    def codes_read(rows: slice, cols: slice) -> CodeImage:
        return coding.codes(coding.values(bands(rows, cols)))

    def between_read(rows: slice, cols: slice, first: int, last: int) -> BoolImage:
        return coding.between(coding.values(bands(rows, cols)), first, last)

    covers = where.same_grid and (where.rows, where.cols) == (slice(0, image.shape[0]), slice(0, image.shape[1]))
    own = raster.data_bands
    of_bytes = len(own) == 1 and own[0].dtype == "uint8" and coding.meaning != "colours"
    runs = CodeRuns(image.shape[1], image.tiles.shape[1], bands, coding, bytes_only=of_bytes) if covers else None
    tallies: dict[tuple[int, int], Tally] = {}
    windows = list(_windows(where.rows, where.cols, image.tiles.shape))
    found, remembered = summaries(raster, coding.meaning, windows, runs.tallies if runs else values_counted)
    for window, (values, counts) in zip(windows, found, strict=True):
        if census is not None:
            census.add(values, counts)
        tallies[window[0].start, window[1].start] = _of_codes(values, counts, coding, _size(window))
    if where.same_grid:
        return TiledCodes(image.shape, image.tiles, between_read, tallies, remembered=remembered, runs=runs)
    name = raster.path.name

    def codes_moved(rows: slice, cols: slice) -> CodeImage:
        return onto_window(codes_read, raster.grid, image.grid, name, (rows, cols))

    def between_moved(rows: slice, cols: slice, first: int, last: int) -> BoolImage:
        codes = codes_moved(rows, cols)
        return (codes >= first) & (codes <= last)

    def codes_counted(window: Window) -> Tally:
        codes, counts = np.unique(codes_moved(*window), return_counts=True)
        return codes, counts

    windows = list(_windows(slice(0, image.shape[0]), slice(0, image.shape[1]), image.tiles.shape))
    counted = {(w[0].start, w[1].start): t for w, t in zip(windows, mapped(codes_counted, windows), strict=True)}
    return TiledCodes(image.shape, image.tiles, between_moved, counted, remembered=remembered)


def _windows(rows: slice, cols: slice, tile: tuple[int, int]) -> list[Window]:
    return [
        (slice(top, min(top + tile[0], rows.stop)), slice(left, min(left + tile[1], cols.stop)))
        for top in range(rows.start, rows.stop, tile[0])
        for left in range(cols.start, cols.stop, tile[1])
    ]


def _size(window: Window) -> int:
    rows, cols = window
    return int((rows.stop - rows.start) * (cols.stop - cols.start))


def _of_codes(values: NDArray[Any], counts: NDArray[Any], coding: Coding, pixels: int) -> Tally:
    """The tally of codes that follows from one of values; pixels without a value are void."""
    codes = np.array([coding.code_of.get(value, VOID) for value in values.tolist()], dtype=np.int64)
    totals = np.bincount(codes, counts, minlength=FIRST_CLASS).astype(np.int64)
    totals[VOID] += pixels - int(counts.sum())
    present = np.flatnonzero(totals)
    return present, totals[present]
