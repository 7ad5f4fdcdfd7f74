"""A question as words: Unicode, numbers, apostrophes and punctuation are settled here and nowhere else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

_SCAN = re.compile(
    r"""
    (?P<number> \d{1,3}(?:[,\u2009 ]\d{3})+(?![\d,])(?:\.\d+)? | \d+(?:[.,]\d+)?(?:e[+-]?\d{1,2}(?![^\W_]))? | \.\d+ )
  | (?P<word> [\u3400-\u9fff\u3040-\u30ff] | [^\W\d_\u3400-\u9fff]+(?:\^?2(?![\w]))? )
  | (?P<sign> <= | >= | [%<>/#+=&*@] )
  | (?P<mark> \S )
    """,
    re.VERBOSE,
)
_MARKS = {
    "≤": "<=",
    "≥": ">=",
    "–": "-",
    "—": "-",
    "‐": "-",
    "‑": "-",
    "−": "-",
    "⁄": "/",
    "’": "'",
    "‘": "'",
    "×": "*",
}
_ARROW = re.compile(r"\s*(?:-+>|→)\s*")
_TURNED_SIGN = re.compile(r"=[<>](?=\s*\d)")
_COMMA_AS_POINT = re.compile(r"^(0,\d+|\d+,\d{1,2})$")


@dataclass(frozen=True, slots=True)
class Word:
    """One word, number or sign of a question.

    Attributes:
        text: lower case, without accents; a number in digits with a decimal point.
        start: index of its first character in the normalised question.
        end: index after its last character.
        number: whether it is a number in digits.
        mark: the punctuation between it and the word before it.
    """

    text: str
    start: int
    end: int
    number: bool = False
    mark: str = ""


def normalised(question: str) -> str:
    """One line of compatible characters: no control or formatting characters, no exotic digits, dashes or spaces."""
    text = _ARROW.sub(". ", _TURNED_SIGN.sub(lambda sign: sign.group()[::-1], question))
    text = text.replace("m²", "m2").replace("½", " 1/2").replace("¼", " 1/4").replace("¾", " 3/4")
    text = unicodedata.normalize("NFKC", text)
    kept = [
        " " if unicodedata.category(char)[0] in "CZ" else _MARKS.get(char, char)
        for char in text
        if unicodedata.category(char) != "Cf"
    ]
    return " ".join("".join(kept).split())


def without_accents(text: str) -> str:
    """Lower case, accents taken off."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words_of(text: str) -> list[Word]:
    """The words of a normalised question; letters of scripts without spaces come one by one."""
    found: list[Word] = []
    mark = ""
    for match in _SCAN.finditer(text):
        piece = match.group()
        if match.lastgroup == "mark":
            mark += piece
            continue
        number = match.lastgroup == "number"
        plain = _plain_number(piece) if number else without_accents(piece)
        found.append(Word(plain, match.start(), match.end(), number, mark))
        mark = ""
    return found


def without(words: Sequence[Word], text: str) -> list[Word]:
    """The words without one that says nothing; the punctuation before it is that of the next."""
    found: list[Word] = []
    mark = ""
    for word in words:
        mark += word.mark
        if word.text != text:
            found.append(replace(word, mark=mark))
            mark = ""
    return found


def _plain_number(piece: str) -> str:
    if _COMMA_AS_POINT.match(piece):
        return piece.replace(",", ".")
    return re.sub(r"[,\s]", "", piece)
