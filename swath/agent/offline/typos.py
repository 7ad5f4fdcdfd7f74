"""Mends single misspelt words by edit distance to the words that are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from swath.agent.offline import refusals
from swath.agent.offline.words import Word

_SHORTEST = 4
_MOST_MENDED = 4
# Common words one letter away from a class or a keyword; mending them would change the meaning.
_EVERYDAY = (
    "sheep sheet cows goats people person persons shops school schools "
    "horse horses mouse hose hoses race races food foods rod rods load loads toad broad board boards read reads pole "
    "poles poll polls tool tools cool foot hoof proof root roots boot boots late cake lane like lack cat cats care "
    "card cards farm firm form forms free tree three threat there where were their here seen rover liver diver rivet "
    "plane plant plants place plate plates plain hours hour louse rouse rose roses nose lost most post cost coast "
    "least beast lead read dead bead head land lands hand sand band wind winds bind mind find kind line lines mine "
    "mines fine pine cover lover mover never fever lever level sever water waiter wader later layer layers player "
    "wood food mood hood good gold field fields yield shield build built guild guilty buildup area arena aria park "
    "parks bark dark mark part city pity story store stores score shore share shape shade stone stones storm street "
    "strict stream strong strange village villages college bridge ridge fridge money honey many more mere mare mass "
    "miss moss boss loss what that than then them this thus those these house houses will well wall walls tall ball "
    "call fall full dull null roof room rooms roam foam loan soil coil boil toil foil sail said salt silt ship shop "
    "chip chin thin think drink bush push rush crush crash trash track truck trick brick crop drop prop shop stop "
    "step steps stem item"
)
_OTHER_WORDS = frozenset(_EVERYDAY.split()) | refusals.triggers()


@dataclass(frozen=True)
class Targets:
    """What a misspelt word may be meant to be.

    Attributes:
        words: every such word.
        likely: those that decide where two are equally near.
    """

    words: frozenset[str]
    likely: frozenset[str]


def mended(words: Iterable[Word], known: Collection[str], targets: Targets) -> tuple[list[Word], list[str]]:
    """Words with typos mended, and one note for each.

    Args:
        words: of the question.
        known: every word that is understood as it is.
        targets: what the others may be meant to be.
    """
    found: list[Word] = []
    notes: list[str] = []
    for word in words:
        right = None if word.text in known or len(notes) >= _MOST_MENDED else _mend(word, targets)
        if right is None:
            found.append(word)
            continue
        notes.append(f'"{word.text}" is taken for "{right}".')
        found.append(replace(word, text=right))
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
    if word.number or len(text) < _SHORTEST or not text.isalpha() or text in _OTHER_WORDS:
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
