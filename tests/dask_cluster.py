"""A Dask scheduler and two workers on this machine, in processes of their own, as somebody else would have them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Cluster = tuple[str, list[subprocess.Popen[bytes]]]
"""Address of the scheduler, and its workers."""

PATIENCE_S = 180


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for a state that comes sooner or later, or for the end of a process."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and (process is None or process.poll() is None):
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextlib.contextmanager
def dask_cluster(folder: Path) -> Iterator[Cluster]:
    """Start one; its processes end with the block."""
    where = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    processes = []
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((folder / "dask.log").open("wb"))

        def begin(*words: str) -> None:
            process = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder, start_new_session=True)
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)

        begin(*command, "--host", "127.0.0.1", "--scheduler-file", str(where))
        wait_until(where.exists)
        for _ in range(2):
            begin(
                *(sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(where)),
                *("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"),
            )
        yield json.loads(where.read_text(encoding="utf-8"))["address"], processes[1:]
