"""Work on the strips and tiles of an image, in order and without running ahead of memory.

By a few threads, or by whoever `passes_by` hands it to.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Passes: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""From a function and what it is called with to its results, in the same order."""

THREADS = max(min(os.cpu_count() or 1, 8), 1)
"""More than eight wait for memory, not for each other."""

_inside = threading.local()
_handed_to: ContextVar[Passes | None] = ContextVar("handed_to", default=None)


@contextmanager
def passes_by(passes: Passes) -> Iterator[None]:
    """Hand all passes over strips and tiles of this context to something else than threads.

    Args:
        passes: what works on them; it may pass them on to `threaded`.
    """
    token = _handed_to.set(passes)
    try:
        yield
    finally:
        _handed_to.reset(token)


def handed_on() -> bool:
    """Whether somebody else than threads works on the passes of this context, and needs to know what they are of."""
    return _handed_to.get() is not None and not in_the_pool()


def in_the_pool() -> bool:
    """Whether this thread is one of those that work on strips and tiles, which live as long as the process."""
    return bool(getattr(_inside, "busy", False))


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of this process; one that was forked starts its own."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="swath")


def mapped(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results in the order of the items, some items being worked on ahead of the reader.

    Args:
        function: called in several threads at once, or pickled and called elsewhere: what it is to leave behind, it
            returns.
        items: what it is called with.
    """
    passes = _handed_to.get() if handed_on() else None
    yield from threaded(function, items) if passes is None else passes(function, items)


def threaded(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results in the order of the items, one item for each thread being worked on ahead of the reader.

    Work that is itself done by such a thread goes on in it: threads that wait for threads would wait for ever.

    Args:
        function: called in several threads at once.
        items: what it is called with.
    """
    if in_the_pool() or THREADS == 1:
        yield from map(function, items)
        return

    def work(item: Item) -> Result:
        _inside.busy = True
        return function(item)

    pool, running = _pool(os.getpid()), deque[Future[Result]]()
    try:
        for item in items:
            running.append(pool.submit(work, item))
            if len(running) > THREADS:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
