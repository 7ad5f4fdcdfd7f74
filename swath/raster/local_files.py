"""Files of this machine: the one behind a name, and how a change of it shows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from swath.errors import InputError
from swath.raster.remote import is_remote, known_as, remote_stamp, shown

Stamp = list[list[int]]
SUBDATASET = re.compile(r"(GTIFF_DIR|NETCDF|HDF5|SENTINEL2_\w+|GPKG|BAG|ZARR):(.+)", re.IGNORECASE)
"""Names by which GDAL opens one raster of a file that holds several."""
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/|/vsi(?!mem)", re.IGNORECASE)
"""How addresses begin; `Path` leaves one slash of two, and a drive has one letter."""


def file_of(name: str) -> Path:
    """The local file behind a path or a subdataset's name.

    Raises:
        InputError: it is missing, a folder, not a regular file, empty or not readable.
    """
    path = Path(name)
    try:
        if not path.exists() and (parts := SUBDATASET.fullmatch(name)):
            pieces = [Path(piece.strip('"')) for piece in re.split(r":(?!\\)", parts[2])]
            path = next((piece for piece in pieces if piece.is_file()), path)
        _must_be_a_file(path)
    except (OSError, ValueError) as why:
        said = getattr(why, "strerror", None) or str(why)
        raise InputError(f"{name!r} is not a usable path ({said.lower()}). Next: check the path.") from None
    return path


def stamp(files: Sequence[Path]) -> Stamp:
    """Size and time of some files, by which a change shows; [0, 0] for one that is not there.

    Of a raster on the network its server is asked for the size and for what it has instead of a time.
    """
    found = []
    for path in files:
        if is_remote(path):
            found.append(remote_stamp(path))
            continue
        try:
            status = path.stat()
            found.append([status.st_size, status.st_mtime_ns])
        except OSError:
            found.append([0, 0])
    return found


def _must_be_a_file(path: Path) -> None:
    if not _is_utf8(path):
        raise InputError(f"The name of {path} is not UTF-8 text, which GDAL wants. Next: rename the file.")
    if not path.exists() and ADDRESS.match(str(path)):
        raise InputError(
            f"{shown(known_as(path))} is not a file of this machine; over the network swath reads GeoTIFFs alone, by "
            "https://, s3://, gs:// or az://. Next: fetch it first."
        )
    if not path.exists():
        raise InputError(f"There is no file {path}. Next: check the path.")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not an image. Next: name one file in it.")
    if not path.is_file():
        raise InputError(f"{path} is not a regular file. Next: name a file of pixels.")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path} may not be read by this user. Next: change its permissions.")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty (0 bytes). Next: fetch the file again.")


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
