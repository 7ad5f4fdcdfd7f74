"""The public sample of questions, end to end; and the page of examples, each of them run."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from changed_town import build_changed_town
from painted_town import Town, build_town

import swath
from swath.agent.offline import OfflinePlanner

ROOT = Path(__file__).resolve().parents[2]


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, loaded)
    spec.loader.exec_module(loaded)
    return loaded


def test_public_sample_is_answered_rightly(shared_questions, tmp_path):
    verdict = module(shared_questions / "score.py").verdict
    missed = []
    for line in (shared_questions / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        image = shared_questions / question["image"]
        answer = swath.ask(
            image,
            question["question"],
            labels=image,
            legend=shared_questions / "legend.json",
            planner="offline",
            out=tmp_path,
            keep="light",
        )
        given = answer.text if answer.status == "answered" else {"refused": True}
        if verdict(question, given) != "correct":
            missed.append((question["id"], answer.text))
    assert missed == []


@pytest.fixture(scope="module")
def examples() -> ModuleType:
    return module(ROOT / "docs" / "questions.py")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_changed_town(tmp_path_factory.mktemp("changed_examples"))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_town(tmp_path_factory.mktemp("examples"))


def test_page_is_that_of_the_planner(examples):
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    assert page == examples.page(), "run `make docs`"


def test_every_example_is_measured(examples, town):
    for questions in examples.SECTIONS.values():
        for question in questions:
            reply = town.run(OfflinePlanner().plan(question, examples.SCENE, None).source)
            assert reply["value"] is not None, question


def test_every_example_of_two_dates_is_measured(examples, changed):
    for question in examples.TWO_DATES:
        reply = changed.run(OfflinePlanner().plan(question, examples.BOTH_DATES, None).source)
        assert reply["value"] is not None, question
