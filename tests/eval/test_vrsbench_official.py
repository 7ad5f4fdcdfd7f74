"""VRSBench's own numbers on cases worked out by hand, and the published rows."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from swath.eval.cases import Case, open_benchmark
from swath.eval.scores import Prediction, open_metric, score
from swath.eval.vrsbench.published import MEANS, published
from swath.testing.benchmarks.vrsbench import write_vrsbench

QUESTIONS = {
    "object category": 5435, "object existence": 7789, "object quantity": 6374, "object color": 3550,
    "object shape": 1422, "object size": 1011, "object position": 5829, "object direction": 477, "scene type": 4620,
    "reasoning": 902,
}  # fmt: skip
OFFICIAL = {
    "vrsbench-cap": {"caption": 9350},
    "vrsbench-ref": {"ref": 16159},
    "vrsbench-ref-obb": {"ref": 16159},
    "vrsbench-vqa": QUESTIONS,
}


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    return list(open_benchmark("vrsbench-ref").cases(write_vrsbench(tmp_path_factory.mktemp("vrsbench"))))


@pytest.mark.parametrize(
    ("number", "said", "iou"),
    [
        (0, "{<12><12><37><25>}", 1.0),
        # 26 x 14 cells against 26 x 7: the lower half is missing
        (0, "{<12><12><37><18>}", 0.5),
        (0, "The ship is at [12, 12, 37, 25].", 1.0),
        # 12.9 is read as 12 and 9: 12, 9, 12, 37 is 1 cell wide and shares 14 cells with 26 x 14; 29 + 364 - 14
        (0, "12.9, 12, 37, 25", 14 / 379),
        # the sign vanishes
        (0, "{<-12><12><37><25>}", 1.0),
        # a box without width still has one column: 14 cells each, 7 of them shared
        (2, "{<75><32><75><45>}", 7 / 21),
        (2, "{<75><25><76><38>}", 0.5),
        (3, "{<0><0><24><24>}", 0.0),
    ],
)
def test_grounding_by_the_official_arithmetic(references: list[Case], number: int, said: str, iou: float) -> None:
    found = score(references[number], Prediction.of_text(said), "box:official-0.5")
    assert found.value == pytest.approx(iou)
    assert found.verdict == ("right" if iou >= 0.5 else "wrong")


def test_fewer_than_four_numbers_stay_in_the_denominator(references: list[Case]) -> None:
    """By hand: IoUs 1, 0.5, none and 0.25 of four."""
    said = ["{<12><12><37><25>}", "{<50><68><62><74>}", "no such tank", "{<25><25><75><37>}"]
    pairs = [(case, Prediction.of_text(text)) for case, text in zip(references, said, strict=True)]
    assert score(*pairs[2]).verdict == "unparsable"
    total = open_metric("box:official-0.5").total(pairs)  # type: ignore[attr-defined]
    assert total["Acc@0.5"] == 2 / 4
    assert total["Acc@0.7"] == 1 / 4
    # 13 x 14 against 13 x 7; 51 x 51 against 51 x 13
    assert total["mean IoU"] == pytest.approx((1 + 0.5 + 0 + 13 / 51) / 4)


def test_an_exact_box_in_pixels_is_right_by_either_rule(references: list[Case]) -> None:
    for case in references:
        exact = Prediction("answered", case.truth)
        assert [score(case, exact, name).value for name in case.metrics] == [1, 1, pytest.approx(1), pytest.approx(1)]


def test_the_true_corners_are_right_by_either_geometry(tmp_path: Path) -> None:
    for case in open_benchmark("vrsbench-ref-obb").cases(write_vrsbench(tmp_path)):
        found = [score(case, Prediction("answered", case.truth), name) for name in case.metrics]
        # By the official geometry the axis-parallel boxes have no area at all, since their angle is 0.
        slanted = case.id == "1"
        assert [score.value for score in found] == pytest.approx([1, 1, float(slanted), float(slanted)])


def test_answers_by_the_substring_rule_and_strictly(tmp_path: Path) -> None:
    """Right by the official rule without a judge, and strictly, one by one; by hand."""
    said = ["12", "Yes, on the right", "storage tank", "white or grey", "Round", "Top-left one", "upright", "north",
            "No", "RURAL", "a golf course", "golf"]  # fmt: skip
    official = [1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0]
    strict = [0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0]
    cases = list(open_benchmark("vrsbench-vqa").cases(write_vrsbench(tmp_path)))
    pairs = [(case, Prediction.of_text(text)) for case, text in zip(cases, said, strict=True)]
    assert [score(*pair, "vqa:official").value for pair in pairs] == official
    assert [score(*pair, "vqa:strict").value for pair in pairs] == strict


def test_a_caption_that_repeats_its_reference(tmp_path: Path) -> None:
    """By hand: 15 and 9 words; nothing is left to be desired but CIDEr-D's 10."""
    cases = list(open_benchmark("vrsbench-cap").cases(write_vrsbench(tmp_path)))
    total = open_metric("caption").total([(case, Prediction.of_text(case.truth[0])) for case in cases])  # type: ignore[attr-defined]
    assert total["Avg_L"] == (15 + 9) / 2
    assert [total[name] for name in ("BLEU-1", "BLEU-4", "ROUGE_L")] == pytest.approx([1, 1, 1])


# Published rows


@pytest.mark.parametrize(("benchmark", "types"), OFFICIAL.items())
def test_official_counts_are_recognised(benchmark: str, types: dict[str, int]) -> None:
    rows = published(benchmark, types)
    assert rows
    assert all(row.source and row.date for row in rows)
    assert not published(benchmark, {name: count - 1 for name, count in types.items()})
    assert not published(benchmark, types | {"other": 1})
    assert not published("squid", types)


def test_a_fake_never_stands_beside_published_rows(references: list[Case]) -> None:
    assert published("vrsbench-ref", {"ref": len(references)}) == ()


def test_questions_add_up() -> None:
    assert sum(QUESTIONS.values()) == 37_409


def test_published_averages_of_questions_are_told_apart() -> None:
    """What the tables print is one of two means, and the note says which."""
    rows = published("vrsbench-vqa", QUESTIONS)
    assert [row.method for row in rows[:2]] == ["GeoChat w/o ft", "GPT-4V"]
    for row in rows:
        over_types, over_questions = (row.scores[name] for name in MEANS)
        printed = row.scores["as printed"]
        named = {"types": abs(printed - over_types) <= 0.15, "questions": abs(printed - over_questions) <= 0.15}
        assert [word for word, near in named.items() if near] == [
            word for word in named if f"mean over {word}" in row.note
        ]


@pytest.mark.parametrize("benchmark", ["vrsbench-ref", "vrsbench-ref-obb"])
def test_published_groups_add_up_where_no_note_says_otherwise(benchmark: str) -> None:
    """Of the references 42 % are unique: then the accuracy over all is the mean of the groups so weighted."""
    for row in published(benchmark, OFFICIAL[benchmark]):
        unique, other, both = (row.scores[f"{name} Acc@0.5"] for name in ("unique", "non-unique", "all"))
        adds_up = abs(0.42 * unique + 0.58 * other - both) < 0.25
        assert adds_up != ("contradicts" in row.note), row


def test_the_reference_file_has_no_row_twice() -> None:
    found = json.loads(files("swath.eval.vrsbench").joinpath("published.json").read_text(encoding="utf-8"))
    keys = [(row["benchmark"], row["method"], row["source"]) for row in found["rows"]]
    assert len(set(keys)) == len(keys)
    assert {row["source"] for row in found["rows"]} == set(found["sources"])
