"""Spans of a question, sent by the real command line to a real receiver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swath.testing.llm_server import FakeServer, Reply
from swath.testing.otlp import OtlpReceiver, ReceivedSpan
from swath.trace.telemetry import asked_for

QUESTION = "How many buildings are within 5 m of water?"
STEPS = ["read", "plan", "check", "run", "verify", "answer"]


def ask(village: Any, folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = [sys.executable, "-c", "from swath.cli import main; main()", "ask", str(village.image), QUESTION,
               "--labels", str(village.image), "--legend", str(village.legend), "--out", str(folder), "--json",
               *options]  # fmt: skip
    return subprocess.run(command, env={**known, **variables}, capture_output=True, text=True, check=False)


def by_name(spans: list[ReceivedSpan]) -> dict[str, ReceivedSpan]:
    return {span.name: span for span in spans}


def test_the_spans_of_a_question_lie_in_one_another(village: Any, tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        done = ask(village, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
    assert json.loads(done.stdout)["answer"] == village.near_canal, done.stderr
    spans = by_name(receiver.spans)
    whole, run = spans["swath question"], spans["swath run"]
    assert whole.parent is None
    assert {spans[f"swath {step}"].parent for step in STEPS} == {whole.span_id}
    assert spans["execute_tool segment"].parent == spans["execute_tool near"].parent == run.span_id
    assert {span.trace_id for span in receiver.spans} == {whole.trace_id}
    for span in receiver.spans:
        assert whole.start_ns <= span.start_ns <= span.end_ns <= whole.end_ns
    assert whole.attributes["swath.answer"] == village.near_canal
    assert whole.attributes["swath.status"] == "answered"
    near = spans["execute_tool near"].attributes
    assert near["gen_ai.tool.name"] == "near"
    assert json.loads(near["gen_ai.tool.call.arguments"])["max_distance_m"] == 5
    assert whole.resource["service.name"] == "swath"


def test_words_are_sent_only_where_the_environment_says_so(village: Any, tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        ask(village, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
    assert receiver.spans
    assert QUESTION.encode() not in b"".join(receiver.bodies)
    with OtlpReceiver() as receiver:
        capture = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true", "OTEL_SERVICE_NAME": "mine"}
        ask(village, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, **capture)
    whole = by_name(receiver.spans)["swath question"]
    assert whole.attributes["swath.question"] == QUESTION
    assert whole.resource["service.name"] == "mine"


def test_calls_of_a_model_follow_the_conventions_and_keys_stay_here(village: Any, tmp_path: Path) -> None:
    program = '```python\nb = segment("building")\nreply(count(components(b)), kind="count")\n```'
    with OtlpReceiver() as receiver, FakeServer([Reply(program, usage=(120, 100, 30))]) as server:
        variables = {"SWATH_API_KEY": "sk-secret-0123456789", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint}
        options = ("--planner", "llm", "--model", "tiny", "--base-url", server.base_url)
        done = ask(village, tmp_path, *options, **variables)
    assert receiver.spans, done.stderr
    spans = by_name(receiver.spans)
    call = spans["chat tiny"]
    assert call.parent == spans["swath plan"].span_id
    told = call.attributes
    assert (told["gen_ai.operation.name"], told["gen_ai.request.model"]) == ("chat", "tiny")
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (120, 30)
    assert told["gen_ai.usage.cache_read.input_tokens"] == 100
    assert f"http://{told['server.address']}:{told['server.port']}/v1" == server.base_url
    sent = b"".join(receiver.bodies)
    assert b"sk-secret" not in sent
    assert b"components(b)" not in sent


def test_a_failed_step_is_an_error(village: Any, tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        address = f"{receiver.endpoint}/v1/traces"
        done = ask(village, tmp_path, "--aoi", "missing.gpkg", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=address)
    assert done.returncode == 2
    spans = by_name(receiver.spans)
    assert spans["swath question"].error
    assert spans["swath read"].error
    assert spans["swath read"].parent == spans["swath question"].span_id


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
        {"OTEL_SERVICE_NAME": "mine"},
    ],
)
def test_nothing_is_sent_unasked(variables: dict[str, str]) -> None:
    assert asked_for(variables) is None


def test_a_receiver_that_is_not_there_costs_no_answer(village: Any, tmp_path: Path) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    done = ask(village, tmp_path, **variables)
    assert done.returncode == 0
    assert json.loads(done.stdout)["answer"] == village.near_canal
