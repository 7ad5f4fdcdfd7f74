"""A real small model, end to end; runs where SWATH_TEST_MODEL names its GGUF file (`make check` fetches it).

A model of half a billion parameters is often wrong: what is asked here is that questions come to an honest end, that
most simple ones are right, and that prompts keep their length by the model's own count.
"""

from __future__ import annotations

import json
import os
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import swath
from swath.agent.llm.bound import Bound
from swath.agent.llm.code import Code
from swath.agent.llm.exchange import Schema
from swath.agent.llm.given import given
from swath.agent.llm.local import serve
from swath.agent.llm.structured import Structured
from swath.agent.llm.ways import Task
from swath.agent.planner import Scene
from swath.trace.reading import load_run

MODEL = os.environ.get("SWATH_TEST_MODEL", "")
pytestmark = pytest.mark.skipif(not MODEL, reason="SWATH_TEST_MODEL names no model file")

QUESTIONS: list[tuple[str, Any]] = [
    ("How many buildings are there?", 12),
    ("How many buildings are within 5 m of water?", 3),
    ("What percentage of the image is water?", 100 * 20 / 300),
    ("Is there more water than grass?", "no"),
    ("What is the area of the largest building in m2?", 40.0),
]
LIMITS = {"full": 2_500, "small": 900}


PATIENT = "[llm]\ntimeout_s = 900\n[llm.budget]\nseconds = 3600\n"
"""A busy machine takes minutes for what a calm one does in seconds."""


def test_simple_questions_end_honestly_and_mostly_right(village: Any, tmp_path: Path, nothing_configured: Path) -> None:
    (nothing_configured / "config.toml").write_text(PATIENT, encoding="utf-8")
    right, calls = 0, []
    for question, truth in QUESTIONS:
        answer = swath.ask(village.image, question, planner="llm", model=MODEL, out=tmp_path, keep="light",
                           **village.options)  # fmt: skip
        assert answer.status in ("answered", "refused", "failed")
        assert answer.status == "answered" or answer.reason
        right += answer.answer == (truth if isinstance(truth, str) else pytest.approx(truth))
        calls += load_run(Path(answer.run or "")).record["model_calls"]
    assert right >= 3, f"{right} of {len(QUESTIONS)} right"
    assert all(call["tokens_in"] <= LIMITS["small"] + 150 for call in calls)
    assert max(call["tokens_cached"] for call in calls[1:]) >= 700, "the constant part is not kept in the cache"


def test_the_server_holds_a_model_to_a_schema(village: Any, tmp_path: Path, nothing_configured: Path) -> None:
    (nothing_configured / "config.toml").write_text(
        PATIENT.replace("[llm]\n", '[llm]\nway = "bound-json"\nprofile = "small"\n', 1), encoding="utf-8"
    )
    answer = swath.ask(village.image, "How many buildings are within 5 m of water?", planner="llm", model=MODEL,
                       out=tmp_path, keep="light", **village.options)  # fmt: skip
    assert (answer.status, answer.answer) == ("answered", village.near_canal)
    first = load_run(Path(answer.run or "")).record["model_calls"][0]
    jsonschema.Draft202012Validator(_schema_of(village)).validate(json.loads(first["reply"]))


def _schema_of(village: Any) -> Any:
    classes = tuple(json.loads(Path(village.legend).read_text(encoding="utf-8")).values())
    scene = Scene(classes, (15, 20), (1.0, 1.0), None, "up", (), "labels")
    shape = Bound(as_json=True).shape(Task(given("How many buildings are within 5 m of water?", classes), scene))
    assert isinstance(shape, Schema)
    return shape.schema


@pytest.mark.parametrize("way", [partial(Bound, as_json=True), Code, Structured, Bound])
@pytest.mark.parametrize("profile", ["full", "small"])
def test_system_prompts_keep_their_length(way: Any, profile: str) -> None:
    _, base_url = serve(Path(MODEL).resolve())
    text = way(small=profile == "small").system().text
    asked = urllib.request.Request(
        base_url.removesuffix("/v1") + "/tokenize",
        json.dumps({"content": text}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=60) as reply:
        assert len(json.load(reply)["tokens"]) <= LIMITS[profile]
