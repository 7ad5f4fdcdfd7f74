"""What other files an XML file of pixels (VRT ...) names: all must be here, and none on the network."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from swath.errors import InputError

READ_AT_MOST = 2**26
"""Bytes of an XML file that are looked at: 64 MB hold a mosaic of 100,000 scenes."""

NESTING = 16
"""VRTs that name VRTs may do so this deep."""

NETWORK = re.compile(
    r"/vsi(?:curl|s3|gs|az|adls|oss|swift|webhdfs|hdfs)"
    r"|(?:https?|ftp)://[^<]*</(?:SourceFilename|SourceDataset|SourceFileName|IndexDataset)"
    r"|<GDAL_W[CM]T?S|<WCS_GDAL",
    re.IGNORECASE,
)
"""How such a file says that it wants the network."""

_SOURCE = re.compile(r"<Source(?:Filename|Dataset)\b([^>]*)>([^<]*)</", re.IGNORECASE)


def check_sources(path: Path, name: str) -> None:
    """Check the files that a text file of pixels names, and those that they name.

    GDAL itself may read a missing source as zeros and say nothing, and after a VRT of itself it does so for every
    other VRT of the process.

    Args:
        path: the file.
        name: what the user called it, for messages.

    Raises:
        InputError: a source lies on the network, is not there, or names itself.
    """
    _follow(path.resolve(), name, (), set())


def sources_of(path: Path) -> list[Path]:
    """A file of pixels with all that it names, directly or through others.

    Raises:
        InputError: as `check_sources`.
    """
    found: set[Path] = set()
    _follow(path.resolve(), str(path), (), found)
    return sorted(found)


def _follow(path: Path, name: str, above: tuple[Path, ...], done: set[Path]) -> None:
    if path in above or len(above) == NESTING:
        raise InputError(f"{name} names itself among its own sources. Next: build it again from the original files.")
    if path in done:
        return
    for inner in _sources(path, name):
        _follow(inner.resolve(), name, (*above, path), done)
    done.add(path)


def _sources(path: Path, name: str) -> list[Path]:
    text = _xml(path)
    if NETWORK.search(text):
        raise InputError(f"{name} refers to the network, which swath does not open. Next: fetch its sources first.")
    found = []
    for attributes, source in _SOURCE.findall(text) if "<VRTDataset" in text else ():
        inner = Path(source.strip())
        if 'relativeToVRT="1"' in attributes:
            inner = path.parent / inner
        # Anything with a colon or under /vsi is GDAL's own syntax, not a plain file.
        if not source.strip() or ":" in source or source.startswith("/vsi"):
            continue
        if not inner.exists():
            raise InputError(f"{name} names the file {source.strip()}, which is not there. Next: put it in its place.")
        if not (inner.is_file() or inner.is_dir()):
            raise InputError(f"{name} names {source.strip()}, which is no regular file. Next: name a file of pixels.")
        found.append(inner)
    return found


def _xml(path: Path) -> str:
    """The text of an XML file with its entities resolved, "" of any other file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        head = file.read(512)
        if not is_text(head) or b"<" not in head:
            return ""
        return unescape((head + file.read(READ_AT_MOST)).decode("utf-8", errors="replace"))


def is_text(head: bytes) -> bool:
    """Whether the first bytes of a file are text: no control characters below the tab."""
    return not any(byte < 9 for byte in head)
