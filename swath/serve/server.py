"""What a running server holds: the folder, the processes, the questions, the runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from swath.serve import work
from swath.serve.asks import AT_ONCE, Asks
from swath.serve.folder import Folder
from swath.serve.processes import Call, Lost, Workers
from swath.serve.run_index import RunIndex
from swath.serve.uploads import MAX_BYTES, Kind, Uploads

LOOKERS = 2
"""Processes that make tiles and look into files."""
LOOK_S = 120.0
"""After so many seconds a tile or a look into a file is given up."""
LEAST_MEMORY_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Settings:
    """What `swath serve` was told.

    Attributes:
        folder: the served folder.
        base_map: address of the tiles of a base map, None without one.
        planning: the options of `swath.ask` that say who plans; the page may name another planner.
        max_upload_bytes: size of the largest upload.
        memory_bytes: what each process may allocate; None for a share of the machine's.
    """

    folder: Folder
    base_map: str | None = None
    planning: Mapping[str, Any] = field(default_factory=dict)
    max_upload_bytes: int = MAX_BYTES
    memory_bytes: int | None = None


@dataclass
class Server:
    """A running server; made when it begins, closed when it ends.

    Attributes:
        settings: what it was told.
    """

    settings: Settings
    _changes: WeakValueDictionary[str, asyncio.Event] = field(default_factory=WeakValueDictionary, repr=False)

    def __post_init__(self) -> None:
        memory = self.settings.memory_bytes or _share_of_memory()
        home = self.settings.folder.root
        self._loop = asyncio.get_running_loop()
        self._lookers = Workers(LOOKERS, home, memory)
        self._looking = ThreadPoolExecutor(LOOKERS)
        self._answering = Workers(AT_ONCE, home, memory)
        self.asks = Asks(self._answering, self._changed_from_thread)
        self.index = RunIndex(self.settings.folder)
        self.uploads = Uploads(self.settings.folder.uploads, self.settings.max_upload_bytes, self._check_upload)
        for workers in (self._lookers, self._answering):
            self._loop.run_in_executor(None, _get_ready, workers)

    async def look(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """Call a function of `swath.serve.work` in a process that answers no question.

        Raises:
            SwathError: what it raised, or that its process was lost.
        """
        return await self._loop.run_in_executor(
            self._looking, lambda: self._lookers.run(function, Call(deadline_s=LOOK_S), **arguments)
        )

    def change_of(self, ask_id: str) -> asyncio.Event:
        """Set when next something happens to a question; to be had before looking at how it is now."""
        event = self._changes.get(ask_id)
        if event is None:
            event = self._changes[ask_id] = asyncio.Event()
        return event

    async def close(self) -> None:
        """Give up all questions and end all processes."""
        self._lookers.close()
        await asyncio.to_thread(self.asks.close)
        self._answering.close()
        self._looking.shutdown(wait=False, cancel_futures=True)

    def _changed_from_thread(self, ask_id: str) -> None:
        self._loop.call_soon_threadsafe(self._wake, ask_id)

    def _wake(self, ask_id: str) -> None:
        event = self._changes.pop(ask_id, None)  # whoever waits next gets a new one
        if event is not None:
            event.set()

    async def _check_upload(self, path: Path, kind: Kind) -> None:
        await self.look(work.check_upload, path=self.settings.folder.relative(path), kind=kind)


def _get_ready(workers: Workers) -> None:
    """Start a process, so that the first call need not wait for it; a failure shows itself at that call."""
    with suppress(Lost):
        workers.run(work.get_ready)


def _share_of_memory() -> int:
    """What each of the processes may allocate: two questions and two lookers stay below the machine's memory."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(LEAST_MEMORY_BYTES, whole // (AT_ONCE + 1))
