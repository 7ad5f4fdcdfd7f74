"""The host's side of one run: what a suspended program may do next, and when it has had enough."""

from __future__ import annotations

import difflib
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from swath.agent.crossing import Crossing
from swath.agent.faults import explained, one_line, plain_text, without_paths
from swath.errors import BudgetExceeded, ProgramFailed, ToolError

if TYPE_CHECKING:
    import pydantic_monty as monty

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


class Drive:
    """One run: answers the calls of a suspended program, within its budgets.

    Attributes:
        spoilt: whether the worker is no longer to be trusted with another program.
    """

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
        kinds = {kind: monty.ClassType(kind) for kind in handle_types}  # made once: a third of a crossing's time
        self.crossing = Crossing(
            handle_types, lambda handle: monty.ClassInstance(handle, class_type=kinds.get(type(handle)))
        )
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
            self.printed.append(plain_text(text))
        elif not self.overflowed:
            self.overflowed = True
            end(self.worker)

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
            self.spoilt = True
            return self._slow(place)
        if said.startswith("MemoryError: "):
            self.spoilt = True
            megabytes = self.limits.memory_bytes // 2**20
            return BudgetExceeded(f"{place} program used more than its {megabytes} MB: keep fewer values.")
        return ProgramFailed(explained(line, said))

    def _slow(self, place: str) -> BudgetExceeded:
        seconds = f"{self.limits.guest_seconds:g} s"
        return BudgetExceeded(
            f"{place} program itself, tools not counted, computed for more than its {seconds}: leave it to tools."
        )


def _last_line(error: monty.MontyError) -> int | None:
    """Line of the program where an error was raised, where known."""
    frames: list[monty.Frame] = getattr(error, "traceback", list)()
    lines = [frame.line for frame in frames if frame.filename != EVALUATED]
    return lines[-1] if lines else None


def end(worker: int | None) -> None:
    """Kill a worker of ours while we hold its session; the pool replaces it."""
    if worker is not None:
        with suppress(ProcessLookupError):
            os.kill(worker, getattr(signal, "SIGKILL", signal.SIGTERM))
