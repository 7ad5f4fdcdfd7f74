"""Where an object is: intersection over union of boxes."""

from __future__ import annotations

from collections.abc import Sequence

from swath.eval.cases import Case
from swath.eval.metrics.box_formats import box_px, format_of, numbers_said, size_of
from swath.eval.metrics.rules import threshold
from swath.eval.scores import Prediction, Score
from swath.segment.boxes import GRID, Box, cells_in, from_px

LEVELS = (0.5, 0.7)


class BoxIou:
    """The metric `box`: right from an IoU upwards ("0.5"), or by VRSBench's own arithmetic ("official-0.5").

    The official one reads the first four runs of digits as cells of a 100 x 100 grid and adds 1 to every length.
    """

    def __init__(self, rule: str = "0.5") -> None:
        self.name = f"box:{rule}"
        self._tau, self._official = threshold("box", rule)

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against the box `[x_min, y_min, x_max, y_max]` in pixels, half-open.

        Raises:
            InputError: a text's format is unknown, or the image's size is needed and unknown.
        """
        found = _official_iou(case, prediction) if self._official else _iou(case, prediction)
        return score_of_iou(self.name, found, self._tau)

    def total(self, pairs: Sequence[tuple[Case, Prediction]]) -> dict[str, float]:
        """Mean IoU and the shares at 0.5 and 0.7 over all cases; what is no box counts as 0."""
        return totals_of_iou([self.score(*pair).value for pair in pairs if pair[1].status == "answered"], len(pairs))


def iou(a: Box, b: Box) -> float:
    """Intersection over union of two half-open boxes; 0 where neither has an area."""
    shared = max(min(a[2], b[2]) - max(a[0], b[0]), 0.0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0.0)
    union = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)) - shared
    return shared / union if union > 0 else 0.0


def inclusive_iou(a: Sequence[int], b: Sequence[int]) -> float:
    """Intersection over union with 1 added to every length, as VRSBench has it; 0 where the union is empty.

    A box whose corners are swapped has a negative area there.
    """
    wide, high = min(a[2], b[2]) - max(a[0], b[0]) + 1, min(a[3], b[3]) - max(a[1], b[1]) + 1
    shared = max(wide, 0) * max(high, 0)
    union = sum((box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)) - shared
    return shared / union if union else 0.0


def score_of_iou(name: str, found: float | str, tau: float) -> Score:
    """The score of an IoU, or of the reason why there is none."""
    if isinstance(found, str):
        return Score(name, None, "unparsable", found)
    return Score(name, found, "right" if found >= tau else "wrong", f"IoU {found:.4f}, right from {tau:g}")


def totals_of_iou(values: Sequence[float | None], n: int) -> dict[str, float]:
    """Mean IoU and shares at the usual levels of n cases, of which some have an IoU."""
    known = [value or 0.0 for value in values]
    return {"mean IoU": sum(known) / max(n, 1)} | {
        f"Acc@{level:g}": sum(value >= level for value in known) / max(n, 1) for level in LEVELS
    }


def _iou(case: Case, prediction: Prediction) -> float | str:
    said = numbers_said(prediction.answer, [4])
    if isinstance(said, str):
        return said
    x0, y0, x1, y1 = map(float, case.truth)
    return iou((x0, y0, x1, y1), box_px(case, said, format_of(case, prediction.answer)))


def _official_iou(case: Case, prediction: Prediction) -> float | str:
    given = prediction.answer
    if isinstance(given, str):
        cells = cells_in(given)
        if cells is None:
            return f"{given[:60]!r} holds fewer than four runs of digits"
    else:
        said = numbers_said(given, [4])
        if isinstance(said, str):
            return said
        cells = _cells(case, said)
    truth = case.extras.get("official_box") or _cells(case, case.truth)
    return inclusive_iou(truth, cells)


def _cells(case: Case, box: Sequence[float]) -> list[int]:
    return [int(cell) for cell in from_px(box, GRID, *size_of(case))]
