"""GeoHeight-Bench in our layout: cases, the 20 % rule beside the card's, masks by object, damaged lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import swath
from swath.errors import InputError
from swath.eval.cases import Case, open_benchmark
from swath.eval.runner.results import read_results
from swath.eval.runner.run import run
from swath.eval.scores import Prediction, open_metric, score
from swath.raster.reader import open_raster
from swath.testing.benchmarks.geoheight import GROUND_M, LOW_M, TALL_M, TREE_M, write_geoheight
from swath.trace.reading import load_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_geoheight(tmp_path_factory.mktemp("geoheight"))


@pytest.fixture(scope="module")
def cases(folder: Path) -> dict[str, Case]:
    return {case.id: case for case in open_benchmark("geoheight").cases(folder)}


def test_lines_are_cases(cases: dict[str, Case], folder: Path) -> None:
    assert {case.tier for case in cases.values()} == {"pixel", "object", "scene", "reasoning"}
    tallest = cases["H3"]
    assert (tallest.truth, tallest.unit, tallest.tolerance_rel, tallest.type) == (20, "m", 0.2, "object height")
    assert tallest.image == folder / "image.tif"
    assert tallest.options == {"gsd_m": 0.5} | {name: folder / f"{name}.tif" for name in ("dsm", "dtm", "ndsm")}
    assert tallest.exact == {"labels": folder / "labels.tif", "legend": folder / "legend.json"}
    assert tallest.extras == {
        "answer": "number", "split": "base", "object": "building", "class": "building", "gsd_m": 0.5,
        "height": {name: str(folder / f"{name}.tif") for name in ("dsm", "dtm", "ndsm")},
    }  # fmt: skip
    assert json.loads(json.dumps(tallest.extras)) == tallest.extras


def test_the_fake_is_as_it_says(folder: Path) -> None:
    dsm, dtm, ndsm = (open_raster(folder / f"{name}.tif").read(1).data[0].filled() for name in ("dsm", "dtm", "ndsm"))
    assert np.array_equal(dsm - dtm, ndsm)
    assert sorted(np.unique(ndsm)) == [0, TREE_M, LOW_M, TALL_M]
    assert dtm.min() == dtm.max() == GROUND_M


@pytest.mark.parametrize(
    ("name", "said", "ours", "card"),
    [
        ("H3", "24 m", "right", "right"),  # a fifth above, inclusive
        ("H3", "16 m", "right", "right"),
        ("H3", "24.1 m", "wrong", "wrong"),
        ("H3", "The tallest of the 3 buildings has 2,000 cm.", "right", "right"),
        ("H3", "It is tall.", "unparsable", "unparsable"),
        # a negative truth: the card's formula divides by it, so that everything is right
        ("H1", "-2.4 m", "right", "right"),
        ("H1", "-2.41 m", "wrong", "right"),
        ("H1", "900 m", "wrong", "right"),
    ],
)
def test_a_fifth_of_the_truth(cases: dict[str, Case], name: str, said: str, ours: str, card: str) -> None:
    prediction = Prediction.of_text(said)
    assert score(cases[name], prediction).verdict == ours
    assert score(cases[name], prediction, "range:card").verdict == card


def test_a_truth_of_zero_is_right_only_within_its_absolute_tolerance(cases: dict[str, Case]) -> None:
    zero = cases["H2"]
    assert "range:card" not in zero.metrics  # its formula divides by zero there
    assert score(zero, Prediction("answered", 0.5, "m")).verdict == "right"
    assert score(zero, Prediction("answered", 0.51, "m")).verdict == "wrong"


def test_names_and_yes_or_no(cases: dict[str, Case]) -> None:
    for said in ("the western building", "Western", "left"):
        assert score(cases["H4"], Prediction.of_text(said)).verdict == "right"
    assert score(cases["H4"], Prediction.of_text("the eastern building")).verdict == "wrong"
    assert score(cases["H7"], Prediction("answered", "yes")).verdict == "right"
    assert cases["H8"].metrics == ("judge",)


def test_masks_apart_by_object(cases: dict[str, Case]) -> None:
    """By hand: of 100 pixels of buildings half are found; of 36 of trees all, with 36 others."""
    building, tree = cases["H5"], cases["H6"]
    half, double = np.zeros((2, 40, 60), dtype=bool)
    half[5:15, 5:10] = True
    double[25:31, 10:22] = True
    pairs = [(building, Prediction("answered", half)), (tree, Prediction("answered", double))]
    assert [score(*pair).value for pair in pairs] == [0.5, 0.5]
    total = open_metric("mask").total(pairs)  # type: ignore[attr-defined]
    assert total["IoU building"] == total["IoU tree"] == total["mIoU"] == 0.5
    assert total["cIoU"] == (50 + 36) / (100 + 72)


PROGRAMS = {
    "H1": 'reply(elevation_m(row_px=20, column_px=20, surface="dtm"), kind="quantity", unit="m")',
    "H3": 'reply(height_statistic_m(tallest(components(segment("building")))), kind="quantity", unit="m")',
    "H5": 'b = components(segment("building"))\nreply(mask_of(with_height(b, larger_than_m=10)), kind="mask")',
    "H6": 'reply(segment("tree"), kind="mask")',
    "H7": 'reply("yes" if flat_share_percent() == 100 else "no", kind="category")',
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_heights_and_masks_are_measured_from_what_a_case_gives(
    cases: dict[str, Case], tmp_path: Path, name: str
) -> None:
    case = cases[name]
    given = {**case.options, **case.exact}
    answer = swath.ask(case.image, case.question, program=PROGRAMS[name], out=tmp_path, keep="light", **given)
    for said in (Prediction.of_answer(answer), Prediction.of_run(load_run(Path(str(answer.run))))):
        assert score(case, said).value == 1
        assert score(case, said).verdict == "right"


def test_a_map_of_classes_is_scored_by_its_names(folder: Path, tmp_path: Path) -> None:
    """The answer's first class is the truth's second: by their values nothing would be right."""
    line = {"id": "M", "level": "object", "task": "map", "question": "Segment the trees and the buildings",
            "type": "mask", "image": "image.tif", "mask": "labels.tif", "labels": "labels.tif",
            "legend": "legend.json", "classes": {"1": "building", "2": "tree", "3": "ground"}}  # fmt: skip
    data = tmp_path / "data"
    shutil.copytree(folder, data)
    (data / "geoheight.jsonl").write_text(json.dumps(line))
    run("geoheight", data, tmp_path / "out", planner="offline", oracle="segmenter")
    row = next(row for row in read_results(tmp_path / "out").rows if row["cell"] != "plain")
    assert row["scores"][0]["value"] == pytest.approx(2 / 3), row  # buildings and trees whole, the ground not asked


LINE = {"id": 1, "level": "pixel", "task": "elevation", "question": "How high?", "type": "number", "unit": "m",
        "answer": 5, "image": "image.tif", "dsm": "dsm.tif"}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("id", None, "is missing, where a text is needed"),
        ("id", [], "is [], not a text"),
        ("level", "sky", "is 'sky', not one of pixel, object, scene, reasoning"),
        ("type", "essay", "is 'essay', not one of number, yes/no, name, mask, text"),
        ("task", "", "is empty"),
        ("question", None, "is missing"),
        ("answer", None, "is missing, where a finite number is needed"),
        ("answer", "5 m", "is '5 m', not a finite number"),
        ("answer", True, "is True, not a finite number"),
        ("answer", float("inf"), "is inf, not a finite number"),
        ("answer", 10**400, "not a finite number"),
        ("tolerance_abs", -1, "is negative"),
        ("tolerance_rel", -0.2, "is negative"),
        ("tolerance_rel", "20 %", "is '20 %', not a finite number"),
        ("gsd_m", -1, "is negative"),
        ("object", "bridge", "is 'bridge', not one of building, tree"),
        ("classes", ["building"], "is no object of values and their names"),
        ("classes", {"one": "building"}, "is no object of values and their names"),
        ("classes", {"1": " "}, "is no object of values and their names"),
        ("image", "gone.tif", "names 'gone.tif', which is not in"),
        ("image", "../image.tif", "is '../image.tif', which is no path below"),
        ("image", "/etc/passwd", "is '/etc/passwd', which is no path below"),
        ("dsm", "gone.tif", "names 'gone.tif', which is not in"),
        ("dsm", 7, "is 7, not a text"),
        ("dsm", "x" * 5000, "xxx..., which is no path below"),
        ("dsm", "bild\0.tif", "is 'bild\\x00.tif', which is no path below"),
        ("labels", "..\\labels.tif", "which is no path below"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: object, said: str, folder: Path) -> None:
    sentence = broken(folder, LINE | {key: value})
    assert f'line 2: key "{key}" ' in sentence
    assert said in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"type": "yes/no", "answer": "maybe"}, """key "answer" is 'maybe', not "yes" or "no\""""),
        ({"type": "mask"}, 'key "mask" is missing'),
        ({"type": "mask", "mask": "gone.tif"}, """key "mask" names 'gone.tif', which is not in"""),
        ({"type": "name", "answer": "A", "aliases": "a"}, 'key "aliases" is no list of texts'),
        ({"type": "text", "answer": 5}, 'key "answer" is 5, not a text'),
        ({"id": 0}, "line 2: the id '0' has been used by line 1 already"),
    ],
)
def test_a_line_of_another_kind(values: dict[str, object], said: str, folder: Path) -> None:
    assert said in broken(folder, LINE | values)


