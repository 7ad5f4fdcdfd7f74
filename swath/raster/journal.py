"""What passes over the tiles of an image have found, kept as it comes, so that whoever is killed can go on from there.

A pass is known by its function, pickled: that holds all that its results depend on but for the files that it reads, for
which the caller chooses the folder. Results that were cut off while they were written are no results.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from swath.raster.parallel import Passes, threaded

HEAVIEST_BYTES = 2**23
"""A function that takes more is worked on here: it holds pixels or outlines, not the way to them."""

MOST_BYTES = 2**31
"""All results of a question; what comes after that is not kept."""

AFTER_S = 5.0
"""What is found sooner is not worth a disk: whoever is killed then loses no more than this."""

_HEAD = struct.Struct("<III")
"""Bytes of the item, bytes of the result, CRC-32 of both."""


def carried(function: Callable[[Any], Any]) -> bytes | None:
    """A function as bytes that another process can call; None where it belongs to this one."""
    import cloudpickle  # functions inside functions are more than pickle takes

    try:
        packed: bytes = cloudpickle.dumps(function, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return packed if len(packed) <= HEAVIEST_BYTES else None


@dataclass
class Journal:
    """A folder of results of passes; made for `swath.raster.parallel.passes_by`.

    Attributes:
        folder: it holds a file for each pass.
        passes: what works on what is not known yet.
        taken_over: results that an earlier process had kept.
        most_bytes: how much is kept at most.
    """

    folder: Path
    passes: Passes = threaded
    taken_over: int = 0
    most_bytes: int = MOST_BYTES

    def __post_init__(self) -> None:
        self._begun = time.monotonic()
        self._earlier = {file.name: file.stat().st_size for file in self.folder.glob("*.pass")}
        self._bytes = sum(self._earlier.values())

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Results in the order of the items: those that are known, and those that are worked on now."""
        packed = carried(function)
        if packed is None:
            yield from self.passes(function, items)
            return
        wanted = [(item, _named(item)) for item in items]
        path = self.folder / f"{hashlib.sha256(packed).hexdigest()[:32]}.pass"
        with path.open("a+b", buffering=0) as file:
            known = _records(file)
            left = self.passes(function, [item for item, name in wanted if name not in known])
            for _, name in wanted:
                if name in known:
                    self.taken_over += known[name][0] < self._earlier.get(path.name, 0)
                    yield _read(file, known[name])
                else:
                    result = next(left)
                    self._keep(file, name, result)
                    yield result

    def _keep(self, file: IO[bytes], name: bytes, result: Any) -> None:
        """Append a result while there is room."""
        if time.monotonic() - self._begun < AFTER_S:
            return
        packed = pickle.dumps(result, protocol=5)
        if self._bytes + len(packed) > self.most_bytes:
            return
        record = _HEAD.pack(len(name), len(packed), zlib.crc32(name + packed)) + name + packed
        end = file.seek(0, 2)
        written = 0
        with suppress(OSError):
            written = file.write(record)
        self._bytes += written
        if written < len(record):  # the disk is full; the answer does not need it
            self.most_bytes = 0
            file.truncate(end)


def _named(item: Any) -> bytes:
    return repr(item).encode()


def _records(file: IO[bytes]) -> dict[bytes, tuple[int, int]]:
    """Items that are known, with offset and length of their results; a last one that was cut off is cut away."""
    known: dict[bytes, tuple[int, int]] = {}
    file.seek(0)
    end = 0
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        name_bytes, result_bytes, checksum = _HEAD.unpack(head)
        body = file.read(name_bytes + result_bytes)
        if len(body) < name_bytes + result_bytes or zlib.crc32(body) != checksum:
            break
        known[body[:name_bytes]] = end + _HEAD.size + name_bytes, result_bytes
        end += _HEAD.size + len(body)
    file.truncate(end)
    file.seek(end)
    return known


def _read(file: IO[bytes], place: tuple[int, int]) -> Any:
    file.seek(place[0])
    result = pickle.loads(file.read(place[1]))  # noqa: S301 - this user's own file, in a folder that others may not write
    file.seek(0, 2)
    return result
