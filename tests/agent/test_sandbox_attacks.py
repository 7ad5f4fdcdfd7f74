"""Programs that mean harm: each test says what holds them, and that the next run is none the worse."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_host import TOOLS, Host, Mask

from swath.agent.checker import MAX_SOURCE_BYTES, check
from swath.agent.sandbox import Call, Limits, RunResult, Sandbox, hardening
from swath.errors import BudgetExceeded, PlanError, ProgramFailed, ProgramRejected, SandboxUnavailable, ToolError

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at workers through /proc")


FOREIGN: set[int] = set()  # workers of sandboxes that other test modules of this process may hold open


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    FOREIGN.update(worker_pids() if sys.platform == "linux" else ())
    with Sandbox() as opened:
        yield opened


@pytest.fixture(autouse=True)
def next_run_works(sandbox: Sandbox) -> Iterator[None]:
    yield
    assert run(sandbox, "reply(count(1))").calls == 2


def run(sandbox: Sandbox, source: str, host: Any = None, **limits: Any) -> RunResult:
    return sandbox.run(source, host or Host(), names=TOOLS, handle_types=(Mask,), limits=Limits(**limits))


def stopped(sandbox: Sandbox, source: str, host: Any = None, **limits: Any) -> PlanError:
    with pytest.raises(PlanError) as caught:
        run(sandbox, source, host, **limits)
    return caught.value


def worker_pids() -> list[int]:
    """Workers that this module started, by their parent and their name."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = dict(
                    line.split(":\t", 1) for line in (entry / "status").read_text().splitlines() if ":\t" in line
                )
            except OSError:
                continue
            if status["PPid"] == str(os.getpid()) and status["Name"] == "monty" and not status["State"].startswith("Z"):
                found.append(int(entry.name))
    return [pid for pid in found if pid not in FOREIGN]


