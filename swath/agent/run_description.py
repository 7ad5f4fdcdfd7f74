"""What run.json and steps.jsonl say of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from swath.agent.execution import Step
from swath.agent.kept_masks import sha256_of
from swath.agent.planner import Usage
from swath.agent.run_record import RunRecord
from swath.agent.sandbox import SEED
from swath.raster.grid import Grid
from swath.raster.remote import is_remote, shown
from swath.trace.reading import MASK_FILE, MASK_PICTURE, SCHEMA_VERSION
from swath.types import Answer, MaskSummary, ObjectsSummary

CONVENTIONS = "swath/1"
"""The meanings of "within", "larger than", "region" ... that the tools of this version follow."""


def mask_in(folder: Path, answer: Answer) -> MaskSummary | None:
    """What is said of an answer's map, its files in a folder; None where the answer is no map."""
    if answer.mask is None:
        return None
    return replace(answer.mask, path=str(folder / MASK_FILE), picture=str(folder / MASK_PICTURE))


def step_lines(graph_steps: Sequence[Step], tool_steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The lines of steps.jsonl: the calls of the last attempt follow the graph step "run" that made them."""
    before = first_call_line(graph_steps) - 1
    ordered = [*graph_steps[:before], *tool_steps, *graph_steps[before:]]
    return [_step_line(number, step) for number, step in enumerate(ordered, start=1)]


def first_call_line(graph_steps: Sequence[Step]) -> int:
    """Number of the line of steps.jsonl that holds the first call of the last attempt."""
    runs = [number for number, step in enumerate(graph_steps, start=1) if step.name == "run"]
    return (runs[-1] if runs else len(graph_steps)) + 1


def _step_line(number: int, step: Step) -> dict[str, Any]:
    return {
        "step": number,
        "kind": step.kind,
        "name": step.name,
        "arguments": step.arguments,
        "result": step.result,
        "line": step.line,
        "seconds": round(step.seconds, 6),
        "error": step.error,
        "cached": step.cached,
    }


def described(
    record: RunRecord, answer: Answer, name: str, created: datetime, evidence: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of run.json; paths inside the folder are relative to it, so that it can be moved."""
    objects = answer.counted
    if objects is not None and objects.path is not None:
        objects = ObjectsSummary(objects.count, Path(objects.path).name)
    return {
        "schema_version": SCHEMA_VERSION,
        "id": name,
        "created": created.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "swath": version("swath"),
        "question": answer.question,
        "image": _image(record),
        "inputs": record.inputs,
        "aoi": _aoi(record.inputs.get("aoi")),
        "heights": None if record.site is None or record.site.heights is None else record.site.heights.describe(),
        "errors": None if record.site is None or record.site.errors is None else record.site.errors.describe(),
        "cwd": str(Path.cwd()),
        "classes": None if record.site is None else record.site.backend.classes(),
        "planner": record.planner,
        **used(record.usage),
        "segmenter": record.segmenter,
        "conventions": CONVENTIONS,
        "seeds": {"program": SEED},
        "hardening": record.hardening,
        "limits": record.limits,
        "drafts": [
            {"file": f"program.{number}.py", "hints": hints} for number, (_, hints) in enumerate(record.drafts, start=1)
        ],
        "notes": record.notes,
        "answer": replace(answer, run=name, counted=objects, mask=mask_in(Path(), answer)).to_json(),
        "status": answer.status,
        "timings": record.timings,
        "keep": record.keep,
        **evidence,
    }


def used(usage: Usage | None) -> dict[str, Any]:
    """What a language model was asked and what it cost, JSON-ready; the cost is None where a price is not known."""
    if usage is None:
        return {"model": None, "prompts": {}, "model_calls": [], "tokens": None, "cost": None}
    costs = [call.cost for call in usage.calls]
    return {
        "model": usage.model,
        "prompts": dict(usage.prompts),
        "model_calls": [asdict(call) for call in usage.calls],
        "tokens": {
            "in": sum(call.tokens_in or 0 for call in usage.calls),
            "cached": sum(call.tokens_cached for call in usage.calls),
            "out": sum(call.tokens_out or 0 for call in usage.calls),
        },
        "cost": None if None in costs else {"dollars": sum(cost for cost in costs if cost is not None)},
    }


def _aoi(path: str | None) -> dict[str, Any] | None:
    return None if path is None else {"path": path, "sha256": sha256_of(Path(path)) if Path(path).is_file() else None}


def _image(record: RunRecord) -> dict[str, Any]:
    raster = record.raster
    if raster is None:
        return {"path": record.answer.image, "resolved": None, "sha256": None, "held": None, "grid": None}
    return {
        "path": shown(raster.path),
        "resolved": shown(raster.path) if is_remote(raster.path) else os.fspath(raster.path.resolve()),
        "sha256": raster.sha256,
        "held": "tiles" if raster.in_tiles else "array",
        "grid": described_grid(raster.grid),
    }


def described_grid(grid: Grid) -> dict[str, Any]:
    """A grid as JSON: shape (rows, columns), affine (a, b, c, d, e, f), CRS as WKT, ground size."""
    ground = grid.ground
    return {
        "shape": grid.shape,
        "affine": tuple(grid.affine)[:6],
        "crs": None if grid.crs is None else grid.crs.to_wkt(),
        "pixel_size_m": None if ground is None else dict(zip("xy", ground.size_xy_m, strict=True)),
        "pixel_area_m2": None if ground is None else ground.pixel_area_m2,
        "method": grid.why_no_ground if ground is None else ground.method,
        "stated_gsd_m": grid.stated_gsd_m,
    }
