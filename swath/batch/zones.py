"""One question about every zone of one image, which is opened, segmented and planned for once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from swath.agent.ask import keep_run
from swath.agent.desk import Desk, clipped
from swath.agent.graph import work
from swath.agent.request import Request
from swath.batch.parts import NotYetSegmented, Remembered, measures_alike, part_of
from swath.batch.rows import Row, row_of, row_of_error
from swath.errors import SwathError
from swath.raster.local_files import stamp
from swath.segment.aoi import Area, AreaFile, read_areas
from swath.tools.site import Site
from swath.types import Answer


def zones_of(path: Path, id_field: str | None) -> AreaFile:
    """The zones of a file, read once while it does not change.

    Raises:
        InputError: it cannot be used; see `swath.segment.aoi.read_areas`.
    """
    return _zones_of(path, id_field, str(stamp([path])))


@lru_cache(maxsize=1)
def _zones_of(path: Path, id_field: str | None, as_of: str) -> AreaFile:
    return read_areas(path, id_field)


def zone_rows(desk: Desk, ids: Sequence[str]) -> Iterator[Row]:
    """A row for each zone of an image, in the order of the ids.

    Args:
        desk: a desk whose request names the image, the question and the file of zones as `aoi`.
        ids: which zones, in file order.
    """
    request = desk.request
    if request.aoi is None:
        raise ValueError("the request names no file of zones")
    desk.request = replace(request, aoi=None, zone_field=None)
    image = str(request.image)
    try:
        site = desk.open()
        laid = zones_of(request.aoi, request.zone_field).on(site.raster, frozenset(ids))
    except SwathError as error:
        yield from (row_of_error(error, image, zone) for zone in ids)
        return
    zones = _Zones(desk, request, site)
    for zone, area in laid:
        yield zones.row(zone, area)


@dataclass
class _Zones:
    """One opened image, and what is known so far of the program that its zones are measured by."""

    desk: Desk
    request: Request
    whole: Site
    program: str | None = None

    def __post_init__(self) -> None:
        self.backend = Remembered(self.whole.backend)
        whole = self.whole
        self.whole = Site(
            whole.raster,
            self.backend,
            whole.valid,
            heights=whole.heights,
            errors=whole.errors,
            vocabulary=whole.vocabulary,
        )

    def row(self, zone: str, area: Area | str) -> Row:
        """The row of one zone."""
        image = str(self.request.image)
        if isinstance(area, str):
            return Row(image, zone, "refused", reason=area, text=area, covered_percent=0.0)
        percent = round(float(100 * area.measured(self.whole.valid)), 2)
        covered = percent if percent == percent else None
        started = time.perf_counter()
        try:
            answer = self._on_part(zone, area) or self._on_whole(zone, area)
        except Exception as error:
            return row_of_error(error, image, zone, covered)
        return row_of(replace(answer, seconds=time.perf_counter() - started), image, zone, covered)

    def _on_whole(self, zone: str, area: Area) -> Answer:
        desk = self._prepared(zone, clipped(self.whole, area))
        answer = work(desk)
        if answer.status == "answered" and desk.program is not None and desk.program.source != self.program:
            alike = measures_alike(desk.program.source, self.whole)
            self.program = desk.program.source if alike and self.request.keep != "full" else None
        return keep_run(desk, answer)

    def _on_part(self, zone: str, area: Area) -> Answer | None:
        """Measured on the part around the zone alone; None where that might differ, or where evidence is to be kept."""
        found = None if self.program is None else part_of(self.whole, self.backend, area)
        if found is None:
            return None
        desk = self._prepared(zone, clipped(*found))
        try:
            answer = work(desk)
        except NotYetSegmented:
            return None
        if desk.program is None or desk.program.source != self.program:
            return None
        if answer.status != "answered" and self.request.keep != "light":
            return None
        return keep_run(desk, answer)

    def _prepared(self, zone: str, site: Site) -> Desk:
        """A desk for one zone, on which the image lies open already."""
        return Desk(
            replace(self.request, zone=zone),
            self.desk.planner,
            self.desk.sandbox,
            self.desk.limits,
            raster=self.whole.raster,
            backend=self.backend,
            site=site,
        )
