"""Words that stand for two words, for another or for none: "or more" before a second thing, "show", "a : b"."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import FOREIGN, UNKNOWN, Piece, renamed
from swath.agent.offline.refusals import triggers
from swath.segment import vocabulary

AMOUNTS = ("QAREA", "QLEN", "QPX")


def reworded(pieces: Sequence[Piece], text: str) -> list[Piece]:
    """The pieces as the grammar wants them: terms defined, panels that are only supposed, words beside others."""
    return _split_words(_without_panels(_explained(_defined(pieces)), text))


def _split_words(pieces: Sequence[Piece]) -> list[Piece]:
    """What stands for two words, for another, or for none: "or more" before a second thing, "show", "a : b"."""
    found: list[Piece] = []
    for at, piece in enumerate(pieces):
        before = found[-1].kind if found else ""
        after = pieces[at + 1].kind if at + 1 < len(pieces) else ""
        if _says_nothing(pieces, at, before, after):
            continue
        if found and _said_twice(found[-1], piece, mark_after(pieces, at)):
            found.pop()
        if piece.kind == "CLASS" and before == "AREA" and ":" in piece.mark and any(p.kind == "RATIO" for p in pieces):
            found.append(Piece("AGAINST", None, ":", piece.start, piece.start))
        if piece.kind == "AREA" and [other.kind for other in pieces[at + 1 : at + 3]] == ["REL", "NOT"]:
            piece = renamed(piece, "IMAGE")  # "the area that is not water"
        found += _said(piece, before, after, mark_after(pieces, at))
    return found


def _defined(pieces: Sequence[Piece]) -> list[Piece]:
    """A term that the question itself defines as classes ("sealed = buildings + roads") as these classes."""
    found = list(pieces)
    for at, term in enumerate(pieces[:-2]):
        if term.kind not in (FOREIGN, UNKNOWN) or pieces[at + 1].kind not in ("EXACTLY", "BECAUSE"):
            continue
        end = at + 3
        while (
            end + 1 < len(pieces) and pieces[end].text in ("+", "and", "plus", "&") and pieces[end + 1].kind == "CLASS"
        ):
            end += 2
        meant = [renamed(piece, "AND") if piece.text == "+" else piece for piece in pieces[at + 2 : end]]
        again = [i for i in range(end, len(pieces)) if pieces[i].text.lower() == term.text.lower()]
        if meant[0].kind == "CLASS" and again and set(".;:") & set(pieces[end].mark):
            rest = pieces[end:]
            found = list(pieces[:at])
            for piece in rest:
                found += meant if piece.text.lower() == term.text.lower() else [piece]
            return found
    return found


def _explained(pieces: Sequence[Piece]) -> list[Piece]:
    """Words explained on the spot: "front a road, i.e. are within 2 m of one" is "are within 2 m of a road"."""
    for at, piece in enumerate(pieces):
        if piece.kind != "BECAUSE" or "," not in piece.mark or at + 1 == len(pieces):
            continue
        start = at - 1 if pieces[at - 1].kind == "CLASS" else at
        before = start
        while before and pieces[before - 1].kind in (UNKNOWN, "SHORE", "IN", "NEAR", "TOUCHING"):
            before -= 1
        explained = any(other.kind in (UNKNOWN, "SHORE") for other in pieces[before:start])
        named = any(other.kind == "CLASS" for other in pieces[:before])
        limited = any(other.kind in AMOUNTS for other in pieces[at:])
        if explained and named and limited:
            meant = [pieces[start]] if start < at else []
            rest = [one for other in pieces[at + 1 :] for one in (meant if meant and _is_one(other) else [other])]
            return [*pieces[:before], *rest]
    return list(pieces)


def _is_one(piece: Piece) -> bool:
    return piece.kind in ("REGION", "THEY", "NUM") and piece.text.lower() in ("one", "it", "them")


def _without_panels(pieces: Sequence[Piece], text: str) -> list[Piece]:
    """Panels thought of on something else ("if we cover the roofs with panels, how many kW") say nothing of their own.

    Of panels that are there, the power is their own: so a question has to say that it only supposes them.
    """
    solar = [at for at, piece in enumerate(pieces) if _is_solar(piece)]
    kinds = {piece.kind for piece in pieces}
    others = any(piece.kind == "CLASS" and not _is_solar(piece) for piece in pieces)
    supposed = bool(set(text.lower().split()) & _SUPPOSING) or "PANELLED" in kinds
    if not (solar and others and supposed and kinds & {"POWER", "PUNIT", "GENERATE"}) or "NEAR" in kinds:
        return list(pieces)
    gone = set(solar) | {at - 1 for at in solar if at and pieces[at - 1].kind in ("WITH", "IN", "FROM")}
    gone |= {at + 1 for at in solar if at + 1 < len(pieces) and pieces[at + 1].kind in ("IN", "COVER")}
    return [piece for at, piece in enumerate(pieces) if at not in gone]


_SUPPOSING = frozenset(
    (
        "if",
        "suppose",
        "supposing",
        "assume",
        "assuming",
        "imagine",
        "were",
        "could",
        "would",
        "might",
        "potential",
        "can",
    )
)


def _is_solar(piece: Piece) -> bool:
    return piece.kind in ("CLASS", FOREIGN) and vocabulary.concept_of(piece.value.word) == "solar"


def _said_twice(before: Piece, piece: Piece, mark: str) -> bool:
    """Such as "building roofs", "roofs of buildings" and "green (plants)", two words for one class."""
    counted = before.kind == "CLASS" and (before.value.single or before.value.plural)
    alone = (counted and not piece.mark) or ("(" in piece.mark and ")" in mark)
    return before.kind == piece.kind == "CLASS" and alone and bool(piece.value.names == before.value.names)


def _says_nothing(pieces: Sequence[Piece], at: int, before: str, after: str) -> bool:
    """A word without a meaning in its place."""
    piece = pieces[at]
    if piece.kind == "ZWHATIS":  # "is how much", at the end of a Chinese question
        return True
    if piece.kind in (FOREIGN, UNKNOWN):
        return _explained_after(pieces, at, after)
    if piece.kind == "IN" and before == "EFFICIENCY" and "panel" in pieces[at - 1].text.lower():
        return True  # "20 % efficient panels on all roofs"
    if before == "FRAGMENTED" and piece.kind in ("IN", "MULTIPLE", "REGION") and _into_pieces(pieces, at):
        return True
    if piece.kind == "THEY":  # "their nearest road"
        return after == "NEAREST"
    if piece.kind == "WHICH":  # "what do they add up to"
        return after == "DO" and at + 2 < len(pieces) and pieces[at + 2].kind == "THEY"
    if piece.kind == "BECAUSE":
        return at > 0 and pieces[at - 1].kind in (FOREIGN, UNKNOWN)
    if piece.kind == "PERCENT":  # "proportion (%)"
        return before == "PERCENT" or ("(" in piece.mark and any(other.kind == "PERCENT" for other in pieces[:at]))
    return piece.kind == "HAVE" and piece.text.lower() == "show" and not before  # "show the number of"


def _explained_after(pieces: Sequence[Piece], at: int, after: str) -> bool:
    """In "impervious, i.e. buildings and roads" what an unknown word means is said."""
    piece = pieces[at]
    if after in ("IGNORE", "ONLY") and piece.text.lower() in ("after", "upon", "by", "once"):
        return True
    named_later = after in ("PERCENT", "AREA", "COVERAGE") and "(" in mark_after(pieces, at + 1)
    if named_later and at + 2 < len(pieces) and pieces[at + 2].kind == "CLASS":
        return piece.kind == FOREIGN  # "impervious share (roads and buildings)"
    return after == "BECAUSE" or (after == "CLASS" and "(" in mark_after(pieces, at) and _is_noun(piece))


def _into_pieces(pieces: Sequence[Piece], at: int) -> bool:
    """Whether "into several patches" or the like goes on from here to the end or to a mark: fragmented says it."""
    end = at + 1
    while end < len(pieces) and pieces[end].kind in ("IN", "MULTIPLE", "REGION") and not pieces[end].mark:
        end += 1
    said = {piece.kind for piece in pieces[at:end]}
    return (end == len(pieces) or bool(pieces[end].mark)) and bool(said & {"MULTIPLE", "REGION"})


def _is_noun(piece: Piece) -> bool:
    """Whether a word may be what the class in brackets after it explains; not one by which questions are refused."""
    return piece.kind == FOREIGN or piece.text.lower() not in triggers()


def _said(piece: Piece, before: str, after: str, mark: str) -> list[Piece]:
    """What a word stands for beside its neighbours."""
    two = piece.kind in ("ORMORE", "ORLESS") and piece.text != "+"
    if two and (after == "THAN" or (after == "CLASS" and before not in (*AMOUNTS, "NUM", "QPCT"))):
        link = renamed(piece, "AND" if piece.text.lower().startswith("and") else "OR")
        return [link, renamed(piece, "MORE" if piece.kind == "ORMORE" else "LESS")]
    if piece.kind == "WITH" and piece.text.lower().startswith("which ") and not before:
        return [renamed(piece, "WHICH"), renamed(piece, "HAVE")]
    if (
        piece.kind == "CONNECTED"
        and before in ("OVER", "UNDER", "ATLEAST", "ATMOST", "EXACTLY")
        and "one" in piece.text
    ):
        return [renamed(piece, "NUM", Amount(Decimal(1), "", "one")), renamed(piece, "REGION")]
    if piece.kind == "ORMORE" and piece.text == "+" and before == after == "CLASS":
        return [renamed(piece, "AND")]  # "buildings + roads"
    if piece.kind == "OR" and piece.text == "/" and after in ("IMAGE", "AREA") and before not in ("IMAGE", ""):
        return [renamed(piece, "AGAINST" if after == "IMAGE" else "DIVIDED")]
    if piece.kind == before == "CLASS" and "-" in piece.mark:
        return [Piece("TO", None, "-", piece.start, piece.start), piece]
    if piece.kind == before == "CLASS" and ":" in piece.mark:
        return [Piece("AGAINST", None, ":", piece.start, piece.start), piece]
    kind = _compared(piece, after) or _other_kind(piece, before, after, mark)
    return [renamed(piece, kind) if kind else piece]


def _compared(piece: Piece, after: str) -> str | None:
    """What a word of comparison is before an amount, and before anything else."""
    if piece.kind in ("PLUSDE", "MOINSDE"):
        kinds = {"PLUSDE": ("OVER", "MORE"), "MOINSDE": ("UNDER", "LESS")}[piece.kind]
        return kinds[0] if after in (*AMOUNTS, "NUM", "QPCT", "QPOW") else kinds[1]
    if piece.kind == "DIRECTION" and piece.text.lower() == "north of" and after in (*AMOUNTS, "NUM", "QPCT"):
        return "OVER"
    if piece.kind in ("LARGER", "MORE", "SMALLER", "LESS") and after in AMOUNTS:
        return "OVER" if piece.kind in ("LARGER", "MORE") else "UNDER"
    over = piece.kind == "OVER" and piece.text.lower() == "over"
    return "IN" if over and after == "IMAGE" else None  # "over the whole scene"


def _other_kind(piece: Piece, before: str, after: str, mark: str) -> str | None:
    text = piece.text.lower()
    if piece.kind == "AREA" and before in ("QPCT", "PERCENT") and (not after or "?" in mark):
        return "IMAGE"  # "50 % of the area"
    if piece.kind == "AREA" and after in ("NOT", "EXCEPT", "FREE"):
        return "IMAGE"  # "the area not covered by water"
    if piece.kind == "AND" and text == "but" and before in ("IMAGE", "ALL"):
        return "EXCEPT"
    if piece.kind == "REGION" and before == "THEY" and text == "areas":
        return "AREA"
    if piece.kind == "IMAGE" and text == "whole" and before in ("CLASS", "REGION"):
        return "WHOLE"
    return "BECAUSE" if piece.kind == "REL" and text == "that is" and "," in mark else None


def mark_after(pieces: Sequence[Piece], at: int) -> str:
    """The punctuation between a piece and the next."""
    return pieces[at + 1].mark if at + 1 < len(pieces) else ""
