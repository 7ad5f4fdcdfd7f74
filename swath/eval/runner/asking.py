"""Asks cases: a line of results for each, whatever happens to it."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from swath.agent.ask import keep_run, open_desk
from swath.agent.desk import Desk
from swath.agent.graph import work
from swath.agent.mask_answer import class_map, masks_of, write_class_map
from swath.agent.planner import Planner, PlannerOptions
from swath.agent.planners import open_planner
from swath.batch.plans import PlannedOnce
from swath.batch.pool import Lost, Once
from swath.batch.rows import row_of_error
from swath.errors import Refused
from swath.eval.cases import Case
from swath.eval.llm_judge import LlmJudge
from swath.eval.metrics.judge import set_judge
from swath.eval.runner.cells import TRUE_PROGRAM, Key, arguments
from swath.eval.runner.opening import LastImage, SharingDesk
from swath.eval.runner.predictors import Predictor
from swath.eval.runner.results import MASKS_FOLDER, RUNS_FOLDER, Line, kept_path, run_name
from swath.eval.scores import Prediction, scores
from swath.tools.handles import Regions
from swath.tools.rectangles import corners_px
from swath.trace.reading import RUN_FILE
from swath.trace.strict_json import json_ready
from swath.types import Answer

Keep = Literal["light", "wrong", "full"]

ORIENTED = "oriented:"
"""How the names of metrics of oriented boxes begin."""

_LAST = LastImage()
_ONE_AT_A_TIME = threading.Lock()
"""A cluster's worker may have several threads, but there is one sandbox and one open image to a process."""


@dataclass(frozen=True)
class Setup:
    """What a process that asks has to know.

    Attributes:
        out: folder of the benchmark run.
        data: folder of the benchmark.
        cases: the cases to ask, by id.
        planner: name of a registered planner, or one of the caller's own.
        planner_options: what was said about who plans: model, address.
        segmenter: name of the segmenter under test.
        keep: what run folders hold; "wrong" keeps the evidence of answers that are not right.
        predictor: answers in place of planner and image, None where the image is asked.
        judge: the model that judges open answers, with the address of its server; None for none.
    """

    out: Path
    data: Path
    cases: Mapping[str, Case] = field(repr=False)
    planner: str | Planner = "auto"
    planner_options: PlannerOptions = field(default_factory=PlannerOptions)
    segmenter: str = "auto"
    keep: Keep = "wrong"
    predictor: Predictor | None = None
    judge: PlannerOptions | None = None


@lru_cache(maxsize=1)
def judge_of(said: PlannerOptions) -> LlmJudge:
    """The judge that somebody named, one for all answers.

    Raises:
        InputError: it cannot be used as named.
    """
    return LlmJudge(said)


@contextmanager
def _judged_by(said: PlannerOptions | None) -> Iterator[None]:
    """With a judge, where one is named; else with whomever the process has."""
    if said is None:
        yield
        return
    before = set_judge(judge_of(said))
    try:
        yield
    finally:
        set_judge(before)


def lines_of(setup: Setup, items: Sequence[Key], once: Once) -> Iterator[Line]:
    """A line for each case and cell, in order; see `swath.batch.pool.Work`.

    Args:
        setup: what the cases share.
        items: which of its cases, in which cells.
        once: keeps programs, so that none is planned twice.
    """
    for key in items:
        with _ONE_AT_A_TIME, _judged_by(setup.judge):
            try:
                line = _predicted(setup, key) if setup.predictor is not None else _asked(setup, key, once)
            except Exception as error:
                row = row_of_error(error, "")
                prediction = Prediction(row.status, reason=row.reason)
                line = _line(setup, key, prediction, broke=not isinstance(error, Refused))
        yield line


def lost(setup: Setup, key: Key, why: Lost) -> Line:
    """The line of a case whose process ended."""
    return _line(setup, key, Prediction("failed", reason=why.reason), broke=True)


def _predicted(setup: Setup, key: Key) -> Line:
    case = setup.cases[key[0]]
    if setup.predictor is None:
        raise RuntimeError("there is no predictor")
    return _line(setup, key, setup.predictor.predict(case), planner=setup.predictor.name)


