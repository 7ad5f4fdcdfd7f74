"""From words to the terminals of the grammar: amounts, classes, parts of the image, phrases; the longest match wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from swath.agent.offline import amounts
from swath.agent.offline.lexicon import NOISE, Lexicon
from swath.agent.offline.meaning import Amount, ClassWord
from swath.agent.offline.parts import part_at
from swath.agent.offline.words import Word, without_accents
from swath.segment import vocabulary

UNKNOWN = "UNKNOWN"
FOREIGN = "FOREIGN"
"""A class word that the scene's source of classes does not cover."""

_AMOUNT_KINDS = {"length": "QLEN", "area": "QAREA", "pixels": "QPX", "share": "QPCT", "power": "QPOW"}
_UNIT_KINDS = {"length": "LUNIT", "area": "AUNIT", "pixels": "PXUNIT", "share": "PERCENT", "power": "PUNIT"}
_SI = {"length": "m", "area": "m2", "pixels": "px", "share": "percent", "power": "kW"}
_LONGEST_CLASS = 4
_COVERS = (
    "water wetland vegetation forest grass shrub urban impervious road barren sand rock snow cloud shadow burned "
    "other sea"
)
_SUBSTANCES = frozenset(_COVERS.split())
"""Concepts that a plural does not make countable: "roads" and "trees" are a cover, "ponds" are so many ponds."""
_SINGLE_PLANTS = ("forest", "shrub")
_COUNTERS = ("bodies", "footprints", "features")
_COUNTER = "body"


@dataclass(frozen=True, slots=True)
class Piece:
    """One terminal of the grammar.

    Attributes:
        kind: the terminal.
        value: what it carries: an `Amount`, a `ClassWord`, a unit, the name of a part, a number.
        text: the words as typed.
        start: index of its first character in the normalised question.
        end: index after its last.
        mark: the punctuation before it.
    """

    kind: str
    value: Any
    text: str
    start: int
    end: int
    mark: str = ""


def pieces_of(words: Sequence[Word], text: str, lexicon: Lexicon, classes: tuple[str, ...]) -> list[Piece]:
    """The pieces of a question, noise left out.

    Args:
        words: its words.
        text: the normalised question.
        lexicon: phrases of its language.
        classes: the scene's classes.
    """
    found: list[Piece] = []
    mark = ""
    at = 0
    starts = vocabulary.beginnings(classes)
    while at < len(words):
        kind, value, length = _best(words, at, lexicon, classes if _may_begin(words[at], starts) else None)
        mark += words[at].mark
        start, end = words[at].start, words[at + length - 1].end
        if isinstance(value, ClassWord) and without_accents(text[start:end]) == value.word:
            value = replace(value, word=text[start:end])
        if kind != NOISE:
            found.append(Piece(kind, value, text[start:end], start, end, mark))
            mark = ""
        at += length
    return found


def _may_begin(word: Word, starts: frozenset[str]) -> bool:
    return len(word.text) == 1 or any(form in starts for form in vocabulary.singulars(word.text))


def _best(words: Sequence[Word], at: int, lexicon: Lexicon, classes: tuple[str, ...] | None) -> tuple[str, Any, int]:
    """The longest of: a legend's own name, an amount, a part of the image, a phrase, a class word, a unit.

    `classes` is None where no class can begin with the word.
    """
    candidates: list[tuple[int, int, str, Any]] = []
    for rank, match in enumerate(
        (
            _own_name(words, at, classes) if classes is not None else None,
            _amount(words, at),
            _part(words, at, lexicon.language),
            _phrase(words, at, lexicon),
            _class(words, at, classes) if classes is not None else None,
            _unit(words, at),
        )
    ):
        if match:
            kind, value, length = match
            candidates.append((length, -rank, kind, value))
    if not candidates:
        return UNKNOWN, None, 1
    length, _, kind, value = max(candidates, key=lambda candidate: candidate[:2])
    return kind, value, length


def _joined(words: Sequence[Word], at: int, length: int) -> str | None:
    span = words[at : at + length]
    texts = [word.text for word in span]
    if len(span) < length or not all(text.replace("^", "").isalpha() for text in texts):
        return None
    return ("" if not texts[0].isascii() and len(texts[0]) == 1 else " ").join(texts)


def _own_name(words: Sequence[Word], at: int, classes: tuple[str, ...]) -> tuple[str, ClassWord, int] | None:
    for length in range(min(_LONGEST_CLASS + 2, len(words) - at), 0, -1):
        phrase = " ".join(word.text for word in words[at : at + length])
        name = vocabulary.spelt(phrase, classes) if phrase[0].isalnum() and phrase[-1].isalnum() else None
        if name is not None:
            return "CLASS", _own_word(name, phrase), length
    return None


