"""Numbers in free text: the last one that measures what was asked, in the unit that was asked.

Which digits are one number: a comma before exactly three digits, a space or an apostrophe before exactly three, and
points before two groups of three (or before one, where a comma follows) set thousands apart; every other comma is a
decimal one. So 1,234 is 1234 and 12,5 is 12.5; 1.234 is read as English has it, and 1.234,5 is 1234.5.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from swath.agent.offline.amounts import number_at, unit_at
from swath.agent.offline.words import Word, normalised, without_accents
from swath.agent.units import DIMENSIONS
from swath.tools.units import converted

_ENGLISH = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
_POINTED = r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})"
_SPACED = r"[1-9]\d{0,2}(?:[\x20']\d{3})+(?:[.,]\d+)?"
_PLAIN = r"(?:\d+(?:[.,]\d+)?|(?<![\d.])\.\d+)(?:[eE][+-]?\d{1,3})?"
_SCAN = re.compile(
    rf"""
    (?P<ordinal> \d+(?:st|nd|rd|th)\b )
  | (?P<number> (?<!\d[.,]) (?: {_ENGLISH} | {_POINTED} | {_SPACED} | {_PLAIN} ) (?![.,]?\d) | \d+ )
  | (?P<word> [\u3400-\u9fff] | [^\W\d_\u3400-\u9fff](?:\^(?=[23])|\w)* )
  | (?P<sign> [%/°] )
  | (?P<mark> \S )
    """,
    re.VERBOSE,
)
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_TIMES_POWER = re.compile(r"(?<=\d) ?[*x] ?10 ?(?:\^|\*\*) ?\(?([+-]?\d+)\)?")
_POWER = re.compile(r"(?<![\w.,])10(?:\^|\*\*)\(?([+-]?\d+)\)?")
_PLUS_MINUS = re.compile(r"\+ ?/? ?-")
_RANGE_MARKS = ("-", "--", "~", "..", "...", "…")
_RANGE_WORDS = (("to",), ("or",), ("through",), ("up", "to"))
_DEGREES = ("°", "deg", "degree", "degrees")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a text states.

    Attributes:
        value: in the unit that was asked.
        said: the words that state it.
    """

    value: float
    said: str


@dataclass(frozen=True, slots=True)
class _Stated:
    """A number as it stands: words[start:end] with its unit; `of_range` where it ends a range."""

    value: float
    unit: str | None
    start: int
    end: int
    digits: bool
    fraction: bool = False
    of_range: bool = False


def number_in(text: str, unit: str | None = None) -> Number | None:
    """The last number of a text with a compatible unit, in the unit that was asked.

    A number without a unit counts as in the asked one; asked for none, one without a unit goes before one that has one.
    Numbers in words count only where none in digits fits; a fraction, asked for in percent, is a share.

    Args:
        text: what somebody wrote: "About 1,234.5 m2.", "a quarter of the image", "3.2 x 10^4".
        unit: a unit of `swath.agent.units`, or a word for one; None for a number that has none.

    Returns:
        None where there is no such number, or where the last one belongs to a range ("3 to 5", "3-5").
    """
    line = _one_line(text)
    words = list(_words_of(line))
    stated = _without_spreads(list(_numbers_of(words)), words)
    asked = None if unit is None else unit_key(unit)
    if asked is None and any(number.unit is None for number in stated):
        stated = [number for number in stated if number.unit is None]
    for digits in (True, False):
        fitting = [
            (number, value)
            for number in stated
            if number.digits is digits and (value := _value_in(number, asked)) is not None
        ]
        if fitting:
            last, value = fitting[-1]
            said = line[words[last.start].start : words[last.end - 1].end]
            return None if last.of_range else Number(value, said)
    return None


def value_in_unit(value: float, from_unit: str | None, to_unit: str | None) -> float | None:
    """A number in the unit that was asked; None where the two units measure different things.

    Args:
        value: the number.
        from_unit: its unit; None counts as the asked one.
        to_unit: the asked unit; None takes the number as it is.
    """
    if from_unit is None or to_unit is None or from_unit == to_unit:
        return value
    dimensions = (DIMENSIONS.get(from_unit), DIMENSIONS.get(to_unit))
    if dimensions == ("share", "ratio"):
        return value / 100
    if dimensions == ("ratio", "share"):
        return value * 100
    if dimensions[0] is None or dimensions[0] != dimensions[1]:
        return None
    return converted(value, from_unit, to_unit)


