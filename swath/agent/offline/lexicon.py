"""The lexicon of a language: which phrases stand for which terminal of the grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from swath.agent.offline.words import Word, without_accents

NOISE = "NOISE"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a phrase stands for: a terminal, and the value that it carries ("STATISTIC mean")."""

    kind: str
    value: str | None = None


@dataclass(frozen=True)
class Lexicon:
    """All phrases of a language.

    Attributes:
        entries: phrase as a tuple of words to what it stands for.
        longest: first word to the length of the longest phrase that starts with it.
        words: every word of every phrase.
        language: "en", "fr", "es" or "zh".
    """

    entries: Mapping[tuple[str, ...], Entry]
    longest: Mapping[str, int]
    words: frozenset[str]
    language: str = "en"

    def match(self, words: Sequence[Word], at: int) -> tuple[Entry, int] | None:
        """The longest phrase that starts at a word, and its length."""
        reach = min(self.longest.get(words[at].text, 0), len(words) - at)
        for length in range(reach, 0, -1):
            entry = self.entries.get(tuple(word.text for word in words[at : at + length]))
            if entry:
                return entry, length
        return None


def _phrase(text: str) -> tuple[str, ...]:
    plain = without_accents(text)
    return tuple(plain.split()) if plain.isascii() else tuple(plain.replace(" ", ""))


@cache
def lexicon(language: str, *, two_dates: bool = False) -> Lexicon:
    """The lexicon of "en", "fr", "es" or "zh"; for two dates with `lexicon_en_dates.txt`, whose words come first.

    Raises:
        ValueError: a phrase is listed under two terminals.
    """
    entries = entries_of(f"lexicon_{language}.txt")
    if two_dates and language == "en":
        entries = {**entries, **entries_of("lexicon_en_dates.txt")}
    longest: dict[str, int] = {}
    for words in entries:
        longest[words[0]] = max(longest.get(words[0], 0), len(words))
    return Lexicon(entries, longest, frozenset(word for words in entries for word in words), language)


def entries_of(name: str) -> dict[tuple[str, ...], Entry]:
    """The phrases of one file.

    Raises:
        ValueError: a phrase is listed under two terminals.
    """
    text = resources.files("swath.agent.offline").joinpath(name).read_text(encoding="utf-8")
    entries: dict[tuple[str, ...], Entry] = {}
    entry = Entry(NOISE)
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            kind, _, value = line.strip().partition(" ")
            entry = Entry(kind, value or None)
            continue
        for phrase in filter(None, (part.strip() for part in line.split(","))):
            if entries.setdefault(_phrase(phrase), entry) != entry:
                raise ValueError(f"{phrase!r} is listed under {entries[_phrase(phrase)].kind} and under {entry.kind}.")
    return entries
