"""Band roles: what descriptions, colours, sensors and people say, and what is left open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rasterio.enums import ColorInterp

from swath.errors import InputError, Refused
from swath.raster.bands import ROLES, role_of, sensor_of
from swath.raster.reader import Raster, open_raster

RGB = (ColorInterp.red, ColorInterp.green, ColorInterp.blue)


def roles(raster: Raster) -> dict[str, int]:
    return {band.role: band.index for band in raster.bands if band.role}


@pytest.fixture
def stack() -> NDArray[np.uint16]:
    return np.ones((6, 4, 5), dtype=np.uint16)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("red", "red"),
        ("Red Band", "red"),
        ("Band 4 - Red", "red"),
        ("B04 (Red)", "red"),
        ("B4: Red (665 nm)", "red"),
        ("SR_B4_RED", "red"),
        ("Surface Reflectance Green", "green"),
        ("NIR", "nir"),
        ("near infrared", "nir"),
        ("Near-Infrared (NIR)", "nir"),
        ("NearInfrared", "nir"),
        ("nir08", "nir"),
        ("SWIR 1", "swir1"),
        ("swir_2", "swir2"),
        ("swir16", "swir1"),
        ("short-wave infrared 2", "swir2"),
        ("Shortwave Infrared (SWIR) 1", "swir1"),
        ("Vegetation Red Edge 2", "rededge2"),
        ("red-edge", "rededge"),
        ("Coastal aerosol", "coastal"),
        ("Panchromatic", "pan"),
        ("TIRS", "thermal"),
        ("grün", "green"),
        ("proche infrarouge", "nir"),
        # Not beyond doubt:
        ("B4", None),
        ("band 4", None),
        ("4", None),
        ("infrared", None),
        ("red_2019", None),
        ("NDVI", None),
        ("reduced", None),
        ("greenness", None),
        ("red green", None),
        ("", None),
    ],
)
def test_what_a_description_names(text: str, role: str | None) -> None:
    assert role_of(text) == role


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_its_own_name(role: str) -> None:
    assert role_of(role) == role


def test_roles_from_colours(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    assert roles(open_raster(raster_file("a.tif", photo, photometric="rgb"))) == {"red": 1, "green": 2, "blue": 3}


def test_the_first_of_several_bands_is_not_gray(raster_file: Any, stack: Any) -> None:
    raster = open_raster(raster_file("a.tif", stack))
    assert raster.bands[0].colorinterp == "gray"
    assert roles(raster) == {}


def test_a_single_band_is_gray(raster_file: Any, stack: Any) -> None:
    assert roles(open_raster(raster_file("a.tif", stack[0]))) == {"gray": 1}


def test_descriptions_win_over_colours(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = raster_file("cir.tif", photo, photometric="rgb", descriptions=["nir", "red", "green"])
    raster = open_raster(path)
    assert roles(raster) == {"nir": 1, "red": 2, "green": 3}
    wanted = "The descriptions of bands [1, 2, 3] contradict their colours; the descriptions were believed."
    assert raster.warnings == (wanted,)


def test_one_contradicting_description_takes_the_colours_away(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = raster_file("cir.tif", photo, photometric="rgb", descriptions=["nir", "x", "y"])
    assert roles(open_raster(path)) == {"nir": 1}


def test_a_near_infrared_band_that_is_called_alpha(raster_file: Any, stack: Any) -> None:
    colours = (*RGB, ColorInterp.alpha)
    four = stack[:4].astype(np.uint8)
    four[3, :2] = 0
    path = raster_file("a.tif", four, photometric="rgb", colorinterp=colours, descriptions=["", "", "", "NIR"])
    raster = open_raster(path)
    assert roles(raster) == {"red": 1, "green": 2, "blue": 3, "nir": 4}
    assert raster.warnings == ("A band that the file calls alpha was taken for something else; it hides no pixels.",)
    assert raster.valid().all()


def test_a_person_may_say_that_alpha_is_near_infrared(raster_file: Any, stack: Any) -> None:
    four = stack[:4].astype(np.uint8)
    four[3, :2] = 0
    path = raster_file("a.tif", four, photometric="rgb", colorinterp=(*RGB, ColorInterp.alpha))
    assert open_raster(path).valid().mean() == 0.5
    raster = open_raster(path, bands={"nir": 4})
    assert raster.valid().all()
    assert not raster.read(4).data.mask.any()


def test_band_names_count_only_where_the_metadata_name_the_sensor(raster_file: Any, stack: Any) -> None:
    names = ["B2", "B3", "B4", "B8", "B11", "B8A"]
    assert roles(open_raster(raster_file("plain.tif", stack, descriptions=names))) == {}
    path = raster_file("s2.tif", stack, descriptions=names, tags={"SPACECRAFT_NAME": "Sentinel-2A"})
    assert roles(open_raster(path)) == {"blue": 1, "green": 2, "red": 3, "nir": 4, "swir1": 5}


def test_landsat_generations_number_their_bands_differently(raster_file: Any, stack: Any) -> None:
    names = ["SR_B2", "SR_B3", "SR_B4", "SR_B5", "SR_B6", "SR_B7"]
    new = raster_file("l8.tif", stack, descriptions=names, tags={"PLATFORM": "LANDSAT_8"})
    assert roles(open_raster(new)) == {"blue": 1, "green": 2, "red": 3, "nir": 4, "swir1": 5, "swir2": 6}
    old = raster_file("l5.tif", stack, descriptions=names, tags={"PLATFORM": "LANDSAT_5"})
    assert roles(open_raster(old)) == {"green": 1, "red": 2, "nir": 3, "swir1": 4, "swir2": 6}


@pytest.mark.parametrize(
    ("texts", "sensor"),
    [
        (["S2B_MSIL2A_20200101T000000"], "Sentinel-2"),
        (["LC08_L1TP_190026"], "Landsat 8/9"),
        (["LE07_L1TP"], "Landsat 4-7"),
        (["harmonized Landsat-8 and Sentinel-2"], None),
        (["Landsat"], None),
        ([], None),
    ],
)
def test_one_sensor_must_be_named(texts: list[str], sensor: str | None) -> None:
    assert sensor_of(texts) == sensor


def test_letters_count_only_together(raster_file: Any, stack: Any) -> None:
    assert roles(open_raster(raster_file("a.tif", stack[:4], descriptions=["R", "G", "B", "N"]))) == {
        "red": 1,
        "green": 2,
        "blue": 3,
        "nir": 4,
    }
    assert roles(open_raster(raster_file("b.tif", stack[:2], descriptions=["R", "N"]))) == {}


def test_a_role_that_two_bands_claim_is_given_to_neither(raster_file: Any, stack: Any) -> None:
    raster = open_raster(raster_file("a.tif", stack[:3], descriptions=["red", "red", "nir"]))
    assert roles(raster) == {"nir": 3}
    assert raster.warnings == ("Several bands are called red: state which one with --bands red=N.",)


def test_stated_roles_win_and_move(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = raster_file("a.tif", photo, photometric="rgb")
    raster = open_raster(path, bands={"Near Infrared": 1, "red": 2})
    assert roles(raster) == {"nir": 1, "red": 2, "blue": 3}
    assert raster.band("nir").index == 1


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"red": 4}, "a.tif has no band 4: its bands are 1 to 3. Next: correct red=4."),
        ({"red": 0}, "a.tif has no band 0: its bands are 1 to 3. Next: correct red=0."),
        ({"red": True}, "a.tif has no band True: its bands are 1 to 3. Next: correct red=True."),
        ({"nri": 1}, "'nri' is not a band role. Next: did you mean nir?"),
        ({"": 1}, f"'' is not a band role. Next: use one of {', '.join(ROLES)}."),
        ({"red": 1, "nir": 1}, "Band 1 is stated as red and as nir. Next: state one of them."),
    ],
)
def test_a_stated_role_that_does_not_fit(
    raster_file: Any, photo: NDArray[np.uint8], stated: dict[str, int], sentence: str
) -> None:
    path = raster_file("a.tif", photo)
    with pytest.raises(InputError) as caught:
        open_raster(path, bands=stated)
    assert str(caught.value) == sentence


def test_an_unknown_role_that_is_needed_is_refused(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo, photometric="rgb"))
    assert raster.has("red", "green")
    assert not raster.has("red", "nir")
    with pytest.raises(Refused) as caught:
        raster.band("nir")
    assert str(caught.value) == (
        "No band of a.tif is known to be nir (known: red=1, green=2, blue=3). "
        "Next: state it with --bands nir=N, N being 1 to 3."
    )
