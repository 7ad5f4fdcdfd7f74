"""The offline planner: a question by grammar into a program; the same program every time, and no model.

question -> words -> pieces -> tree -> meaning -> program. Each arrow is a module: `words`, `pieces` (with `numbers`,
`parts`, `lexicon_*.txt`), `grammar` (with `grammar.lark`), `reader` and `answers`, `settle`, `program` and `reply`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lark.exceptions import VisitError

from swath.agent.offline import (
    amounts,
    asked,
    dates,
    grammar,
    languages,
    lexicon,
    parts,
    pieces,
    refusals,
    reply,
    sentences,
    settle,
    typos,
    wrappers,
)
from swath.agent.offline import words as words_of
from swath.agent.offline.frames import FrameReader
from swath.agent.offline.lost import check_each, first_lost
from swath.agent.offline.question import Question
from swath.agent.offline.scenery import pointed_back
from swath.agent.offline.seen import planner as seen
from swath.agent.offline.unsettled import Unsettled
from swath.agent.planner import Feedback, PlannerOptions, Program, Scene
from swath.errors import Refused, UnknownClass
from swath.segment import vocabulary

LONGEST_QUESTION = 2000
MOST_PIECES = 60
MOST_MENDED_CLASSES = 500
"""Of a longer legend no misspelt names are mended: what they may be meant to be takes minutes to collect."""


@dataclass(frozen=True)
class Understood:
    """A question understood, with what it says beside."""

    question: Question
    gsd_m: float | None
    notes: tuple[str, ...]


class OfflinePlanner:
    """Turns questions of `docs/questions.md` into programs, and refuses all others."""

    name = "offline"

    def __init__(self, options: PlannerOptions | None = None) -> None:
        """Nothing can be chosen."""

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Write a program.

        Args:
            question: as typed.
            scene: what is known of the image.
            feedback: the last rejected draft; this planner has no other to offer.

        Raises:
            Refused: the question is not covered whole; the message quotes what was not understood.
        """
        if feedback is not None:
            raise Refused(f"The program for this question does not work here: {' '.join(feedback.hints)}")
        program = _pointed(question, scene)
        if program is not None:
            return program
        if seen.is_order(question) or seen.is_seen(question):
            return _seen(question, scene, refusals.nothing_read(question, scene.classes))
        try:
            understood = understand(question, scene.classes)
        except Refused as refusal:
            return _seen(question, scene, refusal)
        ground_known = scene.pixel_size_m is not None or understood.gsd_m is not None
        try:
            source, notes = reply.written(understood.question, ground_known=ground_known)
        except Unsettled as error:
            raise Refused(error.why) from None
        said = sentences.reading(understood.question.answer)
        return Program(source, said, (*understood.notes, *understood.question.notes, *notes), understood.gsd_m)


def _pointed(question: str, scene: Scene) -> Program | None:
    """The boxes that a phrase for one object asks for, None where the question is no such phrase."""
    if len(question) > LONGEST_QUESTION or not seen.may_point(question) or dates.Dates.of(scene.classes).dated:
        return None
    return seen.pointed(words_of.normalised(question), scene)


def _seen(question: str, scene: Scene, refusal: Refused) -> Program:
    """The program of a question that the first grammar refuses, by the second one.

    Raises:
        Refused: by the second grammar where only that reads the question, else by the first.
    """
    if len(question) > LONGEST_QUESTION or dates.Dates.of(scene.classes).dated:
        raise refusal
    read = not str(refusal).startswith(refusals.NOT_UNDERSTOOD) and not isinstance(refusal, UnknownClass)
    try:
        return seen.planned(words_of.normalised(question), scene, refused=read)
    except grammar.NotUnderstood:
        raise refusal from None
    except Unsettled as error:
        raise (refusal if read else Refused(error.why)) from None


def understand(question: str, classes: tuple[str, ...]) -> Understood:
    """The meaning of a question over some classes.

    Raises:
        Refused: it is not covered whole.
    """
    if len(question) > LONGEST_QUESTION:
        raise Refused(f"The question has {len(question)} characters; ask in at most {LONGEST_QUESTION}.")
    known_dates = dates.Dates.of(classes)
    text = words_of.normalised(question)
    words, found, told = _pieces(text, known_dates)
    if not words:
        nearest = refusals.nearest_question([], known_dates.plain)
        raise Refused(f"The question is empty. It can answer, for example: {nearest}")
    try:
        aside, settled = _settled(asked.with_and_without_asides(found, text), known_dates)
        return Understood(replace(settled, classes=classes), aside.gsd_m, (*told, *aside.notes))
    except _Unread as unread:
        two_dates, classes, rest = bool(known_dates.dated), known_dates.plain, unread.aside.pieces
        if isinstance(unread.why, grammar.NotUnderstood):
            at = unread.why.at
            raise refusals.not_understood(text, rest, at, words, classes, two_dates=two_dates) from None
        nearest = refusals.nearest_question(rest, classes)
        raise Refused(f"{unread.why} It can answer, for example: {nearest}") from None


