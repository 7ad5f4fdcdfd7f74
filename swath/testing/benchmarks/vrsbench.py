"""A tiny VRSBench in the official layout: two images, their annotations and the three evaluation files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SIDE_PX = 512
HARBOUR, COURSE = "P0003_0002.png", "00914_0003.png"

OBJECTS: dict[str, list[dict[str, Any]]] = {
    HARBOUR: [
        {
            "obj_id": 0,
            "referring_sentence": "The larger ship at the top-left of the image.",
            "obj_cls": "ship",
            "obj_corner": [0.125, 0.125, 0.375, 0.125, 0.375, 0.25, 0.125, 0.25],
            "obj_coord": [0.125, 0.125, 0.375, 0.25],
            "is_unique": False,
            "obj_position": "top-left",
            "obj_rel_position": "top-most",
            "obj_size": "large",
            "obj_rel_size": "largeest",
            "flag": True,
        },
        {
            "obj_id": 1,
            "referring_sentence": "The smaller ship near the bottom.",
            "obj_cls": "ship",
            "obj_corner": [0.5, 0.75, 0.5625, 0.6875, 0.625, 0.75, 0.5625, 0.8125],
            "obj_coord": [0.5, 0.6875, 0.625, 0.8125],
            "is_unique": False,
            "obj_position": "bottom-middle",
            "obj_rel_position": "bottom-most",
            "obj_size": "",
            "obj_rel_size": "smallest",
            "flag": True,
        },
        {
            "obj_id": 2,
            "referring_sentence": "The only storage tank.",
            "obj_cls": "storage-tank",
            "obj_corner": [0.755, 0.255, 0.757, 0.255, 0.757, 0.385, 0.755, 0.385],
            "obj_coord": [0.755, 0.255, 0.757, 0.385],
            "is_unique": True,
            "obj_position": "right",
            "obj_rel_position": "",
            "obj_size": "small",
            "obj_rel_size": "",
            "flag": True,
        },
    ],
    COURSE: [
        {
            "obj_id": 0,
            "referring_sentence": "The golf field in the middle – “Zoë’s”.",
            "obj_cls": "golffield",
            "obj_corner": [0.25, 0.25, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75],
            "obj_coord": [0.25, 0.25, 0.75, 0.75],
            "is_unique": True,
            "obj_position": "center",
            "obj_rel_position": "",
            "obj_size": "large",
            "obj_rel_size": "",
            "flag": True,
        },
    ],
}
"""One oriented ship, one tank whose official box is 75 to 75 and so has no width, one class in the odd spelling."""

OFFICIAL_BOXES = {HARBOUR: [(12, 12, 37, 25), (50, 68, 62, 81), (75, 25, 75, 38)], COURSE: [(25, 25, 75, 75)]}
"""Worked out by hand: 100 times the bounds of the corners, cut off behind the decimal point."""

CAPTIONS = {
    HARBOUR: "The image shows a harbor with two ships.\nA storage tank stands on the right.",
    COURSE: "The image, sourced from GoogleEarth, shows a golf field.",
}

QUESTIONS = {
    HARBOUR: [
        ("How many ships are visible?", "object quantity", "2"),
        ("Is there a storage tank?", "object existence", "Yes"),
        ("What is the class of the object on the right?", "object category", "storage-tank"),
        ("What color is the tank?", "object color", "white"),
        ("What is the shape of the tank?", "object shape", "round"),
        ("Which ship is larger?", "object size", "the top-left one"),
        ("Where is the tank?", "object position", "right"),
        ("In which direction does the larger ship lie?", "object direction", "east-west"),
    ],
    COURSE: [
        ("Is the image in color?", "image", "Yes"),
        ("Is this rural or urban?", "rural or urban", "rural"),
        ("What is the main scene?", "scene type", "golf course"),
        ("What might people do here?", "reasoning", "play golf"),
    ],
}
"""One question of each of the twelve raw types."""


def write_vrsbench(folder: Path, *, evaluation: bool = True, annotations: bool = True, images: bool = True) -> Path:
    """Write the fake.

    Args:
        folder: where to write; it is made if need be.
        evaluation: whether to write the three evaluation files.
        annotations: whether to write `Annotations_val`; one of its files needs a lenient reader.
        images: whether to write `Images_val`.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if evaluation:
        for name, rows in (("Cap", _captions()), ("referring", _references()), ("vqa", _questions())):
            numbered = [row | {"dataset": "RSBench", "question_id": i} for i, row in enumerate(rows)]
            text = json.dumps(numbered, indent=4, ensure_ascii=False)
            (folder / f"VRSBench_EVAL_{name}.json").write_text(text, encoding="utf-8")
    if annotations:
        _write_annotations(folder / "Annotations_val")
    if images:
        (folder / "Images_val").mkdir(exist_ok=True)
        for name in OBJECTS:
            Image.fromarray(np.full((SIDE_PX, SIDE_PX, 3), 90, dtype=np.uint8)).save(folder / "Images_val" / name)
    return folder


def _write_annotations(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, objects in OBJECTS.items():
        pairs = [
            {"ques_id": i, "question": question, "type": kind, "answer": answer}
            for i, (question, kind, answer) in enumerate(QUESTIONS[name])
        ]
        annotation = {"image": name, "caption": CAPTIONS[name], "objects": objects, "qa_pairs": pairs}
        text = json.dumps(annotation, indent=4)
        if name == COURSE:
            text = text.removesuffix("\n}") + ",\n}  // checked"
        (folder / f"{Path(name).stem}.json").write_text(text, encoding="utf-8")


def _captions() -> list[dict[str, Any]]:
    question = "Describe the image in detail"
    return [
        {"image_id": name, "ground_truth": caption, "question": question, "type": "caption"}
        for name, caption in CAPTIONS.items()
    ]


def _references() -> list[dict[str, Any]]:
    return [
        {
            "image_id": name,
            "question": item["referring_sentence"],
            "ground_truth": "{" + "".join(f"<{bound}>" for bound in box) + "}",
            "type": "ref",
            "unique": item["is_unique"],
            "obj_corner": item["obj_corner"],
            "obj_cls": item["obj_cls"],
            "obj_ids": [0],
            "size_group": item["obj_size"],
        }
        for name, objects in OBJECTS.items()
        for item, box in zip(objects, OFFICIAL_BOXES[name], strict=True)
    ]


def _questions() -> list[dict[str, Any]]:
    return [
        {"image_id": name, "question": question, "ground_truth": answer, "type": kind}
        for name, asked in QUESTIONS.items()
        for question, kind, answer in asked
    ]