class Watching(Host):
    """Notes which worker is running."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: list[int] = []

    def __call__(self, call: Call) -> Any:
        self.workers += worker_pids()
        return super().__call__(call)


# --- reaching out: files, environment, network, processes ------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("open('/etc/passwd').read()", "open"),
        ("from pathlib import Path\nPath('/etc/passwd').read_text()", "Path.read_text"),
        ("from pathlib import Path\nPath('/').exists()", "Path.exists"),
        ("import os\nos.listdir('/')", "Path.iterdir"),
    ],
)
def test_files_cannot_be_read(sandbox: Sandbox, source: str, what: str) -> None:
    error = stopped(sandbox, source)
    assert isinstance(error, ProgramFailed)
    assert f"{what} is not available: programs have no files, network, environment or clock." in str(error)


@pytest.mark.parametrize(
    "attempt", ["open({path!r}, 'w').write('x')", "from pathlib import Path\nPath({path!r}).write_text('x')"]
)
def test_files_cannot_be_written(sandbox: Sandbox, tmp_path: Path, attempt: str) -> None:
    target = tmp_path / "made"
    error = stopped(sandbox, attempt.format(path=str(target)))
    assert "is not available: programs have no files" in str(error)
    assert not target.exists()


@pytest.mark.parametrize("source", ["import os\nreply(str(os.environ))", "import os\nreply(os.getenv('SWATH_SECRET'))"])
def test_the_environment_cannot_be_read(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setenv("SWATH_SECRET", "hunter2")
    host = Host()
    error = stopped(sandbox, source, host)
    assert "is not available: programs have no files, network, environment or clock." in str(error)
    assert "hunter2" not in str(error) and host.calls == []


@linux
def test_the_worker_has_no_environment_to_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWATH_SECRET", "hunter2")
    seen: list[bytes] = []

    def look(call: Call) -> None:
        seen.extend((Path("/proc") / str(pid) / "environ").read_bytes() for pid in worker_pids())

    with Sandbox() as fresh:
        run(fresh, "count(1)", look)
    assert seen and set(seen) == {b""}


@pytest.mark.parametrize(
    "module",
    ["subprocess", "socket", "urllib", "http", "multiprocessing", "ctypes", "builtins", "gc", "inspect", "numpy"],
)
def test_modules_that_reach_out_do_not_exist(sandbox: Sandbox, module: str) -> None:
    assert str(stopped(sandbox, f"import {module}")) == (
        f"Line 1: {module} cannot be imported: use the tools and plain Python."
    )


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("import os\nos.system('true')", "module 'os' has no attribute 'system'"),
        ("import os\nos.kill(1, 9)", "module 'os' has no attribute 'kill'"),
        ("import os\nos.fork()", "module 'os' has no attribute 'fork'"),
        ("import sys\nsys.modules", "module 'sys' has no attribute 'modules'"),
        ("import sys\nsys._getframe()", "module 'sys' has no attribute '_getframe'"),
        ("__import__('os')", "there is no __import__ here"),
        ("__builtins__", "there is no __builtins__ here"),
        ("globals()", "there is no globals here"),
        ("breakpoint()", "there is no breakpoint here"),
        ("input()", "there is no input here"),
    ],
)
def test_modules_and_builtins_that_exist_hold_nothing(sandbox: Sandbox, source: str, missing: str) -> None:
    error = stopped(sandbox, source)
    assert isinstance(error, ProgramFailed)
    assert missing in str(error)


# --- using up: memory, time, stack, output ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "x = []\nwhile True:\n    x.append('a' * 1000)",
        "x = 'a' * 10 ** 10",
        "x = [0] * 10 ** 10",
        "x = 2 ** 10 ** 9",
        "x = 3 ** 10 ** 5\nwhile True:\n    x = x << 10 ** 6",
        "x = [0]\nwhile True:\n    x = x + x",
        "x = f'{1:>1000000000000}'",
        "x = '%1000000000d' % 1",
        "x = list(range(10 ** 9))",
        "x = {}\nfor i in range(10 ** 9):\n    x[i] = str(i)",
        "x = 'a' * 10 ** 6\nx = x.replace('a', x)",
    ],
)
def test_memory_bombs_end_at_the_memory_limit(sandbox: Sandbox, source: str) -> None:
    error = stopped(sandbox, source, memory_bytes=32 * 2**20, guest_seconds=20.0)
    assert isinstance(error, BudgetExceeded)
    assert "program used more than its 32 MB: keep fewer values." in str(error)


@pytest.mark.parametrize(
    "source",
    [
        "while True:\n    pass",
        "sum(range(10 ** 12))",
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "x = 0\nfor i in range(10 ** 12):\n    x = i",
    ],
)
def test_endless_work_ends_at_the_time_limit(sandbox: Sandbox, source: str) -> None:
    error = stopped(sandbox, source, guest_seconds=0.2)
    assert isinstance(error, BudgetExceeded)
    assert "program itself, tools not counted, computed for more than its 0.2 s: leave it to tools." in str(error)


def test_a_catastrophic_pattern_ends_at_the_backtracking_limit(sandbox: Sandbox) -> None:
    error = stopped(sandbox, "import re\nre.match(r'(a*)*\\1b', 'a' * 60)")
    assert "Max limit for backtracking count exceeded" in str(error)


def test_sleeping_takes_no_time(sandbox: Sandbox) -> None:
    # It would outlast any test run if it slept.
    assert run(sandbox, "import time\ntime.sleep(10 ** 9)\ncount(1)").calls == 1


@pytest.mark.parametrize(
    "source",
    ["def f(n):\n    return f(n + 1)\nf(0)", "f = lambda g: g(g)\nf(f)", "def f():\n    g()\ndef g():\n    f()\nf()"],
)
def test_endless_recursion_ends_at_the_depth_limit(sandbox: Sandbox, source: str) -> None:
    error = stopped(sandbox, source)
    assert isinstance(error, ProgramFailed)
    assert "maximum recursion depth exceeded: use a loop." in str(error)


def test_a_value_nested_without_end_is_no_argument(sandbox: Sandbox) -> None:
    error = stopped(sandbox, "x = []\nfor i in range(100000):\n    x = [x]\ncount(x)")
    assert str(error) == "Line 4: an argument of count is too large: at most 200000 values, nested at most 20 deep."


def test_a_value_that_contains_itself_reaches_the_host_as_plain_text(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, "x = [1]\nx.append(x)\ncount(x)", host)
    assert host.calls[0].args[0] == [1, "[...]"]


def test_a_million_values_are_no_argument(sandbox: Sandbox) -> None:
    error = stopped(sandbox, "count([0] * 1000000)")
    assert isinstance(error, BudgetExceeded)
    assert "an argument of count is too large" in str(error)


@pytest.mark.parametrize(
    "source", ["print('a' * 10 ** 6)", "while True:\n    print('a' * 1000)", "while True: print()"]
)
def test_floods_of_output_end_at_the_output_limit(sandbox: Sandbox, source: str) -> None:
    # The guest's own time limit would be as good as endless here: the flood itself ends the run.
    error = stopped(sandbox, source, guest_seconds=50.0)
    assert isinstance(error, BudgetExceeded)
    assert str(error) == "The program printed more than its 65536 bytes: print less."


def test_a_gigabyte_of_text_for_a_tool_ends_at_the_memory_limit(sandbox: Sandbox) -> None:
    host = Host()
    assert isinstance(stopped(sandbox, "count('a' * 10 ** 9)", host), BudgetExceeded)
    assert host.calls == []


# --- wearing the host down -------------------------------------------------------------------------------------------


def test_a_million_calls_end_at_the_call_limit(sandbox: Sandbox) -> None:
    host = Host()
    error = stopped(sandbox, "for i in range(10 ** 6):\n    count(i)", host)
    assert str(error) == "Line 2: the program used more than its 2000 calls of tools: measure less at once."
    assert len(host.calls) == 2000


def test_the_stop_signal_cannot_be_swallowed(sandbox: Sandbox) -> None:
    source = """
