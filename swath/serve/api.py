"""The JSON API, version 1: every path under /api/v1, every refusal one sentence under "error". See docs/serve.md."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from swath import __version__
from swath.agent.planners import planner_names
from swath.errors import InputError
from swath.segment.registry import backend_names
from swath.serve import options, work
from swath.serve.asks import ENDED, Ask
from swath.serve.server import Server
from swath.serve.uploads import CONTENT_TYPES, TooLarge
from swath.trace.strict_json import json_text

LONGEST_BODY = 2**20
EDITED = "Edited program"
"""Recorded as the question of a program: it need not answer the one that it was first written for."""
KEEP_ALIVE_S = 10.0
"""A comment is sent so often on a silent stream, by which either side notices that the other is gone."""
WEEK_S = 7 * 24 * 3600
TILE_DEPTH = 40


def server_of(request: Request) -> Server:
    """The server that a request came to."""
    server: Server = request.app.state.server
    return server


async def about(request: Request) -> Response:
    """What this server offers."""
    server = server_of(request)
    return json_response(
        {
            "swath": __version__,
            "planners": ["auto", *planner_names()],
            "planner": server.settings.planning.get("planner", "auto"),
            "segmenters": ["auto", *backend_names()],
            "base_map": server.settings.base_map,
            "max_upload_bytes": server.settings.max_upload_bytes,
            **server.asks.counts(),
        }
    )


async def files(request: Request) -> Response:
    """What a folder holds."""
    name = request.query_params.get("folder", "")
    return json_response(await asyncio.to_thread(server_of(request).settings.folder.listing, name))


async def upload(request: Request) -> Response:
    """Keep a file."""
    server = server_of(request)
    if request.headers.get("content-type") not in CONTENT_TYPES:
        raise Unusable(415, f"Uploads are sent as {CONTENT_TYPES[0]}. Next: send the file's bytes as they are.")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > server.uploads.max_bytes:
        raise TooLarge(server.uploads.too_large())
    try:
        path = await server.uploads.keep(request.query_params.get("name", ""), request.stream())
    except ClientDisconnect:
        raise InputError("The upload broke off. Next: upload the file again.") from None
    return json_response({"path": server.settings.folder.relative(path)}, 201)


async def image(request: Request) -> Response:
    """What an image is."""
    server = server_of(request)
    path = server.settings.folder.file(request.query_params.get("path", ""))
    return json_response(await server.look(work.describe, image=path, bands=_bands(request)))


async def tile(request: Request) -> Response:
    """A tile of an image."""
    server = server_of(request)
    path = server.settings.folder.file(request.query_params.get("path", ""))
    level, x, y = (request.path_params[name] for name in ("level", "x", "y"))
    if level > TILE_DEPTH:
        raise InputError("There is no such tile. Next: choose a smaller level.")
    if await request.is_disconnected():  # the map has moved on
        return Response(status_code=204)
    coordinates = request.path_params["coordinates"]
    picture = await server.look(
        work.tile, image=path, bands=_bands(request), level=level, x=x, y=y, coordinates=coordinates
    )
    kept = {"cache-control": f"private, max-age={WEEK_S}"} if "version" in request.query_params else {}
    return Response(picture, media_type="image/png", headers=kept)


async def ask(request: Request) -> Response:
    """Put a question, or an edited program, into the queue."""
    server = server_of(request)
    folder, settings = server.settings.folder, server.settings
    body = await json_value(request)
    path = folder.file(options.text("image", body.pop("image", None)))
    program, question = body.pop("program", None), body.pop("question", None)
    if program is None:
        question = options.text("question", question, options.LONGEST_QUESTION)
    else:
        program, question = options.text("program", program, options.LONGEST_PROGRAM), EDITED
    thread = options.text("thread", body.pop("thread", None))
    said = options.checked_options(body, folder)
    await server.look(work.check_inputs, image=path, options=said)
    kept = {"out": folder.relative(folder.runs), "uploads": folder.relative(folder.uploads)}
    if program is None:
        added, position = server.asks.add(path, question, thread, {**settings.planning, **said, **kept})
    else:
        said.pop("planner", None)
        added, position = server.asks.add(path, question, thread, {**said, **kept, "program": program})
    return json_response(added.to_json(position), 202)


async def asks(request: Request) -> Response:
    """The questions of a thread."""
    return json_response({"asks": server_of(request).asks.of_thread(request.query_params.get("thread", ""))})


async def one_ask(request: Request) -> Response:
    """How far a question is."""
    found, position = _found(request)
    return json_response(found.to_json(position))


async def cancel(request: Request) -> Response:
    """Give a question up."""
    await request.body()
    found, _ = _found(request)
    server_of(request).asks.cancel(found)
    return json_response({"id": found.id}, 202)


async def events(request: Request) -> Response:
    """What happens to a question, as server-sent events."""
    _found(request)
    last = request.headers.get("last-event-id", "")
    first = int(last) + 1 if last.isdecimal() and len(last) < 9 else 0
    stream = _stream(server_of(request), request.path_params["id"], first)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def _stream(server: Server, ask_id: str, sent: int) -> AsyncIterator[str]:
    shown = ""
    while True:
        change = server.change_of(ask_id)
        found = server.asks.find(ask_id)
        if found is None:
            return
        current, position = found
        state = current.to_json(position)  # before its steps: none is added once it has ended
        for number, step in enumerate(current.steps[sent:], start=sent):
            yield f"id: {number}\nevent: step\ndata: {json_text(step)}\n\n"
            sent = number + 1
        if state["state"] in ENDED or f"{state['state']} {position}" != shown:
            shown = f"{state['state']} {position}"
            yield f"event: state\ndata: {json_text(state)}\n\n"
        if state["state"] in ENDED:
            return
        try:
            async with asyncio.timeout(KEEP_ALIVE_S):
                await change.wait()
        except TimeoutError:
            yield ": alive\n\n"


def _found(request: Request) -> tuple[Ask, int]:
    found = server_of(request).asks.find(request.path_params["id"])
    if found is None:
        raise Unusable(404, "This server does not know that question (any more). Next: ask it again.")
    return found


async def runs(request: Request) -> Response:
    """Runs, newest first."""
    index, query = server_of(request).index, request.query_params
    skip = query.get("skip", "0")
    found = await asyncio.to_thread(
        index.search,
        query.get("search", "")[: options.LONGEST_WORD],
        query.get("status", ""),
        query.get("kind", ""),
        query.get("image", ""),
        int(skip) if skip.isdecimal() and len(skip) < 9 else 0,
    )
    images = await asyncio.to_thread(index.images)
    return json_response({**found, "images": images})


async def one_run(request: Request) -> Response:
    """A run: its answer, its program, its files."""
    run = await asyncio.to_thread(server_of(request).index.find, request.path_params["id"])
    answer = {**run.answer, "run": run.id, "objects": run.record["answer"].get("objects")}
    names = [path.name for path in run.folder.iterdir() if path.is_file()]
    return json_response(
        {"id": run.id, "created": run.created, "answer": answer, "program": run.program, "files": names}
    )


async def run_objects(request: Request) -> Response:
    """The counted objects of a run."""
    server = server_of(request)
    run = await asyncio.to_thread(server.index.find, request.path_params["id"])
    coordinates = request.query_params.get("coordinates", work.PIXELS)
    path = server.settings.folder.relative(run.folder)
    return json_response(await server.look(work.objects, run=path, coordinates=coordinates))


async def batches(request: Request) -> Response:
    """Folders of batches."""
    return json_response({"batches": await asyncio.to_thread(server_of(request).index.batches)})


class Unusable(InputError):
    """A request that cannot be served, with the status that says so."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def json_response(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(json_text(value), status_code=status, media_type="application/json")


