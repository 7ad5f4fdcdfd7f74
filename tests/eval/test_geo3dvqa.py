"""Geo3DVQA: the public lines as cases, the official rules and the sane ones by hand, damaged lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swath.errors import InputError
from swath.eval.cases import Case, open_benchmark
from swath.eval.geo3dvqa_rules import first_integer
from swath.eval.scores import Prediction, open_metric, score
from swath.testing.benchmarks.geo3dvqa import FILE, IMAGE, OPEN, SHORT, write_geo3dvqa


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    return list(open_benchmark("geo3dvqa").cases(write_geo3dvqa(tmp_path_factory.mktemp("geo3dvqa"))))


def test_sixteen_categories(cases: list[Case]) -> None:
    assert [case.type for case in cases] == [category for category, _, _ in SHORT] + list(OPEN)
    assert [case.id for case in cases[:2] + cases[-1:]] == ["1", "2", "free-4"]
    assert cases[0].metrics == ("geo3dvqa:official", "geo3dvqa:sane")
    assert cases[-1].metrics == ("judge",)
    assert (cases[0].unit, cases[1].unit) == ("m", None)
    dsm = str(cases[0].image.with_name("338_5698_dem.tif"))
    assert cases[1].extras == {
        "group": "height_inference", "source": "duisburg", "choices": ["Region A", "Region B"], "height": {"dsm": dsm},
    }  # fmt: skip
    assert cases[-1].extras["group"] == "free"


def test_its_own_truths_are_right_by_both_rules(cases: list[Case]) -> None:
    for case in cases[: len(SHORT)]:
        for name in case.metrics:
            assert score(case, Prediction.of_text(case.truth), name).verdict == "right", case.type


def verdicts(category: str, truth: str, answer: object, unit: str | None = None) -> tuple[str, str]:
    """By the official rule and by the sane one."""
    case = Case("1", Path("a.tif"), "?", truth, category, unit="m" if category == "height_average" else None)
    prediction = Prediction("answered", answer, unit)
    return score(case, prediction, "geo3dvqa:official").verdict, score(case, prediction, "geo3dvqa:sane").verdict


@pytest.mark.parametrize(
    ("truth", "answer", "official", "sane"),
    [
        ("100 m", "130 m", "right", "right"),  # 30 % above 30 m, inclusive
        ("100 m", "131 m", "wrong", "wrong"),
        ("30 m", "39 m", "right", "right"),  # under 10 m up to 30 m, exclusive
        ("30 m", "40 m", "wrong", "wrong"),
        ("0 m", "0 m", "right", "right"),
        ("0 m", "3 m", "wrong", "right"),  # officially a truth of 0 is met exactly or not at all
        ("100 m", "About 1 in 2: 100 m", "wrong", "right"),  # the first integer
        ("20 m", "-20 m", "right", "wrong"),  # the sign vanishes
        ("1200 m", "1,200 m", "wrong", "right"),  # the comma splits
        ("30 m", "39.9 m", "right", "right"),
        ("100 m", "130.4 m", "right", "wrong"),  # cut off, not rounded
        ("30 m", "no idea", "wrong", "unparsable"),
        ("30 m", "", "unparsable", "unparsable"),
        ("30 m", "30 m " + "x" * 60, "unparsable", "right"),  # too long
        ("30 m", "9" * 5000, "unparsable", "unparsable"),
    ],
)
def test_heights(truth: str, answer: str, official: str, sane: str) -> None:
    assert verdicts("height_average", truth, answer) == (official, sane)


def test_measured_heights_are_read_with_their_unit() -> None:
    assert verdicts("height_average", "30 m", 31.2, "m") == ("right", "right")
    assert verdicts("height_average", "30 m", 3120.0, "cm") == ("wrong", "right")


@pytest.mark.parametrize(
    ("answer", "official", "sane"),
    [
        ("0.8", "right", "right"),
        (0.84, "right", "right"),
        ("0.75", "wrong", "right"),  # 0.8 - 0.75 is 0.05000000000000004
        ("0.86", "wrong", "wrong"),
        ("It is 0.8.", "unparsable", "right"),
        ("nan", "wrong", "unparsable"),
    ],
)
def test_sky_view_factors(answer: object, official: str, sane: str) -> None:
    assert verdicts("hard_pixel", "0.8", answer) == (official, sane)


@pytest.mark.parametrize(
    ("answer", "official", "sane"),
    [
        ("Region B, Region A, Region C", "right", "right"),
        ("B, A, C", "right", "right"),
        ("region b > region a > region c", "right", "right"),
        ("Region A, Region B, Region C", "wrong", "wrong"),
        ("B, A", "wrong", "wrong"),
        ("As a ranking: B, A, C", "wrong", "right"),  # the article is a letter
        ("none", "wrong", "unparsable"),
    ],
)
def test_rankings(answer: str, official: str, sane: str) -> None:
    assert verdicts("hard_ranking", "Region B, Region A, Region C", answer) == (official, sane)


@pytest.mark.parametrize(
    ("answer", "official", "sane"),
    [
        ("Region B", "right", "right"),
        ("b", "right", "unparsable"),
        ("B", "right", "right"),
        ("It is region B.", "right", "right"),
        ("It is B.", "wrong", "right"),
        ("Region B or Region A", "right", "unparsable"),  # the first one counts
        ("Not Region A but Region B", "wrong", "unparsable"),
        ("regional", "wrong", "unparsable"),
        (["Region B"], "right", "right"),
    ],
)
def test_regions(answer: object, official: str, sane: str) -> None:
    assert verdicts("highest_region", "Region B", answer) == (official, sane)


@pytest.mark.parametrize(
    ("answer", "official", "sane"),
    [
        ("(81.7%, 37.0%)", "right", "right"),
        ("(81.7%,37.0%)", "right", "right"),
        ("Point (81.7%, 37.0%)", "wrong", "right"),
        ("(37.0%, 81.7%)", "wrong", "wrong"),
    ],
)
def test_points(answer: str, official: str, sane: str) -> None:
    assert verdicts("sky_visibility", "(81.7%, 37.0%)", answer) == (official, sane)


@pytest.mark.parametrize(
    ("category", "answer", "official", "sane"),
    [
        ("land_use", "buildings, residential, bare_soil", "right", "right"),
        ("land_use", "Buildings, residential and bare soil.", "wrong", "right"),
        ("land_use", "buildings, residential", "wrong", "wrong"),
        ("landcover_type", "buildings, residential", "wrong", "wrong"),  # 2 of 3
        ("landcover_type", "buildings, residential, bare_soil, roads", "right", "right"),  # 3 of 4
        ("landcover_type", "buildings, residential, bare_soil, roads, water", "wrong", "wrong"),  # 3 of 5
    ],
)
def test_lists(category: str, answer: str, official: str, sane: str) -> None:
    assert verdicts(category, "residential, bare_soil, buildings", answer) == (official, sane)


def test_integers_as_the_official_code_finds_them() -> None:
    assert [first_integer(text) for text in ("12.5 m", "-3", "about", "1,200")] == [12, 3, None, 1]


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(InputError, match=r'geo3dvqa has no rule "kind"\. Next: choose one of official, sane\.'):
        open_metric("geo3dvqa:kind")


# Damaged folders

LINE = {"question_id": 7, "image": IMAGE, "answer": "30 m", "text": "How high?", "category": "height_average"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"answer": "high"}, 'line 2: key "answer" holds no whole number'),
        ({"answer": 30}, 'line 2: key "answer" is 30, not a text'),
        ({"category": "hard_pixel"}, 'line 2: key "answer" is no decimal number'),
        ({"category": None}, 'line 2: key "category" is missing'),
        ({"text": ""}, 'line 2: key "text" is empty'),
        ({"choices": "AB"}, 'line 2: key "choices" is no list of texts'),
        ({"image": "duisburg/gone.jp2"}, """line 2: key "image" names 'duisburg/gone.jp2', which is not in"""),
        ({"image": "../secret.jp2"}, """line 2: key "image" is '../secret.jp2', which is no path below"""),
        ({"question_id": 1}, "line 2: the id '1' has been used by line 1 already"),
        ({"question_id": {}}, 'line 2: key "question_id" is {}, not a text'),
    ],
)
def test_a_wrong_line_is_named(values: dict[str, object], said: str, tmp_path: Path) -> None:
    file = write_geo3dvqa(tmp_path) / FILE
    file.write_text(json.dumps(LINE | {"question_id": 1}) + "\n" + json.dumps(LINE | values) + "\n")
    with pytest.raises(InputError) as caught:
        list(open_benchmark("geo3dvqa").cases(tmp_path))
    assert said in str(caught.value)


def test_lines_without_ids_unknown_categories_and_images_elsewhere(tmp_path: Path) -> None:
    line = {key: value for key, value in LINE.items() if key != "question_id"}
    other = line | {"category": "shade", "answer": "Schatten – 影", "image": "köln/1_rgb.jp2"}
    (tmp_path / "some.jsonl").write_text(json.dumps(line) + "\n\n" + json.dumps(other))
    first, second = open_benchmark("geo3dvqa").cases(tmp_path)
    assert (first.id, second.id) == ("line 1", "line 3")
    assert score(second, Prediction.of_text("schatten – 影")).verdict == "right"
    assert "height" not in second.extras


def test_one_file_of_questions(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"has to hold one file of questions that ends in \.jsonl and holds 0 \(none\)"
    ):
        list(open_benchmark("geo3dvqa").cases(tmp_path))
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=r"holds 2 \(a\.jsonl, b\.jsonl\)\. Next: give a folder with the public file"):
        list(open_benchmark("geo3dvqa").cases(tmp_path))
