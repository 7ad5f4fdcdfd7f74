"""Takes a stated ground pixel size off a question: "(GSD: 0.5m)", "0.5 m pixels", "one pixel is half a metre"."""

from __future__ import annotations

from collections.abc import Sequence

from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import Piece

_NAMES = ("RESOLUTION", "PXUNIT")
_LINKS = (
    "BE",
    "REL",
    "COVER",
    "EXACTLY",
    "FROM",
    "TO",
    "AT",
    "SIZED",
    "THEY",
    "FOR",
    "HAVE",
    "WITH",
    "IMAGE",
    "IN",
    "AS",
)
_SHARED_OUT = ("PER", "OR", "TO", "FOR", "AT", "BY")
_BEFORE = (
    "AT", "WITH", "ASSUMING", "FOR", "IN", "FROM", "IMAGE", "AND", "BE", "SIZED", "ONLY", "ALL", "TAKE", "COMMA", "PER",
    "PREMISE",
)  # fmt: skip
_AFTER = ("IMAGE", "WIDTH", "RESOLUTION", "BIGGISH")
_IMAGERY = ("imagery", "image", "images", "data", "orthophoto", "ortho", "raster", "map")


def without_gsd(pieces: Sequence[Piece]) -> tuple[list[Piece], float | None, list[str]]:
    """The pieces without what states a ground pixel size; that size in metres; a note where its unit was assumed."""
    found = list(pieces)
    for at, piece in enumerate(found):
        if piece.kind not in ("QLEN", "NUM"):
            continue
        span = _stated(found, at)
        if span is None or piece.value.value <= 0:
            continue
        amount: Amount = piece.value
        notes = [] if amount.unit else [f"The pixel size {amount.value.normalize():f} is taken to be in metres."]
        start, end, pixels = span
        while start > 0 and found[start - 1].kind in _BEFORE and not _needed(found, start - 1):
            start -= 1
        while end < len(found) and found[end].kind in _AFTER and not (found[end].kind == "IMAGE" and found[end].mark):
            end += 1
        return found[:start] + found[end:], float(amount.value) / pixels, notes
    return found, None, []


def _stated(pieces: Sequence[Piece], at: int) -> tuple[int, int, float] | None:
    """The span around a length that states the size of a pixel, and how many pixels it is the size of."""
    named = _name_before(pieces, at)
    if named is not None:
        start, pixels = named
        if pieces[at].kind == "NUM" and pieces[start].kind != "RESOLUTION":
            return None
        return start, _name_after(pieces, at + 1) or at + 1, pixels
    if pieces[at].kind == "NUM":
        return None
    end = _name_after(pieces, at + 1)
    if end is not None:
        return at, end, 1.0
    after = pieces[at + 1] if at + 1 < len(pieces) else None
    if after and after.kind == "IMAGE" and after.text.lower() in _IMAGERY and not after.mark:
        return at, at + 2, 1.0
    before = [piece.kind for piece in pieces[max(at - 2, 0) : at]]
    if before[-1:] == ["ATSIGN"]:
        return at - 1, at + 1, 1.0
    if before == ["IMAGE", "AT"] and pieces[at - 2].text.lower() in _IMAGERY:
        return at - 2, at + 1, 1.0
    return None


def _name_before(pieces: Sequence[Piece], at: int) -> tuple[int, float] | None:
    """Where "pixel size", "GSD", "a pixel" or "2 px" stands before a length, with words that only link between them."""
    start = at - 1
    while start >= 0 and pieces[start].kind in _LINKS:
        start -= 1
    if start < 0:
        return None
    one = start == at - 1 and pieces[start].kind == "QPX" and pieces[start].value.value == 1
    one = one and not set("(?.;!,") & set(pieces[at].mark)
    if pieces[start].kind == "QPX" and pieces[start].value.value > 0 and (start < at - 1 or one):
        return start, float(pieces[start].value.value)
    if pieces[start].kind not in _NAMES:
        return None
    if pieces[start].kind == "PXUNIT" and start and pieces[start - 1].kind in ("HOWMANY", "HOWMUCH", "NUM"):
        return None
    while start > 0 and pieces[start - 1].kind in _NAMES:
        start -= 1
    return start, 1.0


def _name_after(pieces: Sequence[Piece], at: int) -> int | None:
    """Where the words end that make a length one of a pixel: "per pixel", "/px", "to the pixel", "resolution"."""
    end = at
    while end < len(pieces) and pieces[end].kind in _SHARED_OUT and end - at < 2:
        end += 1
    if (
        end < len(pieces)
        and pieces[end].kind == "IMAGE"
        and end + 1 < len(pieces)
        and pieces[end + 1].kind == "RESOLUTION"
    ):
        end += 1
    if end >= len(pieces) or pieces[end].kind not in _NAMES or set("(?.;!:") & set(pieces[end].mark):
        return None
    while end < len(pieces) and pieces[end].kind in _NAMES:
        end += 1
    return end


def _needed(pieces: Sequence[Piece], at: int) -> bool:
    """An "image" that the question is about, as in "percentage of the image (GSD 0.5 m)", stays."""
    if pieces[at].kind != "IMAGE":
        return False
    return at == 0 or pieces[at - 1].kind not in ("IN", "WITH", "FOR", "AT", "ASSUMING")
