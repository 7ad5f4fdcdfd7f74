"""What one question works with: request, image, source of classes, sandbox; never part of the graph's state."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from swath.agent.execution import Execution, Step
from swath.agent.measure import Measured
from swath.agent.planner import Judgement, Planner, Program, Scene, Turn
from swath.agent.request import Request
from swath.agent.sandbox import Limits, Sandbox
from swath.errors import InputError, Refused
from swath.raster.grid import check_stated_size
from swath.raster.height_raster import Surface
from swath.raster.heights import Heights, open_heights
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet
from swath.segment.aoi import Area, area_of_interest
from swath.segment.dates import open_two_dates
from swath.segment.error_matrix import OF_CARD, ErrorMatrix, SelfAssessed, read_error_matrix
from swath.segment.no_classes import NoClasses
from swath.segment.protocol import Backend, SegmentOptions
from swath.segment.registry import AUTO, open_backend, open_vocabulary
from swath.tools.clip import Clip
from swath.tools.site import Site
from swath.trace.events import Event, Listener, nobody, tell
from swath.types import Answer


@dataclass
class Desk:
    """One question being worked on; nodes of the graph read and fill it.

    Attributes:
        request: what was asked.
        planner: who writes the program.
        sandbox: where it runs.
        limits: its budgets.
        listen: told of every graph step and tool call as it happens.
        earlier: questions of the same thread that have been answered, oldest first.
        rivals: desks of unlike ways to plan the same question, whose runs are kept too.
    """

    request: Request
    planner: Planner
    sandbox: Sandbox
    limits: Limits = field(default_factory=Limits)
    listen: Listener = nobody
    earlier: tuple[Turn, ...] = ()
    raster: Raster | None = None
    backend: Backend | None = None
    site: Site | None = None
    program: Program | None = None
    execution: Execution | None = None
    measured: Measured | None = None
    judgement: Judgement | None = None
    rivals: tuple[Desk, ...] = ()
    answer: Answer | None = None
    graph_steps: list[Step] = field(default_factory=list)
    drafts: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def open(self) -> Site:
        """Open the image and the source of classes, unless somebody who asks many questions of it already has.

        Raises:
            InputError: a file cannot be used.
            Refused: nothing can be measured from such an image.
        """
        if self.site is not None:
            return self.site
        request = self.request
        self.raster = raster = request.opened_image()
        if raster.complex:
            raise Refused(
                f"{raster.path.name} holds complex numbers, of which no class, area or count can be measured. "
                "Next: give its amplitude or intensity as a real-valued raster."
            )
        self.backend = _source_of_classes(request, raster)
        vocabulary = partial(open_vocabulary, self.backend, raster)
        valid, heights = _valid(raster, self.backend), heights_of(request, raster)
        errors = errors_of(request, self.backend)
        site = Site(raster, self.backend, valid, heights=heights, errors=errors, vocabulary=vocabulary)
        if request.aoi is not None:
            site = clipped(site, area_of_interest(request.aoi, raster, id_field=request.zone_field, only=request.zone))
        self.site = site
        return site

    def scene(self) -> Scene:
        """What the planner may know."""
        raster, backend, heights = self.raster or self.opened().raster, self.opened().backend, self.opened().heights
        ground = raster.grid.ground
        return Scene(
            classes=backend.classes(),
            shape=raster.shape,
            pixel_size_m=None if ground is None else ground.size_xy_m,
            crs=raster.grid.crs_name,
            north=raster.grid.north,
            bands=tuple(band.role for band in raster.bands if band.role),
            segmenter=backend.name,
            earlier=self.earlier,
            heights=() if heights is None else tuple(heights.rasters),
        )

    def opened(self) -> Site:
        """What the tools measure, once `open` has been called."""
        if self.site is None:
            raise RuntimeError("the image has not been opened")
        return self.site

    def state_gsd(self, gsd_m: float) -> str | None:
        """Take a ground size from the question's words; an option that says otherwise wins, as the sentence says."""
        check_stated_size(gsd_m)
        site = self.opened()
        typed = self.request.gsd_m
        if typed is not None:
            if abs(typed / gsd_m - 1) <= 0.001:
                return None
            return f"--gsd {typed:g} was used, although the question says {gsd_m:g} m."
        whole = self.raster or site.raster
        self.raster = _stated(whole, gsd_m)
        raster = self.raster if site.raster is whole else _stated(site.raster, gsd_m)
        heights = heights_of(self.request, raster)
        self.site = Site(
            raster,
            site.backend,
            site.valid,
            clip=site.clip,
            heights=heights,
            errors=site.errors,
            vocabulary=site.vocabulary,
        )
        return None


def _stated(raster: Raster, gsd_m: float) -> Raster:
    return replace(raster, grid=replace(raster.grid, stated_gsd_m=gsd_m))


def _valid(raster: Raster, backend: Backend) -> PixelSet:
    valid, known = raster.valid(), backend.known()
    if known is not None:
        valid = valid & known
    if not valid.any():
        raise Refused(f"No pixel of {raster.path.name} is valid: all are nodata, masked or void.")
    return valid


def clipped(site: Site, area: Area) -> Site:
    """A site limited to an area; what lies outside is treated as not there.

    Raises:
        Refused: no pixel of the area is valid.
    """
    inside = area.clipped(site.valid)
    if not inside.any():
        raise Refused(f"No pixel in {area.name} is valid in {site.raster.path.name}: all are nodata, masked or void.")
    clip = Clip(area.name, site.valid & ~inside, area.remarks(site.valid))
    return Site(
        site.raster,
        site.backend,
        inside,
        clip=clip,
        heights=site.heights,
        errors=site.errors,
        vocabulary=site.vocabulary,
    )


def heights_of(request: Request, raster: Raster) -> Heights | None:
    """The rasters of heights of a request on an image's grid, None where it names none.

    Raises:
        InputError: one of them cannot be used with this image.
    """
    named: dict[Surface, Path | None] = {
        "dsm": request.dsm, "dtm": request.dtm, "ndsm": request.ndsm, "dem": request.dem
    }  # fmt: skip
    files = {surface: path for surface, path in named.items() if path is not None}
    return open_heights(files, raster, request.vertical_accuracy_m, request.vertical_unit)


def errors_of(request: Request, backend: Backend) -> ErrorMatrix | None:
    """What reference samples say of the map that a request is about, None where it names none.

    Raises:
        InputError: the file is no error matrix, or the source of classes has no card that states one.
    """
    if request.confusion is None:
        return None
    if request.confusion != Path(OF_CARD):
        return read_error_matrix(request.confusion)
    found = backend.error_matrix() if isinstance(backend, SelfAssessed) else None
    if found is None:
        raise InputError(
            f"The segmenter {backend.name} has no card that states an error matrix. "
            "Next: give one of your own with --confusion FILE."
        )
    return found


def _tell_tiles(done: int, total: int) -> None:
    tell(Event("tiles", f"tile {done} of {total}", detail={"done": done, "total": total}))


def _source_of_classes(request: Request, raster: Raster) -> Backend:
    given = SegmentOptions(
        request.labels, request.legend, request.label_class, request.layers, request.thresholds, progress=_tell_tiles
    )
    if request.before is not None or request.after is not None:
        return open_two_dates(request.before, request.after, request.segmenter, raster, given)
    try:
        return open_backend(request.segmenter, raster, given)
    except Refused as why:
        if request.segmenter != AUTO or given != SegmentOptions():
            raise
        return NoClasses(why)  # nobody asked for classes yet, and the question may not either
