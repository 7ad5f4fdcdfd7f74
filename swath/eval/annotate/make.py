"""Boxes and images made into a data set, patch by patch; what is done stays done when the work is interrupted."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from swath.agent.offline import OfflinePlanner
from swath.agent.planner import Planner, PlannerOptions
from swath.errors import InputError
from swath.eval.annotate.attributes import Attributes, attributes, size_limits
from swath.eval.annotate.card import write_card
from swath.eval.annotate.checking import checked
from swath.eval.annotate.describing import describe
from swath.eval.annotate.filters import DUPLICATE, dropped_by, unlike
from swath.eval.annotate.layouts import SPLITS, Annotated, annotation, evaluation_rows, quantity_rows, write_json
from swath.eval.annotate.measuring import Measuring
from swath.eval.annotate.patches import Cut, Patch, cut, write_detections
from swath.eval.annotate.questioning import ask_about, quantities
from swath.eval.annotate.referring import refer
from swath.eval.annotate.sources import pairs, read_merging, read_source
from swath.eval.annotate.statements import Statement

DETECTIONS, WORK, SETTINGS, PATCHES, NOTES = "detections", "patches", "settings.json", "patches.json", "notes.json"
QUANTITIES = "quantities.jsonl"
DIFFERS, UNREAD = "measured otherwise", "read by no planner"


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    Attributes:
        boxes: annotation file, or folder of such files.
        images: folder of images.
        legend: names of the values of label maps.
        label_class: class of a vector file without a class column.
        classes: JSON file that says which class becomes which.
        gsd_m: ground size in metres of a pixel, where images state none.
        cut: sizes of patches.
        seed: the same seed and files give the same sentences.
        test_share: share of the source images that make the test split.
        dataset: name of the data set.
        source: where the images come from, for the card.
        licence: under which terms they may be used, for the card.
        writer: "offline", or "model".
        planner_options: the model of the writer.
    """

    boxes: Path
    images: Path
    legend: Path | None = None
    label_class: str | None = None
    classes: Path | None = None
    gsd_m: float | None = None
    cut: Cut = field(default_factory=Cut)
    seed: int = 0
    test_share: float = 0.3
    dataset: str = "annotated"
    source: str = "not stated"
    licence: str = "not stated"
    writer: str = "offline"
    planner_options: PlannerOptions = field(default_factory=PlannerOptions)

    def to_json(self) -> dict[str, Any]:
        """The settings that decide what is made."""
        shown = {name: str(value) if isinstance(value, Path) else value for name, value in vars(self).items()}
        return {**shown, "cut": vars(self.cut), "planner_options": {"model": self.planner_options.model}}


Listener = Callable[[int, int, str], None]
"""Told how many patches are done, of how many, and the name of the last."""


class Writer(Protocol):
    """Who writes about a patch."""

    def write(self, patch: Patch, about: Sequence[Attributes]) -> list[Statement]:
        """Statements, unchecked."""
        ...


def annotate(wanted: Wanted, out: Path, *, resume: bool = False, listen: Listener | None = None) -> list[Annotated]:
    """Make a data set.

    Args:
        wanted: of what, and how.
        out: folder to write to.
        resume: go on with an interrupted one.
        listen: told after every patch.

    Returns:
        What was made of each patch.

    Raises:
        InputError: a file or an option cannot be used, or the folder holds something else.
        ModelError: the model that writes cannot be asked.
    """
    _begin(wanted, out, resume)
    patches = _cut_all(wanted, out)
    names = sorted({own.class_name for patch in patches for own in patch.objects})
    limits = size_limits(patches)
    writer = _model_writer(wanted.planner_options) if wanted.writer == "model" else None
    planner = OfflinePlanner()
    found = []
    for number, patch in enumerate(patches, start=1):
        file = out / WORK / f"{patch.name}.json"
        if not file.exists():
            made = _of_patch(patch, out, wanted, names, limits, writer, planner)
            write_json(file, made.to_json())
        found.append(Annotated.of_json(json.loads(file.read_text(encoding="utf-8"))))
        if listen is not None:
            listen(number, len(patches), patch.name)
    write_files(found, out, wanted.dataset)
    write_card(found, out, wanted.to_json())
    return found


def _model_writer(options: PlannerOptions) -> Writer:
    try:
        from swath.eval.annotate.model import ModelWriter
    except ImportError:
        raise InputError("--writer model needs the package openai. Next: pip install 'swath[llm]'.") from None
    return ModelWriter(options)


