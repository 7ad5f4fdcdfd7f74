"""Which pixels were meant: intersection over union of masks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError, SwathError
from swath.eval.cases import Case
from swath.eval.metrics.class_maps import ClassMap, matched, read_map
from swath.eval.metrics.rules import one_of
from swath.eval.scores import Prediction, Score, Verdict

RULES = ("sane", "card")
RIGHT_FROM = 0.5

Overlaps = dict[str, tuple[int, int]]
"""Pixels of the intersection and of the union by class."""


class MaskIou:
    """The metric `mask`: right from an IoU of 0.5 upwards; two empty masks agree (`sane`) or score 0 (`card`).

    A truth with one value beside 0 is a mask, whatever that value; one with several is a map of classes, whose IoU is
    the mean over the classes in either map, which are the same where they have one name (the raster's category names,
    or the case's `extras["classes"]`). Where the answer names none, its values are the truth's, and the score says so.
    Pixels without data are 0.
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
        given = _given(prediction, truth.pixels.shape)
        if isinstance(given, str):
            return Score(name, None, "unparsable", given)
        value = self._image_iou(_overlaps(case, truth, given))
        verdict: Verdict = "right" if value >= RIGHT_FROM else "wrong"
        by_value = len(truth.values) > 1 and not given.names
        how = "; classes by value, as the answer names none" if by_value else ""
        return Score(name, value, verdict, f"IoU {value:.4f}, right from {RIGHT_FROM:g}{how}")

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
    given = _given(prediction, truth.pixels.shape) if prediction.status == "answered" else prediction.status
    return _overlaps(case, truth, ClassMap(np.zeros_like(truth.pixels)) if isinstance(given, str) else given)


def _given(prediction: Prediction, shape: tuple[int, ...]) -> ClassMap | str:
    """The predicted mask, or why there is none."""
    try:
        given = read_map(prediction.answer)
    except SwathError as error:
        return str(error)
    found = given.pixels.shape
    return given if found == shape else f"a mask of {found} for one of {shape} pixels"


def _overlaps(case: Case, truth: ClassMap, given: ClassMap) -> Overlaps:
    if len(truth.values) < 2:
        return {str(case.extras.get("class", "mask")): _overlap(truth.pixels != 0, given.pixels != 0)}
    try:
        classes = matched(truth, given)
    except InputError as error:
        raise _unusable(case, error) from None
    return {name: _overlap(truth.of(own), given.of(theirs)) for name, (own, theirs) in classes.items()}


def _overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> tuple[int, int]:
    return int(np.count_nonzero(a & b)), int(np.count_nonzero(a | b))


def _summed(overlaps: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(shared for shared, _ in overlaps), sum(union for _, union in overlaps)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _truth(case: Case) -> ClassMap:
    names = {int(value): str(name) for value, name in case.extras.get("classes", {}).items()}
    try:
        return read_map(case.truth, names)
    except SwathError as error:
        raise _unusable(case, error) from None


def _unusable(case: Case, error: SwathError) -> InputError:
    return InputError(f"Case {case.id}: its mask cannot be used: {error}")
