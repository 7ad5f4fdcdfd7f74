"""Masks: files and arrays, classes, images and sums, empty masks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from affine import Affine

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics.masks import MaskIou
from swath.eval.scores import Prediction, score
from swath.raster.grid import Grid
from swath.raster.write import write_array, write_classes, write_mask

SHAPE = (20, 30)


def _painted(value: int, cols: slice) -> np.ndarray[Any, Any]:
    pixels = np.zeros(SHAPE, dtype=np.uint8)
    pixels[:, cols] = value
    return pixels


def _case(truth: Any, **extras: Any) -> Case:
    return Case("m", Path("a.tif"), "the buildings", truth, "segmentation", ("mask",), extras=extras)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    write_array(tmp_path / "truth.tif", _painted(255, slice(0, 10)), Grid(Affine.identity(), SHAPE))
    return tmp_path / "truth.tif"


def test_files_and_arrays(truth: Path, tmp_path: Path) -> None:
    write_mask(tmp_path / "given.tif", _painted(1, slice(5, 15)) > 0, Grid(Affine.identity(), SHAPE))
    file, pixels = tmp_path / "given.tif", _painted(7, slice(5, 15))
    for given in (file, str(file), pixels, pixels > 0):
        found = score(_case(truth), Prediction("answered", given))
        assert found.value == pytest.approx(5 / 15)
        assert (found.verdict, found.metric) == ("wrong", "mask:sane")
    assert score(_case(truth), Prediction("answered", truth)).verdict == "right"
    assert score(_case(truth), Prediction("answered", _painted(1, slice(0, 5)))).verdict == "right"  # 0.5, inclusive


def test_pixels_without_data_are_no_mask(truth: Path, tmp_path: Path) -> None:
    given = _painted(1, slice(0, 10))
    given[:, 20:] = 9
    write_array(tmp_path / "void.tif", given, Grid(Affine.identity(), SHAPE), nodata=9)
    assert score(_case(truth), Prediction("answered", tmp_path / "void.tif")).value == 1.0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (np.zeros((3, 3)), r"a mask of \(3, 3\) for one of \(20, 30\) pixels"),
        ("gone.tif", "gone.tif"),
        (5, "int is neither the path of a mask nor an array"),
        (["a"], "list is neither"),
    ],
)
def test_what_is_no_mask(truth: Path, given: Any, why: str) -> None:
    found = score(_case(truth), Prediction("answered", given))
    assert found.verdict == "unparsable"
    assert re.search(why, found.why)


def test_a_truth_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Case m: its mask cannot be used: "):
        score(_case(tmp_path / "gone.tif"), Prediction("answered", _painted(1, slice(0, 1))))


@pytest.mark.parametrize(("rule", "value"), [("sane", 1.0), ("card", 0.0)])
def test_two_empty_masks(rule: str, value: float) -> None:
    empty = np.zeros(SHAPE)
    assert score(_case(empty), Prediction("answered", empty), f"mask:{rule}").value == value


def test_classes_are_averaged() -> None:
    truth = _painted(1, slice(0, 10)) + _painted(2, slice(10, 20))
    given = _painted(1, slice(0, 5)) + _painted(2, slice(5, 20)) + _painted(3, slice(20, 30))
    # class 1: 5 of 10 columns, class 2: 10 of 15, class 3 is not in the truth
    assert score(_case(truth), Prediction("answered", given)).value == pytest.approx((5 / 10 + 10 / 15 + 0) / 3)


def _classes(path: Path, names: list[str], *columns: slice) -> Path:
    """A map of classes, the first name of value 1; beside it the file that names them."""
    pixels = sum((_painted(value, cols) for value, cols in enumerate(columns, start=1)), np.zeros(SHAPE, np.uint8))
    write_classes(path, pixels, Grid(Affine.identity(), SHAPE), ["", *names], [(value, 0, 0) for value in range(4)])
    return path


LEFT, MIDDLE, RIGHT = slice(0, 10), slice(10, 20), slice(20, 30)


def test_classes_of_other_values_are_matched_by_their_names(tmp_path: Path) -> None:
    truth = _classes(tmp_path / "truth.tif", ["building", "tree"], LEFT, MIDDLE)
    other = _classes(tmp_path / "other.tif", ["trees", "house over 5 m", "buildings"], slice(10, 15), RIGHT, LEFT)
    found = score(_case(truth), Prediction("answered", other))
    assert found.value == pytest.approx((1 + 0.5 + 0) / 3)  # buildings, half of the trees, and what is not in the truth
    assert found.why == "IoU 0.5000, right from 0.5"
    total = MaskIou().total([(_case(truth), Prediction("answered", other))])
    assert (total["IoU building"], total["IoU tree"], total["IoU house over 5 m"]) == (1, 0.5, 0)


def test_a_class_with_a_condition_is_the_class_where_no_other_is(tmp_path: Path) -> None:
    truth = _classes(tmp_path / "truth.tif", ["tree", "building"], MIDDLE, LEFT)
    tall = _classes(tmp_path / "tall.tif", ["building taller than 5 m", "tree"], LEFT, MIDDLE)
    assert score(_case(truth), Prediction("answered", tall)).value == 1
    two = _classes(tmp_path / "two.tif", ["building over 5 m", "building up to 5 m", "tree"], LEFT, RIGHT, MIDDLE)
    assert score(_case(truth), Prediction("answered", two)).value == pytest.approx(1 / 4)  # neither of the two


def test_values_count_only_where_the_answer_names_none(tmp_path: Path) -> None:
    codes = _painted(1, LEFT) + _painted(2, MIDDLE)
    truth = _classes(tmp_path / "truth.tif", ["building", "tree"], LEFT, MIDDLE)
    found = score(_case(truth), Prediction("answered", codes))
    assert (found.value, found.why) == (
        1, "IoU 1.0000, right from 0.5; classes by value, as the answer names none",
    )  # fmt: skip
    named = _classes(tmp_path / "named.tif", ["tree", "building"], MIDDLE, LEFT)
    said = r"Case m: its mask cannot be used: its classes \(1, 2\) have no names, those of the answer do \(tree, buil"
    with pytest.raises(InputError, match=said):
        score(_case(codes), Prediction("answered", named))
    case = _case(codes, classes={"1": "building", "2": "tree"})
    assert score(case, Prediction("answered", named)).value == 1


def test_totals_by_hand() -> None:
    big, small = _painted(1, slice(0, 20)), _painted(1, slice(0, 2))
    pairs = [
        (_case(big, **{"class": "building"}), Prediction("answered", _painted(1, slice(0, 10)))),
        (_case(small, **{"class": "tree"}), Prediction("answered", small)),
        (_case(small, **{"class": "tree"}), Prediction("refused", reason="no trees")),
        (_case(small, **{"class": "tree"}), Prediction.of_text("trees")),
    ]
    assert MaskIou().total(pairs) == pytest.approx(
        {
            "mIoU": (10 / 20 + 1 + 0 + 0) / 4,
            "cIoU": (10 + 2) / (20 + 2 + 2 + 2),
            "mIoU of classes": (10 / 20 + 2 / 6) / 2,
            "IoU building": 0.5,
            "IoU tree": 2 / 6,
        }
    )


def test_random_masks_against_sets_of_pixels() -> None:
    rng = np.random.default_rng(5)
    pairs, shared, union, per_image = [], 0, 0, []
    for _ in range(20):
        a, b = rng.random((2, *SHAPE)) < rng.random()
        first, second = ({tuple(p) for p in np.argwhere(m)} for m in (a, b))
        shared, union = shared + len(first & second), union + len(first | second)
        per_image.append(len(first & second) / len(first | second) if first | second else 1.0)
        pairs.append((_case(a), Prediction("answered", b)))
    found = MaskIou().total(pairs)
    assert found["cIoU"] == pytest.approx(shared / union)
    assert found["mIoU"] == pytest.approx(np.mean(per_image))


def test_an_unknown_rule() -> None:
    with pytest.raises(InputError, match=r'The metric mask has no rule "0\.5"\. Next: choose one of sane, card\.'):
        MaskIou("0.5")
