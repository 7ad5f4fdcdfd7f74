"""The folder where swath keeps what can be found out again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

CACHE = "SWATH_CACHE"


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """What SWATH_CACHE names, else `swath` in the user's cache folder."""
    stated = environ.get(CACHE)
    return Path(stated) if stated else Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swath"
