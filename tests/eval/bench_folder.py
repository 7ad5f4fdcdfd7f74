"""Folders of benchmark runs, written line by line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swath.eval.report.result import Result, results_of
from swath.eval.runner.results import BenchRun

META: dict[str, Any] = {
    "schema_version": 1, "benchmark": "questions", "data": "town", "data_sha256": "0123456789abcdef",
    "planner": "offline", "segmenter": "labels", "oracle": None, "cells": ["plain"], "keep": "wrong", "options": {},
    "command": "swath bench run questions --data town --out r", "created": "2026-01-02T03:04:05Z",
    "swath_version": "0.1.0", "versions": {}, "model": None, "not_available": {},
}  # fmt: skip
TIMED = ("seconds", "tokens", "cost")


def line(case: str, verdict: str = "right", **values: Any) -> dict[str, Any]:
    """A line of results and timings; `value`, `answer`, `unit`, `interval` and `metric` shape score and prediction."""
    status = verdict if verdict in ("refused", "failed") else "answered"
    answered = status == "answered"
    prediction = {
        "status": status,
        "answer": values.pop("answer", 3) if answered else None,
        "unit": values.pop("said_unit", None),
        "interval": values.pop("interval", None),
        "reason": None if answered else "there is no road",
    }
    value = values.pop("value", float(verdict == "right") if verdict in ("right", "wrong") else None)
    score = {"metric": values.pop("metric", "tolerance"), "value": value, "verdict": verdict, "why": "3 for 3 +- 0"}
    return {
        "case": case, "cell": "plain", "type": "count", "tier": None, "question": "How many ponds are there?",
        "image": "scene.tif", "truth": 3, "extras": {}, "prediction": prediction, "verdict": verdict,
        "scores": [score], "reading": "ponds", "program": None, "planner": "offline", "segmenter": "labels",
        "run": None, "warnings": [], "broke": False, "seconds": 1.0, "tokens": None, "cost": None, **values,
    }  # fmt: skip


def write_bench(folder: Path, lines: Sequence[dict[str, Any]], **meta: Any) -> Path:
    """Write the folder of a run; the number of cases is that of the lines unless `n_cases` says otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    known = META | {"n_cases": len({found["case"] for found in lines})} | meta
    (folder / "bench.json").write_text(json.dumps(known), encoding="utf-8")
    whole = [{key: value for key, value in found.items() if key not in TIMED} for found in lines]
    timings = [{key: found[key] for key in ("case", "cell", *TIMED)} for found in lines if "seconds" in found]
    for name, kept in (("results.jsonl", whole), ("timings.jsonl", timings)):
        (folder / name).write_text("".join(json.dumps(found) + "\n" for found in kept), encoding="utf-8")
    return folder


def results(*lines: dict[str, Any], folder: Path = Path("nowhere"), **meta: Any) -> tuple[Result, ...]:
    """Lines as the report reads them, without any file."""
    return results_of(bench(*lines, folder=folder, **meta))


def bench(*lines: dict[str, Any], folder: Path = Path("nowhere"), **meta: Any) -> BenchRun:
    """A run without any file."""
    return BenchRun(folder, META | {"n_cases": len(lines)} | meta, list(lines))
