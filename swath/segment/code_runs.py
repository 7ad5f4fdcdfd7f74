"""Where the codes of a large class raster change, strip by strip: all that counting and nearness need of its pixels."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError
from swath.raster.stretches import Stretches, changes, place_type, united
from swath.segment.codes import CodeImage, Coding, Masked, tallied
from swath.segment.summaries import Tally, Window

KEPT_BYTES = 2**27
"""Strips that are kept: those of a gigapixel and a half of ordinary class rasters."""

LAST_KEPT = 8
"""Strips that were used last and stay: those that several threads and their neighbours are working on. Of the others
those stay that came first, since a pass that goes through all of them would find none of the last ones."""

MOST_PER_PX = 1 / 16
"""Runs for each pixel above which pixels say the same in less room."""


@dataclass(frozen=True, eq=False)
class _Strip:
    """Where a strip changes, and to what: its runs, none of which reaches from one tile into the next.

    Attributes:
        lengths: (m,) pixels of each run, one after the other.
        codes: (m,) of each.
    """

    lengths: NDArray[np.unsignedinteger[Any]]
    codes: CodeImage

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return int(self.lengths.nbytes + self.codes.nbytes)


class CodeRuns:
    """Runs of equal codes of a class raster that lies on the image's own grid. Thread-safe.

    A strip is read when somebody first asks for it: one thread reads it, others wait.
    """

    def __init__(
        self, cols: int, width: int, bands: Callable[[slice, slice], Masked], coding: Coding, *, bytes_only: bool
    ) -> None:
        """Begin with no strip known.

        Args:
            cols: columns of the image.
            width: columns of a tile.
            bands: reads a window of the class raster.
            coding: from its values to codes.
            bytes_only: whether the raster has one band of bytes, whose values are classes: a whole row of tiles is read
                at once then. Of others that would take too much room.
        """
        self._cols, self._width, self._bands, self._coding = cols, width, bands, coding
        self._bytes_only = bytes_only
        self._kept: OrderedDict[int, _Strip | None] = OrderedDict()
        self._bytes = 0
        self._lock, self._reading = Lock(), [Lock() for _ in range(64)]

    def __reduce__(self) -> tuple[Callable[..., CodeRuns], tuple[Any, ...]]:
        # Another process reads for itself.
        return _code_runs, (self._cols, self._width, self._bands, self._coding, self._bytes_only)

    def tallies(self, windows: Sequence[Window]) -> list[Tally]:
        """Read a strip, keep where it changes, and count the values of its tiles.

        Args:
            windows: its tiles, from left to right.
        """
        if not self._bytes_only:
            return tallies_of(self._bands, self._coding, windows)
        rows = windows[0][0]
        values = self._coding.values(side_by_side(self._bands, windows))
        if self._coding.reads_bytes(values):
            begins = changes(values.data, self._width)
            self._keep(rows, self._strip_of(values.data, begins, self._coding.of_bytes))
            if len(begins) <= MOST_PER_PX * values.size:
                return _counted(begins, values.data, self._width)
        return [tallied(values[:, cols]) for _, cols in windows]

    def between(self, rows: slice, first: int, last: int) -> Stretches | None:
        """The runs of a strip whose codes lie between two, both included; None where there are too many.

        Args:
            rows: of the strip.
            first: lowest code.
            last: highest code.
        """
        strip = self._strip(rows)
        if strip is None:
            return None
        own = strip.codes == first if first == last else (strip.codes >= first) & (strip.codes <= last)
        stop = np.cumsum(strip.lengths, dtype=place_type(rows.stop, self._cols))
        stop += rows.start * self._cols
        stop, lengths = stop[own], strip.lengths[own]
        return united((stop - lengths).astype(stop.dtype, copy=False), stop, self._cols)

    def _strip(self, rows: slice) -> _Strip | None:
        with self._reading[rows.start // max(rows.stop - rows.start, 1) % len(self._reading)]:
            with self._lock:
                if rows.start in self._kept:
                    self._kept.move_to_end(rows.start)
                    return self._kept[rows.start]
            plain, code_of = self._plain(rows)
            strip = self._strip_of(plain, changes(plain, self._width), code_of)
            self._keep(rows, strip)
        return strip

    def _plain(self, rows: slice) -> tuple[NDArray[Any], CodeImage | None]:
        """(rows, columns) of a strip: bytes and the table of their codes, or codes."""
        firsts = range(0, self._cols, self._width)
        windows = [(rows, slice(first, min(first + self._width, self._cols))) for first in firsts]
        if not self._bytes_only:
            return np.hstack([self._coding.codes(self._coding.values(self._bands(*own))) for own in windows]), None
        values = self._coding.values(side_by_side(self._bands, windows))
        if self._coding.reads_bytes(values):
            return values.data, self._coding.of_bytes
        return self._coding.codes(values), None

    def _strip_of(self, plain: NDArray[Any], begins: NDArray[np.int64], code_of: CodeImage | None) -> _Strip | None:
        """From codes, or from values whose codes a table has, and where they change."""
        if len(begins) > MOST_PER_PX * plain.size:
            return None
        short = self._width < 2**16
        lengths: NDArray[np.unsignedinteger[Any]] = np.empty(len(begins), dtype=np.uint16 if short else np.uint32)
        np.subtract(begins[1:], begins[:-1], out=lengths[:-1], casting="unsafe")
        lengths[-1] = plain.size - begins[-1]
        found = plain.reshape(-1)[begins]
        return _Strip(lengths, found if code_of is None else code_of[found])

    def _keep(self, rows: slice, strip: _Strip | None) -> None:
        with self._lock:
            if rows.start in self._kept:
                return
            self._kept[rows.start] = strip
            self._bytes += strip.nbytes if strip else 0
            while self._bytes > KEPT_BYTES:
                dropped = self._kept.pop(list(self._kept)[max(len(self._kept) - 1 - LAST_KEPT, 0)])
                self._bytes -= dropped.nbytes if dropped else 0


def _code_runs(
    cols: int, width: int, bands: Callable[[slice, slice], Masked], coding: Coding, bytes_only: bool
) -> CodeRuns:
    """The runs in another process."""
    return CodeRuns(cols, width, bands, coding, bytes_only=bytes_only)


def tallies_of(bands: Callable[[slice, slice], Masked], coding: Coding, windows: Sequence[Window]) -> list[Tally]:
    """Values of some windows, read one by one, and how often each occurs.

    Args:
        bands: reads a window of a raster.
        coding: from its bands to values.
        windows: which.
    """
    return [tallied(coding.values(bands(*window))) for window in windows]


def side_by_side(bands: Callable[[slice, slice], Masked], windows: Sequence[Window]) -> Masked:
    """(band, y, x) of some windows read as one, which takes a third less time.

    Args:
        bands: reads a window of a raster.
        windows: of the same rows, from left to right.

    Raises:
        InputError: one of them cannot be read; the sentence names it.
    """
    try:
        return bands(windows[0][0], slice(windows[0][1].start, windows[-1][1].stop))
    except InputError:
        for window in windows:
            bands(*window)
        raise


def _counted(begins: NDArray[np.int64], data: NDArray[np.uint8], width: int) -> list[Tally]:
    """Values of the tiles of a strip, and how often each occurs.

    Args:
        begins: places of the strip where a run begins; none reaches from one tile into the next.
        data: (rows, columns) of the strip.
        width: columns of a tile.
    """
    cols = data.shape[1]
    places = begins.astype(place_type(*data.shape))
    tile = (places - places // cols * cols) // width
    keys = tile * 256 + data.reshape(-1)[begins]
    lengths = np.diff(places, append=data.size)
    table = np.bincount(keys, lengths, minlength=-(-cols // width) * 256).astype(np.int64).reshape(-1, 256)
    return [(present := np.flatnonzero(counts), counts[present]) for counts in table]
