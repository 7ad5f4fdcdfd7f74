"""What can be read: the runs, one run, its program, steps, picture and objects, and the tools that programs call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from swath.errors import SwathError
from swath.serve.mcp.work import SCHEME, Work
from swath.trace.reading import OBJECTS_FILE, PICTURE_FILE, PROGRAM_FILE, RUN_FILE, STEPS_FILE, list_runs

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

MOST_RUNS = 500
"""Newest runs that the list names."""

TEXTS = {"": (RUN_FILE, "application/json"), "/steps": (STEPS_FILE, "application/jsonl"),
         "/program": (PROGRAM_FILE, "text/x-python")}  # fmt: skip
BYTES = {"/picture": (PICTURE_FILE, "image/png"), "/objects": (OBJECTS_FILE, "application/geopackage+sqlite3")}


def add_resources(server: MCPServer[Any], work: Work, in_thread: Callable[..., Any]) -> None:
    """Let a server's clients read the runs that it keeps."""

    @server.resource(SCHEME, mime_type="application/json", description="The runs there are, newest first.")
    async def runs() -> str:
        found: str = await in_thread(_listed, work)
        return found

    @server.resource("swath://tools", mime_type="text/markdown", description="Every tool that a program may call.")
    async def tools() -> str:
        from swath.agent.surface_page import surface_page

        return surface_page().text

    for ending, (file, mime) in {**TEXTS, **BYTES}.items():
        server.resource(f"{SCHEME}/{{run}}{ending}", mime_type=mime, description=f"{file} of a run.")(
            _reader(work, file, as_text=ending in TEXTS)
        )


def _reader(work: Work, file: str, *, as_text: bool) -> Callable[[str], str | bytes]:
    def read(run: str) -> str | bytes:
        try:
            content = work.run(run).file(file).read_bytes()
        except SwathError as error:
            raise ResourceNotFoundError(str(error)) from None
        return content.decode("utf-8") if as_text else content

    return read


def _listed(work: Work) -> str:
    shown = []
    for found in list_runs(work.out)[:MOST_RUNS]:
        answer = found.answer
        shown.append({"id": found.id, "uri": f"{SCHEME}/{found.id}", "status": found.status, "text": answer["text"],
                      "question": found.question, "image": answer["image"]})  # fmt: skip
    return json.dumps(shown, ensure_ascii=False)