def _asked(setup: Setup, key: Key, once: Once) -> Line:
    planner = PlannedOnce(_planner(setup), once)
    desk = _desk(setup, key, planner)
    answer = work(desk)
    prediction = _prediction(setup, key, desk, answer)
    line = _line(
        setup,
        key,
        prediction,
        reading=answer.reading,
        program=answer.program,
        planner=answer.planner,
        segmenter=answer.segmenter,
        run=f"{RUNS_FOLDER}/{run_name(*key)}",
        warnings=answer.warnings,
        broke=planner.out_of_reach,
    )
    evidence = setup.keep == "full" or (setup.keep == "wrong" and line.result["verdict"] != "right")
    desk.request = replace(desk.request, keep="full" if evidence else "light")
    kept = keep_run(desk, answer)
    run = _named(Path(kept.run or ""), setup.out / line.result["run"])
    timing = {**line.timing, "seconds": round(kept.seconds, 6), **_spent(run, planner)}
    return replace(line, timing=timing)


def _desk(setup: Setup, key: Key, planner: PlannedOnce) -> SharingDesk:
    case = setup.cases[key[0]]
    options = arguments(case, key[1], setup.segmenter)
    program = case.program if key[1] in TRUE_PROGRAM else None
    desk = open_desk(
        case.image, case.question, planner=planner, program=program, out=setup.out / RUNS_FOLDER, **options
    )
    image = _LAST.under(case.image, options)
    return SharingDesk(desk.request, desk.planner, desk.sandbox, opened_image=image)


def _planner(setup: Setup) -> Planner:
    """The planner of one question; one that asks a model is opened anew, since it counts what the question costs."""
    if not isinstance(setup.planner, str):
        return setup.planner
    opened = _opened(setup.planner, setup.planner_options)
    return open_planner(setup.planner, setup.planner_options) if hasattr(opened, "usage") else opened


@lru_cache(maxsize=1)
def _opened(name: str, said: PlannerOptions) -> Planner:
    """A planner that this process shares: finding one among the installed packages takes 8 ms."""
    return open_planner(name, said)


def _spent(run: Path, planner: PlannedOnce) -> dict[str, Any]:
    """Tokens and dollars of a run, as it was kept; nothing where no model was asked."""
    if planner.usage() is None:
        return {}
    record = json.loads((run / RUN_FILE).read_text(encoding="utf-8"))
    tokens, cost = record["tokens"], record["cost"]
    return {
        "tokens": None if tokens is None else {name: tokens[name] for name in ("in", "out")},
        "cost": None if cost is None else cost["dollars"],
    }


def _prediction(setup: Setup, key: Key, desk: Desk, answer: Answer) -> Prediction:
    """The answer as metrics take it: of a mask, the file that holds it; of boxes, oriented ones where these count."""
    found = Prediction.of_answer(answer)
    if desk.measured is None:
        return found
    reply = desk.measured.outcome.reply
    oriented = setup.cases[key[0]].metrics[0].startswith(ORIENTED)
    if answer.kind == "boxes" and oriented and isinstance(reply.objects, Regions):
        return replace(found, answer=corners_px(reply.objects).reshape(-1, 8).tolist())
    if answer.kind != "mask":
        return found
    masks = masks_of(reply)
    path = _mask_file(setup, key)
    path.parent.mkdir(exist_ok=True)
    write_class_map(path, masks, class_map(masks))
    return replace(found, answer=str(path))


def _mask_file(setup: Setup, key: Key) -> Path:
    return setup.out / MASKS_FOLDER / f"{run_name(*key)}.tif"


def _named(run: Path, folder: Path) -> Path:
    """Give a run folder the name of its case; one that a killed process left there is replaced."""
    if folder.exists():
        shutil.rmtree(folder)
    return run.rename(folder)


def _line(setup: Setup, key: Key, prediction: Prediction, *, broke: bool = False, **found: Any) -> Line:
    """The line of a prediction, scored."""
    case = setup.cases[key[0]]
    judged = scores(case, prediction)
    what = {"case": case.id, "cell": key[1]}
    unasked: dict[str, Any] = {**dict.fromkeys(("reading", "program", "planner", "segmenter", "run")), "warnings": ()}
    result = {
        **what,
        "type": case.type,
        "tier": case.tier,
        "question": case.question,
        "image": kept_path(case.image, setup.data, setup.out),
        "truth": case.truth,
        "unit": case.unit,
        "extras": case.extras,
        "prediction": prediction.to_json(),
        "verdict": judged[0].verdict,
        "scores": [score.to_json() for score in judged],
        **(unasked | found),
        "broke": broke,
    }
    if prediction.answer == str(_mask_file(setup, key)):
        result["prediction"]["answer"] = kept_path(Path(prediction.answer), setup.out)
    return Line(json_ready(result), {**what, "seconds": 0.0, "tokens": None, "cost": None})
