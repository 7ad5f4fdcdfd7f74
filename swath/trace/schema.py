"""The published schemas of run.json and of the lines of steps.jsonl (JSON Schema, draft 2020-12)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

Name = Literal["run", "step"]


def schema(name: Name) -> dict[str, Any]:
    """The schema of run.json ("run") or of one line of steps.jsonl ("step")."""
    text = (files("swath.trace") / f"{name}.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def fault_of(name: Name, record: dict[str, Any]) -> str | None:
    """What is most wrong with the content of a run.json or with a step, None where it is as published.

    Fields that are missing or unknown at the top are left to the reader, who may know another layout.
    """
    from jsonschema.exceptions import best_match  # 0.06 s to load, which only those who read runs pay

    error = best_match(_faults(name, record))
    if error is None:
        return None
    where = error.json_path.removeprefix("$.")
    if error.validator == "required":
        return f"{error.message} of {where}"
    return f"{where} is {'of another type' if error.validator == 'type' else 'none of the values that it can have'}"


def _faults(name: Name, record: dict[str, Any]) -> Iterator[Any]:
    for error in _validator(name).iter_errors(record):
        if error.path or error.validator not in ("required", "additionalProperties"):
            yield error


@lru_cache(maxsize=2)
def _validator(name: Name) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(name))
