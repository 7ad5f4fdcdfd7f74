"""Numbers and units: digits, words, fractions, "a quarter acre", "2.5k", "1/3 of", "three-quarters"."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

from swath.agent.offline.words import Word, without_accents

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_CARDINALS = {word: Decimal(i) for i, word in enumerate(_ONES)} | {
    word: Decimal(10 * i) for i, word in enumerate(_TENS, 2)
}
_SCALES = {
    "hundred": Decimal(100),
    "thousand": Decimal(1000),
    "k": Decimal(1000),
    "million": Decimal(10**6),
    "dozen": Decimal(12),
}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4,
    "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
}  # fmt: skip
_ORDINALS = {
    word: i
    for i, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], start=1
    )
}
_ARTICLES = ("a", "an")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of `units.toml`.

    Attributes:
        key: its name in `reply`.
        dimension: "length", "area", "pixels", "share" or "power".
        size: how many SI units (m, m2, px, percent, kW) it is.
    """

    key: str
    dimension: str
    size: Decimal


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, or a bare number (unit None); `fraction` for "a third", "1/4"."""

    value: Decimal
    unit: Unit | None = None
    fraction: bool = False

    @property
    def si(self) -> Decimal:
        """The value in the SI unit of its dimension."""
        return self.value * (self.unit.size if self.unit else 1)


@cache
def units() -> Mapping[str, Unit]:
    """All units by key."""
    return {key: Unit(key, entry["dimension"], Decimal(entry["size"])) for key, entry in _unit_table().items()}


@cache
def unit_by_words() -> Mapping[tuple[str, ...], Unit]:
    """Every spelling, as a tuple of words (of characters where the script has no spaces), to its unit."""
    found: dict[tuple[str, ...], Unit] = {}
    for key, entry in _unit_table().items():
        for spelling in entry["words"]:
            plain = without_accents(spelling)
            found[tuple(plain.split()) if plain.isascii() else tuple(plain)] = units()[key]
    return found


@cache
def _unit_table() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files("swath.agent.offline").joinpath("units.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def number_words() -> frozenset[str]:
    """Every word that can be part of a number."""
    return frozenset([*_CARDINALS, *_SCALES, *_PARTS, *_ORDINALS, "point"])


def unit_at(words: Sequence[Word], at: int) -> tuple[Unit, int] | None:
    """The longest unit that starts at a word, and how many words it takes."""
    table = unit_by_words()
    for length in (4, 3, 2, 1):
        key = tuple(word.text for word in words[at : at + length])
        if len(key) == length and key in table:
            return table[key], length
    return None


def number_at(words: Sequence[Word], at: int) -> tuple[Decimal, int, bool] | None:
    """The number that starts at a word: its value, how many words it takes, whether it is a fraction."""
    fraction = _fraction(words, at)
    if fraction:
        return (*fraction, True)
    cardinal = _cardinal(words, at)
    if cardinal is None:
        return None
    value, length = cardinal
    rest = at + length
    if _texts(words, rest, 1) == ("and",):
        tail = _fraction(words, rest + 1)
        if tail and tail[0] < 1:
            return value + tail[0], length + 1 + tail[1], False
    mixed = _digit_fraction(words, rest)  # "2 1/2"
    if mixed and words[rest - 1].number:
        return value + mixed[0], length + mixed[1], False
    return value, length, False


def _texts(words: Sequence[Word], at: int, length: int) -> tuple[str, ...]:
    return tuple(word.text for word in words[at : at + length])


def _cardinal(words: Sequence[Word], at: int) -> tuple[Decimal, int] | None:
    """Digits or words, with scales: "5", "2.5 k", "three hundred and twenty", "a dozen"."""
    if at >= len(words):
        return None
    i = at
    if words[i].number:
        total, i = Decimal(words[i].text), i + 1
    elif words[i].text in _CARDINALS:
        total, i = _below_hundred(words, i)
    elif words[i].text in _ARTICLES and i + 1 < len(words) and words[i + 1].text in _SCALES:
        total, i = Decimal(1), i + 1
    else:
        return None
    while i < len(words) and words[i].text in _SCALES and not (words[i].text == "k" and not words[i - 1].number):
        total, i = total * _SCALES[words[i].text], i + 1
        more = i + 1 if _texts(words, i, 1) == ("and",) else i
        if more < len(words) and words[more].text in _CARDINALS:
            addend, after = _below_hundred(words, more)
            total, i = total + addend, after
    return total, i - at


def _below_hundred(words: Sequence[Word], at: int) -> tuple[Decimal, int]:
    value, i = _CARDINALS[words[at].text], at + 1
    if value >= 20 and i < len(words) and 0 < _CARDINALS.get(words[i].text, Decimal(0)) < 10:
        value, i = value + _CARDINALS[words[i].text], i + 1
    if _texts(words, i, 1) == ("point",) and i + 1 < len(words) and words[i + 1].text in _CARDINALS:
        digits = ""
        i += 1
        while i < len(words) and _CARDINALS.get(words[i].text, Decimal(10)) < 10:
            digits, i = digits + str(_CARDINALS[words[i].text]), i + 1
        value += Decimal("0." + digits)
    return value, i


def _digit_fraction(words: Sequence[Word], at: int) -> tuple[Decimal, int] | None:
    if at + 2 < len(words) and words[at].number and words[at + 1].text == "/" and words[at + 2].number:
        below = Decimal(words[at + 2].text)
        return (Decimal(words[at].text) / below, 3) if below else None
    return None


def _fraction(words: Sequence[Word], at: int) -> tuple[Decimal, int] | None:
    """The value and the words taken of "1/4", "a third", "two thirds", "half", "half of", "a quarter of a"."""
    digits = _digit_fraction(words, at)
    if digits:
        return digits
    if at >= len(words):
        return None
    above, i = Decimal(1), at
    if words[i].text in _ARTICLES:
        i += 1
    elif words[i].text in _CARDINALS:
        above, i = _below_hundred(words, i)
    elif words[i].text != "half":
        return None
    if i >= len(words) or words[i].text not in _PARTS or above == 0:
        return None
    return above / _PARTS[words[i].text], i + 1 - at


def amount_at(words: Sequence[Word], at: int) -> tuple[Quantity, int] | None:
    """The number that starts at a word, with the unit that follows it: "100m", "a quarter of an acre", "an acre"."""
    number = number_at(words, at)
    if number is None:
        return _one_unit(words, at)
    value, length, fraction = number
    for between in _links(words, at + length, fraction):
        after = at + length + between
        unit = unit_at(words, after)
        if unit and "," not in words[after].mark:  # "since 2015, ha" is no area
            return Quantity(value, unit[0]), length + between + unit[1]
    return Quantity(value, None, fraction), length


def _links(words: Sequence[Word], at: int, fraction: bool) -> list[int]:
    """How many words may stand between a number and its unit: "half a", "a quarter of an"."""
    links = [0]
    if fraction:
        if _texts(words, at, 1)[:1] in (("a",), ("an",)):
            links.append(1)
        if _texts(words, at, 2) in (("of", "a"), ("of", "an")):
            links.append(2)
    return links


def _one_unit(words: Sequence[Word], at: int) -> tuple[Quantity, int] | None:
    """One of a unit that is written out: "a hectare", "an acre"."""
    if words[at].text in _ARTICLES:
        unit = unit_at(words, at + 1)
        if unit and len(words[at + 1].text) > 3 and unit[0].dimension != "pixels":
            return Quantity(Decimal(1), unit[0]), 1 + unit[1]
    return None


def ordinal_at(words: Sequence[Word], at: int) -> tuple[int, int] | None:
    """Which one "second", "2nd" or "third" is, and the words taken."""
    word = words[at]
    if word.text in _ORDINALS:
        return _ORDINALS[word.text], 1
    if word.number and _texts(words, at + 1, 1)[:1] in (("st",), ("nd",), ("rd",), ("th",)):
        glued = words[at + 1].start == word.end
        return (int(Decimal(word.text)), 2) if glued and Decimal(word.text) == int(Decimal(word.text)) else None
    return None
