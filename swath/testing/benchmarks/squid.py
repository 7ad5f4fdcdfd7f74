"""A tiny SQuID in its official layouts, with the label maps of its images."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from swath.eval.squid.ranges import derived_ranges
from swath.eval.squid.wording import TYPES, unit_of
from swath.testing.benchmarks.squid_scenes import LEGEND, SCENES, TEMPLATES, Scene, Template

Layout = Literal["parquet", "arrow", "arrow-stream", "saved", "json", "jsonl"]
Columns = Literal["shipped", "card"]

COLOURS = {
    1: (180, 160, 120), 2: (30, 60, 160), 3: (20, 90, 30), 4: (200, 190, 80), 5: (170, 80, 70), 6: (140, 140, 140),
    7: (110, 180, 90), 8: (15, 15, 60),
}  # fmt: skip


@dataclass(frozen=True)
class FakeSquid:
    """A fake in one layout.

    Attributes:
        data: folder with the rows, and with the images where they are not embedded.
        labels: folder with one label map per image and their legend.json.
        rows: what was written, with the range in the two shipped columns and the image by its path.
    """

    data: Path
    labels: Path
    rows: tuple[dict[str, Any], ...]


def write_squid(
    folder: Path,
    *,
    layout: Layout = "parquet",
    columns: Columns = "shipped",
    embedded: bool = True,
    templates: Sequence[Template] = TEMPLATES,
) -> FakeSquid:
    """Write a fake with every template asked of every scene.

    Args:
        folder: where to write; `data` and `labels` are made in it.
        layout: parquet as on the hub, an arrow file or stream, a folder of `Dataset.save_to_disk`, JSON, JSON lines.
        columns: the two shipped columns of the range, or the single one of the card.
        embedded: whether the rows hold the images, or their paths.
        templates: the questions.
    """
    data, labels = folder / "data", folder / "labels"
    data.mkdir(parents=True)
    labels.mkdir()
    for scene in SCENES:
        Image.fromarray(scene.pixels()).save(labels / f"{scene.name}.png")
        if not embedded:
            (data / "images").mkdir(exist_ok=True)
            (data / "images" / f"{scene.name}.png").write_bytes(_png(scene))
    (labels / "legend.json").write_text(json.dumps(LEGEND), encoding="utf-8")
    asked = [(scene, template) for scene in SCENES for template in templates]
    rows = [_row(number, scene, template) for number, (scene, template) in enumerate(asked)]
    written = [
        _as_columns(_with_image(row, scene, embedded), columns) for row, (scene, _) in zip(rows, asked, strict=True)
    ]
    _WRITERS[layout](written, data)
    return FakeSquid(data, labels, tuple(rows))


def _row(number: int, scene: Scene, template: Template) -> dict[str, Any]:
    question = f"{template.words} (GSD: {scene.gsd_m:g}m)"
    truth = template.truth(scene)
    answer = truth if isinstance(truth, str) else f"{round(float(truth), 4):g}"
    limits = None if isinstance(truth, bool | str) else _limits(question, template.type, float(answer))
    return {
        "id": f"SQuID_{number:04d}",
        "image": f"images/{scene.name}.png",
        "question": question,
        "answer": answer,
        "type": template.type,
        "tier": int(TYPES[template.type].tier),
        "gsd": scene.gsd_m,
        "acceptable_range_lower": limits and limits[0],
        "acceptable_range_upper": limits and limits[1],
    }


def _limits(question: str, kind: str, truth: float) -> tuple[float, float] | None:
    """The range that the files would ship: none for zeros."""
    rules = derived_ranges(question, unit_of(question, kind), truth)
    return None if truth == 0 else rules.get("sane") or rules.get("card") or rules["squid-fit"]


def _with_image(row: dict[str, Any], scene: Scene, embedded: bool) -> dict[str, Any]:
    return {**row, "image": {"bytes": _png(scene), "path": f"{scene.name}.png"}} if embedded else row


def _as_columns(row: dict[str, Any], columns: Columns) -> dict[str, Any]:
    if columns == "shipped":
        return row
    ends = [row[f"acceptable_range_{end}"] for end in ("lower", "upper")]
    kept = {key: value for key, value in row.items() if not key.startswith("acceptable_range")}
    return {**kept, "acceptable_range": None if ends[0] is None else ends}


def _png(scene: Scene) -> bytes:
    palette = np.zeros((256, 3), np.uint8)
    for code, colour in COLOURS.items():
        palette[code] = colour
    held = io.BytesIO()
    Image.fromarray(palette[scene.pixels()]).save(held, "PNG")
    return held.getvalue()


def _table(rows: list[dict[str, Any]]) -> Any:
    import pyarrow

    table = pyarrow.Table.from_pylist(rows)
    at = table.schema.get_field_index("gsd")
    return table.set_column(at, "gsd", table.column("gsd").cast(pyarrow.float32()))


def _write_parquet(rows: list[dict[str, Any]], data: Path) -> None:
    from pyarrow import parquet

    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        parquet.write_table(_table(part), data / f"train-{number:05d}-of-00002.parquet")


def _write_arrow(rows: list[dict[str, Any]], data: Path) -> None:
    import pyarrow

    table = _table(rows)
    with pyarrow.ipc.new_file(str(data / "train.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


def _write_stream(rows: list[dict[str, Any]], data: Path) -> None:
    import pyarrow

    table = _table(rows)
    with pyarrow.ipc.new_stream(str(data / "train.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=20)


def _write_saved(rows: list[dict[str, Any]], data: Path) -> None:
    import datasets

    saved = datasets.Dataset.from_list(rows)
    if isinstance(rows[0]["image"], dict):
        saved = saved.cast_column("image", datasets.Image())
    datasets.DatasetDict({"train": saved}).save_to_disk(str(data))


def _write_json(rows: list[dict[str, Any]], data: Path) -> None:
    (data / "train.json").write_text(json.dumps(rows, default=_base64), encoding="utf-8")


def _write_lines(rows: list[dict[str, Any]], data: Path) -> None:
    lines = "".join(json.dumps(row, default=_base64) + "\n" for row in rows)
    (data / "train.jsonl").write_text(lines, encoding="utf-8")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


_WRITERS: dict[Layout, Callable[[list[dict[str, Any]], Path], None]] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "arrow-stream": _write_stream,
    "saved": _write_saved,
    "json": _write_json,
    "jsonl": _write_lines,
}
