"""Published accuracies on SQuID, shown beside ours only where the official questions were asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class PublishedRow:
    """One system's accuracies in percent.

    Attributes:
        system: as its publication names it.
        by_tier: percent right of all questions of a tier, by tier.
        all: percent right of all questions.
    """

    system: str
    by_tier: dict[str, float]
    all: float


@dataclass(frozen=True)
class Published:
    """Published accuracies with their origin.

    Attributes:
        source: where they were published.
        date: when, as ISO date.
        note: under which conditions.
        questions: number of questions by tier.
        rows: systems, the best first.
        by_type: percent right by type and system, for the types that were published.
    """

    source: str
    date: str
    note: str
    questions: dict[str, int]
    rows: tuple[PublishedRow, ...]
    by_type: dict[str, dict[str, float]]


@lru_cache(maxsize=1)
def published() -> Published:
    """The published accuracies."""
    read = json.loads(files("swath.eval.squid").joinpath("published.json").read_text(encoding="utf-8"))
    tiers = read["questions"]
    return Published(
        source=read["source"],
        date=read["published"],
        note=read["note"],
        questions=tiers,
        rows=tuple(
            PublishedRow(row["system"], {tier: row[tier] for tier in tiers}, row["all"]) for row in read["rows"]
        ),
        by_type={row.pop("type"): row for row in read["types"]},
    )


def is_official(asked: Iterable[tuple[str, str | None]]) -> bool:
    """Whether these are SQuID's questions: its 2,000 ids, SQuID_0000 on, with as many in each tier as it has.

    Args:
        asked: id and tier of each case.
    """
    tiers = dict(asked)
    counts = published().questions
    ids = {f"SQuID_{number:04d}" for number in range(sum(counts.values()))}
    return tiers.keys() == ids and Counter(tiers.values()) == counts
