"""The command `swath serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from swath.cli.options import FILE, PLANNER_OPTIONS, with_options
from swath.errors import InputError
from swath.trace.wording import harmless

EXTRA = ("starlette", "uvicorn")


@click.command()
@click.argument("folder", type=FILE, default=Path())
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; others than this machine's need a token.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 for any that is free.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A further name that the server goes by.")
@click.option("--token-file", type=FILE, help="File that holds the token; by default one is made up and printed.")
@click.option("--out", type=FILE, help="Parent of the run folders, inside FOLDER; by default FOLDER/runs.")
@click.option(
    "--max-upload", type=float, default=2.0, show_default=True, metavar="GIB", help="Size of the largest upload."
)
@click.option("--base-map", metavar="URL", help="Tiles to show under the image: https://.../{z}/{x}/{y}.png.")
@with_options(*PLANNER_OPTIONS)
def serve(
    folder: Path,
    host: str,
    port: int,
    names: tuple[str, ...],
    token_file: Path | None,
    out: Path | None,
    max_upload: float,
    base_map: str | None,
    **planning: Any,
) -> None:
    """Serve a page on which a person asks about the images of a FOLDER and sees every step.

    It listens to this machine only, unless --host says otherwise; then whoever opens the page needs the token that is
    printed, that $SWATH_TOKEN holds, or that lies in --token-file.
    """
    try:
        from swath.serve import start
        from swath.serve.server import Settings
    except ModuleNotFoundError as error:
        if error.name not in EXTRA and not str(error.name).startswith("langgraph"):
            raise
        raise InputError(f"swath serve needs the package {error.name}. Next: pip install 'swath[serve]'.") from None
    from swath.serve.folder import open_folder

    place = start.address(host, port, names, _token(token_file))
    settings = Settings(open_folder(folder, out), _checked_map(base_map), planning, int(max_upload * 2**30))
    listening = start.bound(place)
    click.echo(f"swath serves {harmless(str(folder.resolve()))}: open {start.url(place, listening.getsockname()[1])}")
    start.serve(settings, place, listening)


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("SWATH_TOKEN") or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The token cannot be read from {file}. Next: check the path.") from None


def _checked_map(address: str | None) -> str | None:
    if address is not None and not (address.startswith(("https://", "http://")) and "{z}" in address):
        raise InputError("--base-map takes the address of tiles, such as https://.../{z}/{x}/{y}.png.")
    return address
