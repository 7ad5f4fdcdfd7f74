"""Names of colours: the eleven basic colour terms of English (Berlin and Kay 1969), by the nearest named colour.

A colour is given the term of the nearest of 289 published named colours (`colour_names.toml`). Distance is that of
OKLab (Ottosson 2020) with its colour axes doubled, which is known as Delta E OK 2. The centroids of ISCC-NBS are of
surfaces seen under illuminant C; they are brought to the white of sRGB (D65) by the Bradford transform. What has next
to no colour is black, white or grey only.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Colour = Literal["black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown"]
TERMS: tuple[Colour, ...] = get_args(Colour)

ACHROMATIC = TERMS[:3]
NEUTRAL = 0.02
"""Chroma in OKLab up to which a colour is neutral. The greys of ISCC-NBS reach 0.015 to 0.026, its other colours begin
at 0.019; without it the grey between two centroids comes out as the pale colour beside it."""

UNNAMED = 255
"""Stands for a pixel without a colour among indices into `TERMS`."""

_TERM_OF = {"gray": "grey", "olive": "green", "violet": "purple"}
"""Last words of ISCC-NBS names that are no basic term; olive joins olive green, violet has no other neighbour."""

_SRGB_TO_XYZ = np.array(
    [[0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923], [0.0193308, 0.1191948, 0.9505322]]
)
_XYZ_TO_CONES = np.array(
    [[0.8189330101, 0.3618667424, -0.1288597137], [0.0329845436, 0.9293118715, 0.0361456387],
     [0.0482003018, 0.2643662691, 0.6338517070]]
)  # fmt: skip
_CONES_TO_OKLAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
_WHITE_C, _WHITE_D65 = np.array([0.98074, 1.0, 1.18232]), np.array([0.95047, 1.0, 1.08883])


def names_of(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The basic colour term of 8-bit sRGB colours.

    Args:
        rgb: (..., 3) red, green, blue.

    Returns:
        (...) uint8 indices into `TERMS`.
    """
    codes = (rgb.astype(np.uint32) * np.array([65536, 256, 1], dtype=np.uint32)).sum(axis=-1, dtype=np.uint32)
    known = _named_so_far()
    missing = np.unique(codes[known[codes] == UNNAMED])
    if len(missing):
        bytes_ = np.column_stack([missing >> 16, missing >> 8 & 255, missing & 255]).astype(np.uint8)
        known[missing] = _nearest(_oklab(_xyz(bytes_)))
    return np.asarray(known[codes])


def _nearest(oklab: FloatArray) -> NDArray[np.uint8]:
    """(n,) the term of the nearest named colour; of the nearest black, white or grey for neutrals."""
    _, terms = _anchors()
    found = terms[_tree(neutral=False).query(oklab)[1]]
    neutral = np.hypot(oklab[:, 1], oklab[:, 2]) <= 2 * NEUTRAL
    found[neutral] = terms[terms < len(ACHROMATIC)][_tree(neutral=True).query(oklab[neutral])[1]]
    return np.asarray(found)


@cache
def _named_so_far() -> NDArray[np.uint8]:
    """(2^24,) the term of every colour that was named before: images repeat their colours many times over."""
    return np.full(2**24, UNNAMED, dtype=np.uint8)


@cache
def named_colours() -> dict[str, dict[str, tuple[int, int, int]]]:
    """The named colours, source by source: name to 8-bit sRGB."""
    text = resources.files("swath.tools").joinpath("colour_names.toml").read_text(encoding="utf-8")
    return {
        source: {name: (int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)) for name, code in colours.items()}
        for source, colours in tomllib.loads(text).items()
    }


def term_of(name: str) -> Colour:
    """The basic term that a named colour belongs to: the last word of its name."""
    last = name.rpartition(" ")[2]
    return next(term for term in TERMS if term == _TERM_OF.get(last, last))


@cache
def _anchors() -> tuple[FloatArray, NDArray[np.uint8]]:
    """The named colours in OKLab, and the term of each."""
    surfaces, screens = named_colours()["iscc_nbs"], named_colours()["survey"]
    seen = _oklab(_under_d65(_xyz(np.array(list(surfaces.values())))))
    shown = _oklab(_xyz(np.array(list(screens.values()))))
    terms = [TERMS.index(term_of(name)) for name in (*surfaces, *screens)]
    return np.concatenate([seen, shown]), np.array(terms, dtype=np.uint8)


@cache
def _tree(*, neutral: bool) -> Any:
    from scipy.spatial import cKDTree  # 0.2 s to load

    places, terms = _anchors()
    return cKDTree(places[terms < len(ACHROMATIC)] if neutral else places)


def _xyz(rgb: NDArray[Any]) -> FloatArray:
    """(n, 3) CIE XYZ, white being 1, of 8-bit sRGB (IEC 61966-2-1)."""
    coded = rgb / 255.0
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ _SRGB_TO_XYZ.T)


def _under_d65(xyz: FloatArray) -> FloatArray:
    """(n, 3) colours seen under illuminant C as they look under D65."""
    scaled = np.diag((_BRADFORD @ _WHITE_D65) / (_BRADFORD @ _WHITE_C))
    return np.asarray(xyz @ (np.linalg.inv(_BRADFORD) @ scaled @ _BRADFORD).T)


def _oklab(xyz: FloatArray) -> FloatArray:
    """(n, 3) OKLab with both colour axes doubled."""
    return np.asarray(np.cbrt(xyz @ _XYZ_TO_CONES.T) @ _CONES_TO_OKLAB.T * np.array([1.0, 2.0, 2.0]))
