"""The writer that asks a language model: it sees the measured attributes, never the picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import jsonschema

from swath.agent.llm.client import Client
from swath.agent.llm.exchange import Ask, Schema
from swath.agent.llm.planner import model_settings, open_client
from swath.agent.planner import PlannerOptions
from swath.errors import ModelError
from swath.eval.annotate import describing, questioning, referring
from swath.eval.annotate.attributes import Attributes
from swath.eval.annotate.filters import excuse
from swath.eval.annotate.patches import Patch
from swath.eval.annotate.statements import Statement, wordings
from swath.prompts import Prompt, render

MOST_TRIES = 5
"""How often a patch is asked for again where the reply is no such object or makes excuses, as VRSBench did."""

LONGEST_REPLY = 2_500
LONGEST_SENTENCE = 400

TYPES = tuple(wordings()["questions"])

_TEXT = {"type": "string", "maxLength": LONGEST_SENTENCE}


def _list_of(**fields: Any) -> dict[str, Any]:
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "array", "items": item}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "referring": _list_of(obj_id={"type": "integer"}, sentence=_TEXT),
        "caption": {"type": "array", "items": _TEXT},
        "qa": _list_of(question=_TEXT, type={"enum": list(TYPES)}, answer={**_TEXT, "maxLength": 60}),
    },
    "required": ["referring", "caption", "qa"],
    "additionalProperties": False,
}


class ModelWriter:
    """Has a language model write about patches.

    Attributes:
        calls: a record of every call, with its tokens and cost.
    """

    def __init__(self, options: PlannerOptions) -> None:
        """Find out which model is meant; nothing is sent yet.

        Raises:
            InputError: no model is named, or the configuration cannot be used.
        """
        self._settings = model_settings(options)
        self._opened: Client | None = None
        self.calls: list[Any] = []

    def write(self, patch: Patch, about: Sequence[Attributes]) -> list[Statement]:
        """Statements about a patch, unchecked; sentences that make excuses are asked for again.

        Raises:
            ModelError: the model cannot be asked, or never sends such an object.
        """
        if self._opened is None:
            self._opened = open_client(self._settings)
        client, best = Client(self._opened.settings), None
        prompt = prompt_for(patch, about)
        for _ in range(MOST_TRIES):
            asked = Ask(
                ({"role": "user", "content": prompt.text},), Schema("annotation", SCHEMA), LONGEST_REPLY, "annotate"
            )
            try:
                statements = _statements(client.ask(asked).text, patch)
            finally:
                self.calls += client.calls
                client.calls.clear()
            if statements is not None and not any(map(excuse, statements)):
                return statements
            best = statements or best
        if best is None:
            raise ModelError(
                f"The model {self._settings.model} sent no annotation of {patch.name} in {MOST_TRIES} tries. "
                "Next: try another model, or the offline writer."
            )
        return best


def prompt_for(patch: Patch, about: Sequence[Attributes]) -> Prompt:
    """What is asked about a patch: its objects with their attributes, numbers cut to what a sentence can say."""
    objects = [
        {"obj_id": own.id, "class": own.class_name, "refer": not said.excluded,
         **{name: value for name, value in asdict(said).items() if value not in (None, "") and name != "excluded"}}
        for own, said in zip(patch.objects, about, strict=True)
    ]  # fmt: skip
    facts = {"width_px": patch.size[0], "height_px": patch.size[1], "pixel_size_m": patch.gsd_m, "objects": objects}
    return render(
        "annotate.md",
        facts=json.dumps(facts, ensure_ascii=False).replace("DATA", "Data"),
        most_referring=referring.MOST,
        least_caption=describing.LEAST,
        most_caption=describing.MOST,
        least_questions=questioning.LEAST,
        most_questions=questioning.MOST,
        types=TYPES,
    )


def _statements(reply: str, patch: Patch) -> list[Statement] | None:
    """What a reply says; None where it is no such object."""
    try:
        found = json.loads(reply)
        jsonschema.validate(found, SCHEMA)
    except (ValueError, RecursionError, jsonschema.ValidationError):
        return None
    numbers = {own.id for own in patch.objects}
    references = [item for item in found["referring"] if item["obj_id"] in numbers][: referring.MOST]
    return [
        *(Statement("referring", item["sentence"].strip(), "model", objects=(item["obj_id"],)) for item in references),
        *(Statement("caption", text.strip(), "model") for text in found["caption"][: describing.MOST]),
        *(
            Statement("question", item["question"].strip(), item["type"], answer=item["answer"].strip())
            for item in found["qa"][: questioning.MOST]
        ),
    ]
