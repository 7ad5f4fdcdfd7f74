"""Blocks of rows, strips and columns by which what is large is gone through."""

from __future__ import annotations

from collections.abc import Iterator

from swath.raster.tiled import PixelSet, TiledPixels

BLOCK_ROWS = 128
"""Rows handled at a time where a temporary per pixel is needed: 128 rows of 10,000 float64 are 10 MB."""


def row_blocks(rows: int, overlap: int = 0) -> Iterator[slice]:
    """Slices of `BLOCK_ROWS` rows, each reaching `overlap` rows into the next."""
    for start in range(0, max(rows - overlap, 0), BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS + overlap, rows))


def strips_of(pixels: PixelSet) -> list[slice]:
    """Slices of rows by which a set is gone through: all of an array at once, tiles row by row."""
    rows, step = pixels.shape[0], pixels.tiles[0] if isinstance(pixels, TiledPixels) else max(pixels.shape[0], 1)
    return [slice(top, min(top + step, rows)) for top in range(0, rows, step)]


def columns_of(pixels: TiledPixels) -> list[slice]:
    """Slices of columns, one for each column of tiles."""
    step, cols = pixels.tiles[1], pixels.shape[1]
    return [slice(left, min(left + step, cols)) for left in range(0, cols, step)]
