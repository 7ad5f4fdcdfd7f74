"""What a page may say about a question, checked before anything is done with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from swath.errors import InputError
from swath.segment.error_matrix import OF_CARD
from swath.serve.folder import Folder
from swath.serve.work import FILES, LONLAT, PIXELS

LONGEST_QUESTION, LONGEST_PROGRAM, LONGEST_WORD = 2000, 100_000, 200
MOST_CORNERS, MOST_NAMED = 1000, 50
WORDS = ("label_class", "segmenter", "planner", "vertical_unit")
NUMBERS = ("gsd_m", "vertical_accuracy_m")


def checked_options(given: Mapping[str, Any], folder: Folder) -> dict[str, Any]:
    """The options of a question, as `swath.ask` takes them.

    Args:
        given: what the page sent beside image, question, thread and program.
        folder: the served folder, in which all files lie.

    Raises:
        InputError: an option is not known or not of its kind, or a file is not in the folder.
    """
    readers: dict[str, Callable[[str, Any], Any]] = {
        **dict.fromkeys(FILES, lambda name, value: folder.file(text(name, value))),
        **dict.fromkeys(WORDS, text),
        "segmenter": segmenter,
        "confusion": lambda name, value: value if value == OF_CARD else folder.file(text(name, value)),
        **dict.fromkeys(NUMBERS, number),
        "layers": lambda name, value: {key: folder.file(text(name, path)) for key, path in named(name, value)},
        "bands": lambda name, value: {key.lower(): whole(name, band) for key, band in named(name, value)},
        "thresholds": lambda name, value: {key.upper(): number(name, limit) for key, limit in named(name, value)},
        "area": lambda name, value: area(value),
    }
    unknown = sorted(set(given) - set(readers))
    if unknown:
        raise InputError(
            f"There is no option {str(unknown[0])[:40]}. Next: see docs/serve.md for those that there are."
        )
    return {name: readers[name](name, value) for name, value in given.items() if value not in (None, "", {})}


def text(name: str, value: Any, longest: int = LONGEST_WORD) -> str:
    """A text of a bounded length.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} has to be a text. Next: write one.")
    if len(value) > longest:
        raise InputError(f"{name} is longer than {longest:,} letters. Next: write less.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} holds letters that no text has. Next: type it anew.") from None
    return value.replace("\0", "")


def segmenter(name: str, value: Any) -> str:
    """The name of a segmenter, without any file or address: pages must not make the server read or call those.

    Raises:
        InputError: it is none, or names a file or an address.
    """
    found = text(name, value)
    if ":" in found:
        raise InputError("A page names a segmenter without a file or an address. Next: use swath ask for those.")
    return found


def number(name: str, value: Any) -> float:
    """A number.

    Raises:
        InputError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} has to be a number. Next: write one.")
    return float(value)


def whole(name: str, value: Any) -> int:
    """A whole number.

    Raises:
        InputError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} takes whole numbers, such as red=3. Next: write one.")
    return value


def named(name: str, value: Any) -> list[tuple[str, Any]]:
    """Values by name.

    Raises:
        InputError: they are none, or too many.
    """
    if not isinstance(value, Mapping) or len(value) > MOST_NAMED:
        raise InputError(f"{name} has to be up to {MOST_NAMED} values, each with its name.")
    return [(text(name, key).strip(), item) for key, item in value.items()]


def area(value: Any) -> dict[str, Any]:
    """A drawn area: corners in pixels or in degrees.

    Raises:
        InputError: it is none.
    """
    corners = value.get("polygon") if isinstance(value, Mapping) else None
    coordinates = value.get("coordinates", PIXELS) if isinstance(value, Mapping) else None
    if not isinstance(corners, list) or not 3 <= len(corners) <= MOST_CORNERS or coordinates not in (PIXELS, LONLAT):
        raise InputError(f"An area has 3 to {MOST_CORNERS:,} corners in {PIXELS} or {LONLAT}. Next: draw it anew.")
    if not all(isinstance(corner, list) and len(corner) == 2 for corner in corners):
        raise InputError("Each corner of an area is two numbers. Next: draw it anew.")
    return {"polygon": [[number("area", x), number("area", y)] for x, y in corners], "coordinates": coordinates}
