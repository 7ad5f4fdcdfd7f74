"""Work on an existing Dask cluster; a worker that dies costs nothing but time.

The cluster's workers read and write the same files under the same names, and have this version of swath.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from swath.batch.pool import Lost, Task, Work, here
from swath.raster.cluster import AHEAD, connected

if TYPE_CHECKING:
    from distributed import Future

_programs: dict[str, dict[str, Any]] = {}
"""What a worker has computed once, for the run that it is working for."""


def results_on(address: str, work: Work, tasks: Sequence[Task]) -> Iterator[tuple[Any, Any]]:
    """Pairs of an item and its result, or `Lost`, as their tasks are done; see `swath.batch.pool.results`.

    What is computed once is computed once in each process of a worker.

    Args:
        address: of the scheduler, such as "tcp://10.0.0.1:8786".
        work: a function of a module that the workers can import.
        tasks: what to work on; the results of one come together.

    Raises:
        InputError: there is no such cluster, it has no worker, or the library is not installed.
    """
    run = uuid4().hex
    with connected(address) as client:
        from distributed import as_completed

        waiting, running = deque(tasks), dict[Any, Task]()
        done = as_completed()
        ahead = AHEAD * sum(client.nthreads().values())

        def hand_over() -> None:
            while waiting and len(running) < ahead:
                task = waiting.popleft()
                future = client.submit(_worked, run, work, task, pure=False)
                running[future] = task
                done.add(future)

        hand_over()
        for future in done:
            task = running.pop(future)
            if future.status == "finished":
                yield from zip(task.items, future.result(), strict=True)
            elif len(task.items) == 1:
                yield task.items[0], Lost(_why(future))
            else:
                waiting.extendleft(Task(task.setup, (item,)) for item in reversed(task.items))
            hand_over()


def _worked(run: str, work: Work, task: Task) -> list[Any]:
    """What a worker does: the results of a task, in order."""
    if run not in _programs:
        _programs.clear()
    known = _programs.setdefault(run, {})
    return [result for _, result in here(work, [task], known)]


def _why(future: Future[Any]) -> str:
    error = " ".join(str(future.exception()).split())[:300]
    return f"The cluster could not work on it ({error}). Next: look at its workers, then try again with --resume."
