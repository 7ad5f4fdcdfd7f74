"""Colours of things against what was painted, pixel by pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import shapely
from affine import Affine
from colour_sites import picture_site
from measured_sites import call, disc, planar

from swath.errors import Refused
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.write import write_array
from swath.testing.segment import PaintedBackend
from swath.tools.colours import TERMS, names_of
from swath.tools.site import Site

SHAPE = (60, 80)
PAINT = {"red": (200, 30, 40), "blue": (40, 80, 200), "green": (50, 140, 60), "grey": (128, 128, 128)}


def roofs(folder: Path) -> Site:
    """A red, a blue and a mostly blue house on grass."""
    rgb = np.empty((*SHAPE, 3), dtype=np.uint8)
    rgb[:] = PAINT["green"]
    houses = np.zeros(SHAPE, dtype=bool)
    for col in (5, 30, 55):
        houses[10:30, col : col + 10] = True
    rgb[10:30, 5:15], rgb[10:30, 30:40], rgb[10:22, 55:65], rgb[22:30, 55:65] = (
        PAINT[name] for name in ("red", "blue", "blue", "grey")
    )
    return picture_site(folder, rgb, planar("square", SHAPE), {"house": houses, "tree": np.zeros(SHAPE, dtype=bool)})


def houses_of(site: Site) -> object:
    return call(site, "components", call(site, "segment", "house"))


def test_colours_of_regions_and_of_all_of_them(tmp_path: Path) -> None:
    site = roofs(tmp_path)
    houses = houses_of(site)
    assert call(site, "region_colours", houses) == ["red", "blue", "blue"]
    assert call(site, "dominant_colour", houses) == "blue"
    assert call(site, "dominant_colour", call(site, "whole_image")) == "green"
    assert call(site, "colour_share_percent", houses, colour="red") == pytest.approx(100 * 200 / 600)
    assert call(site, "colour_share_percent", houses, colour="grey") == pytest.approx(100 * 80 / 600)
    assert call(site, "colour_share_percent", houses, colour="pink") == 0
    assert call(site, "colours_of", houses) == ["blue", "red", "grey"]
    assert call(site, "colours_of", houses, min_percent=20.0) == ["blue", "red"]
    assert any("eleven basic terms" in warning for warning in site.warnings)


def test_regions_and_pixels_of_a_colour(tmp_path: Path) -> None:
    site = roofs(tmp_path)
    blue = call(site, "of_colour", houses_of(site), colour="blue")
    assert (len(blue), blue.name) == (2, "blue house")
    assert call(site, "boxes_px", blue) == [[30, 10, 40, 30], [55, 10, 65, 30]]
    grey = call(site, "pixels_of_colour", call(site, "segment", "house"), colour="grey")
    wanted = np.zeros(SHAPE, dtype=bool)
    wanted[22:30, 55:65] = True
    np.testing.assert_array_equal(grey.pixels, wanted)
    assert (grey.name, grey.classes) == ("grey house", frozenset({"house"}))
    assert (
        call(site, "of_colour", call(site, "components", call(site, "segment", "tree")), colour="red").name
        == "red tree"
    )


def test_shares_of_noise_against_brute_force(tmp_path: Path) -> None:
    rgb = np.random.default_rng(1).integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
    shape = disc(SHAPE, 30, 40, 19)
    site = picture_site(
        tmp_path,
        rgb,
        planar("rotated", SHAPE),
        {"pond": shape},
        order=(2, 0, 1),
        bands={"blue": 1, "red": 2, "green": 3},
    )
    pond = call(site, "segment", "pond")
    terms = [TERMS[index] for index in names_of(rgb[shape])]
    for colour in TERMS:
        assert call(site, "colour_share_percent", pond, colour=colour) == pytest.approx(
            100 * terms.count(colour) / len(terms)
        )
    assert call(site, "dominant_colour", pond) == max(TERMS, key=terms.count)


def test_what_is_not_there_has_no_colour(tmp_path: Path) -> None:
    site = roofs(tmp_path)
    with pytest.raises(Refused, match=r"^There is no tree in the image, so that it has no colour\.$"):
        call(site, "dominant_colour", call(site, "segment", "tree"))
    assert call(site, "region_colours", call(site, "components", call(site, "segment", "tree"))) == []


def test_void_pixels_have_no_colour(tmp_path: Path) -> None:
    rgb = np.zeros((*SHAPE, 3), dtype=np.uint8)
    rgb[:, :40] = PAINT["red"]
    write_array(tmp_path / "v.tif", rgb.transpose(2, 0, 1), planar("square", SHAPE), nodata=0)
    raster = open_raster(tmp_path / "v.tif", bands={"red": 1, "green": 2, "blue": 3})
    site = Site(raster, PaintedBackend(SHAPE, {}), np.ones(SHAPE, dtype=bool))
    assert call(site, "colour_share_percent", call(site, "whole_image"), colour="red") == 100


def test_a_band_that_holds_the_nodata_value_alone_is_part_of_a_colour(tmp_path: Path) -> None:
    rgb = np.zeros((*SHAPE, 3), dtype=np.uint8)
    rgb[:, :20], rgb[:, 20:40] = (220, 0, 0), (0, 0, 200)
    write_array(tmp_path / "v.tif", rgb.transpose(2, 0, 1), planar("square", SHAPE), nodata=0)
    raster = open_raster(tmp_path / "v.tif", bands={"red": 1, "green": 2, "blue": 3})
    boxes = [shapely.box(2, 2, 10, 10), shapely.box(22, 2, 30, 10), shapely.box(60, 2, 62, 4)]
    site = Site(raster, PaintedBackend(SHAPE, {"house": boxes}), np.ones(SHAPE, dtype=bool))
    houses = houses_of(site)
    reds = call(site, "of_colour", houses, colour="red")
    assert call(site, "boxes_px", reds) == [[2, 2, 10, 10]]
    with pytest.raises(Refused, match=r"^house number 3 has no known colour: there red, green and blue are nodata\.$"):
        call(site, "region_colours", houses)


def test_unknown_bands_are_refused_with_what_would_help(tmp_path: Path) -> None:
    rgb = np.zeros((*SHAPE, 3), dtype=np.uint8)
    site = picture_site(tmp_path, rgb, planar("square", SHAPE), {}, bands={"nir": 1, "red": 2, "green": 3})
    assert call(site, "has_true_colour") is False
    with pytest.raises(Refused) as why:
        call(site, "dominant_colour", call(site, "whole_image"))
    assert str(why.value) == (
        "Colours cannot be named: the bands for red, green and blue of picture.tif are not all known "
        "(known: nir=1, red=2, green=3). Next: state them with --bands red=N,green=N,blue=N, where the image has them."
    )


def test_sixteen_bit_values_are_refused_since_their_look_is_a_choice(tmp_path: Path) -> None:
    rgb = np.full((*SHAPE, 3), 3000, dtype=np.uint16)
    site = picture_site(tmp_path, rgb, Grid(Affine.identity(), SHAPE), {})
    assert call(site, "has_true_colour") is False
    with pytest.raises(Refused) as why:
        call(site, "dominant_colour", call(site, "whole_image"))
    assert str(why.value) == (
        "Colours cannot be named: the bands of picture.tif hold uint16 values, whose look depends on a stretch that "
        "somebody has to choose. Next: make an 8-bit true-colour picture of it, such as with "
        "gdal_translate -ot Byte -scale, and ask about that."
    )


def test_a_true_colour_picture_says_so(tmp_path: Path) -> None:
    assert call(roofs(tmp_path), "has_true_colour") is True
