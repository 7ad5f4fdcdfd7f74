"""Cold start and time per question, beside what the libraries alone cost; prints a Markdown table.

python benchmarks/startup.py [--repeat 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rasterio
from rasterio.transform import from_origin

QUESTION = "How many buildings larger than 20 m2 are within 30 m of water?"
LIBRARIES = "import langgraph.graph, rasterio, shapely, pyproj, cv2, lark, pydantic_monty"
LIBRARIES_OF_FILES = f"{LIBRARIES}, geopandas, PIL.Image"
"""What a question needs besides where it writes its objects and its picture too."""

AIMS = {"swath --help": 0.4, "swath ask": 2.0, "a question in one process": 0.05}


def scene(folder: Path) -> list[str]:
    """A small class raster that is its own image, and the options that name its classes."""
    classes = np.zeros((300, 400), dtype=np.uint8) + 3
    classes[:, 180:200] = 2
    for row in range(10, 290, 40):
        for col in range(10, 390, 35):
            classes[row : row + 8, col : col + 12] = 1
    image, legend = folder / "scene.tif", folder / "legend.json"
    with rasterio.open(
        image, "w", driver="GTiff", width=400, height=300, count=1, dtype="uint8", crs="EPSG:32631",
        transform=from_origin(500_000, 5_000_000, 0.5, 0.5),
    ) as file:  # fmt: skip
        file.write(classes, 1)
    legend.write_text('{"1": "building", "2": "water", "3": "grass"}', encoding="utf-8")
    return [str(image), "--labels", str(image), "--legend", str(legend), "--out", str(folder / "runs")]


def seconds(command: list[str], repeat: int) -> float:
    """Median wall time of a command; the first call, which fills the disk cache and compiles modules, is left out."""
    times, usual = [], {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(repeat + 1):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=usual)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def per_question(options: list[str], repeat: int) -> tuple[float, float]:
    """Median seconds of a whole question in one process with `--keep light`, and of what is not pixels."""
    import swath

    image, _, labels, _, legend, _, out = options
    whole, apart = [], []
    for _ in range(repeat * 4 + 1):
        started = time.perf_counter()
        answer = swath.ask(image, QUESTION, labels=labels, legend=legend, out=out, keep="light")
        whole.append(time.perf_counter() - started)
        apart.append(whole[-1] - pixel_seconds(Path(answer.run or "")))
    return statistics.median(whole[1:]), statistics.median(apart[1:])


def pixel_seconds(run: Path) -> float:
    """Seconds that a run spent reading the image and measuring, as its own record says."""
    import json

    timings = json.loads((run / "run.json").read_text(encoding="utf-8"))["timings"]
    return float(timings["read"] + timings["run"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    python = sys.executable
    with tempfile.TemporaryDirectory() as name:
        options = scene(Path(name))
        whole, apart = per_question(options, repeat)
        ask = [python, "-m", "swath", "ask", options[0], QUESTION, *options[1:]]
        rows = {
            "python -c pass": seconds([python, "-c", "pass"], repeat),
            "the libraries alone": seconds([python, "-c", LIBRARIES], repeat),
            "swath --help": seconds([python, "-m", "swath", "--help"], repeat),
            "swath info": seconds([python, "-m", "swath", "info", options[0], "--json"], repeat),
            "swath ask": seconds(ask, repeat),
            "swath ask --keep light": seconds([*ask, "--keep", "light"], repeat),
            "a question in one process": apart,
            "the same with reading and measuring": whole,
        }
    libraries = rows["the libraries alone"]
    print("| what | seconds | of the libraries alone | aim |\n|---|---|---|---|")
    for what, took in rows.items():
        aim = f"under {AIMS[what]:g}" if what in AIMS else ""
        print(f"| {what} | {took:.3f} | {took / libraries:.2f} | {aim} |")


if __name__ == "__main__":
    main()
