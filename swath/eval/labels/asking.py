"""The questions about one map: types in turn, answers balanced, each with its truth, range and program."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swath.eval.labels.drawing import ABSENT_MEASURES, Wish, draw
from swath.eval.labels.kinds import Kind
from swath.eval.labels.landscape import Landscape
from swath.eval.labels.programs import reference_program
from swath.eval.labels.query import Query
from swath.eval.labels.ranges import Measure, acceptable_range
from swath.eval.labels.truth import Answer, truth
from swath.eval.labels.wordings import Wording, Wordings

Row = dict[str, Any]

ABSENT_SHARE = 0.05
WORDING_TRIES = 8
LOPSIDED = 3
"""By how many questions of a type one answer may lead where a map has no question with the other."""

NAMED_ANSWERS = {
    "any": ("yes", "no"),
    "several": ("yes", "no"),
    "more_area": ("yes", "no"),
    "covers": ("yes", "no"),
    "pieces": ("connected", "fragmented"),
}
"""Measures whose answers are balanced."""


@dataclass
class Tally:
    """What has been asked so far, over all maps.

    Attributes:
        types: questions of each type.
        wordings: how often each template was used.
        answers: by type with yes/no or named answers, how often each is the truth.
        borderline: questions whose answer hangs on a pixel.
        absent: questions about a class that is not in the image.
    """

    types: Counter[str] = field(default_factory=Counter)
    wordings: Counter[Wording] = field(default_factory=Counter)
    answers: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    borderline: int = 0
    absent: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a question."""
        self.types[row["type"]] += 1
        self.borderline += row["extras"]["borderline"]
        self.absent += row["extras"]["absent"]
        if isinstance(row["truth"], str):
            self.answers[row["type"]][row["truth"]] += 1

    def to_json(self) -> dict[str, Any]:
        """The counts that meta.json keeps."""
        return {
            "cases": self.types.total(),
            "types": dict(sorted(self.types.items())),
            "answers": {name: dict(sorted(found.items())) for name, found in sorted(self.answers.items())},
            "borderline": self.borderline,
            "absent": self.absent,
        }


def questions(
    land: Landscape, kinds: Sequence[Kind], said: Wordings, tally: Tally, rng: random.Random, number: int
) -> Iterator[Row]:
    """The questions about one map: each of the type that has been asked least and that the map can be asked.

    Args:
        land: the map.
        kinds: types to ask.
        said: how they are worded.
        tally: what has been asked about the maps before; it is kept up to date.
        rng: chooses.
        number: how many, as far as the map has so many.

    Returns:
        Lines of cases.jsonl that lack id, image and labels.
    """
    asked: set[str] = set()
    exhausted: set[str] = set()
    while len(asked) < number:
        order = [kind for kind in kinds if kind.type not in exhausted and said.types.get(kind.type)]
        order.sort(key=lambda kind: (tally.types[kind.type], rng.random()))
        for kind in order:
            row = _question(land, kind, said, tally, rng)
            if row is not None and row["question"] not in asked:
                asked.add(row["question"])
                tally.add(row)
                yield row
                break
            exhausted.add(kind.type)
        else:
            return


def _question(land: Landscape, kind: Kind, said: Wordings, tally: Tally, rng: random.Random) -> Row | None:
    """One question of a kind; None where the map has none that tells something."""
    wordings = sorted(said.types[kind.type], key=lambda wording: (tally.wordings[wording], rng.random()))
    for wish in _wishes(kind, tally):
        for wording in wordings[:WORDING_TRIES]:
            query = draw(land, kind, wording, wish, rng)
            if query is not None:
                tally.wordings[wording] += 1
                row = _row(land, kind, query, said.phrase(wording, query, land.stated_gsd_m, rng))
                row["extras"]["wording"] = f"{kind.type}/{said.types[kind.type].index(wording) + 1}"
                return row
    return None


def _wishes(kind: Kind, tally: Tally) -> list[Wish]:
    """What the next question of a kind should be like, the most wanted first."""
    wishes = [Wish()]
    if kind.measure in NAMED_ANSWERS:
        given = tally.answers[kind.type]
        rarer, other = sorted(NAMED_ANSWERS[kind.measure], key=lambda answer: given[answer])
        wishes = [Wish(rarer)] + [Wish(other)] * (given[other] - given[rarer] < LOPSIDED)
    asked = tally.types.total() + 1
    due = kind.measure in ABSENT_MEASURES and tally.absent + 1 <= ABSENT_SHARE * asked
    return [Wish(wishes[0].answer, absent=True), *wishes] if due else wishes


def _row(land: Landscape, kind: Kind, query: Query, question: str) -> Row:
    answer = truth(land, query)
    found = None if isinstance(answer, str) else acceptable_range(_measure(kind), answer)
    moved = [truth(land, query, step) for step in (-1, 1)]
    absent = not all(land.has(name) for name in (query.name, query.other) if name is not None)
    return {
        "question": question,
        "truth": float(f"{answer:.10g}") if isinstance(answer, float) else answer,
        "type": kind.type,
        "tier": kind.tier,
        "unit": query.reply_unit,
        "metrics": ["exact" if found is None else f"range:{found[0]}"],
        "ranges": {} if found is None else {found[0]: list(found[1])},
        "gsd_m": land.stated_gsd_m,
        "program": reference_program(query),
        "extras": {
            "gsd_m": sum(land.step_xy_m) / 2,
            "borderline": not all(_accepted(other, answer, found) for other in moved),
            "absent": absent,
        },
    }


def _measure(kind: Kind) -> Measure:
    if kind.measure in ("share", "largest_share"):
        return "proximity_percent" if kind.near else "percent"
    return "count" if kind.measure == "count" else "amount"


def _accepted(moved: Answer, answer: Answer, found: tuple[str, tuple[float, float]] | None) -> bool:
    """Whether an answer with moved thresholds would be right; a count has to be the same."""
    if isinstance(moved, str) or isinstance(answer, int) or found is None:
        return moved == answer
    return found[1][0] <= moved <= found[1][1]
