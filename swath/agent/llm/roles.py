"""What a question says of its quantities and of its answer, by the words that stand beside them.

A small model drops filters, or hangs them on the wrong class. Where a size stands beside its class, a distance beside
its target, and where the first words say what kind of answer is wanted, this is certain, and the grammar of the bound
way holds it. Where anything else stands between, nothing is said, and the model decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest

from swath.agent.offline.meaning import Amount
from swath.agent.offline.pieces import Piece
from swath.agent.units import DIMENSIONS

Names = tuple[str, ...]
"""The legend's names that a word for a class means."""

TRUTH, NAME, TEXT = "truth", "name", "text"

LOW, HIGH = ("larger_than", "min"), ("smaller_than", "max")
"""How a lower and an upper bound of a size is passed: without it, and with it."""

_SIZES = {"OVER": "larger_than", "ATLEAST": "min", "UNDER": "smaller_than", "ATMOST": "max"}
_JOINED = {"ORMORE": "OVER", "ORLESS": "UNDER"}
_KEPT = {"larger_than": "max", "min": "smaller_than", "smaller_than": "min", "max": "larger_than"}
"""What is kept of things where those of a size are left out."""
_REACHES = {"WITHIN": "max_distance", "ATMOST": "max_distance", "UNDER": "smaller_than", "OVER": "larger_than",
            "ATLEAST": "min_distance"}  # fmt: skip
_TO_REACH = ("WITHIN", "ATMOST", "UNDER", "OVER", "ATLEAST", "QLEN")
_BESIDE = frozenset({
    "UNKNOWN", "REGION", "SIZED", "COVER", "BE", "REL", "HAVE", "ALL", "ANY", "THEY", "WITH", "APART", "SEPARATE",
    "CLASSNOUN"
})  # fmt: skip
"""Pieces that may stand between a thing and its size."""
_TO_TARGET = frozenset({
    "FROM", "TO", "AROUND", "BUFFER", "AWAY", "UNKNOWN", "ANY", "NEAREST", "ORLESS", "BORDER", "NEAR", "IN"
})  # fmt: skip
"""Pieces that may stand between a distance and its target."""
_STATISTICS = ("mean", "median")
"""Such as no word means beside: fire that spreads is no standard deviation."""
_OF_TARGET = frozenset({"HAVE", "WITH", "NEAR", "TO", "FROM", "BECAUSE"})
_UNCERTAIN = frozenset({"FREE", "NOT", "NO", "NEITHER", "EXCEPT", "WITHOUT", "BEYOND", "BETWEENDISTANCES"})

_CLAIM = re.compile(
    r"^(is|are|was|were|does|do|did|has|have|any|more)\b|\b(yes or no|whether)\b|[,:] ?(is|are|does|do) ", re.IGNORECASE
)
_MAYBE_CLAIM = re.compile(r"^(can|could|would|will|might|should)\b", re.IGNORECASE)
_DESCRIBES = re.compile(
    r"^\W*(please )?(describe|caption|summari[sz]e)\b|\b(caption|description|summary) (for|of) (the|this|an?) "
    r"(image|picture|scene|photo)",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?!(forest|west|rest|test|interest|request|suggest)\b)(\w+est|(?<!at )most|(?<!at )least|main|top|longer"
    r"|\d+(st|nd|rd|th)|second|third|fourth|fifth)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(full|whole|complete|entire)\s+(areas?|patch(es)?|surfaces?|extents?|sizes?|footprints?|objects?|bod(y|ies))\b"
    r"|\b(in full|(each|counted|counting)( one)? (completely|entirely|whole))\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(north|south|east|west|top|bottom|left|right|upper|lower|half|quarter|corner|centre|center)", re.IGNORECASE
)
_ASKS_FOR_NUMBER = re.compile(
    r"\b(how|which|number|count|tell|give)\b|(?<!\bof )\bwhat\b(?! (is|can be|you|we) (seen|see|shown|visible)\b)",
    re.IGNORECASE,
)
"""A word that asks; "is half of what is shown water?" asks for no number."""
_PASSIVE = re.compile(r"\b(is|are|be|being)\b|^(?!\w+ing\b)\w+ (out|aside)$|ed$", re.IGNORECASE)
"""What is ignored stands before it: "if patches under 1 ha are left out"."""
_DROPPED = re.compile(
    r"(ignored|dropped|excluded|omitted|discarded|removed|skipped|disregarded|neglected)$", re.IGNORECASE
)


