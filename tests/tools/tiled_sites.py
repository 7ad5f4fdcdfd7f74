"""The same site as arrays and in tiles, and pictures that are hard to cut into tiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from measured_sites import blobs, disc
from numpy.typing import NDArray

from swath.raster.held import Tiles
from swath.raster.stretches import Stretches
from swath.raster.tiled import PixelSet, TiledPixels, everywhere, tiled
from swath.segment.protocol import Segmentation
from swath.tools.labelling import value_runs
from swath.tools.site import Site

BoolImage = NDArray[np.bool_]
TILES = ((7, 11), (16, 16), (7, 200), (100, 11), (1, 1000), (64, 3))


def in_tiles(pixels: BoolImage, tiles: tuple[int, int], *, runs: bool = False) -> TiledPixels:
    """An array as tiles; whoever wants all of it at once is refused.

    Args:
        pixels: the array.
        tiles: rows and columns of a tile.
        runs: whether the set knows its runs without its pixels, as those of class rasters do.
    """
    nothing = tiled(pixels.shape, Tiles(0, tiles), lambda rows, cols: False)

    def runs_of(rows: slice) -> Stretches:
        return Stretches(*value_runs(pixels[rows], rows.start))

    return nothing.derived(lambda rows, cols: pixels[rows, cols].copy(), runs_of if runs else None)


def as_array(pixels: PixelSet) -> BoolImage:
    return pixels.window(slice(0, pixels.shape[0]), slice(0, pixels.shape[1])) if isinstance(
        pixels, TiledPixels
    ) else pixels  # fmt: skip


class TiledBackend:
    """Another source of classes, whose masks are held in tiles."""

    def __init__(self, backend: Any, tiles: tuple[int, int], runs: bool) -> None:
        self._backend, self._tiles, self._runs, self.name = backend, tiles, runs, backend.name

    def classes(self) -> tuple[str, ...]:
        return tuple(self._backend.classes())

    def known(self) -> None:
        return None

    def segment(self, class_name: str) -> Segmentation:
        found = self._backend.segment(class_name)
        return replace(found, mask=in_tiles(found.mask, self._tiles, runs=self._runs))

    def describe(self) -> dict[str, Any]:
        return dict(self._backend.describe())


def tiled_site(site: Site, tiles: tuple[int, int], *, runs: bool = False) -> Site:
    """A site of arrays, held in tiles instead; `runs`: whether its classes know their runs."""
    raster = replace(site.raster, tiles=Tiles(0, tiles))
    return replace(
        site,
        raster=raster,
        backend=TiledBackend(site.backend, tiles, runs),
        valid=_everywhere_or(np.asarray(site.valid), tiles),
        _segmentations={},
        _masks={},
        _derived={},
        _distances={},
    )


def _everywhere_or(valid: BoolImage, tiles: tuple[int, int]) -> TiledPixels:
    """A set of which it is known at once where it holds all pixels."""
    return everywhere(valid.shape, Tiles(0, tiles)) if valid.all() else in_tiles(valid, tiles)


def spiral(shape: tuple[int, int]) -> BoolImage:
    """One region one pixel wide that winds through all tiles."""
    image = np.zeros(shape, dtype=bool)
    top, left, bottom, right = 0, 0, shape[0] - 1, shape[1] - 1
    while top <= bottom and left <= right:
        image[top, left : right + 1] = True
        image[top : bottom + 1, right] = True
        image[bottom, left : right + 1] = True
        image[top + 2 : bottom + 1, left] = True
        if left + 1 <= right and top + 2 <= bottom:
            image[top + 2, left + 1] = True
        top, left, bottom, right = top + 2, left + 2, bottom - 2, right - 2
    return image


def comb(shape: tuple[int, int]) -> BoolImage:
    """Teeth that only the lowest row joins."""
    image = np.zeros(shape, dtype=bool)
    image[:, ::2] = True
    image[-1] = True
    return image


def bridges(shape: tuple[int, int]) -> BoolImage:
    """Discs, some of which a single pixel joins."""
    image = disc(shape, 15, 15, 9) | disc(shape, 15, 35, 9) | disc(shape, 40, 60, 12)
    image[15, 24:27] = True
    return image


def corners(shape: tuple[int, int]) -> BoolImage:
    """Squares that meet at single corners, wherever tiles of 7 x 11 or 16 x 16 pixels do."""
    rows, cols = np.indices(shape)
    return ((rows // 7 + cols // 11) % 2 == 0) & (rows < shape[0] // 2) | (
        (rows // 16 + cols // 16) % 2 == 0
    ) & (rows > shape[0] // 2)  # fmt: skip


PICTURES = {
    "blobs": lambda shape, seed: blobs(shape, seed=seed),
    "dense": lambda shape, seed: blobs(shape, seed=seed, share=0.7),
    "noise": lambda shape, seed: np.random.default_rng(seed).random(shape) < 0.4,
    "specks": lambda shape, seed: np.random.default_rng(seed).random(shape) < 0.004,
    "spiral": lambda shape, seed: spiral(shape),
    "comb": lambda shape, seed: comb(shape),
    "bridges": lambda shape, seed: bridges(shape),
    "corners": lambda shape, seed: corners(shape),
    "nothing": lambda shape, seed: np.zeros(shape, dtype=bool),
    "everything": lambda shape, seed: np.ones(shape, dtype=bool),
}
