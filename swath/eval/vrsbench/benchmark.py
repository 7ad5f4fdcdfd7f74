"""VRSBench's three tasks as benchmarks, from the official evaluation files or from the annotations of each image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.vrsbench.annotations import rows_of, write_detections
from swath.raster.reader import open_raster
from swath.segment.annotated.vrsbench import corners_of, read_annotation
from swath.segment.boxes import CELLS, box_px, cells_in, corners_px
from swath.segment.rows import Row, json_array, once, shown

IMAGES = "Images_val"
ANNOTATIONS = ("Annotations_val", "Annotation_val")
SIDE_PX = 512
"""Rows and columns of every image, for rows whose image is not there."""

TYPES = {
    "object category": "object category",
    "object existence": "object existence",
    "object quantity": "object quantity",
    "object color": "object color",
    "object shape": "object shape",
    "object size": "object size",
    "object position": "object position",
    "object direction": "object direction",
    "scene type": "scene type",
    "image": "scene type",
    "rural or urban": "scene type",
    "reasoning": "reasoning",
}
"""The twelve types of questions in the files, and the ten that the tables report."""


class Folder:
    """VRSBench as unpacked from its archives.

    Attributes:
        file: the official evaluation file of one task, None where there are only annotations.
        annotations: the folder of annotations, None where there is none.
        images: the folder of images.
    """

    def __init__(self, folder: Path, file: str, cache: Path | None = None) -> None:
        """Look at what is there.

        Args:
            folder: holds the evaluation file, `Images_val` and `Annotations_val`; one of the first and last may lack.
            file: name of the evaluation file.
            cache: folder for the detections of oracle runs; without it no case has any.

        Raises:
            InputError: there is neither the evaluation file nor annotations.
        """
        found = [folder / name for name in ANNOTATIONS if (folder / name).is_dir()]
        self.file = folder / file if (folder / file).is_file() else None
        self.annotations = found[0] if found else None
        self.images = folder / IMAGES
        self._cache = cache
        self._exact: dict[str, dict[str, Any]] = {}
        self._sizes: dict[Path, tuple[int, int]] = {}
        if self.file is None and self.annotations is None:
            raise InputError(
                f"{folder} holds neither {file} nor a folder {ANNOTATIONS[0]}. "
                "Next: unpack the official files there, or give the folder that holds them."
            )

    def rows(self, task: str) -> Iterator[tuple[str, Row]]:
        """Names and rows of one task.

        Raises:
            InputError: a file is damaged, or two rows have one id.
        """
        rows = json_array(self.file) if self.file else rows_of(self.annotations or self.images, task)
        yield from once(rows, lambda row: row.identity("question_id"))

    def image(self, row: Row) -> Path:
        """A row's image.

        Raises:
            InputError: its name is no plain file name, or `Images_val` is there and lacks it.
        """
        image = row.inside("image_id", self.images)
        if image.parent != self.images or image.name != row.values["image_id"]:
            raise row.fault("image_id", "is no plain file name")
        return row.present("image_id", self.images) if self.images.is_dir() else image

    def size(self, image: Path) -> tuple[int, int]:
        """Width and height of an image in pixels; those of the data set where it is not there.

        Raises:
            InputError: the image cannot be read.
        """
        if image not in self._sizes:
            rows, cols = open_raster(image).shape if image.is_file() else (SIDE_PX, SIDE_PX)
            self._sizes[image] = (cols, rows)
        return self._sizes[image]

    def case(self, row: Row, **values: Any) -> Case:
        """A case with what all three tasks share."""
        image = self.image(row)
        values["extras"] = {"source": _source(image.name)} | values.get("extras", {})
        return Case(image=image, question=row.text("question"), exact=self._detections(image), **values)

    def _detections(self, image: Path) -> dict[str, Any]:
        if self._cache is None or self.annotations is None:
            return {}
        if image.stem not in self._exact:
            file = self.annotations / f"{image.stem}.json"
            out = self._cache / "vrsbench" / f"{image.stem}.geojson"
            written = file.is_file() and write_detections(read_annotation(file), *self.size(image), out)
            self._exact[image.stem] = {"labels": out} if written else {}
        return self._exact[image.stem]


class Captions:
    """The benchmark `vrsbench-cap`: a detailed description of an image."""

    name = "vrsbench-cap"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per image; its truth is the list of its one reference.

        Raises:
            InputError: the folder is no VRSBench, or a row cannot be used.
        """
        files = Folder(folder, "VRSBench_EVAL_Cap.json", cache)
        for name, row in files.rows("caption"):
            truth = [row.text("ground_truth").strip().replace("\n", " ")]  # as the official code reads both sides
            yield files.case(row, id=name, truth=truth, type="caption", metrics=("caption",))


class Referring:
    """The benchmark `vrsbench-ref`: the horizontal box of the object that a sentence refers to."""

    name = "vrsbench-ref"
    metrics: tuple[str, ...] = ("box:official-0.5", "box:official-0.7", "box:0.5", "box:0.7")

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per sentence; the official box is in the extras.

        Raises:
            InputError: the folder is no VRSBench, or a row cannot be used.
        """
        files = Folder(folder, "VRSBench_EVAL_referring.json", cache)
        for name, row in files.rows("ref"):
            size = files.size(files.image(row))
            truth, extras = self._truth(corners_of(row), *size), _reference(row) | {"size_px": list(size)}
            yield files.case(row, id=name, truth=truth, type="ref", metrics=self.metrics, extras=extras)

    def _truth(self, corners: list[float], width: int, height: int) -> list[float]:
        return box_px(corners, width, height)


class OrientedReferring(Referring):
    """The benchmark `vrsbench-ref-obb`: the oriented box of the object that a sentence refers to."""

    name = "vrsbench-ref-obb"
    # The official geometry is wrong (docs/vrsbench.md), so that it does not give the verdict.
    metrics = ("oriented:0.5", "oriented:0.7", "oriented:official-0.5", "oriented:official-0.7")

    def _truth(self, corners: list[float], width: int, height: int) -> list[float]:
        return corners_px(corners, width, height)


class Vqa:
    """The benchmark `vrsbench-vqa`: questions answered with a word or a short phrase."""

    name = "vrsbench-vqa"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per question; its type is one of the ten reported ones, the file's own is in the extras.

        Raises:
            InputError: the folder is no VRSBench, or a row cannot be used.
        """
        files = Folder(folder, "VRSBench_EVAL_vqa.json", cache)
        for name, row in files.rows("vqa"):
            raw = row.text("type").strip().lower()
            if raw not in TYPES:
                raise row.fault("type", f"is {shown(raw)}, not one of {', '.join(TYPES)}")
            truth, extras = row.text("ground_truth"), {"raw_type": raw}
            metrics = ("vqa:official", "vqa:strict")
            yield files.case(row, id=name, truth=truth, type=TYPES[raw], metrics=metrics, extras=extras)


def _reference(row: Row) -> dict[str, Any]:
    cells = cells_in(row.text("ground_truth"))
    if cells is None or max(cells) > CELLS:
        raise row.fault("ground_truth", f"is no box of four numbers from 0 to {CELLS}")
    return {
        "official_box": cells,
        "box_format": "0-100-inclusive",  # of predictions that are texts
        "group": "unique" if row.flag("unique") else "non-unique",
        "class": row.text("obj_cls").lower(),
        "size_group": row.text("size_group", "") or "medium",  # as the official code reads the empty name
    }


def _source(image: str) -> str:
    """The data set that an image was cut from: DOTA's are called P0003_0002.png, DIOR's 00914_0003.png."""
    return "DOTA-v2" if image.startswith("P") else "DIOR"
