"""VRSBench: official files and annotations as cases, official numbers worked out by hand, perfect detections."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import swath
from swath.errors import InputError
from swath.eval.cases import Case, open_benchmark
from swath.eval.runner.results import read_results
from swath.eval.runner.run import run
from swath.eval.vrsbench.benchmark import TYPES
from swath.segment.annotated.objects import class_name
from swath.segment.boxes import box_px, cells_in, cells_of, corners_px, official_text
from swath.segment.lenient import loads
from swath.testing.benchmarks.vrsbench import COURSE, HARBOUR, OBJECTS, OFFICIAL_BOXES, write_vrsbench


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vrsbench(tmp_path_factory.mktemp("vrsbench"))


def cases(name: str, folder: Path, cache: Path | None = None) -> list[Case]:
    return list(open_benchmark(f"vrsbench-{name}").cases(folder, cache))


def test_captions(official: Path) -> None:
    harbour, course = cases("cap", official)
    assert (harbour.id, harbour.type, harbour.metrics) == ("0", "caption", ("caption",))
    assert harbour.question == "Describe the image in detail"
    assert harbour.truth == ["The image shows a harbor with two ships. A storage tank stands on the right."]
    assert harbour.image == official / "Images_val" / HARBOUR
    assert (harbour.extras["source"], course.extras["source"]) == ("DOTA-v2", "DIOR")


def test_references_in_pixels_with_the_official_box_beside(official: Path) -> None:
    found = cases("ref", official)
    assert [case.truth for case in found] == [
        [64, 64, 192, 128],
        [256, 352, 320, 416],
        pytest.approx([0.755 * 512, 0.255 * 512, 0.757 * 512, 0.385 * 512]),
        [128, 128, 384, 384],
    ]
    assert [case.extras["official_box"] for case in found] == [
        list(box) for name in (HARBOUR, COURSE) for box in OFFICIAL_BOXES[name]
    ]
    assert [case.extras["group"] for case in found] == ["non-unique", "non-unique", "unique", "unique"]
    assert [case.extras["size_group"] for case in found] == ["large", "medium", "small", "large"]
    assert {case.type for case in found} == {"ref"}
    assert found[3].question == "The golf field in the middle – “Zoë’s”."


def test_oriented_references_keep_their_corners(official: Path) -> None:
    found = cases("ref-obb", official)
    assert found[1].truth == [256, 384, 288, 352, 320, 384, 288, 416]
    assert found[1].metrics[0] == "oriented:0.5"


def test_twelve_raw_types_are_ten(official: Path) -> None:
    found = cases("vqa", official)
    assert len({case.extras["raw_type"] for case in found}) == len(TYPES) == 12
    assert len({case.type for case in found}) == 10
    assert Counter(case.type for case in found)["scene type"] == 3
    assert found[2].truth == "storage-tank"
    assert found[0].metrics == ("vqa:official", "vqa:strict")


@pytest.mark.parametrize("name", ["cap", "ref", "ref-obb", "vqa"])
def test_annotations_alone_give_the_same_cases(name: str, official: Path, tmp_path: Path) -> None:
    alone = write_vrsbench(tmp_path, evaluation=False)

    def content(case: Case) -> tuple[Any, ...]:
        return case.image.name, case.question, case.truth, case.type, case.metrics, case.extras

    by_file, by_annotation = (sorted(map(content, cases(name, folder)), key=repr) for folder in (official, alone))
    assert by_file == by_annotation


def test_ids_from_annotations_name_image_and_object(tmp_path: Path) -> None:
    found = cases("ref", write_vrsbench(tmp_path, evaluation=False))
    assert [case.id for case in found] == ["00914_0003:0", "P0003_0002:0", "P0003_0002:1", "P0003_0002:2"]


def test_cases_without_images_can_be_scored(official: Path, tmp_path: Path) -> None:
    found = cases("ref", write_vrsbench(tmp_path, images=False))
    assert [case.truth for case in found] == [case.truth for case in cases("ref", official)]


def test_image_sizes_are_read(tmp_path: Path) -> None:
    from PIL import Image

    write_vrsbench(tmp_path)
    Image.new("RGB", (200, 100)).save(tmp_path / "Images_val" / COURSE)
    assert cases("ref", tmp_path)[3].truth == [50, 25, 150, 75]


# Official boxes


@pytest.mark.parametrize("name", [HARBOUR, COURSE])
def test_official_boxes_by_hand(name: str) -> None:
    assert [tuple(cells_of(item["obj_corner"])) for item in OBJECTS[name]] == OFFICIAL_BOXES[name]


def test_official_boxes_are_cut_off_as_floats_are() -> None:
    """0.29 * 100 is 28.999999999999996, and upstream's int() makes 28 of it."""
    assert cells_of([0.29, 0.58, 0.57, 0.58, 0.57, 1.2, 0.29, -0.1]) == [28, 0, 56, 100]