def _pieces(text: str, known_dates: dates.Dates) -> tuple[list[words_of.Word], list[pieces.Piece], tuple[str, ...]]:
    """The words of a normalised question, its pieces, and notes on what was mended."""
    classes, two_dates = known_dates.plain, bool(known_dates.dated)
    words = words_of.words_of(text)
    english = _known_words("en", classes, two_dates)
    language = languages.language_of(words, english, lambda one: _known_words(one, classes, two_dates))
    words = words_of.without(words, "the")
    words = wrappers.without_wrappers(words) if language == "en" else words
    words, numbered = languages.with_english_numbers(words, language)
    known = _known_words(language, classes, two_dates)
    words, mended = typos.mended(
        words, known, _targets(language, classes, two_dates), right=typos.english() if language == "en" else frozenset()
    )
    found = pointed_back(pieces.pieces_of(words, text, lexicon.lexicon(language, two_dates=two_dates), classes))
    return words, found, (*mended, *numbered)


class _Unread(Exception):
    """A question that has no meaning, and why."""

    def __init__(self, aside: asked.Asked, why: grammar.NotUnderstood | Unsettled) -> None:
        super().__init__(str(why))
        self.aside = aside
        self.why = why


def _settled(asides: Iterable[asked.Asked], known_dates: dates.Dates) -> tuple[asked.Asked, Question]:
    """The first meaning of a question, by the grammar's sentences or else by its parts.

    Raises:
        _Unread: it has none; with as much left out as may be.
    """
    unread: _Unread | None = None
    for aside in asides:
        try:
            if known_dates.dated:
                years, said = dates.years_as_dates(aside.pieces)
                aside = replace(aside, pieces=tuple(years), notes=(*aside.notes, *said))
            return aside, _dated(_understood(aside, known_dates), known_dates)
        except (grammar.NotUnderstood, Unsettled) as error:
            unread = _Unread(aside, error)
    raise unread or ValueError("no pieces")


def _understood(aside: asked.Asked, known_dates: dates.Dates) -> Question:
    def read(start: str) -> Question:
        return _read(aside.pieces, settle.Settler(known_dates.plain, aside.unit, aside.by), start)

    first: grammar.NotUnderstood | Unsettled | None = None
    for start in ("start", "frame", "contest"):
        try:
            return read(start)
        except (grammar.NotUnderstood, Unsettled) as error:
            first = first or error
    raise first or grammar.NotUnderstood(0)


def _read(found: Sequence[pieces.Piece], settler: settle.Settler, start: str) -> Question:
    if len(found) > MOST_PIECES:
        raise grammar.NotUnderstood(MOST_PIECES)
    for at, piece in enumerate(found):
        if piece.kind in (pieces.UNKNOWN, pieces.FOREIGN):
            raise grammar.NotUnderstood(at)
    try:
        parsed = FrameReader().transform(grammar.parse(found, start=start))
    except VisitError as error:
        raise error.orig_exc from None
    question = settler.settle(parsed)
    lost = first_lost(found, question)
    if lost is not None:
        raise grammar.NotUnderstood(lost)
    settle.check_shares(question.answer)
    check_each(found, question.answer)
    return question


def _dated(question: Question, known_dates: dates.Dates) -> Question:
    """The question over the classes of the scene, each at its date."""
    if not known_dates.dated:
        return question
    dater = dates.Dater(known_dates)
    answer = dater.dated(question.answer)
    notes = tuple(dict.fromkeys((*question.notes, *dater.notes)))
    return replace(question, answer=answer, notes=notes)


@lru_cache(maxsize=32)
def _targets(language: str, classes: tuple[str, ...], two_dates: bool) -> typos.Targets:
    """What a misspelt word may be meant to be: words that carry meaning; those of the scene's own classes first."""
    own = {word for name in classes for word in vocabulary.fold(name).split()}
    entries = lexicon.lexicon(language, two_dates=two_dates).entries.items()
    words = {word for phrase, entry in entries if entry.kind not in _NEVER_MEANT for word in phrase}
    words |= {word for spelling in amounts.unit_by_words() for word in spelling} | amounts.number_words()
    words |= _COMMON_NAMES | parts.part_words(language)
    named = (*classes, *(word for entry in vocabulary.synonyms().values() for word in entry))
    for phrase in named if len(classes) <= MOST_MENDED_CLASSES else ():
        if vocabulary.matches(phrase, classes):
            words |= {form for word in vocabulary.fold(phrase).split() for form in (word, f"{word}s")}
    return typos.Targets(frozenset(words), frozenset(own | {f"{word}s" for word in own} | {"within"}))


_NEVER_MEANT = (lexicon.NOISE, "IMAGE")
_COMMON_NAMES = frozenset({"image", "picture", "photo", "scene"})


@lru_cache(maxsize=32)
def _known_words(language: str, classes: tuple[str, ...], two_dates: bool) -> frozenset[str]:
    """Every word that a question may hold."""
    known = set(lexicon.lexicon(language, two_dates=two_dates).words)
    known |= amounts.number_words() | parts.part_words(language)
    known |= {word for spelling in amounts.unit_by_words() for word in spelling}
    for phrase in (*classes, *(word for entry in vocabulary.synonyms().values() for word in entry)):
        for word in vocabulary.fold(phrase).split():
            known |= {word, f"{word}s", f"{word}es", f"{word[:-1]}ies" if word.endswith("y") else word}
    return frozenset(known)
