"""What the planner says when it does not answer: what it did not understand, why, and what it can answer instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from swath.agent.offline.pieces import FOREIGN, UNKNOWN, Piece
from swath.agent.offline.words import Word, without_accents
from swath.errors import Refused, UnknownClass
from swath.segment.protocol import listed_classes

_CHANGE = (
    "It asks about change over time, and the classes of one moment are known. "
    "Next: give those of two with --before FILE --after FILE."
)
_REASONS: tuple[tuple[str, str], ...] = (
    (
        "own owns owner owned owners belongs whose landlord tenant proprietor lives resident residents",
        "It asks who owns or uses something; pixels do not tell.",
    ),
    (
        "kwh mwh gwh energy annual yearly daily",
        "It asks for energy over time, which needs the hours of sun; the peak power in kW can be computed.",
    ),
    (
        "country city address street-name called name named postcode located-in coordinates latitude longitude "
        "region-name who when person people population inhabitants",
        "It asks for a name, a place or people, which are not classes that can be measured.",
    ),
    (
        "will would forecast predict prediction future tomorrow upcoming expected next-year soon projected",
        "It asks about the future; an image shows one moment, and only what is in it can be measured.",
    ),
    (
        "price prices cost costs worth value valued expensive cheap rent euros dollars usd eur pounds premium tax",
        "It asks for a price or a value in money; an image holds none.",
    ),
    (
        "changed change changes since before after ago year years month months grown lost gained shrunk deforestation "
        "growth decrease decreased increase increased expanded disappeared new newly old trend history historical "
        "previously formerly used earlier demolished was were became grew "
        "shrank shrink loss losses gain gains lose converted turned",
        _CHANGE,
    ),
    (
        "tall taller tallest height heights high higher highest elevation elevations altitude storey storeys stories "
        "floors steep steepest slope deep deeper deepest depth volume relief",
        "It asks for heights in words that the built-in grammar does not read: say it more plainly, or name a language "
        "model.",
    ),
    (
        "colour color colours colors red blue yellow white black grey gray brown orange pink purple bright dark look "
        "looks shiny texture material materials style shape",
        "It asks what something looks like in words that nothing is measured by; colours, shapes, directions and "
        "distributions are. A model with eyes could judge it (--look).",
    ),
    (
        "beautiful ugly nice good bad best worst should better recommend suitable safe dangerous why reason opinion "
        "think pretty important healthy quality likely probably",
        "It asks for a judgement; only what can be measured is answered.",
    ),
    (
        "where position location",
        "It asks for a place in words that are not read; ask where one object is, or for a number or a distance.",
    ),
)
NOT_UNDERSTOOD = "Not understood:"
"""How the refusal of a question begins that is no sentence of the grammar."""
_TEMPLATES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"PERCENT", "COVERAGE", "COVER"}), "What percentage of the image is {0}?"),
    (frozenset({"DISTANCE", "NEAREST", "FARTHEST", "APART"}), "How far is the nearest {0} from {1}, in metres?"),
    (frozenset({"WITHIN", "NEAR", "CLOSER", "BEYOND"}), "How many {0} regions are within 100 m of {1}?"),
    (frozenset({"STATISTIC"}), "What is the average area of the {0} regions, in square metres?"),
    (frozenset({"TIMES", "RATIO", "THAN", "OR"}), "Is there more {0} than {1}?"),
    (frozenset({"ISTHERE", "PRESENT", "ANY"}), "Is there any {0}?"),
    (frozenset({"FRAGOR", "CONNECTED", "FRAGMENTED"}), "Is the {0} connected or fragmented?"),
    (frozenset({"PERIMETER", "SHORE", "LENGTH"}), "What is the perimeter of the {0}, in metres?"),
    (frozenset({"POWER", "PUNIT"}), "How much power could the {0} generate?"),
    (frozenset({"HOWMANY"}), "How many {0} regions are there?"),
    (frozenset(), "What is the total area of {0}, in hectares?"),
)


def reason_for(words: Sequence[Word], *, two_dates: bool = False) -> str | None:
    """Why questions with such words cannot be measured; None where the words are of no such kind.

    Args:
        words: of the question.
        two_dates: whether the classes of two dates are known, so that change is no reason.
    """
    texts = {word.text for word in words}
    for triggers, reason in _REASONS:
        if texts & set(triggers.split()) and not (two_dates and reason == _CHANGE):
            return reason
    if two_dates:
        return None
    years = [word for word in words if word.number and word.text.isdigit() and 1900 <= int(word.text) <= 2100]
    return _CHANGE if years else None


def triggers() -> frozenset[str]:
    """Every word that gives a reason; none of them is a misspelt other word."""
    return frozenset(word for words, _ in _REASONS for word in words.split())


def unknown_class(piece: Piece, classes: Sequence[str]) -> UnknownClass:
    """The refusal of a class that the source does not know."""
    return UnknownClass(
        f'"{piece.text}" is not a class that the source of classes knows on this image; it knows '
        f"{listed_classes(classes)}. "
        "Next: ask about one of these, or give the class with --layer NAME=FILE."
    )


def not_understood(
    text: str,
    pieces: Sequence[Piece],
    at: int,
    words: Sequence[Word],
    classes: Sequence[str],
    *,
    two_dates: bool = False,
) -> Refused:
    """The refusal of a question that is no sentence of the grammar.

    Args:
        text: the normalised question.
        pieces: its pieces.
        at: the first piece that fits no reading.
        words: its words.
        classes: the scene's classes.
        two_dates: whether they are known at two dates.
    """
    foreign = next((piece for piece in pieces if piece.kind == FOREIGN), None)
    unknown = [piece for piece in pieces if piece.kind == UNKNOWN]
    strange = [*unknown, foreign] if foreign is not None else unknown
    left = [word for word in words if any(piece.start <= word.start < piece.end for piece in strange)]
    told = reason_for(left, two_dates=two_dates)
    reason = told or reason_for(words, two_dates=two_dates)
    if foreign is not None and told is None:
        return unknown_class(foreign, classes)
    telling = [piece for piece in unknown if without_accents(piece.text) in triggers()]
    quoted = _quote(text, pieces, at, telling or unknown)
    reason = reason or _without_unit(pieces)
    why = f" {reason}" if reason else ""
    nearest = nearest_question(pieces, classes)
    return Refused(f"{NOT_UNDERSTOOD} {quoted}.{why} It can answer, for example: {nearest}")


def nothing_read(question: str, classes: Sequence[str]) -> Refused:
    """The refusal of a question that only the second grammar could have read.

    Args:
        question: as typed.
        classes: the scene's classes.
    """
    words = [Word(without_accents(word.strip(",.;:?!")), 0, 0) for word in question.split()]
    why = reason_for(words) or ""
    nearest = nearest_question([], classes)
    return Refused(f'{NOT_UNDERSTOOD} "{_short(question.strip())}". {why} It can answer, for example: {nearest}')


def _without_unit(pieces: Sequence[Piece]) -> str | None:
    """What to say of a limit without a unit."""
    for before, piece in pairwise(pieces):
        if piece.kind == "NUM" and before.kind in ("OVER", "UNDER", "ATLEAST", "ATMOST", "WITHIN", "BETWEEN", "CLOSER"):
            return f"Say the unit of {piece.text}, such as {piece.text} m2 or {piece.text} m."
    return None


def _quote(text: str, pieces: Sequence[Piece], at: int, unknown: Sequence[Piece]) -> str:
    if unknown:
        first = unknown[0]
        sentence = _later_sentence(text, first)
        if sentence:
            return f'"{_short(sentence)}"'
        last = first
        for piece in unknown[1:]:
            if text[last.end : piece.start].strip(" ,.;:-") == "":
                last = piece
        return f'"{_short(text[first.start : last.end])}"'
    if at >= len(pieces):
        return f'what is asked in "{_short(text)}"'
    return f'"{_short(text[pieces[at].start :])}"'


def _later_sentence(text: str, piece: Piece) -> str | None:
    """The sentence that holds a piece, where it is not the first: an instruction after a question, for example."""
    ends = [found.end() for found in re.finditer(r"[.?!;]+(?= |$)", text)]
    start = max((end for end in ends if end <= piece.start), default=0)
    end = min((end for end in ends if end > piece.start), default=len(text))
    return text[start:end].strip() if start else None


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def nearest_question(pieces: Sequence[Piece], classes: Sequence[str]) -> str:
    """A question like this one that can be answered, about the same classes."""
    named = [name for piece in pieces if piece.kind == "CLASS" for name in piece.value.names]
    wanted = [*dict.fromkeys([*named, *classes]), "water", "building"]
    kinds = {piece.kind for piece in pieces}
    template = next(template for triggers, template in _TEMPLATES if not triggers or triggers & kinds)
    return f'"{template.format(*wanted)}"'
