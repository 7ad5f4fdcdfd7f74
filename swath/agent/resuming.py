"""Questions about large images that are killed: what their passes had found is taken over by the same question.

It lies in a hidden folder beside the run, named after the question, its options and the state of the files that it
reads, and goes when the question ends in whatever way but being killed.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from swath.agent.leftovers import UNFINISHED, locked, sweep
from swath.agent.request import Request
from swath.errors import InputError, SwathError
from swath.raster.cluster import connected, passes_on
from swath.raster.journal import Journal
from swath.raster.local_files import stamp
from swath.raster.parallel import Passes, passes_by, threaded
from swath.raster.remote import is_remote
from swath.raster.xml_sources import sources_of
from swath.trace.strict_json import json_text


@contextmanager
def resumable(request: Request, dask: str | None = None) -> Iterator[Journal | None]:
    """Work on a question so that it can be killed and asked again; of images that are held in tiles.

    Args:
        request: the question.
        dask: address of a Dask scheduler whose workers go through the tiles.

    Yields:
        What has been kept of the question; None where its image needs none.

    Raises:
        InputError: there is no such cluster, or it has nothing to do.
    """
    in_tiles = _in_tiles(request)
    if dask is not None and not in_tiles:
        raise InputError(
            f"{request.image.name} is not held in tiles, so that --dask has nothing to hand out. "
            f"Next: leave it out, or hold smaller images in tiles too, with --tiles-above."
        )
    with ExitStack() as stack:
        passes: Passes = threaded
        if dask is not None:
            passes = passes_on(stack.enter_context(connected(dask)))
        if in_tiles:
            sweep(request.out)
        folder = stack.enter_context(_own_folder(request)) if in_tiles else None
        journal = None if folder is None else Journal(folder, passes)
        if in_tiles:
            stack.enter_context(passes_by(journal or passes))
        yield journal


def _in_tiles(request: Request) -> bool:
    with suppress(SwathError):  # whoever reads it next says it better
        return request.opened_image().in_tiles
    return False


@contextmanager
def _own_folder(request: Request) -> Iterator[Path | None]:
    """The folder of a question, locked; None where it cannot be had: another process works on the same question."""
    folder = request.out / f"{UNFINISHED}{_digest(request)}"
    with ExitStack() as stack:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(locked(folder))
        except OSError:
            yield None
            return
        try:
            yield folder
        except Exception:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _behind(file: Path) -> list[Path]:
    return [file] if is_remote(file) else sources_of(file) if file.is_file() else []


def _digest(request: Request) -> str:
    """Tells questions apart by all that their answers depend on."""
    files = [source for file in request.files() for source in _behind(file)]
    named = [str(file) for file in files]
    code = stamp(sorted(Path(__file__).parents[1].rglob("*.py")))
    asked = [code, request.question, request.planner, request.model, request.inputs(), named, stamp(files)]
    return hashlib.sha256(json_text(asked).encode()).hexdigest()[:16]
