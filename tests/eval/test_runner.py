"""The runner: every case has its line, once, whatever happens on the way; sharing an image changes no answer."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import bench_town
import pytest
from bench_town import COUNT, Painted, Stubborn, Unreachable, lines, write_town

import swath
from swath.agent.desk import Desk
from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.runner import asking, keeping, opening, selection
from swath.eval.runner.predictors import Told
from swath.eval.runner.results import read_results, run_name
from swath.eval.runner.run import Progress, run, score_predictions
from swath.eval.scores import Prediction


@pytest.fixture
def town(tmp_path: Path) -> Path:
    return write_town(tmp_path / "town")


@pytest.fixture
def painted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the benchmark `painted`."""
    monkeypatch.setattr(selection, "open_benchmark", lambda name: Painted())
    return write_town(tmp_path / "painted", 1) / "0"


def asked(town: Path, out: Path, **options: Any) -> Progress:
    return run("questions", town, out, **{"planner": "offline", **options})


def test_every_case_has_its_line_in_the_order_of_the_cases(town: Path, tmp_path: Path) -> None:
    heard: list[int] = []
    progress = asked(town, tmp_path / "out", listen=lambda now: heard.append(now.done))
    assert heard == list(range(1, 16))
    assert progress.verdicts["plain"] == {"right": 12, "refused": 3}
    assert progress.accuracy == 0.8
    found = read_results(tmp_path / "out")
    ids = [json.loads(line)["id"] for line in (town / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["case"] for row in found.rows] == ids
    row = found.rows[0]
    assert (row["cell"], row["verdict"], row["prediction"]["answer"], row["truth"]) == ("plain", "right", 3, 3)
    assert (row["image"], row["planner"], row["segmenter"]) == ("0/scene.tif", "offline", "labels")
    assert row["seconds"] > 0
    assert (row["tokens"], row["cost"], row["broke"]) == (None, None, False)
    assert "components" in row["program"]
    assert (tmp_path / "out" / row["run"] / "run.json").is_file()
    assert found.meta["n_cases"] == 15
    assert found.meta["cells"] == ["plain"]
    refused = [row for row in found.rows if row["verdict"] == "refused"]
    assert len(refused) == 3
    assert "solar panel" in refused[0]["prediction"]["reason"]


def test_results_hold_nothing_that_differs_from_run_to_run(town: Path, tmp_path: Path) -> None:
    asked(town, tmp_path / "one")
    asked(town, tmp_path / "two", jobs=2)
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    moved = shutil.copytree(town, tmp_path / "elsewhere")
    asked(moved, tmp_path / "three")
    assert lines(tmp_path / "three") == lines(tmp_path / "one")
    metas = [read_results(tmp_path / name).meta for name in ("one", "three")]
    assert metas[0]["data_sha256"] == metas[1]["data_sha256"]


def test_sharing_an_image_gives_what_each_question_gives_alone(tmp_path: Path) -> None:
    """Warnings and intervals included, also where questions repeat what others derived."""
    town = write_town(tmp_path / "town", 1)
    near = "How many buildings are within {m} m of water? (GSD: {g}m)"
    rows = [json.loads(line) for line in (town / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    asked_for = [near.format(m=m, g=g) for m, g in ((1, 0.5), (20, 0.5), (1, 0.5), (20, 0.7), (1, 0.5))]
    asked_for += [
        "What is the area within 1 m of water in m2? (GSD: 0.5m)",
        asked_for[0],
        "How many buildings are there?",
    ]
    more = [{**rows[0], "id": f"N{k}", "question": question} for k, question in enumerate(asked_for)]
    (town / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows + more), encoding="utf-8")
    asked(town, tmp_path / "out")
    labels = {"labels": town / "0" / "scene.tif", "legend": town / "legend.json"}
    for row in read_results(tmp_path / "out").rows:
        alone = swath.ask(town / row["image"], row["question"], planner="offline", out=tmp_path / "runs", **labels)
        assert row["prediction"] == json.loads(json.dumps(Prediction.of_answer(alone).to_json())), row["question"]
        assert row["warnings"] == list(alone.warnings), row["question"]
    assert any(row["warnings"] for row in read_results(tmp_path / "out").rows)


def test_an_image_is_opened_once_for_all_its_questions(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    first = Desk.open

    def counted(desk: Desk) -> Any:
        if desk.site is None:
            opened.append(str(desk.request.image))
        return first(desk)

    monkeypatch.setattr(Desk, "open", counted)
    asked(town, tmp_path / "out")
    assert sorted(opened) == [str(town / str(k) / "scene.tif") for k in range(3)]


def test_an_image_that_changes_is_opened_again(tmp_path: Path) -> None:
    image = tmp_path / "a.tif"
    image.write_bytes(b"1")
    last = opening.LastImage()
    before = last.under(image, {"gsd_m": 1})
    assert last.under(image, {"gsd_m": 1}) is before
    assert last.under(image, {"gsd_m": 2}) is not before
    before = last.under(image, {"gsd_m": 1})
    image.write_bytes(b"22")
    assert last.under(image, {"gsd_m": 1}) is not before


def test_all_four_cells(painted: Path, tmp_path: Path) -> None:
    progress = run("painted", painted, tmp_path / "out", planner=Stubborn(), oracle="both")
    rows = {(row["case"], row["cell"]): row for row in read_results(tmp_path / "out").rows}
    assert list(rows) == [
        *((case, cell) for case in "AB" for cell in ("plain", "segmenter", "planner", "both")),
        ("C", "plain"),
        ("C", "segmenter"),
    ]
    assert rows["A", "plain"]["verdict"] == "refused"  # one band of numbers has no classes of its own
    assert (rows["A", "segmenter"]["verdict"], rows["A", "segmenter"]["prediction"]["answer"]) == ("wrong", 4)
    assert rows["A", "planner"]["verdict"] == "refused"
    assert (rows["A", "both"]["verdict"], rows["A", "both"]["program"]) == ("right", COUNT)
    assert [rows["A", cell]["planner"] for cell in ("segmenter", "both")] == ["stubborn", "given"]
    assert rows["A", "both"]["extras"] == {"source": "paint"}
    assert read_results(tmp_path / "out").meta["not_available"] == {"planner": 1, "both": 1}
    assert progress.verdicts["both"] == {"right": 2}


def test_the_segmenter_labels_takes_the_true_classes(painted: Path, tmp_path: Path) -> None:
    run("painted", painted, tmp_path / "out", planner="offline", segmenter="labels", limit=1)
    (row,) = read_results(tmp_path / "out").rows
    assert (row["cell"], row["verdict"], row["segmenter"]) == ("plain", "right", "labels")


def test_an_oracle_that_no_case_supports_is_refused(town: Path, tmp_path: Path) -> None:
    sentence = (
        "No case of questions brings a reference program, so that there is nothing to ask with --oracle planner. "
        "Next: give masks with --labels-dir, or leave --oracle out."
    )
    with pytest.raises(InputError) as caught:
        asked(town, tmp_path / "out", oracle="planner")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("keep", "right", "wrong"), [("light", False, False), ("wrong", False, True), ("full", True, True)]
)
def test_evidence_is_kept_of_what_is_not_right(
    painted: Path, tmp_path: Path, keep: asking.Keep, right: bool, wrong: bool
) -> None:
    run("painted", painted, tmp_path / "out", planner=Stubborn(), segmenter="labels", oracle="planner", keep=keep)
    runs = tmp_path / "out" / "runs"
    assert (runs / "A-planner" / "objects.gpkg").exists() is right
    assert (runs / "A-plain" / "overlay.png").exists() is wrong


def test_a_case_that_breaks_is_a_line_and_is_asked_again(painted: Path, tmp_path: Path) -> None:
    planner = Unreachable(tmp_path / "mark")
    progress = run("painted", painted, tmp_path / "out", planner=planner, segmenter="labels")
    assert progress.verdicts["plain"] == {"failed": 1, "right": 2}
    assert list(progress.broke) == [("A", "plain")]
    row = read_results(tmp_path / "out").rows[0]
    assert row["prediction"]["reason"].startswith("Internal error (ConnectionError: the line is down). Next: ")
    assert (row["broke"], row["run"]) == (True, None)
    progress = run("painted", painted, tmp_path / "out", planner=planner, segmenter="labels", resume=True)
    assert progress.verdicts["plain"] == {"right": 3}
    assert [(row["case"], row["verdict"]) for row in read_results(tmp_path / "out").rows] == [
        (name, "right") for name in "ABC"
    ]


def test_an_image_that_is_none_costs_its_own_cases(tmp_path: Path) -> None:
    town = write_town(tmp_path / "town", 2, spoilt=True)
    progress = asked(town, tmp_path / "out")
    assert progress.verdicts["plain"] == {"right": 4, "refused": 1, "failed": 5}
    assert len(progress.broke) == 5
    assert all("scene.tif" in why for why in progress.broke.values())


def test_a_process_that_dies_costs_one_case(painted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from swath.batch.pool import Lost

    def dying(work: Any, tasks: Any, jobs: int) -> Any:
        for task in tasks:
            for number, key in enumerate(task.items):
                if number == 1:
                    yield key, Lost("The process at work on it was killed.")
                else:
                    yield from zip([key], work(task.setup, [key], lambda name, compute: compute()), strict=True)

    monkeypatch.setattr("swath.eval.runner.run.results", dying)
    progress = run("painted", painted, tmp_path / "out", planner="offline", segmenter="labels")
    assert progress.broke == {("B", "plain"): "The process at work on it was killed."}
    assert len(lines(tmp_path / "out")) == 3


class TestResuming:
    """What a killed process may leave behind, state by state."""

    def whole(self, town: Path, tmp_path: Path) -> list[str]:
        asked(town, tmp_path / "whole")
        return lines(tmp_path / "whole")

    def interrupted(self, town: Path, out: Path, after: int) -> None:
        def stop(now: Progress) -> None:
            if now.done == after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            asked(town, out, listen=stop)

    def test_nothing_is_lost_and_nothing_is_twice(self, town: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 7)
        kept = lines(out)
        assert len(kept) == 7
        heard: list[int] = []
        asked(town, out, resume=True, listen=lambda now: heard.append(now.done))
        assert heard == list(range(8, 16))
        assert set(kept) < set(lines(out))
        assert lines(out) == self.whole(town, tmp_path)

    @pytest.mark.parametrize("cut", [1, 40, 400])
    def test_a_torn_last_line_is_written_again(self, town: Path, tmp_path: Path, cut: int) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 4)
        os.truncate(out / "results.jsonl", (out / "results.jsonl").stat().st_size - cut)
        asked(town, out, resume=True)
        assert lines(out) == self.whole(town, tmp_path)
        assert len((out / "timings.jsonl").read_text(encoding="utf-8").splitlines()) == 15

    def test_a_timing_without_its_result_is_written_again(self, town: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 4)
        (out / "results.jsonl").write_text("".join(f"{line}\n" for line in lines(out)[:3]), encoding="utf-8")
        asked(town, out, resume=True)
        assert lines(out) == self.whole(town, tmp_path)
        assert len((out / "timings.jsonl").read_text(encoding="utf-8").splitlines()) == 15

    def test_run_folders_without_a_line_are_cleared_away(self, town: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 4)
        runs = out / "runs"
        (some,) = [path for path in runs.iterdir() if path.name == run_name("0/Q2", "plain")]
        shutil.copytree(some, runs / "20260101-000000-abcd")
        shutil.copytree(some, runs / run_name("2/Q1", "plain"))
        (runs / ".20260101-000000-abcd.partial").mkdir()
        (runs / "mine").mkdir()
        asked(town, out, resume=True)
        assert {path.name for path in runs.iterdir()} == {"mine"} | {
            Path(row["run"]).name for row in read_results(out).rows
        }

    def test_a_finished_run_is_only_read(self, town: Path, tmp_path: Path) -> None:
        whole = self.whole(town, tmp_path)
        progress = asked(town, tmp_path / "whole", resume=True)
        assert progress.done == progress.total == 15
        assert lines(tmp_path / "whole") == whole

    def test_no_run_is_written_over(self, town: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 1)
        with pytest.raises(InputError) as caught:
            asked(town, out)
        assert str(caught.value) == f"{out} holds a run already. Next: go on with --resume, or name another --out."

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"planner": "auto"}, 'planner was "offline", is "auto"'),
            ({"segmenter": "labels"}, 'segmenter was "auto", is "labels"'),
            ({"limit": 14}, "n_cases was 15, is 14"),
            ({"only": ["m2"]}, 'options was {"only": []'),
            ({"predictor": "majority"}, 'planner was "offline", is "majority"'),
        ],
    )
    def test_another_run_is_not_mixed_with_it(
        self, town: Path, tmp_path: Path, options: dict[str, Any], said: str
    ) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 1)
        with pytest.raises(InputError) as caught:
            asked(town, out, resume=True, **options)
        assert f"{out} holds another run (" in str(caught.value)
        assert said in str(caught.value)

    @pytest.mark.parametrize("file", ["questions.jsonl", "legend.json", "2/scene.tif"])
    def test_nor_one_of_other_data(self, town: Path, tmp_path: Path, file: str) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 1)
        content = (town / file).read_bytes()
        swapped = content.replace(b"grass", b"weeds") if file == "legend.json" else content.replace(b"many", b"some")
        if file.endswith(".tif"):
            shutil.copyfile(town / "0" / "scene.tif", town / file)
            os.truncate(town / file, len(content) + 1)
        else:
            assert swapped != content
            (town / file).write_bytes(swapped)
        with pytest.raises(InputError, match="data_sha256 was "):
            asked(town, out, resume=True)

    def test_a_broken_line_in_the_middle_is_named(self, town: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        self.interrupted(town, out, 3)
        broken = lines(out)
        broken[1] = broken[1][:50]
        (out / "results.jsonl").write_text("".join(f"{line}\n" for line in broken), encoding="utf-8")
        with pytest.raises(InputError, match=r"results\.jsonl, line 2: not a line of results"):
            asked(town, out, resume=True)

    def test_one_process_writes_at_a_time(self, town: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"

        def second(now: Progress) -> None:
            with pytest.raises(InputError, match=r"Another process is writing to .*out\. Next: wait for it"):
                asked(town, out, resume=True)

        asked(town, out, listen=second, limit=1)


def test_results_that_are_not_ours_stay(town: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.jsonl").write_text('{"case": "a", "cell": "plain"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"holds results without a bench\.json"):
        asked(town, tmp_path / "out")
    with pytest.raises(InputError, match=r"out holds no benchmark run: it has no bench\.json"):
        read_results(tmp_path / "out")


def test_a_full_disk_is_one_sentence(town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping.os, "write", lambda file, text: len(text) - 1)
    with pytest.raises(InputError) as caught:
        asked(town, tmp_path / "out")
    assert str(caught.value) == (
        f"The results cannot be written to {tmp_path / 'out'}: no space left on device. "
        "Next: make room, then go on with --resume."
    )


def test_types_and_limits(town: Path, tmp_path: Path) -> None:
    progress = asked(town, tmp_path / "out", only=["percent", "m2"], limit=4)
    assert {row["type"] for row in read_results(tmp_path / "out").rows} == {"percent", "m2"}
    assert progress.total == 4
    with pytest.raises(InputError, match='questions has no questions of type "area". Next: use one of count, '):
        asked(town, tmp_path / "other", only=["area"])


def test_baselines_look_at_no_image(town: Path, tmp_path: Path) -> None:
    for path in town.rglob("*.tif"):
        path.unlink()
    progress = asked(town, tmp_path / "out", predictor="majority")
    # Counts are 3 and 1, three times each, and 1 for what has to be refused: the most frequent is 1.
    assert progress.verdicts["plain"] == {"wrong": 3, "right": 12}
    assert {row["planner"] for row in read_results(tmp_path / "out").rows} == {"majority"}
    progress = asked(town, tmp_path / "yes", predictor="always-yes")
    assert progress.verdicts["plain"] == {"unparsable": 15}
    with pytest.raises(InputError, match='There is no baseline "random". Next: choose one of majority, always-yes.'):
        asked(town, tmp_path / "none", predictor="random")


def test_predictions_of_others(town: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "theirs.csv"
    predictions.write_text("id,answer,unit\n0/Q1,3,\n1/Q1,about 3 buildings,\n2/Q1,4,\n0/Q3,150,ha\n0/Q4,,\n")
    progress = score_predictions("questions", town, predictions, tmp_path / "out")
    assert progress.verdicts["plain"] == {"right": 2, "wrong": 2, "refused": 1, "failed": 10}
    rows = {row["case"]: row for row in read_results(tmp_path / "out").rows}
    assert rows["1/Q2"]["prediction"]["reason"] == "There is no prediction for this case."
    assert not progress.broke
    (tmp_path / "theirs.jsonl").write_text('{"id": "0/Q1", "answer": 3}\n{"id": "0/Q2", "answer": null}\n')
    progress = score_predictions("questions", town, tmp_path / "theirs.jsonl", limit=3)
    assert progress.verdicts["plain"] == {"right": 1, "failed": 2}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("p.csv", "id,answer\n9,1\n", "predicts cases that the benchmark does not have: 9. Next: use its ids."),
        ("p.csv", "id,reply\n0/Q1,1\n", "line 2: no id or no answer. Next: give each line an id and an answer."),
        ("p.csv", "id,answer\n", "p.csv holds no prediction. Next: write lines with id and answer."),
        ("p.jsonl", '{"id": "0/Q1", "answer": 1}\n' * 2, 'line 2: "0/Q1" has a prediction already.'),
        ("p.jsonl", "[1]\n", "line 1: no JSON object."),
        ("none.jsonl", None, "none.jsonl cannot be read (FileNotFoundError)."),
    ],
)
def test_predictions_that_cannot_be_used(
    town: Path, tmp_path: Path, name: str, text: str | None, sentence: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        score_predictions("questions", town, tmp_path / name)
    assert sentence in str(caught.value)


def test_numbers_of_others_are_in_the_unit_of_the_truth() -> None:
    case = Case("1", Path("a.tif"), "", 5.0, "area", unit="ha")
    told = Told({"1": Prediction("answered", 5)})
    assert told.predict(case) == Prediction("answered", 5, "ha")
    assert Told({"1": Prediction("answered", 5, "m2")}).predict(case).unit == "m2"
    assert Told({"1": Prediction("answered", "5 ha")}).predict(case).unit is None


def test_run_names_are_names_of_folders_and_differ() -> None:
    names = [run_name(case, "plain") for case in ("Q1", "a/b", "a-b", "../x", "x" * 200, "x" * 201, ".hidden", "ä")]
    assert len(set(names)) == len(names)
    assert all("/" not in name and not name.startswith(".") and len(name) < 120 for name in names)
    assert names[0] == "Q1-plain"


def test_ids_are_unique(town: Path, tmp_path: Path) -> None:
    text = (town / "questions.jsonl").read_text(encoding="utf-8")
    (town / "questions.jsonl").write_text(text + text.splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(InputError, match='holds several cases with the id "0/Q1"'):
        asked(town, tmp_path / "out")


def test_answers_that_are_masks_are_files(painted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from swath.raster.reader import open_raster

    monkeypatch.setattr(bench_town, "TOO_MANY", 'reply(mask_of(components(segment("water"))), kind="mask")\n')
    run("painted", painted, tmp_path / "out", planner=Stubborn(), segmenter="labels", limit=1)
    (row,) = read_results(tmp_path / "out").rows
    assert row["prediction"]["answer"] == "masks/A-plain.tif", row["prediction"]
    pixels = open_raster(tmp_path / "out" / "masks" / "A-plain.tif").read(1).data[0]
    assert int(pixels.sum()) == 1000
