"""What a run says of itself in words: its answer in parts, inputs, costs, times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swath.trace.reading import Run
from swath.trace.wording import seconds_words, value_words

Fact = tuple[str, str]


@dataclass(frozen=True)
class AnswerParts:
    """An answer as a page shows it.

    Attributes:
        value: in large type.
        interval: "1 to 7, considering boundary, segmentation", None where there is none.
        sentence: what was measured, or why nothing was.
    """

    value: str
    interval: str | None
    sentence: str


@dataclass(frozen=True)
class Plot:
    """An interval as a line with a point, in hundredths of its width.

    Attributes:
        low: end in words.
        high: end in words.
        at: where the value lies.
    """

    low: str
    high: str
    at: float


def answer_parts(run: Run) -> AnswerParts:
    """The answer's text apart: what is measured, how surely, and what it is."""
    answer = run.answer
    text, reading = str(answer.get("text") or ""), str(answer.get("reading") or "")
    if run.status != "answered":
        return AnswerParts(run.status.capitalize(), None, str(answer.get("reason") or text))
    value = text.removesuffix(f": {reading}") if reading else text
    interval = answer.get("interval")
    if not interval:
        return AnswerParts(value, None, reading)
    bare, bracket, _ = value.rpartition(" (")
    covers = ", ".join(map(str, interval.get("covers", ()))) or "nothing"
    ends = f"{_number(interval.get('low'))} to {_number(interval.get('high'))}"
    return AnswerParts(bare if bracket and value.endswith(")") else value, f"{ends}, considering {covers}", reading)


def interval_plot(answer: Mapping[str, Any]) -> Plot | None:
    """The interval of a number, None where there is none or it is a point."""
    interval, value = answer.get("interval"), answer.get("answer")
    if not interval or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    low, high = interval.get("low"), interval.get("high")
    if not (isinstance(low, int | float) and isinstance(high, int | float) and low < high):
        return None
    return Plot(_number(low), _number(high), round(100 * min(max((value - low) / (high - low), 0), 1), 2))


def facts(run: Run) -> tuple[Fact, ...]:
    """What was measured on, with what, and how."""
    return tuple((name, value) for name, value in _facts(run) if value)


def _facts(run: Run) -> Iterator[Fact]:
    record, answer = run.record, run.answer
    image = record["image"]
    grid = image.get("grid") or {}
    yield "Image", str(image.get("path"))
    if grid:
        rows, cols = grid["shape"]
        yield "Size", f"{cols:,} × {rows:,} pixels"
        pixel = grid.get("pixel_size_m")
        yield "Ground pixel", f"{pixel['x']:.6g} × {pixel['y']:.6g} m" if pixel else f"unknown: {grid.get('method')}"
    yield "Coordinates", str(answer.get("crs") or ("no CRS" if grid else ""))
    yield "Method", str(answer.get("method") or "")
    if answer.get("segmenter"):
        yield "Classes", f"{answer['segmenter']}: {', '.join(record.get('classes') or ['no class'])}"
    yield "Area asked about", str((record.get("aoi") or {}).get("path") or "")
    heights = (record.get("heights") or {}).get("rasters") or {}
    yield "Heights", ", ".join(f"{name}: {raster.get('path')}" for name, raster in heights.items())
    yield "Options", ", ".join(_options(record["inputs"]))
    yield "Conventions", str(record.get("conventions") or "")
    yield "Asked", f"{run.created.replace('T', ' ').partition('.')[0]} UTC, swath {record.get('swath')}"
    yield "SHA-256 of the image", str(image.get("sha256") or "")


def _options(inputs: Mapping[str, Any]) -> Iterator[str]:
    for name, value in inputs.items():
        if value not in (None, {}, [], ""):
            yield f"{name}={value if isinstance(value, str) else value_words(value)}"


def cost_facts(run: Run) -> tuple[Fact, ...]:
    """Who planned, and what that took: tokens, cost, time by phase."""
    return tuple((name, value) for name, value in _costs(run) if value)


def _costs(run: Run) -> Iterator[Fact]:
    record = run.record
    model = record.get("model")
    yield "Planner", f"{record.get('planner')}{f', {model}' if model else ''}"
    tokens, cost = record.get("tokens"), record.get("cost")
    calls = record.get("model_calls") or ()
    if tokens:
        cached = f" ({tokens['cached']:,} of them cached)" if tokens.get("cached") else ""
        yield "Tokens", f"{tokens['in']:,} in{cached}, {tokens['out']:,} out, {len(calls)} calls"
    else:
        yield "Tokens", "none: no language model was asked"
    if calls:
        yield "Cost", f"{cost['dollars']:.4f} $" if cost else "not known: the model has no price here"
    seconds = run.answer.get("seconds")
    yield "Time", seconds_words(seconds)
    timings = record.get("timings") or {}
    yield "Time by phase", ", ".join(f"{name} {seconds_words(value)}" for name, value in timings.items())


def _number(value: Any) -> str:
    from swath.agent.answer import number

    return number(value) if isinstance(value, int | float) else str(value)
