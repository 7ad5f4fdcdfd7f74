"""A folder of label maps made into a benchmark: questions, truths, ranges and reference programs."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swath.errors import InputError
from swath.eval.labels.asking import Row, Tally, questions
from swath.eval.labels.kinds import KINDS, Kind
from swath.eval.labels.landscape import read_landscape
from swath.eval.labels.wordings import read_wordings
from swath.raster.reader import open_raster
from swath.segment.legend import NamedValues, legend_of, read_legend

NAME = "self-test"
CASES, META = "cases.jsonl", "meta.json"
SUFFIXES = (".png", ".tif", ".tiff")

CONVENTIONS = {
    "connectivity": 8,
    "distance": "pixel centre to nearest pixel centre, at most the stated distance",
    "denominator": "pixels that are not void",
    "absent": "0 or no",
    "solar": "1000 W/m2 and an efficiency of 0.2 where the question states none",
    "borderline": "the answer leaves its range, or flips, when sizes or distances move by one pixel",
}


@dataclass(frozen=True)
class Made:
    """What `make` wrote.

    Attributes:
        folder: where.
        cases: how many questions.
        maps: of how many label maps.
        types: how many of each type.
        borderline: how many whose answer hangs on a pixel.
        absent: how many about a class that is not in the image.
    """

    folder: Path
    cases: int
    maps: int
    types: Mapping[str, int]
    borderline: int
    absent: int


def make(
    labels: Path,
    legend: Path | None,
    out: Path,
    *,
    images: Path | None = None,
    gsd_m: float | None = None,
    seed: int = 0,
    per_image: int = 20,
    wordings: Path | None = None,
    types: Sequence[str] | None = None,
) -> Made:
    """Make questions about a folder of label maps; the maps stay where they are and are referred to.

    Args:
        labels: folder of PNG or GeoTIFF label maps.
        legend: JSON legend of all of them; None to use each file's own category names.
        out: folder to write cases.jsonl and meta.json to.
        images: folder of images of the same names; None where the label maps are their own images.
        gsd_m: ground size in metres of a pixel, for maps without georeference.
        seed: the same seed and files give the same questions.
        per_image: questions about each map, as far as it has so many.
        wordings: a file of wordings, see `wordings.py`; None for the package's own.
        types: the types of question to make; all by default.

    Raises:
        InputError: there are no label maps, or a file cannot be used.
    """
    maps = sorted(path for path in labels.glob("*") if path.suffix.lower() in SUFFIXES)
    if not maps:
        raise InputError(f"{labels} holds no label maps ({', '.join(SUFFIXES)}). Next: name their folder.")
    kinds = _kinds(types)
    said = read_wordings(wordings)
    tally = Tally()
    rows: list[Row] = []
    for path in maps:
        files = {"image": _relative(path if images is None else _image_of(path, images), out)}
        files["labels"] = _relative(path, out)
        place = {"group": path.stem.rpartition("_")[0] or path.stem, "source": labels.resolve().parent.name}
        land = read_landscape(path, _named(path, legend), gsd_m)
        rng = random.Random(f"{seed}/{path.name}")  # noqa: S311 - questions are no secrets
        for row in questions(land, kinds, said, tally, rng, per_image):
            rows.append({"id": f"{len(rows):05d}", **files, **row, "extras": {**place, **row["extras"]}})
    inputs = (*maps, *([] if legend is None else [legend]))
    meta = {
        "benchmark": NAME,
        "seed": seed,
        "inputs_sha256": _sha256(inputs),
        "legend": None if legend is None else _relative(legend, out),
        "gsd_m": gsd_m,
        "maps": len(maps),
        "wordings": said.source,
        "conventions": CONVENTIONS,
        **tally.to_json(),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / CASES).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (out / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return Made(out, len(rows), len(maps), dict(tally.types), tally.borderline, tally.absent)


def _kinds(types: Sequence[str] | None) -> tuple[Kind, ...]:
    known = {kind.type: kind for kind in KINDS}
    for name in types or ():
        if name not in known:
            raise InputError(f'There is no type of question "{name}". Next: choose from {", ".join(known)}.')
    return tuple(known[name] for name in types) if types else KINDS


def _image_of(path: Path, images: Path) -> Path:
    found = sorted(file for file in images.glob(f"{path.stem}.*") if file.suffix not in (".xml", ".json"))
    if not found:
        raise InputError(f"{images} holds no image {path.stem} for the label map {path.name}.")
    return found[0]


def _named(path: Path, legend: Path | None) -> NamedValues:
    if legend is not None:
        return read_legend(legend)
    own = {value: name for value, name in open_raster(path).categories().items() if name.strip()}
    if not own:
        raise InputError(f"{path} names no classes of its own. Next: give a legend with --legend FILE.")
    return NamedValues(legend_of(own), coloured=False, source="its own category names")


def _relative(path: Path, out: Path) -> str:
    return Path(os.path.relpath(path.resolve(), out.resolve())).as_posix()


def _sha256(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