def again():
    while True:
        try:
            try:
                count(1)
            finally:
                count(2)
        except BaseException:
            again()
again()
"""
    host = Host()
    assert isinstance(stopped(sandbox, source, host, calls=3), BudgetExceeded)
    assert len(host.calls) == 3


def test_an_error_of_a_tool_cannot_be_swallowed_either(sandbox: Sandbox) -> None:
    def refuse(of: object) -> None:
        raise ToolError("not this.")

    host = Host(count=refuse)
    error = stopped(sandbox, "while True:\n    try:\n        count(1)\n    except BaseException:\n        pass", host)
    assert str(error) == "Line 3: not this."
    assert len(host.calls) == 1


def test_reaching_for_what_is_not_there_cannot_be_swallowed(sandbox: Sandbox) -> None:
    host = Host()
    source = "for i in range(10 ** 6):\n    try:\n        open('x')\n    except BaseException:\n        pass\ncount(1)"
    assert "Line 3: open is not available" in str(stopped(sandbox, source, host))
    assert host.calls == []


def test_floods_of_handles_end_at_the_handle_limit(sandbox: Sandbox) -> None:
    host = Host(each=lambda of: [Mask(0) for _ in range(300)])
    error = stopped(sandbox, "while True:\n    each(1)", host, handles=1000)
    assert str(error) == "Line 2: the program used more than its 1000 masks and regions: measure less at once."
    assert len(host.calls) == 4


def test_floods_of_pixels_end_at_the_byte_limit(sandbox: Sandbox) -> None:
    host = Host(segment=lambda name: Mask(1000))
    error = stopped(sandbox, "keep = []\nwhile True:\n    keep.append(segment('x'))", host, handle_bytes=5500)
    assert "Line 3: the program used more than its 5500 bytes of masks and regions" in str(error)
    assert len(host.calls) == 6


def test_an_exception_of_the_program_never_becomes_one_of_the_host(sandbox: Sandbox) -> None:
    for raised in ("KeyboardInterrupt", "SystemExit", "MemoryError", "BaseException", "Exception('x' * 10 ** 6)"):
        error = stopped(sandbox, f"raise {raised}")
        assert len(str(error)) < 500


@linux
def test_a_dying_worker_takes_only_its_own_run_along(sandbox: Sandbox) -> None:
    host = Watching()

    def kill(of: object) -> None:
        os.kill(worker_pids()[0], signal.SIGKILL)

    host.tools["count"] = kill
    error = stopped(sandbox, "count(1)\ncount(2)", host)
    assert str(error) == "The program brought its worker down and was stopped: write it in a simpler way."
    assert len(host.calls) == 1


@linux
@pytest.mark.parametrize(
    ("source", "limits"),
    [
        ("count(1)\nwhile True:\n    pass", {"guest_seconds": 0.1}),
        ("count(1)\nx = 'a' * 10 ** 10", {}),
        ("count(1)\nprint('a' * 10 ** 6)", {}),
        ("count(1)\ncount(1)", {"calls": 1}),
        ("count(1)\nopen('x')", {}),
    ],
)
def test_a_worker_that_met_a_limit_is_thrown_away(sandbox: Sandbox, source: str, limits: dict[str, Any]) -> None:
    before, after = Watching(), Watching()
    stopped(sandbox, source, before, **limits)
    run(sandbox, "count(1)", after)
    assert before.workers and after.workers
    assert not set(before.workers) & set(after.workers)


@linux
def test_a_worker_serves_again_after_an_ordinary_error(sandbox: Sandbox) -> None:
    before, after = Watching(), Watching()
    stopped(sandbox, "count(1)\n1 / 0", before)
    run(sandbox, "count(1)", after)
    assert before.workers == after.workers


# --- handles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attribute", ["pixels", "mro", "derived"])
def test_a_handle_shows_no_attribute(sandbox: Sandbox, attribute: str) -> None:
    error = stopped(sandbox, f"reply(str(segment('x').{attribute}))")
    assert str(error) == (f"Line 1: masks and regions have no readable attributes ({attribute}): pass them to tools.")


@pytest.mark.parametrize(
    ("source", "held_by"),
    [
        ("segment('x').__class__.__init__.__globals__", "no attribute '__init__'"),
        ("segment('x').__class__.__mro__", "no attribute '__mro__'"),
        ("segment('x').__dict__", "no attribute '__dict__'"),
        ("().__class__.__bases__[0].__subclasses__()", "no attribute '__class__'"),
        ("(lambda: 1).__globals__", "no attribute '__globals__'"),
        ("count.__globals__", "the tool count can only be called by its name"),
        ("getattr(segment('x'), 'pixels')", "no readable attributes (pixels)"),
        ("vars(segment('x'))", "there is no vars here"),
        ("dir(segment('x'))", "there is no dir here"),
        ("'{0.pixels}'.format(segment('x'))", "cannot suspend"),
        ("'{0.__class__}'.format(1)", "no attribute '__class__'"),
        ("segment('x')._pixels", "'Mask' object has no attribute '_pixels'"),
        ("segment('x').__init__", "'Mask' object has no attribute '__init__'"),
        ("segment('x').derived(1)", "no readable attributes (derived)"),
    ],
)
def test_chains_of_attributes_lead_nowhere(sandbox: Sandbox, source: str, held_by: str) -> None:
    host = Host()
    error = stopped(sandbox, f"x = {source}\nreply(str(x))", host)
    assert held_by in str(error)
    assert [call.name for call in host.calls] in ([], ["segment"])


def test_the_text_of_a_handle_tells_nothing(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, "x = segment('x')\nreply([f'{x}', repr(x), str(x), '%s' % x])", host)
    assert host.calls[-1].args[0] == ["Mask()"] * 4


@pytest.mark.parametrize(
    ("source", "held_by"),
    [
        ("class Mask:\n    pass\ncount(Mask())", "an argument of count is an object made by the program itself"),
        ("count(type(segment('x'))())", "masks and regions have no readable attributes (__call__)"),
        ("count(type(segment('x')))", "an argument of count is a type"),
        ("import copy\ncount(copy.copy(segment('x')))", "cannot pickle 'Mask' object"),
        ("import copy\ncount(copy.deepcopy(segment('x')))", "cannot pickle 'Mask' object"),
        ("count(print)", "an argument of count is a value of type MontyStdTypeProxy"),
        ("count({segment('x'): 1})", "unhashable type: 'Mask'"),
        ("count(b'\\x00')", "an argument of count is a value of type bytes"),
        ("count(...)", "an argument of count is a value of type ellipsis"),
        ("count([[(1, {'a': {2}})]])", "an argument of count is a value of type set"),
    ],
)
def test_handles_cannot_be_forged(sandbox: Sandbox, source: str, held_by: str) -> None:
    host = Host()
    assert held_by in str(stopped(sandbox, source, host))
    assert "count" not in [call.name for call in host.calls]


def test_what_a_program_writes_on_a_handle_stays_with_the_program(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, "x = segment('x')\nx.pixels = 'forged'\nx.more = 1\ncount(x)", host)
    received = host.calls[1].args[0]
    assert received.pixels.sum() == 0 and not hasattr(received, "more")


def test_handles_end_with_their_run(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, "kept = segment('x')\ndef f():\n    return kept", host)
    assert "there is no kept here" in str(stopped(sandbox, "count(kept)", host))
    assert "there is no f here" in str(stopped(sandbox, "count(f())", host))
    assert len(host.calls) == 1


# --- the text of the program -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["eval('count(1)')", "exec('count(1)')", "exec('def f(): return count(1)')\nf()"])
def test_evaluated_text_cannot_call_tools(sandbox: Sandbox, source: str) -> None:
    # A call there has no line of the program, and a trace without lines would not be complete.
    host = Host()
    assert "In a text that the program evaluates: count cannot be called there" in str(stopped(sandbox, source, host))
    assert host.calls == []


def test_a_huge_program_is_refused_before_it_runs_and_held_if_it_does(sandbox: Sandbox) -> None:
    source = "x = 1\n" * 1_000_000
    with pytest.raises(ProgramRejected) as caught:
        check(source, {})
    assert f"more than {MAX_SOURCE_BYTES}: write less." in caught.value.hints[0]
    assert isinstance(stopped(sandbox, source), BudgetExceeded)


@pytest.mark.parametrize(
    "source", ["x = " + "(" * 3000 + ")" * 3000, "x = " + "-" * 15000 + "1", "x = 1" + " + 1" * 4500]
)
def test_a_deeply_nested_program_is_refused_before_it_runs_and_held_if_it_does(sandbox: Sandbox, source: str) -> None:
    with pytest.raises(ProgramRejected, match="nested"):
        check(source, {})
    try:
        run(sandbox, source)
    except ProgramFailed as error:
        assert "too deeply nested: split the expression over several assignments." in str(error)


def test_letters_that_only_look_alike_are_other_names(sandbox: Sandbox) -> None:
    host = Host()
    assert "there is no c\u043eunt here: did you mean count?" in str(stopped(sandbox, "c\u043eunt(1)", host))
    assert host.calls == []


def test_letters_that_python_takes_for_the_same_are_traced_under_the_real_name(sandbox: Sandbox) -> None:
    host = Host()
    run(sandbox, "\uff43\uff4f\uff55\uff4e\uff54(1)", host)
    assert [call.name for call in host.calls] == ["count"]


def test_half_a_character_is_refused(sandbox: Sandbox) -> None:
    error = stopped(sandbox, "x = '\ud800'")
    assert str(error) == "The program holds characters that no text file can hold: write plain text."


def test_hints_carry_neither_host_paths_nor_control_characters(sandbox: Sandbox) -> None:
    error = stopped(sandbox, "raise ValueError('see /home/me/secret/x.tif\\n\\x1b[2Jignore all that')")
    assert str(error) == "Line 1: ValueError: see x.tif [2Jignore all that."


# --- the worker process ----------------------------------------------------------------------------------------------


@linux
def test_the_operating_system_holds_the_worker_too() -> None:
    held = hardening()
    if "seccomp" not in held:
        pytest.skip(f"this system gives only {held}")
    seen: dict[str, str] = {}

    def look(call: Call) -> None:
        (worker,) = set(worker_pids()) - others
        folder = Path("/proc") / str(worker)
        for line in (folder / "status").read_text().splitlines():
            name, _, value = line.partition(":\t")
            seen[name] = value.strip()
        for line in (folder / "limits").read_text().splitlines()[1:]:
            seen[line[:26].strip()] = line[26:].split()[0]
        seen["descriptors"] = ",".join(sorted(entry.name for entry in (folder / "fd").iterdir()))
        seen["folder"] = str((folder / "cwd").readlink())

    others = set(worker_pids())
    with Sandbox() as fresh:
        run(fresh, "count(1)", look)
    assert (seen["Seccomp"], seen["NoNewPrivs"], int(seen["CapEff"], 16)) == ("2", "1", 0)
    assert seen["Max open files"] == "64" and seen["Max core file size"] == "0" and seen["Max file size"] == "4096"
    assert int(seen["Max address space"]) <= 2**30
    assert seen["descriptors"] == "0,1,2" and seen["folder"] == "/"
    if "user nobody" in held:
        assert seen["Uid"].split() == ["65534"] * 4


def test_no_way_leads_around_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nonexistent/monty")
    host = Host()
    with pytest.raises(SandboxUnavailable, match="so no program is run"), Sandbox() as broken:
        run(broken, "count(1)", host)
    assert host.calls == []
