"""Names of colours on charts whose colours others have named."""

from __future__ import annotations

import re

import numpy as np
import pytest

from swath.tools.colours import TERMS, _oklab, _under_d65, _xyz, named_colours, names_of, term_of

CHART = """
735244 brown, c29682 brown, 627a9d blue, 576c43 green, 8580b1 purple, 67bdaa green,
d67e2c orange, 505ba6 blue, c15a63 red, 5e3c6c purple, 9dbc40 green, e0a32e yellow,
383d96 blue, 469449 green, af363c red, e7c71f yellow, bb5695 purple, 0885a1 blue,
f3f3f2 white, c8c8c8 grey, a0a0a0 grey, 7a7a79 grey, 555555 grey, 343434 black
"""
"""The 24 patches of the ColorChecker in sRGB; the terms are of the ISCC-NBS names that its makers gave them (McCamy,
Marcus and Davidson 1976: "moderate brown", "light reddish brown", "moderate blue" ...)."""

ON_THE_EDGE = {"9dbc40": "yellow", "343434": "grey"}
"""Patches that this naming calls otherwise: "strong yellow green", and the black of matte paint, which reflects 3 %."""

SCREEN = """
ff0000 red, c80000 red, 00ff00 green, 008000 green, 0000ff blue, 000080 blue, 0000c8 blue, ffff00 yellow, ffffff white,
000000 black, 808080 grey, c0c0c0 grey, 404040 grey, 800080 purple, ff00ff purple, ffc0cb pink, 8b4513 brown,
ff8000 orange, 87ceeb blue, 228b22 green, 6b8e23 green, 800000 red, 4b0082 purple, fa8072 pink
"""
"""Colours of screens about whose term nobody differs."""


def painted(listing: str) -> list[tuple[str, str]]:
    return re.findall(r"([0-9a-f]{6}) (\w+)", listing)


def named(codes: list[str]) -> list[str]:
    rgb = np.array([list(bytes.fromhex(code)) for code in codes], dtype=np.uint8)
    return [TERMS[index] for index in names_of(rgb)]


def test_the_patches_of_the_chart_have_the_names_of_its_makers() -> None:
    chart = painted(CHART)
    assert len(chart) == 24
    codes = [code for code, _ in chart]
    got = dict(zip(codes, named(codes), strict=True))
    assert got == dict(chart) | ON_THE_EDGE


def test_colours_of_screens_have_the_names_that_everybody_gives_them() -> None:
    codes, terms = zip(*painted(SCREEN), strict=True)
    assert named(list(codes)) == list(terms)


def test_every_grey_is_without_colour() -> None:
    grey = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    found = [TERMS[index] for index in names_of(grey)]
    assert set(found) == {"black", "grey", "white"}
    order = [("black", "grey", "white").index(term) for term in found]
    assert order == sorted(order)


def test_bluish_and_brownish_concrete_is_grey() -> None:
    """Ground of real images: desert, asphalt and roofs that are a little off neutral."""
    assert named(["c8c7d2", "bebdc9", "a0a096", "968c82"]) == ["grey"] * 4


def test_each_named_colour_has_its_own_term() -> None:
    """On screens to the letter; of surfaces after their light was changed, which moves a few over an edge."""
    screens = named_colours()["survey"]
    rgb = np.array(list(screens.values()), dtype=np.uint8)
    assert [TERMS[index] for index in names_of(rgb)] == [term_of(name) for name in screens]
    surfaces = named_colours()["iscc_nbs"]
    found = names_of(np.array(list(surfaces.values()), dtype=np.uint8))
    same = sum(TERMS[index] == term_of(name) for index, name in zip(found, surfaces, strict=True))
    assert len(surfaces) == 260
    assert same >= 250


def test_names_are_those_of_the_nearest_by_brute_force() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (500, 3), dtype=np.uint8)
    rgb = rgb[np.ptp(rgb.astype(int), axis=1) > 20]  # neutrals are the exception that the test above is about
    surfaces, screens = named_colours()["iscc_nbs"], named_colours()["survey"]
    anchors = np.concatenate(
        [_oklab(_under_d65(_xyz(np.array(list(surfaces.values()))))), _oklab(_xyz(np.array(list(screens.values()))))]
    )
    terms = [term_of(name) for name in (*surfaces, *screens)]
    nearest = np.linalg.norm(_oklab(_xyz(rgb))[:, None] - anchors[None], axis=2).argmin(axis=1)
    assert [TERMS[index] for index in names_of(rgb)] == [terms[k] for k in nearest]


@pytest.mark.parametrize(
    ("rgb", "lightness", "a", "b"),
    [((255, 255, 255), 1.0, 0.0, 0.0), ((255, 0, 0), 0.6279, 0.2249, 0.1258), ((0, 0, 255), 0.4520, -0.0325, -0.3115)],
)
def test_oklab_of_white_red_and_blue_is_as_published(
    rgb: tuple[int, int, int], lightness: float, a: float, b: float
) -> None:
    got = _oklab(_xyz(np.array([rgb])))[0] / (1, 2, 2)
    assert got == pytest.approx((lightness, a, b), abs=1e-3)


def test_the_white_of_illuminant_c_becomes_that_of_d65() -> None:
    got = _under_d65(np.array([[0.98074, 1.0, 1.18232]]))[0]
    assert got == pytest.approx((0.95047, 1.0, 1.08883), abs=1e-9)


def test_names_keep_the_shape_of_the_image() -> None:
    assert names_of(np.zeros((3, 4, 3), dtype=np.uint8)).shape == (3, 4)
