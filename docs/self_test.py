"""Writes docs/results/self-test.{json,md} from two benchmarks and the runs of them.

    python docs/self_test.py runs/self-test/main runs/self-test/words

Beside each folder lies its run, `run-main` and `run-words`, with `--segmenter labels --oracle planner`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from swath.eval.runner.results import read_results
from swath.eval.statistics import wilson

RESULTS = Path(__file__).parent / "results" / "self-test"
VERDICTS = ("right", "wrong", "refused", "failed", "unparsable")
HEADS = ("", "n", "right", "right, %", "95 %", "wrong", "refused", "failed")
MAKE = (
    "swath bench make --labels ../shared/data/landcover_dubai/masks --images ../shared/data/landcover_dubai/images "
    "--legend ../shared/data/landcover_dubai/legend.json --gsd {gsd_m:g} --seed {seed}"
)
MORE = {
    "main": " --per-image 18 --out runs/self-test/main",
    "words": " --per-image 5 --wordings swath/eval/labels/paraphrases.toml --out runs/self-test/words",
}
HEAD = """# Self-test: what it found

A self-test on label maps, not SQuID: [how it is made](../self-test.md). Data: the {maps} public label maps of
`../shared/data/landcover_dubai` (Humans in the Loop / MBRSC, CC0). Their true pixel size is unknown; {gsd_m:g} m is
stated for all, so that lengths and areas are to that scale and say nothing about Dubai. Planner: {planner}. Segmenter:
the label maps themselves. Conventions: the project's, listed in the JSON beside this page. Seed {seed}; sha256 of maps
and legend {inputs_sha256}.

Accuracy is right / all: refused and failed stay in the denominator. Intervals are Wilson's at 95 %.
This page is written by `python docs/self_test.py runs/self-test/main runs/self-test/words`.
"""
CONSTRUCTS = {
    "binary_comparison/2": "a comparison in two parts, for one word for a class only",
    "building_fire_risk/2": "a risk zone named by its width",
    "building_fire_risk/4": "a reason given in a because-clause",
    "building_flood_risk/2": "a risk zone named by its width",
    "building_flood_risk/4": "a reason given in a because-clause",
    "building_proximity/5": "a size to ignore in brackets before the distance",
    "complex_agriculture_water_access/2": "a purpose (irrigation) in place of the relation",
    "complex_agriculture_water_access/3": "access to something within a distance",
    "complex_size_filter/2": "an instruction to count patches whole",
    "complex_size_filter/3": "select, then add up: two steps of which the second sums areas",
    "complex_urban_fire_risk/4": "a subject set before the question, with a zone named by its width",
    "complex_urban_flood_risk/4": "a subject set before the question, with a zone named by its width",
    "connectivity/2": "another word for separate",
    "fragmentation/3": "a size set before the question",
    "power_calculation/1": "a condition (if roofs were covered) before or after the question",
    "power_calculation/2": "a condition (if roofs were covered) before or after the question",
    "power_calculation/3": "constants of the panels as an assumption",
    "power_calculation/4": "panels on buildings as the thing that is measured",
    "proximity_area/4": "a relative clause with the distance after the unit",
    "size/3": "the unit as an apposition",
    "size/4": "a choice (among ...) set before the question",
}
"""What is special about the main set's wordings that were refused when this was written."""
Row = dict[str, Any]


def counts(rows: Sequence[Row]) -> dict[str, Any]:
    """Verdicts of some rows, and the share of right ones in percent with its interval."""
    found = Counter(row["verdict"] for row in rows)
    if not rows:
        return {"n": 0}
    low, high = wilson(found["right"], len(rows))
    rate = {"n": len(rows), "percent": 100 * found["right"] / len(rows), "low": 100 * low, "high": 100 * high}
    return rate | {verdict: found[verdict] for verdict in VERDICTS}


def by(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, Any]:
    """Counts by what a row is."""
    return {value: counts([row for row in rows if key(row) == value]) for value in sorted(set(map(key, rows)))}


def causes(rows: Sequence[Row], programs: Mapping[str, Row]) -> dict[str, int]:
    """Why the misses are misses; a reference program on the same classes tells planner from measurement and truth."""
    missed = [row for row in rows if row["verdict"] != "right"]
    repaired = [row for row in missed if programs[row["case"]]["verdict"] == "right"]
    found = Counter(row["verdict"] for row in repaired)
    return {
        "the planner refuses the wording": found["refused"],
        "the planner reads it otherwise": found["wrong"],
        "the planner breaks": found["failed"],
        "measurement or truth": len(missed) - len(repaired),
    }


