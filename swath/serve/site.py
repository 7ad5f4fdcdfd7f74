"""The pages and the downloads of the server, and the application that they and the API make up."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from swath.errors import InputError, Refused, SwathError
from swath.serve import api, documents, verifying, work
from swath.serve.asks import Busy
from swath.serve.guard import sentence
from swath.serve.server import Server, Settings
from swath.serve.uploads import TooLarge
from swath.trace.reading import OBJECTS_FILE, PICTURE_FILE, PROGRAM_FILE, RUN_FILE, STEPS_FILE

ASSETS = Path(str(files("swath.serve"))) / "assets"
PAGES = Path(str(files("swath.serve"))) / "pages" / "assets"
KEPT_FILES = (OBJECTS_FILE, PICTURE_FILE, PROGRAM_FILE, RUN_FILE, STEPS_FILE, "answer.tif", "answer.png")
MADE_FILES = {"objects.geojson": work.write_geojson, "objects.csv": work.write_csv, "run.zip": work.write_zip}
STATUSES: tuple[tuple[type[SwathError], int], ...] = ((TooLarge, 413), (Busy, 503), (InputError, 400), (Refused, 422))


def page(name: str) -> Any:
    """A handler that shows one of the pages of the package."""

    async def show(request: Request) -> Response:
        return FileResponse(ASSETS / name, media_type="text/html; charset=utf-8")

    return show


def document(function: Callable[..., str], *names: str, runs: bool = False) -> Any:
    """A handler that shows a document made of folders.

    Args:
        function: makes it, one argument for each name.
        names: of the parameters, in the path or the query, that name the folders.
        runs: whether they are ids of runs, else paths in the served folder.
    """

    async def show(request: Request) -> Response:
        server = api.server_of(request)
        given = {**request.query_params, **request.path_params}
        folder, folders = server.settings.folder, {}
        for name in names:
            named = given.get(name, "")
            path = (await asyncio.to_thread(server.index.find, named)).folder if runs else folder.inside(named)
            folders["folder" if name == "id" else name] = folder.relative(path)
        made = await server.look(function, **folders)
        return HTMLResponse(made, headers={"content-security-policy": documents.policy_of(made)})

    return show


async def download(request: Request) -> Response:
    """A file of a run, as it was kept or made on demand."""
    server = api.server_of(request)
    run = await asyncio.to_thread(server.index.find, request.path_params["id"])
    name = request.path_params["name"]
    if name in KEPT_FILES:
        inline = "inline" if name.endswith(".png") and "show" in request.query_params else "attachment"
        return FileResponse(run.file(name), filename=f"{run.id}-{name}", content_disposition_type=inline)
    if name not in MADE_FILES:
        raise api.Unusable(404, "A run has no such file. Next: choose one of those that its page names.")
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="swath-"))
    made = folder / name
    try:
        await server.look(MADE_FILES[name], run=server.settings.folder.relative(run.folder), to=str(made))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    done = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(made, filename=f"{run.id}-{name}", background=done)


async def said(request: Request, error: Exception) -> Response:
    """Any failure of a request as one sentence."""
    if isinstance(error, api.Unusable):
        return sentence(request.scope, error.status, str(error))
    if isinstance(error, SwathError):
        status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
        return sentence(request.scope, status, str(error))
    if isinstance(error, HTTPException):
        text = {404: "There is no such page.", 405: "This address is not used that way."}.get(error.status_code)
        return sentence(request.scope, error.status_code, f"{text or error.detail} Next: begin at the first page.")
    return sentence(request.scope, 500, f"Internal error ({type(error).__name__}). Next: see the server's output.")


def application(settings: Settings) -> Starlette:
    """The pages, the downloads and the API of one served folder; without the guard."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.server = server = Server(settings)
        yield
        await server.close()

    routes = [
        Route("/", page("index.html")),
        Route("/runs", page("runs.html")),
        Route("/batches", page("batches.html")),
        Route("/verify", page("verify.html")),
        Route("/runs/{id}", document(documents.run_document, "id", runs=True)),
        Route("/run", document(documents.run_document, "folder")),
        Route("/compare", document(documents.compare_document, "a", "b", runs=True)),
        Route("/batch", document(documents.batch_document, "folder")),
        Route("/batches/compare", document(documents.batches_document, "a", "b")),
        Route("/runs/{id}/files/{name}", download),
        Mount("/assets/pages", StaticFiles(directory=PAGES)),
        Mount("/assets", StaticFiles(directory=ASSETS)),
        *api.ROUTES,
        *verifying.ROUTES,
    ]
    handlers: dict[Any, Any] = {SwathError: said, HTTPException: said, Exception: said}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
