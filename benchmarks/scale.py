"""Large label rasters: time and memory by size, by objects, against what one would write by hand.

python benchmarks/scale.py [--stages questions task memory start objects batch whole] [--repeat 3] [--folder DIR]
    [--results FILE] [--page FILE]

Every run goes into the file of results as it ends, and what that holds is not run again, so that the script can be
interrupted; at the end the tables and plots of the page are written anew from it. Every way is a process of its own,
which loads its libraries before the clock starts and reads the file after it; memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scale_rasters import CELL_PX, LEGEND, Rectangles, expected, paint
from scale_ways import LARGE_M2, LIMIT_M, WAYS

PAGE = Path(__file__).parents[1] / "docs" / "results" / "performance.md"
LIBRARIES = ("numpy", "opencv-python-headless", "rasterio", "scikit-image", "scipy", "geopandas", "shapely")
MOST_GB = 16
"""A way that wants more is stopped: it would take the memory of others."""

LONGEST_S = 1200
"""A way that takes more is stopped."""

CURVE = 150
"""Points of a memory curve that are kept."""

ONCE_S = 60
"""A way that takes more runs once."""

QUICK = ("read", "read, GDAL's threads", "shares", "shares again", "swath", "opencv")
MEMORY = {5_000: ("read", "swath"), 20_000: ("read", "shares", "swath"), 40_000: ("read", "shares", "swath")}
OBJECTS_SIDE, OBJECTS_CELLS = 20_250, (45, 25, 18, 9)
LARGEST = 40_000
QUESTIONS = {
    "buildings": "How many buildings are there?",
    "forest_percent": "What percentage of the image is forest?",
    "buildings_near_water": f"How many buildings are within {LIMIT_M:g} m of water?",
    "large_m2": f"What is the total area of buildings larger than {LARGE_M2:g} m2?",
    "forest_near_water_ha": f"How many hectares of forest are within {LIMIT_M:g} m of water?",
}
FORGETFUL = {**os.environ, "SWATH_CACHE": f"{os.devnull}/none"}
"""No question profits from what an earlier one has counted."""

Rows = dict[str, dict[str, Any]]


def measure_here(way: str, path: Path) -> None:
    """Run one way in this process; print what it took."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_GB * 2**30, MOST_GB * 2**30))
    measure = WAYS[way](path)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        result = measure()
    except MemoryError:
        print(json.dumps({"failed": f"needs more than {MOST_GB} GB"}))
        return
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({**took, "peak_gb": peak, "result": result}))


def measured(way: str, path: Path) -> dict[str, Any]:
    """One run of a way, in a process of its own."""
    command = [sys.executable, __file__, "--here", way, str(path)]
    try:
        said = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONGEST_S, env=FORGETFUL)
    except subprocess.TimeoutExpired:
        return {"failed": f"takes more than {LONGEST_S:,} s"}
    return dict(json.loads(said.stdout)) if said.returncode == 0 else {"failed": said.stderr[-200:]}


def settled(runs: list[dict[str, Any]]) -> bool:
    """Whether a way is not run again: it failed, or takes long."""
    return any("failed" in run or run["wall"] > ONCE_S for run in runs)


@dataclasses.dataclass(frozen=True)
class Bench:
    """Where rasters and results are kept.

    Attributes:
        folder: of the rasters.
        results: JSON file.
        repeat: runs of which the median counts.
        largest: rows and columns of what five questions are asked about.
    """

    folder: Path
    results: Path
    repeat: int
    largest: int

    def rows(self) -> Rows:
        """What has been measured so far."""
        return dict(json.loads(self.results.read_text())) if self.results.exists() else {}

    def keep(self, key: str, found: dict[str, Any]) -> None:
        """Put a row among the results."""
        lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in {**self.rows(), key: found}.items()]
        self.results.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(key, found, flush=True)

    def once(self, key: str, measure: Callable[[], dict[str, Any]]) -> None:
        """Measure unless the results hold it already."""
        if key not in self.rows():
            self.keep(key, {**measure(), **when()})

    def raster(self, side: int, cell: int = CELL_PX, *, ragged: bool = False) -> Path:
        """A raster, painted in a process of its own: children begin with the memory peak of who starts them."""
        path = self.folder / f"labels-{side}-{cell}{'-ragged' * ragged}.tif"
        if not path.exists():
            command = [sys.executable, __file__, "--here", "ragged" if ragged else "paint", str(path)]
            subprocess.run([*command, "--side", str(side), "--cell", str(cell)], check=True)
        return path

    def ways(self, side: int, ways: Sequence[str], cell: int = CELL_PX, *, ragged: bool = False) -> None:
        """Measure some ways on one raster; they take turns, so that a load hits all."""
        path = self.raster(side, cell, ragged=ragged)
        for turn in range(self.repeat):
            for way in ways:
                key = f"{way} {side} {cell}{' ragged' * ragged}"
                runs = self.rows().get(key, {"runs": []})["runs"]
                if len(runs) <= turn and not settled(runs):
                    self.keep(key, {"runs": [*runs, {**measured(way, path), **when()}]})


def when() -> dict[str, Any]:
    """The day, and how many processes the machine has been busy with in the last minute."""
    return {"date": date.today().isoformat(), "load": round(os.getloadavg()[0], 1)}


def paint_here(kind: str, path: Path, side: int, cell: int) -> None:
    """Paint a raster; what was painted is kept beside it."""
    painted = paint(path, side, cell, ragged=kind == "ragged")
    np.savez_compressed(path.with_suffix(".npz"), buildings=painted.buildings, lakes=painted.lakes)


