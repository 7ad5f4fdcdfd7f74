"""A language model as planner on the self-test: each of its ways beside the offline planner, and where they agree.

    python benchmarks/llm_planner.py MODEL.gguf --labels MASKS --legend LEGEND.json --gsd 0.5 --out runs/llm

Sixty questions of held-back maps: 20 in the self-test's own wordings, 40 as free paraphrases. Runs are resumed, so that
the command can be given again after an interruption; the page then shows the ways that were run so far. `--most N` asks
the further ways only the first N questions of each map. Writes docs/results/llm.{json,md};
`--maps OWN FREE --page llm-after` asks about two other maps and writes llm-after.{json,md} beside it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

from swath.eval.runner.results import read_results
from swath.eval.statistics import wilson

RESULTS = Path(__file__).parents[1] / "docs" / "results"
MAPS = ("group7_tile02", "group7_tile04")
"""The maps whose questions are asked, in the self-test's own wordings and as paraphrases; they have no other use."""
COUNTS = {"own": 20, "free": 40}
"""Wordings to the number of questions."""
WAYS = ("bound", "structured", "code")
PAIRS = (("offline", "bound"), ("bound", "structured"), ("bound", "code"))
Rows = dict[tuple[str, str], dict[str, Any]]


def main() -> None:
    """Make the questions, run each planner on them, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    for name in ("--labels", "--legend", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--gsd", required=True)
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--most", type=int, default=40, help="questions of each map for all ways but the first")
    parser.add_argument("--maps", nargs=2, default=MAPS, metavar=("OWN", "FREE"))
    parser.add_argument("--page", default="llm", help="name of the page in docs/results")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Rows] = {"offline": {}}
    for (wording, count), name in zip(COUNTS.items(), given.maps, strict=True):
        make(given, wording, name, count)
        found["offline"] |= run(given, wording, "offline", count)
    for way in given.ways:
        found[way] = {}
        for wording, count in COUNTS.items():
            found[way] |= run(given, wording, way, count if way == given.ways[0] else min(count, given.most))
        write(given, found)


def make(given: argparse.Namespace, wording: str, name: str, count: int) -> None:
    """Make the questions of one map, unless they are there."""
    folder, maps = given.out / wording, given.out / f"maps-{wording}"
    if folder.exists():
        return
    maps.mkdir(exist_ok=True)
    (maps / f"{name}.png").symlink_to((given.labels / f"{name}.png").absolute())
    words = [] if wording == "own" else ["--wordings", str(resources.files("swath.eval.labels") / "paraphrases.toml")]
    swath("bench", "make", "--labels", maps, "--legend", given.legend, "--gsd", given.gsd, "--seed", "11",
          "--per-image", count, *words, "--out", folder)  # fmt: skip


def run(given: argparse.Namespace, wording: str, way: str, count: int) -> Rows:
    """Ask the questions, or go on asking them; rows by wording and case."""
    few = "" if count == COUNTS[wording] else f"-{count}"
    out = given.out / f"{wording}-{way}{few}"
    config = given.out / f"{way}.toml"
    config.write_text(f'[llm]\nway = "{way}"\nprofile = "small"\n' if way in WAYS else "", encoding="utf-8")
    planner = ["--planner", "llm", "--model", given.model] if way in WAYS else ["--planner", "offline"]
    swath("bench", "run", "labels", "--data", given.out / wording, *planner, "--segmenter", "labels", "--keep", "light",
          "--limit", count, *(["--resume"] if out.exists() else []), "--out", out, config=config)  # fmt: skip
    load = out.with_suffix(".load")
    if not load.exists():
        load.write_text(f"{os.getloadavg()[2]:.1f}\n", encoding="utf-8")
    rows = [row for row in read_results(out).rows if row["cell"] == "plain"]
    more = {"load": float(load.read_text(encoding="utf-8"))}
    return {(wording, row["case"]): {**row, **spent(out / row["run"]), **more} for row in rows}


def spent(folder: Path) -> dict[str, Any]:
    """How often the model was asked for a case, and with how many tokens."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return {"calls": len(record.get("model_calls") or ()), "tokens": record.get("tokens")}


