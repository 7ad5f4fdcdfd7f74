"""Nothing of a question may be lost on the way to its meaning.

The grammar consumes every piece. This guards against a rule, or a method that reads it, which drops what it was given:
the question is then refused with what would have been dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.pieces import Piece
from swath.agent.offline.trees import parts_in, things_in
from swath.agent.offline.unsettled import Unsettled
from swath.segment import vocabulary

_CARRIERS = (
    "QAREA", "QLEN", "QPX", "QPCT", "QPOW", "QIRR", "NUM", "NTH", "PART", "STATISTIC", "TIMESNUM",
    "QDEG", "PERCENTILE", "COLOUR", "SHAPE", "CELL", "CORNER", "EXTREME", "SIDEOF",
)  # fmt: skip


class Excluding:
    """Stands in `MEANT_BY` for whatever says what is left out."""


MEANT_BY: dict[str, tuple[type, ...]] = {
    "HOWMANY": (q.Count, q.Density, q.Difference),
    "PERCENT": (q.Share, q.Area, q.ImageFact),
    "PERIMETER": (q.Perimeter, m.Touching),
    "SHORE": (q.Perimeter, m.Near),
    "DISTANCE": (q.Distance, m.Near, q.Spacing),
    "NEIGHBOUR": (q.Spacing,),
    "POWER": (q.Power,),
    "DENSITY": (q.Density,),
    "RATIO": (q.Ratio,),
    "TIMES": (q.Ratio,),
    "DIVIDED": (q.Ratio,),
    "DIFFERENCE": (q.Difference,),
    "DATE": (m.Dated, m.Changed, m.Turned, q.PresentClasses),
    "CHANGED": (m.Changed, m.Turned, q.Difference, q.Growth, q.Compared),
    "GREW": (q.Difference, q.Growth, q.Compared),
    "BECAME": (m.Turned,),
    "CAMEFROM": (m.Turned,),
    "CONVERTED": (m.Turned,),
    "LARGEST": (m.Pick, q.Choice, q.Ranking, q.Distance, m.Size, q.Compared),
    "SMALLEST": (m.Pick, q.Choice, q.Ranking, q.Distance, m.Size, q.Compared),
    "NOT": (m.Not, m.Near, m.Size, q.Denied, Excluding),
}
"""What a word that asks for a measurement has to have become."""
_UNITS = ("AUNIT", "LUNIT", "PUNIT", "PXUNIT", "PERCENT", "BANDS", "POWER", "CLASSNOUN")


def first_lost(
    pieces: Sequence[Piece], question: q.Question, meant_by: Mapping[str, tuple[type, ...]] = MEANT_BY
) -> int | None:
    """The first piece of a question that its meaning does not hold; None if all are there.

    Args:
        pieces: its terminals.
        question: what it was read as.
        meant_by: what terminals that ask for a measurement have to have become.
    """
    parts = list(parts_in(question.answer))
    held = _values(parts)
    amounts = {(part.value, part.unit) for part in parts if isinstance(part, m.Amount)}
    kinds = {type(part) for part in parts} | ({Excluding} if any(map(_excludes, parts)) else set())
    panelled = any(piece.kind == "PANELLED" for piece in pieces)
    among = _among(question, pieces)
    for at, piece in enumerate(pieces):
        if piece.kind == "CLASS" and among is not None:
            lost = not set(piece.value.names) <= among
        elif piece.kind == "CLASS":
            lost = not set(piece.value.names) <= held and not (panelled and _is_solar(piece))
        elif piece.kind in _CARRIERS:
            lost = not _held(piece, held, amounts)
        elif piece.kind in meant_by and not (piece.kind == "HOWMANY" and _of_a_unit(pieces, at)):
            lost = not any(kind in kinds for kind in meant_by[piece.kind])
        else:
            lost = False
        if lost:
            return at
    return None


def _among(question: q.Question, pieces: Sequence[Piece]) -> set[Any] | None:
    """Of a choice among all classes the classes that are named beside it, None of any other answer."""
    answer = question.answer
    if not isinstance(answer, q.Choice | q.Ranking):
        return None
    every = set(question.classes) - set(answer.without)
    named = {name for piece in pieces if piece.kind == "CLASS" for name in piece.value.names}
    if set(answer.names) != every or every <= named:
        return None
    steps = [step for thing in things_in(answer.measures) for step in thing.steps]
    return _values(list(parts_in(tuple(steps)))) | set(answer.without)


def check_each(pieces: Sequence[Piece], answer: Any) -> None:
    """Refuse one number where one of each object is asked: "what is the area of each building?".

    Raises:
        Unsettled: so it is.
    """
    if not isinstance(answer, q.Area | q.Perimeter | q.Share | q.Distance) or getattr(answer, "statistic", None):
        return
    summed = any(piece.kind == "TOTAL" or "total" in piece.text.lower() for piece in pieces)
    each = any(_is_each(piece) and after.kind in _COUNTED for piece, after in pairwise(pieces))
    sizes = any(piece.kind == "AREA" and piece.text.lower().startswith(_OF_ONE) for piece in pieces)
    picked = any(isinstance(part, m.Pick) for part in parts_in(answer))
    if (each and not summed) or (sizes and isinstance(answer, q.Area) and not picked):
        raise Unsettled("It asks for a number of each of them. Next: ask for the total, the average or the largest.")


def _is_each(piece: Piece) -> bool:
    return piece.kind == "ALL" and bool({"each", "every"} & set(piece.text.lower().split()))


_COUNTED = ("CLASS", "REGION", "NUM", "LARGEST", "SMALLEST")
_OF_ONE = ("patch ", "region ", "parcel ")


def _excludes(part: Any) -> bool:
    """Whether a part of a meaning says what is left out."""
    if isinstance(part, m.Thing):
        return part.inverted or bool(part.without)
    if isinstance(part, q.Choice | q.Ranking):
        return bool(part.without)
    return isinstance(part, m.Overlapping) and part.absent


def _is_solar(piece: Piece) -> bool:
    """The panels of "if all roofs were covered with solar panels" are those roofs in the meaning."""
    return vocabulary.concept_of(piece.value.word) == "solar"


def _held(piece: Piece, held: set[Any], amounts: set[tuple[Decimal, str]]) -> bool:
    """Whether a value is there; an amount in its own unit, so that "25 m" is not taken for that of "25 m2"."""
    if piece.kind in ("QAREA", "QLEN", "QPX", "QDEG"):
        return (piece.value.value, piece.value.unit) in amounts
    return bool(held & _forms(piece))


def _values(parts: Sequence[Any]) -> set[Any]:
    held: set[Any] = {part for part in parts if isinstance(part, str | int | Decimal)}
    return held | {part.value for part in parts if isinstance(part, m.Amount)}


def _forms(piece: Piece) -> set[Any]:
    """The forms that a value may take in the meaning."""
    value = piece.value.value if isinstance(piece.value, m.Amount) else piece.value
    return {value, value / 100} if piece.kind == "QPCT" else {value}


def _of_a_unit(pieces: Sequence[Piece], at: int) -> bool:
    """In "how many hectares", "how many more hectares", "how many bands" no number of things is asked."""
    after = [piece.kind for piece in pieces[at + 1 : at + 3]]
    if after and after[0] in ("MORE", "LARGER"):
        after = after[1:]
    return bool(after) and after[0] in _UNITS
