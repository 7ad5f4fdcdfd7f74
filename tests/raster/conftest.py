"""Rasters written by code for the tests of this room."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from numpy.typing import NDArray
from rasterio.enums import ColorInterp

RasterFile = Callable[..., Path]

UTM_10_M = Affine(10, 0, 500_000, 0, -10, 5_000_000)


@pytest.fixture
def raster_file(tmp_path: Path) -> RasterFile:
    """Writes a raster with rasterio itself, so that the code under test is not its own witness."""

    def write(
        name: str,
        array: NDArray[Any],
        *,
        crs: Any = "EPSG:32633",
        transform: Affine | None = UTM_10_M,
        descriptions: Sequence[str] = (),
        colorinterp: Sequence[ColorInterp] = (),
        tags: dict[str, str] | None = None,
        colormap: dict[int, tuple[int, ...]] | None = None,
        scales: Sequence[float] = (),
        offsets: Sequence[float] = (),
        mask: NDArray[np.bool_] | None = None,
        **profile: Any,
    ) -> Path:
        stack = array[None] if array.ndim == 2 else array
        count, height, width = stack.shape
        profile = {"driver": "GTiff", "dtype": stack.dtype.name, "crs": crs, "transform": transform} | profile
        path = tmp_path / name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with rasterio.open(path, "w", count=count, height=height, width=width, **profile) as dataset:
                if colorinterp:
                    dataset.colorinterp = colorinterp
                dataset.write(stack)
                if tags:
                    dataset.update_tags(**tags)
                for index, text in enumerate(descriptions, start=1):
                    dataset.set_band_description(index, text)
                if colormap:
                    dataset.write_colormap(1, colormap)
                if scales:
                    dataset.scales = scales
                if offsets:
                    dataset.offsets = offsets
                if mask is not None:
                    dataset.write_mask(mask)
        return path

    return write


@pytest.fixture
def photo() -> NDArray[np.uint8]:
    """(3, 60, 80) uint8 noise without zeros."""
    return np.random.default_rng(7).integers(1, 255, (3, 60, 80), dtype=np.uint8)
