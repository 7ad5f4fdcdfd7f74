"""How questions are worded: templates by type and words by class, from a TOML file.

    suffix = " (GSD: {gsd}m)"                      # behind every question about a map with a stated pixel size
    [classes.building]                             # several ways of saying a class, in four places of a sentence
    area = ["building area"]
    things = ["buildings"]
    thing = ["building"]
    target = ["buildings"]
    [types]
    count = ["How many {a.things} larger than {low.ha} are there?"]

Slots: `{a...}` and `{b...}` are the class that is measured and the other one; `{low...}` is a size above which patches
count, `{floor...}` one from which on they do, `{high...}` one up to which they do, as `.ha`, `.short_ha`, `.m2` or
`.words`; `{distance...}` as `.tight`, `.m`, `.words` or `.km`; `{percent}` and `{efficiency}` are numbers;
`{hectares}`, `{ha}`, `{square_metres}`, `{m2}`, `{acres}` and `{square_kilometres}` say the unit of the answer.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Any

from swath.errors import InputError
from swath.eval.labels.kinds import KINDS, Kind, class_key
from swath.eval.labels.query import Query

UNITS = {
    "hectares": ("hectares", "ha"),
    "ha": ("ha", "ha"),
    "square_metres": ("square metres", "m2"),
    "m2": ("m²", "m2"),
    "acres": ("acres", "acre"),
    "square_kilometres": ("square kilometres", "km2"),
}
"""Slot of a unit: how it is written, and what it is."""

PLACES = ("area", "things", "thing", "target")
SIZES = ("low", "floor", "high")
SLOTS = frozenset({"a", "b", "distance", "percent", "efficiency", *SIZES, *UNITS})


@dataclass(frozen=True)
class Wording:
    """One template.

    Attributes:
        text: with slots.
        slots: names of its slots, without what follows the point.
    """

    text: str
    slots: frozenset[str]

    @property
    def sized(self) -> bool:
        """Whether it speaks of the size of patches."""
        return bool(self.slots & set(SIZES))

    @property
    def unit(self) -> str:
        """The unit that it asks an area in."""
        return next((unit for slot, (_, unit) in UNITS.items() if slot in self.slots), "ha")


@dataclass(frozen=True)
class Wordings:
    """A file of wordings.

    Attributes:
        source: name of the file, for people.
        types: templates by type of question.
        classes: words by key of `CLASS_NAMES` and place in the sentence.
        suffix: behind every question about a map with a stated pixel size.
    """

    source: str
    types: Mapping[str, Sequence[Wording]]
    classes: Mapping[str, Mapping[str, Sequence[str]]]
    suffix: str

    def phrase(self, wording: Wording, query: Query, gsd_m: float | None, rng: random.Random) -> str:
        """A question in words.

        Args:
            wording: one of this file's templates.
            query: what is asked.
            gsd_m: stated ground size of a pixel, None where the map brings its own.
            rng: chooses between words for a class.
        """
        suffix = self.suffix.format(gsd=f"{gsd_m:g}") if gsd_m is not None else ""
        values = {
            "a": self._words(query.name, rng),
            "b": self._words(query.other, rng),
            "low": _size(query.min_m2),
            "floor": _size(query.min_m2),
            "high": _size(query.max_m2),
            "distance": _distance(query.distance_m),
            "percent": f"{query.percent or 0:g}",
            "efficiency": f"{100 * query.efficiency:g}",
        }
        said = wording.text.format(**values, **{slot: written for slot, (written, _) in UNITS.items()})
        return said[0].upper() + said[1:] + suffix

    def _words(self, name: str | None, rng: random.Random) -> SimpleNamespace:
        if name is None:
            return SimpleNamespace()
        plain = {"area": [f"{name} area"], "things": [f"{name} patches"], "thing": [f"{name} patch"], "target": [name]}
        words = self.classes.get(class_key(name) or "", plain)
        return SimpleNamespace(**{place: rng.choice(list(words[place])) for place in PLACES})


def _size(size_m2: float | None) -> SimpleNamespace:
    if size_m2 is None:
        return SimpleNamespace()
    ha, m2 = f"{size_m2 / 1e4:g}", f"{size_m2:,.1f}".removesuffix(".0")
    return SimpleNamespace(ha=f"{ha} hectares", short_ha=f"{ha} ha", m2=f"{m2} m²", words=f"{m2} square metres")


def _distance(metres: float | None) -> SimpleNamespace:
    if metres is None:
        return SimpleNamespace()
    km = f"{metres / 1000:g} km"
    return SimpleNamespace(tight=f"{metres:g}m", m=f"{metres:g} m", words=f"{metres:g} metres", km=km)


def read_wordings(path: Path | None = None) -> Wordings:
    """Read a file of wordings.

    Args:
        path: the file; None for the wordings that come with the package.

    Raises:
        InputError: it cannot be read, or a template has a slot that its type cannot fill, or lacks one.
    """
    file = path or resources.files("swath.eval.labels").joinpath("wordings.toml")
    try:
        content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"The wordings {file.name} cannot be read: {error}. Next: give a TOML file.") from None
    kinds = {kind.type: kind for kind in KINDS}
    if unknown := content.get("types", {}).keys() - kinds:
        raise InputError(f"The wordings {file.name} know a type {sorted(unknown)[0]}. Next: use {', '.join(kinds)}.")
    types = {
        name: tuple(_wording(text, kinds[name], file.name) for text in texts)
        for name, texts in content.get("types", {}).items()
    }
    return Wordings(file.name, types, content.get("classes", {}), content.get("suffix", ""))


def _wording(text: str, kind: Kind, source: str) -> Wording:
    fields = (field for _, field, _, _ in Formatter().parse(text) if field)
    wording = Wording(text, frozenset(field.split(".")[0] for field in fields))
    needed = {"distance": kind.near, "percent": kind.measure == "covers"}
    if (
        wording.slots - SLOTS
        or any(needed[slot] != (slot in wording.slots) for slot in needed)
        or kind.in_unit_of_area != bool(wording.slots & UNITS.keys())
    ):
        raise InputError(f'The wordings {source}, type {kind.type}: "{text}" has not the slots that its type needs.')
    return wording
