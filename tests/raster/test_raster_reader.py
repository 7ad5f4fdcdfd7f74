"""Reading pixels: formats, windows, decimation, physical values."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from rasterio.enums import Resampling

from swath.raster.info import info
from swath.raster.reader import open_raster


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"interleave": "pixel", "tiled": True, "blockxsize": 16, "blockysize": 32, "compress": "lzw", "predictor": 2},
        {"interleave": "band", "compress": "deflate"},
        {"bigtiff": "yes"},
        {"endianness": "big"},
        {"driver": "JP2OpenJPEG", "QUALITY": "100", "REVERSIBLE": "YES"},
        {"compress": "zstd"},
        {"compress": "lerc"},
        {"driver": "COG"},
        {"driver": "HFA"},
        {"driver": "ENVI"},
        {"driver": "PNG", "crs": None, "transform": None},
    ],
)
def test_lossless_formats(raster_file: Any, photo: NDArray[np.uint8], options: dict[str, Any]) -> None:
    raster = open_raster(raster_file("a.img", photo, **options))
    pixels = raster.read()
    np.testing.assert_array_equal(pixels.data.data, photo)
    assert not pixels.data.mask.any()
    assert pixels.grid == raster.grid
    assert raster.shape == (60, 80)
    assert info(raster)["valid_fraction"] == 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.tif", {"compress": "jpeg", "photometric": "ycbcr"}),
        ("b.jpg", {"driver": "JPEG"}),
        ("c.tif", {"compress": "webp"}),
    ],
)
def test_lossy_formats(raster_file: Any, name: str, options: dict[str, Any]) -> None:
    smooth = np.broadcast_to(np.linspace(20, 220, 80), (3, 60, 80)).astype(np.uint8)
    pixels = open_raster(raster_file(name, smooth, **options)).read()
    assert np.abs(pixels.data.astype(int) - smooth).max() <= 8


@pytest.mark.parametrize(
    ("dtype", "top", "options"),
    [
        ("int8", 127, {}),
        ("uint16", 4095, {"nbits": 12}),
        ("uint8", 1, {"nbits": 1}),
        ("uint8", 1, {"nbits": 1, "photometric": "miniswhite"}),
        ("uint32", 4_000_000_000, {}),
        ("int64", 2**60, {}),
        ("uint64", 2**63, {}),
        ("float32", 2048, {"nbits": 16}),
        ("float64", 1e300, {}),
    ],
)
def test_types(raster_file: Any, dtype: str, top: float, options: dict[str, Any]) -> None:
    values = np.array([[0, 1, top], [top, 0, 1]]).astype(dtype)
    raster = open_raster(raster_file("a.tif", values, **options))
    assert raster.bands[0].dtype == dtype
    np.testing.assert_array_equal(raster.read(1).data[0], values)
    assert info(raster)["dtypes"] == [dtype]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_png_modes(tmp_path: Path, photo: NDArray[np.uint8], mode: str) -> None:
    path = tmp_path / "a.png"
    image = Image.fromarray(photo.transpose(1, 2, 0))
    image = Image.fromarray(photo[0].astype(np.uint16) * 257) if mode == "I;16" else image.convert(mode)
    image.save(path)
    raster = open_raster(path)
    bands = {"LA": 2, "RGB": 3, "RGBA": 4}.get(mode, 1)
    assert len(raster.bands) == bands
    assert raster.has("alpha") == mode.endswith("A")
    assert (raster.palette() is not None) == (mode == "P")
    assert raster.valid().all()


def test_an_adobe_cmyk_jpeg_is_read_as_rgb(tmp_path: Path, photo: NDArray[np.uint8]) -> None:
    path = tmp_path / "a.jpg"
    Image.fromarray(photo.transpose(1, 2, 0)).convert("CMYK").save(path)
    assert open_raster(path).has("red", "green", "blue")


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "complex_int16"])
def test_complex_pixels_are_said_to_be_complex(raster_file: Any, photo: NDArray[np.uint8], dtype: str) -> None:
    values = (photo[0] + 1j * photo[1]).astype(np.complex128 if dtype == "complex128" else np.complex64)
    raster = open_raster(raster_file("a.tif", values, dtype=dtype))
    assert raster.complex
    assert raster.warnings == ("The pixels are complex numbers: nothing is measured from them.",)
    assert raster.read(1).data[0, 0, 0] == values[0, 0]
    facts = info(raster)
    assert (facts["complex"], facts["dtypes"], facts["valid_fraction"]) == (True, [dtype], 1)


def test_real_pixels_are_not(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    assert not open_raster(raster_file("a.tif", photo)).complex


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_window_is_a_part_of_the_whole(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "window.tif"
    if not path.exists():
        values = np.arange(2 * 37 * 53, dtype=np.int32).reshape(2, 37, 53)
        profile = {"driver": "GTiff", "count": 2, "height": 37, "width": 53, "dtype": "int32", "crs": "EPSG:32633"}
        profile |= {"tiled": True, "blockxsize": 16, "blockysize": 16, "transform": Affine(2, 0, 5e5, 0, -3, 5e6)}
        with rasterio.open(path, "w", **profile) as dataset:
            dataset.write(values)
    raster = open_raster(path)
    row, col = data.draw(st.integers(0, 36)), data.draw(st.integers(0, 52))
    rows, cols = slice(row, data.draw(st.integers(row + 1, 37))), slice(col, data.draw(st.integers(col + 1, 53)))
    part = raster.read(2, rows=rows, cols=cols)
    np.testing.assert_array_equal(part.data[0], raster.read(2).data[0, rows, cols])
    assert part.grid.shape == part.data.shape[1:]
    assert part.grid.affine @ (0, 0) == pytest.approx(raster.grid.affine @ (col, row))
    assert [band.index for band in part.bands] == [2]


@pytest.mark.parametrize(("rows", "cols"), [(slice(5, 5), None), (slice(0, 9, 2), None), (None, slice(90, 99))])
def test_an_empty_or_stepped_window(raster_file: Any, photo: NDArray[np.uint8], rows: Any, cols: Any) -> None:
    with pytest.raises(ValueError, match="an empty or stepped window"):
        open_raster(raster_file("a.tif", photo)).read(1, rows=rows, cols=cols)


@pytest.mark.parametrize("index", [0, 4, -1])
def test_a_band_that_is_not_there(raster_file: Any, photo: NDArray[np.uint8], index: int) -> None:
    with pytest.raises(ValueError, match="of a raster whose bands are 1 to 3"):
        open_raster(raster_file("a.tif", photo)).read(index)


def test_scale_and_offset_are_applied_on_request(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    stored = photo[:2].astype(np.int16)
    stored[0, 0, 0] = -1
    path = raster_file("a.tif", stored, nodata=-1, scales=(0.0001, 1.0), offsets=(-0.1, 0.0))
    pixels = open_raster(path).read()
    np.testing.assert_array_equal(pixels.data.data, stored)
    np.testing.assert_allclose(pixels.physical.data[0], stored[0] * 0.0001 - 0.1)
    np.testing.assert_allclose(pixels.physical.data[1], stored[1])
    np.testing.assert_array_equal(pixels.physical.mask, pixels.data.mask)
    assert pixels.data.mask.sum() == 1
    assert info(open_raster(path))["scales"] == [0.0001, 1.0]


def test_values_without_scale_stay_as_stored(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    assert open_raster(raster_file("a.tif", photo)).read().physical.dtype == np.uint8


def test_a_scale_of_zero_is_not_believed(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo[0], scales=(0.0,), offsets=(5.0,)))
    assert raster.warnings == ("Band 1 states a scale of 0, which would make every value the same; 1 is used.",)
    np.testing.assert_array_equal(raster.read().physical[0], photo[0] + 5.0)


def test_decimation_covers_the_same_ground(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo))
    small = raster.decimated(20, 1)
    assert small.data.shape == (1, 15, 20)
    np.testing.assert_allclose(small.data[0], photo[0].reshape(15, 4, 20, 4).mean(axis=(1, 3)), atol=0.51)
    assert small.grid.affine @ (20, 15) == pytest.approx(raster.grid.affine @ (80, 60))
    assert raster.decimated(None, 1).data.shape == (1, 60, 80)
    assert raster.decimated(1000, 1).data.shape == (1, 60, 80)


def test_nodata_does_not_bleed_into_a_decimated_image(raster_file: Any) -> None:
    values = np.full((60, 80), 100, dtype=np.int16)
    values[:, 40:] = -9999
    small = open_raster(raster_file("a.tif", values, nodata=-9999)).decimated(16)
    assert set(small.data.compressed()) == {100}
    assert small.data.count() == 12 * 8


def test_decimation_uses_overviews(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = raster_file("a.tif", photo)
    with rasterio.open(path, "r+") as dataset:
        dataset.build_overviews([2], Resampling.nearest)
    raster = open_raster(path)
    np.testing.assert_array_equal(raster.decimated(40, 1, average=False).data[0], photo[0, ::2, ::2])
    assert info(raster)["overviews"] == [2]


def test_the_fingerprint_is_of_the_files_bytes(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = raster_file("a.tif", photo)
    assert open_raster(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
