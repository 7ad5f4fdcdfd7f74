"""swath answers questions about overhead imagery by measuring, not by guessing."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swath.agent.ask import ask
    from swath.agent.session import Session
    from swath.batch.survey import survey
    from swath.raster.info import info
    from swath.raster.reader import open_raster
    from swath.types import Answer

__version__ = version("swath")

__all__ = ["Answer", "Session", "__version__", "ask", "info", "open_raster", "survey"]

_HOMES = {
    "Answer": "swath.types",
    "Session": "swath.agent.session",
    "ask": "swath.agent.ask",
    "info": "swath.raster.info",
    "open_raster": "swath.raster.reader",
    "survey": "swath.batch.survey",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `import swath` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'swath' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
