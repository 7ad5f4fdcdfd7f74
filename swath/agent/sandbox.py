"""Runs a program in a worker process of its own, driven call by call; there is no other way to run one.

The worker is pydantic-monty, an interpreter of a subset of Python without files, network or environment. It is
suspended at every call of a tool; the host checks budgets, executes the call and resumes it. Whatever stops a run is
raised here, on the host's side of the suspension, so that no `try` inside a program can swallow it.
"""

from __future__ import annotations

import datetime
import difflib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from swath.agent.crossing import Crossing
from swath.agent.faults import explained, one_line, without_paths
from swath.agent.launch import Launcher
from swath.errors import BudgetExceeded, ProgramFailed, SandboxUnavailable, ToolError

if TYPE_CHECKING:
    import pydantic_monty as monty

RUNS_PER_WORKER = 100  # an interpreter that is thrown away now and then cannot be softened up over time
TURN_SECONDS = 60.0  # a worker that says nothing for this long is killed; guest time is limited far below
CLOCK = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # programs see one fixed moment: runs repeat
SEED = 0
EVALUATED = "<string>"  # the file name of code inside eval() and exec()


@dataclass(frozen=True)
class Limits:
    """What one run may use.

    Attributes:
        calls: calls of tools.
        tool_seconds: seconds spent inside tools, summed; checked after each call.
        guest_seconds: seconds that the program itself computes, tools not counted.
        memory_bytes: heap of the program.
        output_bytes: printed text, and as much again of text passed to tools.
        handles: different masks and regions given to the program.
        handle_bytes: bytes of the arrays behind these handles, shared arrays counted once.
        recursion: nested calls of functions of the program.
    """

    calls: int = 2000
    tool_seconds: float = 600.0
    guest_seconds: float = 5.0
    memory_bytes: int = 128 * 2**20
    output_bytes: int = 64 * 2**10
    handles: int = 50_000
    handle_bytes: int = 4 * 2**30
    recursion: int = 100


