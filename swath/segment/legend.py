"""Legends: what the values of a class raster mean, from a JSON file or from the file's own category names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.types import Legend

_VOID = re.compile(r"(void|unlabell?ed|no[ _-]?data)\b")
_RGB = re.compile(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*")
_HEX = re.compile(r"\s*#([0-9a-fA-F]{6})\s*")
_SURROGATE = re.compile("[\ud800-\udfff]")
LARGEST_BYTES = 2**26
"""64 MB: a legend of 60,000 names has 3 MB."""

EXAMPLE = '{"1": "building", "2": "water"}'


@dataclass(frozen=True)
class NamedValues:
    """A legend as a file states it.

    Attributes:
        legend: value to class name; where `coloured`, a value is 65536 red + 256 green + blue.
        coloured: whether its keys are colours.
        source: where it was read, for people.
    """

    legend: Legend
    coloured: bool
    source: str


def clean_name(name: str) -> str:
    """Lower case, without outer or repeated spaces; what UTF-8 cannot hold becomes a visible sign."""
    return " ".join(_SURROGATE.sub("\ufffd", name).lower().split())


def is_void(name: str) -> bool:
    """Whether a legend's name means "nothing known here": void, unlabelled, nodata, also with a remark behind it."""
    return _VOID.match(clean_name(name)) is not None


def legend_of(names: Mapping[int, str]) -> Legend:
    """Class names cleaned, void values apart; 0 is void where nothing names it."""
    cleaned = {value: clean_name(name) for value, name in names.items()}
    void = {value for value, name in cleaned.items() if is_void(name)}
    classes = {value: name for value, name in cleaned.items() if value not in void}
    return Legend(classes, frozenset(void if 0 in cleaned else void | {0}))


def colour_code(red: int, green: int, blue: int) -> int:
    """One number for a colour: 65536 red + 256 green + blue."""
    return (red << 16) | (green << 8) | blue


def read_legend(path: Path) -> NamedValues:
    """Read a JSON object of value (or colour) to class name, or one that holds it under "classes".

    Args:
        path: a UTF-8 JSON file.

    Raises:
        InputError: it cannot be read, is not such an object, or names no class.
    """
    entries = _entries(path)
    keys = [_key(key, path) for key, _ in entries]
    if len({coloured for coloured, _ in keys}) > 1:
        raise InputError(f"The legend {path} mixes values and colours. Next: name every class by one of the two.")
    names: dict[int, str] = {}
    for (_, value), (key, name) in zip(keys, entries, strict=True):
        if clean_name(names.setdefault(value, name)) != clean_name(name):
            raise InputError(f'The legend {path} names {key} twice: "{names[value]}" and "{name}". Next: keep one.')
    legend = legend_of(names)
    if not legend.names:
        raise InputError(f"The legend {path} names no class. Next: write one like {EXAMPLE}.")
    return NamedValues(legend, keys[0][0], str(path))


def _entries(path: Path) -> list[tuple[str, str]]:
    """(key, name) as written; a key that stands twice is there twice."""
    found = _parsed(path)
    held = [value for key, value in found if key == "classes"] if isinstance(found, _Pairs) else []
    pairs = held[0] if held else found
    if not isinstance(pairs, _Pairs) or not pairs:
        raise InputError(f"The legend {path} is not a JSON object of value to name. Next: write one like {EXAMPLE}.")
    for key, name in pairs:
        if not isinstance(name, str):
            if isinstance(name, int) and not _is_key(key):
                raise InputError(
                    f'The legend {path} says "{key}": {name}, name to value. Next: turn it round: "{name}": "{key}".'
                )
            raise InputError(
                f'The legend {path} gives "{key}" no name in text. Next: write names in quotes, like {EXAMPLE}.'
            )
        if not name.strip():
            raise InputError(f'The legend {path} gives "{key}" an empty name. Next: name it, or leave it out.')
    return list(pairs)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object that keeps repeated keys, which `dict` would swallow."""


def _parsed(path: Path) -> Any:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, a device read for ever
            raise InputError(f"The legend {path} is no regular file. Next: write one like {EXAMPLE} to a file.")
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError(f"The legend {path} has {path.stat().st_size:,} bytes. Next: name fewer classes.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The legend {path} is not UTF-8 text. Next: save it as UTF-8.") from None
    except (OSError, ValueError):
        raise InputError(f"The legend {path} cannot be read. Next: check the path and its permissions.") from None
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as why:
        raise InputError(
            f"The legend {path} is not JSON (line {why.lineno}: {why.msg}). Next: write one like {EXAMPLE}."
        ) from None
    except (RecursionError, ValueError):
        raise InputError(f"The legend {path} is not JSON that can be read. Next: write one like {EXAMPLE}.") from None


def _is_key(key: str) -> bool:
    return bool(_whole(key) is not None or _RGB.fullmatch(key) or _HEX.fullmatch(key))


def _whole(key: str) -> int | None:
    return int(key) if re.fullmatch(r"\s*[+-]?[0-9]{1,19}\s*", key) else None


def _key(key: str, path: Path) -> tuple[bool, int]:
    """(whether it is a colour, value)."""
    value = _whole(key)
    if value is not None:
        return False, value
    if found := _HEX.fullmatch(key):
        return True, int(found[1], 16)
    if (found := _RGB.fullmatch(key)) and max(map(int, found.groups())) < 256:
        return True, colour_code(*map(int, found.groups()))
    raise InputError(
        f'The legend {path} names "{key}", which is neither a whole number nor a colour ("#rrggbb" or "r,g,b"). '
        f"Next: write one like {EXAMPLE}."
    )
