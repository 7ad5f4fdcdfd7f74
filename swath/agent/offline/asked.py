"""What a question says beside its question: the ground pixel size, the unit of the answer; and gaps in its amounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from swath.agent.offline.amounts import units
from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import FOREIGN, Piece, renamed

_UNITS = ("AUNIT", "LUNIT", "PUNIT", "PXUNIT")
_AMOUNTS = ("QAREA", "QLEN", "QPX")
_GSD_PATTERNS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("RESOLUTION", "BE", "QLEN", "PER", "PXUNIT"), 2),
    (("RESOLUTION", "QLEN", "PER", "PXUNIT"), 1),
    (("RESOLUTION", "QLEN", "OR", "PXUNIT"), 1),
    (("RESOLUTION", "BE", "QLEN", "OR", "PXUNIT"), 2),
    (("RESOLUTION", "BE", "QLEN"), 2),
    (("RESOLUTION", "EXACTLY", "QLEN"), 2),
    (("RESOLUTION", "QLEN"), 1),
    (("RESOLUTION", "BE", "NUM"), 2),
    (("RESOLUTION", "EXACTLY", "NUM"), 2),
    (("RESOLUTION", "NUM"), 1),
    (("QLEN", "RESOLUTION"), 0),
    (("QLEN", "IMAGE", "RESOLUTION"), 0),
    (("QLEN", "PER", "PXUNIT"), 0),
    (("QLEN", "OR", "PXUNIT"), 0),
    (("QLEN", "TO", "PXUNIT"), 0),
    (("QLEN", "PXUNIT"), 0),
    (("PXUNIT", "BE", "QLEN"), 2),
    (("PXUNIT", "EXACTLY", "QLEN"), 2),
    (("PXUNIT", "SIZED", "QLEN"), 2),
    (("PXUNIT", "QLEN"), 1),
    (("QPX", "BE", "QLEN"), 2),
    (("QPX", "EXACTLY", "QLEN"), 2),
    (("ALL", "PXUNIT", "BE", "QLEN"), 3),
    (("QLEN", "IMAGE"), 0),
)
"""Sequences of terminals that state a ground pixel size, and where in them the length stands."""
_BEFORE_GSD = ("AT", "WITH", "ASSUMING", "FOR", "IN", "FROM", "IMAGE", "AND", "BE", "SIZED", "ONLY")
_AFTER_GSD = ("IMAGE", "WIDTH", "RESOLUTION", "NOISE")
_ASKED_BEFORE = ("IN", "AS", "AT", "INTO")


@dataclass(frozen=True)
class Asked:
    """A question without its asides.

    Attributes:
        pieces: what is left to parse.
        gsd_m: the ground pixel size that it states.
        unit: key of the unit that it asks for, None where it asks for none.
        notes: sentences for people.
    """

    pieces: tuple[Piece, ...]
    gsd_m: float | None
    unit: str | None
    notes: tuple[str, ...]


def asides_taken_off(pieces: Sequence[Piece]) -> Asked:
    """Take a stated ground pixel size and an asked unit off the pieces, and mend what is left."""
    rest, gsd_m, notes = _without_gsd(_sides(pieces))
    rest = _whole_amounts(_split_words(rest))
    rest, unit = _without_unit(_pixels_named(rest))
    rest = _without_image(_listed(rest))
    return Asked(tuple(rest), gsd_m, unit, tuple(notes))


def _sides(pieces: Sequence[Piece]) -> list[Piece]:
    """In "which half", a half is a side of the image, not a number."""
    return [
        renamed(piece, "SIDE") if piece.text in ("half", "quarter") and at and pieces[at - 1].kind == "WHICH" else piece
        for at, piece in enumerate(pieces)
    ]


def _split_words(pieces: Sequence[Piece]) -> list[Piece]:
    """What stands for two words, or for none: "or more" before a second thing, "show", the colon of "a : b"."""
    found: list[Piece] = []
    for at, piece in enumerate(pieces):
        follows = pieces[at + 1].kind if at + 1 < len(pieces) else ""
        before = found[-1].kind if found else ""
        two = piece.kind in ("ORMORE", "ORLESS") and piece.text != "+"
        if two and (follows == "THAN" or (follows == "CLASS" and before not in (*_AMOUNTS, "NUM", "QPCT"))):
            found.append(renamed(piece, "AND" if piece.text.startswith("and") else "OR"))
            found.append(renamed(piece, "MORE" if piece.kind == "ORMORE" else "LESS"))
        elif piece.kind in ("PLUSDE", "MOINSDE"):
            amount = follows in (*_AMOUNTS, "NUM", "QPCT", "QPOW")
            kinds = {"PLUSDE": ("OVER", "MORE"), "MOINSDE": ("UNDER", "LESS")}[piece.kind]
            found.append(renamed(piece, kinds[0] if amount else kinds[1]))
        elif piece.kind == FOREIGN and follows == "BECAUSE":
            continue  # "impervious, i.e. buildings and roads": what it means is said
        elif piece.kind == "BECAUSE" and at and pieces[at - 1].kind == FOREIGN:
            continue
        elif piece.kind == before == "PERCENT":
            continue  # "proportion (%)"
        elif piece.kind == "ZWHATIS":
            continue  # "is how much", at the end of a Chinese question
        elif piece.kind == "HAVE" and piece.text.lower() == "show" and not found:
            continue  # "show the number of"
        elif piece.kind == before == "CLASS" and ":" in piece.mark:
            found += [Piece("AGAINST", None, ":", piece.start, piece.start), piece]
        else:
            found.append(piece)
    return found


def _without_gsd(pieces: list[Piece]) -> tuple[list[Piece], float | None, list[str]]:
    for kinds, where in sorted(_GSD_PATTERNS, key=lambda pattern: -len(pattern[0])):
        for at in range(len(pieces) - len(kinds) + 1):
            span = pieces[at : at + len(kinds)]
            if tuple(piece.kind for piece in span) != kinds or not _states_gsd(span):
                continue
            amount: Amount = span[where].value
            notes = [] if amount.unit else [f"The pixel size {amount.value.normalize():f} is taken to be in metres."]
            start, end = at, at + len(kinds)
            while start > 0 and pieces[start - 1].kind in _BEFORE_GSD and not _needed_before(pieces, start - 1):
                start -= 1
            while end < len(pieces) and pieces[end].kind in _AFTER_GSD:
                end += 1
            value = amount.value / (span[0].value.value if kinds[0] == "QPX" else 1)
            return pieces[:start] + pieces[end:], float(value), notes
    return pieces, None, []


def _states_gsd(span: Sequence[Piece]) -> bool:
    if [piece.kind for piece in span] == ["QLEN", "IMAGE"]:
        return span[1].text in ("imagery", "image", "images", "data", "pixel imagery")
    return not (span[0].kind == "QPX" and span[0].value.value == 0)


def _needed_before(pieces: Sequence[Piece], at: int) -> bool:
    """An "image" that the question is about, as in "percentage of the image (GSD 0.5 m)", stays."""
    return pieces[at].kind == "IMAGE" and (
        at == 0 or pieces[at - 1].kind not in ("IN", "WITH", "FOR", "AT", "ASSUMING")
    )


def _whole_amounts(pieces: list[Piece]) -> list[Piece]:
    """Irradiances put together, a "-" between numbers as "to", "0.1 to 1 ha" with the unit on both."""
    found: list[Piece] = []
    for piece in pieces:
        if found and piece.kind in (*_AMOUNTS, "NUM", "QPCT") and "-" in piece.mark:
            if found[-1].kind in (*_AMOUNTS, "NUM", "QPCT"):
                found.append(Piece("TO", None, "-", piece.start, piece.start))
            else:
                piece = renamed(piece, "UNKNOWN")
        found.append(piece)
    for at in range(len(found) - 2):
        low, link, high = found[at : at + 3]
        if low.kind == "NUM" and link.kind in ("TO", "AND") and high.kind in (*_AMOUNTS, "QPCT"):
            ranged = at > 0 and found[at - 1].kind in ("BETWEEN", "FROM", "SIZED")
            if high.value.key and (link.kind == "TO" or ranged):
                found[at] = replace(low, kind=high.kind, value=_in_unit_of(low.value, high.value))
    return _irradiances(found)


def _in_unit_of(number: Amount, other: Amount) -> Amount:
    """The first number of "0.1 to 1 ha" in the unit of the second."""
    value = number.value * units()[other.key].size
    return Amount(value, other.unit, f"{number.said} {other.key}", other.key)


def _irradiances(pieces: list[Piece]) -> list[Piece]:
    found: list[Piece] = []
    at = 0
    while at < len(pieces):
        span = pieces[at : at + 3]
        if [piece.kind for piece in span] in (["QPOW", "OR", "AUNIT"], ["QPOW", "PER", "AUNIT"]):
            watts: Decimal = span[0].value.value * 1000 / span[2].value.size
            text = " ".join(piece.text for piece in span)
            found.append(Piece("QIRR", watts, text, span[0].start, span[2].end, span[0].mark))
            at += 3
        else:
            found.append(pieces[at])
            at += 1
    return found


def _pixels_named(pieces: list[Piece]) -> list[Piece]:
    """The "percentage of pixels" is of the image; "how many water pixels" are as many pixels of water."""
    found = list(pieces)
    for at in range(1, len(found)):
        if found[at].kind != "PXUNIT":
            continue
        before = found[at - 1].kind
        if before == "PERCENT":
            found[at] = renamed(found[at], "IMAGE")
        elif before == "CLASS" and at > 1 and found[at - 2].kind == "HOWMANY":
            found[at - 1], found[at] = found[at], found[at - 1]
    return found


def _without_unit(pieces: list[Piece]) -> tuple[list[Piece], str | None]:
    for at in range(len(pieces) - 1, -1, -1):
        taken = _asked_at(pieces, at)
        if taken:
            start, end, unit = taken
            return pieces[:start] + pieces[end:], unit
    if [piece.kind for piece in pieces[-3:]] in (["AREA", "HOWMANY", "AUNIT"], ["BE", "HOWMANY", "AUNIT"]):
        return pieces[:-2], pieces[-1].value.key  # "the area of the water is how many hectares"
    for at, piece in enumerate(pieces):
        if piece.kind in _UNITS and at and pieces[at - 1].kind in ("HOWMANY", "HOWMUCH"):
            if piece.kind == "PXUNIT" and not any(other.kind in ("WIDTH", "TALL") for other in pieces):
                pieces = [*pieces[:at], renamed(piece, "AUNIT", units()["px"]), *pieces[at + 1 :]]
            return pieces, piece.value.key
    return pieces, None


def _asked_at(pieces: list[Piece], at: int) -> tuple[int, int, str] | None:
    """Whether the unit at a place is what the answer is to be in: the span to take off and the unit."""
    piece = pieces[at]
    before = pieces[at - 1].kind if at else ""
    last = at == len(pieces) - 1
    if piece.kind in _UNITS:
        if before in _ASKED_BEFORE:
            return at - 1, at + 1, piece.value.key
        alone = before not in ("HOWMANY", "HOWMUCH", "PER", "OR") and at > 0
        if alone and (last or "(" in piece.mark or "," in piece.mark):
            return at, at + 1, piece.value.key
    of_something = not last and pieces[at + 1].kind in ("CLASS", "THEY", "LARGEST")
    if piece.kind == "PERCENT" and before in ("IN", "AS") and not of_something:
        return at - 1, at + 1, "percent"
    if piece.kind == "PERCENT" and last and any(other.kind in ("PERCENT", "HOWMUCH", "AREA") for other in pieces[:at]):
        return at, at + 1, "percent"
    return None


def _listed(pieces: list[Piece]) -> list[Piece]:
    """Commas between classes as pieces of their own; other punctuation goes."""
    found: list[Piece] = []
    for piece in pieces:
        previous = found[-1].kind if found else ""
        if "," in piece.mark and previous in ("CLASS", "REGION") and piece.kind in ("CLASS", "PART"):
            found.append(Piece("COMMA", None, ",", piece.start, piece.start))
        found.append(piece)
    return found


def _without_image(pieces: list[Piece]) -> list[Piece]:
    """Leave out "in the image" and an "is there" inside a question, which say nothing."""
    dropped: set[int] = set()
    for at, piece in enumerate(pieces):
        follows_in = at > 0 and pieces[at - 1].kind in ("IN", "AT", "INSIDE", "WITHIN", "FROM")
        if piece.kind == "IMAGE" and follows_in and not _is_denominator(pieces, at):
            dropped |= {at - 1, at}
            if at == len(pieces) - 1 and at >= 2 and pieces[at - 2].kind in ("BE", "REL"):
                dropped.add(at - 2)
        if piece.kind in ("ISTHERE", "PRESENT") and _asks_a_number(pieces[:at]):
            dropped.add(at)
        if piece.kind == "WHICH" and at + 1 < len(pieces) and pieces[at + 1].kind in _NUMBER_WORDS:
            dropped.add(at)
    return [piece for at, piece in enumerate(pieces) if at not in dropped]


def _is_denominator(pieces: Sequence[Piece], at: int) -> bool:
    return at >= 2 and pieces[at - 2].kind in ("PERCENT", "WIDTH", "RESOLUTION", "BANDS")


_NUMBER_WORDS = (
    "HOWMANY", "HOWMUCH", "PERCENT", "TIMES", "RATIO", "HOWBIG", "DENSITY", "AREA", "DISTANCE", "TOTAL", "STATISTIC",
    "POWER", "PERIMETER", "SHORE", "DIFFERENCE",
)  # fmt: skip


def _asks_a_number(pieces: Sequence[Piece]) -> bool:
    claims: Callable[[Piece], bool] = lambda piece: piece.kind in ("ISTHERE", "DO", "WHICH")  # noqa: E731
    return any(piece.kind in _NUMBER_WORDS for piece in pieces) and not any(map(claims, pieces))
