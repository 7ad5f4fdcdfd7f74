"""What the sandbox costs: first answer of a worker, a warm run, a call, a handle; prints a Markdown table.

python benchmarks/sandbox.py [--repeat 30]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from swath.agent.sandbox import Call, Sandbox

NAMES = ("plain", "handle", "many")


class Handle:
    """A stand-in for a mask or regions."""


def host(call: Call) -> object:
    """Answers at once, so that only the way there and back is measured."""
    if call.name == "handle":
        return Handle()
    return [Handle() for _ in range(10_000)] if call.name == "many" else 1


def milliseconds(work: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Median and worst time of some work."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times), max(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=30)
    repeat = parser.parse_args().repeat

    def program(sandbox: Sandbox, source: str) -> Callable[[], object]:
        return lambda: sandbox.run(source, host, names=NAMES, handle_types=(Handle,))

    def cold() -> None:
        with Sandbox() as fresh:
            program(fresh, "plain(1)")()

    rows = {"a first answer, worker started and hardened": milliseconds(cold, max(3, repeat // 5))}
    with Sandbox() as sandbox:
        program(sandbox, "plain(1)")()
        for what, source in {
            "a warm run with one call": "plain(1)",
            "63 calls": "for i in range(63):\n    plain(i)",
            "1,000 calls": "for i in range(1000):\n    plain(i)",
            "1,000 handles made and passed on": "for i in range(1000):\n    plain(handle())",
            "10,000 handles in one list": "x = many()",
        }.items():
            rows[what] = milliseconds(program(sandbox, source), max(3, repeat // 5) if "0,000" in what else repeat)
        print(f"Hardening: {', '.join(sandbox.hardening) or 'none'}\n")
    print("| what | median ms | worst ms |\n|---|---|---|")
    for what, (median, worst) in rows.items():
        print(f"| {what} | {median:.2f} | {worst:.2f} |")


if __name__ == "__main__":
    main()
