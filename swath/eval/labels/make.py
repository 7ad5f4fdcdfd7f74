"""A folder of label maps made into a benchmark: questions, truths, ranges and reference programs."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.labels.drawing import ABSENT_MEASURES, Wish, draw
from swath.eval.labels.kinds import KINDS, Kind
from swath.eval.labels.landscape import Landscape, read_landscape
from swath.eval.labels.programs import reference_program
from swath.eval.labels.query import Query
from swath.eval.labels.ranges import Measure, acceptable_range
from swath.eval.labels.truth import Answer, truth
from swath.eval.labels.wordings import Wording, Wordings, read_wordings
from swath.raster.reader import open_raster
from swath.segment.legend import NamedValues, legend_of, read_legend

NAME = "self-test"
CASES, META = "cases.jsonl", "meta.json"
SUFFIXES = (".png", ".tif", ".tiff")
ABSENT_SHARE = 0.05
WORDING_TRIES = 8
LOPSIDED = 3
"""By how many questions of a type one answer may lead where a map has no question with the other."""

CONVENTIONS = {
    "connectivity": 8,
    "distance": "pixel centre to nearest pixel centre, at most the stated distance",
    "denominator": "pixels that are not void",
    "absent": "0 or no",
    "solar": "1000 W/m2 and an efficiency of 0.2 where the question states none",
    "borderline": "the answer leaves its range, or flips, when sizes move by one pixel's area or distances by one pixel",
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
        balance: answers of each type with yes/no or named answers, and how often.
    """

    folder: Path
    cases: int
    maps: int
    types: Mapping[str, int]
    borderline: int
    absent: int
    balance: Mapping[str, Mapping[str, int]]


