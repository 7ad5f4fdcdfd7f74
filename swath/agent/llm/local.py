"""A local model from a GGUF file, served inside this process by llama.cpp (extra `local`)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from swath.errors import InputError

ENDING = ".gguf"
CONTEXT_TOKENS = 8_192
SLOTS = 1
"""One slot: every prompt of a way shares one prefix, which stays warm."""


@lru_cache(maxsize=1)
def serve(path: Path, *, threads: int | None = None) -> tuple[Any, str]:
    """Load a model and serve it on a free port of the loopback interface, until the process ends.

    Args:
        path: a GGUF file.
        threads: number of threads; all cores by default.

    Returns:
        The server, which has to be kept, and its base URL.

    Raises:
        InputError: there is no such file, the extra is not installed, or the file is no model.
    """
    if not path.is_file():
        raise InputError(f"There is no model file {path}. Next: check the path.")
    try:
        import xllamacpp
    except ImportError:
        raise InputError("A model file needs llama.cpp. Next: pip install 'swath[local]'.") from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = SLOTS
    parameters.verbosity = -1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    if threads is not None:
        parameters.cpuparams.n_threads = threads
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise InputError(f"{path} cannot be loaded as a model ({str(error)[:200]}). Next: check the file.") from None
    return server, f"{server.listening_address}/v1"
