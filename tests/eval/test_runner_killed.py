"""Runs that are killed, again and again: what is there in the end is what an undisturbed run leaves."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from bench_town import lines, swath, write_town
from dask_cluster import Cluster, wait_until

from swath.eval.runner.results import read_results

KILLS = int(os.environ.get("SWATH_TEST_KILLS", "6"))
"""More of them take longer: every start loads the libraries."""
QUESTIONS = ("bench", "run", "questions", "--data", "town", "--planner", "offline", "--out")


@pytest.fixture
def town(tmp_path: Path) -> Path:
    return write_town(tmp_path / "town", 6)


def start(*words: object, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "swath", *map(str, words)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def has_lines(out: Path, number: int) -> bool:
    results = out / "results.jsonl"
    return results.exists() and results.read_bytes().count(b"\n") >= number


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_at_random_moments_and_resumed_it_is_the_undisturbed_run(town: Path, tmp_path: Path, jobs: int) -> None:
    swath(*QUESTIONS, "whole", cwd=tmp_path)
    rng, out = random.Random(jobs), tmp_path / "out"
    kept: set[str] = set()
    for kill in range(KILLS if jobs == 1 else KILLS // 2):
        resume = ["--resume"] if (out / "bench.json").exists() else []
        process = start(*QUESTIONS, "out", "--jobs", jobs, *resume, cwd=tmp_path)
        wait_until(partial(has_lines, out, min(len(kept) + 1, 30)), process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0, 0.2) if kill else 0)
        process.kill()
        process.communicate()
        now = set((out / "results.jsonl").read_text(encoding="utf-8").split("\n")[:-1])
        assert kept <= now, "a line was lost"
        kept = now
    swath(*QUESTIONS, "out", "--resume", cwd=tmp_path)
    assert lines(out) == lines(tmp_path / "whole")
    assert len(lines(out)) == 30
    assert {path.name for path in (out / "runs").iterdir()} == {
        path.name for path in (tmp_path / "whole" / "runs").iterdir()
    }
    assert all(row["seconds"] > 0 for row in read_results(out).rows)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_tidily(town: Path, tmp_path: Path, jobs: int) -> None:
    process = start(*QUESTIONS, "out", "--jobs", jobs, cwd=tmp_path)
    wait_until(lambda: has_lines(tmp_path / "out", 2), process)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130, said
    assert said == "Interrupted: the lines so far are in out. Next: go on with --resume.\n"
    assert 2 <= len(lines(tmp_path / "out")) < 30
    done = swath(*QUESTIONS, "out", "--resume", cwd=tmp_path)
    assert "plain: 24 of 30 right (80.0%, 62.7% to 90.5%), 0 wrong, 6 refused, 0 failed, 0 unparsable" in done.stdout


def test_a_cluster_that_loses_a_worker_gives_the_same(town: Path, tmp_path: Path, cluster: Cluster) -> None:
    address, workers = cluster
    swath(*QUESTIONS, "whole", cwd=tmp_path)
    process = start(*QUESTIONS, "out", "--dask", address, cwd=tmp_path)
    wait_until(lambda: has_lines(tmp_path / "out", 1), process)
    workers[0].kill()
    said, problems = process.communicate(timeout=240)
    assert process.returncode == 0, problems
    assert "plain: 24 of 30 right" in said
    assert lines(tmp_path / "out") == lines(tmp_path / "whole")


def test_a_cluster_that_is_not_there_is_one_sentence(town: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra cluster")
    done = swath(*QUESTIONS, "out", "--dask", "tcp://127.0.0.1:1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("swath: No Dask scheduler answers at tcp://127.0.0.1:1 (")
    assert done.stderr.endswith("Next: start one, or check --dask.\n")
