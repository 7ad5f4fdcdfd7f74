"""Finds out what a model can do, by asking it, and how it is best asked.

Whether a server honours a shape is tried with a prompt that asks for something else: only a constrained model obeys.
Whether a way works is tried on a tiny scene whose answers are known.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pyproj
from affine import Affine

from swath.agent.ask import ask
from swath.agent.llm.client import Client
from swath.agent.llm.exchange import Ask, Function, Grammar, Message, Received, Schema, Shape
from swath.agent.llm.local import is_local
from swath.agent.llm.pictures import message_of
from swath.agent.llm.planner import WAYS, LlmPlanner, open_client
from swath.agent.llm.remembered import UNKNOWN, Manner
from swath.agent.llm.settings import Budget, Settings, Way
from swath.agent.planner import PlannerOptions
from swath.errors import ModelError
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.types import Answer

QUESTIONS = (
    ("How many buildings larger than 50 m2 are within 10 m of water?", 2),
    ("How many hectares is water?", 0.06),
)
NUMBER = {
    "type": "object",
    "properties": {"number": {"type": "integer", "enum": [7]}},
    "required": ["number"],
    "additionalProperties": False,
}
PROBING = Budget(calls=100, tokens=200_000, seconds=1_800.0)
SMALL_CONTEXT = 8_192
SHORT = 40
"""Tokens of a reply to a probe."""


@dataclass(frozen=True)
class Finding:
    """What one probe found.

    Attributes:
        what: what was tried.
        works: whether it works; None where nobody says.
        detail: in words.
        tokens: longest conversation, where that was asked.
    """

    what: str
    works: bool | None
    detail: str = ""
    tokens: int | None = None


@dataclass(frozen=True)
class Report:
    """What a model can do.

    Attributes:
        findings: one for each probe, in order.
        manner: how it is best asked; None where it did not answer at all.
    """

    findings: tuple[Finding, ...]
    manner: Manner | None


def check(settings: Settings, listen: Callable[[str], None] = lambda what: None) -> Report:
    """Probe a model.

    Args:
        settings: the model.
        listen: told what is tried next.

    Raises:
        InputError: its file cannot be loaded.
    """
    client = open_client(replace(settings, budget=PROBING))
    listen("answers")
    first = _answers(client)
    if not first.works:
        return Report((first,), None)
    findings = [first, _context(client)]
    for what, probe in PROBES.items():
        listen(what)
        findings.append(probe(client))
    trials: dict[str, tuple[int, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        options = _scene(Path(folder))
        for way in WAYS:
            listen(f"the way {way}")
            finding, trials[way] = _trial(way, client.settings, options)
            findings.append(finding)
    findings.append(_speed(client))
    return Report(tuple(findings), _manner(findings, trials, small=is_local(settings)))


def _said(client: Client, prompt: str | Message, shape: Shape = None) -> Received | ModelError:
    message = {"role": "user", "content": prompt} if isinstance(prompt, str) else prompt
    try:
        return client.ask(Ask((message,), shape, SHORT, "check"))
    except ModelError as fault:
        return fault


def _answers(client: Client) -> Finding:
    said = _said(client, "Reply with the word ok.")
    cut_off = client.calls[-1].reply != ""  # a chatty model answers, too
    return Finding("answers", not isinstance(said, ModelError) or cut_off, str(said) if not cut_off else "")


def _context(client: Client) -> Finding:
    """What the server's list of models says of the length of a conversation."""
    with suppress(openai.OpenAIError, ValueError):
        for model in client.library.models.list():
            known = {**(model.model_extra or {}), **((model.model_extra or {}).get("meta") or {})}
            found = next((known[key] for key in ("max_model_len", "context_length", "n_ctx") if known.get(key)), None)
            if model.id == client.settings.model and isinstance(found, int):
                return Finding("context", None, f"{found:,} tokens", found)
    return Finding("context", None, "the server does not say")


def _schema(client: Client) -> Finding:
    said = _said(client, "Write a short poem about rain.", Schema("number", NUMBER))
    return Finding("JSON schema", _is_seven(said))