@dataclass(frozen=True)
class Reach:
    """A distance and what it is measured from.

    Attributes:
        bound: how it is passed: "max_distance", "smaller_than", "larger_than" or "min_distance".
        amount: the distance.
        target: what it is measured from.
    """

    bound: str
    amount: Amount
    target: Names


@dataclass(frozen=True)
class Roles:
    """What is certain of a question's quantities and its answer.

    Attributes:
        answers: what may answer it: `TRUTH`, `NAME`, `TEXT` or units of numbers; empty where that is not certain.
        sizes: bounds of the size of a class's objects, as (how it is passed, quantity).
        reach: its only distance to something.
        several: whether it asks for two or more.
        of_class: whether a share of something smaller than the image may be meant.
        subject: what lies within the reach of its target, where the question is about nothing else.
        superlative: whether it may ask for the largest, nearest or the like.
        statistic: "mean", "median" or the like, None where it asks for none.
        whole: whether it asks for whole objects, not for the part of them that lies near something: it says so, or has
            "buildings that are within 50 m", where the offline planner reads the same.
        part: whether it may speak of a part of the image.
        covers: whether it compares two covers, such as water and vegetation, with each other.
    """

    answers: frozenset[str] = frozenset()
    sizes: Mapping[Names, tuple[tuple[str, Amount], ...]] = field(default_factory=dict)
    reach: Reach | None = None
    several: bool = False
    of_class: bool = True
    subject: Names | None = None
    superlative: bool = True
    statistic: str | None = None
    whole: bool = False
    part: bool = True
    covers: bool = False


def describes(question: str) -> bool:
    """Whether a question asks for a description of the image."""
    return bool(_DESCRIBES.search(question))


def roles_of(pieces: Sequence[Piece], question: str, unit: str | None) -> Roles:
    """Read the roles of a question.

    Args:
        pieces: its pieces, without the asides.
        question: as typed.
        unit: the unit that it asks for.
    """
    pieces = [_settled(piece, following) for piece, following in zip_longest(pieces, pieces[1:])]
    kinds = [piece.kind for piece in pieces]
    answers = _answers(kinds, question.strip(), unit)
    of_class = _of_class(kinds)
    certain = not _UNCERTAIN & set(kinds) and "TALL" not in kinds
    claims = TRUTH in answers and kinds[:1] == ["BE"] and "QLEN" not in kinds  # "is the water larger than 1 ha"
    sizes = _sizes(pieces) if certain and not claims else {}
    reach = _reach(pieces) if certain and not _drops_near(pieces) else None
    quantities = [piece for piece in pieces if piece.kind[0] == "Q" or piece.kind == "NUM"]
    named = [piece.value.names for piece in pieces if piece.kind == "CLASS" and piece.value.names]
    others = {names for names in named if reach is not None and names != reach.target}
    alone = len(others) == 1 and reach is not None and named.count(reach.target) == 1 and not of_class
    subject = next(iter(others)) if alone else None
    words = [piece.text for piece in pieces if piece.kind == "CLASS"]
    compared = {"MORE", "LESS", "LARGER", "SMALLER", "OVER", "OUTNUMBER"} & set(kinds)
    return Roles(
        answers,
        sizes,
        reach,
        several="MULTIPLE" in kinds,
        of_class=of_class,
        subject=subject,
        superlative=bool(_SUPERLATIVE.search(question)),
        statistic=next((piece.value for piece in pieces if piece.value in _STATISTICS), None),
        whole=bool(_WHOLE.search(question)) or (reach is not None and _as_objects(pieces)),
        covers=bool(compared) and len(set(named)) == 2 and not quantities and not any(map(_is_plural, words)),
        part=bool({"PART", "SIDE", "DIRECTION"} & set(kinds)) or bool(_PART.search(question)),
    )


def _drops_near(pieces: Sequence[Piece]) -> bool:
    """Whether what lies near something is left out: "not counting those within 30 m of a road"."""
    kinds = [
        piece.kind for piece in pieces if piece.kind not in ("THEY", "REGION", "REL", "UNKNOWN", "ALL", "ANY", "CLASS")
    ]
    return any(one == "IGNORE" and other in ("WITHIN", "NEAR", "QLEN", "IN") for one, other in pairwise(kinds))


