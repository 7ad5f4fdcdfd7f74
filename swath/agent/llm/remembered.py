"""What `swath llm check` found out about models, kept in the user's cache folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from swath.agent.llm.local import is_local
from swath.agent.llm.settings import Profile, Settings, Way
from swath.errors import InputError
from swath.raster.user_cache import CACHE, cache_folder

FILE = "llm.json"


@dataclass(frozen=True)
class Manner:
    """How a model is best asked.

    Attributes:
        way: "code", "structured", "tools", "bound" or "bound-json".
        profile: "full" or "small".
        vision: whether it may be sent pictures.
    """

    way: Way
    profile: Profile
    vision: bool = False


UNKNOWN = Manner("code", "full")
LOCAL = Manner("bound", "small")
"""A model file is served by llama.cpp, which has grammars, and is small."""


def manner_of(settings: Settings, environ: Mapping[str, str] = os.environ) -> Manner:
    """What is stated, else what is remembered, else what suits a model that nobody has checked."""
    local = is_local(settings)
    found = _read(environ).get(_key(settings)) or (LOCAL if local else UNKNOWN)
    way = found.way if settings.way == "auto" else settings.way
    profile = found.profile if settings.profile == "auto" else settings.profile
    return Manner(way, profile, settings.vision or found.vision)


def remember(settings: Settings, manner: Manner, environ: Mapping[str, str] = os.environ) -> Path:
    """Keep how a model is best asked; the file that now says so.

    Raises:
        InputError: the folder cannot be written.
    """
    path = cache_folder(environ) / FILE
    known = {key: asdict(found) for key, found in {**_read(environ), _key(settings): manner}.items()}
    partial = path.with_name(f".{FILE}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be written: {why}. Next: name another folder in {CACHE}.") from None
    return path


def _key(settings: Settings) -> str:
    where = "file" if is_local(settings) else settings.host
    return f"{settings.model} at {where}"


def _read(environ: Mapping[str, str]) -> dict[str, Manner]:
    """What is known; a file that cannot be read is as good as none, since a check writes it anew."""
    try:
        table: Any = json.loads((cache_folder(environ) / FILE).read_text(encoding="utf-8"))
        found = {
            str(key): Manner(item["way"], item["profile"], item.get("vision") is True) for key, item in table.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
    known = (get_args(Way), get_args(Profile))
    return {key: item for key, item in found.items() if item.way in known[0] and item.profile in known[1]}