def test_official_text_is_read_as_runs_of_digits() -> None:
    assert official_text([25, 40, 33, 60]) == "{<25><40><33><60>}"
    assert cells_in("{<25><40><33><60>}") == [25, 40, 33, 60]
    assert cells_in("[12.5, -3, 7]") == [12, 5, 3, 7]
    assert cells_in("12, 5 and 7") is None
    assert cells_in("٣٤ ٥ ٦ ٧") is None  # digits that int() would read
    assert cells_in("9" * 5000 + " 1 2 3") == [int("9" * 18), 1, 2, 3]


def test_boxes_in_pixels_are_cut_to_the_image_and_corners_are_not() -> None:
    corners = [-0.1, 0.5, 0.5, 0.5, 0.5, 1.1, -0.1, 1.1]
    assert box_px(corners, 200, 100) == [0, 50, 100, 100]
    assert corners_px(corners, 200, 100) == pytest.approx([-20, 50, 100, 50, 100, 110, -20, 110])


# Perfect detections


def test_annotated_objects_are_perfect_detections(official: Path, tmp_path: Path) -> None:
    case = cases("ref", official, tmp_path / "cache")[0]
    for question, wanted in (("How many ships are there?", 2), ("How many storage tanks are there?", 1)):
        answer = swath.ask(case.image, question, out=tmp_path / "runs", keep="light", **case.exact)
        assert answer.answer == wanted
    share = swath.ask(case.image, "What percentage of the image is ship?", out=tmp_path / "runs", **case.exact)
    assert share.answer == pytest.approx(100 * (128 * 64 + 64 * 64 / 2) / 512**2, rel=0.02)


def test_detections_hold_class_and_id_and_nothing_that_answers(official: Path, tmp_path: Path) -> None:
    case = cases("vqa", official, tmp_path)[-1]
    (feature,) = json.loads(case.exact["labels"].read_text())["features"]
    assert feature["properties"] == {"id": "0", "class": "golf field"}
    assert feature["geometry"]["coordinates"] == [[[128, 128], [384, 128], [384, 384], [128, 384], [128, 128]]]
    assert not list(case.exact["labels"].parent.glob("*.geojson.*"))


def test_no_cache_no_annotations_or_no_objects_mean_no_detections(official: Path, tmp_path: Path) -> None:
    assert cases("cap", official)[0].exact == {}
    assert cases("cap", write_vrsbench(tmp_path / "a", annotations=False), tmp_path / "cache")[0].exact == {}
    write_vrsbench(tmp_path / "b")
    file = tmp_path / "b" / "Annotations_val" / f"{Path(HARBOUR).stem}.json"
    line = [0.5, 0.5, 0.7, 0.5, 0.7, 0.5, 0.5, 0.5]
    flat = {"obj_id": 1, "obj_cls": "ship", "obj_corner": line}
    file.write_text(json.dumps({"image": HARBOUR, "objects": [flat]}))
    assert cases("cap", tmp_path / "b", tmp_path / "cache")[0].exact == {}
    assert not (tmp_path / "cache" / "vrsbench" / f"{Path(HARBOUR).stem}.geojson").exists()


def test_class_names_in_words() -> None:
    raw = ["golffield", "trainstation", "Storage-Tank", "expressway-service-area", "ship"]
    assert [class_name(name) for name in raw] == [
        "golf field", "train station", "storage tank", "expressway service area", "ship",
    ]  # fmt: skip


# Lenient JSON


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}),
        ('{a: 1, // why, "not"\n b: /* , } */ 2}', {"a": 1, "b": 2}),
        ('{"a": "x // y, }", "b": "/* z */",}', {"a": "x // y, }", "b": "/* z */"}),
        ('{"a": "two\nlines\tand a tab"}', {"a": "two\nlines\tand a tab"}),
        ('{"a": "cut \\\nline", }', {"a": "cut line"}),
        ('{"a": "\\u00e9 \\" \\\\", }', {"a": 'é " \\'}),
        ("{'a': '\\\\', 'b': '\\n'}", {"a": "\\", "b": "\n"}),
        ("[1, 2, /* last */ ]", [1, 2]),
    ],
)
def test_json_as_people_mend_it(text: str, value: object) -> None:
    assert loads(text, Path("a.json")) == value


@pytest.mark.parametrize(
    "text",
    [
        *("/* " * 50_000, "'" * 100_001, '"' + '\\"' * 50_000, "'" + "\\'" * 50_000 + "\\", "{" + "a" * 200_000),
        *("{a" + " " * 100_000 + "b", ("," + " " * 300) * 300, "{'a': 1, 'b': [2", "{a: 'b}", "[" * 100_000),
    ],
    ids=range(10),
)
def test_what_cannot_be_mended_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"^a\.json: (not JSON|nested too deeply)"):
        loads(text, Path("a.json"))


def test_oriented_references_are_answered_by_oriented_boxes(official: Path, tmp_path: Path) -> None:
    run("vrsbench-ref-obb", official, tmp_path / "out", planner="offline", oracle="segmenter")
    rows = read_results(tmp_path / "out").rows
    near = next(
        row for row in rows if row["question"] == "The smaller ship near the bottom." and row["cell"] != "plain"
    )
    assert near["prediction"]["answer"] == [pytest.approx([256, 384, 288, 352, 320, 384, 288, 416])]
    assert near["verdict"] == "right"
