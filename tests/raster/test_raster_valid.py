"""Which pixels count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rasterio.enums import ColorInterp

from swath.errors import InputError
from swath.raster import valid as valid_module
from swath.raster.info import info
from swath.raster.reader import open_raster

GRAY_ALPHA = (ColorInterp.gray, ColorInterp.alpha)
RGBA = (ColorInterp.red, ColorInterp.green, ColorInterp.blue, ColorInterp.alpha)


def corner(shape: tuple[int, int] = (60, 80)) -> NDArray[np.bool_]:
    """True but for the first 10 rows and 20 columns together."""
    known = np.ones(shape, dtype=bool)
    known[:10, :20] = False
    return known


def test_without_any_declaration_all_pixels_count(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo))
    assert raster.valid().all()
    assert raster.valid().shape == raster.shape
    with pytest.raises(ValueError, match="read-only"):
        raster.valid()[0, 0] = False


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint32", "int64", "float32", "float64"])
def test_nodata(raster_file: Any, photo: NDArray[np.uint8], dtype: str) -> None:
    values = (photo[0] // 2).astype(dtype)
    values[~corner()] = 0
    raster = open_raster(raster_file("a.tif", np.maximum(values, corner()), nodata=0))
    np.testing.assert_array_equal(raster.valid(), corner())


def test_a_pixel_counts_if_any_band_does(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    photo[0, ~corner()] = 0
    photo[:, 50:] = 0
    raster = open_raster(raster_file("a.tif", photo, nodata=0))
    assert raster.valid()[:50].all()
    assert not raster.valid()[50:].any()
    np.testing.assert_array_equal(~raster.read(1).data.mask[0, :50], corner()[:50])


def test_each_band_has_its_own_nodata(tmp_path: Path, raster_file: Any) -> None:
    raster_file("two.tif", np.array([[[1, 2, 1]], [[1, 1, 2]]], dtype=np.uint8))
    band = (
        '<VRTRasterBand dataType="Byte" band="{0}"><NoDataValue>{0}</NoDataValue><SimpleSource><SourceFilename '
        'relativeToVRT="1">two.tif</SourceFilename><SourceBand>{0}</SourceBand></SimpleSource></VRTRasterBand>'
    )
    text = f'<VRTDataset rasterXSize="3" rasterYSize="1">{band.format(1)}{band.format(2)}</VRTDataset>'
    (tmp_path / "a.vrt").write_text(text, encoding="utf-8")
    raster = open_raster(tmp_path / "a.vrt")
    assert [band.nodata for band in raster.bands] == [1, 2]
    assert raster.valid().tolist() == [[True, True, False]]
    assert raster.read().data.mask.tolist() == [[[True, False, True]], [[False, False, True]]]


def test_a_mask_band(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo, mask=corner()))
    np.testing.assert_array_equal(raster.valid(), corner())
    np.testing.assert_array_equal(~raster.read(2).data.mask[0], corner())


def test_alpha(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    four = np.concatenate([photo, corner()[None] * np.uint8(255)])
    raster = open_raster(raster_file("a.tif", four, photometric="rgb", colorinterp=RGBA))
    np.testing.assert_array_equal(raster.valid(), corner())
    assert [band.index for band in raster.data_bands] == [1, 2, 3]


def test_an_alpha_band_of_a_type_that_gdal_ignores(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    two = np.stack([photo[0].astype(np.int16), corner() * np.int16(255)])
    raster = open_raster(raster_file("a.tif", two, colorinterp=GRAY_ALPHA, alpha="yes"))
    assert raster.bands[1].role == "alpha"
    np.testing.assert_array_equal(raster.valid(), corner())
    facts = info(raster)
    assert facts["valid_fraction"] == 1
    assert facts["measured_fraction"] == pytest.approx(corner().mean())


def test_alpha_beside_nodata_counts_where_both_do(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    photo[:, -1] = 0
    four = np.concatenate([photo, corner()[None] * np.uint8(255)])
    raster = open_raster(raster_file("a.tif", four, photometric="rgb", colorinterp=RGBA, nodata=0))
    assert raster.warnings == ("The file has both an alpha band and nodata: pixels count where both say so.",)
    both = corner()
    both[-1] = False
    np.testing.assert_array_equal(raster.valid(), both)
    assert raster.read(1).data.mask[0, -1].all()


def test_nan_and_infinity_never_count(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    values = photo[0].astype(np.float32)
    values[0, 0], values[0, 1], values[0, 2] = np.nan, np.inf, -np.inf
    raster = open_raster(raster_file("a.tif", values))
    assert np.argwhere(~raster.valid()).tolist() == [[0, 0], [0, 1], [0, 2]]
    assert raster.read().data.mask.sum() == 3
    facts = info(raster)
    assert facts["valid_fraction"] == 1
    assert facts["measured_fraction"] == 1 - 3 / 4800
    wanted = "0.0625 % of the pixels are declared valid but are NaN, infinite or transparent; they are not measured."
    assert facts["warnings"] == [wanted]


def test_nan_in_one_band_leaves_the_pixel_to_the_others(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    values = photo[:2].astype(np.float64)
    values[0, 0], values[1, 0, :40] = np.nan, np.nan
    assert open_raster(raster_file("a.tif", values)).valid().sum() == 4800 - 40


def test_nan_as_nodata(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    values = np.where(corner(), photo[0], np.nan).astype(np.float32)
    raster = open_raster(raster_file("a.tif", values, nodata=float("nan")))
    np.testing.assert_array_equal(raster.valid(), corner())
    facts = info(raster)
    assert facts["nodata"] == ["nan"]
    assert facts["valid_fraction"] == pytest.approx(corner().mean())


def test_a_float_nodata_that_is_not_exact(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    values = np.where(corner(), photo[0], np.float32(-3.4e38)).astype(np.float32)
    raster = open_raster(raster_file("a.tif", values, nodata=-3.4e38))
    np.testing.assert_array_equal(raster.valid(), corner())


def test_a_transparent_colour(tmp_path: Path, raster_file: Any) -> None:
    raster_file("classes.tif", np.array([[0, 1, 2]], dtype=np.uint8))
    colours = '<Entry c1="0" c2="0" c3="0" c4="0"/><Entry c1="1" c2="2" c3="3" c4="255"/><Entry c1="9" c4="0"/>'
    text = (
        '<VRTDataset rasterXSize="3" rasterYSize="1"><VRTRasterBand dataType="Byte" band="1"><ColorInterp>Palette'
        f'</ColorInterp><ColorTable>{colours}</ColorTable><SimpleSource><SourceFilename relativeToVRT="1">classes.tif'
        "</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>"
    )
    (tmp_path / "a.vrt").write_text(text, encoding="utf-8")
    assert open_raster(tmp_path / "a.vrt").valid().tolist() == [[False, True, False]]


@given(st.integers(1, 400), st.integers(1, 2000))
@settings(max_examples=15, deadline=None)
def test_windows_merged_are_the_whole(tmp_path_factory: pytest.TempPathFactory, window_px: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 3, (2, 37, 53)).astype(np.float32)
    values[values == 2] = np.nan
    path = tmp_path_factory.mktemp("windows") / "a.tif"
    profile = {"driver": "GTiff", "count": 2, "height": 37, "width": 53, "dtype": "float32", "nodata": 0}
    profile |= {"tiled": True, "blockxsize": 16, "blockysize": 16, "transform": rasterio.Affine(1, 0, 1, 0, -1, 1)}
    with rasterio.open(path, "w", **profile) as dataset:
        dataset.write(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(valid_module, "WINDOW_PX", window_px)
        valid = open_raster(path).valid()
    np.testing.assert_array_equal(valid, (values == 1).any(axis=0))


def test_too_many_pixels_are_refused_before_memory_runs_out(
    raster_file: Any, photo: NDArray[np.uint8], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valid_module, "MAX_PX", 4000)
    raster = open_raster(raster_file("a.tif", photo))
    with pytest.raises(InputError, match="has 60 x 80 pixels, too many to measure at once. Next: cut out a part of it"):
        raster.valid()


def test_a_large_image_is_tried_at_its_corners(
    raster_file: Any, photo: NDArray[np.uint8], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = raster_file("a.tif", photo, interleave="band")
    monkeypatch.setattr(valid_module, "READ_WHOLE_SAMPLES", 100)
    assert open_raster(path).valid().all()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="damaged or truncated"):
        open_raster(path).valid()


@pytest.mark.parametrize("content", [b"II*\0garbage", b"of another size"])
def test_a_mask_file_that_hides_nothing_is_a_warning(
    raster_file: Any, photo: NDArray[np.uint8], content: bytes, tmp_path: Path
) -> None:
    path, beside = raster_file("a.tif", photo), tmp_path / "a.tif.msk"
    if content == b"of another size":
        raster_file("small.tif", photo[:9, :7]).rename(beside)
    else:
        beside.write_bytes(content)
    raster = open_raster(path)
    assert raster.valid().all()
    assert raster.warnings == (
        "The mask a.tif.msk beside the image is damaged or of another size: it hides no pixels.",
    )


def test_a_mask_file_that_is_used_is_none(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False):
        path = raster_file("a.tif", photo, mask=photo > photo.mean())
    assert path.with_name("a.tif.msk").exists()
    assert open_raster(path).warnings == ()
