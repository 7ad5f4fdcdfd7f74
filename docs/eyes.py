"""Writes docs/results/eyes.{json,md}: the embedded network beside exact masks, from two runs of one benchmark.

    python docs/eyes.py FOLDER

FOLDER holds `test`, a benchmark of the public test group, and its runs `run-labels` and `run-landcover`.
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

RESULTS = Path(__file__).parent / "results" / "eyes"
WAYS = {"run-labels": "exact masks", "run-landcover": "the network"}
HEADS = ("", "n", *(f"{way}: right" for way in WAYS.values()), "95 %", "loss")
Row = dict[str, Any]
HEAD = """# The embedded network in the whole system

`swath bench make` asks questions of the {maps} public test tiles of Dubai (group 7; neither training nor any choice has
read them). They are answered twice by the offline planner: from the label maps themselves and from the pixels alone, by
`--segmenter landcover`. What is lost between the two is what segmentation costs. This is a self-test with SQuID's types
of question, not SQuID: [how it is made](../self-test.md). The tiles' ground size is not known; {gsd_m:g} m is stated.

```sh
mkdir -p {folder}/maps {folder}/images
cp ../shared/data/landcover_dubai/masks/group7_* {folder}/maps
cp ../shared/data/landcover_dubai/images/group7_* {folder}/images
{commands}
python docs/eyes.py {folder}
```

Accuracy is right / all; intervals are Wilson's at 95 % and take the questions for independent, which those of one tile
are not. Right is as the self-test scores it: within the range in which people agree, by SQuID.

"""


def read(folder: Path) -> dict[str, Any]:
    """All numbers of both runs."""
    runs = {name: read_results(folder / name) for name in WAYS}
    rows = {name: {row["case"]: row for row in run.rows if row["cell"] == "plain"} for name, run in runs.items()}
    shared = sorted(set.intersection(*map(set, rows.values())))
    made = json.loads((folder / "test" / "meta.json").read_text(encoding="utf-8"))
    every = {name: [rows[name][case] for case in shared] for name in WAYS}
    return {
        "made": {key: made[key] for key in ("seed", "gsd_m", "maps", "inputs_sha256")},
        "commands": [run.meta["command"] for run in runs.values()],
        "all": _compared(every),
        "tiers": _by(every, lambda row: f"tier {row['tier']}"),
        "types": _by(every, lambda row: str(row["type"])),
        "answers": {way: dict(Counter(row["verdict"] for row in every[name])) for name, way in WAYS.items()},
    }


def _by(every: Mapping[str, Sequence[Row]], key: Callable[[Row], str]) -> dict[str, Any]:
    values = sorted({key(row) for row in next(iter(every.values()))})
    return {
        value: _compared({name: [row for row in rows if key(row) == value] for name, rows in every.items()})
        for value in values
    }


def _compared(every: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(next(iter(every.values())))}
    for name, rows in every.items():
        right = sum(row["verdict"] == "right" for row in rows)
        low, high = wilson(right, len(rows))
        found[name] = {"right": right, "percent": 100 * right / len(rows), "low": 100 * low, "high": 100 * high}
    return found


def page(numbers: Mapping[str, Any], folder: Path) -> str:
    """The page for people."""
    commands = "\n".join(_commands(numbers, folder))
    made = numbers["made"]
    text = HEAD.format(maps=made["maps"], gsd_m=made["gsd_m"], folder=folder, commands=commands)
    lines = [HEADS, ("---",) * len(HEADS), _line("all", numbers["all"])]
    lines += [_line(name, row) for part in ("tiers", "types") for name, row in numbers[part].items()]
    text += "".join(f"| {' | '.join(line)} |\n" for line in lines)
    for way, verdicts in numbers["answers"].items():
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        text += f"\nWith {way}: {said}.\n"
    return text


def _commands(numbers: Mapping[str, Any], folder: Path) -> list[str]:
    made = numbers["made"]
    make = f"swath bench make --labels {folder}/maps --images {folder}/images --legend "
    make += f"../shared/data/landcover_dubai/legend.json --gsd {made['gsd_m']:g} --seed {made['seed']} "
    return [f"{make}--per-image {numbers['all']['n'] // made['maps']} --out {folder}/test", *numbers["commands"]]


def _line(name: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    exact, network = (row[way] for way in WAYS)
    shown = [f"{way['right']} ({way['percent']:.0f} %)" for way in (exact, network)]
    interval = f"{network['low']:.0f} - {network['high']:.0f}"
    return name, str(row["n"]), *shown, interval, f"{exact['percent'] - network['percent']:.0f}"


def main() -> None:
    """Read the runs, write both files."""
    folder = Path(sys.argv[1])
    numbers = read(folder)
    RESULTS.with_suffix(".json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text(page(numbers, folder), encoding="utf-8")


if __name__ == "__main__":
    main()
