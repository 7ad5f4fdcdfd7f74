"""Which band is what: roles from colour interpretation and descriptions, or as a person states them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swath.errors import InputError

ROLES = (
    *("coastal", "blue", "green", "yellow", "red", "rededge1", "rededge2", "rededge3", "rededge"),
    *("nir", "swir", "swir1", "swir2", "cirrus", "thermal", "pan", "gray", "alpha"),
)


@dataclass(frozen=True)
class Band:
    """One band of a raster.

    Attributes:
        index: 1-based, as in the file.
        role: one of `ROLES`, None where nothing says what it is.
        description: the file's own words.
        dtype: numpy name of its type.
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


def stated(bands: tuple[Band, ...], roles: Mapping[str, int], where: str) -> tuple[Band, ...]:
    """Bands with the roles that a person stated; a role moves away from the band that had it.

    Raises:
        InputError: an unknown role, or an index that the file does not have.
    """
    by_index: dict[int, str] = {}
    for word, index in roles.items():
        role = role_of(word)
        if role is None:
            raise InputError(f"{word!r} is not a band role. Next: use one of {', '.join(ROLES)}.")
        if isinstance(index, bool) or not isinstance(index, int) or not 1 <= index <= len(bands):
            raise InputError(
                f"{where} has no band {index}: its bands are 1 to {len(bands)}. Next: correct {word}={index}."
            )
        by_index[index] = role
    taken = set(by_index.values())
    return tuple(
        replace(band, role=by_index.get(band.index, None if band.role in taken else band.role)) for band in bands
    )


_WORDS = {
    "coastal": "coastal|coastal aerosol|aerosol|coastal blue|ultra blue|deep blue",
    "blue": "blue|bleu|blau|azul",
    "green": "green|vert|verde",
    "yellow": "yellow",
    "red": "red|rouge|rot|rojo",
    "rededge": "red edge|rededge|re|vegetation red edge",
    "rededge1": "red edge 1|rededge 1|rededge1|re1|vegetation red edge 1|rededge071",
    "rededge2": "red edge 2|rededge 2|rededge2|re2|vegetation red edge 2|rededge075",
    "rededge3": "red edge 3|rededge 3|rededge3|re3|vegetation red edge 3|rededge078",
    "nir": "nir|near infrared|near infra red|nearinfrared|near ir|nir1|nir 1|nir08|nir narrow|narrow nir",
    "swir": "swir|shortwave infrared|short wave infrared|shortwave ir",
    "swir1": "swir1|swir 1|swir16|shortwave infrared 1|short wave infrared 1|shortwave infrared swir 1",
    "swir2": "swir2|swir 2|swir22|shortwave infrared 2|short wave infrared 2|shortwave infrared swir 2",
    "cirrus": "cirrus",
    "thermal": "thermal|thermal infrared|tir|lwir|tirs",
    "pan": "pan|panchromatic",
    "gray": "gray|grey|grayscale|greyscale",
    "alpha": "alpha|opacity",
}
_ROLE_OF = {word: role for role, words in _WORDS.items() for word in words.split("|")}


def role_of(text: str) -> str | None:
    """The role that a description names beyond doubt, else None."""
    plain = " ".join(re.sub(r"[^a-z0-9]+", " ", text.lower()).split())
    plain = re.sub(r"^(?:band|b|channel|sr)? ?\d{0,2} (?=[a-z])", "", plain)
    return _ROLE_OF.get(plain)


def with_roles(bands: Sequence[Band]) -> tuple[Band, ...]:
    """Bands with the roles that their descriptions and colour interpretations name."""
    named = [role_of(band.description or "") for band in bands]
    found = [
        role or (band.colorinterp if band.colorinterp in ROLES else None)
        for role, band in zip(named, bands, strict=True)
    ]
    if len(bands) > 1:
        found = [None if role == "gray" else role for role in found]
    often = Counter(found)
    return tuple(
        replace(band, role=role if role and often[role] == 1 else None) for band, role in zip(bands, found, strict=True)
    )
