"""Tiles that were computed, one bit a pixel: in memory while they are few, then compressed in a file without a name."""

from __future__ import annotations

import errno
import tempfile
import weakref
import zlib
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError

BoolImage = NDArray[np.bool_]

AT_HAND_BYTES = 2**26
"""Unpacked tiles that are kept at hand: those of two or three masks under the strips that are being worked on."""

IN_MEMORY_BYTES = 2**26
"""Packed tiles that are kept in memory; the file takes those that come later. Half a gigapixel of one mask."""


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """Where a tile is: its bits in memory, or compressed in the file, from an offset on.

    Attributes:
        length: bytes that it takes.
        offset: in the file.
        bits: None where they are in the file.
    """

    length: int
    offset: int = 0
    bits: NDArray[np.uint8] | None = None


@dataclass(eq=False)
class TileFile:
    """Tiles, one bit a pixel: the first ones in memory, the others compressed in a file.

    The file has no name and is gone when the process is, however it ends. Tiles that were used last are kept unpacked.
    """

    _file: Any = field(default_factory=lambda: tempfile.TemporaryFile(prefix="swath-", buffering=0))  # noqa: SIM115
    _end: int = 0
    _lock: Lock = field(default_factory=Lock)
    _at_hand: OrderedDict[Kept, BoolImage] = field(default_factory=OrderedDict)
    _at_hand_bytes: int = 0
    _in_memory_bytes: int = 0

    def __post_init__(self) -> None:
        weakref.finalize(self, self._file.close)

    def __reduce__(self) -> tuple[type[TileFile], tuple[()]]:
        return TileFile, ()  # in another process tiles are computed anew

    def put(self, tile: BoolImage) -> Kept:
        """Keep a tile, which nobody may change any more.

        Raises:
            InputError: the disk is full.
        """
        kept = self.put_bits(np.packbits(tile))
        self._remember(kept, tile)
        return kept

    def put_bits(self, bits: NDArray[np.uint8]) -> Kept:
        """Keep the bits of a tile.

        Raises:
            InputError: the disk is full.
        """
        with self._lock:
            fits = self._in_memory_bytes + bits.nbytes <= IN_MEMORY_BYTES
            self._in_memory_bytes += bits.nbytes * fits
        return Kept(bits.nbytes, bits=bits) if fits else self._written(zlib.compress(bits.data, 1))

    def _written(self, packed: bytes) -> Kept:
        with self._lock:
            kept = Kept(len(packed), offset=self._end)
            try:
                self._file.seek(self._end)
                if self._file.write(packed) != len(packed):
                    raise OSError(errno.ENOSPC, "no space left")
            except OSError as why:
                raise InputError(
                    f"The tiles of a large image cannot be kept in {tempfile.gettempdir()} ({why.strerror}). "
                    "Next: free some space there, or name another folder in TMPDIR."
                ) from None
            self._end += len(packed)
        return kept

    def get(self, kept: Kept, shape: tuple[int, int]) -> BoolImage:
        """(rows, columns) bool, read-only: a tile that was kept."""
        with self._lock:
            if kept in self._at_hand:
                self._at_hand.move_to_end(kept)
                return self._at_hand[kept]
        bits = self._read(kept) if kept.bits is None else kept.bits
        tile: BoolImage = np.unpackbits(bits, count=shape[0] * shape[1]).view(bool).reshape(shape)
        self._remember(kept, tile)
        return tile

    def _read(self, kept: Kept) -> NDArray[np.uint8]:
        with self._lock:
            self._file.seek(kept.offset)
            packed = self._file.read(kept.length)
        return np.frombuffer(zlib.decompress(packed), dtype=np.uint8)

    def _remember(self, kept: Kept, tile: BoolImage) -> None:
        tile.flags.writeable = False
        with self._lock:
            if kept in self._at_hand:
                return
            self._at_hand[kept] = tile
            self._at_hand_bytes += tile.nbytes
            while self._at_hand_bytes > AT_HAND_BYTES and len(self._at_hand) > 1:
                _, oldest = self._at_hand.popitem(last=False)
                self._at_hand_bytes -= oldest.nbytes
