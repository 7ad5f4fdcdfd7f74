"""Boxes: named formats, VRSBench's own arithmetic and geometry, and areas by counting and by another library."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from affine import Affine
from hypothesis import assume, given
from hypothesis import strategies as st

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics.box_formats import box_px
from swath.eval.metrics.boxes import BoxIou, inclusive_iou, iou
from swath.eval.metrics.oriented import OrientedIou, corners_of_diagonal, official_corners, polygon_iou
from swath.eval.scores import Prediction, open_metric, score
from swath.raster.grid import Grid
from swath.raster.write import write_array

REF = Case(
    "1", Path("a.png"), "the ship", [128.0, 204.8, 174.08, 312.32], "ref", ("box:0.5", "box:0.7"),
    extras={"size_px": [512, 512], "official_box": [25, 40, 33, 60]},
)  # fmt: skip


def test_the_three_formats_by_hand() -> None:
    assert box_px(REF, [25, 40, 33, 60], "0-100-inclusive") == pytest.approx((128.0, 204.8, 174.08, 312.32))
    assert box_px(REF, [0.25, 0.4, 0.34, 0.61], "0-1") == pytest.approx((128.0, 204.8, 174.08, 312.32))
    assert box_px(REF, [174, 312, 128, 204], "pixels-half-open") == (128, 204, 174, 312)


@pytest.mark.parametrize(
    ("answer", "form", "verdict"),
    [
        ("{<25><40><33><60>}", "0-1", "right"),  # angle brackets are 0-100 wherever they stand
        ("The ship is at [0.25, 0.40, 0.34, 0.61].", "0-1", "right"),
        ("25, 40, 33, 60", "0-100-inclusive", "right"),
        ("(128, 204.8, 174.08, 312.32)", "pixels-half-open", "right"),
        ([128.0, 204.8, 174.08, 312.32], "0-1", "right"),  # lists are our own pixels
        ([[128, 205, 174, 312]], "0-1", "right"),
        ("{<25><40><33><60>}", "pixels-half-open", "right"),
        ("[25, 40, 33, 60]", "pixels-half-open", "wrong"),
        ("[25, 40, 33]", "0-100-inclusive", "unparsable"),
        ("[1,2,3,4] or [5,6,7,8]", "0-100-inclusive", "unparsable"),
        ([[1, 2, 3, 4], [5, 6, 7, 8]], "pixels-half-open", "unparsable"),
        ("in the north", "0-1", "unparsable"),
        (True, "0-1", "unparsable"),
    ],
)
def test_boxes_as_they_are_written(answer: Any, form: str, verdict: str) -> None:
    case = replace(REF, extras={**REF.extras, "box_format": form})
    assert score(case, Prediction("answered", answer)).verdict == verdict


def test_an_unknown_format_and_an_unknown_rule() -> None:
    case = replace(REF, extras={**REF.extras, "box_format": "xywh"})
    with pytest.raises(InputError, match='Case 1: there is no box format "xywh"'):
        score(case, Prediction.of_text("[1, 2, 3, 4]"))
    with pytest.raises(InputError, match='The metric box has no rule "official-2"'):
        open_metric("box:official-2")


def test_the_size_of_an_image_is_read_where_it_is_not_said(tmp_path: Path) -> None:
    image = tmp_path / "a.tif"
    write_array(image, np.zeros((50, 200), dtype=np.uint8), Grid(Affine.identity(), (50, 200)))
    case = Case("1", image, "it", [20.0, 5.0, 40.0, 10.0], "ref", ("box",), extras={"box_format": "0-1"})
    assert score(case, Prediction.of_text("[0.1, 0.1, 0.2, 0.2]")).value == pytest.approx(1.0)


def test_iou_by_hand() -> None:
    assert iou((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(2 / 6)
    assert iou((0, 0, 1, 1), (1, 0, 2, 1)) == 0.0
    assert iou((1, 1, 1, 1), (1, 1, 1, 1)) == 0.0  # no area to share
    # the two boxes of the research note: 0.5 with 1 added to every length, 0.333 without
    assert inclusive_iou([50, 50, 52, 52], [51, 50, 53, 52]) == pytest.approx(0.5)
    assert iou((50, 50, 52, 52), (51, 50, 53, 52)) == pytest.approx(1 / 3)


def _ordered(box: tuple[int, ...]) -> tuple[int, ...]:
    return (*map(min, box[:2], box[2:]), *map(max, box[:2], box[2:]))


cells = st.tuples(*[st.integers(0, 40)] * 4).map(_ordered)


@given(cells, cells)
def test_iou_counts_pixels(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    painted = np.zeros((2, 42, 42), dtype=bool)
    for layer, (x0, y0, x1, y1) in zip(painted, (a, b), strict=True):
        layer[y0 : y1 + 1, x0 : x1 + 1] = True
    expected = (painted[0] & painted[1]).sum() / (painted[0] | painted[1]).sum()
    assert inclusive_iou(a, b) == pytest.approx(expected)
    # the conversion of cells to pixels is what makes the +1 right: both ways agree
    assert iou(box_px(REF, a, "0-100-inclusive"), box_px(REF, b, "0-100-inclusive")) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "value", "verdict"),
    [
        ("{<25><40><33><60>}", 1.0, "right"),
        ("It is at {<25><40><33><60>} and {<1><1><2><2>}", 1.0, "right"),  # the first four count
        ("[25.4, 33.6]", None, "wrong"),  # decimals split: 25, 4, 33, 6
        ("<-25> <40> <33> <60>", 1.0, "right"),  # signs vanish
        ("25 40 33", None, "unparsable"),
        ([128.0, 204.8, 174.0, 312.0], 1.0, "right"),  # our pixels become cells: 25, 40, 33, 60
    ],
)
def test_official_boxes(answer: Any, value: float | None, verdict: str) -> None:
    found = score(REF, Prediction("answered", answer), "box:official-0.5")
    assert found.verdict == verdict
    if value is not None:
        assert found.value == pytest.approx(value)


def test_a_box_without_area_can_be_hit_officially_only() -> None:
    case = replace(REF, truth=[128.0, 204.8, 128.0, 300.0], extras={"size_px": [512, 512]})
    answer = Prediction.of_text("{<25><40><25><58>}")
    assert score(case, answer, "box:official-0.5").verdict == "right"
    assert score(case, answer, "box:0.5").value == 0.0


def test_totals_keep_everything_in_the_denominator() -> None:
    pairs = [
        (REF, Prediction.of_text("{<25><40><33><60>}")),
        (REF, Prediction.of_text("{<25><40><33><52>}")),  # 9 x 13 of 9 x 21 cells: 0.619
        (REF, Prediction.of_text("nowhere")),
        (REF, Prediction("refused", reason="no ships")),
    ]
    for rule in ("0.5", "official-0.5"):
        found = BoxIou(rule).total(pairs)
        assert found == pytest.approx({"mean IoU": (1 + 13 / 21) / 4, "Acc@0.5": 0.5, "Acc@0.7": 0.25})
    assert BoxIou("0.5").total([]) == {"mean IoU": 0.0, "Acc@0.5": 0.0, "Acc@0.7": 0.0}


OBB = Case(
    "2", Path("a.png"), "the ship", [100.0, 100.0, 180.0, 160.0, 150.0, 200.0, 70.0, 140.0], "ref", ("oriented:0.5",),
    extras={"size_px": [512, 512]},
)  # fmt: skip
"""100 by 50 pixels, its long edge 3-4-5 down to the right."""


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (OBB.truth, 1.0),
        ([100.0, 100.0, 150.0, 200.0, 180.0, 160.0, 70.0, 140.0], 1.0),  # corners out of order cross themselves
        ("[100, 100, 180, 160, 150, 200, 70, 140]", 1.0),
        ("[100, 100, 150, 200, 36.8698976]", 1.0),  # opposite corners and the edge's direction
        ("[70, 100, 180, 200]", 5000 / 11000),  # the plain box around it
        ([100.0, 100.0] * 4, 0.0),
        ([300.0, 300.0, 310.0, 300.0, 310.0, 310.0, 300.0, 310.0], 0.0),
    ],
)
def test_oriented_boxes(answer: Any, value: float) -> None:
    assert score(OBB, Prediction("answered", answer)).value == pytest.approx(value, abs=1e-6)


def test_oriented_boxes_that_are_none() -> None:
    assert score(OBB, Prediction.of_text("[1, 2, 3]")).verdict == "unparsable"
    assert score(OBB, Prediction.of_text("{<1><2><3><4>}"), "oriented:official-0.5").verdict == "unparsable"
    assert score(OBB, Prediction("answered", [1.0]), "oriented:official-0.5").verdict == "unparsable"


def test_the_diagonal_and_its_edge_make_the_rectangle() -> None:
    corners = corners_of_diagonal(100, 100, 150, 200, math.degrees(math.atan2(60, 80)))
    assert [value for corner in corners for value in corner] == pytest.approx(OBB.truth)


@pytest.mark.parametrize("degrees", [30, 120, 210])
def test_the_official_geometry_takes_degrees_for_radians(degrees: int) -> None:
    # diagonal 50 long; sides 50 cos 30 and 50 sin 30; turned by that many radians, after whole half turns of degrees
    corners = np.array(official_corners([0, 0, 30, 40, degrees]))
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    assert sorted(sides) == pytest.approx([25, 25, 50 * math.sqrt(0.75), 50 * math.sqrt(0.75)])
    assert corners.mean(axis=0) == pytest.approx([15, 20])
    long = corners[0] - corners[3]
    assert math.degrees(math.atan2(-long[1], long[0])) % 180 == pytest.approx(math.degrees(degrees % 180) % 180)


def test_the_official_geometry_loses_the_sign() -> None:
    for text in ("{<19><19><29><39>|<36>}", "{<19><19><29><39>|<-36>}"):
        assert score(OBB, Prediction.of_text(text), "oriented:official-0.5").value == pytest.approx(1.0)
    assert score(OBB, Prediction("answered", OBB.truth), "oriented:official-0.5").value == pytest.approx(1.0)
    assert score(OBB, Prediction.of_text("{<19><19><29><39>|<36>}"), "oriented:0.5").value == pytest.approx(
        0.95, abs=0.05
    )
    # where the edge points up, the right answer is another rectangle than the one that the official code compares
    assert score(OBB, Prediction.of_text("{<19><19><29><39>|<-36>}"), "oriented:0.5").value == pytest.approx(
        0.2, abs=0.2
    )


def test_oriented_totals() -> None:
    pairs = [(OBB, Prediction("answered", OBB.truth)), (OBB, Prediction("failed"))]
    assert OrientedIou("0.5").total(pairs) == {"mean IoU": 0.5, "Acc@0.5": 0.5, "Acc@0.7": 0.5}


turned = st.tuples(
    st.tuples(st.floats(-20, 20), st.floats(-20, 20)), st.tuples(st.floats(2, 30), st.floats(2, 30)), st.floats(-90, 90)
)


@given(turned, turned)
def test_oriented_iou_is_opencv_s(a: Any, b: Any) -> None:
    shared = cv2.rotatedRectangleIntersection(a, b)[1]
    area = 0.0 if shared is None else cv2.contourArea(cv2.convexHull(shared))
    expected = area / (a[1][0] * a[1][1] + b[1][0] * b[1][1] - area)
    assume(abs(expected) < 0.999)  # OpenCV loses equal rectangles
    ours = polygon_iou(*([tuple(map(float, xy)) for xy in cv2.boxPoints(rect)] for rect in (a, b)))
    assert ours == pytest.approx(expected, abs=2e-3)
