"""What every segmentation backend must hold to, as a check that any package can run on its own.

from swath.testing.segment_contract import faults

def test_my_backend_keeps_the_contract():
    raster = open_raster("image.tif")
    assert faults(MyBackend(raster, SegmentOptions()), raster) == []
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import shapely

from swath.errors import Refused
from swath.raster.reader import Raster
from swath.segment.burn import burn
from swath.segment.protocol import Backend, OpenVocabulary, Segmentation

SLACK_PX = 1e-6
NOBODYS_CLASS = "no such class, surely"


def faults(backend: Any, raster: Raster, phrases: Sequence[str] = ()) -> list[str]:
    """Every way in which a backend breaks the protocol on one raster, as sentences; empty where it keeps it.

    A backend may refuse a class of its own (`Refused`) where the image does not tell it.

    Args:
        backend: what a factory returned for the raster.
        raster: the image.
        phrases: what one with an open vocabulary is asked for; such phrases as it finds and such as it does not.
    """
    if not isinstance(backend, Backend):
        return ["it lacks one of name, classes, known, segment, describe"]
    found = [*_of_classes(backend), *_of_known(backend, raster), *_of_description(backend), *_of_refusal(backend)]
    for name in backend.classes():
        try:
            first, second = backend.segment(name), backend.segment(name)
        except Refused:
            continue
        found += [f"{name}: {fault}" for fault in _of_segmentation(first, raster)]
        if not np.array_equal(first.mask, second.mask):
            found.append(f"{name}: two calls give two masks")
    for phrase in phrases:
        found += [f'"{phrase}": {fault}' for fault in _of_phrase(backend, raster, phrase)]
    return found


def _of_phrase(backend: Any, raster: Raster, phrase: str) -> Iterator[str]:
    if not isinstance(backend, OpenVocabulary):
        yield "it lacks ground"
        return
    found = backend.ground(phrase)
    yield from _of_segmentation(found, raster)
    if found.features is None and found.instance_ids is None:
        yield "neither features nor instance ids tell its objects apart"


def _of_classes(backend: Backend) -> Iterator[str]:
    if not backend.name or not isinstance(backend.name, str):
        yield "its name is no text"
    names = backend.classes()
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        yield "classes() is no tuple of texts"
        return
    if len(set(names)) < len(names):
        yield "classes() names a class twice"
    for name in names:
        if not name or name != " ".join(name.lower().split()):
            yield f'the class name "{name}" is not lower case and trimmed'


def _of_known(backend: Backend, raster: Raster) -> Iterator[str]:
    known = backend.known()
    if known is not None and (known.dtype != bool or known.shape != raster.shape):
        yield f"known() is {known.dtype} {known.shape}, not bool {raster.shape}"


def _of_description(backend: Backend) -> Iterator[str]:
    record = backend.describe()
    try:
        json.dumps(record, allow_nan=False)
    except (TypeError, ValueError) as why:
        yield f"describe() is not JSON-ready: {why}"
    if record.get("name") != backend.name:
        yield "describe() does not hold its name"


def _of_refusal(backend: Backend) -> Iterator[str]:
    try:
        backend.segment(NOBODYS_CLASS)
    except Refused as refusal:
        missing = [name for name in backend.classes() if name not in str(refusal)]
        if missing:
            yield f"the refusal of an unknown class does not list {', '.join(missing)}"
    else:
        yield "an unknown class is not refused"


def _of_segmentation(found: Segmentation, raster: Raster) -> Iterator[str]:
    if found.mask.dtype != bool or found.mask.shape != raster.shape:
        yield f"the mask is {found.mask.dtype} {found.mask.shape}, not bool {raster.shape}"
        return
    if not found.method:
        yield "the method is empty"
    if not isinstance(found.warnings, tuple) or not all(isinstance(text, str) and text for text in found.warnings):
        yield "the warnings are no tuple of sentences"
    yield from _of_scores(found)
    yield from _of_instances(found)
    yield from _of_features(found)


def _of_scores(found: Segmentation) -> Iterator[str]:
    if found.score is not None and (found.score.dtype != np.float32 or found.score.shape != found.mask.shape):
        yield f"the score is {found.score.dtype} {found.score.shape}, not float32 {found.mask.shape}"
        return
    if found.thresholds is None:
        return
    if found.score is None:
        yield "there are thresholds but no score"
        return
    strict, used, lax = found.thresholds
    if not strict >= used >= lax:
        yield f"the thresholds are not in the order strict, used, lax: {found.thresholds}"
    if not np.array_equal(found.mask, found.score >= np.float32(used)):
        yield "the mask is not where the score reaches the threshold that was used"


def _of_instances(found: Segmentation) -> Iterator[str]:
    ids = found.instance_ids
    if ids is None:
        return
    if ids.dtype != np.int32 or ids.shape != found.mask.shape:
        yield f"the instance ids are {ids.dtype} {ids.shape}, not int32 {found.mask.shape}"
    elif not np.array_equal(ids > 0, found.mask) or (ids < 0).any():
        yield "the instance ids are not positive exactly where the mask is"


def _of_features(found: Segmentation) -> Iterator[str]:
    if found.features is None:
        return
    if len({feature.id for feature in found.features}) < len(found.features):
        yield "two features have one id"
    outlines = [feature.outline for feature in found.features]
    if any(outline.is_empty for outline in outlines):
        yield "a feature has an empty outline"
        return
    rows, cols = found.mask.shape
    bounds = shapely.total_bounds(outlines) if outlines else np.array([0, 0, cols, rows])
    if (bounds < -SLACK_PX).any() or bounds[2] > cols + SLACK_PX or bounds[3] > rows + SLACK_PX:
        yield "an outline reaches beyond the image"
        return
    if found.areal != all(shapely.get_dimensions(outline) == 2 for outline in outlines):
        yield f"areal is {found.areal}, but the outlines say otherwise"
    if any(feature.score is not None and not 0 <= feature.score <= 1 for feature in found.features):
        yield "a feature's score is not between 0 and 1"
    if not np.array_equal(burn(outlines, found.mask.shape, areal=found.areal), found.mask):
        yield "the mask is not the union of the features' pixels"
