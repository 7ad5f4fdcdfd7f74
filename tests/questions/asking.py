"""Asks a file of questions through swath and holds every answer against its truth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from made import options

import swath
from swath import Answer

UNITS = {
    "m2": ("area", 1.0), "ha": ("area", 1e4), "km2": ("area", 1e6), "acre": ("area", 4046.8564224),
    "sqft": ("area", 0.3048**2), "sqyd": ("area", 0.9144**2),
    "m": ("length", 1.0), "km": ("length", 1e3), "ft": ("length", 0.3048), "yd": ("length", 0.9144),
    "mi": ("length", 1609.344), "cm": ("length", 0.01),
    "W": ("power", 1e-3), "kW": ("power", 1.0), "MW": ("power", 1e3),
    "per km2": ("density", 1.0), "per ha": ("density", 100.0), "per acre": ("density", 1e6 / 4046.8564224),
}  # fmt: skip
YES = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
VERDICTS = ("right", "wrong", "refused", "failed", "should_refuse")


@dataclass(frozen=True)
class Verdict:
    """What came of one question: one of VERDICTS, and a line that says why."""

    row: dict[str, Any]
    verdict: str
    got: str

    def line(self) -> str:
        want = "a refusal" if self.row["answer"] is None else f"{self.row['answer']} {self.row['unit']}"
        mark = " (borderline)" if self.row.get("borderline") else ""
        return f"{self.verdict:13} {self.row['id']} | {self.row['question']} | want {want}{mark} | got {self.got}"


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def agrees(want: dict[str, Any], row: dict[str, Any], given: Any, unit: str | None) -> bool:
    """Whether a value is the wanted one: within the tolerance, after its unit was turned into the wanted unit."""
    truth = want["answer"]
    if isinstance(truth, str):
        said = str(given).strip().lower()
        if truth in ("yes", "no"):
            return YES.get(said) == truth
        return said in (truth, *row.get("answer_aliases", {}).get(truth, ()))
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    value = float(given)
    kind, scale = UNITS.get(want["unit"], (want["unit"], 1.0))
    given_kind, given_scale = UNITS.get(unit or "", (unit, 1.0))
    if kind != given_kind and not {kind, given_kind} <= {"count", "ratio", None}:
        return False
    tolerance = row["tolerance"]
    allowed = max(tolerance.get("abs", 0.0), tolerance.get("rel", 0.0) * abs(truth)) + 1e-9
    return abs(value * given_scale / scale - truth) <= allowed


def verdict(row: dict[str, Any], answer: Answer) -> str:
    """One of VERDICTS; an answer where a refusal was due is `should_refuse`."""
    wanted = [row] if row["answer"] is not None else []
    if answer.status == "answered":
        for want in (*wanted, *row.get("accept", ())):
            if agrees(want, row, answer.answer, answer.unit):
                return "right"
        return "wrong" if wanted else "should_refuse"
    if answer.status == "refused" and not wanted:
        return "right"
    return answer.status


def put(row: dict[str, Any], data: Path, folder: Path, **further: Any) -> Verdict:
    """Ask one question."""
    given = options(row, data, folder) | further
    try:
        answer = swath.ask(data / row["image"], row["question"], out=folder / "runs", keep="light", **given)
    except Exception as error:  # a crash is a verdict too, and must not hide the other questions
        return Verdict(row, "failed", f"{type(error).__name__}: {error}")
    got = f"{answer.answer} {answer.unit}: {answer.reading}" if answer.status == "answered" else str(answer.reason)
    return Verdict(row, verdict(row, answer), got)


def put_all(rows: list[dict[str, Any]], data: Path, folder: Path, **further: Any) -> Iterator[Verdict]:
    for row in rows:
        yield put(row, data, folder, **further)


def table(verdicts: list[Verdict]) -> str:
    """Shares by kind, then every miss in a line, worst first."""
    lines = []
    for kind in ("all", *dict.fromkeys(v.row["kind"] for v in verdicts)):
        held = Counter(v.verdict for v in verdicts if kind in ("all", v.row["kind"]))
        n = held.total()
        lines.append(f"{kind:10} {held['right']:3}/{n:<3} {100 * held['right'] / n:5.1f} % right; {dict(held)}")
    worst = sorted((v for v in verdicts if v.verdict != "right"), key=lambda v: -VERDICTS.index(v.verdict))
    return "\n".join([*lines, *(v.line() for v in worst)])
