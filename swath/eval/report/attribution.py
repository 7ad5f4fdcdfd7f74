"""Where errors come from: a case asked as it is, with true classes, with a reference program and with both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from swath.eval.report.result import Result

Cause = Literal["segmenter", "planner", "ambiguous", "joint", "measurement"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
CELLS = ("plain", "segmenter", "planner", "both")

MEANING: Mapping[Cause, str] = {
    "segmenter": "repaired by true classes, and not by the reference program",
    "planner": "repaired by the reference program, and not by true classes",
    "ambiguous": "repaired by either of the two alone",
    "joint": "repaired only by both together",
    "measurement": "wrong even with both",
}


@dataclass(frozen=True)
class Attribution:
    """Causes of all that was not right.

    Attributes:
        complete: number of cases that were asked in all four cells.
        incomplete: number of cases that lack one of them; they have no cause.
        causes: how many of the complete cases have each cause.
        by_type: the same by type of question.
        right_yet_measured_wrong: complete cases that were right, but are wrong with both oracles.
        contradictory: cases counted as measurement that one oracle alone repaired.
    """

    complete: int = 0
    incomplete: int = 0
    causes: Counter[Cause] = field(default_factory=Counter)
    by_type: Mapping[str, Counter[Cause]] = field(default_factory=dict)
    right_yet_measured_wrong: int = 0
    contradictory: int = 0

    def to_json(self) -> dict[str, Any]:
        """The attribution as one JSON-ready object."""
        return {
            "complete": self.complete,
            "incomplete": self.incomplete,
            "causes": {cause: self.causes[cause] for cause in CAUSES},
            "by_type": {name: {cause: found[cause] for cause in CAUSES} for name, found in self.by_type.items()},
            "right_yet_measured_wrong": self.right_yet_measured_wrong,
            "contradictory": self.contradictory,
        }


def cause(plain: bool, segmenter: bool, planner: bool, both: bool) -> Cause | None:
    """Why a case is wrong, from whether it is right in each of the four cells; None where it is right as it is."""
    if plain:
        return None
    if not both:
        return "measurement"
    if segmenter and planner:
        return "ambiguous"
    if segmenter:
        return "segmenter"
    return "planner" if planner else "joint"


def attribute(results: Sequence[Result]) -> Attribution:
    """Attribute all errors of a run, from the lines of all its cells."""
    cells: dict[str, dict[str, Result]] = {}
    for result in results:
        cells.setdefault(result.case, {})[result.cell] = result
    whole = [found for found in cells.values() if all(cell in found for cell in CELLS)]
    by_type: dict[str, Counter[Cause]] = {}
    right_yet_wrong = contradictory = 0
    for found in whole:
        plain, segmenter, planner, both = (found[cell].right for cell in CELLS)
        why = cause(plain, segmenter, planner, both)
        right_yet_wrong += plain and not both
        contradictory += why == "measurement" and (segmenter or planner)
        if why is not None:
            by_type.setdefault(found["plain"].type, Counter())[why] += 1
    return Attribution(
        complete=len(whole),
        incomplete=len(cells) - len(whole),
        causes=sum(by_type.values(), Counter()),
        by_type=dict(sorted(by_type.items())),
        right_yet_measured_wrong=right_yet_wrong,
        contradictory=contradictory,
    )
