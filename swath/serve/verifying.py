"""Verification of data sets by people: the page's requests and their answers."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from swath.errors import InputError
from swath.eval.annotate.make import PATCHES
from swath.eval.annotate.verifying import (
    DataSet,
    agreement,
    export,
    items,
    latest,
    open_data_set,
    progress,
    seen_twice,
)
from swath.serve.api import json_response, json_value, server_of

MOST_SETS = 200


def _data_set(request: Request, name: str) -> DataSet:
    return open_data_set(server_of(request).settings.folder.inside(name))


def _person(request: Request) -> str:
    person = request.query_params.get("person", "").strip()
    if not person:
        raise InputError("Nobody is named. Next: give your name on the page.")
    return person


async def data_sets(request: Request) -> Response:
    """The data sets in the served folder."""
    folder = server_of(request).settings.folder

    def found() -> list[str]:
        return sorted(folder.relative(path.parent) for path in folder.root.rglob(PATCHES))[:MOST_SETS]

    return json_response({"sets": await asyncio.to_thread(found)})


async def state(request: Request) -> Response:
    """How far a person is with a data set."""
    data = _data_set(request, request.query_params.get("folder", ""))
    return json_response(
        {
            "patches": await asyncio.to_thread(lambda: data.names),
            "people": data.people(),
            **await asyncio.to_thread(progress, data, _person(request)),
        }
    )


async def patch(request: Request) -> Response:
    """One patch: its picture, its objects, its items with what the person decided of them."""
    folder = request.query_params.get("folder", "")
    data, person = _data_set(request, folder), _person(request)
    turn = 2 if request.query_params.get("turn") == "2" else 1

    def shown() -> dict[str, Any]:
        found = data.patch(request.query_params.get("name", ""))
        decided = latest(data.decisions(person), turn)
        wanted = [item for item in items(found) if turn == 1 or seen_twice(item.id)]
        return {
            "name": found.patch.name,
            "image": f"{folder}/Images_{found.split}/{found.patch.name}.png",
            "size": found.patch.size,
            "objects": [{"id": own.id, "class": own.class_name, "corners": own.corners} for own in found.patch.objects],
            "items": [
                {"id": item.id, "flag": item.flag, **item.statement.to_json(),
                 "decision": asdict(decided[item.id]) if item.id in decided else None}
                for item in wanted
            ],
        }  # fmt: skip

    return json_response(await asyncio.to_thread(shown))


async def picture(request: Request) -> Response:
    """The picture of a patch."""
    folder = server_of(request).settings.folder
    name = folder.file(request.query_params.get("path", ""))
    if not name.endswith(".png"):
        raise InputError("That is no picture of a patch. Next: choose a data set on the page.")
    return FileResponse(folder.root / name, media_type="image/png")


async def decide(request: Request) -> Response:
    """Keep decisions."""
    found = await json_value(request)
    data = _data_set(request, str(found.get("folder", "")))
    decisions = found.get("decisions")
    if not isinstance(decisions, list) or not all(isinstance(own, dict) for own in decisions):
        raise InputError("There is no list of decisions. Next: load the page anew.")
    await asyncio.to_thread(data.decide, str(found.get("person", "")), decisions)
    return json_response({"kept": len(decisions)}, 201)


async def compared(request: Request) -> Response:
    """How far two people agree."""
    data = _data_set(request, request.query_params.get("folder", ""))
    one, other = (latest(data.decisions(request.query_params.get(name, ""))) for name in ("a", "b"))
    return json_response(agreement(one, other))


async def exported(request: Request) -> Response:
    """Write the data set as a person left it."""
    found = await json_value(request)
    data = _data_set(request, str(found.get("folder", "")))
    out = await asyncio.to_thread(export, data, str(found.get("person", "")))
    return json_response({"folder": server_of(request).settings.folder.relative(out.resolve())}, 201)


_ROUTES = (
    ("", data_sets, "GET"), ("/state", state, "GET"), ("/patch", patch, "GET"), ("/picture", picture, "GET"),
    ("/decisions", decide, "POST"), ("/agreement", compared, "GET"), ("/export", exported, "POST"),
)  # fmt: skip
ROUTES = [Route(f"/api/v1/verification{path}", handler, methods=[method]) for path, handler, method in _ROUTES]