def _begin(wanted: Wanted, out: Path, resume: bool) -> None:
    settings = json.loads(json.dumps(wanted.to_json()))
    file = out / SETTINGS
    if (out / PATCHES).exists():
        if not resume:
            raise InputError(f"{out} holds a data set already. Next: give another --out, or go on with --resume.")
        if json.loads(file.read_text(encoding="utf-8")) != settings:
            raise InputError(f"{out} was begun with other options. Next: give the same ones, or another --out.")
    elif out.exists() and any(out.iterdir()) and not file.exists():
        raise InputError(f"{out} is not empty. Next: give a new folder.")
    for name in (
        DETECTIONS,
        WORK,
        *(f"Images_{split}" for split in SPLITS),
        *(f"Annotations_{split}" for split in SPLITS),
    ):
        (out / name).mkdir(parents=True, exist_ok=True)
    write_json(file, settings)


def split_of(source: str, wanted: Wanted) -> str:
    """The split of a source image: all its patches lie in one."""
    digest = hashlib.sha256(f"{wanted.seed}:{source}".encode()).digest()
    return "val" if int.from_bytes(digest[:8]) / 2**64 < wanted.test_share else "train"


def _cut_all(wanted: Wanted, out: Path) -> list[Patch]:
    """Every patch, cut once: a list on disk says which there are."""
    file = out / PATCHES
    if not file.exists():
        merging, patches, notes = read_merging(wanted.classes), [], {}
        for image, boxes in pairs(wanted.images, wanted.boxes):
            source = read_source(
                image, boxes, legend=wanted.legend, label_class=wanted.label_class, gsd_m=wanted.gsd_m, merging=merging
            )
            if source.notes:
                notes[image.name] = list(source.notes)
            patches += list(cut(source, wanted.cut, out / f"Images_{split_of(image.name, wanted)}"))
        if not patches:
            raise InputError(f"No patch of the images in {wanted.images} holds an object. Next: check --boxes.")
        write_json(out / NOTES, notes)
        write_json(file, [patch.to_json() for patch in patches])
    return [Patch.of_json(found) for found in json.loads(file.read_text(encoding="utf-8"))]


def _of_patch(
    patch: Patch,
    out: Path,
    wanted: Wanted,
    names: Sequence[str],
    limits: Mapping[str, tuple[float, float]],
    writer: Writer | None,
    planner: Planner,
) -> Annotated:
    started, split = time.perf_counter(), split_of(patch.source, wanted)
    detections = out / DETECTIONS / f"{patch.name}.geojson"
    write_detections(patch, names, detections)
    measuring = Measuring(out / f"Images_{split}" / f"{patch.name}.png", detections, patch.gsd_m)
    about = attributes(patch, measuring.site, limits)
    rng = random.Random(f"{wanted.seed}:{patch.name}")  # noqa: S311 - choices of wording
    if writer is None:
        said = [
            *refer(patch, about, measuring, rng),
            *describe(patch, measuring, rng),
            *ask_about(patch, about, measuring, rng, names),
        ]
    else:
        said = writer.write(patch, about)
    said += quantities(patch, measuring, rng)
    kept, dropped = _sifted(said, measuring, planner)
    return Annotated(patch, split, tuple(about), tuple(kept), tuple(dropped), time.perf_counter() - started)


def _sifted(
    said: Sequence[Statement], measuring: Measuring, planner: Planner
) -> tuple[list[Statement], list[tuple[str, Statement]]]:
    """What passes every filter and check, and the rest with what dropped it; captions are held by their facts."""
    dropped: list[tuple[str, Statement]] = []
    passed: list[Statement] = []
    for statement in said:
        why = dropped_by(statement)
        if why is None:
            passed.append(statement)
        else:
            dropped.append((why, statement))
    passed, twice = unlike(passed)
    dropped += [(DUPLICATE, statement) for statement in twice]
    kept = []
    for statement in (checked(own, measuring, planner) for own in passed):
        unread = statement.status == "unread" and statement.kind == "referring"
        if statement.status == "differs" or unread:
            dropped.append((UNREAD if unread else DIFFERS, statement))
        else:
            kept.append(statement)
    return kept, dropped


def write_files(found: Sequence[Annotated], out: Path, dataset: str) -> None:
    """Write the annotations of each patch, the evaluation files of the test split and the quantities."""
    for made in found:
        write_json(out / f"Annotations_{made.split}" / f"{made.patch.name}.json", annotation(made))
    test = [made for made in found if made.split == "val"]
    for name, rows in evaluation_rows(test, dataset).items():
        write_json(out / name, rows)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in quantity_rows(test))
    (out / QUANTITIES).write_text(lines, encoding="utf-8")
