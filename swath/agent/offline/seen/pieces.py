"""From a question to the terminals of `seen/grammar.lark`: places by their form, then phrases, amounts and classes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from swath.agent.offline import amounts, languages, lexicon, parts, pieces, typos
from swath.agent.offline import words as words_of
from swath.agent.offline.lexicon import NOISE, Entry, Lexicon
from swath.agent.offline.pieces import Piece, renamed
from swath.agent.offline.seen.places import found_by_form
from swath.segment import vocabulary
from swath.tools.colours import TERMS

_MEANT_HERE = (
    "by|up|right|correct|miss|minimal|minimum|shortest|peak|in size|by size|different|placed|individual|separate|"
    "straight line|direct|combined together|compare|comparing|potential|possible|sum|smallest possible|in area|"
    "on ground|what would be|above all|in here|here|list|name|detect|locate all|show me|it s|confirm|like|one more|"
    "like more|is to be determined"
)
_UNHEARD = frozenset(_MEANT_HERE.split("|"))
"""Phrases without a meaning in `lexicon_en.txt` that have one here."""
_ALSO_COLOUR = {"grey": ("gray", "greyish"), "purple": ("violet",)}
_AS_WORN = (
    "{}|{} roofed|{} coloured|{} colored|{} painted|with {} roof|with {} roofs|with a {} roof|with an {} roof|"
    "painted {}|of {} colour|of {} color|{} in colour|{} in color|whose roof is {}|{} topped|"
    "coloured {}|colored {}|in {}"
)
_WORN = _AS_WORN.split("|")
_ASKS_UNIT = ("IN", "AS", "AT")
_UNITS = ("LUNIT", "AUNIT", "PERCENT", "PXUNIT")
_AMOUNTS = ("QLEN", "QAREA", "QPX", "QPCT", "NUM", "QDEG")


@dataclass(frozen=True)
class Heard:
    """A question in terminals, the unit it asks for, and what has to be said of its words."""

    pieces: tuple[Piece, ...]
    unit: str | None
    notes: tuple[str, ...]
    language: str


@cache
def terminals() -> frozenset[str]:
    """Every terminal of the grammar."""
    text = resources.files("swath.agent.offline").joinpath("seen/grammar.lark").read_text(encoding="utf-8")
    return frozenset(re.findall(r"\b[A-Z]{2,}\b", re.sub(r"//.*", "", text)))


@cache
def seen_lexicon(language: str) -> Lexicon:
    """The phrases of a language: those of this folder, then those of the other grammar for terminals used here."""
    entries = {
        phrase: entry
        for phrase, entry in lexicon.lexicon(language).entries.items()
        if _is_used(entry.kind, " ".join(phrase))
    }
    own = lexicon.entries_of(f"seen/lexicon_{language}.txt")
    entries = {**entries, **own, **(_colours() if language == "en" else {})}
    longest: dict[str, int] = {}
    for words in entries:
        longest[words[0]] = max(longest.get(words[0], 0), len(words))
    return Lexicon(entries, longest, frozenset(word for words in entries for word in words), language)


def _is_used(kind: str, phrase: str) -> bool:
    if kind == NOISE:
        return phrase not in _UNHEARD
    return kind in terminals() and kind not in _OWN


_OWN = ("BE",)
"""Terminals of both grammars of which only the phrases of this folder count: "Which crop grows ..." asks no box."""


def _colours() -> Mapping[tuple[str, ...], Entry]:
    found: dict[tuple[str, ...], Entry] = {}
    for term in TERMS:
        for word in (term, *_ALSO_COLOUR.get(term, ())):
            found |= {tuple(form.format(word).split()): Entry("COLOUR", term) for form in _WORN}
    return found


def heard(text: str, classes: tuple[str, ...]) -> Heard:
    """The terminals of a normalised question.

    Args:
        text: the question.
        classes: of the scene.
    """
    formed = found_by_form(text)
    words = [word for word in words_of.words_of(text) if not _covered(word, formed)]
    language = languages.language_of(words, _known("en", classes))
    words = [word for word in words if word.text != "the"]
    words, numbered = languages.with_english_numbers(words, language)
    mended: list[str] = []
    if language == "en":
        words, mended = typos.mended(
            words, _known(language, classes), _targets(language, classes), right=typos.english()
        )
    elif not any(_begins_own(words, at, language) for at in range(len(words))):
        return Heard((), None, (), language)
    found: list[Piece] = []
    for before, after in zip((None, *formed), (*formed, None), strict=True):
        start, end = (before.end if before else 0), (after.start if after else len(text))
        span = [word for word in words if start <= word.start < end]
        found += pieces.pieces_of(span, text, seen_lexicon(language), classes)
        found += [after] if after else []
    found = [_own_place(piece, seen_lexicon(language)) for piece in _placed(found)]
    found = _without_roof([_said(found, at) for at in range(len(found))], text)
    rest, unit = _unit_taken_off(_level_behind(_image_left_out(_joined(found))))
    return Heard(tuple(rest), unit, (*mended, *numbered), language)


def _begins_own(words: Sequence[words_of.Word], at: int, language: str) -> bool:
    """Whether a phrase of this folder begins at a word."""
    own = lexicon.entries_of(f"seen/lexicon_{language}.txt")
    return any(tuple(word.text for word in words[at : at + length]) in own for length in range(1, 7))


def _covered(word: words_of.Word, formed: Sequence[Piece]) -> bool:
    return any(piece.start <= word.start < piece.end for piece in formed)


@cache
def _known(language: str, classes: tuple[str, ...]) -> frozenset[str]:
    """Every word that is understood as it is."""
    known = set(seen_lexicon(language).words) | amounts.number_words() | parts.part_words(language)
    known |= {word for spelling in amounts.unit_by_words() for word in spelling}
    for phrase in (*classes, *(word for entry in vocabulary.synonyms().values() for word in entry)):
        for word in vocabulary.fold(phrase).split():
            known |= {word, f"{word}s", f"{word}es", f"{word[:-1]}ies" if word.endswith("y") else word}
    return frozenset(known)


@cache
def _targets(language: str, classes: tuple[str, ...]) -> typos.Targets:
    """What a misspelt word may be meant to be."""
    own = {word for name in classes for word in vocabulary.fold(name).split()}
    entries = seen_lexicon(language).entries.items()
    words = {word for phrase, entry in entries if entry.kind not in (NOISE, "CAPTION") for word in phrase}
    words |= {form for word in own for form in (word, f"{word}s")} | parts.part_words(language)
    words |= {"metres", "meters", "percent"}
    return typos.Targets(frozenset(words), frozenset(own | {f"{word}s" for word in own}))


def _placed(found: Sequence[Piece]) -> list[Piece]:
    """A pair of numbers without a word takes the kind of the pair before it, or is a pixel."""
    kind: str | None = None
    placed: list[Piece] = []
    for piece in found:
        if piece.kind == "PLACE":
            kind = piece.value.kind
        elif piece.kind == "BAREPLACE":
            place = piece.value
            piece = replace(piece, kind="PLACE", value=replace(place, kind=kind or place.kind))
        placed.append(piece)
    return placed


def _own_place(piece: Piece, own: Lexicon) -> Piece:
    """What the other grammar takes for a half of the image, by its name here: "leftmost", "top left corner"."""
    if piece.kind != "PART":
        return piece
    entry = own.entries.get(tuple(word.text for word in words_of.words_of(piece.text) if word.text != "the"))
    return piece if entry is None or entry.kind not in _PLACES else renamed(piece, entry.kind, entry.value)


def _without_roof(found: list[Piece], text: str) -> list[Piece]:
    """Without the roof of "the roof of the largest building", which is that building as seen from above."""
    kept = []
    for at, piece in enumerate(found):
        between = [other.kind for other in found[at + 1 :]]
        ahead = between[: between.index("CLASS")] if "CLASS" in between else ["none"]
        roof = piece.kind == "CLASS" and piece.text.lower() in _ROOFS and all(kind in _BEFORE_CLASS for kind in ahead)
        if not (roof and text[piece.end :].lower().startswith(" of ")):
            kept.append(piece)
    return kept


_ROOFS = ("roof", "roofs", "rooftop", "rooftops")
_AHEAD = "LARGEST SMALLEST TALLEST LOWEST LONGEST SMALLISH BIGGISH COLOUR ONLY NTH SHAPE ALL"
_BEFORE_CLASS = _AHEAD.split()
_PLACES = ("EXTREME", "CORNER", "CELL", "CENTRE")
_PLURALS = ("CLASS", "REGION", "COLOUR", "SMALLISH", "BIGGISH", "SHAPE")


def _said(found: Sequence[Piece], at: int) -> Piece:
    """A piece by what stands around it: "below 5 m" is no side of a thing, "the two piers" is no number."""
    piece, after = found[at], found[at + 1].kind if at + 1 < len(found) else ""
    if piece.kind == "SIDEOF" and piece.value in ("above", "below") and after in _AMOUNTS:
        return renamed(piece, "OVER" if piece.value == "above" else "UNDER")
    if piece.kind == "NUM" and piece.value.value == 2 and after in _PLURALS:
        return renamed(piece, "TWO")
    return piece


def _joined(found: list[Piece]) -> list[Piece]:
    """Commas between classes, "-" between amounts as "to", "5 to 10 m" with the unit on both."""
    joined: list[Piece] = []
    for piece in found:
        before = joined[-1].kind if joined else ""
        if "-" in piece.mark and piece.kind in _AMOUNTS:
            if before in _AMOUNTS:
                joined.append(Piece("TO", None, "-", piece.start, piece.start))
            else:  # less than nothing
                piece = renamed(piece, pieces.UNKNOWN)
        elif before == "CLASS" and "," in piece.mark and piece.kind == "CLASS":
            joined.append(Piece("COMMA", None, ",", piece.start, piece.start))
        joined.append(piece)
    for at in range(len(joined) - 2):
        low, link, high = joined[at : at + 3]
        if low.kind == "NUM" and link.kind in ("TO", "AND") and high.kind in ("QLEN", "QAREA", "QDEG"):
            size = amounts.units()[high.value.key].size if high.value.key else 1
            joined[at] = replace(low, kind=high.kind, value=replace(high.value, value=low.value.value * size))
    return joined


def _image_left_out(found: list[Piece]) -> list[Piece]:
    """Without "in the image", which says nothing."""
    rest: list[Piece] = []
    for at, piece in enumerate(found):
        whole = piece.kind == "IMAGE" and vocabulary.fold(piece.text) not in _GROUND
        of_share = at > 1 and found[at - 2].kind == "PERCENT"
        inside = bool(rest) and (rest[-1].kind in ("IN", "AT", "FROM", "INSIDE") or rest[-1].text.lower() == "over")
        if whole and inside and not of_share:
            rest.pop()
            continue
        rest.append(piece)
    return rest


def _level_behind(found: list[Piece]) -> list[Piece]:
    """The level of the water behind what it floods: "if water reached 12 m, what would be flooded?"."""
    kinds = [piece.kind for piece in found]
    if kinds[:2] != ["ATLEVEL", "QLEN"] or "FLOODED" not in kinds:
        return found
    level, rest = found[:2], found[3:] if kinds[2] in ("ELEVATION", "ABOVESEA") else found[2:]
    at = next(at for at, piece in enumerate(rest) if piece.kind == "FLOODED")
    return [*rest[: at + 1], *level, *rest[at + 1 :]]


_GROUND = ("ground", "land", "terrain", "surface", "bare earth")


def _unit_taken_off(found: list[Piece]) -> tuple[list[Piece], str | None]:
    """Without "in feet" or "(ft)" at the beginning or the end, and that unit."""
    for at, piece in enumerate(found):
        if piece.kind not in _UNITS:
            continue
        before, last = found[at - 1].kind if at else "", at == len(found) - 1
        key = "percent" if piece.kind == "PERCENT" else piece.value.key
        if (before in _ASKS_UNIT and piece.kind != "PERCENT") or (before in _ASKS_UNIT and last):
            drop = {at - 1, at}
        elif last and set("(,?:;") & set(piece.mark):
            drop = {at}
        else:
            continue
        return [other for i, other in enumerate(found) if i not in drop], key
    return found, None