def _tools(client: Client) -> Finding:
    said = _said(client, "Write a short poem about rain.", Function("number", "Takes a number.", NUMBER))
    return Finding("tool calls", _is_seven(said))


def _is_seven(said: Received | ModelError) -> bool:
    with suppress(ValueError):
        return isinstance(said, Received) and json.loads(said.text) == {"number": 7}
    return False


def _grammar(client: Client) -> Finding:
    said = _said(client, "Write a short poem about rain.", Grammar('root ::= "zebra-" [0-9]{3,3}\n'))
    return Finding("GBNF grammar", isinstance(said, Received) and bool(re.fullmatch(r"zebra-\d{3}", said.text.strip())))


def _vision(client: Client) -> Finding:
    picture = np.full((64, 64, 3), (220, 0, 0), dtype=np.uint8)
    said = _said(client, message_of("Which colour is this picture? Reply with one word.", picture))
    return Finding("vision", isinstance(said, Received) and "red" in said.text.lower())


PROBES: dict[str, Callable[[Client], Finding]] = {
    "JSON schema": _schema, "tool calls": _tools, "GBNF grammar": _grammar, "vision": _vision,
}  # fmt: skip


def _scene(folder: Path) -> dict[str, Any]:
    """60 x 60 m with a canal of 10 x 60 m, two houses of 64 m2 beside it, one away from it and a shed."""
    labels = np.full((60, 60), 3, dtype=np.uint8)
    labels[:, 5:15] = 2
    for row, col, size in ((5, 18, 8), (20, 18, 8), (40, 45, 8), (40, 18, 4)):
        labels[row : row + size, col : col + size] = 1
    image, legend = folder / "scene.tif", folder / "legend.json"
    write_array(image, labels, Grid(Affine(1, 0, 500_000, 0, -1, 5_000_000), labels.shape, pyproj.CRS(32631)))
    legend.write_text('{"1": "building", "2": "water", "3": "grass"}', encoding="utf-8")
    return {"image": image, "labels": image, "legend": legend, "out": folder / "runs", "keep": "light"}


def _trial(way: str, settings: Settings, options: dict[str, Any]) -> tuple[Finding, tuple[int, int]]:
    """Two questions in a way: what came of it, and (how many were right, how many of these at once)."""
    right = at_once = 0
    for question, truth in QUESTIONS:
        planner = LlmPlanner(PlannerOptions(), way=way, found=settings)
        answer = ask(question=question, planner=planner, **options)
        if _is(answer, truth):
            right += 1
            at_once += len(planner.usage().calls) == 1
    return Finding(f"the way {way}", right == len(QUESTIONS), f"{right} of {len(QUESTIONS)} right"), (right, at_once)


def _is(answer: Answer, truth: float) -> bool:
    return isinstance(answer.answer, int | float) and abs(answer.answer - truth) < 1e-9


def _speed(client: Client) -> Finding:
    written = sum(call.tokens_out or 0 for call in client.calls)
    seconds = sum(call.seconds for call in client.calls)
    said = f"{written / seconds:.1f} tokens a second" if written and seconds else "the server does not count tokens"
    return Finding("speed", None, said)


def _manner(findings: list[Finding], trials: dict[str, tuple[int, int]], *, small: bool) -> Manner:
    """Free code where it works at once; else the way with most right that the server can hold a model to."""
    found = {finding.what: finding for finding in findings}
    tokens = found["context"].tokens
    tight = small or (tokens is not None and tokens <= SMALL_CONTEXT)
    vision = bool(found["vision"].works)
    if trials["code"][1] == len(QUESTIONS) and not tight:
        return replace(UNKNOWN, vision=vision)
    held: dict[Way, bool | None] = {
        "bound": found["GBNF grammar"].works, "structured": found["JSON schema"].works,
        "tools": found["tool calls"].works, "bound-json": found["JSON schema"].works, "code": True,
    }  # fmt: skip
    best = max((way for way, holds in held.items() if holds), key=lambda way: trials[way])
    return Manner(best, "small" if tight or best.startswith("bound") else "full", vision)
