"""A folder of the benchmark `questions` over several label rasters, and what tests of the runner do with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from swath.agent.planner import Feedback, Program, Scene
from swath.eval.cases import Case
from swath.testing.benchmark import write_questions

COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'
TOO_MANY = COUNT.replace("count(houses),", "count(houses) + 1,").replace(", objects=houses", "")
UNKNOWN = "How many solar panels are there? (GSD: 0.5m)"


def write_town(folder: Path, images: int = 3, *, spoilt: bool = False) -> Path:
    """Images of 100 x 120 pixels with five questions each: four whose truth is known, one that has to be refused.

    Args:
        folder: where to write.
        images: how many.
        spoilt: let the last image be no raster.
    """
    lines = []
    for number in range(images):
        write_questions(folder / str(number))
        for line in (folder / str(number) / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            lines.append({**row, "id": f"{number}/{row['id']}", "image": f"{number}/scene.tif"})
        lines.append({**lines[-1], "id": f"{number}/refused", "question": UNKNOWN})
    (folder / "legend.json").write_text((folder / "0" / "legend.json").read_text(encoding="utf-8"), encoding="utf-8")
    # Case by case from image to image, so that the order of the cases is not that of the work.
    lines.sort(key=lambda row: row["id"].split("/")[1])
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    if spoilt:
        (folder / str(images - 1) / "scene.tif").write_text("no raster", encoding="utf-8")
    return folder


class Painted:
    """A benchmark whose cases bring true classes, and reference programs but for the last."""

    name = "painted"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """Three questions about one image; without its labels no class is known."""
        exact = {"labels": folder / "scene.tif", "legend": folder / "legend.json"}
        for name, question, program in (
            ("A", "How many buildings are there?", COUNT),
            ("B", "Where did all the houses go, and how many are they?", COUNT),
            ("C", "How many buildings are there?", None),
        ):
            yield Case(name, folder / "scene.tif", question, 3, "count", exact=exact, program=program,
                       options={"gsd_m": 0.5}, extras={"source": "paint"})  # fmt: skip


class Stubborn:
    """A planner that always counts one building too many."""

    name = "stubborn"

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """The same program whatever is asked."""
        return Program(TOO_MANY, "buildings and one")


class Unreachable:
    """A planner that raises what nobody foresaw at the first question that it is asked, and counts from then on."""

    name = "unreachable"

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        """Fail once."""
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return Program(COUNT, "buildings")
        raise ConnectionError("the line is\ndown")


def lines(folder: Path) -> list[str]:
    """The lines of results of a run."""
    return (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()


def swath(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "swath", *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=240
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done
