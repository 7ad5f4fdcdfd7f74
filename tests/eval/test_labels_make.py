"""`make`: what its questions are like, that they come out the same again, and that programs measure their truth."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import swath
from swath.agent.checker import check
from swath.agent.execution import surface
from swath.errors import InputError
from swath.eval.cases import Case, open_benchmark
from swath.eval.labels.kinds import KINDS
from swath.eval.labels.make import make
from swath.eval.labels.query import Query
from swath.eval.labels.wordings import Wording, read_wordings
from swath.eval.scores import Prediction, score

LEGEND = {"0": "void", "1": "building", "2": "land", "3": "road", "4": "vegetation", "5": "water"}


def town(seed: int, water: bool = True) -> np.ndarray:
    """Houses of many sizes, a road, plants and ponds on bare land; 240 x 260 pixels, a corner void."""
    rng = np.random.default_rng(seed)
    classes = np.full((240, 260), 2, dtype=np.uint8)

    def blots(value: int, number: int, largest: int) -> None:
        for _ in range(number):
            height, width = rng.integers(5, largest, 2)
            row, column = rng.integers(0, 235), rng.integers(0, 255)
            classes[row : row + height, column : column + width] = value

    blots(4, 14, 40)
    if water:
        blots(5, 5, 45)
    classes[:, 120:132] = 3
    blots(1, 25, 26)
    classes[:10, :10] = 0
    return classes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("towns")
    (folder / "masks").mkdir()
    for number in range(5):
        Image.fromarray(town(number, water=number != 4)).save(folder / "masks" / f"town_{number}.png")
    (folder / "legend.json").write_text(json.dumps(LEGEND), encoding="utf-8")
    make(folder / "masks", folder / "legend.json", folder / "out", gsd_m=0.5, seed=3, per_image=30)
    return folder


@pytest.fixture(scope="module")
def cases(made: Path) -> list[Case]:
    return list(open_benchmark("labels").cases(made / "out"))


def test_every_type_is_there(cases: list[Case]) -> None:
    counts = Counter(case.type for case in cases)
    assert counts.keys() == {kind.type for kind in KINDS}
    assert len(cases) == 150
    assert max(counts.values()) - min(counts.values()) <= 3


def test_yes_and_no_are_balanced(cases: list[Case]) -> None:
    answers = Counter((case.type, case.truth) for case in cases if isinstance(case.truth, str))
    for kind in {case.type for case in cases if isinstance(case.truth, str)}:
        first, second = ("connected", "fragmented") if kind == "fragmentation" else ("yes", "no")
        assert abs(answers[kind, first] - answers[kind, second]) <= 3, answers


def test_a_twentieth_is_about_what_is_not_there(cases: list[Case]) -> None:
    absent = [case for case in cases if case.extras["absent"]]
    assert 0.02 <= len(absent) / len(cases) <= 0.08
    assert all(case.truth in (0, "no") and case.metrics == ("exact",) for case in absent)
    assert all(case.truth not in (0, "absent") for case in cases if not case.extras["absent"])


def test_cases_say_all_that_a_run_needs(cases: list[Case], made: Path) -> None:
    for case in cases:
        assert case.exact == {"labels": case.image, "legend": made / "legend.json"}
        assert case.options == {"gsd_m": 0.5}
        assert case.question.endswith("(GSD: 0.5m)")
        assert case.extras["group"] == "town"
        assert case.extras["source"] == made.name
        assert {"borderline", "wording", "gsd_m"} <= case.extras.keys()


def test_files_are_referred_to_and_not_copied(made: Path) -> None:
    assert {file.name for file in (made / "out").iterdir()} == {"cases.jsonl", "meta.json"}
    first = json.loads((made / "out" / "cases.jsonl").read_text(encoding="utf-8").splitlines()[0])
    meta = json.loads((made / "out" / "meta.json").read_text(encoding="utf-8"))
    assert (first["labels"], meta["legend"]) == ("../masks/town_0.png", "../legend.json")
    assert meta["benchmark"] == "self-test"
    assert meta["cases"] == 150


def test_reference_programs_pass_the_check_and_measure_the_truth(cases: list[Case], tmp_path: Path) -> None:
    for case in cases:
        assert case.program is not None
        check(case.program, surface())
        answer = swath.ask(
            case.image, case.question, program=case.program, out=tmp_path, keep="light", **case.options, **case.exact
        )
        assert answer.unit == case.unit
        found = score(case, Prediction.of_answer(answer))
        assert found.verdict == "right", (case.question, case.program, found.why)
        if not isinstance(case.truth, str):
            assert answer.answer == pytest.approx(case.truth, rel=1e-6)


def test_the_same_seed_gives_the_same_questions_and_another_does_not(made: Path, tmp_path: Path) -> None:
    def rows(seed: int) -> list[Any]:
        out = made / f"again{seed}"
        make(made / "masks", made / "legend.json", out, gsd_m=0.5, seed=seed, per_image=6)
        return [json.loads(line) for line in (out / "cases.jsonl").read_text(encoding="utf-8").splitlines()]

    first = rows(1)
    assert rows(1) == first
    assert rows(2) != first


def test_images_stand_beside_their_label_maps(made: Path) -> None:
    (made / "images").mkdir()
    for file in (made / "masks").iterdir():
        Image.fromarray(np.zeros((240, 260, 3), np.uint8)).save(made / "images" / f"{file.stem}.jpg")
    options = {"gsd_m": 0.5, "per_image": 1, "types": ("count",)}
    make(made / "masks", made / "legend.json", made / "photos", images=made / "images", **options)
    case = next(open_benchmark("labels").cases(made / "photos"))
    assert (case.type, case.image.name, case.exact["labels"].name) == ("count", "town_0.jpg", "town_0.png")
    (made / "images" / "town_3.jpg").unlink()
    with pytest.raises(InputError, match=r"holds no image town_3 for the label map town_3\.png"):
        make(made / "masks", made / "legend.json", made / "photos", images=made / "images", **options)


def test_what_cannot_be_made_is_said(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no label maps .* Next: name their folder"):
        make(tmp_path, None, tmp_path / "out")
    with pytest.raises(InputError, match=r'no type of question "colour"\. Next: choose from percentage'):
        make(made / "masks", made / "legend.json", tmp_path, gsd_m=0.5, types=("colour",))
    with pytest.raises(InputError, match="names no classes of its own. Next: give a legend with --legend FILE"):
        make(made / "masks", None, tmp_path, gsd_m=0.5)


def test_a_folder_that_was_not_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no cases\.jsonl with its meta\.json\. Next: make one"):
        list(open_benchmark("labels").cases(tmp_path))
    (tmp_path / "cases.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "meta.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"meta\.json is not what `swath bench make` writes"):
        list(open_benchmark("labels").cases(tmp_path))
    (tmp_path / "meta.json").write_text('{"legend": null}', encoding="utf-8")
    with pytest.raises(InputError, match=r"cases\.jsonl, line 1: not a case"):
        list(open_benchmark("labels").cases(tmp_path))


def test_paraphrases_are_three_hundred_and_none_is_in_the_main_set() -> None:
    paraphrases = read_wordings(Path(swath.__file__).parent / "eval" / "labels" / "paraphrases.toml")
    texts = {wording.text for found in paraphrases.types.values() for wording in found}
    main = {wording.text for found in read_wordings().types.values() for wording in found}
    assert len(texts) == sum(map(len, paraphrases.types.values())) == 300
    assert not texts & main
    assert paraphrases.types.keys() == {kind.type for kind in KINDS}


@pytest.mark.parametrize(
    "line",
    [
        'total_area = ["How large is the {a.area}?"]',
        'proximity_area = ["How many {hectares} of {a.area} are near {b.target}?"]',
        'count = ["How many {c.things}?"]',
    ],
)
def test_a_template_with_the_wrong_slots_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"[types]\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r'mine\.toml, type \w+: ".*" has not the slots that its type needs'):
        read_wordings(file)


def test_files_of_wordings_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[types", encoding="utf-8")
    with pytest.raises(InputError, match=r"The wordings mine\.toml cannot be read: .* Next: give a TOML file"):
        read_wordings(file)
    file.write_text('[types]\ncolour = ["What colour?"]\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"know a type colour\. Next: use percentage"):
        read_wordings(file)


def test_numbers_are_written_as_they_are_measured(cases: list[Case]) -> None:
    """A size or distance in the words is the one of the reference program, in hectares and in metres."""
    for case in cases:
        said = {float(number) for number in re.findall(r"([\d.]+) (?:ha|hectares)\b", case.question)}
        done = {
            float(number) / 1e4 for number in re.findall(r"(?:min|max|larger_than)_m2=([\d.e+]+)", case.program or "")
        }
        assert sorted(done) == pytest.approx(sorted(said)), case.question
        said = {float(number) for number in re.findall(r"(\d+) ?m\b", case.question.removesuffix("(GSD: 0.5m)"))}
        done = {float(number) for number in re.findall(r"max_distance_m=([\d.]+)", case.program or "")}
        assert done == said, case.question


@pytest.mark.parametrize(("size_m2", "words"), [(12.5, "12.5 square metres"), (100000.0, "100,000 square metres")])
def test_square_metres_are_written_whole(size_m2: float, words: str) -> None:
    query = Query("count", "building", min_m2=size_m2)
    wording = Wording("Over {low.words}?", frozenset({"low"}))
    assert read_wordings().phrase(wording, query, None, random.Random(1)) == f"Over {words}?"


def test_a_georeferenced_map_brings_its_own_pixel_size(village: Any, tmp_path: Path) -> None:
    made = make(village.image.parent, village.legend, tmp_path / "out", per_image=12)
    (first, *others) = open_benchmark("labels").cases(tmp_path / "out")
    assert (made.cases, made.maps, len(others)) == (12, 1, 11)
    assert first.options == {}
    assert first.extras["gsd_m"] == 0.5
    assert not any("GSD" in case.question for case in (first, *others))