async def json_value(request: Request) -> dict[str, Any]:
    """The JSON object that a request holds.

    Raises:
        Unusable: it holds something else, or too much.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Unusable(415, "Questions are sent as application/json. Next: see docs/serve.md.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise Unusable(413, "The request is longer than 1 MiB. Next: shorten the program.")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unusable(400, "The request is not a JSON object. Next: see docs/serve.md.")
    return found


def _bands(request: Request) -> dict[str, int]:
    """Band roles as "red=3,green=2"."""
    pairs = (part.partition("=") for part in request.query_params.get("bands", "").split(",") if part)
    found = {role.strip().lower(): index for role, _, index in pairs}
    if not all(index.isdecimal() and len(index) < 6 for index in found.values()):
        raise InputError("bands takes numbers of bands, such as red=3,green=2. Next: correct it.")
    return {role: int(index) for role, index in found.items()}


_ROUTES = (
    ("/", about, "GET"), ("/files", files, "GET"), ("/uploads", upload, "POST"), ("/image", image, "GET"),
    ("/tiles/{coordinates:str}/{level:int}/{x:int}/{y:int}.png", tile, "GET"),
    ("/asks", ask, "POST"), ("/asks", asks, "GET"), ("/asks/{id}", one_ask, "GET"),
    ("/asks/{id}/events", events, "GET"), ("/asks/{id}/cancel", cancel, "POST"),
    ("/runs", runs, "GET"), ("/runs/{id}", one_run, "GET"), ("/runs/{id}/objects", run_objects, "GET"),
    ("/batches", batches, "GET"),
)  # fmt: skip
ROUTES = [Route(f"/api/v1{path.rstrip('/')}", handler, methods=[method]) for path, handler, method in _ROUTES]