def broken(folder: Path, line: dict[str, object]) -> str:
    """The error of a good line and then this one."""
    file = folder / "geoheight.jsonl"
    before = file.read_text(encoding="utf-8")
    file.write_text(json.dumps(LINE | {"id": 0}) + "\n" + json.dumps(line), encoding="utf-8")
    try:
        with pytest.raises(InputError) as caught:
            list(open_benchmark("geoheight").cases(folder))
    finally:
        file.write_text(before, encoding="utf-8")
    return str(caught.value)


def test_no_json_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no geoheight.jsonl. Next: give the folder that holds it"):
        list(open_benchmark("geoheight").cases(tmp_path))
    (tmp_path / "geoheight.jsonl").write_text("\n{'id': 1}\n")
    with pytest.raises(InputError, match=r"geoheight.jsonl, line 2: not JSON \(Expecting property name .*\)\. Next:"):
        list(open_benchmark("geoheight").cases(tmp_path))


def test_huge_truths_keep_finite_ranges(folder: Path) -> None:
    file = folder / "geoheight.jsonl"
    before = file.read_text(encoding="utf-8")
    file.write_text(json.dumps(LINE | {"answer": 1.7e308}), encoding="utf-8")
    try:
        (case,) = open_benchmark("geoheight").cases(folder)
    finally:
        file.write_text(before, encoding="utf-8")
    assert all(map(np.isfinite, case.ranges["card"]))
