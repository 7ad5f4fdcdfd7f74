"""Writing masks and arrays as tiled, compressed GeoTIFFs on a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from swath.raster.source import gdal_environment, quietly
from swath.raster.tiled import PixelSet, TiledPixels
from swath.trace.wording import harmless

BLOCK_PX = 256
BIGTIFF_ABOVE_PX = 2**30

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
        _write_tiles(path, pixels.tiled_parts(), grid, nbits=1)
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
    if isinstance(codes, np.ndarray):
        write_array(path, codes, grid)
    else:
        _write_tiles(path, codes, grid)
    categories = "".join(f"<Category>{escape(harmless(name))}</Category>" for name in names)
    band = f'<PAMRasterBand band="1"><CategoryNames>{categories}</CategoryNames></PAMRasterBand>'
    file = Path(path).absolute()
    try:
        with gdal_environment(), quietly(), rasterio.open(file, "r+") as dataset:
            dataset.write_colormap(1, dict(enumerate(colours)))
        Path(f"{file}.aux.xml").write_text(f"<PAMDataset>{band}</PAMDataset>\n", encoding="utf-8")
    except (RasterioError, OSError) as why:
        raise InputError(f"{path} cannot be written. Next: check the folder and its free space.") from why


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
    with _written(path, grid, stack.shape[0], stack.dtype.name, nbits=nbits, nodata=nodata) as dataset:
        dataset.write(stack)
        for index, text in enumerate(descriptions or (), start=1):
            dataset.set_band_description(index, text)


def _write_tiles(path: Path | str, parts: Iterable[Part], grid: Grid, nbits: int | None = None) -> None:
    """Write one band of bytes from some of its windows; what none of them covers is 0 and takes no room."""
    with _written(path, grid, 1, "uint8", nbits=nbits, sparse_ok=True, num_threads="all_cpus") as dataset:
        for rows, cols, values in parts:
            dataset.write(values.astype(np.uint8, copy=False), 1, window=Window.from_slices(rows, cols))


@contextmanager
def _written(path: Path | str, grid: Grid, count: int, dtype: str, nbits: int | None, **more: Any) -> Iterator[Any]:
    """A tiled, deflated GeoTIFF on a grid, open for writing.

    Raises:
        InputError: it cannot be written.
    """
    profile: dict[str, Any] = {
        "driver": "GTiff",
        "count": count,
        "height": grid.shape[0],
        "width": grid.shape[1],
        "dtype": dtype,
        "transform": grid.affine,
        "crs": None if grid.crs is None else grid.crs.to_wkt(),
        "tiled": True,
        "blockxsize": BLOCK_PX,
        "blockysize": BLOCK_PX,
        "compress": "deflate",
        "bigtiff": "yes" if count * grid.shape[0] * grid.shape[1] > BIGTIFF_ABOVE_PX else "no",
        **({} if nbits is None else {"nbits": nbits}),
        **more,
    }
    try:
        with gdal_environment(), quietly(), rasterio.open(Path(path).absolute(), "w", **profile) as dataset:
            yield dataset
    except (RasterioError, OSError) as why:
        raise InputError(f"{path} cannot be written. Next: check the folder and its free space.") from why
