"""A local model from a GGUF file, served inside this process by llama.cpp (extra `local`)."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from swath.agent.llm.settings import ENDING, OPENAI_URL, Settings
from swath.errors import InputError

CONTEXT_TOKENS = 8_192
SLOTS = 2
"""Two ways that have to agree keep their prefixes warm beside each other: the server finds the slot by the prefix."""
MAGIC = b"GGUF"


def is_local(settings: Settings) -> bool:
    """Whether the model is a file that this process serves itself: nobody has named a server for it."""
    return settings.model.endswith(ENDING) and settings.base_url.rstrip("/") == OPENAI_URL


def check_file(settings: Settings) -> None:
    """Refuse at once what could not be served; the model is not loaded.

    Raises:
        InputError: there is no such file, it is no GGUF file, or the extra is not installed.
    """
    path = Path(settings.model)
    try:
        with path.open("rb") as file:
            begins = file.read(len(MAGIC))
    except OSError:
        raise InputError(f"There is no model file {path}. Next: check the path.") from None
    if begins != MAGIC:
        raise InputError(f"{path} is no GGUF file. Next: check the path, or download it again.")
    if importlib.util.find_spec("xllamacpp") is None:
        raise InputError("A model file needs llama.cpp. Next: pip install 'swath[local]'.")


def served(settings: Settings) -> Settings:
    """Settings with the address at which a model file is served, loaded on first use; no key goes there.

    Raises:
        InputError: the file cannot be loaded.
    """
    check_file(settings)
    path = Path(settings.model).resolve()
    _, base_url = serve(path)
    return replace(settings, model=path.name, base_url=base_url, key=None)


@lru_cache(maxsize=2)  # two models may have to agree
def serve(path: Path) -> tuple[Any, str]:
    """Load a model and serve it on a free port of the loopback interface, until the process ends.

    Args:
        path: a GGUF file.

    Returns:
        The server, which has to be kept, and its base URL.

    Raises:
        InputError: the file cannot be loaded.
    """
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = SLOTS * CONTEXT_TOKENS
    parameters.n_parallel = SLOTS
    parameters.verbosity = -1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise InputError(f"{path} cannot be loaded as a model ({str(error)[:200]}). Next: check the file.") from None
    return server, f"{server.listening_address}/v1"
