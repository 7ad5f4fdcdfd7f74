"""Opening a file of pixels: read-only, without network, and with one clear sentence where it fails.

The one way to the network is an address that a person names as a raster (`remote.py`); it is open for that alone.

Covered: GDAL's network file systems (`/vsicurl/`, `/vsis3/` ...) and whatever else speaks HTTP inside GDAL (WMS, WCS,
STAC and plain `http:` sources) are shut while a file is open here, also where a VRT names them; pixel functions in
Python are off; nothing is ever written beside the image. Not covered: a VRT may name any *local* file that the user
may read; where the environment's `NO_PROXY` covers a host, WMS and its like inside binary formats could still reach it
(XML is searched beforehand, see `xml_sources.py`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock, local
from typing import Any, TypeVar

import rasterio
from rasterio._err import CPLE_BaseError
from rasterio.errors import NodataShadowWarning, NotGeoreferencedWarning, RasterioError
from rasterio.session import DummySession
from rasterio.windows import Window

from swath.errors import InputError
from swath.raster import remote
from swath.raster.local_files import file_of
from swath.raster.parallel import in_the_pool
from swath.raster.remote import credentials_of, gdal_name, is_remote, know, network_options, shown
from swath.raster.xml_sources import check_sources, is_text

NETWORK_SHUT: dict[str, str] = {
    # Only names with this ending may be opened over the network, which no file has.
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": ".no-network",
    # The discard port of this machine: whatever else speaks HTTP inside GDAL gets no further.
    "GDAL_HTTP_PROXY": "127.0.0.1:9",
    "GDAL_HTTPS_PROXY": "127.0.0.1:9",
    "GDAL_HTTP_CONNECTTIMEOUT": "1",
    "GDAL_HTTP_MAX_RETRY": "0",
}
"""GDAL without network; any library that brings a GDAL of its own needs it told."""

Read = TypeVar("Read")

GDAL_OPTIONS: dict[str, Any] = {
    **NETWORK_SHUT,
    "GDAL_VRT_ENABLE_PYTHON": "NO",
    # A JPEG whose data run out decodes to grey; grey must not be measured.
    "GDAL_ERROR_ON_LIBJPEG_WARNING": "YES",
    "GDAL_NUM_THREADS": "ALL_CPUS",
    # Bytes: rasterio hands integers on as such. Blocks of decoded pixels kept between reads; images are read in passes,
    # which a larger cache does not help.
    "GDAL_CACHEMAX": 2**26,
}


_thread = local()
_process_warnings = Lock()  # warning filters belong to the whole process


def gdal_environment(name: str = "", *, anew: bool = False) -> Any:
    """GDAL as swath uses it, without looking for anyone's cloud credentials.

    Args:
        name: of a raster; where it lies on the network, that is open for it alone.
        anew: whether to forget what has been read of that.
    """
    options = {**GDAL_OPTIONS, **network_options(name, anew=anew)} if is_remote(name) else GDAL_OPTIONS
    return rasterio.Env(session=DummySession(), **options)


def _settled(name: str) -> Any:
    """The same for one window: threads of the pool stay in it, since entering takes 0.4 ms each time."""
    if not in_the_pool() or is_remote(name):
        return gdal_environment(name)
    if not hasattr(_thread, "environment"):
        # One thread within each of ours: more would only wait for each other.
        _thread.environment = rasterio.Env(session=DummySession(), **{**GDAL_OPTIONS, "GDAL_NUM_THREADS": 1})
        _thread.environment.__enter__()
    return nullcontext()


@contextmanager
def quietly() -> Iterator[None]:
    """Keep two warnings of rasterio to itself: swath reports both cases in its own words."""
    with _process_warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        warnings.simplefilter("ignore", NodataShadowWarning)
        yield


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
    with gdal_environment(name):
        dataset = _open(name)
        with dataset:
            # GDAL's complaint of an unreadable CRS stays pending and would hit the next call.
            with suppress(CPLE_BaseError):
                _ = dataset.colorinterp
            try:
                yield dataset
            except MemoryError:
                raise InputError(f"{name} does not fit into memory. Next: cut out a part of it.") from None
            except (RasterioError, CPLE_BaseError) as why:
                if is_remote(name):
                    raise InputError(f"The pixels of {shown(name)} cannot be read: {_reason(name)}.") from None
                raise InputError(_cannot_read(name, str(dataset.driver))) from why


def forget(name: str) -> None:
    """Forget what has been read of a raster on the network: it may have changed since.

    Raises:
        InputError: it cannot be opened.
    """
    if is_remote(name):
        with gdal_environment(name, anew=True):
            _open(name).close()


class WindowReader:
    """Windows of a raster for several threads at once: each reads by a handle of its own, which stays open."""

    def __init__(self, name: str) -> None:
        """Open nothing yet.

        Args:
            name: path of a file, or a GDAL name of a subdataset.
        """
        self._name = name
        self._free: list[Any] = []

    def __reduce__(self) -> tuple[Callable[..., WindowReader], tuple[str, dict[str, str]]]:
        return _reader_of, (self._name, credentials_of([self._name]))  # open files stay with their process

    def at(self, rows: slice, cols: slice, read: Callable[[Any, Window], Read]) -> Read:
        """What a function reads from a window.

        Args:
            rows: rows of the window.
            cols: its columns.
            read: from the dataset and the window to whatever is wanted.

        Raises:
            InputError: the file cannot be opened, or the window cannot be read.
        """
        with _settled(self._name):
            try:
                dataset = self._free.pop()
            except IndexError:
                dataset = _open(self._name)
            try:
                found = read(dataset, Window.from_slices(rows, cols))
            except (RasterioError, CPLE_BaseError) as why:
                dataset.close()  # it would take what it failed to decode for read, and be silent the next time
                raise InputError(
                    f"Rows {rows.start} to {rows.stop - 1}, columns {cols.start} to {cols.stop - 1} of "
                    f"{shown(self._name)} cannot be read: {_reason(self._name)}."
                ) from (None if is_remote(self._name) else why)
            self._free.append(dataset)
            return found


def _reader_of(name: str, credentials: dict[str, str]) -> WindowReader:
    """The reader in another process."""
    know(credentials)
    return WindowReader(name)


def _reason(name: str) -> str:
    if is_remote(name):
        return "its server does not answer, or the file is damaged there. Next: try again"
    return "the file is damaged or truncated there. Next: fetch it again"


def _open_remote(name: str) -> Any:
    try:
        with quietly():
            return rasterio.open(gdal_name(name), driver="GTiff")
    except (RasterioError, CPLE_BaseError, ValueError, TypeError, MemoryError):
        # What GDAL says holds the address as typed, so that it is not even kept as a cause.
        raise InputError(
            f"{shown(name)} cannot be read over the network: it is not there, is no GeoTIFF, may not be read, or its "
            f"server was silent for {remote.SECONDS} s, {remote.TRIES} times. Next: check the address and its "
            "credentials, or fetch it first."
        ) from None


def _open(name: str) -> Any:
    if is_remote(name):
        return _open_remote(name)
    path = file_of(name)
    # An absolute path is never taken for a URL ("s3:a.tif" is a legal file name).
    absolute = str(path.absolute()) if str(path) == str(Path(name)) else name
    with path.open("rb") as file:
        head = file.read(512)
    if is_text(head):
        check_sources(path, name)
    if head.startswith(b"\x89PNG") and not _png_ends(path):
        raise InputError(_cannot_read(name, "PNG"))
    try:
        with quietly(), _hdf5_silenced() if head.startswith(b"\x89HDF") else nullcontext():
            return rasterio.open(absolute)
    except (RasterioError, CPLE_BaseError, ValueError, TypeError, MemoryError) as why:
        if is_text(head):
            raise InputError(
                f"{name} cannot be opened as a raster: it holds text, not pixels. Next: name a GeoTIFF or an image."
            ) from why
        raise InputError(
            f"{name} cannot be opened as a raster: unknown format or damaged file. Next: fetch it again or convert it."
        ) from why


@contextmanager
def _hdf5_silenced() -> Iterator[None]:
    """Nothing on the process's standard error: of a damaged file the HDF5 library prints its whole stack there."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed anyway
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


def _png_ends(path: Path) -> bool:
    """Whether a PNG has its last chunk; GDAL fills what is missing with zeros and says nothing."""
    with path.open("rb") as file:
        file.seek(8)
        while len(header := file.read(8)) == 8:
            if header[4:] == b"IEND":
                return True
            file.seek(int.from_bytes(header[:4], "big") + 4, os.SEEK_CUR)
    return False


def _cannot_read(name: str, driver: str) -> str:
    what = "one of the files it names is missing or damaged" if driver == "VRT" else "the file is damaged or truncated"
    return f"The pixels of {name} cannot be read: {what}. Next: fetch it again."
