"""The metric `geo3dvqa`: each category by its own rule, as the official code has it and as it ought to be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics.numeric import judged_number
from swath.eval.scores import Prediction, Score, Verdict

RULES = ("official", "sane")
LARGE_M, SHARE, NEAR_M = 30, 0.3, 10
"""Heights over 30 m have to come within 30 %, others within less than 10 m."""
PIXEL = 0.05
"""How far a sky view factor may lie from the truth."""
ALIKE = 0.7
"""Least Jaccard index of two lists of land covers."""
LONGER = 40
"""Characters that an answer may have more than the truth before the official code calls it a format error."""

_REGION = re.compile(r"region\s+([a-z])\b", re.IGNORECASE)
_OFFICIAL_REGION = re.compile(r"region\s+[a-z]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Geo3dVqaRules:
    """The metric `geo3dvqa`, by the rule `official` or `sane`.

    `sane` reads numbers with sign and decimals, names in any order and spelling that people use, and takes an answer
    that names several regions for unparsable; tolerances are the official ones.
    """

    def __init__(self, rule: str = "official") -> None:
        if rule not in RULES:
            raise InputError(f'The metric geo3dvqa has no rule "{rule}". Next: choose one of {", ".join(RULES)}.')
        self.rule = rule

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a case's truth; the case's type is its category."""
        judge = _official if self.rule == "official" else _sane
        verdict, why = judge(case, prediction)
        value = None if verdict == "unparsable" else float(verdict == "right")
        return Score(f"geo3dvqa:{self.rule}", value, verdict, why)


def first_integer(text: str) -> int | None:
    """The first run of digits as the official code reads it: "12.5 m" is 12, "-3 m" is 3; None where there is none."""
    found = re.search(r"[0-9]{1,4000}", text)
    return int(found[0]) if found else None


def _official(case: Case, prediction: Prediction) -> tuple[Verdict, str]:
    said, truth = _normalised(_as_text(prediction.answer)), _normalised(case.truth)
    if not said or len(said) - len(truth) > LONGER:
        return "unparsable", f"an answer of {len(said)} characters is a format error"
    rule = _OFFICIAL.get(case.type, _official_choice)
    try:
        right = rule(said, truth)
    except ValueError:
        return "unparsable", f"{_short(said)} is a format error"
    return ("right" if right else "wrong"), f"{_short(said)} for {_short(truth)}"


def _official_height(said: str, truth: str) -> bool:
    value, wanted = first_integer(said), first_integer(truth)
    if value is None or wanted is None:
        return False
    if wanted == 0:
        return value == 0
    return abs(value - wanted) <= wanted * SHARE if wanted > LARGE_M else abs(value - wanted) < NEAR_M


def _official_pixel(said: str, truth: str) -> bool:
    """Without any slack: 0.75 for 0.8 is wrong, since their difference is 0.05000000000000004."""
    return abs(float(said) - float(truth)) <= PIXEL


def _official_ranking(said: str, truth: str) -> bool:
    """Regions in order, or else single letters in order: an article "a" is one of them."""
    orders = [
        _OFFICIAL_REGION.findall(text) or [f"region {letter}" for letter in re.findall(r"\b[a-z]\b", text)]
        for text in (said, truth)
    ]
    return orders[0] == orders[1] if all(orders) else said == truth


def _official_set(said: str, truth: str) -> bool:
    return set(said.split(", ")) == set(truth.split(", "))


def _official_overlap(said: str, truth: str) -> bool:
    return _jaccard(set(said.split(", ")), set(truth.split(", "))) >= ALIKE


def _official_choice(said: str, truth: str) -> bool:
    """The first region named, or the bare letter; any other answer has to be the same text."""
    if "region" not in truth:
        return said == truth
    if "region" not in said:
        return said == truth.replace("region", "").strip()
    found = _OFFICIAL_REGION.search(said)
    return found is not None and found[0] == truth


_OFFICIAL: dict[str, Callable[[str, str], bool]] = {
    "height_average": _official_height,
    "hard_pixel": _official_pixel,
    "hard_ranking": _official_ranking,
    "land_use": _official_set,
    "landcover_type": _official_overlap,
}


def _sane(case: Case, prediction: Prediction) -> tuple[Verdict, str]:
    truth = case.truth
    if case.type == "height_average":
        wanted = float(first_integer(truth) or 0) * (-1 if truth.strip().startswith("-") else 1)
        return judged_number(case, prediction, lambda value: _near_height(value, wanted), f"{wanted:g} m")
    if case.type == "hard_pixel":
        wanted = float(truth)
        return judged_number(
            case, prediction, lambda value: abs(value - wanted) <= PIXEL + 1e-9, f"{wanted:g} +- {PIXEL}"
        )
    said = _as_text(prediction.answer)
    if case.type in ("land_use", "landcover_type"):
        alike = _jaccard(_names(said), _names(truth))
        needed = 1.0 if case.type == "land_use" else ALIKE
        return ("right" if alike >= needed else "wrong"), f"a Jaccard index of {alike:.2f}, {needed:g} is needed"
    return _sane_choice(said, truth, ranked=case.type == "hard_ranking")


def _near_height(value: float, wanted: float) -> bool:
    if abs(wanted) > LARGE_M:
        return abs(value - wanted) <= SHARE * abs(wanted) * (1 + 1e-9)
    return abs(value - wanted) < NEAR_M


def _sane_choice(said: str, truth: str, *, ranked: bool) -> tuple[Verdict, str]:
    """Regions by their letters, in order where they are ranked; points by their coordinates; else the same text."""
    shown = f"{_short(said)} for {_short(truth)}"
    wanted = _letters(truth)
    if not wanted:
        points = [_NUMBER.findall(text) for text in (said, truth)]
        right = points[0] == points[1] if points[1] else _normalised(said) == _normalised(truth)
        return ("right" if right else "wrong"), shown
    found = _letters(said)
    if not found or (not ranked and len(set(found)) > 1):
        return "unparsable", f"{_short(said)} names {len(set(found))} regions"
    return ("right" if (found if ranked else found[:1]) == wanted else "wrong"), shown


def _letters(text: str) -> list[str]:
    """Letters of the regions that a text names, in order: "Region A", or else bare capitals."""
    named = _REGION.findall(text) or re.findall(r"\b[A-Z]\b", text)
    return [letter.lower() for letter in named]


def _names(text: str) -> set[str]:
    parts = re.split(r",|;|\n|\band\b", text.lower().replace("_", " "))
    return {name for part in parts if (name := " ".join(part.split()).strip(" ."))}


def _jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0


def _normalised(text: str) -> str:
    """Lower case, with one space behind each comma and nothing empty between two."""
    return ", ".join(part.strip() for part in text.lower().split(",") if part.strip())


def _as_text(answer: Any) -> str:
    if isinstance(answer, float):
        return f"{answer:.12g}"
    if isinstance(answer, list | tuple):
        return ", ".join(map(str, answer))
    return str(answer)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
