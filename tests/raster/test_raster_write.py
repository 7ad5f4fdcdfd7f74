"""Writing: what was written is what is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import rasterio
from affine import Affine
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays

from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.write import write_array, write_mask

ROTATED = Affine.translation(500_000, 5_000_000) @ Affine.rotation(30) @ Affine.scale(0.5, 0.7)


def grid_of(shape: tuple[int, int], crs: Any = 32633, affine: Affine = ROTATED) -> Grid:
    return Grid(affine, shape, None if crs is None else pyproj.CRS.from_user_input(crs))


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=300)))
@settings(max_examples=30, deadline=None)
def test_a_mask_comes_back_identical(tmp_path_factory: pytest.TempPathFactory, pixels: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "mask.tif"
    grid = grid_of(pixels.shape)
    write_mask(path, pixels, grid)
    raster = open_raster(path)
    np.testing.assert_array_equal(raster.read(1).data[0] == 1, pixels)
    assert raster.valid().all()
    assert raster.grid == grid


def test_a_mask_is_one_bit_tiled_and_compressed(tmp_path: Path) -> None:
    pixels = np.zeros((3000, 3000), dtype=bool)
    pixels[::7] = True
    write_mask(tmp_path / "mask.tif", pixels, grid_of(pixels.shape))
    assert (tmp_path / "mask.tif").stat().st_size < pixels.size / 8 / 10
    with rasterio.open(tmp_path / "mask.tif") as dataset:
        assert dataset.block_shapes == [(256, 256)]
        assert dataset.compression.name == "deflate"
        assert dataset.tags(1, ns="IMAGE_STRUCTURE")["NBITS"] == "1"


def test_a_mask_without_crs_stays_without(tmp_path: Path) -> None:
    grid = grid_of((4, 5), crs=None, affine=Affine.identity())
    write_mask(tmp_path / "mask.tif", np.eye(4, 5, dtype=bool), grid)
    raster = open_raster(tmp_path / "mask.tif")
    assert (raster.grid.crs, raster.grid.affine) == (None, Affine.identity())


@pytest.mark.parametrize("crs", [32633, 4326, 2263, 7415, 3857, "+proj=longlat +R=1737400 +no_defs"])
def test_crs_come_back(tmp_path: Path, crs: Any) -> None:
    affine = Affine(0.001, 0, 10, 0, -0.001, 20)
    write_mask(tmp_path / "mask.tif", np.ones((4, 5), dtype=bool), grid_of((4, 5), crs, affine))
    back = open_raster(tmp_path / "mask.tif").grid
    assert back.crs is not None
    assert back.affine == affine
    known = grid_of((4, 5), crs, affine)
    assert back.ground is not None
    assert known.ground is not None
    assert back.ground.size_xy_m == pytest.approx(known.ground.size_xy_m, rel=1e-9)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "float32", "float64", "bool"])
def test_arrays_come_back(tmp_path: Path, dtype: str) -> None:
    values = np.random.default_rng(1).integers(0, 2, (3, 30, 40)).astype(dtype)
    write_array(tmp_path / "a.tif", values, grid_of((30, 40)), nodata=0, descriptions=["red", "green", "nir"])
    raster = open_raster(tmp_path / "a.tif")
    np.testing.assert_array_equal(raster.read().data.data, values)
    assert [band.role for band in raster.bands] == ["red", "green", "nir"]
    assert [band.nodata for band in raster.bands] == [0, 0, 0]


def test_an_array_that_does_not_fit_the_grid(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"an array of \(4, 4\) pixels does not fit a grid of \(4, 5\)"):
        write_array(tmp_path / "a.tif", np.zeros((4, 4)), grid_of((4, 5)))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none" / "mask.tif"
    with pytest.raises(InputError) as caught:
        write_mask(path, np.ones((4, 5), dtype=bool), grid_of((4, 5)))
    assert str(caught.value) == f"{path} cannot be written. Next: check the folder and its free space."
