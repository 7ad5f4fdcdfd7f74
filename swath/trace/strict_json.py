"""JSON as the standard has it: no NaN, no Infinity, no numpy numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any


def json_ready(value: Any) -> Any:
    """A value as plain JSON types.

    Numbers that JSON has no word for become the texts "nan", "inf" and "-inf"; tuples and sets become lists, paths
    texts, numpy numbers and arrays plain ones; anything else becomes its text.
    """
    if value is None or (isinstance(value, bool | str | int) and type(value).__module__ == "builtins"):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((json_ready(item) for item in value), key=str)
    if isinstance(value, PurePath):
        return str(value)
    plain = getattr(value, "tolist", None)
    return json_ready(plain()) if callable(plain) else str(value)


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON text; lone surrogates (file names of unknown encoding) are escaped, so that UTF-8 can hold it."""
    text = json.dumps(json_ready(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
