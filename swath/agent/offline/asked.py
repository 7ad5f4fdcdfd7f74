"""What a question says beside its question: the ground pixel size, the unit of the answer; and gaps in its amounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from swath.agent.offline.amounts import units
from swath.agent.offline.gsd import without_gsd
from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import Piece, renamed
from swath.agent.offline.preamble import with_and_without_preamble, without_asides, without_preamble
from swath.agent.offline.rewording import AMOUNTS, reworded

_UNITS = ("AUNIT", "LUNIT", "PUNIT", "PXUNIT")
_ASKED_BEFORE = ("IN", "AS", "AT", "INTO")


@dataclass(frozen=True)
class Asked:
    """A question without its asides.

    Attributes:
        pieces: what is left to parse.
        gsd_m: the ground pixel size that it states.
        unit: key of the unit that it asks for, None where it asks for none.
        notes: sentences for people.
        by: "number" or "area", where it says which of them is meant.
    """

    pieces: tuple[Piece, ...]
    gsd_m: float | None
    unit: str | None
    notes: tuple[str, ...]
    by: str | None = None


def asides_taken_off(pieces: Sequence[Piece], text: str) -> Asked:
    """Take a preamble, a stated ground pixel size and an asked unit off the pieces, and mend what is left."""
    return _asked(*without_preamble(pieces, text), text)


def with_and_without_asides(pieces: Sequence[Piece], text: str) -> Iterator[Asked]:
    """The same with as little left out as possible, then with more: preambles, reasons, purposes."""
    for rest, told in with_and_without_preamble(pieces, text):
        asked = _asked(rest, told, text)
        yield asked
        without = without_asides(asked.pieces, text)
        if without is not None:
            yield replace(asked, pieces=tuple(without[0]), notes=(*asked.notes, *without[1]))


def _asked(pieces: Sequence[Piece], told: tuple[str, ...], text: str) -> Asked:
    pieces = _first_sentence_closed(pieces)
    rest, by = _without_way_of_counting(_sides(pieces))
    rest, gsd_m, notes = without_gsd(rest)
    rest = _whole_amounts(reworded(rest, text))
    rest, unit = _without_unit(_pixels_named(rest))
    rest = _without_image(_listed(rest))
    return Asked(tuple(rest), gsd_m, unit, (*told, *notes), by)


def _first_sentence_closed(pieces: Sequence[Piece]) -> list[Piece]:
    """The end of a sentence that begins with "find" as a piece of its own; no "and" after it or at the beginning."""
    found = list(pieces)
    if found and found[0].kind in _AND_FIRST:
        found = found[1:]
    if not found or found[0].kind != "TAKE":
        return found
    at = next((at for at, piece in enumerate(found) if at and set(".;?!") & set(piece.mark)), None)
    if at is None:
        return found
    rest = found[at + 1 :] if found[at].kind in _AND_FIRST else found[at:]
    return [*found[:at], Piece("STOP", None, ".", found[at].start, found[at].start), *rest]


_AND_FIRST = ("AND", "THEN")


def _without_way_of_counting(pieces: list[Piece]) -> tuple[list[Piece], str | None]:
    ways = {"BYNUMBER": "number", "BYAREA": "area"}
    by = next((ways[piece.kind] for piece in pieces if piece.kind in ways), None)
    return [piece for piece in pieces if piece.kind not in ways], by


def _sides(pieces: Sequence[Piece]) -> list[Piece]:
    """In "which half", a half is a side of the image, not a number."""
    return [
        renamed(piece, "SIDE")
        if _said(piece) in ("half", "quarter") and at and pieces[at - 1].kind == "WHICH"
        else piece
        for at, piece in enumerate(pieces)
    ]


def _said(piece: Piece) -> str:
    return str(piece.value.said) if piece.kind == "QPCT" else piece.text


def _whole_amounts(pieces: list[Piece]) -> list[Piece]:
    """Irradiances put together, a "-" between numbers as "to", "0.1 to 1 ha" with the unit on both."""
    found: list[Piece] = []
    for piece in pieces:
        if found and piece.kind in (*AMOUNTS, "NUM", "QPCT") and "-" in piece.mark:
            if found[-1].kind in (*AMOUNTS, "NUM", "QPCT"):
                found.append(Piece("TO", None, "-", piece.start, piece.start))
            else:
                piece = renamed(piece, "UNKNOWN")
        found.append(piece)
    for at in range(len(found) - 2):
        low, link, high = found[at : at + 3]
        if low.kind == "NUM" and link.kind in ("TO", "AND") and high.kind in (*AMOUNTS, "QPCT"):
            ranged = at > 0 and found[at - 1].kind in ("BETWEEN", "FROM", "SIZED")
            if high.value.key and (link.kind == "TO" or ranged):
                found[at] = replace(low, kind=high.kind, value=_in_unit_of(low.value, high.value))
    for at in range(1, len(found) - 3):
        sign, low, link, other, high = found[at - 1 : at + 4]
        limits = sign.kind in _SIGNS and other.kind in _SIGNS and low.kind == "NUM" and high.kind in AMOUNTS
        if limits and link.kind == "AND" and high.value.key:  # "more than 100 but less than 500 m2"
            found[at] = replace(low, kind=high.kind, value=_in_unit_of(low.value, high.value))
    return _irradiances(found)


_SIGNS = ("OVER", "UNDER", "ATLEAST", "ATMOST")


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
        elif before == "CLASS" and any(piece.kind == "PERCENT" for piece in found[:at]):
            found[at] = renamed(found[at], "AREA")
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
        if piece.kind == "AUNIT" and not any(other.kind == "PER" for other in pieces[:at]):
            return pieces, piece.value.key  # "acres of farmland"
    return pieces, None


def _asked_at(pieces: list[Piece], at: int) -> tuple[int, int, str] | None:
    """Whether the unit at a place is what the answer is to be in: the span to take off and the unit."""
    piece = pieces[at]
    before = pieces[at - 1].kind if at else ""
    last = at == len(pieces) - 1
    if piece.kind in _UNITS:
        uses = before == "ASSUMING" and pieces[at - 1].text.lower() in ("use", "using") and last
        if before in _ASKED_BEFORE or uses:
            return at - 1, at + 1, piece.value.key
        alone = before not in ("HOWMANY", "HOWMUCH", "PER", "OR") and at > 0
        if alone and (last or "(" in piece.mark or "," in piece.mark):
            return at, at + 1, piece.value.key
    asks_area = any(other.kind in ("HOWMUCH", "AREA", "HOWMANY") for other in pieces[:at])
    wholes = ("CLASS", "THEY", "LARGEST") if asks_area else ("CLASS", "THEY", "LARGEST", "IMAGE")
    after = [piece.kind for piece in pieces[at + 1 :] if piece.kind not in ("ALL", "TOTAL")]
    of_something = bool(after) and after[0] in wholes
    if piece.kind == "PERCENT" and before in ("IN", "AS") and not of_something:
        return at - 1, at + 1, "percent"
    if piece.kind == "PERCENT" and last and any(other.kind in ("PERCENT", "HOWMUCH", "AREA") for other in pieces[:at]):
        return at, at + 1, "percent"
    return None


def _listed(pieces: list[Piece]) -> list[Piece]:
    """Commas between classes as pieces of their own; other punctuation goes."""
    found: list[Piece] = []
    for at, piece in enumerate(pieces):
        previous = found[-1].kind if found else ""
        lists = previous in ("CLASS", "REGION", "PART") and piece.kind in ("CLASS", "PART")
        lists = lists and not (previous == "PART" and piece.kind == "CLASS")
        if "," in piece.mark and (lists or (previous in ("CLASS", "SHORE") and _is_size(pieces[at : at + 3]))):
            found.append(Piece("COMMA", None, ",", piece.start, piece.start))
        found.append(piece)
    return found


def _is_size(pieces: Sequence[Piece]) -> bool:
    """Whether a size limit begins here; after a comma it is not that of what stands right before."""
    kinds = [piece.kind for piece in pieces if piece.kind != "SIZED"][:2]
    return len(kinds) == 2 and kinds[0] in ("OVER", "UNDER", "ATLEAST", "ATMOST") and kinds[1] in ("QAREA", "QPX")


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
    kinds = {piece.kind for piece in pieces}
    return bool(kinds & set(_NUMBER_WORDS)) and not kinds & {"ISTHERE", "DO", "WHICH"}
