"""What processes that were killed leave in a folder of runs: told from what others are at work on, and cleared away."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".unfinished-"
"""Begin the names of folders of what is known of a question that is being worked on."""

KEPT_DAYS = 7
"""How long what a killed question had found waits for it to be asked again."""

SETTLING_S = 60
"""A folder that is this young may not be locked yet."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder of this user's own; the system lets go of it when the process ends, however it does.

    Args:
        folder: it may be renamed meanwhile.

    Raises:
        OSError: somebody holds it, or others may write into it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(f"{folder} belongs to another user")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def sweep(out: Path) -> None:
    """Clear away what killed processes left in a folder of runs: runs half written, and what nobody asks for again.

    Args:
        out: parent folder of run folders.
    """
    for left in (*out.glob(".*.partial"), *out.glob(f"{UNFINISHED}*")):
        patience = KEPT_DAYS * 86400 if left.name.startswith(UNFINISHED) else SETTLING_S
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > patience:
                with locked(left):
                    shutil.rmtree(left, ignore_errors=True)
