"""Questions on their way: a bounded queue, a few at work at once, each heard step by step and cancelled alone."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from swath.errors import SwathError
from swath.serve.processes import Call, Cancelled, Workers
from swath.serve.work import answer

AT_ONCE = 2
"""Questions worked on at the same time."""
MOST_WAITING = 16
MOST_KEPT = 200
"""Finished questions that are remembered; their runs stay in the folder."""
MOST_STEPS = 2000
"""Steps remembered of one question; later ones are counted only. Its run has them all."""

State = Literal["waiting", "working", "done", "cancelled", "failed"]
ENDED = ("done", "cancelled", "failed")


class Busy(SwathError):
    """The queue is full."""


@dataclass
class Ask:
    """A question on its way.

    Attributes:
        id: by which it is asked for.
        image: relative to the served folder.
        question: as typed.
        thread: thread that it belongs to.
        edited: whether a program was given in place of planning one.
        area: that was drawn, None for the whole image.
        options: arguments of `swath.serve.work.answer`.
        state: how far it is.
        steps: what happened so far.
        steps_left_out: how many more there were.
        answer: as JSON, once it is done.
        reason: why it failed or was cancelled.
    """

    id: str
    image: str
    question: str
    thread: str
    edited: bool
    area: Mapping[str, Any] | None
    options: Mapping[str, Any] = field(repr=False)
    state: State = "waiting"
    steps: list[dict[str, Any]] = field(default_factory=list, repr=False)
    steps_left_out: int = 0
    answer: dict[str, Any] | None = None
    reason: str | None = None
    call: Call = field(default_factory=Call, repr=False)

    def to_json(self, position: int) -> dict[str, Any]:
        """The question without its steps; `position` is its place in the queue, 0 where it does not wait."""
        return {
            "id": self.id,
            "image": self.image,
            "question": self.question,
            "thread": self.thread,
            "edited": self.edited,
            "area": self.area,
            "state": self.state,
            "position": position,
            "answer": self.answer,
            "reason": self.reason,
            "steps": len(self.steps) + self.steps_left_out,
        }


class Asks:
    """The questions of a server.

    Questions of one thread are answered one after another, since each builds on the last.
    """

    def __init__(self, workers: Workers, changed: Callable[[str], None]) -> None:
        """Begin to work on questions.

        Args:
            workers: processes that answer.
            changed: told the id of a question whenever something happened to it, from any thread.
        """
        self._workers = workers
        self._changed = changed
        self._asks: dict[str, Ask] = {}
        self._condition = threading.Condition()
        self._closing = False
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers.size)]
        for thread in self._threads:
            thread.start()

    def add(self, image: str, question: str, thread: str, options: Mapping[str, Any]) -> tuple[Ask, int]:
        """Put a question into the queue; it and its position.

        Raises:
            Busy: too many wait already.
        """
        with self._condition:
            if sum(ask.state == "waiting" for ask in self._asks.values()) >= MOST_WAITING:
                raise Busy(f"{MOST_WAITING} questions wait already. Next: ask again in a minute.")
            edited, area = "program" in options, options.get("area")
            ask = Ask(secrets.token_hex(8), image, question, thread, edited, area, options)
            self._asks[ask.id] = ask
            self._forget()
            self._condition.notify()
            return ask, self._position(ask)

    def find(self, ask_id: str) -> tuple[Ask, int] | None:
        """A question and its position, None where it is not known (any more)."""
        with self._condition:
            ask = self._asks.get(ask_id)
            return None if ask is None else (ask, self._position(ask))

    def of_thread(self, thread: str) -> list[dict[str, Any]]:
        """The questions of a thread, oldest first, as JSON."""
        with self._condition:
            return [ask.to_json(self._position(ask)) for ask in self._asks.values() if ask.thread == thread]

    def counts(self) -> dict[str, int]:
        """How many questions are at work and how many wait."""
        with self._condition:
            states = [ask.state for ask in self._asks.values()]
        return {"working": states.count("working"), "waiting": states.count("waiting")}

    def cancel(self, ask: Ask) -> None:
        """Give a question up, whether it waits or is worked on; an answered one stays answered."""
        with self._condition:
            ask.call.cancel()
            if ask.state == "waiting":
                self._end(ask, "cancelled", reason="The question was given up before it was its turn.")
        self._changed(ask.id)

    def close(self) -> None:
        """Give all questions up."""
        with self._condition:
            self._closing = True
            for ask in self._asks.values():
                ask.call.cancel()
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (ask := self._next()) is not None:
            ask.call.listen = lambda step, ask=ask: self._heard(ask, step)  # type: ignore[misc]  # mypy infers no defaults
            thread = None if ask.edited else ask.thread
            self._changed(ask.id)
            try:
                found = self._workers.run(
                    answer, ask.call, image=ask.image, question=ask.question, thread=thread, **ask.options
                )
            except Cancelled as why:
                self._settle(ask, "cancelled", reason=str(why))
            except SwathError as why:
                self._settle(ask, "failed", reason=str(why))
            except Exception as why:  # whatever it is, the next question is answered
                self._settle(ask, "failed", reason=f"Internal error ({type(why).__name__}: {why}). Next: report it.")
            else:
                self._settle(ask, "done", found)

    def _next(self) -> Ask | None:
        """The question whose turn it is, waited for; None where the server ends."""
        with self._condition:
            while not self._closing:
                busy = {ask.thread for ask in self._asks.values() if ask.state == "working"}
                for ask in self._asks.values():
                    if ask.state == "waiting" and ask.thread not in busy:
                        ask.state = "working"
                        return ask
                self._condition.wait()
            return None

    def _heard(self, ask: Ask, step: dict[str, Any]) -> None:
        with self._condition:
            if len(ask.steps) < MOST_STEPS:
                ask.steps.append(step)
            else:
                ask.steps_left_out += 1
        self._changed(ask.id)

    def _settle(self, ask: Ask, state: State, found: dict[str, Any] | None = None, reason: str | None = None) -> None:
        with self._condition:
            self._end(ask, state, found, reason)
            self._condition.notify_all()  # another question of its thread may have waited for it
        self._changed(ask.id)

    def _end(self, ask: Ask, state: State, found: dict[str, Any] | None = None, reason: str | None = None) -> None:
        ask.state, ask.answer, ask.reason, ask.options = state, found, reason, {}

    def _position(self, ask: Ask) -> int:
        waiting = [other for other in self._asks.values() if other.state == "waiting"]
        return waiting.index(ask) + 1 if ask in waiting else 0

    def _forget(self) -> None:
        ended = [ask.id for ask in self._asks.values() if ask.state in ENDED]
        for ask_id in ended[: max(0, len(ended) - MOST_KEPT)]:
            del self._asks[ask_id]