def swath(*words: object, config: Path | None = None) -> None:
    """Run a command; what it prints is shown."""
    environment = {**os.environ, **({} if config is None else {"SWATH_CONFIG": str(config)})}
    command = [sys.executable, "-m", "swath", *map(str, words)]
    print("$ swath", *map(str, words), flush=True)
    done = subprocess.run(command, env=environment, check=False)
    if done.returncode > 1:
        sys.exit(done.returncode)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Verdicts, tokens and seconds of some rows."""
    right = sum(row["verdict"] == "right" for row in rows)
    answered = [row for row in rows if row["prediction"]["status"] == "answered"]
    tokens = [row["tokens"] for row in rows if row.get("tokens")]
    return {
        "n": len(rows),
        "right": right,
        "interval_95": wilson(right, len(rows)),
        "wrong": sum(row["verdict"] == "wrong" for row in rows),
        "refused": sum(row["verdict"] == "refused" for row in rows),
        "failed": sum(row["verdict"] in ("failed", "unparsable") for row in rows),
        "answered": len(answered),
        "answered_at_once": sum(row["calls"] == 1 for row in answered),
        "calls": sum(row["calls"] for row in rows) / len(rows),
        "tokens_in": median(item["in"] for item in tokens) if tokens else None,
        "tokens_cached": median(item["cached"] for item in tokens) if tokens else None,
        "tokens_out": median(item["out"] for item in tokens) if tokens else None,
        "seconds": median(row["seconds"] for row in rows),
        "load": max(row["load"] for row in rows),
    }


def agreement(one: Rows, other: Rows) -> dict[str, Any]:
    """How often two planners answer the same, and how often that is right."""
    both = [
        row for key, row in one.items()
        if key in other and row["prediction"]["status"] == other[key]["prediction"]["status"] == "answered"
        and same(row["prediction"]["answer"], other[key]["prediction"]["answer"])
    ]  # fmt: skip
    right = sum(row["verdict"] == "right" for row in both)
    asked = len(one.keys() & other.keys())
    return {"n": asked, "answered": len(both), "right": right, "interval_95": wilson(right, len(both) or 1)}


def same(one: Any, other: Any) -> bool:
    """Whether two answers to one question, in its unit, are the same: numbers to nine digits."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def write(given: argparse.Namespace, found: dict[str, Rows]) -> None:
    """The page and its figures."""
    figures: dict[str, Any] = {
        "model": given.model.name,
        "maps": dict(zip(COUNTS, given.maps, strict=True)),
        "cores": os.cpu_count(),
        "planners": {
            way: {
                "all": summary(list(rows.values())),
                **{part: summary([row for (word, _), row in rows.items() if word == part]) for part in COUNTS},
            }
            for way, rows in found.items()
        },
        "agreement": {
            f"{one} and {other}": agreement(found[one], found[other])
            for one, other in PAIRS
            if one in found and other in found
        },
    }
    (RESULTS / f"{given.page}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    (RESULTS / f"{given.page}.md").write_text(page(figures, given), encoding="utf-8")


def page(figures: dict[str, Any], given: argparse.Namespace) -> str:
    """The figures as Markdown."""
    lines = [
        "# A small language model as planner",
        "",
        f"Model: {figures['model']}, in process, temperature 0, small profile. Questions: the self-test on held-back",
        f"maps ({', '.join(given.maps)}) of `../shared/data/landcover_dubai` ({given.gsd} m stated),",
        f"{COUNTS['own']} in its own wordings, {COUNTS['free']} free paraphrases; seed 11; exact masks.",
        "A self-test, not SQuID. Accuracy is right / all;",
        "intervals are Wilson's at 95 %. Tokens and seconds are medians per question, repairs included, calls means;",
        "at once: answered after one call. Prompts were mended on other maps, without the paraphrases of",
        "this page. Load: the machine's average over 15 minutes as a way ended, the higher of its two runs; the model",
        f"itself keeps two of {figures['cores']} cores busy, more than that was other work, and slows the seconds.",
        "Code and structured go on to the bound way where they repeat themselves: later answers may be its. Where n is",
        f"smaller, the first {given.most} questions of each map were asked.",
        "",
        "| planner | n | right | % | 95 % | own | free | wrong | refused | failed | at once | calls |"
        " tokens in (cached) / out | s | load |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for way, parts in figures["planners"].items():
        every = parts["all"]
        low, high = every["interval_95"]
        tokens = "-"
        if every["tokens_in"] is not None:
            tokens = f"{every['tokens_in']:.0f} ({every['tokens_cached']:.0f}) / {every['tokens_out']:.0f}"
        own, free = (f"{parts[part]['right']}/{parts[part]['n']}" for part in COUNTS)
        lines.append(
            f"| {way} | {every['n']} | {every['right']} | {100 * every['right'] / every['n']:.0f} | "
            f"{100 * low:.0f}-{100 * high:.0f} | {own} | {free} | {every['wrong']} | {every['refused']} | "
            f"{every['failed']} | {every['answered_at_once']}/{every['answered']} | {every['calls']:.1f} | "
            f"{tokens} | {every['seconds']:.3g} | {every['load']:.0f} |"
        )
    lines += ["", "| both answer the same | of | answered | right | 95 % |", "|---|---|---|---|---|"]
    lines += [
        f"| {pair} | {said['n']} | {said['answered']} | {said['right']} | "
        f"{100 * said['interval_95'][0]:.0f}-{100 * said['interval_95'][1]:.0f} |"
        for pair, said in figures["agreement"].items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
