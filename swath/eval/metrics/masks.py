"""Which pixels were meant: intersection over union of masks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError, SwathError
from swath.eval.cases import Case
from swath.eval.metrics.rules import one_of
from swath.eval.scores import Prediction, Score, Verdict
from swath.raster.reader import open_raster

RULES = ("sane", "card")
RIGHT_FROM = 0.5

Overlaps = dict[str, tuple[int, int]]
"""Pixels of the intersection and of the union by class."""


class MaskIou:
    """The metric `mask`: right from an IoU of 0.5 upwards; two empty masks agree (`sane`) or score 0 (`card`).

    A truth with one value beside 0 is a mask, whatever that value; one with several is a map of classes, whose IoU is
    the mean over the classes in either map. Pixels without data are 0.
    """

    def __init__(self, rule: str = "sane") -> None:
        self.rule = one_of("mask", rule, RULES)

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a mask: paths of rasters, or arrays (y, x).

        Raises:
            InputError: the case's own mask cannot be read.
        """
        name = f"mask:{self.rule}"
        truth = _truth(case)
        given = _given(prediction, truth.shape)
        if isinstance(given, str):
            return Score(name, None, "unparsable", given)
        value = self._image_iou(_overlaps(case, truth, given))
        verdict: Verdict = "right" if value >= RIGHT_FROM else "wrong"
        return Score(name, value, verdict, f"IoU {value:.4f}, right from {RIGHT_FROM:g}")

    def total(self, pairs: Sequence[tuple[Case, Prediction]]) -> dict[str, float]:
        """Measures of the whole set; what is no mask counts as an empty one.

        Returns:
            "mIoU": mean over the images; "cIoU": all intersections over all unions; "mIoU of classes": mean over the
            classes, each cumulated over the images; "IoU NAME": those of the classes.
        """
        images = [_pair_overlaps(*pair) for pair in pairs]
        of_class: Overlaps = {}
        for image in images:
            of_class |= {name: _summed([overlap, of_class.get(name, (0, 0))]) for name, overlap in image.items()}
        by_class = {name: self._iou(*overlap) for name, overlap in sorted(of_class.items())}
        return {
            "mIoU": _mean([self._image_iou(image) for image in images]),
            "cIoU": self._iou(*_summed(list(of_class.values()))),
            "mIoU of classes": _mean(list(by_class.values())),
        } | {f"IoU {name}": value for name, value in by_class.items()}

    def _image_iou(self, overlaps: Overlaps) -> float:
        return _mean([self._iou(*overlap) for overlap in overlaps.values()])

    def _iou(self, shared: int, union: int) -> float:
        return shared / union if union else float(self.rule == "sane")


def _pair_overlaps(case: Case, prediction: Prediction) -> Overlaps:
    truth = _truth(case)
    given = _given(prediction, truth.shape) if prediction.status == "answered" else prediction.status
    return _overlaps(case, truth, np.zeros_like(truth) if isinstance(given, str) else given)


def _given(prediction: Prediction, shape: tuple[int, ...]) -> NDArray[Any] | str:
    """The predicted mask, or why there is none."""
    try:
        given = _read(prediction.answer)
    except SwathError as error:
        return str(error)
    return given if given.shape == shape else f"a mask of {given.shape} for one of {shape} pixels"


def _overlaps(case: Case, truth: NDArray[Any], given: NDArray[Any]) -> Overlaps:
    values = set(np.unique(truth).tolist()) - {0}
    if len(values) > 1:
        classes = sorted(values | (set(np.unique(given).tolist()) - {0}))
        return {str(value): _overlap(truth == value, given == value) for value in classes}
    return {str(case.extras.get("class", "mask")): _overlap(truth != 0, given != 0)}


def _overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> tuple[int, int]:
    return int(np.count_nonzero(a & b)), int(np.count_nonzero(a | b))


def _summed(overlaps: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(shared for shared, _ in overlaps), sum(union for _, union in overlaps)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _truth(case: Case) -> NDArray[Any]:
    try:
        return _read(case.truth)
    except SwathError as error:
        raise InputError(f"Case {case.id}: its mask cannot be used: {error}") from None


def _read(mask: Any) -> NDArray[Any]:
    """A mask (y, x), 0 where there is no data.

    Raises:
        InputError: it is neither a raster nor an array of two axes.
    """
    if isinstance(mask, str | Path):
        pixels: NDArray[Any] = open_raster(mask).read(1).data[0].filled(0)
        return pixels
    array: NDArray[Any] = np.asarray(mask)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"{type(mask).__name__} is neither the path of a mask nor an array (y, x).")
    filled: NDArray[Any] = np.nan_to_num(array)
    return filled
