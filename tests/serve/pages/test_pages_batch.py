"""Pages of benchmark runs, one and two, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from swath.errors import InputError
from swath.serve.pages.batch import batch_page, batches_page
from swath.trace.strict_json import json_text

EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
META = {
    "schema_version": 1, "benchmark": "questions", "data": "town", "data_sha256": "0123456789abcdef",
    "planner": "offline", "segmenter": "labels", "oracle": None, "cells": ["plain"], "keep": "wrong", "options": {},
    "command": "swath bench run questions --data town --out r", "created": "2026-01-02T03:04:05Z",
    "swath_version": "0.1.0", "versions": {}, "model": None, "not_available": {},
}  # fmt: skip


def row(case: str, verdict: str, **values: Any) -> dict[str, Any]:
    status = verdict if verdict in ("refused", "failed") else "answered"
    prediction = {"status": status, "answer": 4 if status == "answered" else None, "unit": None, "interval": None,
                  "reason": None if status == "answered" else "there is no road"}  # fmt: skip
    score = {"metric": "exact", "value": None, "verdict": verdict, "why": "4 for 3"}
    return {
        "case": case, "cell": "plain", "type": "count", "tier": "1", "question": f"How many ponds has {case}?",
        "image": "scene.tif", "truth": 3, "extras": {}, "prediction": prediction, "verdict": verdict, "scores": [score],
        "reading": "ponds", "program": None, "planner": "offline", "segmenter": "labels", "run": None, "warnings": [],
        "broke": False, **values,
    }  # fmt: skip


def bench(folder: Path, *rows: dict[str, Any], **meta: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "bench.json").write_text(json_text(META | {"n_cases": len(rows)} | meta), encoding="utf-8")
    (folder / "results.jsonl").write_text("".join(json_text(one) + "\n" for one in rows), encoding="utf-8")
    return folder


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """Four cases: right, wrong with a picture, refused and hostile, wrong of another type and tier."""
    folder = bench(
        tmp_path / "a",
        row("alder", "right"),
        row("birch", "wrong", run="runs/birch"),
        row(EVIL, "refused", question=EVIL, reading=EVIL, type=EVIL),
        row("cedar", "wrong", type="area", tier="2"),
    )
    (folder / "runs" / "birch").mkdir(parents=True)
    Image.new("RGB", (40, 30), (200, 40, 40)).save(folder / "runs" / "birch" / "overlay.png")
    return folder


def opened(text: str, file: Path, open_page: Callable[..., Any], **options: Any) -> Any:
    file.write_text(text, encoding="utf-8")
    return open_page(file.as_uri(), **options)


def test_batch_page_counts_verdicts_and_shows_every_mistake(first: Path, open_page: Callable[..., Any]) -> None:
    page = opened(batch_page(first), first / "page.html", open_page)
    assert page.inner_text(".share strong").startswith("25.0 %")
    rows = page.locator('[aria-label="Verdicts by tier"] tbody tr')
    assert [[row.locator(cell).first.inner_text() for cell in ("th", "td")] for row in rows.all()] == [
        ["1", "3"],
        ["2", "1"],
    ]
    assert page.locator(".card").count() == 3
    birch = page.locator(".card", has_text="birch")
    assert all(said in birch.inner_text() for said in ("Truth", "3", "Answer", "4", "ponds", "wrong", "4 for 3"))
    assert birch.locator("img").evaluate("(image) => image.naturalWidth") == 40
    assert birch.locator("a").get_attribute("href") == "runs/birch/"
    assert page.dialogs == [] and page.requests[0] == (first / "page.html").as_uri()
    assert all(url.startswith("data:") for url in page.requests[1:])


def test_link_to_the_page_of_a_run_is_what_the_caller_says(first: Path) -> None:
    assert 'href="/run/birch"' in batch_page(first, link=lambda run: f"/run/{run.name}")


def test_cards_are_filtered_by_type_verdict_and_text(first: Path, open_page: Callable[..., Any]) -> None:
    page = opened(batch_page(first), first / "page.html", open_page)
    page.select_option("#card-verdict", "refused")
    assert page.locator(".card:visible").count() == 1
    assert EVIL in page.locator(".card:visible").inner_text()
    page.select_option("#card-verdict", "")
    page.select_option("#card-type", "area")
    assert "cedar" in page.locator(".card:visible").inner_text()
    page.select_option("#card-type", "")
    page.fill("#card-text", "BIRCH")
    assert page.inner_text("#card-count") == "1 of 3 on this page"


def test_two_batches_are_told_apart(first: Path, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    second = bench(
        tmp_path / "b",
        row("alder", "wrong"),
        row("birch", "right"),
        row("cedar", "failed", type="area", tier="2"),
        row("dogwood", "right"),
        planner="llm",
    )
    page = opened(batches_page(first, second), tmp_path / "two.html", open_page)
    sections = {
        section.query_selector("h2").inner_text(): section.inner_text()
        for section in page.query_selector_all("#mistakes section")
    }
    only_first, only_second, none = sections.values()
    assert list(sections) == ["Right only in offline with labels", "Right only in llm with labels", "Right in none"]
    assert "How many ponds has alder?" in only_first and "1 of 1 questions." in only_first
    assert "How many ponds has birch?" in only_second
    assert "How many ponds has cedar?" in none and "failed: there is no road" in none
    assert "1 questions that only the first was asked, 1 that only the second was" in page.inner_text(".warnings")


@pytest.mark.parametrize("width", [400, 1600])
def test_batch_page_fits_and_has_no_serious_fault_of_access(
    first: Path, open_page: Callable[..., Any], faults_found: Callable[[Any], list[str]], width: int
) -> None:
    page = opened(batch_page(first), first / "page.html", open_page, viewport={"width": width, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    assert not faults_found(page)


def test_a_folder_without_a_benchmark_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no benchmark run: it has no bench.json. Next: make one"):
        batch_page(tmp_path)