def task(bench: Bench) -> None:
    """Regions, areas and nearness against other ways and against reading once."""
    bench.ways(10_000, QUICK)
    bench.ways(10_000, QUICK, ragged=True)
    bench.ways(10_000, ("skimage", "vector"))
    bench.ways(30_000, (*QUICK, "vector"))


def whole(bench: Bench) -> None:
    """What takes longest: the whole image in memory, 900 megapixels."""
    bench.ways(30_000, ("skimage",))


def memory(bench: Bench) -> None:
    """Time and memory by size."""
    for side, ways in MEMORY.items():
        bench.ways(side, ways)


def objects(bench: Bench) -> None:
    """Time and memory by the number of objects, on as many pixels."""
    for cell in OBJECTS_CELLS:
        bench.ways(OBJECTS_SIDE, ("read", "swath"), cell)


def questions(bench: Bench) -> None:
    """Five questions about 1.6 gigapixels, as a person asks them, and what they should be."""
    path = bench.raster(bench.largest)
    bench.once("expected", lambda: {"side": bench.largest, **dict(json.loads(_here("expected", path)))})
    for name, question in QUESTIONS.items():
        bench.once(f"ask {name}", partial(_asked, path, question))
    bench.ways(bench.largest, ("read", "five"))


def _here(kind: str, path: Path) -> str:
    """What a process of its own says: children begin with the memory peak of who starts them."""
    command = [sys.executable, __file__, "--here", kind, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _expected(path: Path) -> dict[str, Any]:
    kept = np.load(path.with_suffix(".npz"))
    started = time.perf_counter()
    found = expected(path, Rectangles(kept["buildings"], kept["lakes"]), LIMIT_M, LARGE_M2)
    return {**found, "wall": time.perf_counter() - started}


def _asked(path: Path, question: str) -> dict[str, Any]:
    """Ask in a process of its own, whose memory is looked at ten times a second."""
    legend = path.with_suffix(".json")
    legend.write_text(json.dumps(LEGEND))
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "swath", "ask", str(path), question, "--labels", str(path), "--legend"]
        command += [str(legend), "--keep", "light", "--json", "--out", out]
        started = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=FORGETFUL) as process:
            seen = _watched(process)
            said = json.loads(process.stdout.read()) if process.stdout else {}
            usage = os.wait4(process.pid, 0)[2]
            process.returncode = 0
    took = {"wall": time.perf_counter() - started, "cpu": usage.ru_utime + usage.ru_stime}
    answer = {name: said[name] for name in ("answer", "unit", "interval", "status")}
    return {**answer, **took, "peak_gb": usage.ru_maxrss / 2**20, "gb": seen[:: -(-len(seen) // CURVE)]}


def _watched(process: subprocess.Popen[str]) -> list[tuple[float, float]]:
    """Seconds and resident GB of a process until it has ended."""
    seen, started = [], time.perf_counter()
    status = Path(f"/proc/{process.pid}/status")
    while True:
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
        if not lines:
            return seen
        seen.append((round(time.perf_counter() - started, 1), round(int(lines[0].split()[1]) / 2**20, 3)))
        time.sleep(0.1 if len(seen) < 100 else 0.5)


def start(bench: Bench) -> None:
    """Cold start of `swath ask` on a small file beside the bare import of the libraries that it needs."""
    from startup import LIBRARIES as NEEDED
    from startup import LIBRARIES_OF_FILES, QUESTION, scene, seconds

    def both() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as name:
            image, *options = scene(Path(name))
            ask = [sys.executable, "-m", "swath", "ask", image, QUESTION, *options]
            return {
                "libraries": seconds([sys.executable, "-c", NEEDED], 7),
                "libraries_of_files": seconds([sys.executable, "-c", LIBRARIES_OF_FILES], 7),
                "ask": seconds(ask, 7),
                "light": seconds([*ask, "--keep", "light"], 7),
            }

    bench.once("start", both)


def batch(bench: Bench) -> None:
    """Questions per second of a batch, by one process and by two."""
    from bench_throughput import asked

    def measure(keep: str, questions: int, jobs: int) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            return asked(Path(folder), keep, questions, jobs)

    for keep, questions in (("light", 2000), ("full", 100)):
        for jobs in (1, 2):
            bench.once(f"batch {keep} {jobs}", partial(measure, keep, questions, jobs))


STAGES: dict[str, Callable[[Bench], None]] = {
    "questions": questions,
    "task": task,
    "memory": memory,
    "start": start,
    "objects": objects,
    "batch": batch,
    "whole": whole,
}


def main() -> None:
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="+", choices=list(STAGES), default=list(STAGES))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="Where the rasters are kept; a temporary one unless given.")
    parser.add_argument("--page", type=Path, default=PAGE, help="Written anew between its markers.")
    parser.add_argument("--results", type=Path, help="Beside the page unless given.")
    parser.add_argument("--largest", type=int, default=LARGEST, help="Side of what five questions are asked about.")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--side", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--cell", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        kind, path = options.here[0], Path(options.here[1])
        if kind in ("paint", "ragged"):
            paint_here(kind, path, options.side, options.cell)
        elif kind == "expected":
            print(json.dumps(_expected(path)))
        else:
            measure_here(kind, path)
        return
    with tempfile.TemporaryDirectory() as temporary:
        results = options.results or options.page.with_suffix(".json")
        bench = Bench(options.folder or Path(temporary), results, options.repeat, options.largest)
        bench.once("machine", machine)
        for name in options.stages:
            STAGES[name](bench)
    from scale_page import write

    write(options.page, bench.rows())


def machine() -> dict[str, Any]:
    """What all of it was measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        **when(),
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


if __name__ == "__main__":
    main()
