"""Halves, quadrants and outer thirds of the image, as people name them."""

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
        "north": ("half nord", "nord", "au nord", "partie nord"), "south": ("half sud", "sud", "au sud", "partie sud"),
        "east": ("half est", "l est", "a l est", "partie est"),
        "west": ("half ouest", "ouest", "l ouest", "a l ouest", "partie ouest"),
        "left": ("half gauche", "a gauche", "partie gauche"), "right": ("half droite", "a droite", "partie droite"),
        "top": ("half superieure", "partie superieure"), "bottom": ("half inferieure", "partie inferieure"),
        "north-west": ("nord ouest", "quadrant nord ouest", "quart nord ouest"),
        "north-east": ("nord est", "quadrant nord est", "quart nord est"),
        "south-west": ("sud ouest", "quadrant sud ouest", "quart sud ouest"),
        "south-east": ("sud est", "quadrant sud est", "quart sud est"),
    },
    "es": {
        "north": ("half norte", "norte", "en el norte", "parte norte"),
        "south": ("half sur", "sur", "en el sur", "parte sur"),
        "east": ("half este", "el este", "en el este", "al este", "parte este"),
        "west": ("half oeste", "oeste", "el oeste", "en el oeste", "al oeste", "parte oeste"),
        "left": ("half izquierda", "a la izquierda", "parte izquierda", "lado izquierdo"),
        "right": ("half derecha", "a la derecha", "parte derecha", "lado derecho"),
        "top": ("half superior", "parte superior"), "bottom": ("half inferior", "parte inferior"),
        "north-west": ("noroeste", "cuadrante noroeste"),
        "north-east": ("noreste", "nordeste", "cuadrante noreste", "cuadrante nordeste"),
        "south-west": ("suroeste", "sudoeste", "cuadrante suroeste", "cuadrante sudoeste"),
        "south-east": ("sureste", "sudeste", "cuadrante sureste", "cuadrante sudeste"),
    },
    "zh": {
        side: tuple(name + ending for ending in ("半部", "半部分", "半", "半边", "部"))
        for name, side in zip("北南东西左右上下", _DIRECTIONS, strict=True)
    } | {
        corner: tuple(name + ending for ending in ("角", "部", "象限", "区", "部分", "四分之一"))
        for name, corner in {
            "西北": "north-west", "东北": "north-east", "西南": "south-west", "东南": "south-east",
            "左上": "top-left", "右上": "top-right", "左下": "bottom-left", "右下": "bottom-right",
        }.items()
    },
}  # fmt: skip
"""Halves by language; "moitié" and "mitad" are "half" by the time that these are looked up."""
_CORNERS = [(a, b) for a in ("north", "south") for b in ("east", "west")]
_CORNERS += [(a, b) for a in ("top", "bottom") for b in ("left", "right")]
QUADRANTS = ("north-west", "north-east", "south-west", "south-east")
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
            yield (*spelling.split(), "third"), f"{side}-third"
            if side not in ("top", "bottom"):
                yield tuple(spelling.split()), side
        if side in _COMPASS:
            yield (side[0], "half"), side
    for first, second in _CORNERS:
        for spelling in _corner_spellings(first, second):
            yield from (((*spelling.split(), noun), f"{first}-{second}") for noun in _QUADRANT_NOUNS)
            if len(spelling) >= 2:
                yield tuple(spelling.split()), f"{first}-{second}"


def part_at(words: Sequence[Word], at: int, language: str = "en") -> tuple[str, int] | None:
    """The longest name of a part of the image that starts at a word: its name for `image_part`, and its length."""
    for length in (5, 4, 3, 2, 1):
        key = tuple(word.text for word in words[at : at + length])
        if len(key) == length and key in _table(language) and not _remaining(words, at, key):
            return _table(language)[key], length
    return _one_of_two(words, at) if language == "en" else None


_TOPS = {"upper": "top", "top": "top", "lower": "bottom", "bottom": "bottom"}


def _one_of_two(words: Sequence[Word], at: int) -> tuple[str, int] | None:
    """The "upper" of "the upper or the lower half", and the "lower" of "the upper half or the lower"."""
    side = _TOPS.get(words[at].text)
    after, before = words[at + 1 : at + 3], words[max(at - 3, 0) : at]
    leads = len(after) == 2 and after[0].text in _BETWEEN_SIDES and _TOPS.get(after[1].text, side) != side
    ends = len(before) >= 2 and before[-1].text in _BETWEEN_SIDES
    follows = ends and any(_TOPS.get(word.text, side) != side for word in before[:-1])
    return (side, 1) if side and (leads or follows) else None


_BETWEEN_SIDES = ("or", "and", "vs", "versus", "than", "/")


def _remaining(words: Sequence[Word], at: int, key: tuple[str, ...]) -> bool:
    """Whether a "left" or "right" alone is no side, as in "any forest left": no word of place is before it."""
    if key not in (("left",), ("right",)):
        return False
    if at + 2 < len(words) and words[at + 1].text in _BETWEEN_SIDES and words[at + 2].text in ("left", "right"):
        return False
    return at > 0 and words[at - 1].text not in _BEFORE_A_SIDE


def part_words(language: str = "en") -> frozenset[str]:
    """Every word that names parts."""
    return frozenset(word for key in _table(language) for word in key)
