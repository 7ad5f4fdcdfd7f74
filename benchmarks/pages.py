"""How soon the page of a large run can be looked at, and how fast its table answers, in a real browser.

python benchmarks/pages.py [--repeat 5] [--markdown docs/results/pages.md]

A run with 10,000 objects and 500 steps is made, its page written and opened in Chromium (SWATH_CHROMIUM or
/usr/bin/chromium). Times are the browser's own, from the start of the navigation.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from playwright.sync_api import sync_playwright

import swath
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.serve.pages.run import run_page

SIDE = 100
"""Houses per row and rows of houses."""
CELL_PX = 30
LOOKS = 245
"""Filters and counts of the program: with the others 500 steps."""
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
TYPED = ("9", "99", "area 4", "counted", "")
AIMS = {"first useful paint": 2000.0, "filter": 100.0}

PAINTS = """() => new Promise((done) => {
  let largest = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) largest = entry.startTime; })
    .observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(() => done({
    first: performance.getEntriesByName("first-contentful-paint")[0].startTime, largest,
  }), 600);
})"""
FILTER = """(typed) => new Promise((done) => {
  const field = document.getElementById("object-text");
  const began = performance.now();
  field.value = typed;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const answered = performance.now() - began;
  requestAnimationFrame(() => requestAnimationFrame(() => done({ answered, painted: performance.now() - began })));
})"""
SORT = """(name) => {
  const began = performance.now();
  document.querySelector(`[data-name="${name}"] button`).click();
  return performance.now() - began;
}"""


def town(folder: Path) -> tuple[Path, Path, Path]:
    """An image of a textured ground, a class raster with 10,000 houses of many sizes and forms, its legend."""
    random = np.random.default_rng(0)
    shape = (SIDE * CELL_PX, SIDE * CELL_PX)
    classes = np.full(shape, 2, dtype=np.uint8)
    for row in range(0, shape[0], CELL_PX):
        for col in range(0, shape[1], CELL_PX):
            tall, wide = random.integers(4, 26, 2)
            classes[row + 2 : row + 2 + tall, col + 2 : col + 2 + wide] = 1
            classes[row + 2 : row + 2 + tall // 2, col + 2 : col + 2 + wide // 3] = 2  # an L
    grey = random.normal(110, 18, shape) + np.where(classes == 1, 60, 0)
    colours = np.clip(np.stack([grey, grey * 1.05, grey * 0.9]), 0, 255).astype(np.uint8)
    grid = Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), shape, pyproj.CRS(32631))
    image, labels, legend = folder / "town.tif", folder / "classes.tif", folder / "legend.json"
    write_array(image, colours, grid)
    write_array(labels, classes, grid)
    legend.write_text('{"1": "building", "2": "grass"}', encoding="utf-8")
    return image, labels, legend


def program() -> str:
    """Ten thousand houses, looked at again and again, of which the larger ones are counted."""
    lines = ['houses = components(segment("building"))', "seen = 0", f"for least in range({LOOKS}):"]
    lines += ["    seen = seen + count(filter_regions(houses, min_px=least))"]
    lines += ["large = filter_regions(houses, larger_than_m2=60)"]
    return "\n".join([*lines, 'reply(count(large), kind="count", objects=large)', ""])


def made(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The page of the large run, and what it holds."""
    image, labels, legend = town(folder)
    answer = swath.ask(
        image, "How many buildings are larger than 60 m2?", program=program(), labels=labels, legend=legend, out=folder
    )
    run = Path(str(answer.run))
    began = time.perf_counter()
    text = run_page(run)
    seconds = time.perf_counter() - began
    page = folder / "run.html"
    page.write_text(text, encoding="utf-8")
    steps = len((run / "steps.jsonl").read_text(encoding="utf-8").splitlines())
    return page, {"answer": answer.text, "steps": steps, "bytes": len(text.encode()), "seconds to write it": seconds}


def busy_ms(devtools: Any) -> float:
    """Processor time of the page's main thread so far, which does not depend on what else the machine does."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return 1000 * next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def measured(browser: Any, page_file: Path) -> dict[str, float]:
    """The times of one visit in ms."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(page_file.as_uri())
    page.wait_for_selector(".grid-body .grid-row")
    loaded = busy_ms(devtools)
    found = page.evaluate(PAINTS)
    table = page.evaluate("() => performance.getEntriesByName('swath:ready')[0].startTime")
    before = busy_ms(devtools)
    filters = [page.evaluate(FILTER, typed) for typed in TYPED]
    filtered = (busy_ms(devtools) - before) / len(TYPED)
    objects = int(page.get_attribute("#object-table", "aria-rowcount")) - 1
    times = {
        "first paint": found["first"],
        "first useful paint": found["largest"],
        "table and picture answer": table,
        "filter": max(one["answered"] for one in filters),
        "filter, until it is painted": max(one["painted"] for one in filters),
        "sort by area": page.evaluate(SORT, "area_m2"),
        "sort by reason": page.evaluate(SORT, "why"),
        "processor: load until the table answers": loaded,
        "processor: a filter with its painting": filtered,
        "objects": objects,
    }
    context.close()
    return times


def main() -> None:
    """Make the run, visit its page several times, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        page, about = made(Path(name))
        path = os.environ.get("SWATH_CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        visits = [measured(browser, page) for _ in range(options.repeat)]
        version = browser.version
        browser.close()
    text = report(about, visits, version)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


def report(about: dict[str, Any], visits: list[dict[str, float]], version: str) -> str:
    """The results as Markdown."""
    objects = int(visits[0]["objects"])
    lines = [
        "# Run pages: how soon, how fast",
        "",
        f"A run with {objects:,} objects and {about['steps']} steps ({about['answer']}); its page of "
        f"{about['bytes'] / 1e6:.1f} MB took {about['seconds to write it']:.1f} s to write. Chromium {version}, "
        f"headless, without GPU, on {os.cpu_count()} cores of {platform.machine()} with a load average of "
        f"{os.getloadavg()[0]:.0f}; {len(visits)} visits, each in a "
        "fresh context. First useful paint is the largest contentful paint: answer and picture are on the screen. "
        "Processor time is that of the page's main thread, whatever else the machine does.",
        "",
        "    python benchmarks/pages.py --markdown docs/results/pages.md",
        "",
        "| ms | median | slowest | aim |",
        "|---|---:|---:|---:|",
    ]
    for name in visits[0]:
        if name != "objects":
            times = [visit[name] for visit in visits]
            aim = f"{AIMS[name]:,.0f}" if name in AIMS else ""
            lines.append(f"| {name} | {statistics.median(times):,.0f} | {max(times):,.0f} | {aim} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
