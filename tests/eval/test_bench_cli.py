"""`swath bench` and `swath score` as a person meets them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from bench_town import swath as run_swath
from bench_town import write_town
from click.testing import CliRunner, Result

from swath.cli import swath
from swath.cli.running import description
from swath.errors import InputError
from swath.eval.runner.results import read_results
from swath.eval.runner.run import Progress


def invoke(*words: object) -> Result:
    return CliRunner().invoke(swath, [str(word) for word in words], prog_name="swath", standalone_mode=False)


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_town(Path("town"), 2)


QUESTIONS = ("bench", "run", "questions", "--data", "town", "--planner", "offline", "--out")


def test_run_prints_the_counts_and_what_comes_next(town: Path) -> None:
    done = invoke(*QUESTIONS, "out")
    assert done.return_value == 0
    assert done.stdout == (
        "plain: 8 of 10 right (80.0%, 49.0% to 94.3%), 0 wrong, 2 refused, 0 failed, 0 unparsable\n"
        "out: 10 lines. Next: swath bench report out\n"
    )
    assert len(read_results(Path("out")).rows) == 10


def test_the_command_line_is_kept_as_typed(town: Path, tmp_path: Path) -> None:
    words = (*QUESTIONS, "my results", "--limit", 1)
    assert run_swath(*words, cwd=tmp_path).returncode == 0
    meta = read_results(Path("my results")).meta
    typed = "swath bench run questions --data town --planner offline --out 'my results' --limit 1"
    assert meta["command"] == typed
    assert meta["data"] == "town"


def test_cases_that_broke_are_named_and_change_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_town(Path("town"), 2, spoilt=True)
    done = invoke(*QUESTIONS, "out")
    assert done.return_value == 1
    assert done.stderr.count("broke: 1/") == 3
    assert done.stderr.endswith("and 2 more\n")
    assert "plain: 4 of 10 right (40.0%, 16.8% to 68.7%), 0 wrong, 1 refused, 5 failed, 0 unparsable" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bench", "run", "nothing", "--data", "town", "--out", "o"), 'There is no benchmark "nothing". Next: choose'),
        (("bench", "run", "questions", "--data", ".", "--out", "o"), "holds no questions.jsonl"),
        ((*QUESTIONS, "o", "--segmenter", "magic"), 'There is no segmenter "magic". Next: use one of'),
        ((*QUESTIONS, "o", "--planner", "magic"), 'There is no planner "magic". Next: choose one of'),
        ((*QUESTIONS, "o", "--jobs", 2, "--dask", "tcp://x:1"), "--jobs and --dask both say where to work."),
        ((*QUESTIONS, "o", "--labels-dir", "none"), "none is no folder of label maps."),
        ((*QUESTIONS, "o", "--limit", 0), "0 is not in the range x>=1"),
        ((*QUESTIONS, "town/legend.json"), "legend.json: file exists. Next: make room"),
        (("bench", "report", "town"), "town holds no benchmark run: it has no bench.json."),
        (("bench", "agree", "none.csv"), "none.csv"),
        (("bench", "make", "--labels", "none", "--out", "o"), "none holds no label maps"),
        (("score", "--truth", "many", "--type", "number", "3"), '--truth "many" is not of type number. Next: write it'),
        (("score", "--truth", "1", "--truth", "2", "--type", "number", "3"), "A truth of type number is one."),
        (("score", "--truth", "1", "--type", "guess", "3"), "'guess' is not one of 'number', "),
    ],
)
def test_mistakes_are_one_sentence_and_status_2(
    town: Path, tmp_path: Path, words: tuple[object, ...], sentence: str
) -> None:
    done = run_swath(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert not Path("o/results.jsonl").exists()


def test_score_of_predictions(town: Path) -> None:
    Path("p.jsonl").write_text('{"id": "0/Q1", "answer": "3 buildings"}\n{"id": "1/Q1", "answer": 9}\n')
    words = ("bench", "score", "questions", "--data", "town", "--predictions", "p.jsonl")
    done = invoke(*words, "--only", "count", "--limit", 2, "--json")
    assert (done.return_value, json.loads(done.stdout)) == (0, {"right": 1, "wrong": 1})
    done = invoke(*words, "--out", "theirs")
    counts = "plain: 1 of 10 right (10.0%, 1.8% to 40.4%), 1 wrong, 0 refused, 8 failed, 0 unparsable\n"
    assert done.stdout.startswith(counts)
    assert read_results(Path("theirs")).meta["planner"].startswith("predictions ")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--truth", "3.2", "--type", "number", "--unit", "ha", "--tolerance", "0.05", "about 3.3 ha"), 0, "right"),
        (("--truth", "3.2", "--type", "number", "--unit", "ha", "--tolerance", "0.05", "3.3"), 0, "right"),
        (("--truth", "3.2", "--type", "number", "3.3"), 1, "wrong"),
        (("--truth", "yes", "--type", "binary", "True"), 0, "right"),
        (("--truth", "1", "--type", "binary", "no"), 1, "wrong"),
        (("--truth", "connected", "--type", "categorical", "fragmented"), 1, "wrong"),
        (("--truth", "[10, 20, 30, 40]", "--type", "box", "[12, 20, 30, 41]"), 0, "right (box:0.5 0.8612)"),
        (("--truth", "[10, 20, 30, 40]", "--type", "box", "[50, 20, 60, 41]"), 1, "wrong (box:0.5 0)"),
        (("--truth", "5", "--type", "number", "none at all"), 1, "unparsable"),
        (("--truth", "Sedan", "--type", "vqa", "--metric", "vqa:strict", "sedan"), 0, "right"),
    ],
)
def test_score_of_one_answer(words: tuple[str, ...], status: int, said: str) -> None:
    done = invoke("score", *words)
    assert done.return_value == status, done.stdout
    assert done.stdout.startswith(said)


def test_score_as_json_says_why() -> None:
    done = invoke("score", "--truth", "4", "--type", "number", "--json", "5")
    found = json.loads(done.stdout)
    assert set(found) == {"metric", "value", "verdict", "why"}
    assert (found["metric"], found["value"], found["verdict"]) == ("tolerance", 0.0, "wrong")


def test_agree_prints_a_table(town: Path) -> None:
    answers = [("a", "1", "4"), ("a", "2", "4"), ("a", "3", "5"), ("b", "1", "7"), ("b", "2", "9")]
    rows = "".join(f"{','.join(row)}\n" for row in answers)
    Path("raw.csv").write_text("item,annotator,answer\n" + rows)
    done = invoke("bench", "agree", "raw.csv")
    head = done.stdout.splitlines()[0]
    assert head.split()[:3] == ["type", "answers", "items"]
    assert {"types", "items"} == set(json.loads(invoke("bench", "agree", "raw.csv", "--json").stdout))


def test_make_then_run(town: Path) -> None:
    made = invoke("bench", "make", "--labels", "town/0", "--legend", "town/legend.json", "--gsd", 0.5, "--out", "made",
                  "--per-image", 6)  # fmt: skip
    assert made.return_value is None, made
    assert "Next: swath bench run labels --data made --segmenter labels --out RESULTS" in made.stdout
    done = invoke("bench", "run", "labels", "--data", "made", "--segmenter", "labels", "--planner", "offline",
                  "--oracle", "both", "--out", "out")  # fmt: skip
    assert [line.split(":")[0] for line in done.stdout.splitlines()[:4]] == ["plain", "segmenter", "planner", "both"]
    both = [row for row in read_results(Path("out")).rows if row["cell"] == "both"]
    assert {row["verdict"] for row in both} == {"right"}


def test_report_writes_a_page_and_markdown(town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command alone: what stands in a report is the report's own matter."""
    asked: list[Any] = []

    def report(folders: Any) -> Any:
        asked.extend(folders)
        return SimpleNamespace(terminal="a table", markdown="# md", html="<p>", to_json=lambda: {"a": 1})

    module = ModuleType("swath.eval.report.write")
    module.report = report  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swath.eval.report.write", module)
    monkeypatch.setitem(sys.modules, "swath.eval.report", ModuleType("swath.eval.report"))
    Path("a").mkdir()
    done = invoke("bench", "report", "a", "b", "--markdown", "here.md")
    assert (done.stdout, asked) == ("a table\n", [Path("a"), Path("b")])
    assert (Path("a/report.html").read_text(), Path("here.md").read_text()) == ("<p>", "# md")
    assert json.loads(invoke("bench", "report", "a", "--json").stdout) == {"a": 1}


def test_what_stands_beside_the_bar() -> None:
    progress = Progress(10)
    assert description(progress) == ""
    for verdict in ("right", "right", "wrong"):
        progress.count(("a", "plain"), verdict)
    progress.count(("a", "both"), "right")
    assert (progress.done, description(progress)) == (4, "66.7% right")
    progress.broke["a", "plain"] = "why"
    progress.tokens, progress.cost = Counter({"in": 1200, "out": 34}), 0.125
    assert description(progress) == "66.7% right, 1 broke, 1,234 tokens, $0.12"


@pytest.mark.parametrize("name", ["", "run", "score", "make", "report", "agree"])
def test_every_help_has_an_example(name: str) -> None:
    shown = invoke("bench", *([name] if name else []), "--help").stdout
    assert f"  swath bench {name}" in shown.split("\n\n", 1)[1]
    assert name != "run" or "Exit status: 0 the run came to its end, 1 some cases broke" in " ".join(shown.split())


def test_a_missing_library_is_named(town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"--dask needs distributed, which is not installed\. Next: pip install"):
        from swath.batch.cluster import results_on

        list(results_on("tcp://127.0.0.1:1", lambda *words: iter(()), []))
