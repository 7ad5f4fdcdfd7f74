"""A thread of questions: follow-ups, threads that survive being killed, one image opened once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import swath
from swath.agent.planner import Turn
from swath.agent.session import THREADS_FILE, spelt_out
from swath.cli import swath as cli
from swath.errors import InputError
from swath.testing.llm_server import FakeServer, Received, Reply
from swath.testing.planner import ScriptedPlanner
from swath.trace.events import Event
from swath.trace.reading import load_run

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
    from swath.agent import request

    whole = request.open_raster
    monkeypatch.setattr(request, "open_raster", lambda path, **given: opened.append(path) or whole(path, **given))
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


def test_what_no_sentence_says_is_named_by_its_objects() -> None:
    turn = Turn("q", "p", "count(near(...))", "3: count(near(...))", "building within 5 m of water")
    assert spelt_out("How many of them touch a road?", (turn,)) == (
        "Find building within 5 m of water. How many of them touch a road?"
    )
    assert spelt_out("How many of them?", (Turn("q", "p", "share", "3 %"),)) is None


WET = "How many buildings are within 5 m of water?"
WET_CODE = """```python
# roofs by the canal
wet = near(components(segment("building")), segment("water"), max_distance_m=5)
reply({}, objects=wet)
```"""
COUNTED, MEASURED = 'count(wet), kind="count"', 'area_m2(wet), kind="quantity", unit="m2"'
WET_EXPRESSION = '{}(near(components("building"), "water", max_distance="5 m"))'


def in_a_thread_with_a_model(village: Any, tmp_path: Path, *replies: str, way: str = "code") -> Any:
    (tmp_path / "config.toml").write_text(f'[llm]\nway = "{way}"\n', encoding="utf-8")
    with FakeServer([Reply(reply) for reply in replies]) as server:
        given = {**options(village, tmp_path), "planner": "llm", "model": "tiny", "base_url": server.base_url}
        with swath.Session(village.image, **given) as session:
            first = session.ask(WET)
        with swath.Session(village.image, **given) as session:  # as after a crash
            second = session.ask("What is their total area in m2?")
    return first, second, [call.body for call in server.received]


def asked_of(body: Any) -> str:
    return str(body["messages"][-1]["content"])


@pytest.mark.parametrize("way", ["code", "bound"])
def test_a_model_is_told_what_those_are(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "config.toml"))
    told = {
        "code": (WET_CODE.format(COUNTED), WET_CODE.format(MEASURED)),
        "bound": (WET_EXPRESSION.format("count"), WET_EXPRESSION.format("area_m2")),
    }[way]
    first, second, bodies = in_a_thread_with_a_model(village, tmp_path, *told, way=way)
    assert (first.answer, second.answer) == (village.near_canal, 3 * village.house_m2)
    assert len(bodies) == 2
    assert "Find building within 5 m of water. What is their total area in m2?" in asked_of(bodies[1])
    assert any("is taken to be about building within 5 m of water" in warning for warning in second.warnings)


def test_a_follow_up_that_is_planned_again_keeps_what_it_is_about(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "config.toml"))
    every = WET_CODE.format(MEASURED).replace("max_distance_m=5", "max_distance_m=500")
    _, second, bodies = in_a_thread_with_a_model(
        village, tmp_path, WET_CODE.format(COUNTED), every, WET_CODE.format(MEASURED)
    )
    assert second.answer == 3 * village.house_m2
    assert "The program does not use the question's 5 m." in asked_of(bodies[2])
    assert "Find building within 5 m of water." in asked_of(bodies[2])


def test_a_model_that_declines_a_follow_up_is_asked_once(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "config.toml"))
    _, second, bodies = in_a_thread_with_a_model(village, tmp_path, WET_CODE.format(COUNTED), "cannot: nobody knows")
    assert (second.status, len(bodies)) == ("refused", 2)
    assert len(load_run(Path(second.run)).record["model_calls"]) == 1


@pytest.mark.parametrize("way", ["code", "structured"])
def test_a_model_is_shown_the_programs_of_the_thread(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(f'[llm]\nway = "{way}"\n', encoding="utf-8")
    with FakeServer([Reply("cannot: no")]) as server:
        given = {**options(village, tmp_path), "model": "tiny", "base_url": server.base_url}
        with swath.Session(village.image, **given) as session:
            assert session.ask(WET).planner == "offline"
            session.ask("And by the street?", listen=lambda event: None)
    said = asked_of(server.received[0].body)
    assert f"Asked before about this image: <<<{WET}>>>" in said
    assert "near(" in said if way == "code" else '"tool":"near"' in said


def test_a_chat_that_is_killed_goes_on_in_the_next(
    village: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWATH_CONFIG", str(tmp_path / "none.toml"))
    given, waits = options(village, tmp_path), threading.Event()
    odd = "Whose roofs get splashed, within 5 m of water?"

    def silent(call: Received) -> Reply:
        waits.set()
        return Reply("late", silent_s=60.0)

    files = ["--labels", str(given["labels"]), "--legend", str(given["legend"]), "--out", str(given["out"])]
    chat = ["chat", str(village.image), *files]
    with FakeServer(silent) as server:
        model = ["--model", "tiny", "--base-url", server.base_url]
        command = [sys.executable, "-m", "swath", *chat, *model]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stdin is not None
            process.stdin.write(f"{WET}\n{odd}\n")
            process.stdin.flush()
            assert waits.wait(120)
            process.kill()
        assert process.returncode == -signal.SIGKILL
    done = CliRunner().invoke(cli, chat, input="What is their total area in m2?\n/program\n/nonsense\n/quit\n")
    assert done.exit_code == 0
    assert f"earlier: {WET} -> 3: number of buildings within 5 m of water" in done.stderr
    assert f"The last chat was cut off at: {odd}" in done.stderr
    assert "There is no /nonsense. Next: /program, /quit, or a question." in done.stderr
    assert "120 m²" in done.stdout and "buildings within 5 m of water (whole objects)" in done.stdout
    assert "near(" in done.stdout
