"""Opening a file of pixels: read-only, without network, and with one clear sentence where it fails.

What is covered: GDAL's network file systems (`/vsicurl/`, `/vsis3/` ...) and network drivers (WMS, WCS, WMTS, HTTP ...)
are shut while a file is open here, also where a VRT names them; pixel functions in Python are off; nothing is written
beside the image. What is not covered: a VRT may name any *local* file that the user may read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import rasterio
from rasterio.errors import NotGeoreferencedWarning, RasterioError, RasterioIOError

from swath.errors import InputError

GDAL_OPTIONS: dict[str, Any] = {
    # Only names with this ending may be opened over the network, which no file has.
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": ".no-network",
    # The discard port of this machine: whatever else speaks HTTP inside GDAL gets no further.
    "GDAL_HTTP_PROXY": "127.0.0.1:9",
    "GDAL_HTTP_CONNECTTIMEOUT": "1",
    "GDAL_HTTP_MAX_RETRY": "0",
    "GDAL_VRT_ENABLE_PYTHON": "NO",
    "GDAL_PAM_PROXY_DIR": "",
    "GDAL_CACHEMAX": 128,
}

_opening = Lock()  # warning filters belong to the whole process


def existing_file(path: Path) -> None:
    """Check that a path names a readable file with something in it.

    Raises:
        InputError: it is missing, a directory, not a regular file, empty or not readable.
    """
    try:
        if not path.exists():
            raise InputError(f"There is no file {path}. Next: check the path.")
        if path.is_dir():
            raise InputError(f"{path} is a directory, not an image. Next: name one file in it.")
        if not path.is_file():
            raise InputError(f"{path} is not a regular file. Next: name a file of pixels.")
        if not os.access(path, os.R_OK):
            raise InputError(f"{path} may not be read by this user. Next: change its permissions.")
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty (0 bytes). Next: fetch the file again.")
    except (OSError, ValueError) as why:
        raise InputError(f"{str(path)!r} is not a usable path ({why}). Next: check the path.") from None


@contextmanager
def opened(name: str) -> Iterator[Any]:
    """A dataset opened for reading, with every GDAL failure inside the block turned into one sentence.

    Args:
        name: path of a file, or a GDAL name of a subdataset.

    Yields:
        The rasterio dataset.

    Raises:
        InputError: it cannot be opened, or reading inside the block fails.
    """
    with rasterio.Env(**GDAL_OPTIONS):
        try:
            with _opening, warnings.catch_warnings():
                warnings.simplefilter("ignore", NotGeoreferencedWarning)
                dataset = rasterio.open(name)
        except (RasterioError, ValueError, TypeError, MemoryError) as why:
            raise InputError(_cannot_open(name)) from why
        with dataset:
            try:
                yield dataset
            except (RasterioIOError, MemoryError) as why:
                raise InputError(
                    f"The pixels of {name} cannot be read: the file is damaged or truncated. Next: fetch it again."
                ) from why


def _cannot_open(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            head = file.read(512)
    except OSError:
        head = b""
    if head and not any(byte < 9 for byte in head):
        return f"{name} cannot be opened as a raster: it holds text, not pixels. Next: name a GeoTIFF or an image."
    return f"{name} cannot be opened as a raster: unknown format or damaged file. Next: fetch it again or convert it."
