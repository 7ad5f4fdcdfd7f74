"""A thread of questions: follow-ups, threads that survive being killed, one image opened once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import swath
from swath.agent.planner import Turn
from swath.agent.session import THREADS_FILE, spelt_out
from swath.errors import InputError
from swath.testing.planner import ScriptedPlanner
from swath.trace.events import Event

COUNT = "How many buildings are there?"


def options(village: Any, tmp_path: Path) -> dict[str, Any]:
    return {**village.options, "out": tmp_path / "runs", "keep": "light"}


def test_those_are_what_the_last_answer_counted(village: Any, tmp_path: Path) -> None:
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        every = session.ask(COUNT)
        wet = session.ask("And how many of those are within 5 m of water?")
        area = session.ask("What is their total area in m2?")
    assert (every.answer, wet.answer, area.answer) == (village.houses, village.near_canal, 3 * village.house_m2)
    assert any("is taken to be about" in warning for warning in area.warnings)


def test_a_thread_is_gone_on_with(village: Any, tmp_path: Path) -> None:
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        session.ask(COUNT)
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        assert [turn.question for turn in session.turns] == [COUNT]
        assert session.interrupted is None
        assert session.ask("How many of those are within 5 m of water?").status == "answered"
    with swath.Session(village.image, thread="another", **options(village, tmp_path)) as session:
        assert session.turns == ()
        assert session.ask("How many of those are within 5 m of water?").status == "refused"


def test_what_was_refused_is_no_turn(village: Any, tmp_path: Path) -> None:
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        assert session.ask("Who owns the largest building?").status == "refused"
        assert session.turns == ()
        assert session.interrupted is None


def test_the_image_is_opened_once_and_warnings_stay_with_their_question(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    import swath.agent.desk as desk

    whole = desk.open_raster
    monkeypatch.setattr(desk, "open_raster", lambda path, **given: opened.append(path) or whole(path, **given))
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        first = session.ask(COUNT)
        second = session.ask(COUNT)
    assert len(opened) == 1
    assert first.answer == second.answer
    assert first.warnings == second.warnings


def test_a_ground_size_stated_in_one_question_is_not_that_of_the_next(village: Any, tmp_path: Path) -> None:
    ask = "What is the total area of water in m2?"
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        plain = session.ask(ask)
        stated = session.ask(f"{ask} (GSD: 5 m)")
        again = session.ask(ask)
    assert plain.answer == again.answer != stated.answer


def test_events_tell_what_happens(village: Any, tmp_path: Path) -> None:
    told: list[Event] = []
    with swath.Session(village.image, **options(village, tmp_path)) as session:
        session.ask(COUNT, listen=told.append)
    steps = [event.name for event in told if event.kind == "begin"]
    assert steps == ["question", "read", "plan", "check", "run", "verify", "answer"]
    tools = [event for event in told if event.kind == "tool"]
    assert [event.name for event in tools][:2] == ["segment", "components"]
    assert tools[1].detail["result"]["count"] > 0


def test_earlier_programs_are_shown_to_the_planner(village: Any, tmp_path: Path) -> None:
    program = 'reply(count(components(segment("building"))), kind="count")'
    planner = ScriptedPlanner(program, program + "\n")
    with swath.Session(village.image, planner=planner, **options(village, tmp_path)) as session:
        session.ask("first")
        session.ask("second")
    assert [turn.source for turn in planner.asked[-1][1].earlier] == [program]


CUT_OFF = textwrap.dedent("""
    import os, signal, sys
    import swath
    from swath.trace.events import Event

    def listen(event: Event) -> None:
        if event.kind == "begin" and event.name == sys.argv[1] and len(session.turns) == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    image, labels, legend, out = sys.argv[2:]
    session = swath.Session(image, labels=labels, legend=legend, out=out, keep="light")
    session.ask("How many buildings are there?", listen=listen)
    session.ask("How many of those are within 5 m of water?", listen=listen)
""")


@pytest.mark.parametrize("step", ["plan", "run", "answer"])
def test_a_thread_survives_kill_9(village: Any, tmp_path: Path, step: str) -> None:
    given = options(village, tmp_path)
    words = [step, *map(str, (village.image, given["labels"], given["legend"], given["out"]))]
    done = subprocess.run([sys.executable, "-c", CUT_OFF, *words], env=os.environ, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    with swath.Session(village.image, **given) as session:
        assert [turn.question for turn in session.turns] == [COUNT]
        assert session.interrupted == "How many of those are within 5 m of water?"
        assert session.ask(session.interrupted).status == "answered"
        assert session.interrupted is None
        assert len(session.turns) == 2


def test_a_broken_file_of_threads_is_one_sentence(village: Any, tmp_path: Path) -> None:
    given = options(village, tmp_path)
    given["out"].mkdir()
    (given["out"] / THREADS_FILE).write_bytes(b"no database" * 100)
    with pytest.raises(InputError, match=r"The file of threads .* cannot be used: .*\. Next: name another folder"):
        swath.Session(village.image, **given)


TURN = Turn("q", "p", "number of lakes larger than 1 ha", "3: number of lakes larger than 1 ha")


@pytest.mark.parametrize(
    ("question", "spelt"),
    [
        ("And how many of those touch a road?", "Find lakes larger than 1 ha. How many of those touch a road?"),
        ("what is their total area?", "Find lakes larger than 1 ha. What is their total area?"),
        ("How many buildings are there?", None),
        ("and", None),
    ],
)
def test_what_a_question_refers_to_is_spelt_out(question: str, spelt: str | None) -> None:
    assert spelt_out(question, (TURN,)) == spelt
    assert spelt_out(question, ()) is None
