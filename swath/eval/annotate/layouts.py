"""The files of a data set: VRSBench's annotations and evaluation files, SQuID's rows, where each patch comes from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from swath.eval.annotate.attributes import Attributes
from swath.eval.annotate.patches import Patch, PatchObject
from swath.eval.annotate.statements import Statement
from swath.eval.vrsbench.annotations import CAPTION_QUESTION
from swath.segment.boxes import cells_of, official_text

SPELLINGS = {"golf field": "golffield", "train station": "trainstation"}
"""How VRSBench spells what our classes call by two words; others get hyphens."""

REL_SIZES = {"largest": "largeest", "smallest": "smallest", "": ""}
"""As the published annotations spell them."""

SPLITS = ("train", "val")
TIERS = {"count": 1, "area": 1, "distance": 2}
SQUID_TYPES = {"count": "count", "area": "total_area", "distance": "proximity_distance"}


@dataclass(frozen=True)
class Annotated:
    """A patch with all that is said of it.

    Attributes:
        patch: the patch.
        split: "train" or "val".
        about: attributes of its objects, in order.
        statements: what was kept.
        dropped: what was not, each with the filter or the check that dropped it.
        seconds: how long it took.
    """

    patch: Patch
    split: str
    about: tuple[Attributes, ...]
    statements: tuple[Statement, ...]
    dropped: tuple[tuple[str, Statement], ...]
    seconds: float

    def of_kind(self, kind: str) -> list[Statement]:
        """The kept statements of one kind."""
        return [statement for statement in self.statements if statement.kind == kind]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "patch": self.patch.to_json(),
            "split": self.split,
            "about": [asdict(own) for own in self.about],
            "statements": [own.to_json() for own in self.statements],
            "dropped": [[why, own.to_json()] for why, own in self.dropped],
            "seconds": self.seconds,
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Annotated:
        """What `to_json` wrote."""
        return cls(
            Patch.of_json(found["patch"]),
            found["split"],
            tuple(Attributes(**own) for own in found["about"]),
            tuple(map(Statement.of_json, found["statements"])),
            tuple((why, Statement.of_json(own)) for why, own in found["dropped"]),
            found["seconds"],
        )


def spelled(name: str) -> str:
    """A class as VRSBench writes it: "storage-tank", "golffield"."""
    return SPELLINGS.get(name, name.replace(" ", "-"))


def annotation(found: Annotated) -> dict[str, Any]:
    """One image's annotation, with VRSBench's keys in VRSBench's order."""
    sentences = {own.objects[0]: own.text for own in found.of_kind("referring")}
    return {
        "caption": " ".join(own.text for own in found.of_kind("caption")),
        "image": f"{found.patch.name}.png",
        "objects": [
            _object(own, about, found.patch, sentences.get(own.id, ""))
            for own, about in zip(found.patch.objects, found.about, strict=True)
        ],
        "qa_pairs": [
            {"ques_id": number, "question": own.text, "type": own.type, "answer": own.answer}
            for number, own in enumerate(found.of_kind("question"))
        ],
    }


def _object(own: PatchObject, about: Attributes, patch: Patch, sentence: str) -> dict[str, Any]:
    return {
        "obj_id": own.id,
        "referring_sentence": sentence,
        "obj_cls": spelled(own.class_name),
        "obj_corner": _shares(own.corners, patch.size),
        "obj_coord": _shares(own.box, patch.size),
        "is_unique": about.is_unique,
        "obj_position": about.position,
        "obj_rel_position": about.rel_position,
        "obj_size": about.size,
        "obj_rel_size": REL_SIZES[about.rel_size],
        "flag": not about.excluded,
    }


def _shares(numbers: Iterable[float], size: tuple[int, int]) -> list[float]:
    """Coordinates as shares of width and height, from 0 to 1, with six decimals."""
    return [round(min(max(value / size[i % 2], 0.0), 1.0), 6) for i, value in enumerate(numbers)]


def evaluation_rows(patches: Iterable[Annotated], dataset: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of the three evaluation files, by file name."""
    rows: dict[str, list[dict[str, Any]]] = {
        "VRSBench_EVAL_Cap.json": [], "VRSBench_EVAL_referring.json": [], "VRSBench_EVAL_vqa.json": []
    }  # fmt: skip
    captions, references, questions = rows.values()
    for found in patches:
        image = {"image_id": f"{found.patch.name}.png"}
        whole = annotation(found)
        text = {"question": CAPTION_QUESTION, "ground_truth": whole["caption"], "dataset": dataset}
        captions.append({**image, **text, "question_id": len(captions), "type": "caption"})
        for own in whole["objects"]:
            if own["referring_sentence"]:
                references.append({**image, **_reference(own, dataset), "question_id": len(references), "type": "ref"})
        for pair in whole["qa_pairs"]:
            asked = {"question": pair["question"], "ground_truth": pair["answer"], "dataset": dataset}
            questions.append({**image, **asked, "question_id": len(questions), "type": pair["type"]})
    return rows


def _reference(own: Mapping[str, Any], dataset: str) -> dict[str, Any]:
    return {
        "question": own["referring_sentence"],
        "ground_truth": official_text(cells_of(own["obj_corner"])),
        "dataset": dataset,
        "unique": own["is_unique"],
        "obj_corner": own["obj_corner"],
        "obj_cls": own["obj_cls"],
        "obj_ids": [own["obj_id"]],
        "size_group": own["obj_size"],
    }


def quantity_rows(patches: Iterable[Annotated]) -> list[dict[str, Any]]:
    """Quantitative questions as SQuID's rows, each with its acceptable range."""
    rows: list[dict[str, Any]] = []
    for found in patches:
        gsd_m = found.patch.gsd_m
        stated = "" if gsd_m is None else f" (GSD: {gsd_m:g}m)"
        for own in found.of_kind("quantity"):
            rows.append({
                "id": f"{found.patch.name}:{len(rows)}",
                "image": f"Images_{found.split}/{found.patch.name}.png",
                "question": f"{own.text}{stated}",
                "answer": own.answer,
                "type": SQUID_TYPES[own.type],
                "tier": TIERS[own.type],
                "gsd": gsd_m,
                "acceptable_range_lower": own.low,
                "acceptable_range_upper": own.high,
            })  # fmt: skip
    return rows


def write_json(file: Path, found: Any) -> None:
    """Write a file whole or not at all."""
    partial = file.with_name(f".{file.name}.part")
    partial.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    partial.replace(file)
