"""Tables and plots of docs/results/performance.md from the results of scale.py, between the page's two markers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 460, 260, 52, 40, 14, 150
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#6d597a", "#8d6a1f")
MIDDLE = 'text-anchor="middle"'
Rows = dict[str, dict[str, Any]]
Line = tuple[str, list[tuple[float, float]]]


def write(page: Path, rows: Rows) -> None:
    """Write the tables anew, and the plots beside the page."""
    rows = {key: median(row["runs"]) if "runs" in row else row for key, row in rows.items()}
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    tables = (_machine, _task, _sizes, _objects, _questions, _five, _start, _batch)
    parts = [table(rows) for table in tables]
    body = "\n\n".join(part for part in parts if part)
    page.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", encoding="utf-8")
    for name, title, axes, lines in _plots(rows):
        if any(len(points) > 1 for _, points in lines):
            page.with_name(f"{page.stem}-{name}.svg").write_text(plot(title, axes, lines), encoding="utf-8")


def median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of seconds, the largest peak and the answer of some runs of one way; of one that failed, why."""
    failed = [run for run in runs if "failed" in run]
    if failed:
        return failed[0]
    wall, cpu = (statistics.median(run[name] for run in runs) for name in ("wall", "cpu"))
    loads = sorted(run["load"] for run in runs)
    return {**runs[0], "wall": wall, "cpu": cpu, "peak_gb": max(run["peak_gb"] for run in runs), "load": loads[-1]}


def _machine(rows: Rows) -> str:
    told = rows["machine"]
    libraries = ", ".join(f"{name} {number}" for name, number in told["versions"].items())
    days = sorted({row["date"] for row in rows.values()})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    loads = [row["load"] for row in rows.values()]
    return (
        f"{when}, {told['cores']} cores of {told['processor']}, {told['memory_gb']} GB, {libraries}. "
        f"Load of the machine after each measurement: {min(loads):g} to {max(loads):g}."
    )


def _key(way: str, side: int, cell: int = 45, ragged: str = "") -> str:
    return f"{way} {side} {cell}{ragged}"


def _said(result: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:,.6g}" for name, value in result.items())


def _table(rows: Rows, keys: Sequence[tuple[str, str]], floor: str) -> str:
    """One row for each key, in seconds and as a multiple of reading once and of swath."""
    lines = [
        "| | wall s | CPU s | of reading once: wall, CPU | of swath: wall, CPU | peak GB | answer |",
        "|---|---|---|---|---|---|---|",
    ]
    reading = rows.get(floor)
    own = next((rows[key] for _, key in keys if key.startswith("swath") and key in rows), None)
    for name, key in keys:
        row = rows.get(key)
        if row is None:
            continue
        if "failed" in row:
            lines.append(f"| {name} | {row['failed']} | | | | | |")
            continue
        other = key.split()[0] in ("opencv", "skimage", "vector")
        lines.append(
            f"| {name} | {row['wall']:.2f} | {row['cpu']:.2f} | {_times(row, reading)} "
            f"| {_times(row, own) if other else ''} | {row['peak_gb']:.2f} | {_said(row['result'])} |"
        )
    return "\n".join(lines) if len(lines) > 2 else ""


def _times(row: dict[str, Any], other: dict[str, Any] | None) -> str:
    return "" if other is None else f"{row['wall'] / other['wall']:.1f}, {row['cpu'] / other['cpu']:.1f}"


NAMES = {
    "read": "reading once",
    "read, GDAL's threads": "reading once, GDAL's threads",
    "shares": "swath: share of each class",
    "shares again": "swath: the same, asked again",
    "swath": "swath: the task",
    "opencv": "OpenCV and NumPy, whole image",
    "skimage": "scikit-image and SciPy, whole image",
    "vector": "polygons, geopandas `dwithin`",
}


def _task(rows: Rows) -> str:
    parts = []
    for side, ragged in ((10_000, ""), (30_000, ""), (10_000, " ragged")):
        table = _table(
            rows, [(NAMES[way], _key(way, side, 45, ragged)) for way in NAMES], _key("read", side, 45, ragged)
        )
        if table:
            parts.append(f"### {side:,} x {side:,} pixels{', ragged ground' if ragged else ''}\n\n{table}")
    return "\n\n".join(parts)


