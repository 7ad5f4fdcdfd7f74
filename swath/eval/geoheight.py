"""GeoHeight-Bench (arXiv 2603.25565) in a layout of our own, since no official file has been released.

Layout: `geoheight.jsonl` and the rasters that it names, all paths relative to its folder; docs/height-benchmarks.md
lists the keys. Once there are official files, this module alone has to change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case
from swath.segment.rows import Row, json_lines, once, shown

FILE = "geoheight.jsonl"
LEVELS = ("pixel", "object", "scene", "reasoning")
OBJECTS = ("building", "tree")
HEIGHTS = ("dsm", "dtm", "ndsm", "dem")
ANSWERS = ("number", "yes/no", "name", "mask", "text")
CARD_SHARE = 0.2
"""The evaluation card's tolerance: a fifth of the truth."""


class GeoHeight:
    """The benchmark `geoheight`: numbers within 20 % of the truth, masks by their overlap, texts by a judge."""

    name = "geoheight"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per line.

        Raises:
            InputError: there is no geoheight.jsonl, a line is not such a case, or it names a file that is not there.
        """
        file = folder / FILE
        if not file.is_file():
            raise InputError(f"{folder} holds no {FILE}. Next: give the folder that holds it and its rasters.")
        for name, row in once(json_lines(file), lambda row: row.identity("id")):
            yield _case(name, row, folder)


def _case(name: str, row: Row, folder: Path) -> Case:
    kind = _one_of(row, "type", ANSWERS)
    values = {"number": _number, "yes/no": _yes_or_no, "name": _name, "mask": _mask, "text": _text}[kind](row, folder)
    gsd = row.number("gsd_m", 0.0)
    if gsd < 0:
        raise row.fault("gsd_m", "is negative")
    return Case(
        id=name,
        image=row.present("image", folder),
        question=row.text("question"),
        type=row.text("task"),
        tier=_one_of(row, "level", LEVELS),
        options=_heights(row, folder) | ({"gsd_m": gsd} if gsd else {}),
        exact={key: row.present(key, folder) for key in ("labels", "legend") if row.values.get(key) is not None},
        extras=_extras(row, folder, kind) | ({"gsd_m": gsd} if gsd else {}),
        **values,
    )


def _heights(row: Row, folder: Path) -> dict[str, Any]:
    return {key: row.present(key, folder) for key in HEIGHTS if row.values.get(key) is not None}


def _extras(row: Row, folder: Path, kind: str) -> dict[str, Any]:
    heights = {key: str(path) for key, path in _heights(row, folder).items()}
    extras: dict[str, Any] = {"answer": kind, "split": row.text("split", "base"), "height": heights}
    if row.values.get("object") is not None:
        extras["object"] = extras["class"] = _one_of(row, "object", OBJECTS)
    if row.values.get("classes") is not None:
        extras["classes"] = _class_names(row)
    return extras


def _number(row: Row, folder: Path) -> dict[str, Any]:
    """A fifth of |truth|, or the absolute tolerance where that is more: a truth of 0 has no other."""
    truth, allowed = row.number("answer"), row.number("tolerance_abs", 0.0)
    if allowed < 0:
        raise row.fault("tolerance_abs", "is negative")
    ranges = _card_range(truth)
    metrics = ("tolerance", "range:card") if ranges else ("tolerance",)
    share = row.number("tolerance_rel", CARD_SHARE)
    if share < 0:
        raise row.fault("tolerance_rel", "is negative")
    return {
        "truth": truth,
        "unit": row.text("unit", "") or None,
        "tolerance_rel": share,
        "tolerance_abs": allowed,
        "metrics": metrics,
        "ranges": ranges,
    }


def _card_range(truth: float) -> dict[str, tuple[float, float]]:
    """What the card's formula |value - truth| / truth <= 0.2 accepts: anything where the truth is negative."""
    largest = sys.float_info.max
    if truth == 0:  # the formula divides by it
        return {}
    if truth < 0:
        return {"card": (-largest, largest)}
    return {"card": (truth * (1 - CARD_SHARE), min(truth * (1 + CARD_SHARE), largest))}


def _yes_or_no(row: Row, folder: Path) -> dict[str, Any]:
    truth = row.text("answer").strip().lower()
    if truth not in ("yes", "no"):
        raise row.fault("answer", f'is {shown(truth)}, not "yes" or "no"')
    return {"truth": truth, "metrics": ("exact",)}


def _name(row: Row, folder: Path) -> dict[str, Any]:
    """A name or a ranking, and its other spellings."""
    truth, also = row.text("answer"), row.values.get("aliases", [])
    if not isinstance(also, list) or not all(isinstance(text, str) for text in also):
        raise row.fault("aliases", "is no list of texts")
    return {"truth": truth, "metrics": ("exact",), "aliases": {truth: tuple(also)} if also else {}}


def _mask(row: Row, folder: Path) -> dict[str, Any]:
    return {"truth": str(row.present("mask", folder)), "metrics": ("mask", "mask:card")}


def _class_names(row: Row) -> dict[str, str]:
    """What the values of a map of classes are called."""
    found = row.values["classes"]
    named = isinstance(found, dict) and all(isinstance(name, str) and name.strip() for name in found.values())
    if not named or not all(value.isdecimal() for value in found):
        raise row.fault("classes", "is no object of values and their names")
    return dict(found)


def _text(row: Row, folder: Path) -> dict[str, Any]:
    return {"truth": row.text("answer"), "metrics": ("judge",)}


def _one_of(row: Row, key: str, known: tuple[str, ...]) -> str:
    found = row.text(key)
    if found not in known:
        raise row.fault(key, f"is {shown(found)}, not one of {', '.join(known)}")
    return found