def _as_objects(pieces: Sequence[Piece]) -> bool:
    """Whether a relative clause leads from objects to a distance."""
    for at, (piece, following) in enumerate(pairwise(pieces)):
        if piece.kind == "REL" and following.kind in _TO_REACH:
            before = next((one for one in reversed(pieces[:at]) if one.kind in ("CLASS", "REGION")), None)
            return before is not None and _is_plural(before.text)
    return False


def _settled(piece: Piece, following: Piece | None) -> Piece:
    """A piece as it is meant where it stands: "ignored" at the end, and "and below" before a size, not after one."""
    if _DROPPED.match(piece.text):
        return replace(piece, kind="IGNORE")
    if piece.kind in _JOINED and following is not None and following.kind in ("QAREA", "QPX", "QLEN"):
        return replace(piece, kind=_JOINED[piece.kind])
    return piece


def _is_plural(word: str) -> bool:
    return word.endswith("s")


def _answers(kinds: Sequence[str], question: str, unit: str | None) -> frozenset[str]:
    if describes(question):
        return frozenset({TEXT})
    asks = _ASKS_FOR_NUMBER.search(question)
    if "FRAGOR" in kinds or {"CONNECTED", "FRAGMENTED"} <= set(kinds):
        return frozenset({NAME})
    if unit is not None:
        return frozenset({_SI.get(DIMENSIONS.get(unit, ""), "")}) - {""}
    if not asks and (_CLAIM.search(question) or _MAYBE_CLAIM.search(question)):
        return frozenset({TRUTH, NAME} if re.search(r"\bor\b", question) else {TRUTH})
    if "PERCENT" in kinds and not {"RATIO", "TIMES"} & set(kinds):
        return frozenset({"percent"})
    if "HOWMANY" in kinds and not {"PER", "TIMES", "DENSITY", "AUNIT", "LUNIT", "PUNIT", "PXUNIT"} & set(kinds):
        return frozenset({"count"})
    return frozenset()


_SI = {"area": "m2", "length": "m", "volume": "m3", "power": "kW", "share": "percent", "pixels": "px"}


def _of_class(kinds: Sequence[str]) -> bool:
    """Whether a share may be one of a class: "which share of the roofs"; else it is one of the image."""
    if not {"PERCENT", "RATIO", "TIMES"} & set(kinds):
        return False
    at = next((at for at, kind in enumerate(kinds) if kind in ("PERCENT", "RATIO", "TIMES")), 0)
    following = next((kind for kind in kinds[at + 1 :] if kind not in ("UNKNOWN", "ALL", "THEY", "REGION")), "")
    narrowed = kinds.count("CLASS") > 1 or {"QAREA", "QLEN", "QPX", "NUM"} & set(kinds)
    return following == "CLASS" and "IMAGE" not in kinds and bool(narrowed)


def _sizes(pieces: Sequence[Piece]) -> dict[Names, tuple[tuple[str, Amount], ...]]:
    found: dict[Names, tuple[tuple[str, Amount], ...]] = {}
    for at, piece in enumerate(pieces):
        if piece.kind not in ("QAREA", "QPX"):
            continue
        bound, owner = _bound(pieces, at), _owner(pieces, at)
        if bound is None or owner is None:
            return {}
        found[owner] = (*found.get(owner, ()), (bound, piece.value))
    sides = [[bound in LOW for bound, _ in bounds] for bounds in found.values()]
    return found if all(len(set(side)) == len(side) for side in sides) else {}


def _bound(pieces: Sequence[Piece], at: int) -> str | None:
    """How a size is passed, by what stands before and after it."""
    before = pieces[at - 1].kind if at else ""
    after = pieces[at + 1].kind if at + 1 < len(pieces) else ""
    bound, left_out = {"ORMORE": "min", "ORLESS": "max"}.get(after) or _SIZES.get(before), _left_out(pieces, at)
    if bound is None and not left_out:  # what is left of a range is no range
        return "min" if _spans(pieces, at, at + 2) else "max" if _spans(pieces, at - 2, at) else None
    return _KEPT[bound] if bound is not None and left_out else bound


