"""What a question gives for certain, found without a model: its ground size, quantities with units, classes, unit.

A small model copies numbers badly and converts them worse; what can be read deterministically is read here, offered to
the model, and held against the program that it writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
_RANGE = re.compile(r"\bbetween(?= \d)", re.IGNORECASE)
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
        roles: what stands beside its quantities, and what answers it.
    """

    question: str
    gsd_m: float | None
    amounts: tuple[Amount, ...]
    classes: tuple[tuple[str, tuple[str, ...]], ...]
    unit: str | None
    notes: tuple[str, ...]
    roles: Roles = field(default_factory=Roles)

    @property
    def beside_classes(self) -> str:
        """The question without its words for classes and ranges: "green cover" is no colour."""
        return " ".join(_without([_RANGE.sub(" ", self.question)], (word for word, _ in self.classes)))


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
    return Given(
        question,
        aside.gsd_m,
        tuple(_amounts(aside.pieces, text)),
        tuple((piece.text, piece.value.names) for piece in aside.pieces if piece.kind == "CLASS" and piece.value.names),
        aside.unit,
        aside.notes,
        roles_of(aside.pieces, text, aside.unit),
    )


def _without(parts: list[str], words: Iterable[str]) -> list[str]:
    for word in words:
        parts = [rest for part in parts for rest in re.split(re.escape(word), part, flags=re.IGNORECASE)]
    return parts


def _amounts(found: Iterable[Piece], text: str) -> Iterator[Amount]:
    for piece in found:
        angle = _DEGREES.match(text, piece.end) if piece.kind == "NUM" else None
        if angle is not None:
            yield Amount(piece.value.value, "deg", piece.text + angle.group())
            continue
        if piece.kind in _AMOUNTS and not (piece.kind == "NUM" and piece.value.value in _SMALL_TALK):
            yield piece.value
