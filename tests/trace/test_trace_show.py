"""A run in a terminal: at 80 and 120 columns, in a pipe, and with texts that mean harm."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from swath.trace.reading import load_run
from swath.trace.show import show

Make = Callable[..., Path]
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_tells_the_whole_story_and_keeps_to_the_width(make_run: Make, width: int) -> None:
    text = show(load_run(make_run()), width=width, colour=False)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    for words in (
        "How large is the water?",
        "5,000 m² (4,900 to 5,100): area of water",
        "interval 4900 to 5100, considering boundary",
        "lake.tif, 30 x 20 pixels, EPSG:32631",
        "2 x 2 m",
        "labels: water, grass",
        "The lake touches the image's edge.",
        '1 water = segment("water")',
        'segment("water")',
        "#1 water: 1,234 px",
        "area_m2(#1)",
        "5000.0",
        "12 ms",
        "cached",
        "swath trace replay 20261130-101512-3f2a --out",
    ):
        assert words in text, words
    assert "\x1b" not in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_steps_name_their_source_line(make_run: Make) -> None:
    lines = show(load_run(make_run()), width=120, colour=False).splitlines()
    row = next(line for line in lines if "area_m2(#1)" in line)
    assert row.split()[:2] == ["3", "2"]


def test_rejected_drafts_and_errors_are_shown(make_run: Make) -> None:
    step = {"step": 1, "kind": "tool", "name": "near", "arguments": {}, "result": None, "line": 1, "seconds": 2.5,
            "error": "Line 1: give one distance.", "cached": False}  # fmt: skip
    folder = make_run(
        answer={"status": "refused", "text": "There is no lake.", "interval": None, "answer": None},
        steps=[step],
        drafts=[{"file": "program.1.py", "hints": ["Line 1: there is no sigment: did you mean segment?"]}],
    )
    (folder / "program.1.py").write_text('reply(sigment("water"))\n', encoding="utf-8")
    text = show(load_run(folder), width=100, colour=False)
    assert "refused" in text
    assert "There is no lake." in text
    assert "Rejected draft 1" in text
    assert 'reply(sigment("water"))' in text
    assert "did you mean segment?" in text
    assert "Line 1: give one distance." in text
    assert "2.5 s" in text


def test_colour_is_for_terminals(make_run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run = load_run(make_run())
    assert ESCAPES.search(show(run, width=80, colour=True))
    assert "\x1b" not in show(run, width=80)  # the tests' output is no terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b" in show(run, width=80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in show(run, width=80)


HOSTILE = "\x1b]0;owned\x07\x1b[2Jevil \x9b31m\u202eabc\u202c [red]markup[/red] :smile: \\[bold]"


def test_hostile_texts_reach_no_terminal(make_run: Make) -> None:
    result = {"handle": "#1", "mask": HOSTILE, "pixels": 1}
    step = {"step": 1, "kind": "tool", "name": "segment", "arguments": {"class_name": HOSTILE}, "line": 1,
            "result": result, "seconds": 0.1, "error": None, "cached": False}  # fmt: skip
    folder = make_run(
        question=HOSTILE,
        program=f'x = "{HOSTILE}"\n',
        steps=[step, {**step, "step": 2, "error": HOSTILE}],
        answer={"text": HOSTILE, "warnings": [HOSTILE], "crs": HOSTILE, "method": HOSTILE},
        classes=[HOSTILE],
        planner=HOSTILE,
        remarks=[HOSTILE],
    )
    for colour in (False, True):
        text = ESCAPES.sub("", show(load_run(folder), width=200, colour=colour))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        assert "[red]markup[/red] :smile: \\[bold]" in text  # shown as it is, not obeyed


def test_words_of_other_scripts_and_spaces_stay(make_run: Make) -> None:
    text = show(
        load_run(make_run(question="Quelle surface d’eau, 20\u202f000 m² ? 水面积是多少")), width=80, colour=False
    )
    assert "Quelle surface d’eau, 20 000 m² ? 水面积是多少" in text


def test_a_refusal_without_program_or_image_is_shown(make_run: Make) -> None:
    folder = make_run(
        program=None,
        steps=[],
        answer={"status": "refused", "text": "It cannot be measured.", "interval": None, "objects": None, "crs": None},
        image={"path": "x.tif", "resolved": None, "sha256": None, "grid": None},
        classes=None,
    )
    text = show(load_run(folder), width=80, colour=False)
    assert "It cannot be measured." in text
    assert "Program" not in text
