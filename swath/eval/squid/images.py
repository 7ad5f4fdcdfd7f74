"""Images of SQuID's rows: paths as they are, embedded bytes written once to a cache folder by their content."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import os
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from swath.errors import InputError
from swath.segment.rows import Row

COLUMN = "image"


def default_cache() -> Path:
    """The folder for embedded images where the caller names none: `swath/squid` in the person's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swath" / "squid"


def image_of(row: Row, root: Path, cache: Path) -> Path:
    """The file of a row's image.

    Args:
        row: its column `image` is a path, bytes, or an object with `bytes` (in JSON as base64) or `path`.
        root: the dataset's folder; a relative path starts there or in the folder of the row's file.
        cache: folder for embedded images, made when the first one is written.

    Raises:
        InputError: there is no image, its file does not exist, its bytes are no picture, or they cannot be written.
    """
    content = _content(row)
    if content is not None:
        return _written(row, content, cache)
    path = _path(row)
    if path is None:
        raise row.fault(COLUMN, "holds neither a path nor the bytes of an image")
    files = (row.file.parent / path, root / path)
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        raise row.fault(COLUMN, f"names {' or '.join(map(str, dict.fromkeys(files)))}, which is not there")
    return found


def name_of(row: Row) -> str | None:
    """The file name that the dataset gives to an image, None where it gives none."""
    path = _path(row)
    return None if path is None else Path(path).name


def size_px(row: Row, file: Path) -> tuple[int, int]:
    """Columns and rows of an image, from its header.

    Raises:
        InputError: it is no picture.
    """
    return _opened(row, file)[1]


def _path(row: Row) -> str | None:
    value = row.values.get(COLUMN)
    path = value.get("path") if isinstance(value, dict) else value
    return path if isinstance(path, str) and path else None


def _content(row: Row) -> bytes | None:
    value = row.values.get(COLUMN)
    content: Any = value.get("bytes") if isinstance(value, dict) else value
    if isinstance(content, str) and isinstance(value, dict):
        try:
            return base64.b64decode(content, validate=True)
        except binascii.Error:
            raise row.fault(COLUMN, "holds bytes that are not in base64") from None
    return content if isinstance(content, bytes) else None


def _opened(row: Row, source: Path | io.BytesIO) -> tuple[str, tuple[int, int]]:
    """Format and size of a picture."""
    try:
        with Image.open(source) as opened:
            return str(opened.format).lower(), opened.size
    except (UnidentifiedImageError, OSError):
        raise row.fault(COLUMN, "holds no picture that can be opened") from None


def _written(row: Row, content: bytes, cache: Path) -> Path:
    """The cached file of these bytes; a run that is stopped while it writes leaves no half image under the name."""
    suffix, _ = _opened(row, io.BytesIO(content))
    file = cache / f"{hashlib.sha256(content).hexdigest()[:32]}.{suffix}"
    if file.exists():
        return file
    try:
        cache.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(content)
        part.replace(file)
    except OSError as why:
        raise InputError(
            f"{cache} cannot keep the images of SQuID ({why.strerror}). Next: name another cache."
        ) from None
    return file
