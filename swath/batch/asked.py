"""What a survey asks of one image, and the rows that answer it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from swath.agent.ask import answered, open_desk
from swath.agent.planner import Planner, PlannerOptions
from swath.agent.planners import open_planner
from swath.batch.plans import PlannedOnce
from swath.batch.pool import Once
from swath.batch.rows import Key, Row, row_of, row_of_error
from swath.batch.zones import zone_rows
from swath.errors import InputError
from swath.raster.remote import know, known_as
from swath.segment.registry import AUTO, backend_names, is_backend

FILES = ("labels", "legend", "aoi", "before", "after", "dsm", "dtm", "ndsm", "dem")
"""Options that name one file."""
STEM = "{stem}"
"""Stands for an image's name without its ending in the options that name files, layers included."""


@dataclass(frozen=True)
class Asked:
    """What is asked of one image; it goes to the process that measures it.

    Attributes:
        image: the raster.
        question: in words.
        planner: name of a registered planner, or one of the caller's own.
        options: options of `swath.ask`, file names filled in.
        zones: file of zones, None where the image as a whole is asked about.
        id_field: column that names the zones.
        credentials: what the process needs to read the rasters that lie on the network.
    """

    image: Path
    question: str
    planner: str | Planner
    options: Mapping[str, Any]
    zones: Path | None = None
    id_field: str | None = None
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> list[Path]:
        """Every file that the answer depends on."""
        own = [self.image] if self.zones is None else [self.image, self.zones]
        return own + named_files(self.options)


def named_files(options: Mapping[str, Any]) -> list[Path]:
    """The files that options of `swath.ask` name."""
    named = [options[name] for name in FILES if options.get(name) is not None]
    return [Path(file) for file in (*named, *(options.get("layers") or {}).values())]


def filled_in(options: Mapping[str, Any], image: Path) -> dict[str, Any]:
    """Options with the image's name in the names of their files."""

    def filled(file: str | Path) -> Path:
        return known_as(str(file).replace(STEM, image.stem))

    files = {name: filled(options[name]) for name in FILES if options.get(name) is not None}
    layers = {name: filled(file) for name, file in (options.get("layers") or {}).items()}
    return {**options, **files, **({"layers": layers} if layers else {})}


def planner_options(options: Mapping[str, Any]) -> PlannerOptions:
    """Those of the options of `swath.ask` that are about who plans."""
    names = (own.name for own in fields(PlannerOptions))
    return PlannerOptions(**{name: options[name] for name in names if options.get(name) is not None})


def check_askers(planner: str | Planner, said: PlannerOptions, segmenter: str, jobs: int) -> None:
    """Refuse at once what would fail with every image.

    Args:
        planner: name of a registered planner, or one of the caller's own.
        said: what a person said about who plans.
        segmenter: name of a registered segmenter, or "auto".
        jobs: number of processes.

    Raises:
        InputError: there is no such planner or segmenter, or the planner cannot go to other processes.
    """
    if isinstance(planner, str):
        open_planner(planner, said)
    elif jobs > 1:
        try:
            pickle.dumps(planner)
        except Exception:
            raise InputError(
                f"The planner {planner.name} cannot be handed to other processes. Next: use one job."
            ) from None
    if jobs < 1:
        raise InputError(f"--jobs must be at least 1, not {jobs}.")
    if not is_backend(segmenter):
        known = ", ".join((AUTO, *backend_names()))
        raise InputError(f'There is no segmenter "{segmenter}". Next: use one of {known}.')


def rows_of(asked: Asked, items: Sequence[Key], once: Once) -> Iterator[Row]:
    """The rows of one image, one for each item; see `swath.batch.pool.Work`.

    Args:
        asked: the image and the question.
        items: (image, zone) of the rows that are wanted, in the order of the file of zones.
        once: keeps programs, so that none is planned twice.
    """
    know(asked.credentials)
    options = dict(asked.options)
    given = asked.planner
    if isinstance(given, str):
        given = open_planner(given, planner_options(options))
    if asked.zones is not None:
        options |= {"aoi": asked.zones, "zone_field": asked.id_field}
    desk = open_desk(asked.image, asked.question, planner=PlannedOnce(given, once), **options)
    if asked.zones is not None:
        yield from zone_rows(desk, [zone for _, zone in items if zone is not None])
        return
    image = str(asked.image)
    try:
        yield row_of(answered(desk), image)
    except Exception as error:
        yield row_of_error(error, image)
