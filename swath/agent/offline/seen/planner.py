"""The second pass of the offline planner: questions about heights, looks, places and masks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lark.exceptions import VisitError

from swath.agent.offline import grammar, phrases, preamble, sentences
from swath.agent.offline import meaning as m
from swath.agent.offline import question as q
from swath.agent.offline.amounts import units
from swath.agent.offline.lost import first_lost
from swath.agent.offline.meaning import EVERYTHING
from swath.agent.offline.pieces import FOREIGN, UNKNOWN, Piece, renamed
from swath.agent.offline.refusals import unknown_class
from swath.agent.offline.seen import meaning as s
from swath.agent.offline.seen import question as sq
from swath.agent.offline.seen import sentences as seen_sentences
from swath.agent.offline.seen.asks import SeenReader
from swath.agent.offline.seen.naming import is_single
from swath.agent.offline.seen.pieces import Heard, heard
from swath.agent.offline.seen.replies import written
from swath.agent.offline.seen.settle import Settler, is_one
from swath.agent.offline.trees import parts_in
from swath.agent.offline.unsettled import Unsettled
from swath.agent.planner import Program, Scene
from swath.raster.heights import STATE_HEIGHTS, STATE_TERRAIN
from swath.tools.appearance import TRUE_COLOUR

GRAMMAR = "seen/grammar.lark"
MOST_PIECES = 40
_MEANT_BY: dict[str, tuple[type, ...]] = {
    "HOWMANY": (q.Count, s.Field, s.HeightDifference, q.Area),
    "PERCENT": (q.Share, s.Field),
    "NOT": (m.Not, q.Denied, s.Between),
    "TALLEST": (s.Ranked, s.Field, q.Choice),
    "LARGEST": (s.Ranked, s.Field),
    "SMALLEST": (s.Ranked, s.Field),
    "ONLY": (s.Only,),
    "JUSTSIDE": (s.Related,),
    "TIMES": (q.Ratio,),
    "TIMESNUM": (q.Times,),
    "FLAT": (s.Field,),
    "ALONE": (s.Related,),
    "FLOODED": (s.Flooded, s.Field),
    "VOLUME": (s.Field,),
    "SLOPE": (s.Field, s.Between, sq.Named),
    "ELEVATION": (s.Field, s.At, s.Between, s.HeightDifference, q.Choice),
    "ABOVEGROUND": (s.Field, s.At, s.Between, sq.Heights, s.HeightDifference),
    "ABOVESEA": (s.Field, s.At, s.Between),
}
"""What a word that asks for a measurement has to have become."""
_ABOVE_GROUND = re.compile(
    r"\b(height_\w+|region_height\w*|with_height|tallest|lowest|nth_tallest|sort_by_height|volume_m3)\("
)
_OF_LAND = re.compile(r"\b(elevation\w*|relief_m|slope_\w+|flat_\w+|aspect_deg|ruggedness_m|profile_m|flood_\w+)\(")
_OF_COLOUR = re.compile(r"\b(dominant_colour|of_colour|coloured_like)\(")


_HOW_MUCH = re.compile(r"how much of$", re.IGNORECASE)
_ASKS_WHAT = re.compile(r"^(?:what|who|how|why|when)\b", re.IGNORECASE)
_ORDER = re.compile(
    r"^(?:please |can you |could you )?(?:segment|mask|delineate|extract|outline(?! of\b| length\b))\b", re.IGNORECASE
)


def is_order(question: str) -> bool:
    """Whether a question begins by asking for a mask, so that no number is meant."""
    return bool(_ORDER.match(question.strip()))


_PARTS = "half|left|right|part|third|quadrant|quarter|side|edge|corner|centre|center|middle|portion|section|area"
_RAISED = re.compile(
    rf"\b(?:high|higher|highest|tall|taller|tallest|shorter|deep|steep|lowest|lower(?![ -](?:{_PARTS})))\b",
    re.IGNORECASE,
)
_NUMBERS = (
    "share|percent\\w*|per cent|proportion|number|count|density|area|coverage|amount|fraction|ratio|how many|how much"
)
_OF_NUMBERS = re.compile(rf"\b(?:{_NUMBERS})\b|%", re.IGNORECASE)
_NORTH, _SOUTH, _TO = "north(?:east|west)?", "south(?:east|west)?", "[- ](?:to[- ])?"
_DIRECTED = re.compile(
    rf"\b(?:{_NORTH}{_TO}{_SOUTH}|{_SOUTH}{_TO}{_NORTH}|east{_TO}west|west{_TO}east)\b", re.IGNORECASE
)


def is_seen(question: str) -> bool:
    """Whether "higher" is about heights, as nothing that is counted is named; or "north-south" about a direction."""
    raised = bool(_RAISED.search(question)) and not _OF_NUMBERS.search(question)
    return raised or bool(_DIRECTED.search(question))


_POINTS = re.compile(r"^(?:please )?(?:the|an?|locate|find|point|draw|box|highlight|mark|select|pick)\b", re.IGNORECASE)


def may_point(question: str) -> bool:
    """Whether a question begins as a phrase for one object does."""
    return bool(_POINTS.match(question.strip()))


def pointed(text: str, scene: Scene) -> Program | None:
    """The program of a phrase for one object ("the largest ship"), None for everything else."""
    try:
        program = planned(text, scene, only_one=True)
    except (grammar.NotUnderstood, Unsettled):
        return None
    return program


def planned(text: str, scene: Scene, *, only_one: bool = False, refused: bool = False) -> Program:
    """The program of a normalised question.

    Args:
        text: the question.
        scene: what is known of the image.
        only_one: whether anything but a phrase for one object is left to others.
        refused: whether the first grammar read it and would not answer, so that a count or an area stays refused.

    Raises:
        NotUnderstood: it is no sentence of this grammar.
        Unsettled: it leaves something open, or what it needs was not given.
    """
    words = _without_preamble(_of_areas(heard(text, scene.classes)), text)
    _check(words.pieces, scene.classes)
    try:
        asked = SeenReader().transform(grammar.parse(words.pieces, GRAMMAR))
    except VisitError as error:
        raise error.orig_exc from None
    if isinstance(asked, sq.Boxes) and (
        _only_a_name(words.pieces, asked.of) or _ASKS_WHAT.match(text) or asked.of == EVERYTHING
    ):
        raise grammar.NotUnderstood(len(words.pieces))
    question = Settler(scene).settle(asked, words.unit)
    if only_one and not (isinstance(question.answer, sq.Boxes) and is_one(question.answer.of)):
        raise grammar.NotUnderstood(0)
    if (
        refused
        and isinstance(question.answer, q.Count | q.Area | q.Share | q.Exists)
        and not _of_heights(question.answer)
    ):
        raise grammar.NotUnderstood(0)
    lost = first_lost(words.pieces, question, _MEANT_BY)
    if lost is not None:
        raise grammar.NotUnderstood(lost)
    source, notes = written(question, scene)
    if not isinstance(question.answer, sq.Caption):
        _check_given(source, scene)
    return Program(source, reading(question.answer), (*words.notes, *question.notes, *notes))


def _of_areas(words: Heard) -> Heard:
    """In "how much of the image is above 20 m, in m2" an area is meant, no share."""
    asked = units().get(words.unit or "")
    if asked is None or asked.dimension != "area":
        return words
    pieces = (replace(one, kind="HOWMUCH") if _HOW_MUCH.match(one.text) else one for one in words.pieces)
    return replace(words, pieces=tuple(pieces))


def _of_heights(answer: Any) -> bool:
    return any(isinstance(part, s.Between | s.Flooded) for part in parts_in(answer))


def reading(answer: Any) -> str:
    """What is measured, as a noun phrase."""
    own = isinstance(answer, sq.SeenAnswer)
    said = seen_sentences.answer(answer, phrases.thing) if own else sentences.reading(answer)
    return " ".join(said.replace(" ,", ",").split())


def _without_preamble(words: Heard, text: str) -> Heard:
    """The question alone, where sentences about who asks stand before it."""
    for rest, told in preamble.with_and_without_preamble(words.pieces, text):
        if told and all(piece.kind not in (UNKNOWN, FOREIGN) for piece in rest):
            return replace(words, pieces=tuple(rest), notes=(*words.notes, *told))
    return words


def _check(pieces: Sequence[Piece], classes: Sequence[str]) -> None:
    if not pieces or len(pieces) > MOST_PIECES:
        raise grammar.NotUnderstood(0)
    for at, piece in enumerate(pieces):
        if piece.kind in (UNKNOWN, FOREIGN):
            if classes and _reads_with_a_class(pieces):
                raise Unsettled(str(unknown_class(_joined(pieces), classes)))
            raise grammar.NotUnderstood(at)


def _joined(pieces: Sequence[Piece]) -> Piece:
    """The words that are no class, as one piece."""
    strange = [piece for piece in pieces if piece.kind in (UNKNOWN, FOREIGN)]
    return replace(strange[0], text=" ".join(piece.text for piece in strange))


_ASKED_FOR = ("class", "classes", "category", "kind", "type", "name", "material", "materials", "texture", "age", "use")
"""What is asked of a thing in words that name no thing."""


def _reads_with_a_class(pieces: Sequence[Piece]) -> bool:
    """Whether a class in place of words that are none would make a question."""
    strange = [at for at, piece in enumerate(pieces) if piece.kind in (UNKNOWN, FOREIGN)]
    asks = any(pieces[at].text.lower() in _ASKED_FOR for at in strange)
    if asks or strange[-1] - strange[0] >= len(strange) or len(strange) == len(pieces):
        return False
    first, last = strange[0], strange[-1]
    known = renamed(pieces[first], "CLASS", m.ClassWord(("class",), pieces[first].text))
    try:
        grammar.parse([*pieces[:first], known, *pieces[last + 1 :]], GRAMMAR)
    except grammar.NotUnderstood:
        return False
    return True


def _only_a_name(pieces: Sequence[Piece], thing: m.Thing) -> bool:
    """Whether a class is all that is said, of many or of a cover: nothing says that boxes are asked for."""
    bare = all(piece.kind in ("CLASS", "REGION", "ALL", "AND", "OR", "COMMA", "IMAGE") for piece in pieces)
    return bare and not is_single(thing)


def _check_given(source: str, scene: Scene) -> None:
    """Refuse what needs a raster or bands that were not given, as the tools would."""
    given = set(scene.heights)
    if _ABOVE_GROUND.search(source) and not ("ndsm" in given or {"dsm", "dtm"} <= given):
        why = "no raster of heights is given" if not given else _alone(given, "a first surface and bare earth")
        raise Unsettled(f"Heights cannot be measured: {why}. Next: {STATE_HEIGHTS}.")
    if _OF_LAND.search(source) and not given & {"dem", "dtm", "dsm"}:
        why = "no raster of heights is given" if not given else _alone(given, "a surface with elevations")
        raise Unsettled(f"Elevations cannot be measured: {why}. Next: {STATE_TERRAIN}.")
    if _OF_COLOUR.search(source) and not set(TRUE_COLOUR) <= set(scene.bands):
        known = ", ".join(scene.bands) or "none"
        raise Unsettled(
            f"Colours cannot be named: the bands for red, green and blue are not all known (known: {known}). "
            "Next: state them with --bands red=N,green=N,blue=N, where the image has them."
        )


def _alone(given: set[str], wanted: str) -> str:
    return f"they need {wanted}, and {', '.join(f'--{surface}' for surface in sorted(given))} is given"
