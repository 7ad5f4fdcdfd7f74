"""The command `mcp`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from swath.cli.options import FILE, PLANNER_OPTIONS, with_options
from swath.errors import InputError


@click.command()
@click.argument("folders", type=FILE, nargs=-1, required=True, metavar="FOLDER...")
@click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Parent of the run folders.")
@click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address for --http; others need SWATH_TOKEN.")
@click.option("--port", type=click.IntRange(1, 65535), default=8642, show_default=True, help="Port for --http.")
@with_options(*PLANNER_OPTIONS)
def mcp(folders: tuple[Path, ...], out: Path, http: bool, host: str, port: int, **planner: Any) -> None:
    """Serve the tools ask, info, segment, measure and replay to agents, by the Model Context Protocol.

    Only files in the FOLDERs can be read. SWATH_TOKEN holds the token that clients over HTTP have to send.
    """
    try:
        from swath.serve.mcp.server import make_server
    except ImportError:
        raise InputError("swath mcp needs the package mcp. Next: pip install 'swath[mcp]'.") from None
    from swath.serve.mcp.roots import open_roots
    from swath.serve.mcp.work import Work

    work = Work(open_roots(folders), out.absolute(), planner)
    work.out.mkdir(parents=True, exist_ok=True)
    server = make_server(work)
    if not http:
        server.run()
        return
    from swath.serve.mcp.http import serve_http

    serve_http(server, host, port, os.environ.get("SWATH_TOKEN"))
