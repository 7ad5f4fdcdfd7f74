"""The pool: every item has one result, whatever happens to the processes."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest
import working

from swath.batch.pool import Lost, Task, results


def tasks(*groups: tuple[int, ...], setup: object = None) -> list[Task]:
    return [Task(setup, group) for group in groups]


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_every_item_has_its_result(jobs: int) -> None:
    given = tasks((1, 2, 3), (4,), (), (5, 6), setup=100)
    assert sorted(results(working.squared, given, jobs)) == [(k, 100 + k**2) for k in range(1, 7)]


def test_one_job_works_in_order_in_this_process() -> None:
    assert list(results(working.squared, tasks((2, 1), (3,), setup=0))) == [(2, 4), (1, 1), (3, 9)]


def test_nothing_to_do() -> None:
    assert list(results(working.squared, [], 4)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_costs_one_item_and_is_named(jobs: int) -> None:
    found = dict(results(working.stumbling, tasks((1, 2, 3, 4, 5, 6), (9, 10)), jobs))
    assert {item for item, result in found.items() if not isinstance(result, Lost)} == {1, 2, 4, 5, 10}
    for item in (3, 6, 9):
        assert found[item] == Lost(f"Internal error (ValueError: cannot work on {item}). Next: report it.")


def test_a_process_that_dies_costs_one_item() -> None:
    found = dict(results(working.dying, tasks((11, 12, 13, 14, 15), (16, 17)), 2))
    lost = {item: result.reason for item, result in found.items() if isinstance(result, Lost)}
    assert set(found) == set(range(11, 18))
    assert set(lost) == {13, 14}
    assert lost[13] == (
        "The process at work on it was killed by SIGKILL, perhaps for want of memory. "
        "Next: try again with --resume, fewer --jobs."
    )
    assert "ended with status 7" in lost[14]


@pytest.mark.parametrize("jobs", [1, 3])
def test_once_is_once_among_all_processes(jobs: int, tmp_path: Path) -> None:
    found = list(results(working.noting, tasks((1, 2, 3), (4, 5), (6, 7, 8), setup=tmp_path), jobs))
    assert dict(found) == {k: f"value of {'odd' if k % 2 else 'even'}" for k in range(1, 9)}
    assert len(list(tmp_path.iterdir())) == 2


def test_whoever_waits_takes_over_from_one_that_fails(tmp_path: Path) -> None:
    found = [result for _, result in results(working.giving_up, tasks((1,), (2,), (3,), setup=tmp_path), 3)]
    assert found.count("done") == 2
    assert Lost("Internal error (RuntimeError: the first one fails). Next: report it.") in found


def test_closing_ends_all_processes(tmp_path: Path) -> None:
    running = results(working.endless, tasks((1, 2), (3, 4), setup=tmp_path), 2)
    next(running)
    next(running)
    running.close()  # type: ignore[attr-defined]
    alive = [int(path.name) for path in tmp_path.iterdir()]
    for _ in range(100):
        alive = [pid for pid in alive if _runs(pid)]
        if not alive:
            break
        time.sleep(0.05)
    assert not alive


def _runs(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False
