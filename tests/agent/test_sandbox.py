"""The sandbox as its caller sees it: values and handles, lines, errors, budgets, repeatable runs."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sandbox_host import TOOLS, Host, Mask

from swath.agent.faults import without_paths
from swath.agent.sandbox import Limits, RunResult, Sandbox
from swath.errors import BudgetExceeded, ProgramFailed, Refused, SandboxUnavailable, ToolError


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def run(sandbox: Sandbox, source: str, host: Host | None = None, **limits: Any) -> RunResult:
    return sandbox.run(source, host or Host(), names=TOOLS, handle_types=(Mask,), limits=Limits(**limits))


def replied(sandbox: Sandbox, source: str, **tools: Callable[..., Any]) -> Any:
    host = Host(**tools)
    run(sandbox, source, host)
    return host.calls[-1].args[0]


def test_calls_arrive_in_order_with_their_lines(sandbox: Sandbox) -> None:
    host = Host()
    source = 'a = segment("é")\n\nn = (\n    count(a)\n)\nreply(n, kind="count", objects=[a])\n'
    result = run(sandbox, source, host)
    assert [(call.name, call.line) for call in host.calls] == [("segment", 1), ("count", 4), ("reply", 6)]
    assert host.calls[2].kwargs["kind"] == "count"
    assert result.calls == 3


def test_lines_are_counted_alike_for_every_kind_of_line_end(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, 'a = segment("x")\r\nb = 1\r\nreply(b)', host)
    assert [call.line for call in host.calls] == [1, 3]


def test_handles_come_back_as_the_same_objects_also_inside_lists(sandbox: Sandbox) -> None:
    parts = [Mask(), Mask()]
    value = replied(sandbox, "x = each(1)\nreply([x[1], x[0], (x[0],)])", each=lambda of: parts)
    assert value[0] is parts[1] and value[1] is parts[0] and value[2][0] is parts[0]


def test_one_handle_equals_itself_inside_the_program(sandbox: Sandbox) -> None:
    one = Mask()
    assert replied(
        sandbox, 'reply([segment("a") == segment("b"), segment("a") in [segment("b")]])', segment=lambda n: one
    ) == [
        True,
        True,
    ]


def test_plain_values_cross_unchanged(sandbox: Sandbox) -> None:
    value = [1, 2.5, "é", None, True, {"a": [1]}]
    assert replied(sandbox, 'reply(segment("x"))', segment=lambda name: value) == value
    assert type(replied(sandbox, 'reply(segment("x"))', segment=lambda name: np.float64(2.5))) is float


def test_a_tool_that_returns_something_else_is_a_fault_of_ours(sandbox: Sandbox) -> None:
    with pytest.raises(TypeError, match="segment returned ndarray, which is neither a plain value nor a handle"):
        run(sandbox, 'segment("x")', Host(segment=lambda name: np.zeros(2)))


def test_a_tool_error_gains_its_line_and_loses_host_paths(sandbox: Sandbox) -> None:
    def fail(name: str) -> Any:
        raise ToolError("cannot read '/home/some one/secret place/labels.tif' beside /srv/data/x.tif.")

    with pytest.raises(ToolError) as caught:
        run(sandbox, '\nsegment("x")', Host(segment=fail))
    assert str(caught.value) == "Line 2: cannot read 'labels.tif' beside x.tif."


@pytest.mark.parametrize("error", [Refused("no road here"), KeyboardInterrupt(), ValueError("/srv/x")])
def test_other_exceptions_of_the_host_reach_the_caller_unchanged(sandbox: Sandbox, error: BaseException) -> None:
    def fail(name: str) -> Any:
        raise error

    with pytest.raises(type(error)) as caught:
        run(sandbox, 'segment("x")', Host(segment=fail))
    assert caught.value is error


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("x = 1\ny = x / 0", "Line 2: ZeroDivisionError: division by zero: test that the divisor is not 0 first"),
        ("import numpy as np", "Line 1: numpy cannot be imported: use the tools and plain Python."),
        ("def f():\n    yield 1", "yield is not available: build a list with a comprehension."),
        ("x = 1\ndel x", "del is not available and not needed: leave it out."),
        ("class A(object):\n    pass", "classes cannot inherit here"),
        ("x = [1]\nsorted(x, key=area_m2)", "Line 2: the tool area_m2 can only be called by its name, not passed on"),
        ("max([1, 2], key=lambda r: area_m2(r))", "collect its values first with a comprehension"),
        ("list(map(area_m2, [1]))", "collect its values first with a comprehension"),
        ("x = (", "Line 1: "),
        ("cuont(1)", "Line 1: there is no cuont here: did you mean count?"),
        ("qqqq(1)", "Line 1: there is no qqqq here."),
        ('len(segment("x"))', "masks and regions are handles: pass them to tools"),
        ('segment("x").area', "Line 1: masks and regions have no readable attributes (area): pass them to tools."),
        ("def f(n):\n    return f(n)\nf(1)", "maximum recursion depth exceeded: use a loop."),
        ("count(10 ** 400)", "Line 1: an argument of count is a number of 1329 bits, larger than any measurement."),
        ("count(b'x')", "Line 1: an argument of count is a value of type bytes: only numbers, texts"),
    ],
)
def test_a_failing_program_gets_a_hint(sandbox: Sandbox, source: str, hint: str) -> None:
    with pytest.raises(ProgramFailed) as caught:
        run(sandbox, source)
    assert hint in str(caught.value)


def test_tools_work_in_comprehensions_functions_and_loops(sandbox: Sandbox) -> None:
    source = """
