"""Runs a program in a worker process of its own, driven call by call; there is no other way to run one.

The worker is pydantic-monty, an interpreter of a subset of Python without files, network or environment. It is
suspended at every call of a tool; the host checks budgets, executes the call and resumes it. Whatever stops a run is
raised here, on the host's side of the suspension, so that no `try` inside a program can swallow it.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from swath.agent.drive import Call, Drive, Limits, end
from swath.agent.faults import one_line, without_paths
from swath.agent.launch import Launcher
from swath.errors import ProgramFailed, SandboxUnavailable

if TYPE_CHECKING:
    import pydantic_monty as monty

RUNS_PER_WORKER = 100  # an interpreter that is thrown away now and then cannot be softened up over time
TURN_SECONDS = 60.0  # a worker that says nothing for this long is killed; guest time is limited far below
CLOCK = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # programs see one fixed moment: runs repeat
SEED = 0

__all__ = ["Call", "Limits", "RunResult", "Sandbox", "hardening"]


@dataclass(frozen=True)
class RunResult:
    """What a run that came to its end left behind.

    Attributes:
        printed: what the program printed, control characters cut out.
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
        try:
            self._open(self._launcher.program)
        except (ImportError, OSError, RuntimeError):
            self._open_unconfined()
        return self

    def _open(self, program: Path | None) -> None:
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

    def _open_unconfined(self) -> None:
        """Start workers as they are: a system on which a measure misfires still has their own walls."""
        self._launcher = None
        try:
            self._open(None)
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
        run = Drive(_one_line_end(source), host, frozenset(names), handle_types, limits)
        with self._session(limits) as session:
            started = time.perf_counter()
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
                    end(session.worker_pid)
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
                self._open_unconfined()
                try:
                    _ping(self._pool)
                except Exception as error:
                    raise _unavailable(error) from error
            self._awake = True
        return self._pool


def _one_line_end(source: str) -> str:
    """The source with line feeds only, so that lines are counted as every editor counts them.

    Raises:
        ProgramFailed: it holds half a character.
    """
    try:
        source.encode()
    except UnicodeEncodeError:
        raise ProgramFailed("The program holds characters that no text file can hold: write plain text.") from None
    return source.replace("\r\n", "\n").replace("\r", "\n")


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


def _unavailable(error: Exception) -> SandboxUnavailable:
    reason = one_line(without_paths(str(error))).rstrip(".")
    return SandboxUnavailable(
        f"The sandbox worker cannot be started ({reason}), so no program is run: reinstall pydantic-monty, "
        f"then see `swath doctor`."
    )
