"""Referring expressions resolved by program over annotated objects; Acc@0.5 and Acc@0.7 as a Markdown table.

python benchmarks/referring.py [--data ../shared/data] [--further FILE.jsonl]

Each expression of tests/tools/referring.jsonl and of a further file runs on the image that it was written for, and on
every image of its data set in which, by the independent reading of tests/tools/referring_truth.py, it means one object.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from swath.agent.execution import run_program
from swath.agent.sandbox import Sandbox
from swath.errors import PlanError, Refused
from swath.raster.reader import open_raster
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import SegmentOptions
from swath.tools.site import Site

TESTS = Path(__file__).resolve().parents[1] / "tests" / "tools"
sys.path.insert(0, str(TESTS))

import referring_truth as independent  # noqa: E402

NAMES = {"trees": "NEON trees, annotated boxes", "houses": "boxes of building footprints, Banepa"}


@dataclass(frozen=True)
class Resolved:
    """One expression on one image."""

    kind: str
    box: str
    image: str
    id: str
    own: bool
    iou: float


def site_of(scene: independent.Plot) -> Site:
    """The annotated objects of an image as a program sees them."""
    raster = open_raster(scene.image)
    return Site(raster, LabelsBackend(raster, SegmentOptions(**scene.options)), np.array(raster.valid(), dtype=bool))


def iou_of(program: str, site: Site, truth: independent.Thing, sandbox: Sandbox) -> float:
    """Intersection over union of a program's one box and the true one; 0 where it has none or several."""
    try:
        value = run_program(program, site, sandbox).reply.value
    except (PlanError, Refused):
        return 0.0
    if len(value) != 1:
        return 0.0
    oriented = len(value[0]) == 8
    found = shapely.Polygon(np.reshape(value[0], (4, 2))) if oriented else shapely.box(*value[0])
    wanted = shapely.Polygon(truth.corners) if oriented else shapely.box(*truth.box)
    return float(found.intersection(wanted).area / found.union(wanted).area)


def resolved(data: Path, expressions: list[dict[str, Any]], sandbox: Sandbox) -> Iterator[Resolved]:
    """Every expression on every image where it means one object."""
    for kind in NAMES:
        for name in independent.images(data, kind):
            scene = independent.plot(data, kind, name)
            site = site_of(scene)
            for own in (own for own in expressions if own["kind"] == kind):
                truth = independent.meant(own["truth"], scene, oriented=own["box"] == "oriented")
                if truth is not None:
                    iou = iou_of(own["program"], site, truth, sandbox)
                    yield Resolved(kind, own["box"], name, own["id"], own["image"] == name, iou)


def table(rows: list[Resolved]) -> Iterator[str]:
    """Markdown."""
    yield "| Objects | Box | Images | n | Acc@0.5 | Acc@0.7 | mean IoU |"
    yield "|---|---|---|---|---|---|---|"
    for own in (True, False):
        for kind, box in sorted({(row.kind, row.box) for row in rows}, reverse=True):
            ious = np.array([row.iou for row in rows if (row.kind, row.box) == (kind, box) and row.own >= own])
            where = "its own" if own else "all where it means one object"
            shares = " | ".join(f"{np.mean(ious >= tau):.4f}" for tau in (0.5, 0.7))
            yield f"| {NAMES[kind]} | {box} | {where} | {len(ious)} | {shares} | {ious.mean():.4f} |"


def main() -> None:
    """Print the table; what was missed goes to the error stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--further", type=Path, default=TESTS / "referring_further.jsonl")
    arguments = parser.parse_args()
    files = [TESTS / "referring.jsonl", arguments.further]
    expressions = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    with Sandbox() as sandbox:
        rows = list(resolved(arguments.data, expressions, sandbox))
    print("\n".join(table(rows)))
    for row in rows:
        if row.iou < 0.5:
            print(f"missed: {row.id} on {row.image}, IoU {row.iou:.3f}", file=sys.stderr)


if __name__ == "__main__":
    main()
