"""Run folders written by hand: the trace room knows nothing of who writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = 'water = segment("water")\nreply(area_m2(water), kind="quantity", unit="m2", objects=water)\n'

STEPS: list[dict[str, Any]] = [
    {"step": 1, "kind": "graph", "name": "run", "arguments": {}, "result": {}, "line": None, "seconds": 0.25,
     "error": None, "cached": False},
    {"step": 2, "kind": "tool", "name": "segment", "arguments": {"class_name": "water"},
     "result": {"handle": "#1", "mask": "water", "pixels": 1234}, "line": 1, "seconds": 0.0123, "error": None,
     "cached": False},
    {"step": 3, "kind": "tool", "name": "area_m2", "arguments": {"of": "#1"}, "result": 5000.0, "line": 2,
     "seconds": 0.0001, "error": None, "cached": True},
    {"step": 4, "kind": "tool", "name": "reply", "arguments": {"value": 5000.0, "kind": "quantity", "objects": "#1"},
     "result": None, "line": 2, "seconds": 0.0, "error": None, "cached": False},
]  # fmt: skip


def run_json(name: str) -> dict[str, Any]:
    """The content of run.json of a small answered run."""
    return {
        "schema_version": 1,
        "id": name,
        "created": "2026-11-30T10:15:12.250Z",
        "swath": "0.1.0",
        "question": "How large is the water?",
        "image": {
            "path": "lake.tif",
            "resolved": "/nowhere/lake.tif",
            "sha256": "0" * 64,
            "grid": {
                "shape": [20, 30],
                "affine": [2.0, 0.0, 5e5, 0.0, -2.0, 5e6],
                "crs": None,
                "pixel_size_m": {"x": 2.0, "y": 2.0},
                "pixel_area_m2": 4.0,
                "method": "planar in EPSG:32631",
                "stated_gsd_m": None,
            },
        },
        "inputs": {"labels": "labels.tif"},
        "aoi": None,
        "cwd": "/nowhere",
        "classes": ["water", "grass"],
        "planner": "offline",
        "model": None,
        "prompts": {},
        "segmenter": {"name": "labels"},
        "conventions": "swath/1",
        "seeds": {"program": 0},
        "hardening": ["no network"],
        "limits": {"calls": 2000},
        "drafts": [],
        "notes": [],
        "answer": {
            "status": "answered",
            "question": "How large is the water?",
            "image": "lake.tif",
            "answer": 5000.0,
            "kind": "quantity",
            "unit": "m2",
            "text": "5,000 m² (4,900 to 5,100): area of water",
            "interval": {"low": 4900.0, "high": 5100.0, "covers": ["boundary"]},
            "reason": None,
            "reading": "area of water",
            "method": "planar in EPSG:32631",
            "crs": "EPSG:32631",
            "warnings": ["The lake touches the image's edge."],
            "program": PROGRAM,
            "objects": {"count": 1, "path": "objects.gpkg"},
            "run": name,
            "planner": "offline",
            "segmenter": "labels",
            "seconds": 0.4,
        },
        "status": "answered",
        "timings": {"run": 0.25},
        "tokens": None,
        "cost": None,
        "keep": "light",
        "masks": [],
        "masks_left_out": 0,
        "valid": None,
        "segmentations": {},
        "remarks": [],
    }


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run folder; keyword arguments replace fields of run.json, `answer` those of the answer."""

    def make(
        name: str = "20261130-101512-3f2a",
        *,
        program: str | None = PROGRAM,
        steps: list[dict[str, Any]] | None = None,
        answer: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Path:
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        record = run_json(name) | fields
        record["answer"] |= {"question": record["question"], "program": program} | (answer or {})
        record["status"] = record["answer"]["status"]
        (folder / "run.json").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        lines = [json.dumps(step, ensure_ascii=False) for step in (STEPS if steps is None else steps)]
        (folder / "steps.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if program is not None:
            (folder / "program.py").write_text(program, encoding="utf-8")
        return folder

    return make
