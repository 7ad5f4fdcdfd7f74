"""Lines of a benchmark run as values: one question, its truth, what was answered and how that was judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swath.errors import InputError
from swath.eval.runner.results import BenchRun
from swath.eval.scores import Prediction, Score

SHOWN = 80


@dataclass(frozen=True)
class Result:
    """One finished case in one cell.

    Attributes:
        case: id of the case.
        cell: which oracles were on: "plain", "segmenter", "planner" or "both".
        type: the benchmark's type of question.
        tier: the benchmark's level of difficulty, None where it has none.
        question: as asked.
        image: path of the image, from the folder of the benchmark or of the run.
        truth: as the case has it.
        unit: unit of the truth, None where it has none or the line does not say.
        extras: what the benchmark says of the case.
        prediction: what was answered.
        verdict: the headline verdict.
        scores: by every metric of the case, the headline first.
        reading: what was measured, in words.
        program: the program that measured it.
        run: path of the run folder from the folder of the benchmark run, None where there is none.
        seconds: wall time; None where it was not kept.
        tokens: tokens of a language model, "in" and "out"; None where none was asked.
        dollars: what that cost, None where it is not known.
        warnings: those of the answer.
        broke: whether it never came to an answer for a reason that may pass; a resumed run asks it again.
    """

    case: str
    cell: str
    type: str
    tier: str | None
    question: str = field(repr=False)
    image: str
    truth: Any
    unit: str | None
    extras: Mapping[str, Any] = field(repr=False)
    prediction: Prediction
    verdict: str
    scores: tuple[Score, ...] = field(repr=False)
    reading: str | None = None
    program: str | None = field(default=None, repr=False)
    run: str | None = None
    seconds: float | None = None
    tokens: Mapping[str, int] | None = None
    dollars: float | None = None
    warnings: tuple[str, ...] = ()
    broke: bool = False

    @property
    def right(self) -> bool:
        """Whether the headline verdict is "right"."""
        return self.verdict == "right"


def results_of(run: BenchRun) -> tuple[Result, ...]:
    """The lines of a run as values.

    Raises:
        InputError: a line is not as the runner writes it.
    """
    return tuple(_result(run, row) for row in run.rows)


def _result(run: BenchRun, row: Mapping[str, Any]) -> Result:
    try:
        return Result(
            case=str(row["case"]),
            cell=str(row["cell"]),
            type=str(row["type"]),
            tier=None if row["tier"] is None else str(row["tier"]),
            question=str(row["question"]),
            image=str(row["image"]),
            truth=row["truth"],
            unit=row.get("unit"),
            extras=dict(row["extras"]),
            prediction=_prediction(row["prediction"]),
            verdict=str(row["verdict"]),
            scores=_scores(row["scores"]),
            reading=row["reading"],
            program=row["program"],
            run=row["run"],
            seconds=row.get("seconds"),
            tokens=row.get("tokens"),
            dollars=_dollars(row.get("cost")),
            warnings=tuple(map(str, row["warnings"])),
            broke=bool(row["broke"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{run.folder}: the line of case {str(row.get('case'))[:SHOWN]} is not as swath writes it "
            f"({type(error).__name__}: {error}). Next: run the benchmark anew in another folder."
        ) from None


def _prediction(said: Mapping[str, Any]) -> Prediction:
    interval = said["interval"]
    if interval is not None:
        low, high = interval
        interval = (low, high)
    return Prediction(said["status"], said["answer"], said["unit"], interval, said["reason"])


def _scores(judged: Sequence[Mapping[str, Any]]) -> tuple[Score, ...]:
    if not judged:
        raise ValueError("no scores")
    return tuple(Score(**score) for score in judged)


def _dollars(cost: Any) -> float | None:
    """Run folders keep a cost under its currency, lines of a benchmark may keep the bare number."""
    dollars = cost["dollars"] if isinstance(cost, Mapping) else cost
    return None if dollars is None else float(dollars)
