"""Water and vegetation by index: the shipped Landsat scene, aerial and synthetic ones, and what must not be seen."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from segment_places import NORTH_UP, UTM

from swath.errors import InputError, Refused
from swath.raster.grid import Grid
from swath.raster.reader import Raster, open_raster
from swath.raster.write import write_array
from swath.segment.protocol import Segmentation, SegmentOptions
from swath.segment.spectral import SpectralBackend
from swath.testing.segment_contract import faults

ROLES = {"blue": 1, "green": 2, "red": 3, "nir": 4, "swir1": 5, "swir2": 6}
RGBN = {"blue": 1, "green": 2, "red": 3, "nir": 4}
NAIP = "naip/m_4709963_se_14_1_20090818.tif"


def olinda(bands: dict[str, int] | None = None) -> Raster:
    return open_raster(Path(str(resources.files("swath") / "data" / "olinda_l7.tif")), bands=bands or ROLES)


def pixels() -> np.ndarray[Any, Any]:
    return olinda().read().data.data


def segment(raster: Raster, name: str, **thresholds: float) -> Segmentation:
    return SpectralBackend(raster, SegmentOptions(thresholds=thresholds)).segment(name)


@pytest.fixture
def crop(tmp_path: Path) -> Callable[..., Raster]:
    """Write bands as a small raster and open it."""

    def make(bands: Any, roles: dict[str, int], nodata: float | None = None) -> Raster:
        path = tmp_path / "crop.tif"
        write_array(path, bands, Grid(NORTH_UP, bands.shape[-2:], UTM), nodata=nodata)
        return open_raster(path, bands=roles)

    return make


def synthetic(seed: int = 0, side: int = 90) -> np.ndarray[Any, Any]:
    """Reflectances (green, red, nir, swir1): water in the left third, bare ground, plants in the right third."""
    levels = np.array([[0.06, 0.04, 0.02, 0.01], [0.12, 0.15, 0.20, 0.28], [0.07, 0.05, 0.40, 0.18]])
    third = np.minimum(np.arange(side) * 3 // side, 2)
    scene = np.repeat(levels[third].T[:, None, :], side, axis=1)
    return scene * np.random.default_rng(seed).normal(1, 0.06, scene.shape)


SYNTHETIC = {"green": 1, "red": 2, "nir": 3, "swir1": 4}


# The shipped scene


def test_olinda_water_by_mndwi() -> None:
    found = segment(olinda(), "water")
    assert 16 <= 100 * found.mask.mean() <= 17
    assert found.score is not None
    assert found.thresholds is not None
    strict, used, lax = found.thresholds
    assert strict > used > lax
    assert 15.5 <= 100 * np.mean(found.score >= strict) <= 100 * np.mean(found.score >= lax) <= 17.5
    assert found.method.startswith("MNDWI of green (band 2) and swir1 (band 5), water from 0.259 on: Otsu's threshold")
    assert found.warnings == ()


def test_olinda_water_by_ndwi() -> None:
    found = segment(olinda(RGBN), "water")
    assert 16 <= 100 * found.mask.mean() <= 17
    both = segment(olinda(), "water").mask
    assert np.mean(found.mask != both) < 0.01


def test_olinda_ndwi_above_zero_is_wrong_and_only_by_request() -> None:
    found = segment(olinda(), "water", NDWI=0.0)
    assert found.score is not None
    assert 100 * np.mean(found.score > 0) == pytest.approx(57, abs=0.5)
    assert np.array_equal(found.mask, found.score >= 0)
    assert found.thresholds is None
    assert "NDWI of green (band 2) and nir (band 4), water from 0.000 on: stated" in found.method


def test_olinda_water_agrees_with_published_calibration() -> None:
    """ETM+ gains and solar irradiances of Chander et al. 2009 make MNDWI > 0 mean what it does in the literature."""
    green, swir1 = pixels()[[1, 4]].astype(float)
    green, swir1 = (0.798819 * green - 7.198819) / 1812, (0.126220 * swir1 - 1.126220) / 230.8
    calibrated = green > swir1
    assert np.mean(calibrated != segment(olinda(), "water").mask) < 0.01


def test_olinda_water_by_eye() -> None:
    """Pixels (row, column) looked up in a picture of the scene: sea, lagoon, pond, river mouth; town, forest, beach."""
    mask = segment(olinda(), "water").mask
    wet = [(340, 320), (200, 320), (150, 345), (274, 219), (33, 334)]
    dry = [(120, 300), (150, 100), (300, 100), (50, 330), (220, 290), (107, 247), (320, 212)]
    assert [bool(mask[at]) for at in wet] == [True] * len(wet)
    assert [bool(mask[at]) for at in dry] == [False] * len(dry)


def test_olinda_vegetation() -> None:
    found = segment(olinda(), "vegetation")
    assert 100 * found.mask.mean() == pytest.approx(33, abs=1)
    assert found.method.endswith("Otsu's threshold of all values, water left aside")
    green = [(150, 100), (30, 40), (198, 212), (22, 312)]
    other = [(340, 320), (120, 300), (107, 247), (300, 100)]
    assert [bool(found.mask[at]) for at in green + other] == [True] * 4 + [False] * 4


def test_gains_do_not_matter(crop: Callable[..., Raster]) -> None:
    """Digital numbers of another sensor setting: other gains per band, the same water."""
    scene = segment(olinda(), "water").mask
    for gains in ((1, 0.5, 1, 1, 2, 1), (1, 2, 1, 0.7, 0.6, 1.5)):
        other = np.rint(pixels() * 20.0 * np.array(gains)[:, None, None]).astype(np.uint16)
        assert np.mean(segment(crop(other, ROLES), "water").mask != scene) < 0.005


# What must not be seen


LAND = [(0, 176, 0, 175), (60, 180, 40, 160), (180, 340, 20, 140), (0, 352, 0, 200), (20, 150, 100, 290)]


@pytest.mark.parametrize("window", LAND)
@pytest.mark.parametrize("roles", [ROLES, RGBN], ids=["mndwi", "ndwi"])
def test_no_water_is_made_up_where_there_is_none(window: Any, roles: Any, crop: Callable[..., Raster]) -> None:
    top, bottom, left, right = window
    raster = crop(pixels()[:, top:bottom, left:right], roles)
    index = "MNDWI" if "swir1" in roles else "NDWI"
    with pytest.raises(
        Refused,
        match=rf"Water cannot be told from crop\.tif: {index} does not fall into two groups of which one is dark "
        rf"in the infrared, so .* Next: state a threshold with --threshold {index}=VALUE, or give --labels FILE\.",
    ):
        segment(raster, "water")


def test_no_water_is_made_up_in_random_windows_of_land(crop: Callable[..., Raster]) -> None:
    wet, rng, scene = segment(olinda(), "water").mask, np.random.default_rng(0), pixels()
    tried = 0
    while tried < 40:
        height, width = rng.integers(60, 200, 2)
        top, left = rng.integers(0, 352 - height), rng.integers(0, 230 - min(width, 229))
        window = np.s_[top : top + height, left : left + width]
        if np.count_nonzero(wet[window]) > 20:
            continue
        tried += 1
        with pytest.raises(Refused, match="Water cannot be told"):
            segment(crop(scene[(slice(None), *window)], RGBN), "water")


def test_all_water_cannot_be_told_either(crop: Callable[..., Raster]) -> None:
    with pytest.raises(Refused, match="so there may be no water in it, or nothing else"):
        segment(crop(pixels()[:, 280:, 290:], ROLES), "water")


def test_snow_is_not_water(crop: Callable[..., Raster]) -> None:
    scene = synthetic()
    scene[:, :, :30] = np.array([0.85, 0.82, 0.75, 0.08])[:, None, None]
    with pytest.raises(Refused, match="Water cannot be told"):
        segment(crop(np.rint(scene * 250).clip(1, 255).astype(np.uint8), SYNTHETIC), "water")


def test_without_near_infrared_snow_is_named(crop: Callable[..., Raster]) -> None:
    found = segment(crop(np.rint(synthetic() * 500).astype(np.uint8), {"green": 1, "swir1": 4}), "water")
    assert found.warnings == ("Without a near-infrared band snow cannot be told from water.",)
    assert 100 * found.mask.mean() == pytest.approx(100 / 3, abs=0.5)


def test_bright_water_is_named(crop: Callable[..., Raster]) -> None:
    scene = synthetic()
    scene[:, :, :2] = np.array([0.85, 0.82, 0.75, 0.08])[:, None, None]
    found = segment(crop(np.rint(scene * 250).clip(1, 255).astype(np.uint8), SYNTHETIC), "water")
    assert found.warnings == (
        "6.7 % of the water is as bright as land in the near infrared: surf, ice, snow or cloud?",
    )


@pytest.mark.parametrize("window", [(slice(60, 180), slice(40, 160)), (slice(180, 340), slice(20, 140))])
def test_vegetation_of_one_hump_is_refused(window: Any, crop: Callable[..., Raster]) -> None:
    with pytest.raises(
        Refused,
        match=r"Vegetation cannot be told from crop\.tif: NDVI does not fall into two groups \(its best cut explains "
        r"\d\d % of its variance\), so there may be no vegetation in it, or nothing else\. Next: state a threshold "
        r"with --threshold NDVI=VALUE",
    ):
        segment(crop(pixels()[(slice(None), *window)], ROLES), "vegetation")


def test_two_kinds_of_bare_ground_are_not_vegetation(crop: Callable[..., Raster]) -> None:
    rng = np.random.default_rng(0)
    red = np.full((90, 90), 100.0)
    nir = np.where(np.arange(90) < 45, 110.0, 130.0) * np.ones((90, 1))
    bands = np.stack([red, nir]) * rng.normal(1, 0.01, (2, 90, 90))
    with pytest.raises(Refused, match="Vegetation cannot be told"):
        segment(crop(bands.astype(np.uint8), {"red": 1, "nir": 2}), "vegetation")


def test_a_constant_image(crop: Callable[..., Raster]) -> None:
    raster = crop(np.full((4, 50, 50), 80, dtype=np.uint8), SYNTHETIC)
    with pytest.raises(Refused, match=r"Vegetation cannot be told from crop\.tif: NDVI hardly varies"):
        segment(raster, "vegetation")
    with pytest.raises(Refused, match="Water cannot be told"):
        segment(raster, "water")


# Small lakes, other sensors


def test_a_small_lake_is_found_in_the_tiles_that_show_it(crop: Callable[..., Raster]) -> None:
    """Without the sea the scene holds 1.5 % water, which no threshold of the whole would find in NDWI."""
    found = segment(crop(pixels()[:, :, :230], RGBN), "water")
    assert "Otsu's threshold of 1 of 4 tiles in which water shows" in found.method
    whole = segment(olinda(RGBN), "water").mask[:, :230]
    assert np.mean(found.mask) == pytest.approx(whole.mean(), rel=0.05)


def test_aerial_image(shared_data: Path) -> None:
    raster = open_raster(shared_data / NAIP, bands={"red": 1, "green": 2, "blue": 3, "nir": 4})
    water = segment(raster, "water")
    assert 100 * water.mask.mean() == pytest.approx(12, abs=1.5)
    by_eye = {(453, 482): True, (298, 71): True, (173, 887): True, (280, 697): True, (590, 180): True,
              (179, 405): False, (333, 214): False, (321, 880): False, (620, 350): False}  # fmt: skip
    assert {at: bool(water.mask[at]) for at in by_eye} == by_eye
    assert not (segment(raster, "vegetation").mask & water.mask).any()


def test_a_country_of_plants_seen_by_sentinel(shared_data: Path) -> None:
    path = shared_data / "odd_geotiffs" / "rspatial__terra" / "sent2_L2A_2024-08-24.tif"
    raster = open_raster(path, bands=RGBN)
    for name in ("water", "vegetation"):
        with pytest.raises(Refused, match=f"{name.capitalize()} cannot be told from sent2_L2A_2024-08-24.tif"):
            segment(raster, name)


# Units


def test_reflectances_take_the_usual_thresholds(crop: Callable[..., Raster]) -> None:
    scene = synthetic()
    for bands in (scene.astype(np.float32), scene):
        raster = crop(bands, SYNTHETIC)
        water, plants = segment(raster, "water"), segment(raster, "vegetation")
        assert water.thresholds == (0.1, 0.0, -0.1)
        assert plants.thresholds == (0.4, 0.3, 0.2)
        assert "the usual threshold for reflectances" in water.method
        assert np.array_equal(water.mask, bands[0] >= bands[3])
        assert np.array_equal(plants.mask, (bands[2] - bands[1]) / (bands[2] + bands[1]) >= 0.3)


def test_scaled_reflectances(tmp_path: Path, crop: Callable[..., Raster]) -> None:
    stored = np.rint(synthetic() * 10_000 + 1000).astype(np.uint16)
    crop(stored, SYNTHETIC)
    with rasterio.open(tmp_path / "crop.tif", "r+") as dataset:
        dataset.scales, dataset.offsets = [1e-4] * 4, [-0.1] * 4
    raster = open_raster(tmp_path / "crop.tif", bands=SYNTHETIC)
    found = segment(raster, "water")
    assert found.thresholds == (0.1, 0.0, -0.1)
    assert np.array_equal(found.mask, stored[0] >= stored[3])


def test_reflectances_can_say_that_there_is_no_water(crop: Callable[..., Raster]) -> None:
    assert not segment(crop(synthetic()[:, :, 30:], SYNTHETIC), "water").mask.any()


@pytest.mark.parametrize("make", [lambda s: np.rint(s * 250) / 255, lambda s: s * 900], ids=["eighths", "radiance"])
def test_floating_point_alone_is_no_reflectance(make: Any, crop: Callable[..., Raster]) -> None:
    found = segment(crop(make(synthetic()).astype(np.float32), SYNTHETIC), "water")
    assert "Otsu's threshold of all values" in found.method
    assert 100 * found.mask.mean() == pytest.approx(100 / 3, abs=0.5)


# What is known, what is stated


def test_nodata_and_empty_sums_are_not_known(crop: Callable[..., Raster]) -> None:
    bands = np.rint(synthetic() * 250).clip(1, 255).astype(np.uint8)
    bands[:, :10] = 255
    bands[:, 20:25] = 0
    raster = crop(bands, SYNTHETIC, nodata=255)
    backend = SpectralBackend(raster, SegmentOptions())
    unknown = np.zeros((90, 90), dtype=bool)
    unknown[:10], unknown[20:25] = True, True
    assert np.array_equal(backend.known(), ~unknown)
    found = backend.segment("water")
    assert found.score is not None
    assert np.array_equal(np.isnan(found.score), unknown)
    assert not (found.mask & unknown).any()
    assert faults(backend, raster) == []


def test_indices_against_their_definition() -> None:
    green, red, nir, swir1 = pixels()[[1, 2, 3, 4]].astype(float)
    water, plants = segment(olinda(), "water").score, segment(olinda(), "vegetation").score
    assert water is not None
    assert plants is not None
    assert np.allclose(water, (green - swir1) / (green + swir1), atol=1e-6)
    assert np.allclose(plants, (nir - red) / (nir + red), atol=1e-6)


def test_negative_reflectances_stay_within_the_range_of_the_index(crop: Callable[..., Raster]) -> None:
    bands = synthetic()
    bands[2, :5] = -0.01
    bands[1, :5] = 0.02
    bands[2, 5, :9] = -0.9
    found = segment(crop(bands, SYNTHETIC), "vegetation")
    assert found.score is not None
    assert (found.score[:5] == -1).all()
    assert not found.mask[:6, :9].any()
    assert np.isnan(found.score[5, :9]).all()


def test_what_was_decided_is_recorded() -> None:
    backend = SpectralBackend(olinda(), SegmentOptions(thresholds={"ndvi": 0.2}))
    assert backend.segment("vegetation").thresholds is None
    backend.segment("water")
    record = backend.describe()
    assert record["indices"] == {
        "water": "MNDWI of green (band 2) and swir1 (band 5)",
        "vegetation": "NDVI of nir (band 4) and red (band 3)",
    }
    assert record["stated_thresholds"] == {"NDVI": 0.2}
    assert record["thresholds"]["vegetation"]["used"] == 0.2
    assert record["thresholds"]["water"]["how"] == "Otsu's threshold of all values"


def test_thresholds_that_cannot_be() -> None:
    with pytest.raises(
        InputError, match=r'A threshold for "NDXI" was given, which is no index\. Next: use one of MNDW'
    ):
        segment(olinda(), "water", NDXI=0.1)
    for value in (float("nan"), 7.0):
        with pytest.raises(InputError, match=rf"The threshold NDWI={value} can never be reached\. Next: give a number"):
            segment(olinda(), "water", NDWI=value)
    with pytest.raises(Refused, match=r"No band of olinda_l7\.tif is known to be nir .*--bands nir=N"):
        segment(olinda({"red": 3, "green": 2, "swir1": 5, "blue": 1}), "water", NDWI=0.1)


def test_a_picture_in_red_green_and_blue(crop: Callable[..., Raster]) -> None:
    raster = crop(pixels()[:3], {"blue": 1, "green": 2, "red": 3})
    with pytest.raises(
        Refused,
        match=r"Classes cannot be told from the bands of crop\.tif \(known: blue=1, green=2, red=3\): water needs "
        r"green and nir or swir1, vegetation red and nir\. Next: name such bands with --bands nir=N, or give --labels",
    ):
        SpectralBackend(raster, SegmentOptions())


def test_a_class_without_an_index() -> None:
    with pytest.raises(Refused, match=r'"built-up" is not a class of spectral, which knows water, vegetation\. Next'):
        segment(olinda(), "built-up")
    assert SpectralBackend(olinda({"red": 3, "nir": 4}), SegmentOptions()).classes() == ("vegetation",)