@dataclass
class _Tally:
    """What has been asked so far, over all maps."""

    types: Counter[str] = field(default_factory=Counter)
    wordings: Counter[Wording] = field(default_factory=Counter)
    answers: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    borderline: int = 0
    absent: int = 0


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
    tally = _Tally()
    rows: list[dict[str, Any]] = []
    for path in maps:
        image = path if images is None else _image_of(path, images)
        land = read_landscape(path, _named(path, legend), gsd_m)
        rng = random.Random(f"{seed}/{path.name}")  # noqa: S311 - questions are no secrets
        for row in _questions(land, kinds, said, tally, rng, per_image):
            row["id"] = f"{len(rows):05d}"
            row["image"], row["labels"] = (_relative(file, out) for file in (image, path))
            row["extras"] |= {"group": path.stem.rpartition("_")[0] or path.stem, "source": labels.resolve().parent.name}
            rows.append(row)
    out.mkdir(parents=True, exist_ok=True)
    meta = _meta(maps, legend, out, gsd_m, seed, said.source, tally)
    (out / CASES).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (out / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    balance = {name: dict(sorted(found.items())) for name, found in sorted(tally.answers.items())}
    return Made(out, len(rows), len(maps), dict(tally.types), tally.borderline, tally.absent, balance)


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


def _questions(
    land: Landscape, kinds: Sequence[Kind], said: Wordings, tally: _Tally, rng: random.Random, number: int
) -> Iterator[dict[str, Any]]:
    """The questions about one map: each of the type that has been asked least and that the map can be asked."""
    asked: set[str] = set()
    exhausted: set[str] = set()
    while len(asked) < number:
        order = [kind for kind in kinds if kind.type not in exhausted and said.types.get(kind.type)]
        order.sort(key=lambda kind: (tally.types[kind.type], rng.random()))
        for kind in order:
            row = _question(land, kind, said, tally, rng)
            if row is not None and row["question"] not in asked:
                asked.add(row["question"])
                _count(tally, row)
                yield row
                break
            exhausted.add(kind.type)
        else:
            return


def _count(tally: _Tally, row: Mapping[str, Any]) -> None:
    tally.types[row["type"]] += 1
    tally.borderline += row["extras"]["borderline"]
    tally.absent += row["extras"]["absent"]
    if isinstance(row["truth"], str):
        tally.answers[row["type"]][row["truth"]] += 1


def _question(
    land: Landscape, kind: Kind, said: Wordings, tally: _Tally, rng: random.Random
) -> dict[str, Any] | None:
    """One question of a kind; None where the map has none that tells something."""
    wordings = sorted(said.types[kind.type], key=lambda wording: (tally.wordings[wording], rng.random()))
    for wish in _wishes(kind, tally):
        for wording in wordings[:WORDING_TRIES]:
            query = draw(land, kind, wording, wish, rng)
            if query is not None:
                tally.wordings[wording] += 1
                row = _row(land, kind, query, said.phrase(wording, query, land.stated_gsd_m, rng))
                row["extras"]["wording"] = f"{kind.type}/{said.types[kind.type].index(wording) + 1}"
                return row
    return None


def _wishes(kind: Kind, tally: _Tally) -> list[Wish]:
    """What the next question of a kind should be like, the most wanted first."""
    answers = {"pieces": ("connected", "fragmented")}.get(kind.measure, ("yes", "no"))
    if kind.measure not in ("any", "several", "more_area", "covers", "pieces"):
        wishes = [Wish()]
    else:
        given = tally.answers[kind.type]
        rarer, other = sorted(answers, key=lambda answer: given[answer])
        wishes = [Wish(rarer)] + [Wish(other)] * (given[other] - given[rarer] < LOPSIDED)
    asked = tally.types.total() + 1
    due = kind.measure in ABSENT_MEASURES and tally.absent + 1 <= ABSENT_SHARE * asked
    return [Wish(wishes[0].answer, absent=True), *wishes] if due else wishes


def _row(land: Landscape, kind: Kind, query: Query, question: str) -> dict[str, Any]:
    answer = truth(land, query)
    found = None if isinstance(answer, str) else acceptable_range(_measure(kind), answer)
    moved = [truth(land, query, step) for step in (-1, 1)]
    absent = not all(land.has(name) for name in (query.name, query.other) if name is not None)
    return {
        "id": "",
        "image": "",
        "labels": "",
        "question": question,
        "truth": float(f"{answer:.10g}") if isinstance(answer, float) else answer,
        "type": kind.type,
        "tier": kind.tier,
        "unit": query.reply_unit,
        "metrics": ["exact" if found is None else f"range:{found[0]}"],
        "ranges": {} if found is None else {found[0]: list(found[1])},
        "gsd_m": land.stated_gsd_m,
        "program": reference_program(query),
        "extras": {
            "gsd_m": sum(land.step_xy_m) / 2,
            "borderline": not all(_accepted(other, answer, found) for other in moved),
            "absent": absent,
        },
    }


def _measure(kind: Kind) -> Measure:
    if kind.measure in ("share", "largest_share"):
        return "proximity_percent" if kind.near else "percent"
    return "count" if kind.measure == "count" else "amount"


def _accepted(moved: Answer, answer: Answer, found: tuple[str, tuple[float, float]] | None) -> bool:
    """Whether an answer with moved thresholds would be right; a count has to be the same."""
    if isinstance(moved, str) or isinstance(answer, int) or found is None:
        return moved == answer
    return found[1][0] <= moved <= found[1][1]


def _relative(path: Path, out: Path) -> str:
    return Path(os.path.relpath(path.resolve(), out.resolve())).as_posix()


def _meta(
    maps: Sequence[Path], legend: Path | None, out: Path, gsd_m: float | None, seed: int, wordings: str, tally: _Tally
) -> dict[str, Any]:
    digest = hashlib.sha256()
    for path in (*maps, *([] if legend is None else [legend])):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return {
        "benchmark": NAME,
        "seed": seed,
        "inputs_sha256": digest.hexdigest(),
        "legend": None if legend is None else _relative(legend, out),
        "gsd_m": gsd_m,
        "maps": len(maps),
        "wordings": wordings,
        "conventions": CONVENTIONS,
        "cases": tally.types.total(),
        "types": dict(sorted(tally.types.items())),
        "answers": {name: dict(sorted(found.items())) for name, found in sorted(tally.answers.items())},
        "borderline": tally.borderline,
        "absent": tally.absent,
    }
