"""What made a run: the version, and the very code, of swath and of what it stands on."""

from __future__ import annotations

import hashlib
import platform
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import swath

LIBRARIES = ("numpy", "scipy", "rasterio", "shapely", "pyproj", "opencv-python-headless", "langgraph", "pydantic-monty")
CODE_ENDINGS = (".py", ".toml", ".lark", ".txt", ".jinja", ".json")
"""Files of the package that decide what is answered."""


def made_with() -> dict[str, Any]:
    """Date, version, code and libraries, JSON-ready."""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "swath_version": version("swath"),
        "code_sha256": code_sha256(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


@lru_cache(maxsize=1)
def code_sha256() -> str:
    """SHA-256 of the package's own files: between two versions, only it tells which code answered."""
    digest, root = hashlib.sha256(), Path(swath.__file__).parent
    for file in sorted(path for path in root.rglob("*") if path.suffix in CODE_ENDINGS):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
