"""What a model that looked or guessed has said, read strictly; apart from asking it, so that a replay asks nobody."""

from __future__ import annotations

import re
from typing import Any

from swath.agent.llm.wording import quoted
from swath.agent.planner import Judgement
from swath.trace.reading import Run
from swath.types import Kind

LONGEST_SAID = 2_000
"""Letters of a reply that are kept: a caption has a few hundred."""
MARKED = {
    "look": "Judged by a model that looked at the image, not measured.",
    "blind": "Guessed by a model that was not shown the image, not measured.",
}
"""Name of a planner that judges to the sentence that marks its answers."""
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?")


def judgement(reply: str, planner: str) -> Judgement:
    """Yes, no and bare numbers as such, anything else as text.

    Args:
        reply: what the model said.
        planner: name of the planner that asked it.
    """
    said = quoted(reply.strip(), LONGEST_SAID)
    plain = said.strip(" .\"'`*").lower()
    value: Any = said
    kind: Kind = "text"
    if plain in ("yes", "no"):
        value, kind = plain, "boolean"
    elif _NUMBER.fullmatch(plain):
        number = float(plain.replace(",", ""))
        value, kind = int(number) if number.is_integer() else number, "quantity"
    return Judgement(value, kind, MARKED[planner])


def judged_before(run: Run) -> Judgement | None:
    """What the model of a run is on record with, None where its answer was not judged."""
    planner, calls = str(run.answer.get("planner")), run.record.get("model_calls") or ()
    if run.program is not None or run.status != "answered" or planner not in MARKED or not calls:
        return None
    return judgement(str(calls[-1]["reply"]), planner)
