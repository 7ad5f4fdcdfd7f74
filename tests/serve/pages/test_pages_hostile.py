"""Text that would like to be more than text, in every field of a run that can hold one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages_scene import COUNT, DRAFT, HOUSES, town

from swath.serve.pages.compare import compare_page
from swath.serve.pages.run import run_page
from swath.trace.html import embedded_json

EVIL = (
    "</script><script>alert('script')</script><img src=x onerror=alert('img')><svg/onload=alert('svg')>"
    "<style>body{display:none}</style><a href=\"javascript:alert('link')\">x</a>{{ 7 * 7 }}"
    "\" onmouseover=\"alert('attribute')\" ' autofocus onfocus=alert(1) ]]>--><!-- &lt;b&gt; "
    "\u2028\u2029\u202e\x00\x1b[31m"
)
PROGRAM = f"# {EVIL.translate({0: None, 0x1B: None, 0x2028: None, 0x2029: None, 0x202E: None})}\n{COUNT}"
KEPT = {
    "id",
    "status",
    "created",
    "file",
    "sha256",
    "kind",
    "keep",
    "held",
    "crs",
    "affine",
    "schema_version",
    "unit",
    "program",
}
"""Fields of run.json whose values are not free texts, or decide how the run is read."""


def poisoned(value: Any, name: str = "") -> Any:
    """The value with hostile texts in place of all texts."""
    if isinstance(value, dict):
        return {key: one if key in KEPT else poisoned(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, name) for one in value]
    return f"{value} {EVIL}" if isinstance(value, str) else value


@pytest.fixture(scope="module")
def evil_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose objects have hostile identifiers and class names, and whose files were written by an enemy."""
    folder = tmp_path_factory.mktemp("evil")
    place = town(folder, "town <img src=x onerror=alert(1)>.tif")
    features = [
        {
            "type": "Feature",
            "properties": {"id": f"{number} {EVIL}", "class": name},
            "geometry": {"type": "Polygon", "coordinates": [[
                [500_000 + x, 5_000_000 - y] for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0))
            ]]},
        }
        for number, (name, (x0, y0, x1, y1)) in enumerate(
            [("water", (0, 0, 10, 120)), *(("building", box) for box in HOUSES)]
        )
    ]  # fmt: skip
    layer = folder / "evil.geojson"
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32631"}}
    layer.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}), encoding="utf-8")
    place.options.clear()
    run = place.ask(PROGRAM, DRAFT, f"# {EVIL}\nsegment(", question=EVIL, reading=EVIL, labels=layer)
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    where = {key: record["image"][key] for key in ("path", "resolved")}
    evil = poisoned(record) | {"cwd": record["cwd"]}
    evil["image"] |= where
    evil["model"], evil["tokens"], evil["cost"] = EVIL, {"in": 1, "cached": 0, "out": 2}, {"dollars": 0.5}
    (run / "run.json").write_text(json.dumps(evil), encoding="utf-8")
    steps = [json.loads(line) for line in (run / "steps.jsonl").read_text(encoding="utf-8").splitlines()]
    evil_steps = [poisoned(step) | {"kind": step["kind"]} for step in steps]
    for step, before in zip(evil_steps, steps, strict=True):
        step["error"] = EVIL if step["name"].startswith("count") else None
        if isinstance(before["result"], dict) and "handle" in before["result"]:
            step["result"]["handle"] = before["result"]["handle"]
    (run / "steps.jsonl").write_text("".join(json.dumps(step) + "\n" for step in evil_steps), encoding="utf-8")
    return run


def scripts_of(text: str) -> list[str]:
    return re.findall(r"<script[^>]*>", text)


@pytest.mark.parametrize("kind", ["run", "compare"])
def test_hostile_text_stays_text(evil_run: Path, tmp_path: Path, open_page: Callable[..., Any], kind: str) -> None:
    text = run_page(evil_run) if kind == "run" else compare_page(evil_run, evil_run)
    assert scripts_of(text) == ['<script type="application/json" id="data">', '<script type="module">']
    assert "7 * 7" in text and not set("\x00\x1b\u202e\u2028") & set(text)
    file = tmp_path / "evil.html"
    file.write_text(text, encoding="utf-8")
    page = open_page(file.as_uri())
    page.wait_for_selector(".grid-body .grid-row")
    assert "<script>alert('script')</script>" in page.inner_text("main")
    assert "<img src=x onerror=alert('img')>" in page.inner_text(".grid")
    page.locator(".grid-row").nth(1).click()
    page.mouse.move(300, 300)
    assert page.locator("main img:not([class^=viewer]), main style, main [onload], main [onerror]").count() == 0
    assert page.evaluate("() => getComputedStyle(document.body).display") == "block"
    assert page.dialogs == []
    assert [url for url in page.requests if not url.startswith("data:")] == [file.as_uri()]


def test_every_place_of_the_page_held_the_hostile_text(evil_run: Path) -> None:
    """The test above would prove nothing of a field that the page leaves out."""
    text = run_page(evil_run)
    sign = "&lt;img src=x onerror=alert(&#39;img&#39;)&gt;"
    for opening in (
        '<p class="question"', '<h1 class="value"', '<p class="sentence"', '<ul class="warnings">', "<title>",
        '<ul class="hints">', '<table class="steps">', '<pre class="changes"', '<ol class="source">',
        "<dt>Image</dt>", "<dt>Planner</dt>", "<dt>Method</dt>", "<dt>Classes</dt>",
    ):  # fmt: skip
        start = text.index(opening)
        assert sign in text[start : start + 12_000], opening


def test_embedded_json_is_what_it_was_and_holds_no_markup() -> None:
    value = {"a": EVIL, "b": [1.5, None, float("nan"), "\ud800"]}
    text = str(embedded_json(value))
    assert not set("<>&\u2028\u2029") & set(text) and text.isascii()
    assert json.loads(text) == {"a": EVIL, "b": [1.5, None, "nan", "\ud800"]}
