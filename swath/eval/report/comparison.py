"""Two sets of answers to the same questions, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from swath.eval.report.result import Result
from swath.eval.statistics import PairedTest, paired


@dataclass(frozen=True)
class Comparison:
    """A second set of answers held against a first.

    Attributes:
        first: name of the first.
        second: name of the second.
        test: McNemar's test on the questions that both were asked.
        fixed: answers of both to the questions that only the second got right.
        broken: answers of both to the questions that only the first got right.
        neither: answers of both to the questions that none got right.
        by_type: the test of each type of question.
        only_first: number of questions that only the first was asked.
        only_second: number of questions that only the second was asked.
        changed: questions of the same id with another wording or truth; they are not compared.
    """

    first: str
    second: str
    test: PairedTest
    fixed: tuple[tuple[Result, Result], ...] = field(repr=False)
    broken: tuple[tuple[Result, Result], ...] = field(repr=False)
    neither: tuple[tuple[Result, Result], ...] = field(repr=False)
    by_type: dict[str, PairedTest] = field(repr=False)
    only_first: int = 0
    only_second: int = 0
    changed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The comparison as one JSON-ready object."""
        return {
            "first": self.first,
            "second": self.second,
            "test": asdict(self.test),
            "by_type": {name: asdict(test) for name, test in self.by_type.items()},
            "fixed": [before.case for before, _ in self.fixed],
            "broken": [before.case for before, _ in self.broken],
            "only_in_first": self.only_first,
            "only_in_second": self.only_second,
            "changed": list(self.changed),
        }


def compare(first: str, a: Sequence[Result], second: str, b: Sequence[Result]) -> Comparison:
    """Compare two sets of answers, each of one cell.

    Args:
        first: name of the first set.
        a: its answers.
        second: name of the second set.
        b: its answers.
    """
    there = {result.case: result for result in b}
    shared = [(result, there[result.case]) for result in a if result.case in there]
    changed = [before.case for before, after in shared if not _same_question(before, after)]
    pairs = [(before, after) for before, after in shared if _same_question(before, after)]
    types = dict.fromkeys(sorted(before.type for before, _ in pairs))
    return Comparison(
        first=first,
        second=second,
        test=_test(pairs),
        fixed=tuple((before, after) for before, after in pairs if after.right and not before.right),
        broken=tuple((before, after) for before, after in pairs if before.right and not after.right),
        neither=tuple((before, after) for before, after in pairs if not before.right and not after.right),
        by_type={name: _test([pair for pair in pairs if pair[0].type == name]) for name in types},
        only_first=len(a) - len(shared),
        only_second=len(b) - len(shared),
        changed=tuple(changed),
    )


def _same_question(before: Result, after: Result) -> bool:
    return before.question == after.question and before.truth == after.truth


def _test(pairs: Sequence[tuple[Result, Result]]) -> PairedTest:
    return paired([before.right for before, _ in pairs], [after.right for _, after in pairs])