@dataclass(frozen=True)
class Call:
    """One call of a tool, as the program made it.

    Attributes:
        name: the tool.
        args: positional arguments: plain values and handles; tuples inside have become lists.
        kwargs: keyword arguments, likewise.
        line: line of the program, from 1.
        seconds_left: what is left of the run's tool seconds: a tool that works tile by tile stops by then.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    line: int
    seconds_left: float


@dataclass(frozen=True)
class RunResult:
    """What a run that came to its end left behind.

    Attributes:
        printed: what the program printed.
        calls: number of tool calls.
        guest_seconds: seconds spent in the worker and on the way there and back.
        tool_seconds: seconds spent in tools.
    """

    printed: str
    calls: int
    guest_seconds: float
    tool_seconds: float


class Sandbox:
    """A pool of warm workers.

    Entering it starts a worker without waiting for it, so enter early. Runs may be made from several threads, `workers`
    at a time. Leaving it ends all workers.

        with Sandbox() as sandbox:
            sandbox.run("reply(count(components(segment('water'))))", host, names=tools, handle_types=(Mask, Regions))
    """

    def __init__(self, *, workers: int = 1) -> None:
        self._workers = workers
        self._stack = ExitStack()
        self._launcher: Launcher | None = None
        self._pool: monty.Monty | None = None
        self._awake = False

    def __enter__(self) -> Self:
        """Start the first worker.

        Raises:
            SandboxUnavailable: it cannot be started at all.
        """
        self._launcher = self._stack.enter_context(Launcher())
        self._open(self._launcher.program)
        return self

    def _open(self, program: Path | None) -> None:
        try:
            import pydantic_monty as monty

            self._pool = self._stack.enter_context(
                monty.Monty(
                    binary_path=program,
                    min_processes=1,
                    max_processes=self._workers,
                    request_timeout=TURN_SECONDS,
                    max_checkouts_per_worker=RUNS_PER_WORKER,
                )
            )
        except (ImportError, OSError, RuntimeError) as error:
            self._stack.close()
            raise _unavailable(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool = None
        self._awake = False
        self._stack.close()

    @property
    def hardening(self) -> tuple[str, ...]:
        """Measures of the operating system that hold the workers, beside their being processes without environment."""
        self._awakened()
        return self._launcher.report() if self._launcher else ()

    def run(
        self,
        source: str,
        host: Callable[[Call], Any],
        *,
        names: Collection[str],
        handle_types: tuple[type, ...],
        limits: Limits | None = None,
    ) -> RunResult:
        """Run a program to its end.

        Args:
            source: the program.
            host: executes one call and returns None, bool, int, float, str, a handle, or lists and dicts of them.
                Whatever it raises ends the run at once and reaches the caller: the program cannot catch it.
                `ToolError` and `BudgetExceeded` gain the line number and lose paths of the host.
            names: the tools that the program may call.
            handle_types: types of the objects that cross as handles.
            limits: what the run may use, `Limits()` if None.

        Raises:
            ProgramFailed: the program raised, or reached for something that is not there.
            BudgetExceeded: it used up one of its limits.
            SandboxUnavailable: no worker can be started. Programs are never run in any other way.
        """
        import pydantic_monty as monty

        limits = limits or Limits()
        run = _Run(source.replace("\r\n", "\n").replace("\r", "\n"), host, frozenset(names), handle_types, limits)
        started = time.perf_counter()
        with self._session(limits) as session:
            run.worker = session.worker_pid
            try:
                snapshot = session.feed_start(run.source, print_callback=run.collect)
                while not isinstance(snapshot, monty.MontyComplete):
                    call = run.tool_call(snapshot)
                    snapshot = call.resume({"return_value": run.answer(call)})
                run.stop_if_overflowed()
            except monty.MontyError as error:
                raise run.fault(error) from error
            finally:
                if run.spoilt:
                    _end(run.worker)
        guest_seconds = time.perf_counter() - started - run.tool_seconds
        return RunResult("".join(run.printed), run.calls, guest_seconds, run.tool_seconds)

    @contextmanager
    def _session(self, limits: Limits) -> Iterator[monty.MontySession]:
        pool = self._awakened()
        with ExitStack() as stack:
            try:
                session = stack.enter_context(
                    pool.checkout(
                        script_name="program.py",
                        limits={
                            "max_feed_duration_secs": limits.guest_seconds,
                            "max_memory": limits.memory_bytes,
                            "max_recursion_depth": limits.recursion,
                            "max_suspensions": limits.calls + 1,
                        },
                        os_policy={"datetime": CLOCK, "sleep": "zero", "random_start": {"seed": SEED}},
                    )
                )
            except Exception as error:
                raise _unavailable(error) from error
            yield session

    def _awakened(self) -> monty.Monty:
        """The pool, once a worker of it has answered."""
        if self._pool is None:
            raise SandboxUnavailable("The sandbox is not open: use it as `with Sandbox() as sandbox`.")
        if not self._awake:
            try:
                _ping(self._pool)
            except Exception:
                # A system on which a measure misfires still has the worker itself, which has no way out by design.
                self._launcher = None
                self._open(None)
                try:
                    _ping(self._pool)
                except Exception as error:
                    raise _unavailable(error) from error
            self._awake = True
        return self._pool


def hardening() -> tuple[str, ...]:
    """Measures of the operating system that hold a worker on this machine, as found on one that was started.

    Raises:
        SandboxUnavailable: none can be started.
    """
    with Sandbox() as sandbox:
        return sandbox.hardening


def _ping(pool: monty.Monty) -> None:
    with pool.checkout() as session:
        session.feed_run("0")


class _Run:
    """State of one run, on the host's side."""

    def __init__(
        self,
        source: str,
        host: Callable[[Call], Any],
        names: frozenset[str],
        handle_types: tuple[type, ...],
        limits: Limits,
    ) -> None:
        import pydantic_monty as monty

        self.source = source
        self.host = host
        self.names = names
        self.limits = limits
        self.crossing = Crossing(handle_types, monty.ClassInstance)
        self.worker: int | None = None
        self.spoilt = False
        self.overflowed = False
        self.printed: list[str] = []
        self.printed_bytes = 0
        self.calls = 0
        self.tool_seconds = 0.0

    def collect(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        """Keep printed text; a worker that prints too much is ended at once, since it cannot be told to stop."""
        self.printed_bytes += len(text.encode(errors="replace"))
        if self.printed_bytes <= self.limits.output_bytes:
            self.printed.append(text)
        elif not self.overflowed:
            self.overflowed = True
            _end(self.worker)

    def stop_if_overflowed(self) -> None:
        """End the run if it printed too much: the kill may come after the last word."""
        if self.overflowed:
            raise BudgetExceeded(f"The program printed more than its {self.limits.output_bytes} bytes: print less.")

    def tool_call(self, snapshot: monty.SyncSnapshot) -> monty.FunctionSnapshot:
        """The suspension itself if it is a call of a tool; anything else ends the run."""
        import pydantic_monty as monty

        self.stop_if_overflowed()
        if (
            isinstance(snapshot, monty.FunctionSnapshot)
            and snapshot.function_name in self.names
            and not snapshot.is_os_function
            and snapshot.object_id is None
            and snapshot.position.filename != EVALUATED
        ):
            return snapshot
        self.spoilt = True
        raise ProgramFailed(self._denied(snapshot))

    def answer(self, snapshot: monty.FunctionSnapshot) -> Any:
        """Execute a call of a tool, within the budgets."""
        line = self._line(snapshot.position)
        name = str(snapshot.function_name)
        self.calls += 1
        self._stop_over("calls of tools", self.calls, self.limits.calls, line)
        where = f"Line {line}: an argument of {name}"
        args = tuple(self.crossing.from_guest(value, where) for value in snapshot.args)
        kwargs = {key: self.crossing.from_guest(value, where) for key, value in snapshot.kwargs.items()}
        self._stop_over("bytes of text passed to tools", self.crossing.text_bytes, self.limits.output_bytes, line)
        seconds_left = self.limits.tool_seconds - self.tool_seconds
        result = self.crossing.to_guest(self._execute(Call(name, args, kwargs, line, seconds_left)), name)
        self._stop_over("seconds in tools", self.tool_seconds, self.limits.tool_seconds, line)
        self._stop_over("masks and regions", self.crossing.handles, self.limits.handles, line)
        self._stop_over("bytes of masks and regions", self.crossing.handle_bytes, self.limits.handle_bytes, line)
        return result

    def _execute(self, call: Call) -> Any:
        started = time.perf_counter()
        try:
            return self.host(call)
        except (ToolError, BudgetExceeded) as error:
            raise type(error)(f"Line {call.line}: {without_paths(str(error))}") from error
        finally:
            self.tool_seconds += time.perf_counter() - started

    def _stop_over(self, what: str, used: float, limit: float, line: int) -> None:
        if used > limit:
            self.spoilt = True
            raise BudgetExceeded(f"Line {line}: the program used more than its {limit:g} {what}: measure less at once.")

    def _line(self, position: monty.SourceRange) -> int:
        """Line of a suspension, from 1."""
        return self.source.encode()[: position.start].count(b"\n") + 1

    def _denied(self, snapshot: Any) -> str:
        """Why a suspension that is no call of a tool ends the run, and what to write instead."""
        evaluated = snapshot.position.filename == EVALUATED
        place = "In a text that the program evaluates: " if evaluated else f"Line {self._line(snapshot.position)}: "
        attribute = getattr(snapshot, "variable_name", None)
        name = one_line(str(attribute or getattr(snapshot, "function_name", "await")))
        if getattr(snapshot, "object_id", None):
            return f"{place}masks and regions have no readable attributes ({name}): pass them to tools."
        if getattr(snapshot, "is_os_function", False):
            if name == "import":
                return f"{place}{one_line(str(snapshot.args[0]))} cannot be imported: use the tools and plain Python."
            return f"{place}{name} is not available: programs have no files, network, environment or clock."
        if evaluated:
            return f"{place}{name} cannot be called there: write the call itself."
        if name in self.names:
            return (
                f"{place}the tool {name} can only be called by its name, not passed on (key=, map): collect its values "
                f"first with a comprehension."
            )
        near = difflib.get_close_matches(name, self.names, n=1)
        return f"{place}there is no {name} here{f': did you mean {near[0]}?' if near else '.'}"

    def fault(self, error: monty.MontyError) -> Exception:
        """What an error of the worker means for the caller."""
        import pydantic_monty as monty

        self.stop_if_overflowed()
        if isinstance(error, monty.MontyCrashedError):
            if error.timed_out:
                return self._slow("The")
            return ProgramFailed("The program brought its worker down and was stopped: write it in a simpler way.")
        said = without_paths(str(error))
        line = _last_line(error)
        place = f"Line {line}: the" if line else "The"
        if said.startswith("TimeoutError: feed time limit"):
            return self._slow(place)
        if said.startswith("MemoryError: "):
            self.spoilt = True
            megabytes = self.limits.memory_bytes // 2**20
            return BudgetExceeded(f"{place} program used more than its {megabytes} MB: keep fewer values.")
        return ProgramFailed(explained(line, said))

    def _slow(self, place: str) -> BudgetExceeded:
        self.spoilt = True
        seconds = f"{self.limits.guest_seconds:g} s"
        return BudgetExceeded(
            f"{place} program itself, tools not counted, computed for more than its {seconds}: leave it to tools."
        )


def _last_line(error: monty.MontyError) -> int | None:
    """Line of the program where an error was raised, where known."""
    frames: list[monty.Frame] = getattr(error, "traceback", list)()
    lines = [frame.line for frame in frames if frame.filename != EVALUATED]
    return lines[-1] if lines else None


def _end(worker: int | None) -> None:
    """Kill a worker of ours while we hold its session; the pool replaces it."""
    if worker is not None:
        with suppress(ProcessLookupError):
            os.kill(worker, getattr(signal, "SIGKILL", signal.SIGTERM))


def _unavailable(error: Exception) -> SandboxUnavailable:
    reason = one_line(without_paths(str(error))).rstrip(".")
    return SandboxUnavailable(
        f"The sandbox worker cannot be started ({reason}), so no program is run: reinstall pydantic-monty, "
        f"then see `swath doctor`."
    )
