"""Places, angles and percentiles of a question: what words and pieces do not tell, found in the text by their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import Piece
from swath.agent.offline.seen.meaning import Place

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_A, _B = rf"(?P<a>{_NUMBER})", rf"(?P<b>{_NUMBER})"
_SEP, _AND, _IS = r"\s*(?:,|;|/|\band\b|\s)\s*", r"\s*(?:,|;|and|/)?\s*", r"\s*(?:of|is|=|:)?\s*"
_OPEN, _CLOSE = r"[(\[]?\s*", r"\s*[)\]]?"
_LON, _LAT = rf"(?:longitude|long?|lng)\.?{_IS}", rf"(?:latitude|lat)\.?{_IS}"
_EW, _NS = r"\s*°?\s*(?P<ew>[EW])\b", r"\s*°?\s*(?P<ns>[NS])\b"
_LONLAT = r"\b(?:lon\s*/\s*lat|lon,?\s*lat|longitude\s*/\s*latitude|longitude\s+and\s+latitude)"
_LATLON = r"\b(?:lat\s*/\s*lon|lat,?\s*lon|latitude\s*/\s*longitude|latitude\s+and\s+longitude)"
_EAST, _NORTH = rf"(?:easting|east|e|x){_IS}", rf"(?:northing|north|n|y){_IS}"
_NAMED_EAST, _NAMED_NORTH = rf"\b(?:easting|east|e){_IS}", rf"(?:northing|north|n){_IS}"
_MAP = (
    r"\b(?:(?:map|projected|utm|grid|crs|ground|world)\s+(?:coordinates?|position|location|point|xy)|"
    r"coordinates?\s+in\s+(?:the\s+)?(?:crs|map|image\s+crs)|easting\s+and\s+northing|easting\s*/\s*northing)"
)
_PIXEL = r"\b(?:(?:image\s+)?pixels?|px|cell|image\s+coordinates?|pixel\s+(?:coordinates?|position|location))"
_METRES_E, _METRES_N = r"(?:\s*(?:m\s+)?E\b)?", r"(?:\s*(?:m\s+)?N\b)?"
_ROW, _COLUMN = r"\brow\s*(?:=|:)?\s*", r"\b(?:column|col)\s*(?:=|:)?\s*"
_PX = r"(?:\s*(?:px|pixels?))?"
_FORMS: tuple[tuple[str, str], ...] = (
    ("lonlat", rf"{_LON}{_A}(?:{_EW})?\s*°?{_SEP}?{_LAT}{_B}(?:{_NS})?"),
    ("lonlat", rf"{_LAT}{_B}(?:{_NS})?\s*°?{_SEP}?{_LON}{_A}(?:{_EW})?"),
    ("lonlat", rf"{_OPEN}{_B}{_NS}\s*,?\s*{_A}{_EW}{_CLOSE}"),
    ("lonlat", rf"{_OPEN}{_A}{_EW}\s*,?\s*{_B}{_NS}{_CLOSE}"),
    ("lonlat", rf"{_LONLAT}\s*(?:=|:)?\s*{_OPEN}{_A}{_SEP}{_B}{_CLOSE}"),
    ("lonlat", rf"{_LATLON}\s*(?:=|:)?\s*{_OPEN}{_B}{_SEP}{_A}{_CLOSE}"),
    ("map", rf"{_MAP}\s*(?:=|:)?\s*{_OPEN}(?:{_EAST})?{_A}{_METRES_E}{_SEP}(?:{_NORTH})?{_B}{_METRES_N}{_CLOSE}"),
    ("map", rf"{_NAMED_EAST}{_A}(?:\s*m\b)?{_SEP}{_NAMED_NORTH}{_B}(?:\s*m\b)?"),
    ("map", rf"{_OPEN}{_A}\s*m?\s*E\b\s*,?\s*{_B}\s*m?\s*N\b{_CLOSE}"),
    ("pixel", rf"(?:{_PIXEL}\s+)?{_OPEN}{_ROW}{_B}{_AND}{_COLUMN}{_A}{_CLOSE}"),
    ("pixel", rf"(?:{_PIXEL}\s+)?{_OPEN}{_COLUMN}{_A}{_AND}{_ROW}{_B}{_CLOSE}"),
    ("pixel", rf"{_PIXEL}\s*(?:at\s+)?{_OPEN}x\s*(?:=|:)?\s*{_A}{_PX}{_AND}y\s*(?:=|:)?\s*{_B}{_PX}{_CLOSE}"),
    ("pixel", rf"{_PIXEL}\s*(?:at\s+|=|:)?\s*{_OPEN}{_A}{_SEP}{_B}{_CLOSE}"),
    ("bare", rf"\(\s*{_A}\s*[,;]\s*{_B}\s*\)"),
    ("bare", rf"\[\s*{_A}\s*[,;]\s*{_B}\s*\]"),
    ("bare", rf"\bx\s*(?:=|:)\s*{_A}{_AND}y\s*(?:=|:)\s*{_B}"),
)  # fmt: skip
"""Kind and form, `a` being the longitude, the x or the column; earlier ones win. A "bare" pair has no kind."""
_PATTERNS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _FORMS)
_CALLED = re.compile(
    r"\b(?:(?:point|place|location|site|spot|position)\s+)?\b(?P<name>[A-Z])(?:\s+is)?(?:\s+at)?\s*[:=,(]?\s*$"
)
"""The letter that a place goes by: "point A at (20, 30)"."""
_DEGREES = re.compile(r"(?P<a>\d+(?:\.\d+)?)\s*(?:°|degrees?\b|deg\b)", re.IGNORECASE)
_PERCENTILE = re.compile(
    r"\bp\s?(?P<a>\d{1,2}(?:\.\d+)?)(?!\d)(?!\s*%)|\b(?P<b>\d{1,2}(?:\.\d+)?)(?:st|nd|rd|th)?[ -]percentile\b",
    re.IGNORECASE,
)
_BELOW_ZERO = re.compile(
    r"(?:(?<=\s)|(?<=\())(?:-|minus )(?P<a>\d+(?:\.\d+)?)\s*(?P<unit>m|metres?|meters?|ft|feet)\b(?!\s*2)",
    re.IGNORECASE,
)
_IN_M = {"f": Decimal("0.3048"), "m": Decimal(1)}


def found_by_form(text: str) -> list[Piece]:
    """PLACE, QDEG, PERCENTILE and QLEN below zero, in order, none within another; "bare" places as BAREPLACE."""
    found: list[Piece] = []
    for piece in (*_places(text), *_numbers(text)):
        if all(piece.end <= other.start or piece.start >= other.end for other in found):
            found.append(piece)
    return sorted(found, key=lambda piece: piece.start)


def _places(text: str) -> Iterator[Piece]:
    matches = [(match, kind) for kind, pattern in _PATTERNS for match in pattern.finditer(text)]
    for match, kind in sorted(matches, key=lambda found: found[0].start()):
        first, second = Decimal(match["a"]), Decimal(match["b"])
        named = match.groupdict()
        first = -first if (named.get("ew") or "").upper() == "W" else first
        second = -second if (named.get("ns") or "").upper() == "S" else second
        if kind == "lonlat" and max(abs(first), abs(second)) > 360:  # metres: 500020 E, 4999980 N
            kind = "map"
        place = Place("pixel" if kind == "bare" else kind, first, second)  # type: ignore[arg-type]  # the patterns are named by kind
        name = "BAREPLACE" if kind == "bare" else "PLACE"
        called = _CALLED.search(text[: match.start()])
        start = called.start() if called else match.start()
        place = replace(place, name=called["name"]) if called else place
        yield Piece(name, place, text[start : match.end()].strip(), start, match.end())


def _numbers(text: str) -> Iterator[Piece]:
    for match in _DEGREES.finditer(text):
        yield Piece("QDEG", Amount(Decimal(match["a"]), "deg", match.group()), match.group(), *match.span())
    for match in _PERCENTILE.finditer(text):
        yield Piece("PERCENTILE", Decimal(match["a"] or match["b"]), match.group(), *match.span())
    for match in _BELOW_ZERO.finditer(text):
        key = "ft" if match["unit"].lower().startswith("f") else "m"
        value = -Decimal(match["a"]) * _IN_M[key[0]]
        yield Piece("QLEN", Amount(value, "m", match.group(), key), match.group(), *match.span())
