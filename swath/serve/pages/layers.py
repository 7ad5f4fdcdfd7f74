"""The picture of a run and the masks of its steps over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swath.agent.overlay.marks import CONTEXT, COUNTED, OF_CLASS, Colour
from swath.serve.pages.drawing import LONGEST_SIDE_PX, image_uri, mask_uri, picture_size
from swath.serve.pages.evidence import Evidence
from swath.trace.reading import Run

MASK_BYTES = 5_000_000
"""Of all masks of a page together."""

SIDES = ((40, LONGEST_SIDE_PX), (160, 800))
"""Longest side of the masks of a page that has up to so many."""

SMALLEST_SIDE_PX = 400


@dataclass(frozen=True)
class Viewed:
    """What the viewer shows.

    Attributes:
        data: what its script reads.
        layer_of: number of a mask's handle to the index of its layer.
        scale: picture pixels per image pixel.
        picture: data URI of the image, None where it is not to be had.
        size: (width, height) of the picture; None where the image was never opened.
    """

    data: Mapping[str, Any] = field(repr=False)
    layer_of: Mapping[int, int]
    scale: float
    picture: str | None = field(repr=False)
    size: tuple[int, int] | None


def viewed(evidence: Evidence) -> Viewed:
    """The picture and the layers of a run."""
    shape = evidence.shape
    if shape is None:
        return Viewed({"size": None, "layers": [], "shown": None}, {}, 1.0, None, None)
    size = picture_size(shape)
    picture = None if evidence.raster is None else image_uri(evidence.raster)
    layers, layer_of = _layers(evidence)
    answer = _answer_handle(evidence.run)
    shown = layer_of.get(answer) if answer is not None else None
    data = {"size": size, "image": [shape[1], shape[0]], "layers": layers, "shown": shown}
    return Viewed(data, layer_of, size[0] / shape[1], picture, size)


def _layers(evidence: Evidence) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """One layer for each mask that a step gave; steps that gave the same pixels share one."""
    results = _handles(evidence.run)
    answer = _answer_handle(evidence.run)
    side = next((side for most, side in SIDES if len(results) <= most), SMALLEST_SIDE_PX)
    layers: list[dict[str, Any]] = []
    layer_of: dict[int, int] = {}
    seen: dict[str, int] = {}
    used = left_out = 0
    for handle, (name, step) in results.items():
        pixels = evidence.mask(handle) if used < MASK_BYTES else None
        if pixels is None:
            left_out += 1
            continue
        uri = mask_uri(pixels, COUNTED if handle == answer else _colour(name, len(layers)), side)
        if uri not in seen:
            seen[uri] = len(layers)
            layers.append({"name": name, "step": step, "src": uri})
            used += len(uri)
        layer_of[handle] = seen[uri]
    if left_out:
        evidence.remark(f"{left_out} of {len(results)} masks are not on this page: not kept, or too many.")
    return layers, layer_of


def _handles(run: Run) -> dict[int, tuple[str, int]]:
    """Number of each mask and region set to its name and the step that gave it first."""
    found: dict[int, tuple[str, int]] = {}
    for step in run.steps:
        result = step.get("result")
        if step.get("kind") == "tool" and isinstance(result, Mapping):
            number, name = handle_number(result.get("handle")), result.get("mask", result.get("regions"))
            if number is not None and name is not None:
                found.setdefault(number, (str(name), int(step["step"])))
    return found


def _answer_handle(run: Run) -> int | None:
    """What stands behind the answer, by the last call of reply."""
    replies = [step for step in run.steps if step.get("name") == "reply" and step.get("kind") == "tool"]
    return handle_number(replies[-1]["arguments"].get("objects")) if replies else None


def handle_number(handle: Any) -> int | None:
    """3 of "#3"."""
    known = isinstance(handle, str) and handle.startswith("#") and handle[1:].isascii() and handle[1:].isdigit()
    return int(handle[1:]) if known else None


def _colour(name: str, index: int) -> Colour:
    first = name.split(" ", 1)[0]
    return OF_CLASS.get(first, CONTEXT[index % len(CONTEXT)])
