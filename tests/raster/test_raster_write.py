"""Writing: what was written is what is read back, and what cannot be written is said."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Iterator
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
from swath.raster.held import Tiles
from swath.raster.reader import open_raster
from swath.raster.tiled import tiled
from swath.raster.write import Part, write_array, write_classes, write_mask

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


OBLIQUE = "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +R=6371229 +no_defs"
"""A rotated pole, for which GeoTIFF has no keys: GDAL writes it beside the file."""


def test_names_stand_beside_a_crs_that_geotiff_has_no_keys_for(tmp_path: Path) -> None:
    codes, grid = np.eye(4, 5, dtype=np.uint8), grid_of((4, 5), OBLIQUE, Affine(0.1, 0, 1, 0, -0.1, 2))
    write_classes(tmp_path / "c.tif", codes, grid, ["", "lake & sea"], [(0, 0, 0), (1, 2, 3)])
    back = open_raster(tmp_path / "c.tif")
    assert back.categories() == {1: "lake & sea"}
    assert back.grid.crs is not None
    assert "Rotated_pole" in back.grid.crs.to_wkt() or "ob_tran" in back.grid.crs.to_wkt()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tif", "c.tif.aux.xml"]


NOISE = np.random.default_rng(2).integers(0, 2, (1500, 1500)).astype(np.uint8)
"""281 kB by any compression."""


def tiles_of_noise() -> Iterator[Part]:
    for top in range(0, 1500, 500):
        yield slice(top, top + 500), slice(0, 1500), NOISE[top : top + 500]


WRITERS: dict[str, Callable[[Path, Grid], None]] = {
    "mask": lambda path, grid: write_mask(path, NOISE > 0, grid),
    "mask in tiles": lambda path, grid: write_mask(
        path, tiled(NOISE.shape, Tiles(0, (512, 700)), lambda rows, cols: NOISE[rows, cols] > 0), grid
    ),
    "array": lambda path, grid: write_array(path, NOISE.astype(np.float32), grid),
    "classes": lambda path, grid: write_classes(path, NOISE, grid, ["", "x"], [(0, 0, 0), (1, 2, 3)]),
    "classes in tiles": lambda path, grid: write_classes(
        path, tiles_of_noise(), grid, ["", "x"], [(0, 0, 0), (1, 2, 3)]
    ),
}


@pytest.fixture(params=["a disk that is full", "a file that may not grow"])
def little_room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder where a file of 281 kB cannot be written."""
    if request.param == "a file that may not grow":
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
        yield tmp_path
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(tmp_path)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may make a disk of 200 kB here")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_said_and_nothing_is_left_half_written(little_room: Path, name: str) -> None:
    path = little_room / "out.tif"
    path.write_bytes(b"of an earlier run")
    with pytest.raises(InputError) as caught:
        WRITERS[name](path, grid_of((1500, 1500)))
    assert str(caught.value) == f"{path} cannot be written. Next: check the folder and its free space."
    assert [left.name for left in little_room.iterdir()] == ["out.tif"]
    assert path.read_bytes() == b"of an earlier run"


@pytest.mark.parametrize("name", WRITERS)
def test_with_room_enough_the_same_is_written(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / "out.tif", grid_of((1500, 1500)))
    np.testing.assert_array_equal(open_raster(tmp_path / "out.tif").read(1).data[0], NOISE)


def test_nothing_is_left_where_the_pixels_cannot_be_found(tmp_path: Path) -> None:
    def damaged(rows: slice, cols: slice) -> bool:
        if rows.start:
            raise InputError("Rows 512 to 1023 of a.tif cannot be read")
        return True

    with pytest.raises(InputError, match="Rows 512 to 1023"):
        write_mask(tmp_path / "m.tif", tiled((1500, 600), Tiles(0, (512, 700)), damaged), grid_of((1500, 600)))
    assert list(tmp_path.iterdir()) == []