@lru_cache(maxsize=64)
def unit_key(unit: str) -> str:
    """The unit of `swath.agent.units` that a word names: "hectares" is ha; any other word is handed back."""
    if unit in DIMENSIONS:
        return unit
    words = list(_words_of(_one_line(unit)))
    key, taken = _unit_after(words, 0)
    return key if key is not None and taken == len(words) else unit


def _one_line(text: str) -> str:
    """Compatible characters on one line, powers of ten as exponents."""
    raised = _SUPERSCRIPT.sub(lambda match: "^" + unicodedata.normalize("NFKC", match.group()), text)
    line = _PLUS_MINUS.sub("±", normalised(raised))
    return _POWER.sub(r"1e\1", _TIMES_POWER.sub(r"e\1", line))


def _words_of(line: str) -> Iterator[Word]:
    mark = ""
    for match in _SCAN.finditer(line):
        piece = match.group()
        if match.lastgroup == "mark":
            mark += piece
            continue
        number = match.lastgroup == "number"
        if number:
            plain = ("-" if _is_negative(line, match.start()) else "") + _plain_digits(piece)
        else:
            plain = without_accents(piece)
        yield Word(plain, match.start(), match.end(), number, mark)
        mark = ""


def _is_negative(line: str, at: int) -> bool:
    """Whether a minus is glued to the digits at an index and to nothing before it."""
    return line[at - 1 : at] == "-" and not re.fullmatch(r"[\w%)\]-]", line[max(at - 2, 0) : at - 1])


def _plain_digits(piece: str) -> str:
    if re.fullmatch(_ENGLISH, piece):
        return piece.replace(",", "")
    if re.fullmatch(_POINTED, piece):
        piece = piece.replace(".", "")
    return re.sub("[ ']", "", piece).replace(",", ".")


def _numbers_of(words: Sequence[Word]) -> Iterator[_Stated]:
    before: _Stated | None = None
    at = 0
    while at < len(words):
        found = number_at(words, at)
        if found is None:
            at += 1
            continue
        value, length, fraction = found
        negated = at > 0 and words[at - 1].text in ("minus", "negative")
        unit, taken = _unit_after(words, at + length)
        end = at + length + taken
        of_range = before is not None and _is_range(words, before, at)
        number = -float(value) if negated else float(value)
        before = _Stated(number, unit, at, end, words[at].number, fraction, of_range)
        yield before
        at = end


def _unit_after(words: Sequence[Word], at: int) -> tuple[str | None, int]:
    """The unit that starts at a word, and how many words it takes: "m2", "of an acre", "buildings per km2"."""
    texts = [word.text for word in words[at : at + 3]]
    if texts and texts[0] in _DEGREES:
        return "deg", 1
    for skipped in (0, 1, 2):
        if (skipped == 0 or texts[:skipped] in (["a"], ["of", "a"], ["of", "an"])) and (
            unit := unit_at(words, at + skipped)
        ):
            return unit[0].key, skipped + unit[1]
    for skipped, text in enumerate(texts):
        unit = unit_at(words, at + skipped + 1) if text in ("per", "/") else None
        if unit and f"per {unit[0].key}" in DIMENSIONS:
            return f"per {unit[0].key}", skipped + 1 + unit[1]
    return None, 0


def _is_range(words: Sequence[Word], first: _Stated, at: int) -> bool:
    """Whether the number at a word ends a range that the one before it begins."""
    between = tuple(word.text for word in words[first.end : at])
    if not between:
        return words[at].mark in _RANGE_MARKS
    is_opened = first.start > 0 and words[first.start - 1].text == "between"
    return between in _RANGE_WORDS or (is_opened and between == ("and",))


def _without_spreads(stated: Sequence[_Stated], words: Sequence[Word]) -> list[_Stated]:
    """Numbers without the second one of "5 ± 0.2 ha", whose unit goes to the first."""
    kept: list[_Stated] = []
    for number in stated:
        if kept and words[number.start].mark == "±" and number.start == kept[-1].end:
            first = kept.pop()
            kept.append(_Stated(first.value, first.unit or number.unit, first.start, number.end, first.digits))
        else:
            kept.append(number)
    return kept


def _value_in(number: _Stated, asked: str | None) -> float | None:
    if not math.isfinite(number.value):
        return None
    if number.fraction and number.unit is None and asked == "percent":
        return number.value * 100
    return value_in_unit(number.value, number.unit, asked)
