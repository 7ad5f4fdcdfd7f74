"""The page of a run in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import swath
from swath.serve.pages.run import run_page

QUESTION = "How many buildings are within 5 m of water?"


@pytest.fixture(scope="module")
def page_file(village: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run that counts three of twelve houses."""
    folder = tmp_path_factory.mktemp("pages")
    answer = swath.ask(village.image, QUESTION, out=folder / "runs", **village.options)
    assert answer.answer == village.near_canal and answer.run is not None
    file = folder / "run.html"
    file.write_text(run_page(Path(answer.run)), encoding="utf-8")
    return file


def test_page_opens_offline_and_says_the_answer(page_file: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(page_file.as_uri())
    assert page.inner_text("h1").strip().startswith("3")
    assert page.inner_text(".question") == QUESTION
    assert page.inner_text("#object-count") == "12 of 12"
    assert [url for url in page.requests if not url.startswith("data:")] == [page_file.as_uri()]


def test_page_has_no_serious_fault_of_access(
    page_file: Path, open_page: Callable[..., Any], faults_found: Callable[[Any], list[str]]
) -> None:
    for scheme in ("light", "dark"):
        assert not faults_found(open_page(page_file.as_uri(), color_scheme=scheme))
