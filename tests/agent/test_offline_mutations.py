"""Known questions changed by a word that changes their meaning: the program changes with it, or it is refused."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from pathlib import Path
from types import ModuleType

import pytest
from painted_town import SCENE

from swath.agent.offline import OfflinePlanner
from swath.errors import Refused

FOLDER = Path(__file__).parent
SWAPS = {
    "class": [("water", "road"), ("buildings", "ponds"), ("building", "pond"), ("vegetation", "barren land"),
              ("houses", "roads"), ("roads", "solar panels"), ("road", "farmland"), ("farmland", "water"),
              ("trees", "water"), ("ponds", "buildings")],
    "comparison": [("larger than", "smaller than"), ("bigger than", "smaller than"), ("more than", "less than"),
                   ("at least", "at most"), ("within", "further than"), ("over", "under"), ("above", "below"),
                   ("further than", "closer than"), ("less than", "more than"), ("smaller than", "larger than"),
                   ("exceeding", "below"), ("fewer than", "more than"), (">", "<")],
    "side": [("northern", "southern"), ("north", "east"), ("left", "right"), ("top", "bottom"), ("eastern", "western"),
             ("upper", "lower"), ("south", "north")],
    "rank": [("largest", "smallest"), ("biggest", "smallest"), ("second", "third"), ("nearest", "farthest"),
             ("most", "least")],
    "statistic": [("average", "median"), ("mean", "median"), ("median", "average"), ("total", "average")],
    "denial": [("are within", "are not within"), ("is within", "is not within"), ("are larger", "are not larger"),
               ("are there", "are there no"), ("is there any", "is there no"), ("is more", "is not more"),
               ("that are within", "that are not within"), ("with", "without"), ("both", "neither")],
    "number": [("20 m", "25 m"), ("30 m", "35 m"), ("50 m", "55 m"), ("100 m2", "150 m2"), ("0.01", "0.02"),
               ("half", "a third"), ("10 m", "12 m"), ("5 m", "6 m")],
}  # fmt: skip
TURNED = (
    "Is there more {a} than {b}?", "Is there less {a} than {b}?", "Are there fewer {a} than {b}?",
    "Is the {a} area larger than the {b} area?", "ratio of {a} to {b}", "{a} to {b} ratio", "{a} area : {b} area ratio",
    "How much more {a} than {b} is there, in m2?", "How many times larger is the {a} area than the {b} area?",
    "By how many percentage points does {a} exceed {b}?", "Is there twice as much {a} as {b}?",
    "How much {a} is within 20 m of {b}, in m2?", "What percentage of the {a} is within 20 m of {b}?",
    "area of {a} divided by area of {b}", "for every hectare of {a} how many hectares of {b} are there?",
    "Excluding {a}, what percentage of the image is {b}?", "What percentage of the image is {a} but not {b}?",
    "Is there {a} but no {b}?", "mean distance from {a} patches to {b}", "{a} patches within 20 m of {b}: how many?",
    "Il y a plus de {a} que de {b} ?", "¿Hay más {a} que {b}?",
)  # fmt: skip
"""Questions in which the two classes are no pair of equals."""
PAIRS = (("water", "vegetation"), ("road", "water"), ("vegetation", "farmland"))


def questions() -> list[str]:
    found = []
    for name, key in (("questions_offline.jsonl", "question"), ("personas.jsonl", "wording")):
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        found += [json.loads(line)[key] for line in lines]
    sections = examples().SECTIONS.values()
    return [*found, *(question for section in sections for question in section)]


def examples() -> ModuleType:
    """The page of examples, as a module."""
    spec = importlib.util.spec_from_file_location("examples_of_questions", FOLDER.parents[1] / "docs" / "questions.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutated(question: str, old: str, new: str) -> str | None:
    """The question with the first such words replaced; None where they are not in it."""
    changed = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", new, question, count=1, flags=re.IGNORECASE)
    return changed if changed != question else None


def source(question: str) -> str | None:
    try:
        program = OfflinePlanner().plan(question, SCENE, None)
    except Refused:
        return None
    return f"{program.source} {program.gsd_m}"


def unchanged(kind: str) -> list[tuple[str, str]]:
    """Changed questions that are read as before."""
    found = []
    draw = random.Random(kind)
    for question in draw.sample(questions(), 80):
        changes = [(changed, old, new) for old, new in SWAPS[kind] if (changed := mutated(question, old, new))]
        if not changes:
            continue
        before = source(question)
        for changed, _old, _new in changes:
            if before is not None and source(changed) == before:
                found.append((question, changed))
    return found


@pytest.mark.parametrize("kind", sorted(SWAPS))
def test_a_change_of_meaning_changes_the_program(kind):
    assert unchanged(kind) == []


@pytest.mark.parametrize("wording", TURNED)
def test_a_question_turned_round_is_another(wording):
    planned = 0
    for a, b in PAIRS:
        one, other = (source(wording.format(a=x, b=y)) for x, y in ((a, b), (b, a)))
        assert one is None or one != other, (a, b)
        planned += one is not None
    assert planned or wording.startswith(("Il", "¿")), "none of these is understood"
