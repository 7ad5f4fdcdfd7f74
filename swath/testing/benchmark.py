"""A tiny folder in the layout of the benchmark `questions`, with truths from closed forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from affine import Affine

from swath.raster.grid import Grid
from swath.raster.write import write_array

LEGEND = {1: "building", 2: "water", 3: "grass"}


def write_questions(folder: Path, *, pixel_m: float = 0.5) -> Path:
    """Write a label raster of 100 x 120 pixels, its legend and four questions about it.

    Three buildings of 10 x 20 pixels stand in grass, the first of them 5 pixels from a strip of water.

    Args:
        folder: where to write; it is made if need be.
        pixel_m: the ground size that the questions state.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    labels = np.full((100, 120), 3, dtype=np.uint8)
    labels[:, :10] = 2
    for col in (14, 50, 90):
        labels[40:50, col : col + 20] = 1
    write_array(folder / "scene.tif", labels, Grid(Affine.identity(), labels.shape))
    (folder / "legend.json").write_text(json.dumps(LEGEND), encoding="utf-8")
    stated = f"(GSD: {pixel_m:g}m)"
    rows = [
        _row("Q1", f"How many buildings are there? {stated}", 3, "count"),
        _row("Q2", f"What percentage of the image is water? {stated}", 100 * 1000 / 12000, "percent"),
        _row("Q3", f"What is the total building area (in m2)? {stated}", 600 * pixel_m**2, "m2"),
        _row("Q4", f"How many buildings are within {5 * pixel_m:g}m of water? {stated}", 1, "count"),
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _row(name: str, question: str, answer: float, unit: str) -> dict[str, Any]:
    tolerance = {"rel": 1e-6}
    return {"id": name, "image": "scene.tif", "question": question, "answer": answer, "unit": unit,
            "type": unit, "tolerance": tolerance}  # fmt: skip
