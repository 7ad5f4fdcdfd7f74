"""What a data set is: its statistics beside the paper's, a data card for people, Croissant metadata for machines."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from statistics import mean
from typing import Any

from swath import __version__
from swath.eval.annotate.layouts import Annotated, write_json
from swath.eval.statistics import wilson

PAPER = {"words a caption": "52", "sentences a caption": "4", "objects a patch": "14.2 (DOTA), 3.3 (DIOR)"}
"""VRSBench's own figures, from its paper."""

CARD, METADATA, STATISTICS, PAGE = "README.md", "croissant.json", "statistics.json", "statistics.html"
_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}
"""The JSON-LD context that the specification of Croissant 1.0 asks for."""

_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def statistics(found: Sequence[Annotated]) -> dict[str, Any]:
    """Counts, lengths and shares of a data set, JSON-ready."""
    captions = [" ".join(own.text for own in made.of_kind("caption")) for made in found]
    references = [own for made in found for own in made.of_kind("referring")]
    questions = [own for made in found for own in made.of_kind("question")]
    objects = [(own, about) for made in found for own, about in zip(made.patch.objects, made.about, strict=True)]
    read = sum(own.note.startswith("read the same") for own in references)
    return {
        "patches": {split: sum(made.split == split for made in found) for split in ("train", "val")},
        "source images": len({made.patch.source for made in found}),
        "objects": len(objects),
        "objects a patch": _mean([len(made.patch.objects) for made in found]),
        "unique objects": _share(sum(about.is_unique for _, about in objects), len(objects)),
        "objects that may be referred to": _share(sum(not about.excluded for _, about in objects), len(objects)),
        "classes": dict(Counter(own.class_name for own, _ in objects).most_common()),
        "sizes": dict(Counter(about.size or "none" for _, about in objects)),
        "captions": len(captions),
        "words a caption": _mean([len(text.split()) for text in captions]),
        "sentences a caption": _mean([len(_SENTENCE.findall(text)) for text in captions]),
        "referring sentences": len(references),
        "words a referring sentence": _mean([len(own.text.split()) for own in references]),
        "referring sentences confirmed by their program": _share(
            sum(own.status == "confirmed" for own in references), len(references)
        ),
        "referring sentences that a planner reads the same": _share(read, len(references)),
        "questions": len(questions),
        "question types": dict(Counter(own.type for own in questions).most_common()),
        "quantities": sum(len(made.of_kind("quantity")) for made in found),
        "statements dropped": dict(Counter(why for made in found for why, _ in made.dropped).most_common()),
        "seconds a patch": _mean([made.seconds for made in found]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(mean(values), 2) if values else None


def _share(part: int, whole: int) -> dict[str, Any]:
    low, high = wilson(part, whole) if whole else (0.0, 1.0)
    return {"n": part, "of": whole, "share": round(part / whole, 4) if whole else None,
            "interval": [round(low, 4), round(high, 4)]}  # fmt: skip


def write_card(found: Sequence[Annotated], out: Path, settings: Mapping[str, Any]) -> None:
    """Write statistics (JSON and a page), the data card and the Croissant file."""
    figures = statistics(found)
    write_json(out / STATISTICS, figures)
    (out / PAGE).write_text(_page(figures, str(settings["dataset"])), encoding="utf-8")
    (out / CARD).write_text(_card(figures, settings), encoding="utf-8")
    write_json(out / METADATA, croissant(out, settings))


def _rows(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(name, _shown(value), PAPER.get(name, "")) for name, value in figures.items()]


def _shown(value: Any) -> str:
    if isinstance(value, dict) and "interval" in value:
        if value["share"] is None:
            return "0 of 0"
        low, high = (100 * end for end in value["interval"])
        return f"{value['n']} of {value['of']}, {100 * value['share']:.1f} % ({low:.1f} to {high:.1f})"
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items()) or "none"
    return "none" if value is None else str(value)


def _card(figures: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    table = "\n".join(f"| {name} | {value} | {paper} |" for name, value, paper in _rows(figures))
    cut = settings["cut"]
    return f"""# {settings["dataset"]}

Made with swath {__version__} from annotated objects. Every sentence and every answer was measured over the objects by a
program (`patches/`), filtered, and measured again.

- Checked by people: {settings.get("verified", "nothing")}
- Source: {settings["source"]}
- Licence: {settings["licence"]}
- Writer: {settings["writer"]}, seed {settings["seed"]}
- Patches: at most {cut["size_px"]} pixels wide and high, overlap {cut["overlap_px"]}; an object is one of a patch that
  holds at least {100 * cut["least_visible"]:g} % of its area
- Split: all patches of a source image are in one split, {100 * settings["test_share"]:g} % of the images in `val`
- Sizes: small up to the 25th, large from the 75th percentile of the areas of a class

| | here | VRSBench |
|---|---|---|
{table}

Files: `Images_*/`, `Annotations_*/` (one JSON per image), `VRSBench_EVAL_*.json` (test split, VRSBench's keys),
`quantities.jsonl` (SQuID's columns), `detections/` (the objects as GeoJSON in pixels), `patches/` (all statements with
program, status and what was dropped), `statistics.json`, `croissant.json`.
"""


def _page(figures: Mapping[str, Any], name: str) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(label)}<td>{escape(value)}<td>{escape(paper)}"
        for label, value, paper in _rows(figures)
    )
    bars = "".join(_bars(title, figures[title]) for title in ("classes", "question types", "statements dropped"))
    style = (
        "body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
        "table{border-collapse:collapse}th,td{text-align:left;padding:.3rem .8rem;border-bottom:1px solid #8884}"
        "meter{width:min(24rem,50vw)}"
    )
    return (
        '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
        f"<title>{escape(name)}</title><style>{style}</style><h1>{escape(name)}</h1>"
        f"<table><thead><tr><th><th scope=col>here<th scope=col>VRSBench<tbody>{rows}</table>{bars}</html>"
    )


