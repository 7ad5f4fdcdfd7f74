"""Opening vector files: only the formats that swath names, without network, and without losing a Ctrl-C.

GDAL goes by a file's content: one named `roads.geojson` may hold an OGR VRT or a WFS description that sends it to a
server. So a file must begin as its ending promises, and GDAL's network file systems are shut while it is read.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from swath.errors import InputError
from swath.raster.source import NETWORK_SHUT

HEAD_BYTES = 4096
JSON_BEGINNINGS = (b"{", b"[", b"\x1e")
"""Of an object, an array, a text sequence (RFC 8142); behind a byte-order mark and blanks."""

BEGINNINGS: dict[str, tuple[str, tuple[bytes, ...]]] = {
    ".geojson": ("GeoJSON", JSON_BEGINNINGS),
    ".json": ("GeoJSON", JSON_BEGINNINGS),
    ".gpkg": ("a GeoPackage", (b"SQLite format 3\0",)),
    ".shp": ("a shapefile", (b"\0\0\x27\x0a",)),
    ".fgb": ("FlatGeobuf", (b"fgb",)),
}
"""Ending of a file to the name of its format and how such a file can begin."""

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a command."""

ALGORITHM = b"gdal_streamed_alg"
"""Type of a JSON file that is a command for GDAL, not data."""


def check_format(path: Path) -> None:
    """Check that a file begins as its ending says.

    Raises:
        InputError: it is of another format, or of none that swath reads.
    """
    if path.suffix.lower() not in BEGINNINGS:
        raise InputError(
            f"{path.name} is not a vector file by its name. Next: give one of {', '.join(sorted(BEGINNINGS))}."
        )
    name, beginnings = BEGINNINGS[path.suffix.lower()]
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if beginnings is JSON_BEGINNINGS:
        head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head.startswith(beginnings) or (beginnings is JSON_BEGINNINGS and ALGORITHM in head):
        raise InputError(
            f"{path.name} is not {name}, as its name says, but something else. "
            "Next: save it again as GeoJSON or GeoPackage."
        )


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """A block in which pyogrio reads a file.

    Raises:
        InputError: the file is not of the format that its name says.
        KeyboardInterrupt: Ctrl-C was pressed in the meantime.
    """
    import pyogrio  # here, because it takes 0.3 s and most runs need no vector file

    check_format(path)
    before = {name: pyogrio.get_gdal_config_option(name) for name in NETWORK_SHUT}
    pyogrio.set_gdal_config_options(dict(NETWORK_SHUT))
    try:
        with _interrupts_kept():
            yield
    finally:
        pyogrio.set_gdal_config_options(before)


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Signals that raise take effect behind the block: pyogrio's compiled loops swallow the exception."""
    if threading.current_thread() is not threading.main_thread():  # only there are signals handled
        yield
        return
    usual = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    received: list[int] = []
    for number in usual:
        signal.signal(number, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
    for number in received:
        usual[signal.Signals(number)](number, None)