def _sizes(rows: Rows) -> str:
    lines = [
        "| pixels | regions | wall s | CPU s | CPU ns a pixel | CPU of reading once | peak GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for side in (5_000, 10_000, 20_000, 30_000, 40_000):
        row, read = rows.get(_key("swath", side)), rows.get(_key("read", side))
        if row and read:
            lines.append(
                f"| {side:,} x {side:,} | {row['result']['regions']:,} | {row['wall']:.2f} | {row['cpu']:.2f} "
                f"| {1e9 * row['cpu'] / side**2:.1f} | {row['cpu'] / read['cpu']:.1f} | {row['peak_gb']:.2f} |"
            )
    picture = "![Peak memory and time by size](performance-size.svg)"
    return "### The task by size\n\n" + "\n".join(lines) + f"\n\n{picture}" if len(lines) > 2 else ""


def _objects(rows: Rows) -> str:
    lines = ["| regions on 20,250 x 20,250 pixels | wall s | us a region | peak GB |", "|---|---|---|---|"]
    for cell in (45, 25, 18, 9):
        row = rows.get(_key("swath", 20_250, cell))
        if row:
            count = row["result"]["regions"]
            lines.append(f"| {count:,} | {row['wall']:.2f} | {1e6 * row['wall'] / count:.1f} | {row['peak_gb']:.2f} |")
    picture = "![Time by number of regions](performance-objects.svg)"
    return "### The task by objects\n\n" + "\n".join(lines) + f"\n\n{picture}" if len(lines) > 2 else ""


def _questions(rows: Rows) -> str:
    asked = {name: row for name, row in rows.items() if name.startswith("ask ")}
    if not asked or "expected" not in rows:
        return ""
    from scale import QUESTIONS

    lines = ["| question | swath | computed otherwise | wall s | peak GB |", "|---|---|---|---|---|"]
    for name, row in asked.items():
        name = name.removeprefix("ask ")
        truth, answer = rows["expected"][name], row["answer"]
        same = isinstance(answer, int | float) and math.isclose(answer, truth, rel_tol=1e-9)
        told = f"{answer:,.10g} {row['unit'] or ''}" if isinstance(answer, int | float) else str(answer)
        verdict = f"{truth:,.10g}, {'equal' if same else 'NOT equal'}"
        lines.append(f"| {QUESTIONS[name]} | {told.strip()} | {verdict} | {row['wall']:.0f} | {row['peak_gb']:.2f} |")
    picture = "![Resident memory during each question](performance-memory.svg)"
    side = rows["expected"]["side"]
    return (
        f"### Five questions about {side:,} x {side:,} pixels, {side**2 / 1e9:.2g} gigapixels\n\n"
        + "\n".join(lines)
        + f"\n\n{picture}"
    )


def _five(rows: Rows) -> str:
    truth = rows.get("expected", {})
    row = rows.get(_key("five", truth.get("side", 0)), {"failed": ""})
    if "failed" in row:
        return ""
    lines = ["| the five together, in one process | swath | computed otherwise | |", "|---|---|---|---|"]
    for name, value in row["result"].items():
        same = "equal" if math.isclose(value, truth[name], rel_tol=1e-9) else "NOT equal"
        lines.append(f"| {name.replace('_', ' ')} | {value:,.10g} | {truth[name]:,.10g} | {same} |")
    took = f"{row['wall']:.0f} s, {row['cpu']:.0f} s of the processor, {row['peak_gb']:.2f} GB"
    return "\n".join(lines) + f"\n\nThese took {took}; what was computed otherwise took {truth['wall']:.0f} s."


def _start(rows: Rows) -> str:
    if "start" not in rows:
        return ""
    row = rows["start"]
    return (
        "### Cold start\n\n| | seconds | its libraries alone | of these |\n|---|---|---|---|\n"
        + "\n".join(
            f"| `{what}` | {took:.2f} | {alone:.2f} | {took / alone:.2f} |"
            for what, took, alone in (
                ("swath ask --keep light", row["light"], row["libraries"]),
                ("swath ask", row["ask"], row["libraries_of_files"]),
            )
        )
        + "\n\nLibraries: LangGraph, rasterio, shapely, pyproj, OpenCV, Lark, pydantic-monty; with objects and picture "
        "also geopandas and Pillow."
    )


def _batch(rows: Rows) -> str:
    lines = ["| keep | jobs | questions | seconds | per second | CPU s a question |", "|---|---|---|---|---|---|"]
    for keep in ("light", "full"):
        for jobs in (1, 2):
            row = rows.get(f"batch {keep} {jobs}")
            if row:
                lines.append(
                    f"| {keep} | {jobs} | {row['questions']:,} | {row['wall']:.0f} | {row['per_second']:.1f} "
                    f"| {row['cpu_each']:.3f} |"
                )
    return "### Questions in batch, about 1,024 x 1,024 pixels\n\n" + "\n".join(lines) if len(lines) > 2 else ""


def _plots(rows: Rows) -> list[tuple[str, str, tuple[str, str], list[Line]]]:
    sides = (5_000, 10_000, 20_000, 30_000, 40_000)
    found = [(side**2 / 1e6, rows[_key("swath", side)]) for side in sides if _key("swath", side) in rows]
    several = [rows[_key("swath", 20_250, cell)] for cell in (45, 25, 18, 9) if _key("swath", 20_250, cell) in rows]
    counts = [(row["result"]["regions"] / 1e6, row) for row in several]
    asked = [(name.removeprefix("ask ").replace("_", " "), row["gb"]) for name, row in rows.items() if "gb" in row]
    return [
        (
            "size",
            "The task by size",
            ("megapixels", "peak GB, and seconds / 10"),
            [
                ("peak GB", [(x, row["peak_gb"]) for x, row in found]),
                ("seconds / 10", [(x, row["wall"] / 10) for x, row in found]),
            ],
        ),
        (
            "objects",
            "The task by objects",
            ("million regions", "s"),
            [("wall", [(x, row["wall"]) for x, row in counts])],
        ),
        (
            "memory",
            "Resident memory during each question",
            ("seconds", "GB"),
            [(name, [tuple(point) for point in points]) for name, points in asked],
        ),
    ]


def plot(title: str, axes: tuple[str, str], lines: Sequence[Line]) -> str:
    """Lines from zero on as an SVG picture.

    Args:
        title: what is shown.
        axes: names of the horizontal and the vertical one.
        lines: name and points of each.
    """
    most_x, most_y = (max(point[axis] for _, points in lines for point in points) * 1.05 for axis in (0, 1))

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + x / most_x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / most_y * (HEIGHT - BOTTOM - TOP)

    parts = [f'<title>{title}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    (x0, y0), (x1, y1) = at(0, 0), at(most_x, most_y)
    parts.append(f'<path d="M{x0:.0f} {y1:.0f}V{y0:.0f}H{x1:.0f}" fill="none" stroke="#666"/>')
    parts += [f'<text x="{at(tick, 0)[0]:.0f}" y="{y0 + 14:.0f}" {MIDDLE}>{tick:g}</text>' for tick in ticks(most_x)]
    parts += [
        f'<text x="{x0 - 5:.0f}" y="{at(0, tick)[1] + 4:.0f}" text-anchor="end">{tick:g}</text>'
        for tick in ticks(most_y)
    ]
    parts.append(f'<text x="{(x0 + x1) / 2:.0f}" y="{HEIGHT - 8}" {MIDDLE}>{axes[0]}</text>')
    parts.append(f'<text x="{x0 + 6:.0f}" y="{TOP + 6}">{axes[1]}</text>')
    for k, (name, points) in enumerate(lines):
        colour = COLOURS[k % len(COLOURS)]
        path = " ".join("{:.1f},{:.1f}".format(*at(*point)) for point in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if len(points) < 12:
            parts += ['<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>'.format(*at(*p), colour) for p in points]
        parts.append(f'<text x="{x1 + 10:.0f}" y="{TOP + 16 + 16 * k}" fill="{colour}">{name}</text>')
    style = 'font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {style}>'
    return head + "".join(parts) + "</svg>\n"


def ticks(most: float) -> list[float]:
    """Round numbers up to the largest, four or so."""
    step = 10 ** math.floor(math.log10(most / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if most / (step * factor) <= 5)
    return [step * k for k in range(int(most / step) + 1)]
