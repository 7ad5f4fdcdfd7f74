"""A report as text, Markdown, JSON and a page: complete, harmless whatever the cases say, and of one size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from bench_folder import line, write_bench
from PIL import Image

import swath
from swath.errors import InputError
from swath.eval.report.markdown import escaped
from swath.eval.report.write import report
from swath.testing.benchmark import write_questions

HOSTILE = (
    "<script>alert(1)</script> \"quoted\" 'single' | pipe\nnew line & </table> `tick` [a](http://x.example) "
    "\x1b[31m\x07 \u202eevil\u202c שלום {{ 7 * 7 }} \ud800"
)
VOID = {"meta", "br", "input", "img", "hr", "link"}


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def bench(folder: Path, *lines: dict[str, object], **meta: object) -> Path:
    return write_bench(folder, lines, **meta)


def test_first_table_attributes_and_second_counts(tmp_path: Path) -> None:
    cells = ("plain", "segmenter", "planner", "both")
    lines = [line("a", "wrong" if cell in cells[:2] else "right", cell=cell) for cell in cells]
    found = report([bench(tmp_path, *lines, cells=cells)])
    tables = re.findall(r"^### (.*)$", found.markdown, re.MULTILINE)
    assert tables[0] == "Where errors come from: offline with labels"
    assert "| planner | 1 | 100.0 % (20.7–100.0) | repaired by the reference program" in found.markdown
    assert found.terminal.index("Where errors come from") < found.terminal.index("Accuracy")
    assert found.html.index("Where errors come from") < found.html.index("<h3>Accuracy</h3>")
    assert found.to_json()["runs"][0]["attribution"]["causes"]["planner"] == 1


def test_without_oracles_the_report_says_how_to_get_them(tmp_path: Path) -> None:
    found = report([bench(tmp_path, line("a", "wrong"))])
    said = " ".join(found.terminal.split())  # however wide the terminal is
    assert "No case was asked in all four ways, only: as it is. Next: run with --oracle both." in said


def test_overview_has_every_figure_of_the_headline(tmp_path: Path) -> None:
    verdicts = ["right"] * 6 + ["wrong", "refused", "failed", "unparsable"]
    found = report([bench(tmp_path, *(line(f"c{i}", verdict) for i, verdict in enumerate(verdicts)))])
    row = "| offline with labels | as it is | 60.0 % (31.3–83.2) | 10 | 75.0 % (40.9–92.9) | 80.0 % | 1 | 1 | 1 | 1 |"
    assert row.replace("|", "|") in found.markdown.replace("\\[1\\]", "[1]")
    assert found.to_json()["runs"][0]["cells"]["plain"]["accuracy"]["share"] == 0.6


def test_every_row_names_the_command_that_made_it(tmp_path: Path) -> None:
    a = bench(tmp_path / "a", line("a"), command="swath bench run x --data 'my town' --out a")
    b = bench(tmp_path / "b", line("a"), command="", planner="majority", segmenter=None)
    found = report([a, b])
    for text in (found.terminal, found.markdown, Page(found.html).text):
        assert "swath bench run x --data 'my town' --out a" in text
        assert "# run from Python, without a command line" in text
        assert f"swath bench report {a} {b}" in text
    assert re.search(r"^ ?majority .*\[2\]$", found.terminal, re.MULTILINE)


def test_json_goes_round(tmp_path: Path) -> None:
    lines = [line("a", interval=[2, 4], question=HOSTILE), line("b", "refused", extras={"gsd_m": 0.5})]
    found = report([bench(tmp_path / "a", *lines), bench(tmp_path / "b", *lines, planner="majority")]).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["runs"][0]["mistakes"][0]["case"] == "b" and found["comparisons"][0]["test"]["neither"] == 1
    assert found["runs"][0]["made_by"]["command"] == "swath bench run questions --data town --out r"


@pytest.mark.parametrize(
    "lines, says",
    [
        ([], "right of 0"),
        ([line("a", "refused"), line("b", "refused")], "0.0 % (0.0–65.8)"),
        ([{k: v for k, v in line("a").items() if k not in ("seconds", "tokens", "cost")}], "was not kept"),
    ],
    ids=["empty", "all refused", "no timings"],
)
def test_odd_runs_have_a_report(tmp_path: Path, lines: list[dict[str, object]], says: str) -> None:
    found = report([bench(tmp_path, *lines)])
    assert says in Page(found.html).text
    assert found.terminal and found.markdown and found.to_json()


def test_a_torn_last_line_is_a_missing_answer(tmp_path: Path) -> None:
    folder = bench(tmp_path, line("a"), line("b"))
    whole = (folder / "results.jsonl").read_text(encoding="utf-8")
    (folder / "results.jsonl").write_text(whole[:-20], encoding="utf-8")
    found = report([folder])
    assert found.to_json()["runs"][0]["missing"] == {"plain": 1}
    assert "not at its end, answers missing: 1. Next: go on with --resume." in " ".join(found.terminal.split())


def test_cases_that_no_oracle_can_help_are_not_missing(tmp_path: Path) -> None:
    lines = [line("a"), line("b"), line("a", cell="segmenter")]
    folder = bench(tmp_path, *lines, cells=["plain", "segmenter"], not_available={"segmenter": 1})
    assert report([folder]).to_json()["runs"][0]["missing"] == {}


def test_broken_cases_are_told_of(tmp_path: Path) -> None:
    found = report([bench(tmp_path, line("a", "failed", broke=True))])
    assert "cases that broke, and count as failed: 1; --resume asks them again." in found.markdown.replace("\\", "")


def test_a_self_test_is_never_called_squid(tmp_path: Path) -> None:
    lines = [line("a", "wrong", extras={"rule": "squid-fit"}, metric="range:squid-fit"), line("b")]
    found = report([bench(tmp_path, *lines, benchmark="labels")])
    assert found.title == "Report: self-test"
    for text in (found.terminal, found.markdown, found.html, json.dumps(found.to_json())):
        assert "SQuID" not in text and "self-test" in text


def test_a_part_of_a_benchmark_is_not_called_by_its_name(tmp_path: Path) -> None:
    found = report([bench(tmp_path, line("SQuID_0000", tier="1"), benchmark="squid")])
    assert found.title == "Report: squid, not the official files"
    assert "QVLM" not in found.html + found.markdown + found.terminal


def test_runs_of_different_benchmarks_are_not_compared(tmp_path: Path) -> None:
    folders = [bench(tmp_path / "a", line("a")), bench(tmp_path / "b", line("a"), benchmark="squid")]
    with pytest.raises(InputError) as error:
        report(folders)
    assert str(error.value) == (
        "Runs of different benchmarks cannot be compared: questions and squid. Next: report on each by itself."
    )
    with pytest.raises(InputError, match=r"Next: name the folder of a benchmark run\."):
        report([])


def test_two_runs_by_the_same_planner_have_two_names(tmp_path: Path) -> None:
    folders = [bench(tmp_path / name, line("a")) for name in ("old", "new")]
    assert [run.name for run in report(folders).runs] == ["offline with labels (old)", "offline with labels (new)"]
    assert [run.name for run in report(folders[:1] * 2).runs] == [
        "offline with labels (old), 1", "offline with labels (old), 2",
    ]  # fmt: skip


def test_fixed_and_broken_cases_are_listed(tmp_path: Path) -> None:
    first = bench(tmp_path / "a", line("same"), line("lost"), line("won", "wrong", answer=7))
    second = bench(tmp_path / "b", line("same"), line("lost", "refused"), line("won"), planner="llm")
    found = report([first, second])
    repaired = found.markdown.split("### Repaired in llm with labels")[1].split("###")[0]
    assert "| won | count | How many ponds are there? | 3 | 7 | 3 |" in repaired and "lost" not in repaired
    broken = found.markdown.split("### Broken in llm with labels")[1].split("##")[0]
    assert "| lost | count | How many ponds are there? | 3 | 3 | refused: there is no road |" in broken


def test_markdown_keeps_cells_in_their_cells(tmp_path: Path) -> None:
    text = report([bench(tmp_path, line("a", "wrong", question=HOSTILE, answer=HOSTILE))]).markdown
    (row,) = [found for found in text.splitlines() if "alert" in found]
    assert len(re.findall(r"(?<!\\)\|", row)) == 8
    assert "<script" not in text and "&lt;script&gt;" in row and "\x1b" not in text and "\u202e" not in text
    assert "http://" not in row and "שלום" in row
    text.encode("utf-8")


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a|b", "a\\|b"),
        ("two\nlines", "two lines"),
        ("# no heading", "\\# no heading"),
        ("- no list", "\\- no list"),
        ("1. no list", "1\\. no list"),
        ("back\\slash", "back\\\\slash"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("https://x.example www.x.example", "https:\\//x.example www\\.x.example"),
        ("84.2 % (80.1–87.6)", "84.2 % (80.1–87.6)"),
    ],
)
def test_markdown_escapes(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_terminals_obey_nobody(tmp_path: Path) -> None:
    folder = bench(tmp_path, line("a", type=HOSTILE, warnings=[HOSTILE]), command=HOSTILE)
    text = report([folder]).terminal
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "שלום" in text


@pytest.mark.parametrize("columns", ["20", "80", "200"])
def test_no_figure_is_dropped_on_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = report([bench(tmp_path, line("a", "unparsable"), line("b"))]).terminal
    overview = text.split("\nAccuracy\n")[1].split("In brackets")[0]
    assert "50.0 % (9.5–90.5)" in overview and "unparsable" in overview and "[1]" in overview


def test_hostile_text_stays_text_on_the_page(tmp_path: Path) -> None:
    lines = [
        line(f"<b>{i}", "wrong", question=HOSTILE, answer=HOSTILE, truth=HOSTILE, type=HOSTILE, reading=HOSTILE,
             program=HOSTILE, warnings=[HOSTILE], run="javascript:alert(1)", extras={"source": HOSTILE})
        for i in range(2)
    ]  # fmt: skip
    html = report([bench(tmp_path, *lines, planner=HOSTILE, command=HOSTILE)]).html
    found = Page(html)
    assert len(found.all("script")) == 1 and not found.all("b")
    assert "<script>alert(1)</script>" in found.text and "{{ 7 * 7 }}" in found.text and "שלום" in found.text
    assert not any(name.startswith("on") or name == "style" for _, attributes in found.tags for name in attributes)
    assert all(not link["href"] or link["href"].startswith("#") for link in found.all("a"))
    assert not set("\x1b\x07\u202e\ud800") & set(html)
    html.encode("utf-8")


def test_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    html = report([bench(tmp_path, line("a", "wrong", interval=[2, 4]))]).html
    found = Page(html)
    (policy,) = [meta["content"] for meta in found.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None and policy.startswith("default-src 'none'; img-src data:;") and "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not found.all("link") and not re.search(r"(src|href)=\"(?!#|data:)", html) and "url(" not in html
    assert found.all("html") == [{"lang": "en"}] and "prefers-color-scheme: dark" in html


def test_plots_show_the_figures(tmp_path: Path) -> None:
    lines = [line("a", interval=[2, 4]), line("b", "wrong", truth=9, interval=[2, 4]), line("c", "refused")]
    html = report([bench(tmp_path, *lines)]).html
    assert '<rect class="right" x="0" width="33.33" height="10">' in html
    assert '<rect class="wrong" x="33.33" width="33.33" height="10">' in html
    assert "<title>over 50 %: holds the truth 50.0 % (9.5–90.5) of 2</title>" in html
    assert '<circle cx="193" cy="104" r="4"/>' in html  # half way between 0 and 100 %, left of the middle
    assert 'aria-label="right 1, wrong 1, refused 1, failed 0, unparsable 0"' in html


def with_picture(folder: Path, name: str, size: tuple[int, int] = (1600, 900)) -> str:
    run = folder / "runs" / name
    run.mkdir(parents=True)
    Image.fromarray(np.full((size[1], size[0], 3), 90, dtype=np.uint8)).save(run / "overlay.png")
    return f"runs/{name}"


def test_mistakes_are_shown_with_their_pictures(tmp_path: Path) -> None:
    run = with_picture(tmp_path, "a b-plain")
    program = 'ponds = segment("water")\nreply(1 < 2, kind="boolean")'
    lines = [line("a b", "wrong", run=run, program=program, truth=3, unit="ha", answer=7, said_unit="ha"), line("c")]
    found = Page(report([bench(tmp_path, *lines)]).html)
    (picture,) = found.all("img")
    assert picture["src"] is not None and picture["src"].startswith("data:image/jpeg;base64,")
    assert [link["href"] for link in found.all("a")] == ["#cases", "runs/a%20b-plain/"]
    assert program in found.text and "3 ha" in found.texts and "7 ha" in found.texts and "ponds" in found.texts


def test_pictures_and_links_stay_inside_the_folder(tmp_path: Path) -> None:
    with_picture(tmp_path, "a-plain")
    found = Page(report([bench(tmp_path / "r", line("a", "wrong", run="../runs/a-plain"))]).html)
    assert not found.all("img") and len(found.all("a")) == 1


def test_a_broken_picture_is_none(tmp_path: Path) -> None:
    run = with_picture(tmp_path, "a-plain")
    (tmp_path / run / "overlay.png").write_bytes(b"no picture")
    assert not Page(report([bench(tmp_path, line("a", "wrong", run=run))]).html).all("img")


def test_a_run_without_a_picture_is_measured_again(tmp_path: Path) -> None:
    town = write_questions(tmp_path / "town")
    answer = swath.ask(
        town / "scene.tif", "How many buildings are there?", labels=town / "scene.tif", legend=town / "legend.json",
        planner="offline", out=tmp_path / "runs", keep="light",
    )  # fmt: skip
    assert answer.run is not None and not (Path(answer.run) / "overlay.png").exists()
    wrong = line("a", "wrong", run=f"runs/{Path(answer.run).name}", program=answer.program)
    assert len(Page(report([bench(tmp_path, wrong)]).html).all("img")) == 1
    (town / "scene.tif").unlink()
    assert not Page(report([bench(tmp_path, wrong)]).html).all("img")


def test_the_gallery_has_some_mistakes_of_every_type(tmp_path: Path) -> None:
    lines = [line(f"c{i}", "wrong", type="rare" if i == 99 else "count") for i in range(100)]
    found = Page(report([bench(tmp_path, *lines)]).html)
    assert len(found.all("article")) == 60
    assert "60 of 100 cases that are not right, some of every type." in found.text
    assert [text for text in found.texts if text in ("c0", "c99")][:2] == ["c0", "c99"]


def test_a_page_of_5000_cases_stays_small(tmp_path: Path) -> None:
    run = with_picture(tmp_path, "big-plain")
    noise = np.random.default_rng(0).integers(0, 255, (1500, 1500, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / run / "overlay.png")
    lines = [
        line(f"c{i}", "wrong", question="ö" * 400, answer="ß" * 400, truth="é" * 400, program="x" * 9000, run=run)
        for i in range(5100)
    ]
    html = report([bench(tmp_path, *lines)]).html
    assert len(html.encode("utf-8")) < 10_000_000
    assert "5,000 of 5,100 cases." in html
    assert 1 <= html.count("data:image/jpeg") < 60
