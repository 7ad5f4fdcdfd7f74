"""Halves and quadrants of the image, as people name them."""

from __future__ import annotations

from collections.abc import Sequence
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
_CORNERS = [(a, b) for a in ("north", "south") for b in ("east", "west")]
_CORNERS += [(a, b) for a in ("top", "bottom") for b in ("left", "right")]
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
def _table() -> dict[tuple[str, ...], str]:
    table: dict[tuple[str, ...], str] = {}
    for side, spellings in _SIDES.items():
        for spelling in spellings:
            for noun in _HALF_NOUNS:
                table[(*spelling.split(), noun)] = side
            if side not in ("top", "bottom") and spelling not in ("lowest",):
                table[tuple(spelling.split())] = side
    for first, second in _CORNERS:
        for spelling in _corner_spellings(first, second):
            for noun in _QUADRANT_NOUNS:
                table[(*spelling.split(), noun)] = f"{first}-{second}"
            if len(spelling) > 2:
                table[tuple(spelling.split())] = f"{first}-{second}"
    return table


def part_at(words: Sequence[Word], at: int) -> tuple[str, int] | None:
    """The longest name of a part of the image that starts at a word: its name for `image_part`, and its length."""
    for length in (5, 4, 3, 2, 1):
        key = tuple(word.text for word in words[at : at + length])
        if len(key) == length and key in _table():
            return _table()[key], length
    return None


def part_words() -> frozenset[str]:
    """Every word that names parts."""
    return frozenset(word for key in _table() for word in key)
