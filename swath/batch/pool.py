"""Work in processes of its own: results come as they are done, and a process that dies costs one item.

Processes are spawned, never forked, so that the work and what it is given must be importable and picklable. With one
job everything runs in the calling process.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

Once = Callable[[str, Callable[[], Any]], Any]
"""`once(key, compute)`: what `compute` gives, computed once for each key among all processes."""
Work = Callable[[Any, Sequence[Any], Once], Iterator[Any]]
"""`work(setup, items, once)`: one result for each item, in order."""

PATIENCE_S = 5.0
"""How long a process that was told to end may take before it is killed."""


@dataclass(frozen=True)
class Task:
    """Items that share what has to be set up once; they are worked on in order, by one process.

    Attributes:
        setup: what all items need.
        items: what one result each is wanted for.
    """

    setup: Any
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Lost:
    """Stands for the result of an item whose work broke off; `reason` is a sentence."""

    reason: str


def results(work: Work, tasks: Sequence[Task], jobs: int = 1) -> Iterator[tuple[Any, Any]]:
    """Pairs of an item and its result, or `Lost`, as they are done.

    Closing the iterator, or an exception in its consumer, ends all processes.

    Args:
        work: a function of a module.
        tasks: what to work on.
        jobs: number of processes; 1 for none beside this one.
    """
    processes = min(jobs, len(tasks))
    return _Pool(work, tasks, processes).run() if processes > 1 else here(work, tasks, {})


def here(work: Work, tasks: Sequence[Task], known: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The same in this process.

    Args:
        work: a function.
        tasks: what to work on.
        known: what has been computed once; it is added to.
    """

    def once(key: str, compute: Callable[[], Any]) -> Any:
        if key not in known:
            known[key] = compute()
        return known[key]

    for task in tasks:
        left = list(task.items)
        while left:
            try:
                for result in work(task.setup, tuple(left), once):
                    yield left.pop(0), result
            except Exception as error:
                yield left.pop(0), Lost(_broken(error))


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    left: deque[Any] = field(default_factory=deque)
    setup: Any = None

    def send(self, message: Any) -> None:
        """Send, unless the process is gone: reading from it will say so."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(message)


class _Pool:
    def __init__(self, work: Work, tasks: Sequence[Task], processes: int) -> None:
        self._work = work
        self._waiting = deque(tasks)
        self._processes = processes
        self._workers: dict[Connection, _Worker] = {}
        self._known: dict[str, Any] = {}
        self._computing: dict[str, deque[_Worker]] = {}
        """Who computes a key, followed by who waits for it."""

    def run(self) -> Iterator[tuple[Any, Any]]:
        try:
            self._fill()
            while self._workers:
                for pipe in wait(list(self._workers)):
                    yield from self._hear(self._workers[pipe])  # type: ignore[index]  # these pipes alone are waited for
        finally:
            self._end()

    def _fill(self) -> None:
        """Start processes for tasks that wait."""
        spawn = multiprocessing.get_context("spawn")
        while self._waiting and len(self._workers) < self._processes:
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=_serve, args=(theirs, self._work), daemon=True)
            process.start()
            theirs.close()
            self._workers[ours] = _Worker(process, ours)
            self._assign(self._workers[ours])

    def _assign(self, worker: _Worker) -> None:
        """The next task, or the end."""
        if not self._waiting:
            worker.send(None)
            return
        task = self._waiting.popleft()
        worker.setup, worker.left = task.setup, deque(task.items)
        worker.send(task)

    def _hear(self, worker: _Worker) -> Iterator[tuple[Any, Any]]:
        try:
            message, *rest = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if message == "result":
            yield worker.left.popleft(), rest[0]
        elif message == "broke":
            yield from self._lose(worker, rest[0])
        elif message == "wants":
            self._ask(rest[0], worker)
        elif message == "made":
            self._tell(rest[0], rest[1])
        elif message == "gave up":
            self._release(rest[0], worker)
        elif message == "idle":
            self._assign(worker)

    def _lose(self, worker: _Worker, reason: str) -> Iterator[tuple[Any, Any]]:
        """The item at work is lost; the rest of its task waits for whoever is free."""
        if worker.left:
            yield worker.left.popleft(), Lost(reason)
        if worker.left:
            self._waiting.appendleft(Task(worker.setup, tuple(worker.left)))
            worker.left.clear()

    def _bury(self, worker: _Worker) -> Iterator[tuple[Any, Any]]:
        del self._workers[worker.pipe]
        worker.pipe.close()
        worker.process.join(PATIENCE_S)
        code = worker.process.exitcode
        for key in [key for key, line in self._computing.items() if worker in line]:
            self._release(key, worker)
        yield from self._lose(worker, _death(code))
        self._fill()

    def _ask(self, key: str, worker: _Worker) -> None:
        if key in self._known:
            worker.send(("known", self._known[key]))
        elif key in self._computing:
            self._computing[key].append(worker)
        else:
            self._computing[key] = deque([worker])
            worker.send(("compute",))

    def _tell(self, key: str, value: Any) -> None:
        self._known[key] = value
        _, *waiting = self._computing.pop(key)
        for worker in waiting:
            worker.send(("known", value))

    def _release(self, key: str, worker: _Worker) -> None:
        """Whoever waits next computes the key instead."""
        line = self._computing[key]
        computing = line[0] is worker
        line.remove(worker)
        if not line:
            del self._computing[key]
        elif computing:
            line[0].send(("compute",))

    def _end(self) -> None:
        for worker in self._workers.values():
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join(PATIENCE_S)
            if worker.process.is_alive():
                worker.process.kill()


def _serve(pipe: Connection, work: Work) -> None:
    """What a process of the pool does until it is told to end, or whoever started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, _leave)

    def once(key: str, compute: Callable[[], Any]) -> Any:
        pipe.send(("wants", key))
        reply = pipe.recv()
        if reply[0] == "known":
            return reply[1]
        try:
            value = compute()
        except BaseException:
            pipe.send(("gave up", key))
            raise
        pipe.send(("made", key, value))
        return value

    try:
        while (task := pipe.recv()) is not None:
            try:
                for result in work(task.setup, task.items, once):
                    pipe.send(("result", result))
            except Exception as error:
                pipe.send(("broke", _broken(error)))
            pipe.send(("idle",))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is leaving already


def _leave(number: int, frame: Any) -> None:
    """Unwind, so that sandboxes and folders are cleared away, once."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _broken(error: Exception) -> str:
    why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return f"Internal error ({why}). Next: report it."


def _death(code: int | None) -> str:
    how = f"ended with status {code}" if code is None or code >= 0 else f"was killed by {signal.Signals(-code).name}"
    return f"The process at work on it {how}, perhaps for want of memory. Next: try again with --resume, fewer --jobs."
