"""The adapter for SQuID: every layout gives the same cases, and a malformed row is one clear sentence."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import swath
from swath.errors import InputError
from swath.eval.cases import Case, open_benchmark
from swath.eval.labels_dir import with_labels
from swath.eval.scores import Prediction, scores
from swath.eval.squid.benchmark import Squid
from swath.eval.squid.files import read_rows
from swath.eval.squid.wording import TYPES
from swath.testing.benchmarks.squid import FakeSquid, Layout, write_squid

ONE_END = ", where the other end of the range is given"


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> FakeSquid:
    return write_squid(tmp_path_factory.mktemp("squid"), layout="jsonl", embedded=False)


@pytest.fixture(scope="module")
def cases(fake: FakeSquid) -> list[Case]:
    return list(Squid().cases(fake.data))


def essence(case: Case) -> tuple[Any, ...]:
    """What has to be the same in every layout; `image` differs where images are embedded."""
    return (case.id, case.question, case.truth, case.type, case.tier, case.unit, case.metrics, dict(case.options),
            dict(case.ranges), dict(case.extras))  # fmt: skip


@pytest.mark.parametrize("layout", ["parquet", "arrow", "arrow-stream", "saved", "json", "jsonl"])
@pytest.mark.parametrize("embedded", [True, False])
def test_every_layout_gives_the_same_cases(layout: Layout, embedded: bool, cases: list[Case], tmp_path: Path) -> None:
    for columns in ("shipped", "card"):
        made = write_squid(tmp_path / columns, layout=layout, columns=columns, embedded=embedded)
        found = list(Squid().cases(made.data, tmp_path / "cache"))
        assert [essence(case) for case in found] == [essence(case) for case in cases]
        assert {case.image.parent for case in found} == {tmp_path / "cache" if embedded else made.data / "images"}
    assert not embedded or len(list((tmp_path / "cache").iterdir())) == 2, "an image is written once"


def test_datasets_loads_what_is_not_a_folder(
    cases: list[Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "hub"))
    made = write_squid(tmp_path / "made")
    found = list(Squid().cases(Path(f"hf:{made.data}"), tmp_path / "cache"))
    assert [essence(case) for case in found] == [essence(case) for case in cases]


def test_a_dataset_out_of_reach_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")

    def out_of_reach(name: str, split: str) -> None:
        raise ConnectionError(f"no route to {name}")

    monkeypatch.setattr(datasets, "load_dataset", out_of_reach)
    with pytest.raises(InputError) as caught:
        next(Squid().cases(Path("hf:owner/SQuID")))
    assert str(caught.value) == (
        "The dataset owner/SQuID is neither in the cache of the package datasets nor can it be fetched "
        "(ConnectionError). Next: fetch it where there is a network, or give a folder with its files."
    )


def test_without_a_cache_images_go_to_the_persons_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    made = write_squid(tmp_path / "made")
    assert next(Squid().cases(made.data)).image.parent == tmp_path / "home" / "swath" / "squid"


def test_it_is_registered_and_its_cases_hold_what_the_rows_say(fake: FakeSquid, cases: list[Case]) -> None:
    assert isinstance(open_benchmark("squid"), Squid)
    assert [case.id for case in cases] == [row["id"] for row in fake.rows]
    assert {case.type for case in cases} == set(TYPES)
    assert [case.tier for case in cases] == [str(row["tier"]) for row in fake.rows]
    assert {case.options["gsd_m"] for case in cases} == {0.3, 0.5}
    assert all(case.extras["binary"] == case.type.startswith("binary_") for case in cases)
    assert all(set(case.extras) >= {"answer", "binary", "gsd_m", "rule"} for case in cases)
    json.dumps([dict(case.extras) for case in cases])


def test_the_headline_is_the_shipped_range_with_the_others_beside(cases: list[Case]) -> None:
    by_type = {case.type: case for case in cases[:24]}
    area = by_type["proximity_area"]
    assert area.metrics == ("range:shipped", "range:sane", "range:card", "exact:official")
    assert area.extras["rule"] == "shipped"
    assert by_type["percentage"].metrics == ("range:shipped", "range:card", "exact:official")
    assert by_type["total_area"].metrics == ("range:shipped", "range:squid-fit", "exact:official")
    assert by_type["binary_presence"].metrics == ("exact", "exact:official")
    assert by_type["binary_presence"].truth == "yes"
    assert by_type["fragmentation"].truth == "fragmented"
    zero = next(case for case in cases[24:] if case.type == "power_calculation")
    assert (zero.truth, zero.metrics) == (0, ("range:sane", "exact:official"))


def one(tmp_path: Path, **columns: Any) -> list[Case]:
    """The cases of a file with one good row, its columns replaced by others; ... leaves a column out."""
    made = write_squid(tmp_path / "one", layout="jsonl", embedded=False)
    row = {**made.rows[0], **columns}
    file = made.data / "train.jsonl"
    file.write_text(json.dumps({key: value for key, value in row.items() if value is not ...}), encoding="utf-8")
    return list(Squid().cases(file))


def test_without_a_range_the_card_decides(tmp_path: Path) -> None:
    case = one(tmp_path, acceptable_range_lower=..., acceptable_range_upper=...)[0]
    assert case.metrics[0] == "range:card" and case.extras["rule"] == "card"
    assert case.ranges["card"] == pytest.approx((case.truth - 1.74, case.truth + 1.74))


def test_without_a_range_and_a_rule_of_the_card_the_fit_decides(tmp_path: Path) -> None:
    case = one(
        tmp_path, question="What is the total forest area (in hectares)?", type="total_area", answer="80",
        acceptable_range_lower=None, acceptable_range_upper=float("nan"),
    )[0]  # fmt: skip
    assert case.metrics == ("range:squid-fit", "exact:official") and case.ranges["squid-fit"] == (78.2, 81.8)


def test_contradiction_4_strings_are_compared_only_beside_the_range(cases: list[Case]) -> None:
    case = cases[0]
    said = Prediction("answered", case.truth + 0.01, "percent")
    assert [score.verdict for score in scores(case, said)] == ["right", "right", "wrong"]


@pytest.mark.parametrize("said", ["1", "1.0", "True", "yes", "Yes.", 1, 1.0, True])
def test_contradiction_5_every_honest_spelling_of_yes_is_right(cases: list[Case], said: Any) -> None:
    case = next(case for case in cases if case.type == "binary_presence")
    honest, official = scores(case, Prediction("answered", said))
    assert honest.verdict == "right"
    assert (official.verdict == "right") == (str(said) == "1")


def test_contradiction_6_binaries_can_be_told_apart(cases: list[Case]) -> None:
    binary = [case for case in cases if case.extras["binary"]]
    assert len(binary) == 10 and {case.truth for case in binary} == {"yes", "no"}


def test_contradiction_7_a_buffer_wider_than_its_tile_is_marked(tmp_path: Path) -> None:
    question = "What percentage of the image is urban area within {}m of water? (GSD: 0.5m)"
    flags = {
        metres: one(tmp_path / str(metres), question=question.format(metres))[0].extras["buffer_swallows_image"]
        for metres in (20, 79, 80, 500)
    }
    assert flags == {20: False, 79: False, 80: True, 500: True}


def test_a_clash_of_pixel_sizes_is_reported_and_the_question_wins(tmp_path: Path) -> None:
    case = one(tmp_path, gsd=1.0)[0]
    assert case.options["gsd_m"] == 0.5
    assert case.extras["gsd_clash"] == "the question states 0.5 m and the column 1 m; the question's is used"
    assert "gsd_clash" not in one(tmp_path / "b", gsd=0.5000000119)[0].extras


def test_the_column_stands_in_for_a_question_that_states_no_pixel_size(tmp_path: Path) -> None:
    question = "What percentage of the image is forest?"
    assert one(tmp_path, question=question)[0].options == {"gsd_m": 0.5}
    assert one(tmp_path / "b", question=question, gsd=None)[0].options == {}


def test_an_inverted_shipped_range_gives_no_headline(tmp_path: Path) -> None:
    case = one(tmp_path, acceptable_range_lower=9.0, acceptable_range_upper=1.0)[0]
    assert case.metrics[0] == "range:card" and case.ranges["shipped"] == (9, 1)


def test_an_unknown_type_is_a_case_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r'SQuID has a new type "roof_share": its unit is read off the question\.'):
        case = one(tmp_path, type="roof_share", tier=None)[0]
    assert (case.type, case.tier, case.unit) == ("roof_share", None, "percent")
    with pytest.warns(UserWarning, match="roof_colour"):
        named = one(tmp_path / "b", type="roof_colour", answer="Red")[0]
    assert (named.truth, named.metrics[0]) == ("red", "exact")


def test_fragmentation_of_nothing_is_absent(tmp_path: Path) -> None:
    case = one(tmp_path, type="fragmentation", answer="0")[0]
    assert case.truth == "absent"
    assert scores(case, Prediction("answered", 0))[0].verdict == "right"
    assert scores(case, Prediction("answered", "absent"))[0].verdict == "right"
    assert scores(case, Prediction("answered", "connected"))[0].verdict == "wrong"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"question": ...}, 'key "question" is missing, where a text is needed'),
        ({"id": None}, 'key "id" is missing, where a text is needed'),
        ({"answer": "about 3"}, "key \"answer\" is 'about 3', not a finite number"),
        ({"answer": "nan"}, "key \"answer\" is 'nan', not a finite number"),
        ({"type": "binary_presence", "answer": "2"}, "key \"answer\" is '2', not 1 or 0"),
        ({"tier": 4}, 'key "tier" is 4, not 1, 2 or 3'),
        ({"gsd": "half"}, "key \"gsd\" is 'half', not a finite number"),
        ({"gsd": -1, "question": "What percentage is forest?"}, 'key "gsd" is -1, not a size above zero'),
        ({"acceptable_range_lower": None}, 'key "acceptable_range_lower" is empty' + ONE_END),
        ({"acceptable_range_upper": None}, 'key "acceptable_range_upper" is empty' + ONE_END),
        ({"acceptable_range": [1]}, 'key "acceptable_range" is [1], not a list of 2 finite numbers'),
        ({"acceptable_range": "1 to 3"}, "key \"acceptable_range\" is '1 to 3', not two numbers"),
        ({"image": None}, 'key "image" holds neither a path nor the bytes of an image'),
        ({"image": {"bytes": "%%%"}}, 'key "image" holds bytes that are not in base64'),
        ({"image": {"bytes": "AAAA"}}, 'key "image" holds no picture that can be opened'),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)  # fmt: skip
def test_a_malformed_row_is_one_sentence_with_file_row_and_column(
    columns: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        one(tmp_path, **columns)
    place = f"{tmp_path / 'one' / 'data' / 'train.jsonl'}, line 1: "
    assert str(caught.value) == f"{place}{said}. Next: correct it, or fetch the file anew."


def test_the_text_of_a_pair_is_read_as_one(tmp_path: Path) -> None:
    assert one(tmp_path, acceptable_range="[1.5, 3]")[0].ranges["shipped"] == (1.5, 3)
    assert "shipped" not in one(tmp_path / "b", acceptable_range=None)[0].ranges


def test_a_path_without_its_image_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'line 1: key "image" names .*gone\.png, which is not there\.'):
        one(tmp_path, image="gone.png")


def test_an_id_comes_once(fake: FakeSquid, tmp_path: Path) -> None:
    copy = shutil.copytree(fake.data, tmp_path / "twice")
    with (copy / "train.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(fake.rows[3]))
    with pytest.raises(InputError, match=r"line 49: the id 'SQuID_0003' has been used by line 4 already"):
        list(Squid().cases(copy))


def folder_without(tmp_path: Path) -> None:
    (tmp_path / "legend.json").write_text("{}", encoding="utf-8")


def folder_with_two(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    (tmp_path / "b.jsonl").touch()


def damaged_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")


def damaged_arrow(tmp_path: Path) -> None:
    (tmp_path / "a.arrow").write_bytes(b"neither a file nor a stream")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (folder_without, "holds no parquet, arrow, JSON or JSON-lines file of SQuID. Next: give the folder"),
        (folder_with_two, "holds rows as .jsonl and as .parquet. Next: give one of these files or folders."),
        (damaged_parquet, "a.parquet cannot be read ("),
        (damaged_arrow, "a.arrow cannot be read ("),
    ],
)
def test_a_folder_that_is_no_squid_is_one_sentence(make: Callable[[Path], None], said: str, tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(InputError) as caught:
        list(read_rows(tmp_path))
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "data", "said"),
    [
        ("pyarrow.parquet", "train.parquet", 'Parquet files need pyarrow. Next: pip install "swath[bench]".'),
        ("pyarrow", "train.arrow", 'Arrow files need pyarrow. Next: pip install "swath[bench]".'),
        ("datasets", "hf:owner/name", 'hf:owner/name needs the package datasets. Next: pip install "swath[bench]".'),
    ],
)
def test_a_missing_package_is_named(
    module: str, data: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "train.parquet").touch()
    (tmp_path / "train.arrow").touch()
    with pytest.raises(InputError) as caught:
        list(read_rows(Path(data) if data.startswith("hf:") else tmp_path / data))
    assert str(caught.value) == said


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    made = write_squid(tmp_path / "made", layout="jsonl")
    (tmp_path / "cache").touch()
    with pytest.raises(InputError, match=r"cache cannot keep the images of SQuID \(.*\)\. Next: name another cache\."):
        list(Squid().cases(made.data, tmp_path / "cache"))


def test_lines_under_the_name_of_json_are_read(fake: FakeSquid, tmp_path: Path) -> None:
    shutil.copy(fake.data / "train.jsonl", tmp_path / "train.json")
    assert len(list(read_rows(tmp_path))) == len(fake.rows)


def test_with_exact_masks_the_offline_planner_answers_every_type(
    fake: FakeSquid, cases: list[Case], tmp_path: Path
) -> None:
    wrong = {}
    for case in with_labels(cases, fake.labels):
        answer = swath.ask(
            case.image, case.question, planner="offline", out=tmp_path, keep="light", **case.options, **case.exact
        )
        headline = scores(case, Prediction.of_answer(answer))[0]
        if headline.verdict != "right":
            wrong[case.id] = f"{case.type}: {headline.verdict}, {headline.why}"
    assert wrong == {}
