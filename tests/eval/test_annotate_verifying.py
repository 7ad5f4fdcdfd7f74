"""People's verdicts: kept at once, resumed, compared, exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from swath.errors import InputError
from swath.eval.annotate.layouts import Annotated
from swath.eval.annotate.make import DIFFERS, Wanted, annotate
from swath.eval.annotate.statements import Statement
from swath.eval.annotate.verifying import (
    DataSet,
    Decision,
    agreement,
    export,
    items,
    kappa,
    latest,
    open_data_set,
    progress,
    seen_twice,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four patches with two ships each."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("images", "labels"):
        (folder / name).mkdir()
    for number in range(4):
        Image.fromarray(np.full((200, 200, 3), 40 * number, np.uint8)).save(folder / "images" / f"P{number}.png")
        lines = "10 10 60 10 60 30 10 30 ship 0\n120 140 150 140 150 150 120 150 ship 0\n"
        (folder / "labels" / f"P{number}.txt").write_text(lines)
    annotate(Wanted(folder / "labels", folder / "images", test_share=1.0), folder / "out")
    return folder / "out"


@pytest.fixture
def data(made: Path, tmp_path: Path) -> DataSet:
    import shutil

    return open_data_set(Path(shutil.copytree(made, tmp_path / "out")))


def decision(item: str, action: str = "accept", **more: Any) -> dict[str, Any]:
    return {"item": item, "action": action, "text": "the left ship", "answer": "", "seconds": 2.0, **more}


def test_decisions_are_on_the_disk_and_the_last_one_wins(data: DataSet) -> None:
    first, second, *_ = items(data.patch("P0_0000"))
    data.decide("Ada", [decision(first.id), decision(second.id, "remove")])
    data.decide("Ada", [decision(first.id, "edit", text="the ship at the left")])
    log = data.folder / "verification" / "Ada.jsonl"
    with log.open("a") as file:
        file.write('{"item": "P0_0000:0", "act')  # the machine lost its power here
    again = open_data_set(data.folder)
    found = latest(again.decisions("Ada"))
    assert (found[first.id].action, found[first.id].text) == ("edit", "the ship at the left")
    assert found[second.id].action == "remove"
    told = progress(again, "Ada")
    assert (told["decided"], told["seconds an item"], told["turn"]) == (2, 2.0, 1)
    assert told["items"] == sum(len(items(own)) for own in again.patches())
    assert told["next"] == "P0_0000"


def test_a_second_pass_shows_a_sample_again(data: DataSet) -> None:
    every = [item.id for own in data.patches() for item in items(own)]
    data.decide("Ada", [decision(item) for item in every])
    told = progress(data, "Ada")
    sample = [item for item in every if seen_twice(item)]
    assert sample
    assert (told["turn"], told["again"], told["decided again"]) == (2, len(sample), 0)
    assert told["next"] == sample[0].rpartition(":")[0]
    data.decide("Ada", [decision(item, "remove", turn=2) for item in sample])
    told = progress(data, "Ada")
    assert told["next"] is None
    assert (told["with oneself"]["items"], told["with oneself"]["same action"]) == (len(sample), 0)


def test_agreement_is_as_computed_by_hand() -> None:
    def person(actions: str, answers: list[str]) -> dict[str, Decision]:
        names = {"a": "accept", "e": "edit", "r": "remove"}
        return {
            str(number): Decision(str(number), names[letter], "x", answer, 1.0)  # type: ignore[arg-type]
            for number, (letter, answer) in enumerate(zip(actions, answers, strict=True))
        }

    one = person("aaaaeerr", ["10", "yes", "", "0", "8", "", "", ""])
    other = person("aaaeeera", ["12", "yes", "", "0", "10", "", "", ""])
    found = agreement(one, other)
    # agreed 6 of 8; chance (4 x 4 + 2 x 3 + 2 x 1) / 64 = 0.375; kappa (0.75 - 0.375) / 0.625 = 0.6
    assert (found["items"], found["same action"]) == (8, 6)
    assert found["kappa"] == pytest.approx(0.6)
    # deviations from the median of both: 1 of 11, 0 of 0 (without a share), 1 of 9
    assert found["numbers"] == 3
    assert found["MAD"] == pytest.approx(2 / 3)
    assert found["MADc"] == pytest.approx((1 / 11 + 1 / 9) / 2)
    assert kappa([("a", "a")]) is None
    assert kappa([]) is None


def test_the_export_holds_what_people_left(data: DataSet) -> None:
    patch = data.patch("P0_0000")
    flagged = Statement("referring", "the far ship", "model", objects=(1,), status="differs", note="describes 0")
    dropped = (*patch.dropped, (DIFFERS, flagged))
    changed = Annotated(patch.patch, patch.split, patch.about, patch.statements, dropped, patch.seconds)
    (data.folder / "patches" / "P0_0000.json").write_text(json.dumps(changed.to_json()))
    every = items(data.patch("P0_0000"))
    reference = next(item for item in every if item.statement.kind == "referring")
    question = next(item for item in every if item.statement.kind == "question")
    caption = next(item for item in every if item.statement.kind == "caption")
    assert every[-1].flag == DIFFERS
    data.decide(
        "Ada", [decision(reference.id, "remove"), decision(question.id, "edit", text="How many?", answer="two")]
    )
    out = export(data, "Ada")
    whole = json.loads((out / "Annotations_val" / "P0_0000.json").read_text())
    assert {"How many?": "two"}.items() <= {own["question"]: own["answer"] for own in whole["qa_pairs"]}.items()
    sentences = [own["referring_sentence"] for own in whole["objects"]]
    assert sentences[reference.statement.objects[0]] == ""
    assert "the far ship" not in sentences
    assert caption.statement.text in whole["caption"]
    every_item = sum(len(items(own)) for own in data.patches())
    assert f"Checked by people: 2 of {every_item} items verified by Ada" in (out / "README.md").read_text()
    data.decide("Ada", [decision(every[-1].id, "accept", text="the far ship")])
    whole = json.loads((export(data, "Ada") / "Annotations_val" / "P0_0000.json").read_text())
    assert whole["objects"][1]["referring_sentence"] == "the far ship"


@pytest.mark.parametrize(
    ("person", "found", "sentence"),
    [
        ("../x", {}, "A name has at most 60 letters"),
        ("", {}, "A name has at most 60 letters"),
        ("Ada", {"item": "P0_0000:999"}, "names no item"),
        ("Ada", {"item": "P9:0"}, "There is no patch 'P9'"),
        ("Ada", {"action": "explode"}, "no action"),
        ("Ada", {"turn": 3}, "no action"),
        ("Ada", {"action": "edit", "text": " "}, "An edited text is empty"),
        ("Ada", {"text": "x" * 3000}, "longer than 2000 letters"),
        ("Ada", {"seconds": float("nan")}, "no number of seconds"),
    ],
)
def test_what_is_no_decision_is_refused(data: DataSet, person: str, found: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        data.decide(person, [{**decision("P0_0000:0"), **found}])
    assert not list(data.folder.glob("verification/*.jsonl")) or not data.decisions("Ada")


def test_folders_that_hold_no_data_set(tmp_path: Path, data: DataSet) -> None:
    with pytest.raises(InputError, match="holds no data set of swath bench annotate"):
        open_data_set(tmp_path)
    with pytest.raises(InputError, match="Ada has decided nothing yet"):
        export(data, "Ada")
