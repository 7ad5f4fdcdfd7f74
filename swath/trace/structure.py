"""Whether a record that was read has the structure that its published schema promises.

Only what a reader relies on: types, required fields, words of a list. `jsonschema` knows the rest of the standard.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from swath.trace.schema import schema

JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def fault_of_run(record: Mapping[str, Any]) -> str | None:
    """The first thing in the content of a run.json that is not as published, None where there is none.

    Fields that are missing at the top are left to the reader, who may know an older layout.
    """
    rules = _run_schema()
    for name, rule in rules["properties"].items():
        if name in record and (found := _fault(record[name], rule, rules["$defs"], name)):
            return found
    return None


@lru_cache(maxsize=1)
def _run_schema() -> dict[str, Any]:
    return schema("run")


def _fault(value: Any, rule: Mapping[str, Any], shared: Mapping[str, Any], where: str) -> str | None:
    if "$ref" in rule:
        return _fault(value, shared[rule["$ref"].rpartition("/")[2]], shared, where)
    if "anyOf" in rule:
        faults = [_fault(value, choice, shared, where) for choice in rule["anyOf"]]
        return None if None in faults else faults[-1]
    if "enum" in rule and value not in rule["enum"]:
        return f"{where} is none of the words that it can be"
    if not _is_of(value, rule.get("type", list(JSON_TYPES))):
        return f"{where} is of another type"
    if isinstance(value, dict):
        return _fault_of_object(value, rule, shared, where)
    if isinstance(value, list) and "items" in rule:
        faults = [_fault(item, rule["items"], shared, f"an item of {where}") for item in value]
        return next(filter(None, faults), None)
    return None


def _fault_of_object(
    value: dict[str, Any], rule: Mapping[str, Any], shared: Mapping[str, Any], where: str
) -> str | None:
    lacking = [name for name in rule.get("required", ()) if name not in value]
    if lacking:
        return f"{where} lacks {', '.join(lacking)}"
    own, further = rule.get("properties", {}), rule.get("additionalProperties")
    for name, item in value.items():
        its_rule = own.get(name, further if isinstance(further, dict) else {})
        if found := _fault(item, its_rule, shared, f"{name} in {where}"):
            return found
    return None


def _is_of(value: Any, names: str | list[str]) -> bool:
    for name in [names] if isinstance(names, str) else names:
        if isinstance(value, JSON_TYPES[name]) and (name == "boolean" or not isinstance(value, bool)):
            return True
    return False
