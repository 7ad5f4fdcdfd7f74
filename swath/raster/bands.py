"""Which band is what: roles from descriptions and colour interpretation, or as a person states them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from swath.errors import InputError

ROLES = (
    *("coastal", "blue", "green", "yellow", "red", "rededge", "rededge1", "rededge2", "rededge3"),
    *("nir", "swir", "swir1", "swir2", "cirrus", "thermal", "pan", "gray", "alpha"),
)


@dataclass(frozen=True)
class Band:
    """One band of a raster.

    Attributes:
        index: 1-based, as in the file.
        role: one of `ROLES`, None where nothing says what it is.
        description: the file's own words.
        dtype: numpy name of its type ("complex_int16" is GDAL's own).
        nodata: value that means "no data".
        scale: factor from stored to physical values.
        offset: what is added after the factor.
        colorinterp: colour interpretation, "undefined" where none.
    """

    index: int
    role: str | None
    description: str | None
    dtype: str
    nodata: float | None
    scale: float
    offset: float
    colorinterp: str


_WORDS = {
    "coastal": "coastal, coastal aerosol, aerosol, coastal blue, ultra blue, deep blue",
    "blue": "blue, bleu, blau, azul",
    "green": "green, vert, verde, grün, gruen",
    "yellow": "yellow",
    "red": "red, rouge, rot, rojo",
    "rededge": "red edge, rededge, re, vre",
    "rededge1": "red edge 1, rededge 1, rededge1, re 1, re1, rededge071, vre 1",
    "rededge2": "red edge 2, rededge 2, rededge2, re 2, re2, rededge075, vre 2",
    "rededge3": "red edge 3, rededge 3, rededge3, re 3, re3, rededge078, vre 3",
    "nir": "nir, nir 1, nir1, nir08, near infrared, near infra red, nearinfrared, near ir, near infrared nir, nir near"
    " infrared, narrow nir, nir narrow, proche infrarouge",
    "swir": "swir, shortwave infrared, short wave infrared, shortwave ir",
    "swir1": "swir1, swir 1, swir16, shortwave infrared 1, short wave infrared 1, shortwave infrared swir 1",
    "swir2": "swir2, swir 2, swir22, shortwave infrared 2, short wave infrared 2, shortwave infrared swir 2",
    "cirrus": "cirrus",
    "thermal": "thermal, thermal infrared, tir, lwir, lwir11, tirs",
    "pan": "pan, panchromatic",
    "gray": "gray, grey, grayscale, greyscale",
    "alpha": "alpha, opacity, transparency",
}
_ROLE_OF = {word.strip(): role for role, words in _WORDS.items() for word in words.split(",")}

_INTERPRETED = {role: role for role in ("red", "green", "blue", "alpha", "gray", "pan", "coastal", "nir")} | {
    "rededge": "rededge",
    "swir": "swir",
    "lwir": "thermal",
    "tir": "thermal",
}
"""Colour interpretations that name a role; the infrared ones exist since GDAL 3.10."""

_SENSORS: dict[str, tuple[str, dict[int, str]]] = {
    "Sentinel-2": (
        r"sentinel-?_?2|\bs2[abc]_msil",
        {
            1: "coastal",
            2: "blue",
            3: "green",
            4: "red",
            5: "rededge1",
            6: "rededge2",
            7: "rededge3",
            8: "nir",
            10: "cirrus",
            11: "swir1",
            12: "swir2",
        },
    ),
    "Landsat 8/9": (
        r"landsat[-_ ]?[89]\b|\blc0[89]_",
        {
            1: "coastal",
            2: "blue",
            3: "green",
            4: "red",
            5: "nir",
            6: "swir1",
            7: "swir2",
            8: "pan",
            9: "cirrus",
            10: "thermal",
        },
    ),
    "Landsat 4-7": (
        r"landsat[-_ ]?[457]\b|\bl[te]0[457]_",
        {1: "blue", 2: "green", 3: "red", 4: "nir", 5: "swir1", 7: "swir2", 8: "pan"},
    ),
}
"""Per sensor: how metadata name it, and its band numbers."""

_BAND_NAME = re.compile(r"(?:band|sr b|b) ?0?(\d{1,2})", re.IGNORECASE)


def role_of(text: str) -> str | None:
    """The role that a description names beyond doubt ("Band 4 - Red", "near-infrared (842 nm)"), else None."""
    plain = " ".join(re.sub(r"[^a-z0-9üéè.]+", " ", text.lower()).split())
    plain = re.sub(r"\b\d+(?:\.\d+)? ?(?:nm|um|µm|m)\b", " ", plain).replace("vegetation red edge", "red edge")
    plain = re.sub(r"\b(?:surface |toa )?reflectance\b|\bchannel\b", " ", plain)
    plain = re.sub(r"^ ?(?:band|sr b|b|sr)? ?\d{0,2} +(?=[a-z])", "", plain)
    plain = re.sub(r"(?<=[a-z]) band$", "", " ".join(plain.split()))
    return _ROLE_OF.get(plain)


def sensor_of(texts: Iterable[str]) -> str | None:
    """The one sensor that metadata name, None where they name none or several."""
    joined = "\n".join(texts)
    named = [name for name, (pattern, _) in _SENSORS.items() if re.search(pattern, joined, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None


def with_roles(bands: Sequence[Band], metadata: Iterable[str] = ()) -> tuple[tuple[Band, ...], tuple[str, ...]]:
    """Bands with the roles that the file names, and warnings.

    A description wins over a colour interpretation, since writers call the first three bands red, green and blue by
    default. A band name such as "B4" counts only where the metadata name the sensor. A role that two bands claim is
    given to neither: a wrong index is worse than none.

    Args:
        bands: as read, without roles.
        metadata: texts that may name the sensor.
    """
    described = _described(bands, metadata)
    interpreted = [_INTERPRETED.get(band.colorinterp) for band in bands]
    notes = []
    clash = [
        band.index
        for band, word, colour in zip(bands, described, interpreted, strict=True)
        if word and colour not in (None, "gray", "alpha", word)
    ]
    if clash:
        interpreted = [colour if colour == "alpha" else None for colour in interpreted]
        notes.append(f"The descriptions of bands {clash} contradict their colours; the descriptions were believed.")
    roles = [word or colour for word, colour in zip(described, interpreted, strict=True)]
    if sum(role != "alpha" for role in roles) > 1:
        # Writers call the first of several bands gray for want of a colour.
        roles = [None if role == "gray" else role for role in roles]
    claims = Counter(role for role in roles if role)
    twice = sorted(role for role, times in claims.items() if times > 1)
    if twice:
        notes.append(f"Several bands are called {', '.join(twice)}: state which one with --bands {twice[0]}=N.")
    found = tuple(replace(band, role=None if role in twice else role) for band, role in zip(bands, roles, strict=True))
    return found, tuple(notes)


def _described(bands: Sequence[Band], metadata: Iterable[str]) -> list[str | None]:
    texts = [band.description or "" for band in bands]
    roles = [role_of(text) for text in texts]
    letters = [text.strip().lower() for text in texts]
    if {"r", "g", "b"} <= set(letters):
        single = {"r": "red", "g": "green", "b": "blue", "n": "nir", "a": "alpha"}
        roles = [role or single.get(letter) for role, letter in zip(roles, letters, strict=True)]
    sensor = sensor_of([*metadata, *texts])
    if sensor is not None:
        numbers = _SENSORS[sensor][1]
        names = [_BAND_NAME.fullmatch(text.strip().replace("_", " ")) for text in texts]
        roles = [role or (numbers.get(int(name[1])) if name else None) for role, name in zip(roles, names, strict=True)]
    return roles


def stated(bands: Sequence[Band], roles: Mapping[str, int], where: str) -> tuple[Band, ...]:
    """Bands with the roles that a person stated; a role leaves the band that had it.

    Args:
        bands: of a raster.
        roles: role to 1-based band number.
        where: name of the file, for the message.

    Raises:
        InputError: an unknown role, an index that the file does not have, or one band for two roles.
    """
    by_index: dict[int, str] = {}
    for word, index in roles.items():
        role = role_of(str(word))
        if role is None:
            close = get_close_matches(str(word).lower(), ROLES, n=1)
            hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(ROLES)}."
            raise InputError(f"{word!r} is not a band role. Next: {hint}")
        if isinstance(index, bool) or not isinstance(index, int) or not 1 <= index <= len(bands):
            raise InputError(
                f"{where} has no band {index}: its bands are 1 to {len(bands)}. Next: correct {word}={index}."
            )
        if by_index.get(index, role) != role:
            raise InputError(f"Band {index} is stated as {by_index[index]} and as {role}. Next: state one of them.")
        by_index[index] = role
    taken = set(by_index.values())
    return tuple(
        replace(band, role=by_index.get(band.index, None if band.role in taken else band.role)) for band in bands
    )
