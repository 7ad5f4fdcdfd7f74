"""Halves and quadrants of the image, as people name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from swath.agent.offline.words import Word

_SIDES = {
    "north": ("north", "northern", "northernmost"),
    "south": ("south", "southern", "southernmost"),
    "east": ("east", "eastern", "easternmost"),
    "west": ("west", "western", "westernmost"),
    "top": ("top", "upper", "uppermost", "top most"),
    "bottom": ("bottom", "lower", "lowermost", "lowest"),
    "left": ("left", "left hand", "lefthand", "leftmost"),
    "right": ("right", "right hand", "righthand", "rightmost"),
}
_COMPASS = ("north", "south", "east", "west")
_DIRECTIONS = (*_COMPASS, "left", "right", "top", "bottom")
_IN_OTHER_LANGUAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "fr": {
        "north": ("half nord", "nord"), "south": ("half sud", "sud"), "east": ("half est",),
        "west": ("half ouest", "ouest"), "left": ("half gauche",), "right": ("half droite",),
        "top": ("half superieure",), "bottom": ("half inferieure",),
    },
    "es": {
        "north": ("half norte", "norte"), "south": ("half sur", "sur"), "east": ("half este",),
        "west": ("half oeste", "oeste"), "left": ("half izquierda",), "right": ("half derecha",),
        "top": ("half superior",), "bottom": ("half inferior",),
    },
    "zh": {
        side: tuple(name + ending for ending in ("半部", "半部分", "半", "半边", "部"))
        for name, side in zip("北南东西左右上下", _DIRECTIONS, strict=True)
    },
}  # fmt: skip
"""Halves by language; "moitié" and "mitad" are "half" by the time that these are looked up."""
_CORNERS = [(a, b) for a in ("north", "south") for b in ("east", "west")]
_CORNERS += [(a, b) for a in ("top", "bottom") for b in ("left", "right")]
_BEFORE_A_SIDE = ("in", "on", "at", "to", "from", "than", "or", "and", "versus", "vs", "between", "half", "side")
_HALF_NOUNS = ("half", "side", "part", "portion", "section", "halves", "edge half", "area")
_QUADRANT_NOUNS = ("quadrant", "quarter", "corner", "part", "side", "section", "portion", "area", "sector")


def _corner_spellings(first: str, second: str) -> list[str]:
    spelled = [f"{a} {b}" for a in _SIDES[first] for b in _SIDES[second]]
    if first in ("north", "south"):
        spelled += [first + b for b in _SIDES[second]] + [first[0] + second[0]]
    else:
        spelled += [f"{b} {a}" for a in _SIDES[first] for b in _SIDES[second]]
    return spelled


@cache
def _table(language: str) -> dict[tuple[str, ...], str]:
    if language == "en":
        return dict(_english())
    return {
        tuple(spelling.split()) if spelling.isascii() else tuple(spelling): side
        for side, spellings in _IN_OTHER_LANGUAGES[language].items()
        for spelling in spellings
    }


def _english() -> Iterator[tuple[tuple[str, ...], str]]:
    for side, spellings in _SIDES.items():
        for spelling in spellings:
            yield from (((*spelling.split(), noun), side) for noun in _HALF_NOUNS)
            if side not in ("top", "bottom"):
                yield tuple(spelling.split()), side
        if side in _COMPASS:
            yield (side[0], "half"), side
    for first, second in _CORNERS:
        for spelling in _corner_spellings(first, second):
            yield from (((*spelling.split(), noun), f"{first}-{second}") for noun in _QUADRANT_NOUNS)
            if len(spelling) > 2:
                yield tuple(spelling.split()), f"{first}-{second}"


def part_at(words: Sequence[Word], at: int, language: str = "en") -> tuple[str, int] | None:
    """The longest name of a part of the image that starts at a word: its name for `image_part`, and its length."""
    for length in (5, 4, 3, 2, 1):
        key = tuple(word.text for word in words[at : at + length])
        if len(key) == length and key in _table(language) and not _remaining(words, at, key):
            return _table(language)[key], length
    return None


def _remaining(words: Sequence[Word], at: int, key: tuple[str, ...]) -> bool:
    """Whether a "left" or "right" alone is no side, as in "any forest left": no word of place is before it."""
    if key not in (("left",), ("right",)):
        return False
    return at > 0 and words[at - 1].text not in _BEFORE_A_SIDE


def part_words(language: str = "en") -> frozenset[str]:
    """Every word that names parts."""
    return frozenset(word for key in _table(language) for word in key)
