"""What people say before they ask: headings, purposes, who they are. It is left out with a note, if it limits nothing.

A preamble holds no amount, part, comparison, negation or restriction, no word that defines or instructs, and none of
the words by which questions are refused: "Abandoned: how many buildings?" stays whole, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from swath.agent.offline.pieces import FOREIGN, UNKNOWN, Piece
from swath.agent.offline.refusals import triggers
from swath.agent.offline.words import without_accents

_TASK_WORDS = (
    "survey report study triage scenario check task note paper article caption assessment summary analysis request "
    "questionnaire exposure audit claim claims file memo story feature project assignment exercise research exam quiz "
    "inventory statistics statistic metrics indicator context background purpose brief briefing question review thesis "
    "homework application plan planning permit proposal dissertation meeting presentation"
)
_TELLING_WORDS = "i we my our us me as hi hello hey dear working writing preparing doing being new here"
_BINDING_WORDS = (
    "mean means meaning meant call called define defined treat count counts only ignore not except without answer say "
    "print reply respond pretend forget instead always never must output system instruction instructions"
)
_PARDONED_WORDS = "new think good important best would years year people who city value why"
_KINDS_IN_HEADINGS = "UNKNOWN FOR HOWMANY REGION RISK IMAGE IN AT AND DENSITY THEY AREA RESOLUTION HAZARD"
_KINDS_IN_PREAMBLES = (
    "UNKNOWN FOREIGN CLASS FOR REGION IMAGE IN AT AND OR THEY AREA RISK HAVE DO BE TO FROM WITH REL AS SMALLISH "
    "BIGGISH TAKE WHICH ASIDE COVER PRESENT GENERATE CLASSNOUN ASSUMING TOTAL ALL INSIDE AROUND NEAR POWER THEN HAZARD"
)
_KINDS_THAT_ASK = (
    "HOWMANY HOWMUCH PERCENT WHICH ISTHERE BE DO AREA TOTAL STATISTIC DISTANCE HOWBIG DENSITY POWER PERIMETER SHORE "
    "RATIO TIMES DIFFERENCE COVERAGE IN OVER AMONG TAKE"
)
_TASKS = frozenset(_TASK_WORDS.split())
_TELLERS = frozenset(_TELLING_WORDS.split())
_BINDING = frozenset(_BINDING_WORDS.split())
_PARDONED = frozenset(_PARDONED_WORDS.split())
_IN_HEADINGS = frozenset(_KINDS_IN_HEADINGS.split())
_IN_PREAMBLES = frozenset(_KINDS_IN_PREAMBLES.split())
_ASKING = frozenset(_KINDS_THAT_ASK.split())


def without_preamble(pieces: Sequence[Piece], text: str) -> tuple[list[Piece], tuple[str, ...]]:
    """The pieces of the question alone, and a note that says what was not read.

    Args:
        pieces: of the whole text.
        text: the normalised text.
    """
    for at in sorted(_boundaries(pieces), reverse=True):
        said = text[: pieces[at].start].strip(" ,.;:-")
        if _is_heading(pieces[:at], pieces[at].mark):
            return _alone(pieces[at:]), (f'The heading "{said}" is not read.',)
        if _is_preamble(pieces[:at], text[: pieces[at - 1].end]):
            return _alone(pieces[at:]), (f'Not read: "{said}".',)
    return _alone(pieces), ()


def _alone(pieces: Sequence[Piece]) -> list[Piece]:
    alone = [piece for piece in pieces if piece.kind != "ASIDE"]
    premise = any(piece.kind in ("SPREADS", "HAZARD", "PANELLED") for piece in alone)
    premise = premise or [piece.kind for piece in alone[1:2]] == ["RISK"]
    asked_if = alone and alone[0].text.lower() == "if" and not premise  # "I want to know if ..."
    return alone[1:] if asked_if else alone


def _boundaries(pieces: Sequence[Piece]) -> list[int]:
    """Where a question may begin: after a stop, after "I want to know", after a comma before a word that asks."""
    found = []
    for at, piece in enumerate(pieces):
        stops = bool(set(".;:!?") & set(piece.mark)) and "(" not in piece.mark
        asks = piece.kind in _ASKING and bool(set(",-") & set(piece.mark))
        if at and (stops or asks or pieces[at - 1].kind == "ASIDE"):
            found.append(at)
    return found


def _is_heading(pieces: Sequence[Piece], mark: str) -> bool:
    """Whether these are a task or a paper before a colon ("Exposure count: ...")."""
    words = _words(pieces)
    strange = any(piece.kind == UNKNOWN for piece in pieces)
    harmless = all(piece.kind in _IN_HEADINGS for piece in pieces)
    named = bool(set(words) & _TASKS)
    return ":" in mark and strange and harmless and named and len(words) <= 6 and not set(words) & triggers()


def _is_preamble(pieces: Sequence[Piece], text: str) -> bool:
    """Whether these words are about who asks and what for, and limit nothing."""
    said = without_accents(text).replace("'", " ").replace("-", " ").split()
    plain = {word.strip(".,;:!?()") for word in said}
    tells = bool(plain & _TELLERS) or bool(plain & _TASKS)
    strange = any(piece.kind in (UNKNOWN, FOREIGN, "ASIDE") for piece in pieces)
    harmless = all(piece.kind in _IN_PREAMBLES for piece in pieces)
    binding = plain & _BINDING or (plain & triggers()) - _PARDONED
    return tells and strange and harmless and not binding


def _words(pieces: Sequence[Piece]) -> list[str]:
    return [word for piece in pieces for word in without_accents(piece.text).split()]