def _spans(pieces: Sequence[Piece], low: int, high: int) -> bool:
    """Whether two sizes are the ends of one range: "between 1 and 2 ha", "from 1 to 2 ha"."""
    if low < 0 or high >= len(pieces) or pieces[low].kind != pieces[high].kind:
        return False
    joint = pieces[low + 1].kind
    opening = pieces[low - 1].kind if low else ""
    return (opening == "BETWEEN" and joint == "AND") or joint == "TO"


_SPANNING = ("AND", "BETWEEN", "TO", "QAREA", "QPX")


def _left_out(pieces: Sequence[Piece], at: int) -> bool:
    for piece in pieces[at + 1 :]:
        if piece.kind == "IGNORE" and _PASSIVE.search(piece.text):
            return True
        if piece.kind not in ("BE", "HAVE", "REGION", "UNKNOWN", *_SPANNING):
            break
    for piece in reversed(pieces[: at - 1]):
        if piece.kind == "IGNORE":
            return True
        if piece.kind not in _BESIDE and piece.kind not in ("CLASS", "IMAGE"):
            return False
    return False


def _owner(pieces: Sequence[Piece], at: int) -> Names | None:
    """The class whose objects have a size: the one that it stands beside, or the only one."""
    named = {names for piece in pieces if piece.kind == "CLASS" and (names := _names(piece))}
    if len(named) == 1:
        return next(iter(named))
    passed, back = (*_SPANNING, *_SIZES), False
    for here in reversed(range(at)):
        piece = pieces[here]
        if piece.kind == "CLASS":
            first = not any(earlier.kind == "CLASS" for earlier in pieces[:here])
            return _names(piece) if first or not back else None
        if piece.kind == "IGNORE" and not _PASSIVE.search(piece.text):
            back = True  # "those" are what the question is about, which may not be the class named last
        elif piece.kind not in _BESIDE and piece.kind not in passed:
            return None
    return None


def _names(piece: Piece) -> Names | None:
    names: Names = piece.value.names
    return names or None


def _reach(pieces: Sequence[Piece]) -> Reach | None:
    found = []
    for at, piece in enumerate(pieces):
        bound, target = (_reach_bound(pieces, at), _target(pieces, at)) if piece.kind == "QLEN" else (None, None)
        if bound and target:
            found.append(Reach(bound, piece.value, target))
    return found[0] if len(found) == 1 else None


def _reach_bound(pieces: Sequence[Piece], at: int) -> str | None:
    kinds = [piece.kind for piece in pieces]
    after = kinds[at + 1] if at + 1 < len(kinds) else ""
    before = next((kind for kind in reversed(kinds[:at]) if kind != "UNKNOWN"), "")
    if before in ("OVER", "ATLEAST", "UNDER") and after not in ("FROM", "AWAY", "TO"):
        return None  # "higher than 20 m"
    if before in _REACHES:
        return _REACHES[before]
    near = after in ("ORLESS", "BUFFER") or before in ("IN", "INSIDE", "STATISTIC") or "INSIDE" in kinds[:at]
    return "max_distance" if near or _SPREADING & set(kinds) else None


def _target(pieces: Sequence[Piece], at: int) -> Names | None:
    """The class right after a distance; else one before it that something leads to; else the one that is no subject."""
    for piece in pieces[at + 1 :]:
        if piece.kind == "CLASS":
            return _names(piece)
        if piece.kind not in _TO_TARGET:
            break
    for here in range(at - 1, 0, -1):
        if pieces[here].kind == "CLASS":
            leads = next((piece.kind for piece in reversed(pieces[:here]) if piece.kind not in ("UNKNOWN", "ANY")), "")
            if leads in _OF_TARGET:
                return _names(pieces[here])
            break
    return _other(pieces)


def _other(pieces: Sequence[Piece]) -> Names | None:
    """Of two classes the one whose size is not said, or that is not counted."""
    named = list(dict.fromkeys(names for piece in pieces if piece.kind == "CLASS" and (names := _names(piece))))
    if len(named) != 2:
        return None
    sized = list(_sizes(pieces))
    counted = [_names(following) for piece, following in pairwise(pieces) if (piece.kind, following.kind) == _COUNTED]
    subjects = {names for names in (*sized, *counted) if names}
    return next((names for names in named if names not in subjects), None) if len(subjects) == 1 else None


_COUNTED = ("HOWMANY", "CLASS")
_SPREADING = frozenset({"SPREADS", "HAZARD", "RISK", "ASSUMING", "PREMISE"})
