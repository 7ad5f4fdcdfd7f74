"""Mistakes to look at, each with its picture."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain, islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from PIL import Image

from swath.agent.ask import ask
from swath.errors import SwathError
from swath.eval.report.figures import RunFigures
from swath.eval.report.result import Result
from swath.raster.reader import open_raster
from swath.trace.reading import PICTURE_FILE, load_run

SHOWN = 60
"""Mistakes of all runs of a report together."""
PICTURE_BYTES = 4_000_000
"""Of all pictures of a report together, so that a page stays below 10 MB."""
LONGEST_SIDE_PX = 760
MADE = 12
"""Pictures that are made for a report where a run kept none."""
MADE_UP_TO_PX = 4_000_000
"""Pixels of an image that is cheap enough to be measured again for a picture."""


@dataclass(frozen=True)
class Exhibit:
    """A mistake with its picture.

    Attributes:
        run: name of the run.
        result: the question, the truth, the answer.
        link: relative address of the run folder, None where none was kept.
        picture: a data URI, None where there is no picture.
    """

    run: str
    result: Result = field(repr=False)
    link: str | None
    picture: str | None = field(repr=False)


class Gallery:
    """Mistakes of the runs of one report, as many as a page can hold.

    Attributes:
        exhibits: the mistakes, of every type of question some.
        mistakes: how many there are in all.
    """

    def __init__(self, runs: Sequence[RunFigures]) -> None:
        self.mistakes = sum(len(run.mistakes) for run in runs)
        pictures = Pictures()
        home = runs[0].run.folder
        self.exhibits = tuple(
            Exhibit(run.name, result, _link(run.run.folder, result, home), pictures.of(run.run.folder, result))
            for run in runs
            for result in islice(some_of_each_type(run.mistakes), SHOWN // len(runs))
        )


class Pictures:
    """Pictures of results, as many as a page can hold."""

    def __init__(self) -> None:
        self._room = PICTURE_BYTES
        self._to_make = MADE

    def of(self, folder: Path, result: Result) -> str | None:
        """A data URI of the picture that the run kept, or of one made now; None where there is none or no more room.

        Args:
            folder: of the benchmark run.
            result: one of its lines.
        """
        run = run_folder(folder, result)
        if run is None or self._room <= 0:
            return None
        found = _data_uri(run / PICTURE_FILE)
        if found is None and self._to_make and result.program is not None:
            self._to_make -= 1
            found = _made(run)
        if found is None or len(found) > self._room:
            return None
        self._room -= len(found)
        return found


def some_of_each_type(results: Sequence[Result]) -> Iterator[Result]:
    """The results in turn: the first of each type, then the second of each."""
    by_type: dict[str, list[Result]] = {}
    for result in results:
        by_type.setdefault(result.type, []).append(result)
    return (result for result in chain.from_iterable(zip_longest(*by_type.values())) if result is not None)


def run_folder(folder: Path, result: Result) -> Path | None:
    """The run folder of a result, which lies inside the folder of the benchmark run."""
    if result.run is None:
        return None
    run = (folder / result.run).resolve()
    return run if run.is_relative_to(folder.resolve()) and run.is_dir() else None


def _link(folder: Path, result: Result, home: Path) -> str | None:
    run = run_folder(folder, result)
    return None if run is None else quote(Path(os.path.relpath(run, home.resolve())).as_posix()) + "/"


def _data_uri(path: Path) -> str | None:
    """A picture at a size for pages; None where there is none that can be read."""
    try:
        with Image.open(path) as opened:
            opened.thumbnail((LONGEST_SIDE_PX, 2 * LONGEST_SIDE_PX))
            jpeg = BytesIO()
            opened.convert("RGB").save(jpeg, "JPEG", quality=82, optimize=True)
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.getvalue()).decode("ascii")


def _made(run: Path) -> str | None:
    """The picture of a run that kept none, by running its program again; None where that does not work."""
    try:
        kept = load_run(run)
        image = kept.record["image"]["resolved"]
        if kept.program is None or image is None:
            return None
        rows, cols = open_raster(image).shape
        if rows * cols > MADE_UP_TO_PX:
            return None
        with TemporaryDirectory() as folder:
            inputs = {**kept.record["inputs"], "out": folder, "keep": "full"}
            answer = ask(image, kept.question, program=kept.program, **inputs)
            return _data_uri(Path(str(answer.run)) / PICTURE_FILE)
    except (SwathError, OSError, TypeError):  # a file has gone, or another version of swath kept other options
        return None
