"""Passes over the tiles of one image on an existing Dask cluster; a worker that dies costs nothing but time.

The cluster's workers read the same files under the same names, and have this version of swath.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from swath.errors import InputError, SwathError
from swath.raster.journal import carried
from swath.raster.parallel import Passes, threaded

if TYPE_CHECKING:
    from distributed import Client

PATIENCE_S = 10
"""How long a scheduler and its first worker may take to answer."""

AHEAD = 3
"""Tasks handed over for each thread of the cluster: none waits for the next, and the scheduler never holds them all."""

ITEMS_A_TASK = 4
"""Strips or tiles that lie next to each other, and share what has to be read for them."""


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of a scheduler that has a worker.

    Args:
        address: such as "tcp://10.0.0.1:8786".

    Raises:
        InputError: there is no such cluster, it has no worker, or the library is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "--dask needs distributed, which is not installed. Next: pip install 'swath[cluster]'."
        ) from None
    try:
        client = Client(address, timeout=PATIENCE_S)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(f"No Dask scheduler answers at {address} ({why}). Next: start one, or check --dask.") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE_S)
        except TimeoutError:
            raise InputError(f"The Dask cluster at {address} has no worker. Next: start dask workers there.") from None
        yield client


def passes_on(client: Client) -> Passes:
    """Passes that a cluster works on; what belongs to this process is worked on by its threads."""

    def passes(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        packed = carried(function)
        if packed is None:
            yield from threaded(function, items)
            return
        ahead, waiting, running = max(AHEAD * sum(client.nthreads().values()), 1), iter(items), deque[Any]()
        while True:
            while len(running) < ahead and (task := tuple(islice(waiting, ITEMS_A_TASK))):
                running.append(client.submit(_worked, packed, task, pure=False))
            if not running:
                return
            yield from _result(running.popleft())

    return passes


def _result(future: Any) -> Sequence[Any]:
    try:
        found: Sequence[Any] = future.result()
    except SwathError:
        raise
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise InputError(
            f"The cluster could not work on the image ({why}). Next: look at its workers, then ask again."
        ) from None
    return found


def _worked(packed: bytes, items: Sequence[Any]) -> list[Any]:
    """What a worker does."""
    function = _unpacked(packed)
    try:
        return [function(item) for item in items]
    except SwathError as error:
        error.__cause__ = error.__context__ = None  # GDAL's errors can be pickled, but not unpickled
        raise


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> Callable[[Any], Any]:
    """The function of a pass, with the tiles that a worker has computed for it so far."""
    function: Callable[[Any], Any] = pickle.loads(packed)  # noqa: S301 - from the client that this worker works for
    return function
