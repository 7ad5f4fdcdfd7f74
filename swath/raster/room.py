"""Arrays that are too large for memory: in a temporary file that the operating system maps."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

IN_MEMORY_BYTES = 2**26
"""Larger arrays lie in a file; a class of a large image needs some at once."""


def room(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Zeros; where they are many, in a temporary file that goes when the array does."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if size <= IN_MEMORY_BYTES:
        return np.zeros(shape, kind)
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        return np.ndarray(shape, kind, mmap.mmap(file.fileno(), size))


def let_go(array: NDArray[Any]) -> None:
    """Take what an array of `room` holds in its file out of memory; it is read again where it is needed."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)
