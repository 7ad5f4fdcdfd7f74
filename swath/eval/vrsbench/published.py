"""What others have published on VRSBench by its official protocol; it stands beside results on the official files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

MEANS = ("mean over types", "mean over questions")
"""The two averages of question answering that published tables mix up."""


@dataclass(frozen=True)
class Published:
    """One published row.

    Attributes:
        method: the model.
        scores: measure to its value as a percentage; CIDEr times 100, lengths in words.
        source: where it was published.
        date: when.
        note: what a reader has to know; empty where nothing.
    """

    method: str
    scores: Mapping[str, float]
    source: str
    date: str
    note: str = ""


def published(benchmark: str, types: Mapping[str, int]) -> tuple[Published, ...]:
    """The published rows that may stand beside a result, those of the official repository first.

    The official files are recognised by their counts: each type of question has to come exactly as often as in the
    official evaluation file of that task, so that a fake, a part or another split never stands beside published rows.

    Args:
        benchmark: name of the benchmark.
        types: how many cases of each type the result has.

    Returns:
        The rows; none where the cases are not the official ones, or the benchmark is none of VRSBench's.
    """
    known = _reference()
    if known["official_cases"].get(benchmark) != dict(types):
        return ()
    return tuple(_row(row, known["sources"], types) for row in known["rows"] if row["benchmark"] == benchmark)


@lru_cache(maxsize=1)
def _reference() -> dict[str, Any]:
    text = files("swath.eval.vrsbench").joinpath("published.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _row(row: Mapping[str, Any], sources: Mapping[str, Any], types: Mapping[str, int]) -> Published:
    scores, source = dict(row["scores"]), sources[row["source"]]
    if set(types) < set(scores):  # the table is by type, so that both averages can be worked out
        by_type = {name: scores[name] for name in types}
        means = (
            sum(by_type.values()) / len(by_type),
            sum(by_type[name] * n for name, n in types.items()) / sum(types.values()),
        )
        scores |= {name: round(mean, 1) for name, mean in zip(MEANS, means, strict=True)}
    return Published(row["method"], scores, source["name"], source["date"], row.get("note", ""))
