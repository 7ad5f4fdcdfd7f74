"""JSON as people mend it by hand: the annotation files of VRSBench were, and their authors read them as JSON5."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from swath.segment.rows import parsed

# Possessive, and closed by the end of the text at the latest: a damaged file is given up in linear time.
_STRING = r'"(?:[^"\\]|\\.)*+"?' + r"|'(?:[^'\\]|\\.)*+'?"
_REMARKS = re.compile(rf"({_STRING})|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TOKENS = re.compile(rf"({_STRING})|(,)(?=\s*+[}}\]])|(?<![\w$])([A-Za-z_$][\w$]*+)(?=\s*+:)", re.DOTALL)
_CONTROL = re.compile("[\x00-\x1f]")


def loads(text: str, file: Path) -> Any:
    """Parse JSON; or else JSON with remarks, commas at the end, single quotes, bare keys, line breaks in strings.

    Args:
        text: the file's text.
        file: for errors.

    Raises:
        InputError: it is neither; the message is about the text as tidied.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return parsed(_tidied(text), file, "")


def _tidied(text: str) -> str:
    bare = _REMARKS.sub(lambda found: found[1] or " ", text)
    return _TOKENS.sub(_strict, bare)


def _strict(found: re.Match[str]) -> str:
    string, comma, key = found.groups()
    if comma:
        return ""
    if key:
        return f'"{key}"'
    inner = string[1:-1].replace("\\\n", "")
    if string[0] == "'":
        inner = re.sub(r"\\(.)|\"", _requoted, inner, flags=re.DOTALL)
    return '"' + _CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", inner) + '"'


def _requoted(found: re.Match[str]) -> str:
    """A quoting of single-quoted text in double quotes."""
    if found[1] is None:
        return '\\"'
    return "'" if found[1] == "'" else found[0]
