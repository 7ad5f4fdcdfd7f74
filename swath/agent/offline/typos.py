"""Mends single misspelt words by edit distance to the words that are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

from swath.agent.offline import refusals
from swath.agent.offline.words import Word

_SHORTEST = 4
_MOST_MENDED = 4


@lru_cache(maxsize=1)
def english() -> frozenset[str]:
    """Words spelt right whatever they are near to: "glass" is no "grass"; from SCOWL (english_licence.txt)."""
    listed = resources.files("swath.agent.offline").joinpath("english.txt").read_text(encoding="ascii")
    return frozenset(listed.split()) | refusals.triggers()


@dataclass(frozen=True)
class Targets:
    """What a misspelt word may be meant to be.

    Attributes:
        words: every such word.
        likely: those that decide where two are equally near.
    """

    words: frozenset[str]
    likely: frozenset[str]


def mended(
    words: Iterable[Word], known: Collection[str], targets: Targets, *, right: Collection[str] = frozenset()
) -> tuple[list[Word], list[str]]:
    """Words with typos mended, and one note for each.

    Args:
        words: of the question.
        known: every word that is understood as it is.
        targets: what the others may be meant to be.
        right: words that are not understood and yet no typos.
    """
    found: list[Word] = []
    notes: list[str] = []
    for word in words:
        kept = word.text in known or word.text in right or len(notes) >= _MOST_MENDED
        meant = None if kept else _mend(word, targets)
        if meant is None:
            found.append(word)
            continue
        notes.append(f'"{word.text}" is taken for "{meant}".')
        found.append(replace(word, text=meant))
    return found, notes


@lru_cache(maxsize=16)
def _by_length(known: frozenset[str]) -> dict[int, tuple[tuple[str, int], ...]]:
    """Words with their sets of letters, by length."""
    lengths: dict[int, list[tuple[str, int]]] = {}
    for word in sorted(known):
        if word.isascii() and word.isalpha():
            lengths.setdefault(len(word), []).append((word, _letters(word)))
    return {length: tuple(words) for length, words in lengths.items()}


def _letters(word: str) -> int:
    """The set of a word's letters as bits: words d edits apart differ in at most 2 d of them."""
    bits = 0
    for char in word:
        bits |= 1 << (ord(char) & 31)
    return bits


def _mend(word: Word, targets: Targets) -> str | None:
    text = word.text
    if word.number or len(text) < _SHORTEST or not text.isalpha():
        return None
    most = 1 if len(text) < 9 else 2
    mine = _letters(text)
    vocabulary = _by_length(targets.words)
    for distance in range(1, most + 1):
        near = [
            candidate
            for length in range(len(text) - distance, len(text) + distance + 1)
            for candidate, letters in vocabulary.get(length, ())
            if length >= _SHORTEST
            and (mine ^ letters).bit_count() <= 2 * distance
            and _within(text, candidate, distance)
            and not _denied(text, candidate)
        ]
        if near:
            alike = [candidate for candidate in near if candidate[0] == text[0]] or near
            alike = [candidate for candidate in alike if candidate in targets.likely] or alike
            stems = {candidate.rstrip("s") for candidate in alike}
            return min(alike, key=lambda c: (abs(len(c) - len(text)), c)) if len(stems) == 1 else None
    return None


def _denied(text: str, candidate: str) -> bool:
    """Whether one of two words is the other with a prefix that turns its meaning round: "uncovered", "covered"."""
    longer, shorter = sorted((text, candidate), key=len, reverse=True)
    return longer.startswith(_DENYING) and any(longer[n:] == shorter for n in (2, 3))


_DENYING = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "re", "de")


def _within(a: str, b: str, most: int) -> bool:
    """Whether two words are at most so many edits (insert, delete, replace, swap of neighbours) apart."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        previous, row = row, [i] + [0] * len(b)
        for j, right in enumerate(b, start=1):
            row[j] = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                row[j] = min(row[j], before[j - 2] + 1)
        if min(row) > most:
            return False
        before = previous
    return row[-1] <= most