def _class(words: Sequence[Word], at: int, classes: tuple[str, ...]) -> tuple[str, ClassWord, int] | None:
    longest = _LONGEST_CLASS if words[at].text.isascii() else 2 * _LONGEST_CLASS
    for length in range(longest, 0, -1):
        phrase = _joined(words, at, length)
        if phrase is None:
            continue
        names = vocabulary.matches(phrase, classes, generic=False)
        if names:
            return "CLASS", _class_word(names, phrase), length
        if vocabulary.concept_of(phrase, generic=False):
            return FOREIGN, ClassWord((), phrase), length
    return None


def _own_word(name: str, phrase: str) -> ClassWord:
    """A class by its own name; where that is "tree", "trees" are so many trees and not a cover."""
    word = _class_word((name,), phrase)
    if vocabulary.concept_of(name) in _SINGLE_PLANTS and vocabulary.fold(phrase) == f"{vocabulary.fold(name)}s":
        return replace(word, plural=True)
    return word


def _class_word(names: tuple[str, ...], phrase: str) -> ClassWord:
    """A class as it was named: as a substance, as one thing or as several."""
    last = phrase.rpartition(" ")[2]
    if last in _COUNTERS:
        return ClassWord(names, phrase, plural=True)
    if last == _COUNTER:
        return ClassWord(names, phrase, single=True)
    concept = vocabulary.concept_of(phrase, generic=False)
    if concept in _SUBSTANCES:
        return ClassWord(names, phrase)
    plural = last.endswith("s") and not last.endswith("ss") and len(list(vocabulary.singulars(last))) > 1
    return ClassWord(names, phrase, plural, single=concept is not None and not plural)


def _amount(words: Sequence[Word], at: int) -> tuple[str, Any, int] | None:
    ordinal = amounts.ordinal_at(words, at)
    found = amounts.amount_at(words, at)
    if found is None:
        return ("NTH", ordinal[0], ordinal[1]) if ordinal else None
    amount, length = found
    if ordinal and ordinal[1] >= length:
        return "NTH", ordinal[0], ordinal[1]
    said = " ".join(word.text for word in words[at : at + length])
    if amount.unit:
        dimension = amount.unit.dimension
        return _AMOUNT_KINDS[dimension], Amount(amount.si, _SI[dimension], said, amount.unit.key), length
    if at + length < len(words) and words[at + length].text in ("times", "x", "fold", "*"):
        return "TIMESNUM", amount.value, length + 1
    if amount.fraction:
        return "QPCT", Amount(amount.value * 100, "percent", said), length
    return "NUM", Amount(amount.value, "", said), length


def _part(words: Sequence[Word], at: int, language: str) -> tuple[str, str, int] | None:
    found = part_at(words, at, language)
    return ("PART", *found) if found else None


def _phrase(words: Sequence[Word], at: int, lexicon: Lexicon) -> tuple[str, Any, int] | None:
    found = lexicon.match(words, at)
    if found is None:
        return None
    entry, length = found
    if entry.kind == NOISE and length == 2 and words[at].text == "in" and _total_of(words, at + 1):
        return "IN", None, 1  # "in the total building area"
    if entry.kind in ("ORMORE", "ORLESS") and words[at].text == "or" and part_at(words, at + 1, lexicon.language):
        return "OR", None, 1  # "the upper or lower half"
    return entry.kind, Decimal(entry.value or 0) if entry.kind == "TIMESNUM" else entry.value, length


def _total_of(words: Sequence[Word], at: int) -> bool:
    """Whether a "total" says of what, as in "total building area"; not in "how many buildings in total are there"."""
    after = words[at + 1 : at + 4]
    named = [word for word in after if not word.mark]
    return words[at].text == "total" and any(word.text in _SIZE_NOUNS for word in named[:3])


_SIZE_NOUNS = ("area", "surface", "extent", "footprint", "acreage")


def _unit(words: Sequence[Word], at: int) -> tuple[str, amounts.Unit, int] | None:
    found = amounts.unit_at(words, at)
    return (_UNIT_KINDS[found[0].dimension], found[0], found[1]) if found else None


def renamed(piece: Piece, kind: str, value: Any = None) -> Piece:
    """The same words as another terminal."""
    return replace(piece, kind=kind, value=value)
