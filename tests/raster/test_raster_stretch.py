"""Pictures: one stretch for the whole image, which nodata never drives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rasterio.enums import ColorInterp

from swath.raster.reader import open_raster
from swath.raster.stretch import Stretch, apply_stretch, display, global_stretch

RGB = (ColorInterp.red, ColorInterp.green, ColorInterp.blue)


@pytest.fixture
def ramp() -> NDArray[np.uint16]:
    return np.arange(100 * 101, dtype=np.uint16).reshape(100, 101) + np.uint16(1000)


def test_8_bit_rgb_is_shown_as_it_is(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    picture, stretch = display(open_raster(raster_file("a.tif", photo, photometric="rgb")))
    np.testing.assert_array_equal(picture, photo.transpose(1, 2, 0))
    assert stretch == Stretch((1, 2, 3), (), (), "8-bit values as they are")


def test_roles_choose_the_bands(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo), bands={"blue": 1, "green": 2, "red": 3})
    picture, stretch = display(raster)
    np.testing.assert_array_equal(picture, photo[::-1].transpose(1, 2, 0))
    assert stretch.bands == (3, 2, 1)


def test_16_bit_values_are_stretched_between_percentiles(raster_file: Any, ramp: NDArray[np.uint16]) -> None:
    picture, stretch = display(open_raster(raster_file("a.tif", ramp)))
    low, high = np.percentile(ramp, [2, 98])
    assert (stretch.low, stretch.high) == ((low,) * 3, (high,) * 3)
    assert stretch.method == "2 to 98 percentile of the valid pixels"
    wanted = np.rint(np.clip((ramp - low) / (high - low), 0, 1) * 255)
    np.testing.assert_array_equal(picture, np.repeat(wanted[..., None], 3, axis=2))


@pytest.mark.parametrize("fill", [0, 65535])
def test_nodata_does_not_drive_the_stretch(raster_file: Any, ramp: NDArray[np.uint16], fill: int) -> None:
    bare = global_stretch(open_raster(raster_file("a.tif", ramp[:50])))
    ramp[50:] = fill
    raster = open_raster(raster_file("b.tif", ramp, nodata=fill))
    assert global_stretch(raster) == bare
    assert not display(raster)[0][50:].any()


def test_nan_does_not_drive_the_stretch(raster_file: Any, ramp: NDArray[np.uint16]) -> None:
    values = ramp.astype(np.float32)
    values[50:] = np.inf
    raster = open_raster(raster_file("a.tif", values))
    assert global_stretch(raster).high[0] < 7000
    assert not display(raster)[0][50:].any()


def test_a_window_is_stretched_as_the_whole_is(raster_file: Any, ramp: NDArray[np.uint16]) -> None:
    raster = open_raster(raster_file("a.tif", ramp))
    picture, stretch = display(raster)
    window = raster.read(1, rows=slice(10, 30), cols=slice(40, 90))
    np.testing.assert_array_equal(apply_stretch(window, stretch), picture[10:30, 40:90])


@pytest.mark.parametrize("value", [0.0, 7.5])
def test_a_flat_image_has_a_picture(raster_file: Any, value: float) -> None:
    picture, _ = display(open_raster(raster_file("a.tif", np.full((5, 6), value, dtype=np.float32))))
    assert np.unique(picture).tolist() == [127]


def test_an_image_without_valid_pixels_has_a_black_picture(raster_file: Any) -> None:
    picture, _ = display(open_raster(raster_file("a.tif", np.full((5, 6), np.nan, dtype=np.float32))))
    assert not picture.any()


def test_a_palette_is_honoured(raster_file: Any) -> None:
    classes = np.array([[0, 1], [2, 7]], dtype=np.uint8)
    colours = {0: (1, 2, 3, 255), 1: (0, 0, 255, 255), 2: (200, 10, 10, 255), 7: (9, 9, 9, 255)}
    picture, stretch = display(open_raster(raster_file("a.tif", classes, colormap=colours, nodata=2)))
    assert stretch.method == "colour table"
    assert picture.tolist() == [[[1, 2, 3], [0, 0, 255]], [[0, 0, 0], [9, 9, 9]]]


def test_the_longest_side_is_limited(raster_file: Any, ramp: NDArray[np.uint16]) -> None:
    picture, _ = display(open_raster(raster_file("a.tif", ramp)), max_side=10)
    assert picture.shape == (10, 10, 3)


def test_alpha_is_not_a_picture(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    photo[1] = 255
    photo[1, :5] = 0
    colours = (ColorInterp.gray, ColorInterp.alpha)
    picture, stretch = display(open_raster(raster_file("a.tif", photo[:2], colorinterp=colours, alpha="yes")))
    assert stretch.bands == (1, 1, 1)
    np.testing.assert_array_equal(picture[5:, :, 0], photo[0, 5:])
    assert not picture[:5].any()
