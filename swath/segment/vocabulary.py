"""People's words for what is seen from above, matched to the class names of the legend in force.

The words live in `vocabulary.toml`: concepts with an optional parent (a pond is water), each with its words in English,
French, Spanish and Chinese. A word is looked up among the legend's own names first, so that a legend that tells lakes
from rivers is honoured; then by its concept; then by the concept's children (all of them together are "water" where a
legend has only lakes and rivers), then by its parent (a pond is "water" where nothing narrower is known), and last by a
concept that may stand in ("built-up" is "building" where a legend has no built-up or urban class).
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

# Words that say only that a class is meant as a surface: "water surface", "forest land", "building footprints".
GENERIC_NOUNS = frozenset({"area", "land", "surface", "cover", "coverage", "class", "zone", "terrain", "pixel"})
# Spanish plurals need more than an s; irregular English ones are few.
_IRREGULAR = {"leaves": "leaf", "roofs": "roof", "rooves": "roof", "aircraft": "aircraft"}


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Lower case, without accents, underscores, hyphens and repeated spaces."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(char for char in decomposed if not unicodedata.combining(char)).lower()
    return " ".join(re.sub(r"[_\-‐‑–/'’\s]+", " ", plain).split())


def singulars(word: str) -> Iterator[str]:
    """The word itself and what it may be the plural of, likeliest first."""
    yield word
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        yield word[:-3] + "y"
    if word.endswith(("s", "x")) and not word.endswith("ss") and len(word) > 3:
        yield word[:-1]
    if word.endswith("es") and len(word) > 4:
        yield word[:-2]


@lru_cache(maxsize=8192)
def spellings(phrase: str, *, generic: bool = True) -> tuple[str, ...]:
    """Every folded spelling that a phrase may be listed under: as typed, singular, without a generic last noun.

    Args:
        phrase: one or several words.
        generic: whether a last word such as "area" or "surface" may be taken off.
    """
    folded = fold(phrase)
    head, _, last = folded.rpartition(" ")
    found = [f"{head} {form}".strip() for form in singulars(last)]
    first, _, rest = folded.partition(" ")
    if rest.startswith(("of ", "d ", "de ")):  # "bodies of water", "plans d'eau"
        found += [f"{form} {rest}" for form in singulars(first)]
    every = [list(singulars(word))[-1] for word in folded.split()]
    if all(one != word for one, word in zip(every, folded.split(), strict=True)):  # "terres agricoles"
        found.append(" ".join(every))
    if generic and head and any(form in GENERIC_NOUNS for form in singulars(last)):
        found += spellings(head)
    return tuple(dict.fromkeys(found))


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files("swath.segment").joinpath("vocabulary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _concept_by_word() -> Mapping[str, str]:
    words: dict[str, str] = {}
    for concept, entry in _table().items():
        for language in ("en", "fr", "es", "zh"):
            for word in entry.get(language, ()):
                words.setdefault(fold(word), concept)
    return words


@lru_cache(maxsize=32)
def beginnings(known: tuple[str, ...]) -> frozenset[str]:
    """Words, as typed or in the singular, that a class of some legend or a word of the table can begin with."""
    phrases = (*known, *_concept_by_word())
    first_words = [word for phrase in phrases for word in fold(phrase).split()[:1]]  # a name may fold to nothing: "'"
    return frozenset(form for word in first_words for form in singulars(word))


def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Concept to all its words, every language together."""
    return {
        concept: tuple(word for language in ("en", "fr", "es", "zh") for word in entry.get(language, ()))
        for concept, entry in _table().items()
    }


@cache
def concept_of(phrase: str, *, generic: bool = True) -> str | None:
    """The concept that a word belongs to, None for a word that is not in the table.

    Args:
        phrase: one or several words.
        generic: whether a last word such as "area" or "surface" may be taken off.
    """
    words = _concept_by_word()
    return next((words[spelling] for spelling in spellings(phrase, generic=generic) if spelling in words), None)


def parent_of(concept: str) -> str | None:
    """The wider concept: "water" of "pond"."""
    parent: str | None = _table()[concept].get("parent")
    return parent


def _concept_of_class(name: str) -> str | None:
    """The concept of a legend's name; "land (unpaved area)" and "clutter/background" are tried by their parts too."""
    if fold(name) == "land":  # beside buildings, roads and plants, a legend's "land" is what is bare of them
        return "barren"
    parts = [name, re.sub(r"\(.*?\)", " ", name), *re.findall(r"\((.*?)\)", name), *name.split("/")]
    return next((found for found in map(concept_of, parts) if found), None)


@lru_cache(maxsize=32)
def _concepts(known: tuple[str, ...]) -> Mapping[str, str]:
    """The concepts of those names of a legend that have one."""
    return {name: concept for name in known if (concept := _concept_of_class(name))}


@lru_cache(maxsize=32)
def _by_fold(known: tuple[str, ...]) -> Mapping[str, str]:
    return {fold(name): name for name in reversed(known)}


@lru_cache(maxsize=32)
def _by_spelling(known: tuple[str, ...], generic: bool) -> Mapping[str, int]:
    """Every spelling of a legend's names, with the place of the first name that has it."""
    places = reversed(list(enumerate(known)))
    return {spelling: at for at, name in places for spelling in spellings(name, generic=generic)}


@lru_cache(maxsize=4096)
def _named(phrase: str, known: tuple[str, ...], generic: bool) -> str | None:
    """The class that a phrase spells, number and generic nouns aside."""
    exact = _by_fold(known).get(fold(phrase))
    if exact is not None:
        return exact
    of_names = _by_spelling(known, generic)
    found = [of_names[spelling] for spelling in spellings(phrase, generic=generic) if spelling in of_names]
    return known[min(found)] if found else None


@lru_cache(maxsize=4096)
def _matches(phrase: str, known: tuple[str, ...], generic: bool) -> tuple[str, ...]:
    named = _named(phrase, known, generic)
    if named is not None:
        return (named,)
    concept = concept_of(phrase, generic=generic)
    if concept is None:
        return ()
    concepts = _concepts(known)
    same = [name for name, other in concepts.items() if other == concept]
    narrower = [name for name, other in concepts.items() if parent_of(other) == concept]
    wider = [name for name, other in concepts.items() if other == parent_of(concept)]
    stand_in = _table()[concept].get("stand_in")
    instead = [name for name, other in concepts.items() if other == stand_in]
    return tuple(same or narrower or wider or instead)


def matches(phrase: str, known: Sequence[str], *, generic: bool = True) -> tuple[str, ...]:
    """The classes of a legend that a word means: one, several that make it up together, or none.

    Args:
        phrase: the word or words, any case, singular or plural.
        known: class names of the legend in force.
        generic: whether a last word such as "area" or "surface" may be taken off.
    """
    return _matches(phrase, tuple(known), generic)


def spelt(phrase: str, known: Sequence[str]) -> str | None:
    """The class whose own name a phrase is, singular or plural; None for synonyms."""
    return _named(phrase, tuple(known), False)


def canonical(word: str, known: Sequence[str]) -> str | None:
    """The one class of a legend that a word means, in the legend's own spelling; None if none or several fit.

    Args:
        word: a person's word: any case, singular or plural, a synonym, another language.
        known: class names of the legend in force.
    """
    found = matches(word, known)
    return found[0] if len(found) == 1 else None