def _bars(title: str, counts: Mapping[str, int]) -> str:
    most = max(counts.values(), default=1)
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}<td>"
        f'<meter max={most} value={number} aria-label="{escape(name)}"></meter> {number}'
        for name, number in counts.items()
    )
    return f"<h2>{escape(title.capitalize())}</h2><table>{rows or '<tr><td>none'}</table>"


def croissant(out: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Croissant 1.0 metadata: the files with their SHA-256, and the fields of the evaluation files."""
    names = ("VRSBench_EVAL_Cap.json", "VRSBench_EVAL_referring.json", "VRSBench_EVAL_vqa.json", "quantities.jsonl")
    files = [out / name for name in names]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": settings["dataset"],
        "description": f"Captions, referring sentences and questions made from annotated objects. {settings['source']}",
        "license": settings["licence"],
        "datePublished": datetime.now(UTC).date().isoformat(),
        "version": "1.0.0",
        "distribution": [_file(path) for path in files] + [
            {"@type": "cr:FileSet", "@id": f"images-{split}", "name": f"images-{split}", "encodingFormat": "image/png",
             "includes": f"Images_{split}/*.png"}
            for split in ("train", "val")
        ],
        "recordSet": [_records(path) for path in files if path.suffix == ".json"],
    }  # fmt: skip


def _file(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": "application/json" if path.suffix == ".json" else "application/jsonlines",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(path: Path) -> dict[str, Any]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    fields = list(rows[0]) if rows else []
    return {
        "@type": "cr:RecordSet",
        "@id": path.stem,
        "name": path.stem,
        "field": [
            {"@type": "cr:Field", "@id": f"{path.stem}/{name}", "name": name, "dataType": "sc:Text",
             "source": {"fileObject": {"@id": path.name}, "extract": {"jsonPath": f"$[*].{name}"}}}
            for name in fields
        ],
    }  # fmt: skip
