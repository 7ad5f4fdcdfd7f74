"""One question about many rasters, or about every zone of them: a table with a row for each answer.

images -> rows wanted -> rows taken over from last time -> tasks -> pool -> rows kept as they come -> table
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any

from swath.agent.leftovers import sweep
from swath.agent.planner import Planner
from swath.batch.asked import FILES, STEM, Asked, check_askers, filled_in, named_files, planner_options, rows_of
from swath.batch.cluster import results_on
from swath.batch.images import images_of
from swath.batch.places import places_of
from swath.batch.pool import Lost, Task, results
from swath.batch.rows import Key, Row, RowFile, sidecar_of
from swath.batch.table import Table, check_format, write_table, zone_column
from swath.batch.zones import zones_of
from swath.errors import InputError
from swath.raster.local_files import Stamp, file_of, stamp
from swath.raster.parallel import threaded
from swath.raster.remote import credentials_of, is_remote, known_as
from swath.segment.registry import AUTO
from swath.types import Status

Listen = Callable[[int, int, Row | None], None]
NOT_MEASURING = frozenset({"out", "keep"})
CLUSTER_TASKS = 32
"""Tasks that a survey has for a cluster at least, where it has as many zones."""


@dataclass(frozen=True)
class Survey:
    """What a survey found.

    Attributes:
        rows: one for every raster, or for every zone of every raster, in the order of the inputs.
        table: the file that holds them, None where none was asked for.
    """

    rows: tuple[Row, ...] = field(repr=False)
    table: Path | None

    def count(self, status: Status) -> int:
        """Number of rows of a status."""
        return sum(row.status == status for row in self.rows)


def survey(
    images: str | Path | Sequence[str | Path],
    question: str,
    *,
    output: str | Path | None = None,
    zones: str | Path | None = None,
    id_field: str | None = None,
    planner: str | Planner = "auto",
    jobs: int = 1,
    dask: str | None = None,
    resume: bool = False,
    listen: Listen | None = None,
    **options: Any,
) -> Survey:
    """Ask one question about many rasters, or about every zone of them.

        swath.survey("tiles/*.tif", "How many buildings are there?", labels="labels/{stem}.tif", output="count.csv")

    A raster that cannot be read is a row with its reason. The question is planned once for every scene that differs,
    and an image is opened and segmented once for all its zones.

    Args:
        images: files, folders, patterns, addresses, STAC items, lists; see `swath.batch.images.images_of`.
        question: in words.
        output: table to write: .csv, .gpkg (with the outlines of the zones, or of the images) or .parquet. Rows are
            kept beside it as they come, in a file with .jsonl behind its name.
        zones: vector file of polygons, each of which is asked about.
        id_field: column that names the zones; without one the file's feature numbers do.
        planner: name of a registered planner, or one of your own.
        jobs: number of processes. More than one are spawned, so a script that asks for them needs the usual
            `if __name__ == "__main__":`.
        dask: address of a Dask scheduler to use instead; its workers find the files under the same names.
        resume: take over the rows of an earlier run with the same question and options, but for those that failed or
            whose files have changed since.
        listen: called with the number of rows known, the number wanted, and the last one.
        options: as for `swath.ask`: labels, legend, layers, aoi, segmenter, bands, thresholds, gsd_m, out, keep
            ("wrong" unless said otherwise). `{stem}` in the name of a file stands for the image's name.

    Returns:
        The rows; the table is written even where the survey is interrupted, with the rows that are known by then.

    Raises:
        InputError: an option, the file of zones or the table cannot be used, or no image is named.
    """
    words = [images] if isinstance(images, str | Path) else list(images)
    options = {"keep": "wrong"} | {name: value for name, value in options.items() if value is not None}
    _check(options, planner, CLUSTER_TASKS if dask is not None else jobs, zones)
    target, zone_file = (None if path is None else Path(path) for path in (output, zones))
    if target is not None:
        check_format(target)
    elif resume:
        raise InputError("There is nothing to resume without a table. Next: name the table with -o.")
    ids = (None,) if zone_file is None else zones_of(zone_file, id_field).ids
    asked = [
        Asked(image, question, planner, filled_in(options, image), zone_file, id_field) for image in images_of(words)
    ]
    asked = [replace(one, credentials=credentials_of(one.files)) for one in asked]
    if target is not None:
        _keep_inputs(target, asked)
    stamps = threaded(lambda one: stamp(one.files), asked)
    wanted = {(str(one.image), zone): its for one, its in zip(asked, stamps, strict=True) for zone in ids}
    described = _described(question, planner, options, zone_file, id_field)
    rows = _Rows(wanted, None if target is None else RowFile(sidecar_of(target), described), listen)
    rows.take_over(resume=resume)
    sweep(Path(options.get("out", "runs")))
    try:
        tasks = _tasks(asked, ids, rows.known, CLUSTER_TASKS if dask is not None else jobs)
        for row in _measured(tasks, jobs, dask):
            rows.add(row)
    finally:
        rows.close()
        if target is not None:
            known, column = rows.in_order(), None if zone_file is None else zone_column(id_field)
            write_table(target, Table(known, column, lambda: places_of(known, zone_file, id_field)))
    return Survey(rows.in_order(), target)


@dataclass
class _Rows:
    """The rows that are wanted and those that are known."""

    wanted: Mapping[Key, Stamp]
    file: RowFile | None
    listen: Listen | None
    known: dict[Key, Row] = field(default_factory=dict)

    def take_over(self, *, resume: bool) -> None:
        if self.file is not None:
            self.known = self.file.open(self.wanted, resume=resume)
        self._tell(None)

    def add(self, row: Row) -> None:
        self.known[row.key] = row
        if self.file is not None:
            self.file.add(row, self.wanted[row.key])
        self._tell(row)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def in_order(self) -> tuple[Row, ...]:
        return tuple(self.known[key] for key in self.wanted if key in self.known)

    def _tell(self, row: Row | None) -> None:
        if self.listen is not None:
            self.listen(len(self.known), len(self.wanted), row)


def _tasks(asked: Sequence[Asked], ids: Sequence[str | None], known: Mapping[Key, Row], jobs: int) -> list[Task]:
    """A task for each image, or several for its zones where there are fewer images than processes."""
    tasks = []
    shares = ceil(jobs / len(asked))
    for one in asked:
        left = [key for key in ((str(one.image), zone) for zone in ids) if key not in known]
        size = max(ceil(len(left) / shares), 1)
        tasks += [Task(one, tuple(left[start : start + size])) for start in range(0, len(left), size)]
    return tasks


def _measured(tasks: Sequence[Task], jobs: int, dask: str | None) -> Iterator[Row]:
    found = results(rows_of, tasks, jobs) if dask is None else results_on(dask, rows_of, tasks)
    for (image, zone), row in found:
        yield Row(image, zone, "failed", text=row.reason, reason=row.reason) if isinstance(row, Lost) else row


def _check(options: Mapping[str, Any], planner: str | Planner, jobs: int, zones: str | Path | None) -> None:
    """Refuse at once what would fail in every row.

    Raises:
        InputError: an option cannot be used with any image.
    """
    check_askers(planner, planner_options(options), options.get("segmenter", AUTO), jobs)
    if zones is not None and options.get("aoi") is not None:
        raise InputError("--aoi and --zones both say where to measure. Next: give one of the two.")
    for file in named_files(options):
        if STEM not in str(file) and not is_remote(file):
            file_of(str(file))


def _keep_inputs(table: Path, asked: Sequence[Asked]) -> None:
    """Never write over a file that is read.

    Raises:
        InputError: the table, or the file of rows beside it, is one.
    """
    written = {table.resolve(), sidecar_of(table).resolve()}
    for file in (file for one in asked for file in one.files):
        if file.resolve() in written:
            raise InputError(f"{table} would write over {file}, which is read. Next: name another table with -o.")


def _described(
    question: str, planner: str | Planner, options: Mapping[str, Any], zones: Path | None, id_field: str | None
) -> dict[str, Any]:
    """What makes rows comparable: question, options, version; JSON-ready by `strict_json`."""
    measuring = {
        name: known_as(value) if isinstance(value, str | Path) and name in FILES else value
        for name, value in options.items()
        if name not in NOT_MEASURING
    }
    if options.get("layers"):
        measuring["layers"] = {name: known_as(file) for name, file in options["layers"].items()}
    named = planner if isinstance(planner, str) else planner.name
    asked = {"question": question, "planner": named, "zones": zones, "id": id_field, "swath": version("swath")}
    return {**measuring, **asked}
