"""Where an object is and how it lies: intersection over union of oriented boxes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import shapely

from swath.eval.cases import Case
from swath.eval.metrics.box_formats import box_px, format_of, numbers_said, scale_of
from swath.eval.metrics.boxes import score_of_iou, totals_of_iou
from swath.eval.metrics.rules import threshold
from swath.eval.scores import Prediction, Score
from swath.segment.boxes import GRID

XY = tuple[float, float]


class OrientedIou:
    """The metric `oriented`: right from an IoU upwards ("0.5"), or by the geometry of VRSBench's code ("official-0.5").

    An oriented box is four corners (eight numbers), a plain box (four), or two opposite corners with the direction in
    degrees of the edge that leaves the first one, y down (five, as VRSBench writes them: "{<x1><y1><x3><y3>|<angle>}").
    """

    def __init__(self, rule: str = "0.5") -> None:
        self.name = f"oriented:{rule}"
        self._tau, self._official = threshold("oriented", rule)

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against four corners: eight numbers, x and y of each, in pixels.

        Raises:
            InputError: a text's format is unknown, or the image's size is needed and unknown.
        """
        found = _official_iou(case, prediction) if self._official else _iou(case, prediction)
        return score_of_iou(self.name, found, self._tau)

    def total(self, pairs: Sequence[tuple[Case, Prediction]]) -> dict[str, float]:
        """Mean IoU and the shares at 0.5 and 0.7 over all cases; what is no box counts as 0."""
        return totals_of_iou([self.score(*pair).value for pair in pairs if pair[1].status == "answered"], len(pairs))


def polygon_iou(a: Sequence[XY], b: Sequence[XY]) -> float:
    """Intersection over union of two convex shapes by their corners, in any order; 0 where neither has an area.

    The hull of the corners is taken: corners out of order cross themselves as a ring, but still mean that box.
    """
    first, second = (shapely.MultiPoint(list(corners)).convex_hull for corners in (a, b))
    union = first.union(second).area
    return float(first.intersection(second).area / union) if union > 0 else 0.0


def corners_of_diagonal(x1: float, y1: float, x3: float, y3: float, degrees: float) -> list[XY]:
    """The four corners of a rectangle, from two opposite ones and the direction of the edge from the first."""
    across, down = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    along = (x3 - x1) * across + (y3 - y1) * down
    return [(x1, y1), (x1 + along * across, y1 + along * down), (x3, y3), (x3 - along * across, y3 - along * down)]


def official_corners(numbers: Sequence[int]) -> list[XY]:
    """The rectangle that VRSBench's evaluation makes of five whole numbers.

    It takes the edge's direction for the angle between diagonal and side, and its degrees for radians; the sign of the
    angle is lost when the digits are read.
    """
    x1, y1, x3, y3, degrees = numbers
    angle, diagonal = degrees % 180, math.hypot(x3 - x1, y3 - y1)
    sides = [abs(diagonal * math.cos(math.radians(angle))), abs(diagonal * math.sin(math.radians(angle)))]
    long, short = max(sides) / 2, min(sides) / 2
    cos, sin = math.cos(angle), math.sin(angle)  # of degrees taken for radians
    x, y = (x1 + x3) / 2, (y1 + y3) / 2
    return [
        (x + i * long * cos - j * short * sin, y - i * long * sin - j * short * cos)
        for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))
    ]


def _iou(case: Case, prediction: Prediction) -> float | str:
    said = numbers_said(prediction.answer, [8, 5, 4])
    if isinstance(said, str):
        return said
    return polygon_iou(_paired(case.truth), _corners_px(case, said, format_of(case, prediction.answer)))


def _corners_px(case: Case, said: Sequence[float], form: str) -> list[XY]:
    if len(said) == 4:
        x0, y0, x1, y1 = box_px(case, said, form)
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    corners = _paired(said) if len(said) == 8 else corners_of_diagonal(*said)
    across, down = scale_of(case, form)
    return [(x * across, y * down) for x, y in corners]


def _official_iou(case: Case, prediction: Prediction) -> float | str:
    given = prediction.answer
    if isinstance(given, str):
        digits = [int(run[:18]) for run in re.findall("[0-9]+", given)]
        if len(digits) != 5:
            return f"{given[:60]!r} holds {len(digits)} runs of digits, not five"
    else:
        said = numbers_said(given, [8])
        if isinstance(said, str):
            return said
        digits = _five_numbers(case, said)
    return polygon_iou(official_corners(_five_numbers(case, case.truth)), official_corners(digits))


def _five_numbers(case: Case, corners: Sequence[float]) -> list[int]:
    """Opposite corners in hundredths of the image and the edge's direction in degrees, cut to whole numbers."""
    across, down = scale_of(case, GRID)
    x1, y1, x2, y2, x3, y3 = (value / (down if i % 2 else across) for i, value in enumerate(corners[:6]))
    degrees = abs(math.degrees(math.atan2(y2 - y1, x2 - x1)))
    return [int(value) for value in (x1, y1, x3, y3, degrees)]


def _paired(numbers: Sequence[float]) -> list[XY]:
    return [(float(x), float(y)) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
