"""Which values each tile of a large class raster holds, and how often, kept from one question to the next.

Kept by content: the SHA-256 of the raster and of the files that GDAL reads beside it, what of it counts and how it is
cut. An entry that cannot be read, or is not what was written, is no entry.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swath.raster.parallel import mapped
from swath.raster.reader import Raster
from swath.raster.source import opened
from swath.raster.user_cache import cache_folder

FOLDER = "summaries"

MOST_BYTES = 2**26
"""All entries together; those that were used longest ago go first."""

LARGEST_BYTES = 2**23
"""A raster of many values has larger summaries than are worth it."""

Window: TypeAlias = tuple[slice, slice]
Tally: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
"""Values that occur, and how often."""


def summaries(
    raster: Raster, meaning: str, windows: Sequence[Window], count: Callable[[Sequence[Window]], Sequence[Tally]]
) -> tuple[list[Tally], bool]:
    """What the tiles of a class raster hold, and whether an earlier question had counted them.

    Args:
        raster: the class raster.
        meaning: what its values are taken for.
        windows: its tiles, row by row.
        count: reads some tiles that lie side by side and counts the values of each.

    Raises:
        InputError: the raster cannot be read.
    """
    key = summary_key(raster, meaning, windows)
    known = None if key is None else kept_summaries(key, len(windows))
    if known is not None:
        return known, True
    found = [tally for strip in mapped(count, _by_rows(windows)) for tally in strip]
    if key is not None:
        keep_summaries(key, found)
    return found, False


def _by_rows(windows: Sequence[Window]) -> list[list[Window]]:
    """Tiles by their rows, so that what is read together is wide: it takes a third less time than tile by tile."""
    return [list(strip) for _, strip in itertools.groupby(windows, key=lambda window: window[0].start)]


def summary_key(raster: Raster, meaning: str, windows: Sequence[Window]) -> str | None:
    """What the summaries of a raster are known by; None where its content has no name.

    Args:
        raster: a class raster.
        meaning: what its values are taken for.
        windows: its tiles.
    """
    if raster.driver != "GTiff" or raster.sha256 is None:
        return None
    with opened(raster.name) as dataset:
        beside = [Path(name) for name in dataset.files if Path(name) != raster.path and not name.endswith(".ovr")]
    with suppress(OSError):
        known = {
            "swath": version("swath"),
            "files": [raster.sha256, *(hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(beside))],
            "raster": raster.name if raster.name != str(raster.path) else None,  # a subdataset of the file
            "bands": [band.index for band in raster.data_bands],
            "meaning": meaning,
            "windows": [[part.start, part.stop] for window in windows for part in window],
        }
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]
    return None


def kept_summaries(key: str, count: int, environ: Mapping[str, str] = os.environ) -> list[Tally] | None:
    """What an earlier question found in so many tiles; None where none did."""
    path = _path(key, environ)
    with suppress(OSError, ValueError, TypeError):
        checksum, body = path.read_bytes().split(b"\n", 1)
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            return None
        found = [(np.array(values), np.array(counts, dtype=np.int64)) for values, counts in json.loads(body)]
        os.utime(path)
        return found if len(found) == count else None
    return None


def keep_summaries(key: str, tallies: Sequence[Tally], environ: Mapping[str, str] = os.environ) -> None:
    """Keep what was found; where the folder cannot be written, nothing is kept."""
    body = json.dumps([[values.tolist(), counts.tolist()] for values, counts in tallies]).encode()
    if len(body) > LARGEST_BYTES:
        return
    path = _path(key, environ)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        _make_room(path.parent)


def _path(key: str, environ: Mapping[str, str]) -> Path:
    return cache_folder(environ) / FOLDER / f"{key}.json"


def _make_room(folder: Path) -> None:
    """Drop what was used longest ago until the rest is small enough."""
    files = sorted(((file.stat(), file) for file in folder.iterdir()), key=lambda known: -known[0].st_mtime_ns)
    total = 0
    for status, file in files:
        total += status.st_size
        if total > MOST_BYTES:
            file.unlink(missing_ok=True)
