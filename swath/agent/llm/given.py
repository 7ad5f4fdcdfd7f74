"""What a question gives for certain, found without a model: its ground size, quantities with units, classes, unit.

A small model copies numbers badly and converts them worse; what can be read deterministically is read here, offered to
the model, and held against the program that it writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from swath.agent.llm.roles import Roles, roles_of
from swath.agent.offline import asked, lexicon, pieces
from swath.agent.offline import words as words_of
from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import Piece
from swath.errors import Refused

LONGEST_QUESTION = 2_000

_AMOUNTS = ("QLEN", "QAREA", "QPX", "QPCT", "QPOW", "NUM")
_DEGREES = re.compile(r"\s*(°(?!\s*[CFNSEW]\b)|degrees?\b|deg\b)", re.IGNORECASE)
_CUBIC = re.compile(r"\bcubic met(re|er)s?\b|\bm(3|³)", re.IGNORECASE)
_READ = frozenset({
    "CLASS", *_AMOUNTS, "LUNIT", "AUNIT", "PXUNIT", "PUNIT", "IGNORE", "ORMORE", "ORLESS"
})  # fmt: skip
_MOST = re.compile(r"(most|least) ", re.IGNORECASE)
_BOUNDS = frozenset({"OVER", "ATLEAST", "UNDER", "ATMOST", "WITHIN", "BETWEEN", "IN", "INSIDE", "MORE", "LESS"})
_TALL = re.compile(r"\b(high|low|tall|deep)", re.IGNORECASE)
_AFTER_LENGTH = frozenset({"AROUND", "BUFFER"})
_AFTER_COUNT = frozenset({"CLASS", "REGION", "LARGEST", "SMALLEST", "NEAREST", "FARTHEST", "UNKNOWN"})
"""What a number after "the" may count: "the two largest"; "comparing the two" counts nothing."""
_SMALL_TALK = (0, 1)
"""Bare numbers that a question may hold without meaning an amount."""


@dataclass(frozen=True)
class Given:
    """What is certain about a question.

    Attributes:
        question: as typed, bounded in length.
        gsd_m: the ground pixel size that it states.
        amounts: its quantities, in the SI unit of their dimension, that of the ground size left out.
        classes: (the person's word, the legend's names that it means), in order.
        unit: key of the unit that it asks for, None where it asks for none.
        notes: sentences for people.
        beside: its words without those for classes, quantities, their bounds and units, which have been read: "green
            cover" is no colour, "200 square metres" no shape, "at most 2 ha" no place, "above 50 m2" no relation.
        roles: what stands beside its quantities, and what answers it.
    """

    question: str
    gsd_m: float | None
    amounts: tuple[Amount, ...]
    classes: tuple[tuple[str, tuple[str, ...]], ...]
    unit: str | None
    notes: tuple[str, ...]
    beside: str
    roles: Roles = field(default_factory=Roles)


def given(question: str, classes: tuple[str, ...]) -> Given:
    """Read what is certain about a question.

    Args:
        question: as typed.
        classes: the legend's names.

    Raises:
        Refused: it is empty, or longer than anyone asks.
    """
    text = words_of.normalised(question)
    if not text.strip():
        raise Refused("The question is empty. Next: ask one.")
    if len(question) > LONGEST_QUESTION:
        raise Refused(f"The question has {len(question)} characters; ask in at most {LONGEST_QUESTION}.")
    found = pieces.pieces_of(words_of.words_of(text), text, lexicon.lexicon("en"), classes)
    aside = asked.asides_taken_off(found, text)
    told = tuple(piece for at, piece in enumerate(aside.pieces) if not _counts_nothing(aside.pieces, at))
    unit = "m3" if aside.unit == "m" and _CUBIC.search(text) else aside.unit
    return Given(
        question,
        aside.gsd_m,
        tuple(_amounts(told, text)),
        tuple((piece.text, piece.value.names) for piece in told if piece.kind == "CLASS" and piece.value.names),
        unit,
        aside.notes,
        _beside(found, text),
        roles_of(told, text, unit),
    )


def _beside(found: Sequence[Piece], text: str) -> str:
    """The question without what has been read of it."""
    left = text
    for at, piece in enumerate(found):
        before, after = found[at - 1].kind if at else "", found[at + 1].kind if at + 1 < len(found) else ""
        bounds = piece.kind in _BOUNDS and after in _AMOUNTS and not _TALL.search(piece.text)
        sized = piece.kind in ("LARGEST", "SMALLEST") and _MOST.match(piece.text)  # "most extensive"
        if (
            piece.kind in _READ
            or bounds
            or sized
            or (piece.kind in _AFTER_LENGTH and before in ("QLEN", *_AFTER_LENGTH))
        ):
            left = left[: piece.start] + " " * (piece.end - piece.start) + left[piece.end :]
    return " ".join(left.split())


def _counts_nothing(found: Sequence[Piece], at: int) -> bool:
    """Whether a number only refers back: "comparing the two, ..."."""
    if found[at].kind != "NUM" or not at or found[at - 1].text.lower() not in ("the", "these", "those", "of the"):
        return False
    return at + 1 == len(found) or bool(found[at + 1].mark) or found[at + 1].kind not in _AFTER_COUNT


def _amounts(found: Sequence[Piece], text: str) -> Iterator[Amount]:
    for piece in found:
        angle = _DEGREES.match(text, piece.end) if piece.kind == "NUM" else None
        if angle is not None:
            yield Amount(piece.value.value, "deg", piece.text + angle.group())
            continue
        if piece.kind in _AMOUNTS and not (piece.kind == "NUM" and piece.value.value in _SMALL_TALK):
            yield piece.value
