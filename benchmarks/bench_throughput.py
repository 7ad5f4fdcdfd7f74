"""Questions per second, CPU and memory of `swath bench run` on label maps of 1,024 x 1,024 pixels; a Markdown table.

python benchmarks/bench_throughput.py [--questions 5000] [--full 500] [--kills 20]

With --kills it kills a run so many times at random moments and compares what is there in the end with an undisturbed
run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rasterio
from affine import Affine

SIDE_PX = 1024
A_MAP = 50
"""Questions about each map."""
FORMS = (
    "How many buildings are there?",
    "What percentage of the image is water?",
    "How many buildings larger than {area} m2 are within {near} m of water?",
    "What is the total building area in ha?",
    "What is the area of the largest building in m2?",
    "How many buildings smaller than {area} m2 are within {near} m of the road?",
    "Is there any water within {near} m of a building?",
    "How many vegetation patches are larger than {area} m2?",
    "What is the area of vegetation within {near} m of water in ha?",
    "Is the road connected or fragmented?",
)
LEGEND = {"1": "building", "2": "water", "3": "grass", "4": "road", "5": "vegetation"}
PAGE_MB = resource.getpagesize() / 2**20


def label_map(seed: int) -> np.ndarray:
    """A town: 300 buildings, 40 groves, six ponds and a road on grass."""
    rng = np.random.default_rng(seed)
    labels = np.full((SIDE_PX, SIDE_PX), 3, dtype=np.uint8)
    for value, number, least, most in ((5, 40, 20, 120), (2, 6, 60, 120), (1, 300, 5, 24)):
        for _ in range(number):
            row, col = rng.integers(0, SIDE_PX - most, 2)
            height, width = rng.integers(least, most, 2)
            labels[row : row + height, col : col + width] = value
    labels[500:512] = 4
    return labels


def write_benchmark(folder: Path, questions: int) -> None:
    """A folder of the benchmark `questions`; nothing is known of its truths, which are made up."""
    folder.mkdir()
    (folder / "legend.json").write_text(json.dumps(LEGEND), encoding="utf-8")
    lines = []
    for number in range(questions):
        image, nth = f"map{number // A_MAP}.tif", number % A_MAP
        if nth == 0:
            with rasterio.open(folder / image, "w", driver="GTiff", width=SIDE_PX, height=SIDE_PX, count=1,
                               dtype="uint8", transform=Affine.identity(), compress="deflate") as file:  # fmt: skip
                file.write(label_map(number), 1)
        text = FORMS[nth % len(FORMS)].format(area=20 + number % 97, near=5 + number % 89)
        lines.append({"id": f"{number:05d}", "image": image, "question": f"{text} (GSD: 0.5m)", "answer": 1,
                      "unit": "count", "type": str(nth % len(FORMS)), "tolerance": {"rel": 0}})  # fmt: skip
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@dataclass
class Measured:
    """One run: seconds, those of all its processes, and (lines, megabytes of all its processes) over time."""

    wall_s: float
    cpu_s: float
    memory: list[tuple[int, float]]


def command(data: Path, out: Path, *words: str) -> list[str]:
    """A run of the offline planner."""
    start = [sys.executable, "-m", "swath", "bench", "run", "questions", "--planner", "offline"]
    return [*start, "--data", str(data), "--out", str(out), *words]


def lines_of(out: Path) -> list[str]:
    """The lines of results so far."""
    path = out / "results.jsonl"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def megabytes(session: int) -> float:
    """Resident memory of all processes of a session; pages that they share count for each."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            total += int(fields[21]) * PAGE_MB
    return total


def measured(words: Sequence[str], out: Path) -> Measured:
    """Run, and look at memory twice a second."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    memory = []
    with subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            path = out / "results.jsonl"
            memory.append((path.read_bytes().count(b"\n") if path.exists() else 0, megabytes(process.pid)))
            time.sleep(0.5)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(time.perf_counter() - started, cpu_s, memory)


def at(memory: list[tuple[int, float]], share: float) -> float:
    """Highest memory in the twentieth of a run that ends at a share of its lines."""
    lines = max(number for number, _ in memory)
    return max((mb for number, mb in memory if share - 0.05 <= number / lines <= share), default=float("nan"))


def asked(folder: Path, keep: str, questions: int, jobs: int) -> dict[str, float]:
    """Ask some questions by some processes: seconds, questions per second, CPU seconds for each, and memory."""
    data, out = folder / keep, folder / f"{keep}{jobs}"
    if not data.exists():
        write_benchmark(data, questions)
    run = measured(command(data, out, "--keep", keep, "--jobs", str(jobs)), out)
    shutil.rmtree(out)
    return {
        "questions": questions,
        "wall": run.wall_s,
        "per_second": questions / run.wall_s,
        "cpu_each": run.cpu_s / questions,
        "mb_at_a_fifth": at(run.memory, 0.2),
        "mb_at_the_end": at(run.memory, 1),
    }


def throughput(folder: Path, light: int, full: int) -> None:
    """The table."""
    print("| keep | jobs | questions | seconds | per second | CPU seconds a question | MB at a fifth | MB at the end |")
    print("|---|---|---|---|---|---|---|---|")
    for keep, questions in (("light", light), ("full", full)):
        for jobs in (1, 2):
            row = asked(folder, keep, questions, jobs)
            cells = (f"{row['wall']:.0f}", f"{row['per_second']:.1f}", f"{row['cpu_each']:.3f}",
                     f"{row['mb_at_a_fifth']:.0f}", f"{row['mb_at_the_end']:.0f}")  # fmt: skip
            print(f"| {keep} | {jobs} | {questions:,} | {' | '.join(cells)} |", flush=True)


def kills(folder: Path, number: int, questions: int = 200) -> None:
    """Kill a run so many times, and compare."""
    data, out, whole = folder / "killed", folder / "out", folder / "whole"
    write_benchmark(data, questions)
    subprocess.run(command(data, whole), check=True, stdout=subprocess.DEVNULL)
    rng, done = random.Random(0), 0
    while done < number and len(lines_of(out)) < questions:
        words = ["--resume"] if (out / "bench.json").exists() else []
        before = len(lines_of(out))
        with subprocess.Popen(command(data, out, *words, "--jobs", "2"), start_new_session=True,
                              stdout=subprocess.DEVNULL) as process:  # fmt: skip
            while len(lines_of(out)) <= before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.3))
            os.kill(process.pid, 9)
        done += 1
    subprocess.run(command(data, out, "--resume"), check=True, stdout=subprocess.DEVNULL)
    same = lines_of(out) == lines_of(whole)
    print(f"\nkilled {done} times in {questions} questions; line for line the same as undisturbed: {same}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--full", type=int, default=500)
    parser.add_argument("--kills", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.questions:
            throughput(Path(name), given.questions, given.full)
        if given.kills:
            kills(Path(name), given.kills)


if __name__ == "__main__":
    main()
