"""The published schemas of run.json and of the lines of steps.jsonl (JSON Schema, draft 2020-12)."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal


def schema(name: Literal["run", "step"]) -> dict[str, Any]:
    """The schema of run.json ("run") or of one line of steps.jsonl ("step")."""
    text = (files("swath.trace") / f"{name}.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
