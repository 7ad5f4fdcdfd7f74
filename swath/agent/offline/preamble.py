"""What people say before they ask: headings, purposes, who they are. It is left out with a note, if it limits nothing.

A preamble holds no amount, part, comparison, negation or restriction, no word that defines or instructs, and none of
the words by which questions are refused: "Abandoned: how many buildings?" stays whole, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swath.agent.offline.pieces import FOREIGN, UNKNOWN, Piece
from swath.agent.offline.refusals import triggers
from swath.agent.offline.scenery import sets_the_scene
from swath.agent.offline.words import without_accents

_TASK_WORDS = (
    "survey report study triage scenario check task note paper article caption assessment summary analysis request "
    "questionnaire exposure audit claim claims file memo story feature project assignment exercise research exam quiz "
    "inventory statistics statistic metrics indicator context background purpose brief briefing question review thesis "
    "homework application plan planning permit proposal dissertation meeting presentation list lists database strategy "
    "policy irrigation evacuation budget"
)
_TELLING_WORDS = "i we my our us me as hi hello hey dear working writing preparing doing being new here"
_ROLE_WORDS = (
    "council councillor editor boss client clients customer customers critics readers neighbour neighbours neighbor "
    "teacher class committee mayor insurer insurers colleague colleagues supervisor professor department agency "
    "ministry municipality firm company team office board locals residents activists opponents developer someone "
    "experts reporter lawyer bank broker underwriter manager planner farmer farmers students student"
)
_INTEREST_WORDS = (
    "interested interest interests care cares focus focused focusing mind looking look concern concerned matter "
    "matters want wants need needs prefer kind kinds type types sort sorts consider considering"
)
"""Words by which a sentence about people may say which things it is about."""
_BINDING_WORDS = (
    "mean means meaning meant call called define defined treat count counts only ignore not except without answer say "
    "print reply respond pretend forget instead always never must output system instruction instructions"
)
_PARDONED_WORDS = (
    "new think good important best would years year people who city value why residents was were expected loss losses"
)
_KINDS_IN_HEADINGS = "SHORE NUM UNKNOWN FOR HOWMANY REGION RISK IMAGE IN AT AND DENSITY THEY AREA RESOLUTION HAZARD"
_KINDS_IN_PREAMBLES = (
    "UNKNOWN FOREIGN CLASS FOR REGION IMAGE IN AT AND OR THEY AREA RISK HAVE DO BE TO FROM WITH REL AS SMALLISH "
    "BIGGISH SHORE TAKE WHICH ASIDE COVER PRESENT GENERATE CLASSNOUN ASSUMING TOTAL ALL INSIDE AROUND NEAR "
    "POWER THEN HAZARD"
)
_KINDS_IN_ASIDES = (
    "UNKNOWN FOR IMAGE IN AT AND HAVE DO BE TO FROM WITH AS BECAUSE PREMISE ASIDE TAKE HAZARD AREA INSIDE AROUND NEAR"
)
_KINDS_THAT_ASK = (
    "HOWMANY HOWMUCH PERCENT WHICH ISTHERE BE DO AREA TOTAL STATISTIC DISTANCE HOWBIG DENSITY POWER PERIMETER SHORE "
    "RATIO TIMES DIFFERENCE COVERAGE IN OVER AMONG TAKE"
)
_TASKS = frozenset(_TASK_WORDS.split())
_TELLERS = frozenset(_TELLING_WORDS.split())
_BINDING = frozenset(_BINDING_WORDS.split())
_PARDONED = frozenset(_PARDONED_WORDS.split())
_ROLES = frozenset(_ROLE_WORDS.split())
_INTEREST = frozenset(_INTEREST_WORDS.split())
_CHOOSING = _INTEREST - {"need", "needs", "want", "wants", "looking", "look"}
_IN_HEADINGS = frozenset(_KINDS_IN_HEADINGS.split())
_IN_PREAMBLES = frozenset(_KINDS_IN_PREAMBLES.split())
_IN_ASIDES = frozenset(_KINDS_IN_ASIDES.split())
_ASKING = frozenset(_KINDS_THAT_ASK.split())


def without_preamble(pieces: Sequence[Piece], text: str) -> tuple[list[Piece], tuple[str, ...]]:
    """The pieces of the question without the longest preamble, and a note that says what was not read.

    Args:
        pieces: of the whole text.
        text: the normalised text.
    """
    return list(with_and_without_preamble(pieces, text))[-1]


def with_and_without_preamble(pieces: Sequence[Piece], text: str) -> Iterator[tuple[list[Piece], tuple[str, ...]]]:
    """The pieces whole, then without each preamble that may be left out, the shortest first; with notes."""
    yield _alone(pieces), ()
    for at in sorted(_boundaries(pieces)):
        said = _ended(text[: pieces[at].start]).strip(" ,.;:-")
        if _is_heading(pieces[:at], _plain(said), pieces[at].mark):
            yield _alone(pieces[at:]), (f'The heading "{said}" is not read.',)
        elif _is_preamble(pieces[:at], text[: pieces[at - 1].end], {piece.kind for piece in pieces[at:]}) or (
            sets_the_scene(pieces[:at], without_accents(said), pieces[at].mark, pieces[at:])
        ):
            yield _alone(pieces[at:]), (f'Not read: "{said}".',)


def _ended(said: str) -> str:
    """What was typed up to the last mark, without words of the question that say nothing ("what is the")."""
    end = max((said.rfind(mark) for mark in ".;:!?"), default=-1)
    return said[:end] if end > 0 else said


def without_asides(pieces: Sequence[Piece], text: str) -> tuple[list[Piece], tuple[str, ...]] | None:
    """The pieces without reasons and purposes among or after them, and notes; None where there are none.

    A reason begins with "because" or the like and is about who asks; a purpose, or a sentence of its own, has to name
    a task. Neither may hold anything that could limit what is measured.
    """
    for start in range(len(pieces)):
        if not (_MARKS & set(pieces[start].mark) or pieces[start].kind in _BEGINNING_ASIDES):
            continue
        end = start + 1
        while end < len(pieces) and not _MARKS & set(pieces[end].mark) and pieces[end].kind != "ASIDE":
            end += 1
        end += end < len(pieces) and pieces[end].kind == "ASIDE"
        around = (*pieces[:start], *pieces[end:])
        others = {piece.kind for piece in around}
        told = _span(pieces, start, end, text)
        if others and (
            _is_aside(pieces[start:end], _plain(told), others)
            or _is_repeated(pieces[start:end], around)
            or (
                _ENDS & set(pieces[start].mark)
                and sets_the_scene(pieces[start:end], without_accents(told), ".", around)
            )
        ):
            rest = without_asides([*pieces[:start], *pieces[end:]], text)
            said = f'Not read: "{_span(pieces, start, end, text)}".'
            return (rest[0], (said, *rest[1])) if rest else ([*pieces[:start], *pieces[end:]], (said,))
    return None


def _is_repeated(pieces: Sequence[Piece], others: Sequence[Piece]) -> bool:
    """Whether words in brackets say once more what the question says: "(biggest vegetation patch)"."""
    said = [(piece.kind, getattr(piece.value, "names", piece.value)) for piece in others]
    bracketed = "(" in pieces[0].mark and len(pieces) > 1
    return bracketed and all((piece.kind, getattr(piece.value, "names", piece.value)) in said for piece in pieces)


_ENDS = frozenset(".!?;")
_MARKS = frozenset(".,;:!?()-")
_SENTENCE_MARKS = frozenset(".;:!?(-")
_BEGINNING_ASIDES = ("BECAUSE", "PREMISE", "FOR")
_MEASURES = ("PERCENT", "HOWMANY", "HOWMUCH", "AREA", "TOTAL", "DISTANCE", "STATISTIC", "DENSITY")


def _span(pieces: Sequence[Piece], start: int, end: int, text: str) -> str:
    """What was typed from one piece to before another, words without a meaning of their own as well."""
    first = pieces[start - 1].end if start else 0
    last = pieces[end].start if end < len(pieces) else len(text)
    return text[first:last].strip(" ,.;:-()!?")


def _plain(text: str) -> set[str]:
    said = without_accents(text).replace("'", " ").replace("-", " ").split()
    return {word.strip(".,;:!?()") for word in said}


def _is_aside(pieces: Sequence[Piece], words: set[str], others: set[str]) -> bool:
    """Whether these words are a reason, a purpose or a sentence about who asks, and limit nothing.

    Args:
        pieces: of the words.
        words: all of them.
        others: the kinds of the other pieces; a measurement may be named if the question asks for it as well.
    """
    reason = pieces[0].kind in ("BECAUSE", "PREMISE") and bool(words & _TELLERS)
    purpose = bool(words & _TASKS) and (pieces[0].kind == "FOR" or bool(words & _TELLERS))
    telling = bool(_SENTENCE_MARKS & set(pieces[0].mark)) and bool(words & (_TELLERS | _ROLES))
    telling = telling and (not words & _INTEREST or bool({piece.kind for piece in pieces} & set(_MEASURES)))
    strange = any(piece.kind == UNKNOWN for piece in pieces)
    telling = telling and not {"ones", "those", "them", "which", "that are"} & words
    allowed = (_IN_ASIDES | {"CLASS"} if reason else _IN_ASIDES) | (others & set(_MEASURES))
    harmless = all(piece.kind in allowed for piece in pieces)
    return strange and harmless and (reason or purpose or telling) and not _binds(words)


def _binds(words: set[str]) -> bool:
    return bool(words & _BINDING or (words & triggers()) - _PARDONED)


def _alone(pieces: Sequence[Piece]) -> list[Piece]:
    alone = [piece for piece in pieces if piece.kind != "ASIDE"]
    premise = any(piece.kind in ("SPREADS", "HAZARD", "PANELLED", "POWER", "PUNIT") for piece in alone)
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


def _is_heading(pieces: Sequence[Piece], words: set[str], mark: str) -> bool:
    """Whether these are a task or a paper before a colon or a stop ("Exposure count: ...", "Listing check.")."""
    strange = any(piece.kind == UNKNOWN for piece in pieces) or "for" in words
    harmless = all(piece.kind in _IN_HEADINGS for piece in pieces)
    harmless = harmless and all(piece.value.value < _FIRST_YEAR for piece in pieces if piece.kind == "NUM")
    named = bool(words & _TASKS) and len(words) <= _LONGEST_HEADING
    return bool({":", "."} & set(mark)) and strange and harmless and named and not _binds(words)


_FIRST_YEAR = 1900
_LONGEST_HEADING = 6


def _is_preamble(pieces: Sequence[Piece], text: str, others: set[str]) -> bool:
    """Whether these words are about who asks and what for, and limit nothing."""
    plain = _plain(text)
    tells = bool(plain & (_TELLERS | _TASKS | _ROLES))
    strange = any(piece.kind in (UNKNOWN, FOREIGN, "ASIDE") for piece in pieces)
    allowed = _IN_PREAMBLES | (others & set(_MEASURES))
    harmless = all(piece.kind in allowed for piece in pieces)
    about_things = any(piece.kind in ("CLASS", "FOREIGN", "REGION") for piece in pieces[:-1])
    if plain & {"ones", "those"} and any(piece.kind in ("BIGGISH", "SMALLISH") for piece in pieces):
        return False  # "I care about the large ones."
    return tells and strange and harmless and not _binds(plain) and not (about_things and plain & _CHOOSING)
