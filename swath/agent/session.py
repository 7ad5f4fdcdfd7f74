"""A thread of questions about one image: follow-ups build on what was asked, and a crash loses at most one answer."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import StateSnapshot

from swath.agent.ask import keep_run, open_desk
from swath.agent.desk import Desk
from swath.agent.eyes import Eyes
from swath.agent.graph import compiled, work
from swath.agent.planner import Feedback, Planner, Program, Scene, Turn, Usage
from swath.agent.planners import eyes_of, rival_of, usage_of
from swath.errors import InputError, Refused
from swath.trace.events import Listener, nobody
from swath.types import Answer

THREADS_FILE = "threads.sqlite"
"""Lies beside the run folders and holds the state of every thread: JSON values, no pixels."""

_BACK = re.compile(r"\b(those|these|them|they|their|that|it|its|ones)\b", re.IGNORECASE)
_FIRST = re.compile(r"^(and|so|now|then|ok|okay)\b[\s,]*", re.IGNORECASE)
_PLAIN = re.compile(r"[\w ,.%²()'/&-]{1,200}")
_MEASURED_OF = re.compile(r"^(?:number|total area|area) of (.+)$")


class Session:
    """Questions about one image, one after another; use as a context manager, or call `close`.

    Attributes:
        thread: name under which the thread is kept.
    """

    def __init__(self, image: str | Path, *, thread: str | None = None, **options: Any) -> None:
        """Open a thread, or go on with one.

        Args:
            image: a raster that GDAL reads.
            thread: name of the thread; by default the image's own.
            options: as for `swath.ask`.

        Raises:
            InputError: the file that keeps the threads cannot be used.
        """
        self.thread = thread or str(Path(image).absolute())
        self._image, self._options = Path(image), options
        self._file = Path(options.get("out") or "runs") / THREADS_FILE
        self._connection = _connected(self._file)
        self._saver = SqliteSaver(self._connection)
        self._opened: Desk | None = None

    def __enter__(self) -> Session:
        """The session itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file of threads."""
        self.close()

    def close(self) -> None:
        """Close the file of threads; the thread stays in it."""
        self._connection.close()

    def ask(self, question: str, *, listen: Listener = nobody) -> Answer:
        """Ask, where "those" and "them" mean what the last answer was about.

        Args:
            question: in words.
            listen: told of every graph step and tool call as it happens.

        Raises:
            InputError: a file or an option cannot be used.
        """
        desk = open_desk(self._image, question, **self._options)
        desk.planner, desk.listen = _InThread(desk.planner), listen
        if self._opened is not None:
            opened = self._opened.opened()
            desk.raster, desk.backend, desk.site = opened.raster, opened.backend, opened.again()
        with self._file_in_use():
            answer = work(desk, self._saver, self.thread)
        if desk.site is not None and (desk.program is None or desk.program.gsd_m is None):
            self._opened = desk
        return keep_run(desk, answer)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The questions of the thread that have been answered, oldest first."""
        return tuple(Turn(**turn) for turn in self._state().values.get("turns", ()))

    @property
    def interrupted(self) -> str | None:
        """The question at which the thread was cut off, None where its last one was brought to an end."""
        state = self._state()
        return state.values["question"] if state.next else None

    def _state(self) -> StateSnapshot:
        with self._file_in_use():
            found: StateSnapshot = compiled(self._saver).get_state({"configurable": {"thread_id": self.thread}})
        return found

    @contextmanager
    def _file_in_use(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unusable(self._file, error) from None


class _InThread:
    """A planner whose follow-up questions are about what the last answer counted or measured."""

    def __init__(self, planner: Planner) -> None:
        self.name = planner.name
        self._planner = planner
        self._spelt: str | None = None

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Plan the question with what it refers to spelt out, also when it is planned again; else as it stands.

        Raises:
            Refused: it is not understood either way; a model is asked one of them only.
        """
        if feedback is None:
            self._spelt = spelt_out(question, scene.earlier)
        if self._spelt is not None:
            try:
                program = self._planned(self._spelt, replace(scene, earlier=()), feedback)
            except Refused:
                if usage_of(self._planner) is not None:
                    raise
                self._spelt = None
            else:
                note = f'"{question}" is taken to be about {_thing(scene.earlier)}.'
                return replace(program, notes=(*program.notes, note))
        return self._planned(question, scene, feedback)

    def usage(self) -> Usage | None:
        """What the planner has used of a language model."""
        return usage_of(self._planner)

    @property
    def eyes(self) -> Eyes | None:
        """Those of the planner that wrote the program."""
        return eyes_of(self._planner)

    def rival(self) -> Planner | None:
        """The planner that has to come to the same, in the same thread."""
        rival = rival_of(self._planner)
        return None if rival is None else _InThread(rival)

    def _planned(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        program = self._planner.plan(question, scene, feedback)
        self.name = self._planner.name
        return program


def spelt_out(question: str, earlier: tuple[Turn, ...]) -> str | None:
    """A follow-up question with what it refers to before it, None where it refers to nothing.

        "And how many of those are larger than 1 ha?" -> "Find lakes within 50 m of road. How many of those are ..."

    Args:
        question: as typed.
        earlier: questions of the thread.
    """
    thing = _thing(earlier)
    if thing is None or not _BACK.search(question):
        return None
    rest = _FIRST.sub("", question.strip())
    return f"Find {thing}. {rest[:1].upper()}{rest[1:]}" if rest else None


def _thing(earlier: tuple[Turn, ...]) -> str | None:
    """What the last answer counted or measured: in the words of its reading, else by the name of its objects.

    A name out of a legend that is no plain words does not get into a question.
    """
    if not earlier:
        return None
    found = _MEASURED_OF.match(earlier[-1].reading)
    thing = earlier[-1].thing if found is None else found.group(1)
    return thing if _PLAIN.fullmatch(thing) else None


def _connected(file: Path) -> sqlite3.Connection:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(file, check_same_thread=False)
        SqliteSaver(connection).setup()
    except (OSError, sqlite3.Error) as error:
        raise _unusable(file, error) from None
    return connection


def _unusable(file: Path, error: Exception) -> InputError:
    return InputError(f"The file of threads {file} cannot be used: {error}. Next: name another folder with --out.")
