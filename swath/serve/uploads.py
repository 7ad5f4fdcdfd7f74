"""Uploads: streamed to a file of a bounded size, looked at before it gets its name."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swath.errors import InputError, SwathError

MAX_BYTES = 2 * 2**30
LEAST_FREE_BYTES = 2**29
"""What an upload leaves free on the disk."""
HEAD_BYTES = 512
CONTENT_TYPES = ("application/octet-stream",)
"""What a page of another origin cannot send without asking first."""

Kind = Literal["tif", "png", "jpg", "jp2", "gpkg", "json"]
BEGINNINGS: tuple[tuple[bytes, Kind], ...] = (
    (b"II*\0", "tif"), (b"MM\0*", "tif"), (b"II+\0", "tif"), (b"MM\0+", "tif"), (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"), (b"\0\0\0\x0cjP  \r\n\x87\n", "jp2"), (b"SQLite format 3\0", "gpkg"),
)  # fmt: skip


class TooLarge(SwathError):
    """An upload is larger than it may be."""


@dataclass(frozen=True)
class Uploads:
    """Where uploads go.

    Attributes:
        folder: inside the served folder.
        max_bytes: size of the largest upload.
        check: opens a file of a kind in a process of its own and raises where it is not what it seems.
    """

    folder: Path
    max_bytes: int
    check: Callable[[Path, Kind], Awaitable[None]]

    async def keep(self, name: str, chunks: AsyncIterator[bytes]) -> Path:
        """Keep an upload; nothing of it stays where it is refused or breaks off.

        Args:
            name: what its owner calls it; only its letters are used.
            chunks: its bytes.

        Raises:
            TooLarge: it has more bytes than it may, whatever its sender announced.
            InputError: it is of no kind that a question can use.
        """
        self.folder.mkdir(exist_ok=True)
        partial = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            head = await self._write(partial, chunks)
            kind = kind_of(head)
            whole = partial.with_suffix(f".{kind}")
            partial.rename(whole)
            partial = whole
            await self.check(partial, kind)
            return _named(partial, self.folder, safe_name(name, kind))
        finally:
            partial.unlink(missing_ok=True)

    async def _write(self, path: Path, chunks: AsyncIterator[bytes]) -> bytes:
        head, size = b"", 0
        with path.open("xb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > self.max_bytes:
                    raise TooLarge(self.too_large())
                if shutil.disk_usage(self.folder).free < LEAST_FREE_BYTES:
                    raise TooLarge("The server's disk is full. Next: free some space, or put the file there yourself.")
                head += chunk[: HEAD_BYTES - len(head)]
                file.write(chunk)
        return head

    def too_large(self) -> str:
        """The sentence about an upload of too many bytes."""
        return (
            f"Uploads of more than {size_words(self.max_bytes)} are refused. "
            "Next: put the file into the served folder, or allow more with --max-upload."
        )


def kind_of(head: bytes) -> Kind:
    """What a file is by its first bytes.

    Raises:
        InputError: nothing that a question can use.
    """
    for beginning, kind in BEGINNINGS:
        if head.startswith(beginning):
            return kind
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return "json"
    raise InputError(
        "The upload is no GeoTIFF, PNG, JPEG, JPEG 2000, GeoPackage or (Geo)JSON. Next: convert it to one of these."
    )


def safe_name(name: str, kind: Kind) -> str:
    """A name for a file of a kind, made of the harmless letters of another."""
    stem = Path(name.replace("\\", "/").split("/")[-1]).stem
    letters = re.sub(r"[^\w\-]+", "-", stem).strip("-_")[:60] or "upload"
    return f"{letters}.{'geojson' if kind == 'json' and name.lower().endswith('.geojson') else kind}"


def _named(partial: Path, folder: Path, name: str) -> Path:
    """Give a file its name, with a number where another has it."""
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{Path(name).stem}-{number}{Path(name).suffix}")
        try:
            os.link(partial, path)  # unlike a renaming, it never replaces a file
        except FileExistsError:
            continue
        return path
    raise InputError("The server holds thousands of uploads of that name. Next: rename the file.")


def size_words(size: int) -> str:
    """A size for people."""
    for unit, words in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {words}"
    return f"{size} bytes"
