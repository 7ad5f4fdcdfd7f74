"""Writing masks and arrays as tiled, compressed GeoTIFFs on a grid.

GDAL says nothing of a disk that is full, so that what was written is read again. A file has its name once it is whole.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio.errors import RasterioError
from rasterio.windows import Window

from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.room import let_go
from swath.raster.source import gdal_environment, quietly
from swath.raster.tiled import PixelSet, TiledPixels
from swath.trace.wording import harmless

BLOCK_PX = 256
BIGTIFF_ABOVE_PX = 2**30
STRIP_ROWS = 4 * BLOCK_PX

Part = tuple[slice, slice, NDArray[Any]]
"""Rows and columns of a window, and its values."""


def write_mask(path: Path | str, pixels: PixelSet, grid: Grid) -> None:
    """Write a class mask as a one-bit GeoTIFF, 0 or 1, without nodata.

    Args:
        path: file to write; replaced where it exists.
        pixels: (rows, columns) bool; tiles without a pixel take no room.
        grid: where the pixels lie; its shape is that of `pixels`.

    Raises:
        InputError: the file cannot be written.
    """
    if isinstance(pixels, TiledPixels):
        with _file(path) as file:
            _write(file, _stacked(pixels.tiled_parts()), grid, nbits=1, sparse_ok=True)
    else:
        write_array(path, pixels, grid, nbits=1)


def write_classes(
    path: Path | str,
    codes: NDArray[np.uint8] | Iterable[Part],
    grid: Grid,
    names: Sequence[str],
    colours: Sequence[tuple[int, int, int]],
) -> None:
    """Write a map of classes with its colours; the names go beside it, where GDAL and GIS programs look for them.

    Args:
        path: GeoTIFF to write; `path`.aux.xml holds the names.
        codes: (rows, columns), each an index into `names` and `colours`; or the windows that are not all 0, with their
            rows and columns.
        grid: where the pixels lie.
        names: of the codes from 0 on; an empty one for what is no class.
        colours: red, green, blue of the codes from 0 on.

    Raises:
        InputError: a file cannot be written.
    """
    categories = "".join(f"<Category>{escape(harmless(name))}</Category>" for name in names)
    band = f'<PAMRasterBand band="1"><CategoryNames>{categories}</CategoryNames></PAMRasterBand>'
    in_tiles = not isinstance(codes, np.ndarray)
    parts = _stacked(codes) if in_tiles else _strips(np.asarray(codes)[None])
    with _file(path) as file:
        _write(file, parts, grid, sparse_ok=in_tiles, colours=dict(enumerate(colours)))
        beside = file.with_name(f"{file.name}.aux.xml")  # GDAL puts there what a GeoTIFF has no room for
        known = beside.read_text(encoding="utf-8") if beside.exists() else "<PAMDataset></PAMDataset>\n"
        beside.write_text(known.replace("</PAMDataset>", f"{band}</PAMDataset>"), encoding="utf-8")


def write_array(
    path: Path | str,
    array: NDArray[Any],
    grid: Grid,
    *,
    nodata: float | None = None,
    descriptions: Sequence[str] | None = None,
    nbits: int | None = None,
) -> None:
    """Write an array as a tiled, deflated GeoTIFF.

    Args:
        path: file to write; replaced where it exists.
        array: (band, y, x) or (y, x); bool becomes 0 and 1.
        grid: where the pixels lie.
        nodata: value that means "no data".
        descriptions: one name per band.
        nbits: bits per sample where fewer than the type's.

    Raises:
        InputError: the file cannot be written.
        ValueError: the array's shape is not the grid's.
    """
    stack = array[None] if array.ndim == 2 else array
    if stack.dtype == bool:
        stack = stack.astype(np.uint8)
    if stack.shape[1:] != grid.shape:
        raise ValueError(f"an array of {stack.shape[1:]} pixels does not fit a grid of {grid.shape}")
    with _file(path) as file:
        _write(file, _strips(stack), grid, stack.shape[0], stack.dtype.name, nbits, nodata, descriptions or ())


def _strips(stack: NDArray[Any]) -> Iterator[Part]:
    """An array of bands, some rows at a time."""
    for top in range(0, stack.shape[1], STRIP_ROWS):
        rows = slice(top, min(top + STRIP_ROWS, stack.shape[1]))
        yield rows, slice(0, stack.shape[2]), stack[:, rows]
        let_go(stack)


def _stacked(parts: Iterable[Part]) -> Iterator[Part]:
    """Windows of one band of bytes."""
    for rows, cols, values in parts:
        yield rows, cols, values[None].astype(np.uint8, copy=False)


def _write(
    file: Path,
    parts: Iterable[Part],
    grid: Grid,
    count: int = 1,
    dtype: str = "uint8",
    nbits: int | None = None,
    nodata: float | None = None,
    descriptions: Sequence[str] = (),
    colours: Mapping[int, tuple[int, int, int]] | None = None,
    *,
    sparse_ok: bool = False,
) -> None:
    """Write windows of (band, y, x) and read them again; what none covers is 0, and takes no room where `sparse_ok`."""
    profile: dict[str, Any] = {
        "driver": "GTiff",
        "count": count,
        "height": grid.shape[0],
        "width": grid.shape[1],
        "dtype": dtype,
        "transform": grid.affine,
        "crs": None if grid.crs is None else grid.crs.to_wkt(),
        "nodata": nodata,
        "tiled": True,
        "blockxsize": BLOCK_PX,
        "blockysize": BLOCK_PX,
        "compress": "deflate",
        "bigtiff": "yes" if count * grid.shape[0] * grid.shape[1] > BIGTIFF_ABOVE_PX else "no",
        "sparse_ok": sparse_ok,
        "num_threads": "all_cpus",
        **({} if nbits is None else {"nbits": nbits}),
    }
    written: list[tuple[Window, int]] = []
    with gdal_environment(), quietly():
        with rasterio.open(file, "w", **profile) as dataset:
            if colours is not None:
                dataset.write_colormap(1, colours)
            for index, text in enumerate(descriptions, start=1):
                dataset.set_band_description(index, text)
            for rows, cols, values in parts:
                window = Window.from_slices(rows, cols)
                dataset.write(values, window=window)
                written.append((window, _checksum(values)))
        with rasterio.open(file) as dataset:
            if any(_checksum(dataset.read(window=window)) != checksum for window, checksum in written):
                raise RasterioError("what is read is not what was written")


def _checksum(values: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(values).data)


@contextmanager
def _file(path: Path | str) -> Iterator[Path]:
    """A file of this name in a hidden folder, from where it and those beside it go into place once they are whole.

    Raises:
        InputError: it cannot be written; nothing is left of it.
    """
    file = Path(path).resolve()
    try:
        with tempfile.TemporaryDirectory(prefix=".", suffix=".partial", dir=file.parent) as partial:
            yield Path(partial, file.name)
            for made in sorted(Path(partial).iterdir(), key=lambda made: made.name == file.name):
                made.replace(file.with_name(made.name))
    except (RasterioError, OSError) as why:
        raise InputError(f"{path} cannot be written. Next: check the folder and its free space.") from why
