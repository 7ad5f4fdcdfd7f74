"""What a question gives for certain, found without a model: its ground size, quantities with units, classes, unit.

A small model copies numbers badly and converts them worse; what can be read deterministically is read here, offered to
the model, and held against the program that it writes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from swath.agent.offline import asked, lexicon, pieces
from swath.agent.offline import words as words_of
from swath.agent.offline.amounts import units
from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import Piece
from swath.errors import Refused

LONGEST_QUESTION = 2_000

_AMOUNTS = ("QLEN", "QAREA", "QPX", "QPCT", "QPOW", "NUM")
_SAME = 1e-6
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
    """

    question: str
    gsd_m: float | None
    amounts: tuple[Amount, ...]
    classes: tuple[tuple[str, tuple[str, ...]], ...]
    unit: str | None
    notes: tuple[str, ...]

    def unused(self, source: str) -> tuple[str, ...]:
        """The quantities that do not occur in a program, as typed.

        Args:
            source: a program that parses.
        """
        numbers = tuple(_numbers(ast.parse(source)))
        return tuple(amount.said for amount in self.amounts if not _occurs(amount, numbers))


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
        tuple(_amounts(aside.pieces)),
        tuple((piece.text, piece.value.names) for piece in aside.pieces if piece.kind == "CLASS" and piece.value.names),
        aside.unit,
        aside.notes,
    )


def _amounts(found: Iterable[Piece]) -> Iterator[Amount]:
    for piece in found:
        if piece.kind in _AMOUNTS and not (piece.kind == "NUM" and piece.value.value in _SMALL_TALK):
            yield piece.value


def _numbers(tree: ast.AST) -> Iterator[float]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            yield float(node.value)


def _occurs(amount: Amount, numbers: Iterable[float]) -> bool:
    """In SI units, as typed before a conversion, or a percentage as a share of one."""
    value = float(amount.value)
    typed = float(amount.value / units()[amount.key].size) if amount.key else value
    accepted = [value, typed, value / 100] if amount.unit == "percent" else [value, typed]
    return any(math.isclose(number, other, rel_tol=_SAME) for number in numbers for other in accepted)
