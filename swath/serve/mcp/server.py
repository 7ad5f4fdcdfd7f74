"""The server: tools `ask`, `info`, `segment`, `measure`, `replay`; resources for runs, their pictures and the tools."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ConfigDict, ValidationError
from typing_extensions import TypedDict

from swath import __version__
from swath.errors import SwathError
from swath.serve.mcp.resources import add_resources
from swath.serve.mcp.work import Work, spoken
from swath.trace.events import Listener

Result = TypeVar("Result")

INSTRUCTIONS = (
    "swath answers questions about overhead imagery by measuring: counts, areas, shares, distances, heights, with "
    "unit and interval. Name files by path. An answer's status is answered, refused (it cannot be measured; the reason "
    "says what would help) or failed: never fill in a number of your own. Ground sizes, classes and no-data are never "
    "guessed: state gsd_m, labels or bands in options where info shows that they are missing. Read swath://tools "
    "before writing a program for measure."
)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class Source(TypedDict, total=False):
    """Where classes come from.

    Attributes:
        labels: class raster, vector file or annotations that say what is where.
        legend: JSON file of label value to class name.
        label_class: class of a vector file without a class column.
        layers: further classes, name to file.
        segmenter: who finds the classes, "auto" by default.
        bands: which band is which, role to number from 1: red, green, blue, nir, swir1, swir2.
        thresholds: thresholds of spectral indices, such as NDWI to 0.1.
        gsd_m: ground size of a pixel in metres; wins over the file's.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # for pydantic; to mypy it is no key

    labels: str
    legend: str
    label_class: str
    layers: dict[str, str]
    segmenter: str
    bands: dict[str, int]
    thresholds: dict[str, float]
    gsd_m: float


class Options(Source, total=False):
    """Where classes come from, and where and when to measure.

    Attributes:
        confusion: error matrix of reference samples (CSV) that corrects areas and shares; "card": the model's own.
        aoi: vector file; only what lies inside is measured.
        before: labels or image of an earlier date, with `after`.
        after: labels or image of a later date, with `before`.
        dsm: heights of the first surface.
        dtm: heights of bare earth.
        ndsm: heights above ground.
        dem: heights of the terrain.
        vertical_accuracy_m: within how many metres heights are right.
        vertical_unit: unit of heights whose file states none.
        keep: what the run keeps: light, wrong or full.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # for pydantic; to mypy it is no key

    confusion: str
    aoi: str
    before: str
    after: str
    dsm: str
    dtm: str
    ndsm: str
    dem: str
    vertical_accuracy_m: float
    vertical_unit: str
    keep: Literal["light", "wrong", "full"]


class Server(MCPServer[Any]):
    """A server that takes no argument that it does not know, and says of a wrong one in one sentence what is wrong."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: an argument is unknown or of another type, or what the tool says.
        """
        known = {tool.name: list(tool.input_schema.get("properties", {})) for tool in await self.list_tools()}
        strange = [argument for argument in arguments if argument not in known.get(name, arguments)]
        if strange:
            raise ToolError(f"{name} takes no {', '.join(strange)[:200]}. Next: it takes {', '.join(known[name])}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                fault = error.__cause__.errors()[0]
                where = ".".join(str(part) for part in fault["loc"])
                raise ToolError(f"{where[:200]}: {fault['msg']}. Next: see the schema of {name}.") from None
            raise


def make_server(work: Work) -> MCPServer[Any]:
    """A server that does some work; run it over stdio or HTTP."""
    server = Server("swath", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    one_at_a_time = anyio.CapacityLimiter(1)

    async def done(context: Context[Any, Any], task: Callable[[Listener], Result]) -> Result:
        """Work in a thread, saying every step; what nobody waits for any more ends at its next step."""
        given_up, count = threading.Event(), 0

        async def say(step: str) -> None:
            nonlocal count
            count += 1
            await context.report_progress(count, message=step)

        listen = spoken(lambda step: anyio.from_thread.run(say, step), given_up.is_set)
        try:
            return await anyio.to_thread.run_sync(task, listen, limiter=one_at_a_time, abandon_on_cancel=True)
        except SwathError as error:
            raise ToolError(str(error)) from None
        finally:
            given_up.set()

    @server.tool(annotations=WRITES)
    async def ask(
        image: str, question: str, context: Context[Any, Any], options: Options | None = None
    ) -> dict[str, Any]:
        """Answer a question about an image by measuring: value, unit, interval, what was measured, objects, run."""
        return await done(context, lambda listen: work.ask(image, question, options or {}, listen))

    @server.tool(annotations=WRITES)
    async def measure(
        image: str, program: str, context: Context[Any, Any], options: Options | None = None
    ) -> dict[str, Any]:
        """Run a measuring program of your own in the sandbox; swath://tools lists what it may call."""
        return await done(context, lambda listen: work.measure(image, program, options or {}, listen))

    @server.tool(annotations=READS)
    async def info(
        image: str, context: Context[Any, Any], gsd_m: float | None = None, bands: dict[str, int] | None = None
    ) -> dict[str, Any]:
        """Say what swath sees in an image: grid, ground pixel size, bands, valid share, warnings."""
        return await done(context, lambda listen: work.info(image, gsd_m, bands))

    @server.tool(annotations=WRITES)
    async def segment(
        image: str, class_name: str, context: Context[Any, Any], options: Source | None = None
    ) -> dict[str, Any]:
        """Write the pixels of one class as a GeoTIFF and its objects as a GeoPackage."""
        return await done(context, lambda listen: work.segment(image, class_name, options or {}))

    @server.tool(annotations=READS)
    async def replay(run: str, context: Context[Any, Any]) -> dict[str, Any]:
        """Measure a recorded run again, without any planner or model, and compare the answers bit for bit."""
        return await done(context, lambda listen: work.replay(run))

    add_resources(server, work, partial(anyio.to_thread.run_sync, limiter=one_at_a_time))
    return server