def summary(folder: Path) -> dict[str, Any]:
    """All numbers of one run."""
    run = read_results(folder.parent / f"run-{folder.name}")
    made = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    rows = [row for row in run.rows if row["cell"] == "plain"]
    programs = {row["case"]: row for row in run.rows if row["cell"] == "planner"}
    return {
        "made": {key: made[key] for key in ("seed", "gsd_m", "maps", "wordings", "inputs_sha256", "conventions")},
        "run": {key: run.meta[key] for key in ("command", "planner", "segmenter", "data_sha256", "versions")},
        "total": {
            "all": counts(rows),
            "when answered": counts([row for row in rows if row["verdict"] in ("right", "wrong")]),
            "without borderline": counts([row for row in rows if not row["extras"]["borderline"]]),
            "borderline": counts([row for row in rows if row["extras"]["borderline"]]),
            "class not in the image": counts([row for row in rows if row["extras"]["absent"]]),
            "reference programs": counts(list(programs.values())),
        },
        "tiers": by(rows, lambda row: f"tier {row['tier']}"),
        "types": by(rows, lambda row: str(row["type"])),
        "wordings": by(rows, lambda row: str(row["extras"]["wording"])),
        "causes": causes(rows, programs),
        "refusals": dict(Counter(_refusal(row) for row in rows if row["verdict"] == "refused").most_common()),
        "wrong": [_spoken(row) for row in rows if row["verdict"] in ("wrong", "failed", "unparsable")],
    }


def _refusal(row: Row) -> str:
    """The kind of a refusal, by its sentence."""
    reason = row["prediction"]["reason"]
    for sign, kind in (
        ("needs a distance", "a risk that it knows, but with the distance where it does not look"),
        ("is not a class", "a word taken for a class that the legend lacks"),
        ("change over time", "words not understood, one of them taken for a change over time"),
        ("the future", "words not understood, one of them taken for the future"),
        ("Not understood", "words not understood"),
    ):
        if sign in reason:
            return kind
    return "another"


def _spoken(row: Row) -> dict[str, Any]:
    kept = {key: row[key] for key in ("case", "type", "question", "truth", "verdict", "reading")}
    return kept | {"answer": row["prediction"]["answer"], "reason": row["prediction"]["reason"]}


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [" | ".join(map(str, row)) for row in (heads, ["---"] * len(heads), *rows)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def _cells(name: str, found: Mapping[str, Any]) -> list[object]:
    if not found["n"]:
        return [name, 0, *[""] * 6]
    rate = (f"{found['percent']:.1f}", f"{found['low']:.1f} - {found['high']:.1f}")
    return [name, found["n"], found["right"], *rate, found["wrong"], found["refused"], found["failed"]]


def _constructs(templates: Mapping[str, Any]) -> str:
    """What the refused wordings of the main set have in common."""
    found: Counter[str] = Counter()
    for key, counted in templates.items():
        if counted["refused"]:
            found[CONSTRUCTS.get(key, "other")] += counted["refused"]
    return table(("what is special about the wording", "n"), found.most_common())


def section(name: str, title: str, run: Mapping[str, Any]) -> str:
    """The part of the page about one run."""
    groups = [item for key in ("total", "tiers", "types") for item in run[key].items()]
    templates = run["wordings"]
    silent = [f"`{key}` ({found['n']})" for key, found in templates.items() if found["refused"] == found["n"]]
    partly = [f"`{key}` ({found['refused']} of {found['n']})" for key, found in templates.items()
              if 0 < found["refused"] < found["n"]]  # fmt: skip
    wrong = [
        (item["type"], item["question"], item["truth"], item["answer"], item["reading"] or item["reason"])
        for item in run["wrong"]
    ]
    parts = [
        f"## {title}\n\n```sh\n{MAKE.format(**run['made'])}{MORE[name]}\n{run['run']['command']}\n```\n",
        table(HEADS, [_cells(key, found) for key, found in groups]),
        "### Misses\n\n" + table(("why", "n"), list(run["causes"].items())),
        table(("what the refusal says", "n"), list(run["refusals"].items())),
        _constructs(templates) if name == "main" else "",
        f"Wordings, by type and place in the file: of {len(templates)} used, {len(silent)} are always refused: "
        f"{', '.join(silent)}. Refused for some classes or thresholds only: {', '.join(partly) or 'none'}.\n",
        table(("type", "question", "truth", "answer", "read as"), wrong) if wrong else "",
    ]
    return "\n".join(parts)


def main(folders: Sequence[str]) -> None:
    """Write both files."""
    first, second = (summary(Path(folder)) for folder in folders)
    parts = [HEAD.format(**first["made"], **first["run"])]
    parts += [section("main", "Main set", first), section("words", "Paraphrases", second)]
    content = {"benchmark": "self-test", "main": first, "paraphrases": second}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.with_suffix(".json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
