"""Sentences that set the scene: "Buyers want a green setting. How many buildings are within 5 m of vegetation?".

Such a sentence is left out, with a note, where the question is whole without it: it may hold no limit that the question
does not repeat, no word that restricts, defines or instructs, and nothing may point back to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from swath.agent.offline.pieces import UNKNOWN, Piece
from swath.agent.offline.refusals import triggers
from swath.segment import vocabulary

_KINDS_IN_SCENES = (
    "UNKNOWN FOREIGN CLASS FOR REGION IMAGE IN AT AND OR AREA HAVE DO BE TO FROM WITH REL AS BIGGISH SMALLISH SHORE "
    "TAKE ASIDE COVER PRESENT GENERATE CLASSNOUN TOTAL ALL ANY INSIDE AROUND NEAR POWER THEN HAZARD RISK BECAUSE THEY "
    "ISTHERE MULTIPLE TOUCHING COMMA BOTH EITHER PREMISE FREE SINGLE"
)
_LIMITS = ("BETWEEN", "OVER", "UNDER", "ATLEAST", "ATMOST", "WITHIN", "BEYOND", "CLOSER", "ORMORE", "ORLESS", "SIZED")
_AMOUNTS = ("QAREA", "QLEN", "QPX", "QPCT", "QPOW", "NUM")
_MEASURING = (
    "HOWMANY", "HOWMUCH", "PERCENT", "AREA", "TOTAL", "AUNIT", "STATISTIC", "DISTANCE", "HOWBIG", "DENSITY", "POWER",
    "PUNIT", "PERIMETER", "SHORE", "RATIO", "TIMES", "DIFFERENCE", "COVERAGE", "WHICH", "ISTHERE", "BE", "DO", "IN",
    "LARGEST", "SMALLEST", "MORE", "LARGER", "DOMINANT", "CLASSNOUN", "WHERE",
)  # fmt: skip
_BINDING_WORDS = (
    "mean means meaning meant call called define defined definition treat treated count counts counted counting "
    "only ignore not except without answer say print reply respond pretend forget instead always never must output "
    "system instruction instructions just exclusively solely include includes including included exclude excluded "
    "remember suppose assume assuming imagine consider considered considering reveal show repeat write translate "
    "execute run act behave obey follow disregard override prompt rules rule tools tool new old newly abandoned "
    "ruined interested interest care cares focus focused mind matter matters concern concerned concerns prefer kind "
    "kinds type types sort sorts ones those them which that's whose"
)
_HARMLESS_WORDS = (
    "will would expected price prices cost costs worth value valued expensive cheap rent premium tax beautiful ugly "
    "nice good bad best worst should better recommend suitable safe dangerous why reason opinion think pretty "
    "important healthy quality likely probably people person population residents lives who where position location "
    "year years month months soon future city name owner owners resident energy"
)
_BINDING = frozenset(_BINDING_WORDS.split())
"""Words by which a sentence may limit, define or order something."""
_HARMLESS = frozenset(_HARMLESS_WORDS.split())
"""Words that make a question one to refuse, and a sentence beside a question none."""
_BESIDE_WATER = (
    "waterfront riverside lakeside waterside riparian coastal littoral lakefront riverfront seaside beachfront shore "
    "shoreline"
)
_BESIDE = {
    "water": frozenset(_BESIDE_WATER.split()),
    "road": frozenset(("roadside", "streetside", "kerbside", "wayside")),
}
"""Words for what lies beside something: a heading with one is explained by a distance to it in the question."""
_NOUN_ENDINGS = ("s", "tion", "sion", "ment", "ity", "ance", "ence", "ship", "ure", "age", "ing", "plan", "check")


def sets_the_scene(pieces: Sequence[Piece], said: str, mark: str, question: Sequence[Piece]) -> bool:
    """Whether words before or after a question say nothing about it.

    Args:
        pieces: of these words.
        said: the words, lower case and without accents, as typed.
        mark: the punctuation at their end.
        question: all other pieces.
    """
    words = [word.strip(",.;:!?()'\"") for word in said.replace("-", " ").replace("'", " ").split()]
    if not _is_whole(question) or not {".", "!", "?", ":", ";"} & set(mark):
        return False
    if ":" in mark and _beside(words, pieces, question):
        return True
    strange = any(piece.kind in (UNKNOWN, "ASIDE") for piece in pieces)
    binding = set(words) & _BINDING or (set(words) & triggers()) - _HARMLESS
    if not strange or binding or not _limits_nothing(pieces, question) or not _named_again(pieces, question):
        return False
    if ":" in mark or ("?" in mark and len(words) > 1):
        return _is_heading(pieces, words)
    return "?" not in mark and len(words) > 1


def _is_whole(question: Sequence[Piece]) -> bool:
    """Whether a question names what it measures and points back to nothing."""
    kinds = {piece.kind for piece in question}
    texts = {word for piece in question if piece.kind in ("THEY", "REGION", UNKNOWN) for word in piece.text.split()}
    first = next((at for at, piece in enumerate(question) if piece.kind == "CLASS"), len(question))
    points_back = any(piece.kind == "THEY" for piece in question[:first]) or bool({"such", "those"} & texts)
    return bool(kinds & set(_MEASURING)) and bool(kinds & {"CLASS", "CLASSNOUN"}) and not points_back


def _named_again(pieces: Sequence[Piece], question: Sequence[Piece]) -> bool:
    """Whether a question about classes names every class of the sentence."""
    asked = {name for piece in question if piece.kind == "CLASS" for name in piece.value.names}
    named = {name for piece in pieces if piece.kind == "CLASS" for name in piece.value.names}
    return named <= asked or any(piece.kind == "CLASSNOUN" for piece in question)


def _limits_nothing(pieces: Sequence[Piece], question: Sequence[Piece]) -> bool:
    amounts = {piece.value.value for piece in question if piece.kind in _AMOUNTS}
    own = [piece for piece in pieces if piece.kind in _AMOUNTS and piece.text.lower() != "one"]
    repeated = bool(own) and all(piece.value.value in amounts for piece in own)
    allowed = {*_KINDS_IN_SCENES.split(), *(_LIMITS if repeated else ())}
    others = [piece for piece in pieces if piece not in own or not repeated]
    defined = zip(pieces, pieces[1:], pieces[2:], strict=False)
    if any([piece.kind for piece in three] == ["CLASS", "BE", "CLASS"] for three in defined):
        return False
    if any(piece.kind not in allowed and piece.text.lower() != "one" for piece in others):
        return False
    sized = {piece.kind for piece in question} & {"LARGEST", "SMALLEST", "QAREA", "QPX"}
    return bool(sized) or not any(piece.kind in ("BIGGISH", "SMALLISH") for piece in pieces)


def _is_heading(pieces: Sequence[Piece], words: Sequence[str]) -> bool:
    """Whether a few words are a noun and no adjective: "Emergency landing options: ...", not "Abandoned: ..."."""
    named = any(piece.kind in ("CLASS", "FOREIGN", "REGION", "NEAR", "RISK") for piece in pieces)
    noun = words[-1].endswith(_NOUN_ENDINGS) and not words[-1].endswith(("less", "ous"))
    return 1 < len(words) <= 5 and not named and (noun or words[-1] in ("area", "site", "spot"))


def _beside(words: Sequence[str], pieces: Sequence[Piece], question: Sequence[Piece]) -> bool:
    """Whether a heading such as "waterfront properties" is explained by a distance in the question."""
    things = {vocabulary.concept_of(piece.value.word) for piece in question if piece.kind == "CLASS"}
    near = any(piece.kind == "QLEN" for piece in question)
    kinds = {piece.kind for piece in pieces}
    return any(
        near and target in things and set(words) & named and len(words) <= 3 and kinds <= {UNKNOWN, "SHORE", "CLASS"}
        for target, named in _BESIDE.items()
    )


def pointed_back(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with "of that size" and "that close" as the limit that was named before."""
    found: list[Piece] = []
    for piece in pieces:
        limit = _last_limit(found, _POINTING[piece.kind]) if piece.kind in _POINTING else []
        found += limit or [piece]
    return found


_POINTING = {"THATSIZE": ("QAREA", "QPX"), "THATFAR": ("QLEN",)}


def _last_limit(pieces: Sequence[Piece], kinds: tuple[str, ...]) -> list[Piece]:
    """The last limit of some kinds, its comparison and both its ends."""
    end = next((at for at in range(len(pieces) - 1, -1, -1) if pieces[at].kind in kinds), None)
    if end is None:
        return []
    start = end
    while start and pieces[start - 1].kind in (*kinds, *_LIMITS, "AND", "TO", "NUM"):
        start -= 1
    if end + 1 < len(pieces) and pieces[end + 1].kind in ("ORMORE", "ORLESS"):
        end += 1
    return list(pieces[start : end + 1]) if end > start else []
