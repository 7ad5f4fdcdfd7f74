"""Published accuracies beside ours, where the official files were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swath.eval.report.accuracy import Accuracy
from swath.eval.report.measures import Measure
from swath.eval.report.result import Result
from swath.eval.squid import published as squid
from swath.eval.vrsbench import published as vrsbench

OURS = "this run"
CAPTIONS = {"BLEU-1": "BLEU-1", "BLEU-2": "BLEU-2", "BLEU-3": "BLEU-3", "BLEU-4": "BLEU-4",
            "METEOR": "METEOR", "ROUGE_L": "ROUGE_L", "CIDEr": "CIDEr-D", "Avg_L": "Avg_L"}  # fmt: skip
"""Published measures of captions to ours."""
WORDS = ("Avg_L",)
"""Measures that are no shares, so that they are not shown as percentages."""
BOXES = {"vrsbench-ref": "box:official-", "vrsbench-ref-obb": "oriented:official-"}


@dataclass(frozen=True)
class Beside:
    """Published rows and ours in one table.

    Attributes:
        measures: what is compared, in percent unless its name says otherwise.
        rows: (system, values by measure, where it was published and what one has to know of it); ours first.
        note: under which conditions.
    """

    measures: tuple[str, ...]
    rows: tuple[tuple[str, Mapping[str, float], str], ...]
    note: str

    def to_json(self) -> dict[str, Any]:
        """The table as one JSON-ready object."""
        rows = [{"system": system, "values": dict(values), "source": source} for system, values, source in self.rows]
        return {"measures": list(self.measures), "rows": rows, "note": self.note}


def is_official(benchmark: str, results: Sequence[Result]) -> bool | None:
    """Whether one cell's cases are those of the official files; None where nobody has published such cases."""
    if benchmark == "squid":
        return squid.is_official((result.case, result.tier) for result in results)
    if benchmark.startswith("vrsbench-"):
        return bool(vrsbench.published(benchmark, _types(results)))
    return None


def beside(benchmark: str, results: Sequence[Result], measures: Sequence[Measure]) -> Beside | None:
    """The published rows that may stand beside ours; None unless the official files were asked, all of them.

    Args:
        benchmark: its name.
        results: lines of one cell.
        measures: the metrics of the same lines.
    """
    if not is_official(benchmark, results):
        return None
    return _squid(results) if benchmark == "squid" else _vrsbench(benchmark, results, measures)


def _squid(results: Sequence[Result]) -> Beside:
    known = squid.published()
    rows: list[tuple[str, Mapping[str, float], str]] = []
    for row in known.rows:
        tiers = {f"tier {tier}": value for tier, value in row.by_tier.items()}
        types = {name: systems[row.system] for name, systems in known.by_type.items() if row.system in systems}
        rows.append((row.system, {"all": row.all, **tiers, **types}, f"{known.source}, {known.date}"))
    ours = {"all": _percent(results)}
    ours |= {f"tier {tier}": _percent([r for r in results if r.tier == tier]) for tier in known.questions}
    ours |= {name: _percent([r for r in results if r.type == name]) for name in known.by_type}
    return Beside(tuple(ours), ((OURS, ours, ""), *rows), known.note)


def _vrsbench(benchmark: str, results: Sequence[Result], measures: Sequence[Measure]) -> Beside:
    known = vrsbench.published(benchmark, _types(results))
    rows = [(row.method, row.scores, "; ".join(filter(None, (f"{row.source}, {row.date}", row.note)))) for row in known]
    names = tuple(dict.fromkeys(name for row in known for name in row.scores))
    ours = _ours(benchmark, results, measures)
    shown = {name: ours[name] for name in names if name in ours}
    note = "in percent; by the official rule; a measure that this run does not have is left out of its row"
    return Beside(names, ((OURS, shown, ""), *rows), note)


def _ours(benchmark: str, results: Sequence[Result], measures: Sequence[Measure]) -> dict[str, float]:
    """Our values by the names of the published measures."""
    if benchmark == "vrsbench-cap":
        totals = {name: value for measure in measures for name, value in measure.total.items()}
        found = {published: totals[own] for published, own in CAPTIONS.items() if own in totals}
        return {name: value if name in WORDS else 100 * value for name, value in found.items()}
    if benchmark in BOXES:
        return _at_levels(BOXES[benchmark], results)
    by_type = {name: _percent([r for r in results if r.type == name]) for name in _types(results)}
    mean = sum(by_type.values()) / len(by_type)
    return by_type | dict(zip(vrsbench.MEANS, (mean, _percent(results)), strict=True))


def _at_levels(metric: str, results: Sequence[Result]) -> dict[str, float]:
    """Percent right by an official rule at both levels, by the group of the object."""
    found: dict[str, float] = {}
    for level in ("0.5", "0.7"):
        verdicts = [
            (result.extras.get("group"), score.verdict)
            for result in results
            for score in result.scores
            if score.metric == f"{metric}{level}"
        ]
        for group in ("unique", "non-unique", "all"):
            chosen = [verdict for name, verdict in verdicts if group in ("all", name)]
            if chosen:
                found[f"{group} Acc@{level}"] = 100 * (Accuracy.of_verdicts(chosen).headline.value or 0.0)
    return found


def _percent(results: Sequence[Result]) -> float:
    return 100 * (Accuracy.of(results).headline.value or 0.0)


def _types(results: Sequence[Result]) -> Counter[str]:
    return Counter(result.type for result in results)
