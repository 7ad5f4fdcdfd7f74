"""Work in processes that live on between calls, each call of which can be listened to, cancelled and lost alone.

`swath.batch.pool` works through a list that is known beforehand; here calls come one by one, and somebody may give one
up at any time. A process that dies, takes too long or too much memory costs the call that it was at work on; the next
call gets a new one.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from queue import LifoQueue
from threading import Lock
from time import monotonic
from typing import Any

from swath.errors import SwathError

Say = Callable[[Any], None]
"""Sends something JSON-ready to whoever listens to a call."""

HEARTBEAT_S = 0.2
"""How soon a call notices that it was given up."""
PATIENCE_S = 2.0
"""How long a process that was told to end may take before it is killed."""
WORN_BYTES = 2**30
"""A process that has held so much memory is replaced after its call."""


class Lost(SwathError):
    """A call whose process died, took too long or was told to stop."""


class Cancelled(Lost):
    """A call that somebody gave up."""


@dataclass
class Call:
    """A call on its way, by which it can be given up.

    Attributes:
        listen: told what the call says while it is at work.
        deadline_s: after how many seconds it is ended.
        cancelled: whether somebody gave it up.
    """

    listen: Say = lambda said: None
    deadline_s: float = float("inf")
    cancelled: bool = False

    def cancel(self) -> None:
        """Give the call up: its process is ended."""
        self.cancelled = True


@dataclass
class _Worker:
    process: Any
    pipe: Connection


@dataclass
class Workers:
    """A few processes, each of which works on one call at a time.

    Attributes:
        size: how many processes there are at most.
        home: their working folder.
        memory_bytes: what each of them may allocate.
    """

    size: int
    home: Path
    memory_bytes: int
    _idle: LifoQueue[_Worker | None] = field(init=False, repr=False)
    _all: dict[int, _Worker] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)
    _closed: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._idle = LifoQueue()
        for _ in range(self.size):
            self._idle.put(None)

    def run(self, work: Callable[..., Any], call: Call | None = None, **arguments: Any) -> Any:
        """Call a function of a module in one of the processes; waits for a free one.

        Args:
            work: takes the arguments, and `say` where it is to be listened to.
            call: by which it is listened to and given up.
            arguments: picklable.

        Raises:
            Cancelled: somebody gave the call up.
            Lost: the process died or took too long.
            SwathError: what the function raised.
        """
        call, worker = call or Call(), self._idle.get()
        try:
            if worker is None or not worker.process.is_alive():
                worker = self._start()
            kind, value, worn = self._heard(worker, work, call, arguments)
        except BaseException:
            worn = True
            raise
        finally:
            self._idle.put(self._kept(worker, worn))
        if kind == "raised":
            raise value
        return value

    def close(self) -> None:
        """End all processes; none is started any more."""
        with self._lock:
            self._closed = True
            workers = list(self._all.values())
        for worker in workers:
            self._end(worker)

    def _start(self) -> _Worker:
        spawn = multiprocessing.get_context("spawn")
        with self._lock:
            if self._closed:
                raise Lost("The server is ending. Next: begin it anew.")
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=_serve, args=(theirs, str(self.home), self.memory_bytes), daemon=True)
            process.start()
            theirs.close()
            worker = _Worker(process, ours)
            self._all[id(worker)] = worker
        return worker

    def _kept(self, worker: _Worker | None, worn: bool) -> _Worker | None:
        """The process that the next call is to have, None for a new one."""
        if worker is not None and worn:
            self._end(worker)
        return None if worn else worker

    def _end(self, worker: _Worker) -> None:
        with self._lock:
            self._all.pop(id(worker), None)
        worker.pipe.close()
        worker.process.terminate()
        worker.process.join(PATIENCE_S)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(PATIENCE_S)

    def _heard(
        self, worker: _Worker, work: Callable[..., Any], call: Call, arguments: dict[str, Any]
    ) -> tuple[str, Any, bool]:
        """How the call ended: "gave" or "raised", with what, and whether its process is to be replaced."""
        end = monotonic() + call.deadline_s
        try:
            worker.pipe.send((work, arguments))
            while True:
                if call.cancelled:
                    raise Cancelled("The question was given up. Next: ask it again, or another one.")
                if monotonic() > end:
                    raise Lost(f"This took more than {call.deadline_s:g} s and was ended. Next: try a smaller file.")
                if not worker.pipe.poll(HEARTBEAT_S):
                    continue
                kind, value, *worn = worker.pipe.recv()
                if kind != "says":
                    return kind, value, worn[0]
                call.listen(value)
        except (EOFError, OSError):
            worker.process.join(PATIENCE_S)
            raise Lost(_death(worker.process.exitcode)) from None


def _death(code: int | None) -> str:
    how = f"was killed by {signal.Signals(-code).name}" if code is not None and code < 0 else "broke off"
    return f"The process at work on this {how}, perhaps for want of memory. Next: try a smaller image or an area of it."


def _serve(pipe: Connection, home: str, memory_bytes: int) -> None:
    """What a process does until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server decides
    signal.signal(signal.SIGTERM, _leave)
    os.chdir(home)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, hard))

    def say(said: Any) -> None:
        pipe.send(("says", said))

    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            work, arguments = pipe.recv()
            pipe.send((*_outcome(work, {**arguments, "say": say}), _worn()))


def _outcome(work: Callable[..., Any], arguments: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "gave", work(**arguments)
    except SwathError as error:
        return "raised", type(error)(str(error)) if type(error).__init__ is SwathError.__init__ else Lost(str(error))
    except (BrokenPipeError, ConnectionResetError):
        raise
    except MemoryError:
        return "raised", Lost("This does not fit into memory. Next: try a smaller image or an area of it.")
    except Exception as error:
        logging.getLogger("swath").exception("a call failed")
        why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return "raised", Lost(f"Internal error ({why}). Next: report it.")


def _worn() -> bool:
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return held > WORN_BYTES


def _leave(number: int, frame: Any) -> None:
    """Unwind, so that sandboxes and half-written runs are cleared away, once."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)
