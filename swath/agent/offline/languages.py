"""Which language a question is in, and its number words in English, so that amounts are read in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from swath.agent.offline.words import Word

LANGUAGES = ("en", "fr", "es", "zh")
_COMMON = {
    "en": "how many much what which is are there of in within than larger percentage area the any does do",
    "fr": (
        "de pourcentage superficie surface nombre distance le la les des du est sont quel quelle quels quelles combien "
        "dans une un y il l d qu en plus moins avec"
    ),
    "es": (
        "de porcentaje superficie numero distancia el la los las del es son que cual cuanto cuanta cuantos cuantas hay "
        "en una un con mas menos cubierto esta y o entre"
    ),
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_NUMBERS = {
    "fr": (
        "un a une a deux two trois three quatre four cinq five six six sept seven huit eight neuf nine dix ten "
        "onze eleven douze twelve treize thirteen quatorze fourteen quinze fifteen seize sixteen vingt twenty "
        "trente thirty quarante forty cinquante fifty soixante sixty cent hundred mille thousand douzaine dozen "
        "moitie half demi half demie half tiers third quart quarter quarts quarters cinquieme fifth dixieme tenth "
        "premier first premiere first deuxieme second seconde second troisieme third quatrieme fourth"
    ),
    "es": (
        "un a una a uno one dos two tres three cuatro four cinco five seis six siete seven ocho eight nueve nine "
        "diez ten once eleven doce twelve trece thirteen catorce fourteen quince fifteen veinte twenty treinta thirty "
        "cuarenta forty cincuenta fifty sesenta sixty cien hundred ciento hundred mil thousand docena dozen "
        "mitad half tercio third tercios thirds tercera third cuarto quarter cuartos quarters "
        "quinto fifth decimo tenth primer first primera first segundo second segunda second tercer third"
    ),
}
_ENGLISH = {
    language: dict(zip(pairs.split()[::2], pairs.split()[1::2], strict=True)) for language, pairs in _NUMBERS.items()
}
_ONE = ("un", "una", "une")
_MORE_THAN = (("plus", "d"), ("plus", "de"), ("moins", "d"), ("mas", "de"), ("menos", "de"))
"""After these, "un" is the number one, not an article."""
_HAN_DIGITS = {char: i for i, char in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_NOT_ONE = ("一共", "一下", "一些", "一起", "一个", "一般", "一类", "一种")
_DOTTED_THOUSANDS = re.compile(r"[1-9]\d{0,2}(\.\d{3})+")


def language_of(
    words: Sequence[Word], english: Collection[str], known: Callable[[str], Collection[str]] | None = None
) -> str:
    """The language of a question: "zh" where it holds Chinese characters, else the one whose small words it uses.

    Args:
        words: of the question.
        english: every word that is understood in English; a question of such words alone is English.
        known: gives every word that is understood in a language; of two languages with as many small words it is the
            one of which more words are known.
    """
    if all(word.text in english or word.number for word in words):
        return "en"
    if any("\u3400" <= word.text[0] <= "\u9fff" for word in words):
        return "zh"
    hits = {language: sum(word.text in known for word in words) for language, known in _WORDS_OF.items()}
    most = max(hits.values())
    likely = [language for language in hits if hits[language] == most]
    if len(likely) == 1 or "en" in likely or known is None:
        return "en" if "en" in likely else likely[0]
    return max(likely, key=lambda language: sum(word.text in known(language) for word in words))


def with_english_numbers(words: Sequence[Word], language: str) -> tuple[list[Word], list[str]]:
    """Words with numbers as English has them, and notes on what was read in a way that could be read otherwise."""
    if language == "zh":
        return _han_numbers(words), []
    found: list[Word] = []
    notes: list[str] = []
    for word in words:
        if word.number and language == "es" and _DOTTED_THOUSANDS.fullmatch(word.text):
            notes.append(f"{word.text} is read with its point between thousands.")
            found.append(replace(word, text=word.text.replace(".", "")))
        elif word.text in _ONE and _texts(found, 2) in _MORE_THAN:
            found.append(replace(word, text="one"))
        else:
            found.append(replace(word, text=_ENGLISH.get(language, {}).get(word.text, word.text)))
    return found, notes


def _texts(words: Sequence[Word], last: int) -> tuple[str, ...]:
    return tuple(word.text for word in words[-last:])


def _han_numbers(words: Sequence[Word]) -> list[Word]:
    """Chinese numerals in digits: 百分之三十 as 30 %, 三分之一 as 1/3, 一半 as half, 十二 as 12."""
    found: list[Word] = []
    at = 0
    while at < len(words):
        texts = "".join(word.text for word in words[at : at + 3])
        if texts.startswith("一半"):
            found.append(replace(words[at], text="half", end=words[at + 1].end))
            at += 2
        elif texts == "百分之" and _han_number(words, at + 3):
            value, length = _han_number(words, at + 3) or (0, 0)
            end = words[at + 2 + length]
            found.append(replace(words[at], text=str(value), number=True, end=end.end))
            found.append(replace(end, text="%", number=False, mark=""))
            at += 3 + length
        else:
            at = _plain_han(words, at, found)
    return found


def _plain_han(words: Sequence[Word], at: int, found: list[Word]) -> int:
    number = _han_number(words, at)
    together = "".join(word.text for word in words[at : at + 2]) in _NOT_ONE
    if number is None or words[at].number or together:
        found.append(words[at])
        return at + 1
    value, length = number
    after = at + length
    above = _han_number(words, after + 2) if "".join(w.text for w in words[after : after + 2]) == "分之" else None
    if above:
        end = words[after + 1 + above[1]].end
        found.append(replace(words[at], text=str(above[0]), number=True, end=end))
        found.append(replace(words[at], text="/", mark="", end=end))
        found.append(replace(words[at], text=str(value), number=True, mark="", end=end))
        return after + 2 + above[1]
    found.append(replace(words[at], text=str(value), number=True, end=words[after - 1].end))
    return after


def _han_number(words: Sequence[Word], at: int) -> tuple[str, int] | None:
    """The number that starts at a word, in digits or Chinese numerals, and the words it takes."""
    if at >= len(words):
        return None
    if words[at].number:
        return words[at].text, 1
    total, digit, length = 0, None, 0
    for word in words[at:]:
        if word.text in _HAN_DIGITS:
            digit = _HAN_DIGITS[word.text]
        elif word.text in _HAN_SCALES and (digit is not None or word.text == "十"):
            total, digit = total + (1 if digit is None else digit) * _HAN_SCALES[word.text], None
        else:
            break
        length += 1
    return (str(total + (digit or 0)), length) if length else None
