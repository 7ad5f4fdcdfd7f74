"""In what two runs differ: question, image, inputs, program, answer, and the first call that went another way."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swath.trace.reading import Run
from swath.trace.strict_json import json_text
from swath.trace.wording import call_words, harmless, result_words, value_words

ANSWER_FIELDS = (
    "status", "answer", "kind", "unit", "text", "interval", "warnings", "reason", "reading", "method", "crs",
)  # fmt: skip

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Difference:
    """What differs between two runs; empty parts do not.

    Attributes:
        first: id of the one.
        second: id of the other.
        question: both questions, None where they are the same.
        image: path and sha256 of both images, where the sha256 differs.
        inputs: per option that differs, both values; planner and segmenter among them.
        program: lines of a unified diff.
        answer: per field that differs, both values.
        steps: the calls that differ: both as {step, call, result}, None where the other run has no such call.
    """

    first: str
    second: str
    question: Pair | None
    image: Pair | None
    inputs: dict[str, Pair]
    program: tuple[str, ...]
    answer: dict[str, Pair]
    steps: tuple[Pair, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.question or self.image or self.inputs or self.program or self.answer or self.steps)

    def to_json(self) -> dict[str, Any]:
        """The difference as one JSON-ready object."""
        return {
            "first": self.first,
            "second": self.second,
            "same": self.same,
            "question": _listed(self.question),
            "image": _listed(self.image),
            "inputs": {name: list(pair) for name, pair in self.inputs.items()},
            "program": list(self.program),
            "answer": {name: list(pair) for name, pair in self.answer.items()},
            "steps": [list(pair) for pair in self.steps],
        }

    @property
    def text(self) -> str:
        """The difference for people: "-" is the first run, "+" the second."""
        lines = [f"- {self.first}", f"+ {self.second}"]
        if self.same:
            return "\n".join([*lines, "", "no difference in question, image, inputs, program, answer and calls"])
        return "\n".join([*lines, *self._sections()])

    def _sections(self) -> Iterator[str]:
        pairs = {"question": self.question, "image": self.image} | {f"answer: {k}": v for k, v in self.answer.items()}
        pairs |= {f"input: {name}": pair for name, pair in self.inputs.items()}
        for name, pair in pairs.items():
            if pair is not None:
                yield from ("", harmless(name), f"  - {value_words(pair[0])}", f"  + {value_words(pair[1])}")
        if self.program:
            yield from ("", "program", *(f"  {harmless(line)}" for line in self.program))
        if self.steps:
            yield from ("", "calls")
        for pair in self.steps:
            for sign, step in zip("-+", pair, strict=True):
                if step is not None:
                    yield f"  {sign} {step['step']:>3}  {step['call']}  ->  {step['result']}"


def diff(first: Run, second: Run) -> Difference:
    """Compare two runs.

    Raises:
        InputError: a file of one of them is missing or broken.
    """
    one, other = first.record, second.record
    images = tuple({"path": run["image"].get("path"), "sha256": run["image"].get("sha256")} for run in (one, other))
    return Difference(
        first.id,
        second.id,
        None if first.question == second.question else (first.question, second.question),
        None if images[0]["sha256"] == images[1]["sha256"] else (images[0], images[1]),
        _changed(_inputs(one), _inputs(other)),
        _program_lines(first, second),
        _changed(*({name: run.answer.get(name) for name in ANSWER_FIELDS} for run in (first, second))),
        tuple(_changed_steps(_calls(first), _calls(second))),
    )


def _listed(pair: Pair | None) -> list[Any] | None:
    return None if pair is None else list(pair)


def _inputs(record: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: record.get(name) for name in ("planner", "segmenter", "conventions", "swath")}
    return {**record.get("inputs", {}), **named}


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Pair]:
    pairs = {name: (one.get(name), other.get(name)) for name in {**one, **other}}
    return {name: pair for name, pair in pairs.items() if json_text(pair[0]) != json_text(pair[1])}


def _program_lines(first: Run, second: Run) -> tuple[str, ...]:
    before, after = ((run.program or "").splitlines() for run in (first, second))
    return tuple(difflib.unified_diff(before, after, "program.py", "program.py", lineterm="", n=2))


def _calls(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "step": step.get("step"),
            "call": call_words(step),
            "result": step.get("error") or result_words(step.get("result")),
        }
        for step in run.steps
        if step.get("kind") == "tool"
    ]


def _changed_steps(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> Iterator[Pair]:
    """Calls paired by what was called; those that only one run made, and those that gave something else."""
    names = [[step["call"] for step in steps] for steps in (first, second)]
    matcher = difflib.SequenceMatcher(a=names[0], b=names[1], autojunk=False)
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal":
            pairs = zip(first[a0:a1], second[b0:b1], strict=True)
            yield from ((a, b) for a, b in pairs if a["result"] != b["result"])
            continue
        longer = max(a1 - a0, b1 - b0)
        for k in range(longer):
            yield first[a0 + k] if a0 + k < a1 else None, second[b0 + k] if b0 + k < b1 else None