def total(parts):
    return sum([area_m2(part) for part in parts])
best = max([area_m2(r) for r in each(1)])
while count(1) > 3:
    pass
reply(f"{total(each(1)):.1f} {best} {sum(area_m2(r) for r in each(1))}")
"""
    assert replied(sandbox, source) == "37.5 12.5 37.5"


def test_printed_text_is_kept(sandbox: Sandbox) -> None:
    assert run(sandbox, 'print("seen", 3)\nprint("é")').printed == "seen 3\né\n"


def test_printed_text_cannot_steer_a_terminal(sandbox: Sandbox) -> None:
    assert run(sandbox, 'print("a\\x1b[2J\\u202eb\\rc\\td")').printed == "a[2Jbc    d\n"


def test_runs_repeat_clock_and_chance_included(sandbox: Sandbox) -> None:
    source = "import random, time, datetime\nreply([random.random(), time.time(), str(datetime.datetime.now())])"
    first, second = replied(sandbox, source), replied(sandbox, source)
    assert first == second
    assert first[2].startswith("2000-01-01 00:00:00")
    assert first[1] == datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC).timestamp()
    assert first[0] != random.random()


def test_nothing_is_left_over_from_the_run_before(sandbox: Sandbox) -> None:
    run(sandbox, 'left = segment("x")')
    with pytest.raises(ProgramFailed, match="there is no left here"):
        run(sandbox, "reply(left)")


@pytest.mark.parametrize(
    ("source", "limits", "sentence"),
    [
        ("while True: count(1)", {"calls": 5}, "Line 1: the program used more than its 5 calls of tools"),
        ("each(1)\neach(1)", {"handles": 4}, "Line 2: the program used more than its 4 masks and regions"),
        ('segment("x")\nsegment("y")', {"handle_bytes": 6}, "Line 2: the program used more than its 6 bytes of masks"),
        ("count(1)\ncount(1)", {"tool_seconds": 0.0}, "Line 1: the program used more than its 0 seconds in tools"),
        ("reply('a' * 1001)", {"output_bytes": 1000}, "Line 1: the program used more than its 1000 bytes of text"),
        ("print('a' * 1001)", {"output_bytes": 1000}, "The program printed more than its 1000 bytes: print less."),
        ("x = 1\nwhile True: pass", {"guest_seconds": 0.1}, "computed for more than its 0.1 s: leave it to tools."),
        ("x = 'a' * 10 ** 9", {}, "program used more than its 128 MB: keep fewer values."),
    ],
)
def test_budgets(sandbox: Sandbox, source: str, limits: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BudgetExceeded) as caught:
        run(sandbox, source, **limits)
    assert sentence in str(caught.value)
    assert run(sandbox, "reply(1)").calls == 1


def test_arrays_shared_by_handles_are_counted_once(sandbox: Sandbox) -> None:
    shared = Mask(1000)

    def view(of: object) -> Mask:
        other = Mask(0)
        other.pixels = shared.pixels[:500]
        return other

    source = "for i in range(20):\n    segment('x')\n    count(1)"
    assert run(sandbox, source, Host(segment=view, count=lambda of: shared), handle_bytes=1000).calls == 40


def test_calls_know_the_seconds_that_are_left(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, "count(1)\ncount(1)", host, tool_seconds=100.0)
    assert 100.0 == host.calls[0].seconds_left > host.calls[1].seconds_left > 0.0


def test_where_hardening_misfires_workers_run_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "confine.py"
    broken.write_text("raise SystemExit(1)")
    monkeypatch.setattr("swath.agent.launch.SCRIPT", broken)
    with Sandbox() as sandbox:
        assert run(sandbox, "reply(count(1))").calls == 2
        assert sandbox.hardening == ()


def test_where_no_script_can_be_started_workers_run_without_hardening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swath.agent.launch._executable_folder", lambda: None)
    with Sandbox() as sandbox:
        assert run(sandbox, "reply(count(1))").calls == 2
        assert sandbox.hardening == ()


def test_several_threads_share_the_workers() -> None:
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda i: replied(sandbox, f"reply({i} * count(1))"), range(20)))
    assert answers == [3 * i for i in range(20)]


def test_without_a_worker_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nonexistent/monty")
    host = Host()
    with (
        pytest.raises(SandboxUnavailable, match=r"The sandbox worker cannot be started .* so no program"),
        Sandbox() as s,
    ):
        run(s, "count(1)", host)
    assert host.calls == []


def test_a_worker_that_dies_at_its_start_means_that_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/bin/false")
    host = Host()
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable, match="so no program is run: reinstall"):
        run(sandbox, "count(1)", host)
    assert host.calls == []


def test_a_closed_sandbox_says_how_to_open_it() -> None:
    with pytest.raises(SandboxUnavailable, match=r"use it as `with Sandbox\(\) as sandbox`"):
        run(Sandbox(), "count(1)")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("no '/a b/c d.tif' here", "no 'd.tif' here".replace("d.tif", "c d.tif")),
        ("in /a/b/c.tif: bad", "in c.tif: bad"),
        ("in C:\\Users\\me\\x.tif", "in x.tif"),
        ("file:///a/b/x.tif", "x.tif"),
        ("m2/ha and 3/4 and a / b", "m2/ha and 3/4 and a / b"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("path=/etc/passwd", "path=passwd"),
        ("(/root)", "(root)"),
    ],
)
def test_paths_are_cut_down_to_their_last_name(message: str, expected: str) -> None:
    assert without_paths(message) == expected
